//! The bounded table of signatures made so far.
//!
//! Direct-mapped: segment `n` lives in slot `n mod SLOTS`, and a later segment that falls on the same
//! slot takes its place. A signature that is not there is made again, so forgetting costs time, never
//! correctness.

/// Longest signature kept, in octets: DigestSha256 and HMAC need 32, Ed25519 64, ECDSA P-256 72.
const LONGEST: usize = 72;

#[derive(Clone, Debug)]
struct Entry {
    segment: u64,
    len: u8,
    value: [u8; LONGEST],
}

/// Signatures of one version of one object.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    entries: Vec<Option<Entry>>,
}

impl Signatures {
    /// Most signatures kept for one object: 6 MB.
    const SLOTS: u64 = 1 << 16;

    /// The signature of `segment`, if it is still there.
    pub(super) fn get(&self, segment: u64) -> Option<&[u8]> {
        let entry = self.entries.get((segment % Self::SLOTS) as usize)?.as_ref()?;
        (entry.segment == segment).then(|| &entry.value[..usize::from(entry.len)])
    }

    /// Keeps the signature of `segment`, unless it is longer than any that is worth keeping.
    pub(super) fn insert(&mut self, segment: u64, signature: &[u8]) {
        if signature.len() > LONGEST {
            return;
        }
        let slot = (segment % Self::SLOTS) as usize;
        if self.entries.len() <= slot {
            self.entries.resize(slot + 1, None);
        }
        let mut value = [0; LONGEST];
        value[..signature.len()].copy_from_slice(signature);
        self.entries[slot] = Some(Entry { segment, len: signature.len() as u8, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_comes_back_until_its_slot_is_needed() {
        let mut signatures = Signatures::default();
        signatures.insert(7, &[1, 2, 3]);
        assert_eq!(signatures.get(7), Some(&[1, 2, 3][..]));
        assert_eq!(signatures.get(7 + Signatures::SLOTS), None);
        signatures.insert(7 + Signatures::SLOTS, &[4]);
        assert_eq!(signatures.get(7), None);
        assert_eq!(signatures.entries.len(), 8);
    }

    #[test]
    fn an_overlong_signature_is_not_kept() {
        let mut signatures = Signatures::default();
        signatures.insert(0, &[0; LONGEST + 1]);
        assert_eq!(signatures.get(0), None);
    }
}
