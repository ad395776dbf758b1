//! A signature made earlier, put into a packet that is encoded again.

use super::{KeyLocator, SignatureInfo, SignatureType, Signer};

/// Stands for another signer with a signature that it made before.
///
/// A packet encoded from the same parts has the same signed portion, so a producer that keeps signatures (and not
/// packets) can answer a repeated Interest without signing again. The signed portion is not looked at.
#[derive(Clone, Copy)]
pub struct Presigned<'a> {
    signer: &'a dyn Signer,
    signature: &'a [u8],
}

impl<'a> Presigned<'a> {
    /// Stands for `signer`, which once made `signature`.
    #[must_use]
    pub fn new(signer: &'a dyn Signer, signature: &'a [u8]) -> Self {
        Self { signer, signature }
    }
}

impl Signer for Presigned<'_> {
    fn signature_type(&self) -> SignatureType {
        self.signer.signature_type()
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        self.signer.key_locator()
    }

    fn max_signature_len(&self) -> usize {
        self.signature.len()
    }

    fn sign(&self, _signed_portion: &[u8], out: &mut [u8]) -> usize {
        out[..self.signature.len()].copy_from_slice(self.signature);
        self.signature.len()
    }

    fn signature_info(&self) -> SignatureInfo<'_> {
        self.signer.signature_info()
    }
}
