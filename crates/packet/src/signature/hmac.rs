//! HMAC-SHA256: integrity and authenticity with a shared secret.

use super::info::Locator;
use super::{KeyLocator, SignatureType, Signer};
use ring::hmac;

/// Signs with HMAC-SHA256 (RFC 2104, FIPS 198-1).
#[derive(Clone, Debug)]
pub struct HmacSigner {
    key: hmac::Key,
    locator: Locator,
}

impl HmacSigner {
    /// A signer with `secret` and the key locator `locator`.
    #[must_use]
    pub fn new(secret: &[u8], locator: KeyLocator<'_>) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret), locator: locator.into() }
    }
}

impl Signer for HmacSigner {
    fn signature_type(&self) -> SignatureType {
        SignatureType::HmacWithSha256
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        Some(self.locator.borrow())
    }

    fn max_signature_len(&self) -> usize {
        32
    }

    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
        out[..32].copy_from_slice(hmac::sign(&self.key, signed_portion).as_ref());
        32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: KeyLocator<'_> = KeyLocator::Name(&[]);

    #[test]
    fn test_case_2_of_rfc_4231_is_met() {
        let signer = HmacSigner::new(b"Jefe", HERE);
        let mut out = [0; 32];
        assert_eq!(signer.sign(b"what do ya want for nothing?", &mut out), 32);
        assert_eq!(out[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
        assert_eq!(out[28..], [0x64, 0xec, 0x38, 0x43]);
    }
}
