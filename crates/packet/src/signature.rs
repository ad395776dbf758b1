//! Signing and verification.
//!
//! [`Signer`] makes signatures, [`Verifier`] checks them, [`SignatureInfo`] describes a packet's
//! signature. Source: NDN packet format v0.3, sections "Signature" and "Signed Interest".

mod digest;
#[cfg(feature = "signatures")]
mod ecdsa;
#[cfg(feature = "signatures")]
mod ed25519;
#[cfg(feature = "signatures")]
mod hmac;
mod info;
#[cfg(not(feature = "signatures"))]
mod no_key;
#[cfg(feature = "signatures")]
mod public_key;
mod verifier;

pub use digest::{DigestSigner, sha256, sha256_many};
#[cfg(feature = "signatures")]
pub use ecdsa::EcdsaSigner;
#[cfg(feature = "signatures")]
pub use ed25519::Ed25519Signer;
#[cfg(feature = "signatures")]
pub use hmac::HmacSigner;
pub use info::{KeyLocator, SignatureInfo, SignatureType, Validity};
#[cfg(not(feature = "signatures"))]
pub use no_key::PublicKey;
#[cfg(feature = "signatures")]
pub use public_key::PublicKey;
pub use verifier::{AutoVerifier, DigestVerifier, KeyVerifier, NoVerifier};

use crate::data::Data;
use crate::name::Name;
use bytes::Bytes;
use std::sync::Arc;

/// An unusable key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The bytes are not a key of the format.
    #[error("this is not {0}")]
    Malformed(&'static str),
    /// A well-formed key of an unsupported kind.
    #[error("keys of this kind ({0}) are not supported; use ECDSA P-256, Ed25519, RSA or HMAC")]
    Unsupported(String),
}

/// Makes signatures of one kind with one key.
///
/// A builder reserves [`max_signature_len`](Self::max_signature_len) bytes, has the packet signed
/// in place and closes the gap if the signature is shorter (ECDSA).
pub trait Signer: Send + Sync {
    /// SignatureType of the packet's SignatureInfo.
    fn signature_type(&self) -> SignatureType;

    /// KeyLocator of the verification key; `None` where the format forbids it (DigestSha256).
    fn key_locator(&self) -> Option<KeyLocator<'_>>;

    /// Upper bound of a signature's length, in bytes.
    fn max_signature_len(&self) -> usize;

    /// Signs `signed_portion`, writes the signature at the start of `out` and returns its length in
    /// bytes.
    ///
    /// `out` holds at least [`max_signature_len`](Self::max_signature_len) bytes.
    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize;

    /// Signs several portions, in their order. Some signers sign a batch faster.
    fn sign_many(&self, signed_portions: &[&[u8]]) -> Vec<Vec<u8>> {
        let sign = |portion: &&[u8]| {
            let mut out = vec![0; self.max_signature_len()];
            let len = self.sign(portion, &mut out);
            out.truncate(len);
            out
        };
        signed_portions.iter().map(sign).collect()
    }

    /// The whole SignatureInfo in front of this signer's signatures.
    fn signature_info(&self) -> SignatureInfo<'_> {
        SignatureInfo::new(self.signature_type(), self.key_locator())
    }
}

/// Result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The signature is valid.
    Verified,
    /// The verifier cannot decide (for example: signed by an unknown key).
    NotVerified,
    /// The packet must not be used; the reason completes "the packet …".
    Bad(&'static str),
    /// The packet must not be used, because of a certificate of its chain: that is not valid now, or the chain ends in no
    /// anchor. The reason completes "the packet …". A further copy is hardly judged otherwise.
    Invalid(&'static str),
    /// A certificate is missing: [`Certificates::missing`] names it.
    Pending,
}

/// Encrypts content, segment by segment.
pub trait Encrypter: Send + Sync {
    /// Length of so many bytes of content when they are encrypted, in bytes.
    fn encrypted_len(&self, bytes: usize) -> usize;

    /// Most bytes of content that have at most `bytes` bytes when they are encrypted; `None` if there are none.
    fn fitting(&self, bytes: usize) -> Option<usize>;

    /// Writes the encrypted `content` of the packet `name`; `into` has the [encrypted length](Self::encrypted_len). Equal
    /// content of equal names has an equal encrypted form.
    fn encrypt(&self, name: &Name, content: &[u8], into: &mut [u8]);
}

/// Checks signatures.
pub trait Verifier: Send + Sync {
    /// Checks a signature given in parts: SignatureInfo, signed bytes and value.
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict;

    /// Whether it reads packets at all; if not, callers may skip it.
    fn judges(&self) -> bool {
        true
    }

    /// The certificates that a verifier of chains collects.
    fn certificates(&self) -> Option<&dyn Certificates> {
        None
    }

    /// Checks a Data packet, of which it sees the name as well.
    fn verify(&self, data: &Data) -> Verdict {
        self.judge(&data.signature_info(), data.signed_portion(), data.signature_value())
    }

    /// Checks several Data packets, in their order. Some verifiers check a batch faster.
    fn verify_batch(&self, data: &[&Data]) -> Vec<Verdict> {
        data.iter().map(|it| self.verify(it)).collect()
    }

    /// The content of an accepted packet, decrypted if that is this verifier's work.
    ///
    /// # Errors
    /// The reason, as the end of "the packet …".
    fn content(&self, data: &Data) -> Result<Bytes, &'static str> {
        Ok(data.content_bytes())
    }
}

impl<V: Verifier + ?Sized> Verifier for Arc<V> {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        (**self).judge(info, signed_portion, value)
    }

    fn judges(&self) -> bool {
        (**self).judges()
    }

    fn certificates(&self) -> Option<&dyn Certificates> {
        (**self).certificates()
    }

    fn verify(&self, data: &Data) -> Verdict {
        (**self).verify(data)
    }

    fn verify_batch(&self, data: &[&Data]) -> Vec<Verdict> {
        (**self).verify_batch(data)
    }

    fn content(&self, data: &Data) -> Result<Bytes, &'static str> {
        (**self).content(data)
    }
}

/// Certificates of a verifier that judges by chains of them, and manifests, which list digests of segments. The code that
/// fetches them keeps no state of their trust.
pub trait Certificates: Send + Sync {
    /// Name of the certificate, or of its key, without which `data` cannot be judged; `None` if nothing is missing.
    fn missing(&self, data: &Data) -> Option<Name>;

    /// Names of what will be missing soon, as `data` shows, for which nothing is missing.
    fn ahead(&self, data: &Data) -> Vec<Name> {
        let _ = data;
        Vec::new()
    }

    /// Whether the packet, which is no certificate and no manifest by its type, holds a key that content is encrypted with.
    fn is_key(&self, data: &Data) -> bool {
        let _ = data;
        false
    }

    /// Takes a certificate: kept if it is [`Verdict::Verified`]. If it is [`Verdict::Pending`],
    /// [`missing`](Self::missing) names the certificate that must be taken first.
    fn take(&self, certificate: &Data) -> Verdict;

    /// The certificate `name` cannot be had. For some seconds, packets that need it get a verdict without it.
    fn give_up(&self, name: &Name);

    /// All received certificates called `name` were rejected, the last of them with this verdict. Otherwise as
    /// [`give_up`](Self::give_up).
    fn rule_out(&self, name: &Name, verdict: Verdict) {
        let _ = verdict;
        self.give_up(name);
    }
}
