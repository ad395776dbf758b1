//! Certificates that a store has verified, and names of those that cannot be had.
use crate::certificate::Certificate;
use recoup_packet::name::Name;
use recoup_packet::signature::Verdict;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Most certificates that are kept beside the anchors.
pub const MAX_CERTIFICATES: usize = 256;
/// Most names of certificates that are remembered as not to be had.
pub const MAX_REJECTED: usize = 64;
pub(super) const EXPIRED: &str =
    "is signed by a key whose certificate, or one of its chain, has expired";
pub(super) const NOT_YET: &str =
    "is signed by a key whose certificate, or one of its chain, is not valid yet";

#[derive(Default)]
pub(super) struct Known {
    /// Anchors, and certificates that are verified.
    pub(super) certificates: BTreeMap<Name, Arc<Entry>>,
    /// Names that cannot be had: until when, and the verdict on packets that need them.
    pub(super) rejected: BTreeMap<Name, (u64, Verdict)>,
    /// Number of the last certificate that was taken.
    taken: u64,
}

pub(super) struct Entry {
    pub(super) certificate: Certificate,
    /// First and last second in which each certificate of the chain is valid.
    pub(super) valid: RangeInclusive<u64>,
    /// In which order it was taken; 0 for anchors.
    pub(super) number: u64,
}

impl Entry {
    /// Whether each certificate of the chain is valid at `now`; if not, why the packets that it signed are not.
    pub(super) fn is_valid(&self, now: u64) -> Result<(), &'static str> {
        match self.valid.contains(&now) {
            true => Ok(()),
            false if now < *self.valid.start() => Err(NOT_YET),
            false => Err(EXPIRED),
        }
    }
}

impl Known {
    /// Adds a certificate whose signer is verified.
    pub(super) fn keep(&mut self, certificate: Certificate, signer: &Entry) -> Arc<Entry> {
        self.taken += 1;
        let from = certificate.not_before().max(*signer.valid.start());
        let valid = from..=certificate.not_after().min(*signer.valid.end());
        let (number, certificate) = (self.taken, certificate.detached());
        self.rejected.retain(|name, _| !name.is_prefix_of(certificate.name()));
        let name = certificate.name().clone();
        let entry = Arc::new(Entry { certificate, valid, number });
        self.certificates.insert(name, Arc::clone(&entry));
        self.shrink();
        entry
    }

    /// Remembers that a certificate cannot be had, until this second.
    pub(super) fn reject(&mut self, name: &Name, until: u64, verdict: Verdict) {
        if self.rejected.len() >= MAX_REJECTED {
            self.rejected.pop_first();
        }
        self.rejected.insert(name.clone(), (until, verdict));
    }

    /// Drops the certificate that was taken first, if there are too many.
    fn shrink(&mut self) {
        let taken = self.certificates.iter().filter(|(_, entry)| entry.number > 0);
        if taken.clone().count() > MAX_CERTIFICATES
            && let Some(name) = taken.min_by_key(|(_, entry)| entry.number).map(|it| it.0.clone())
        {
            self.certificates.remove(&name);
        }
    }
}
