//! Public keys of a build without signatures: there are none.

use super::SignatureType;

/// A verification key. No value exists without the feature `signatures`.
#[derive(Clone, Debug)]
pub enum PublicKey {}

impl PublicKey {
    /// Kind of the signatures that this key can check.
    #[must_use]
    pub fn signature_type(&self) -> SignatureType {
        match *self {}
    }

    /// Whether `signature` was made by this key over `signed_portion`.
    #[must_use]
    pub fn verify(&self, signed_portion: &[u8], signature: &[u8]) -> bool {
        let _ = (signed_portion, signature);
        match *self {}
    }
}
