//! Signing with RSA, for those whose keys are of that kind.

use recoup_packet::signature::{KeyError, KeyLocator, SignatureType, Signer};
use ring::rand::SystemRandom;
use ring::signature::{KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};

/// Signs with RSASSA-PKCS1-v1_5 and SHA-256 (RFC 8017, 8.2).
#[derive(Debug)]
pub(super) struct RsaSigner {
    pair: RsaKeyPair,
    entropy: SystemRandom,
    /// Whether it is a digest, and its bytes.
    locator: (bool, Vec<u8>),
}

impl RsaSigner {
    /// Signs with the RSAPrivateKey `der`, which verifiers find by `locator`.
    pub(super) fn new(der: &[u8], locator: KeyLocator<'_>) -> Result<Self, KeyError> {
        let locator = match locator {
            KeyLocator::Name(value) => (false, value.to_vec()),
            KeyLocator::Digest(value) => (true, value.to_vec()),
        };
        let pair = RsaKeyPair::from_der(der)
            .map_err(|_| KeyError::Malformed("an RSA private key of 2048 to 4096 bits"))?;
        Ok(Self { pair, entropy: SystemRandom::new(), locator })
    }

    /// The public key as RSAPublicKey in DER.
    pub(super) fn public_bytes(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }
}

impl Signer for RsaSigner {
    fn signature_type(&self) -> SignatureType {
        SignatureType::Sha256WithRsa
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        Some(match &self.locator {
            (false, value) => KeyLocator::Name(value),
            (true, value) => KeyLocator::Digest(value),
        })
    }

    fn max_signature_len(&self) -> usize {
        self.pair.public().modulus_len()
    }

    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
        let len = self.pair.public().modulus_len();
        match self.pair.sign(&RSA_PKCS1_SHA256, &self.entropy, signed_portion, &mut out[..len]) {
            Ok(()) => len,
            Err(_) => 0,
        }
    }
}
