//! Ed25519 (RFC 8032, the pure variant).

use super::info::Locator;
use super::{KeyError, KeyLocator, SignatureType, Signer};
use ring::signature::{Ed25519KeyPair, KeyPair};

/// Signs with Ed25519.
#[derive(Debug)]
pub struct Ed25519Signer {
    pair: Ed25519KeyPair,
    locator: Locator,
}

impl Ed25519Signer {
    /// A signer with the key derived from `seed` (the 32 bytes that RFC 8032 calls the private key)
    /// and the key locator `locator`.
    pub fn new(seed: &[u8], locator: KeyLocator<'_>) -> Result<Self, KeyError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed)
            .map_err(|_| KeyError::Malformed("an Ed25519 private key of 32 bytes"))?;
        Ok(Self { pair, locator: locator.into() })
    }

    /// The public key, 32 bytes.
    #[must_use]
    pub fn public_bytes(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }
}

impl Signer for Ed25519Signer {
    fn signature_type(&self) -> SignatureType {
        SignatureType::Ed25519
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        Some(self.locator.borrow())
    }

    fn max_signature_len(&self) -> usize {
        64
    }

    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
        out[..64].copy_from_slice(self.pair.sign(signed_portion).as_ref());
        64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: KeyLocator<'_> = KeyLocator::Name(&[]);

    #[test]
    fn test_1_of_rfc_8032_is_met() {
        let seed = [
            0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec,
            0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03,
            0x1c, 0xae, 0x7f, 0x60,
        ];
        let signer = Ed25519Signer::new(&seed, HERE).unwrap();
        assert_eq!(signer.public_bytes()[..4], [0xd7, 0x5a, 0x98, 0x01]);
        let mut out = [0; 64];
        assert_eq!(signer.sign(b"", &mut out), 64);
        assert_eq!(out[..8], [0xe5, 0x56, 0x43, 0x00, 0xc3, 0x60, 0xac, 0x72]);
        assert_eq!(out[60..], [0x8e, 0x7a, 0x10, 0x0b]);
    }

    #[test]
    fn a_seed_of_another_length_is_an_error() {
        assert!(Ed25519Signer::new(&[1; 31], HERE).is_err());
    }
}
