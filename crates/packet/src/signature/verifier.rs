//! The policies a consumer can choose from.

use super::{PublicKey, SignatureInfo, SignatureType, Verdict, Verifier, sha256};

const WRONG_DIGEST: Verdict = Verdict::Bad("was changed on its way: its digest does not match");

fn judge_digest(signed_portion: &[u8], value: &[u8]) -> Verdict {
    if sha256(signed_portion)[..] == *value {
        Verdict::Verified
    } else {
        WRONG_DIGEST
    }
}

/// Checks digests and leaves open what is signed with a key.
#[derive(Clone, Copy, Debug, Default)]
pub struct AutoVerifier;

impl Verifier for AutoVerifier {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        match info.typ {
            SignatureType::DigestSha256 => judge_digest(signed_portion, value),
            _ => Verdict::NotVerified,
        }
    }
}

/// Accepts a right DigestSha256 and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct DigestVerifier;

impl Verifier for DigestVerifier {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        match info.typ {
            SignatureType::DigestSha256 => judge_digest(signed_portion, value),
            _ => Verdict::Bad("carries no digest"),
        }
    }
}

/// Accepts what one key signed and nothing else.
///
/// The key locator is not consulted: it is a hint for finding the key, and the key is known.
#[derive(Clone, Debug)]
pub struct KeyVerifier(pub PublicKey);

impl Verifier for KeyVerifier {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        if info.typ == SignatureType::DigestSha256 {
            Verdict::Bad("carries only a digest, no signature by a key")
        } else if info.typ != self.0.signature_type() {
            Verdict::Bad("is signed by another kind of key")
        } else if self.0.verify(signed_portion, value) {
            Verdict::Verified
        } else {
            Verdict::Bad("is not signed by the given key")
        }
    }
}

/// Looks at nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoVerifier;

impl Verifier for NoVerifier {
    fn judge(&self, _: &SignatureInfo<'_>, _: &[u8], _: &[u8]) -> Verdict {
        Verdict::NotVerified
    }
}
