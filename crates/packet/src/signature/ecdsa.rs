//! ECDSA over NIST P-256 with SHA-256.

use super::info::Locator;
use super::{KeyError, KeyLocator, SignatureType, Signer};
use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};

/// Signs with ECDSA P-256. The nonce is derived from key and message (RFC 6979), so a packet has
/// one signature and signing needs no entropy. The signature is DER (RFC 3279, Ecdsa-Sig-Value).
#[derive(Clone, Debug)]
pub struct EcdsaSigner {
    key: SigningKey,
    locator: Locator,
}

impl EcdsaSigner {
    /// A signer with the private scalar `secret` (32 bytes, big-endian) and the key locator
    /// `locator`.
    pub fn new(secret: &[u8], locator: KeyLocator<'_>) -> Result<Self, KeyError> {
        let key = SigningKey::from_slice(secret)
            .map_err(|_| KeyError::Malformed("a P-256 private key of 32 bytes"))?;
        Ok(Self { key, locator: locator.into() })
    }

    /// The public key as an uncompressed point (SEC 1, 2.3.3), 65 bytes.
    #[must_use]
    pub fn public_bytes(&self) -> Vec<u8> {
        self.key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
    }
}

impl Signer for EcdsaSigner {
    fn signature_type(&self) -> SignatureType {
        SignatureType::Sha256WithEcdsa
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        Some(self.locator.borrow())
    }

    fn max_signature_len(&self) -> usize {
        72
    }

    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
        let signature: Signature = self.key.sign(signed_portion);
        let der = signature.to_der();
        out[..der.as_bytes().len()].copy_from_slice(der.as_bytes());
        der.as_bytes().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: KeyLocator<'_> = KeyLocator::Name(&[]);

    /// RFC 6979, A.2.5: the private key and the signature of "sample" with SHA-256.
    #[test]
    fn the_p256_example_of_rfc_6979_is_met() {
        let secret = [
            0xC9, 0xAF, 0xA9, 0xD8, 0x45, 0xBA, 0x75, 0x16, 0x6B, 0x5C, 0x21, 0x57, 0x67, 0xB1,
            0xD6, 0x93, 0x4E, 0x50, 0xC3, 0xDB, 0x36, 0xE8, 0x9B, 0x12, 0x7B, 0x8A, 0x62, 0x2B,
            0x12, 0x0F, 0x67, 0x21,
        ];
        let signer = EcdsaSigner::new(&secret, HERE).unwrap();
        assert_eq!(signer.public_bytes()[..5], [4, 0x60, 0xFE, 0xD4, 0xBA]);
        let mut out = [0; 72];
        assert_eq!(signer.sign(b"sample", &mut out), 72);
        assert_eq!(out[..9], [0x30, 70, 0x02, 33, 0, 0xEF, 0xD4, 0x8B, 0x2A]);
        assert_eq!(out[37..42], [0x02, 33, 0, 0xF7, 0xCB]);
        assert_eq!(out[68..], [0x84, 0x3A, 0xCD, 0xA8]);
    }

    #[test]
    fn a_scalar_outside_the_group_is_an_error() {
        assert!(EcdsaSigner::new(&[0; 32], HERE).is_err());
        assert!(EcdsaSigner::new(&[0xff; 32], HERE).is_err());
        assert!(EcdsaSigner::new(&[1; 33], HERE).is_err());
    }
}
