//! Verification policies of a consumer.

use super::{PublicKey, SignatureInfo, SignatureType, Verdict, Verifier, sha256, sha256_many};
use crate::data::Data;

const WRONG_DIGEST: Verdict = Verdict::Bad("was changed on its way: its digest does not match");
const NO_DIGEST: Verdict = Verdict::Bad("carries no digest");

fn judge_digest(digest: &[u8; 32], value: &[u8]) -> Verdict {
    if digest[..] == *value { Verdict::Verified } else { WRONG_DIGEST }
}

/// Checks packets with a digest in one batch; the others get the verdict `otherwise`.
///
/// The digest of a described packet is valid by construction and is not computed.
fn judge_digests(data: &[&Data], otherwise: Verdict) -> Vec<Verdict> {
    let has_digest = |it: &Data| !it.is_described_with_digest() && it.has_digest();
    let (places, portions): (Vec<usize>, Vec<&[u8]>) = (data.iter().enumerate())
        .filter(|(_, it)| has_digest(it))
        .map(|(place, it)| (place, it.signed_portion()))
        .unzip();
    let mut digests = Vec::new();
    sha256_many(&portions, &mut digests);
    let unread = |it: &&Data| match it.is_described_with_digest() {
        true => Verdict::Verified,
        false => otherwise,
    };
    let mut verdicts: Vec<Verdict> = data.iter().map(unread).collect();
    for (place, digest) in places.into_iter().zip(&digests) {
        verdicts[place] = judge_digest(digest, data[place].signature_value());
    }
    verdicts
}

/// Checks digests; leaves packets signed with a key undecided.
#[derive(Clone, Copy, Debug, Default)]
pub struct AutoVerifier;

impl Verifier for AutoVerifier {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        match info.typ {
            SignatureType::DigestSha256 => judge_digest(&sha256(signed_portion), value),
            _ => Verdict::NotVerified,
        }
    }

    fn verify_batch(&self, data: &[&Data]) -> Vec<Verdict> {
        judge_digests(data, Verdict::NotVerified)
    }
}

/// Accepts a valid DigestSha256 and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct DigestVerifier;

impl Verifier for DigestVerifier {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        match info.typ {
            SignatureType::DigestSha256 => judge_digest(&sha256(signed_portion), value),
            _ => NO_DIGEST,
        }
    }

    fn verify_batch(&self, data: &[&Data]) -> Vec<Verdict> {
        judge_digests(data, NO_DIGEST)
    }
}

/// Accepts signatures of one key and nothing else.
///
/// The key locator is ignored: it is a hint to a key that is known here.
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

/// Checks nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoVerifier;

impl Verifier for NoVerifier {
    fn judges(&self) -> bool {
        false
    }

    fn judge(&self, _: &SignatureInfo<'_>, _: &[u8], _: &[u8]) -> Verdict {
        Verdict::NotVerified
    }
}
