//! DigestSha256: integrity without a key.

use super::{KeyLocator, SignatureType, Signer};
use sha2::{Digest, Sha256};

/// SHA-256 of `octets` (FIPS 180-4); uses the processor's SHA instructions where it has them.
#[must_use]
pub fn sha256(octets: &[u8]) -> [u8; 32] {
    Sha256::digest(octets).into()
}

/// Signs with a plain SHA-256 digest: protects against accidents, not against forgers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestSigner;

impl Signer for DigestSigner {
    fn signature_type(&self) -> SignatureType {
        SignatureType::DigestSha256
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        None
    }

    fn max_signature_len(&self) -> usize {
        32
    }

    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
        out[..32].copy_from_slice(&sha256(signed_portion));
        32
    }
}
