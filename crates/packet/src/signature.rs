//! Signatures: who signed a packet, and whether that is true.
//!
//! [`Signer`] makes signatures and [`Verifier`] judges them; [`SignatureInfo`] is what a packet says about its own
//! signature. Numbers and rules: NDN packet format v0.3, section "Signature" and "Signed Interest".

mod digest;
mod ecdsa;
mod ed25519;
mod hmac;
mod info;
mod public_key;
mod verifier;

pub use digest::{DigestSigner, sha256, sha256_many};
pub use ecdsa::EcdsaSigner;
pub use ed25519::Ed25519Signer;
pub use hmac::HmacSigner;
pub use info::{KeyLocator, SignatureInfo, SignatureType, Validity};
pub use public_key::PublicKey;
pub use verifier::{AutoVerifier, DigestVerifier, KeyVerifier, NoVerifier};

use crate::data::Data;

/// A key that cannot be used; the message says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The octets are not what they should be.
    #[error("this is not {0}")]
    Malformed(&'static str),
    /// A well-formed key of a kind that cannot be used here.
    #[error("keys of this kind ({0}) are not supported; use ECDSA P-256, Ed25519, RSA or HMAC")]
    Unsupported(String),
}

/// Makes signatures of one kind with one key.
///
/// A packet is laid out with room for [`max_signature_len`](Self::max_signature_len) octets, signed in place and, where
/// the signature came out shorter (ECDSA), closed up.
pub trait Signer: Send + Sync {
    /// Number written into the packet's SignatureInfo.
    fn signature_type(&self) -> SignatureType;

    /// Where a verifier finds the key; `None` where the format forbids it (DigestSha256).
    fn key_locator(&self) -> Option<KeyLocator<'_>>;

    /// Upper bound, in octets, of what [`sign`](Self::sign) writes.
    fn max_signature_len(&self) -> usize;

    /// Signs `signed_portion`, writes the signature at the start of `out` and returns its length in octets.
    ///
    /// `out` holds at least [`max_signature_len`](Self::max_signature_len) octets.
    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize;

    /// Signs several portions, in their order: the same signatures as one by one, for some signers sooner.
    fn sign_many(&self, signed_portions: &[&[u8]]) -> Vec<Vec<u8>> {
        let sign = |portion: &&[u8]| {
            let mut out = vec![0; self.max_signature_len()];
            let len = self.sign(portion, &mut out);
            out.truncate(len);
            out
        };
        signed_portions.iter().map(sign).collect()
    }

    /// The whole SignatureInfo that precedes this signer's signatures.
    fn signature_info(&self) -> SignatureInfo<'_> {
        SignatureInfo::new(self.signature_type(), self.key_locator())
    }
}

/// What a verifier found out about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The signature is right.
    Verified,
    /// Nothing is known against the packet, and nothing speaks for it (for example: signed by an unknown key).
    NotVerified,
    /// The packet must not be used; the reason fits into a sentence that begins with "the packet".
    Bad(&'static str),
}

/// Judges signatures.
pub trait Verifier: Send + Sync {
    /// Judges a signature given in parts: what the packet says about it, the octets that were signed, and its value.
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict;

    /// Whether it looks at packets at all; where it does not, nobody needs to ask it.
    fn judges(&self) -> bool {
        true
    }

    /// Judges a Data packet.
    fn verify(&self, data: &Data) -> Verdict {
        self.judge(&data.signature_info(), data.signed_portion(), data.signature_value())
    }

    /// Judges several Data packets, in their order: the same verdicts as one by one, for some verifiers sooner.
    fn verify_batch(&self, data: &[&Data]) -> Vec<Verdict> {
        data.iter().map(|it| self.verify(it)).collect()
    }
}
