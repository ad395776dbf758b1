//! Limited table of signatures.
//!
//! The table is direct-mapped: segment `n` is in slot `n mod SLOTS`, and a later segment of that slot replaces it. A
//! missing signature is made again, so forgetting costs time, never correctness. The table records that one was
//! forgotten, because it then no longer covers all served segments.

/// Longest signature kept, in bytes: DigestSha256 and HMAC need 32, Ed25519 64, ECDSA P-256 72.
const LONGEST: usize = 72;

/// Signatures of one version of one object.
#[derive(Debug)]
pub(super) struct Signatures {
    /// For each slot the quotient of its segment and [`Self::SLOTS`].
    rounds: Vec<u32>,
    /// For each slot the length of the signature, 0 without one, and then the signature.
    rows: Vec<u8>,
    /// Bytes of a row.
    row_bytes: usize,
    /// Slots that the object's segments can have.
    slots: usize,
    /// A signature was not kept, or was replaced.
    forgot: bool,
}

impl Signatures {
    /// Most signatures kept for one object: 2.4 MB of digests, 5.0 MB of the longest signatures.
    const SLOTS: u64 = 1 << 16;

    /// An empty table for an object of this many segments and signatures of at most this many bytes.
    pub(super) fn new(segments: u64, max_signature_len: usize) -> Self {
        let row_bytes = 1 + max_signature_len.min(LONGEST);
        let slots = segments.min(Self::SLOTS) as usize;
        Self { rounds: Vec::new(), rows: Vec::new(), row_bytes, slots, forgot: false }
    }

    /// Records that segments were signed before that are not here.
    pub(super) fn mark_incomplete(&mut self) {
        self.forgot = true;
    }

    /// The signature of `segment`, if it is still there.
    pub(super) fn get(&self, segment: u64) -> Option<&[u8]> {
        let (slot, round) = place(segment)?;
        if *self.rounds.get(slot)? != round {
            return None;
        }
        self.kept(slot)
    }

    /// Keeps the signature of `segment`, unless it is too long.
    pub(super) fn insert(&mut self, segment: u64, signature: &[u8]) {
        let place = place(segment).filter(|(slot, _)| *slot < self.slots && self.fits(signature));
        let Some((slot, round)) = place else {
            self.forgot = true;
            return;
        };
        if self.rounds.is_empty() {
            // Zeroed pages of the system: they take no memory before they are written to.
            self.rounds = vec![0; self.slots];
            self.rows = vec![0; self.slots * self.row_bytes];
        }
        self.forgot |= self.rounds[slot] != round && self.kept(slot).is_some();
        self.rounds[slot] = round;
        let start = slot * self.row_bytes;
        self.rows[start] = signature.len() as u8;
        self.rows[start + 1..][..signature.len()].copy_from_slice(signature);
    }

    fn fits(&self, signature: &[u8]) -> bool {
        (1..self.row_bytes).contains(&signature.len())
    }

    /// The signature in a slot.
    fn kept(&self, slot: usize) -> Option<&[u8]> {
        let row = self.rows.get(slot * self.row_bytes..)?;
        let (&len, rest) = row.split_first()?;
        rest.get(..usize::from(len)).filter(|signature| !signature.is_empty())
    }

    /// Whether the table has the signature of each segment ever signed.
    pub(super) fn are_complete(&self) -> bool {
        !self.forgot
    }

    /// The kept signatures from slot `slot` on: slot, segment, signature.
    pub(super) fn kept_from(&self, slot: usize) -> impl Iterator<Item = (usize, u64, &[u8])> {
        let rounds = self.rounds.iter().enumerate().skip(slot);
        rounds.filter_map(|(slot, round)| {
            let segment = u64::from(*round) * Self::SLOTS + slot as u64;
            Some((slot, segment, self.kept(slot)?))
        })
    }
}

/// Slot and quotient of a segment. Segments from 2^48 on have none.
fn place(segment: u64) -> Option<(usize, u32)> {
    let round = u32::try_from(segment / Signatures::SLOTS).ok()?;
    Some(((segment % Signatures::SLOTS) as usize, round))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_kept_until_its_slot_is_replaced() {
        let mut signatures = Signatures::new(u64::MAX, LONGEST);
        signatures.insert(7, &[1, 2, 3]);
        assert_eq!(signatures.get(7), Some(&[1, 2, 3][..]));
        assert_eq!(signatures.get(7 + Signatures::SLOTS), None);
        signatures.insert(7 + Signatures::SLOTS, &[4]);
        assert_eq!(signatures.get(7), None);
    }

    #[test]
    fn forgotten_signature_makes_the_table_incomplete() {
        let mut signatures = Signatures::new(u64::MAX, LONGEST);
        for segment in [3, 5, 3] {
            signatures.insert(segment, &[1]);
        }
        assert!(signatures.are_complete());
        let kept: Vec<_> = signatures.kept_from(4).collect();
        assert_eq!(kept, [(5, 5, &[1][..])]);
        signatures.insert(3 + Signatures::SLOTS, &[1]);
        assert!(!signatures.are_complete());
    }

    #[test]
    fn an_overlong_signature_is_not_kept() {
        for (longest, signature) in [(500, &[0; LONGEST + 1][..]), (32, &[0; 33]), (32, &[])] {
            let mut signatures = Signatures::new(1, longest);
            signatures.insert(0, signature);
            assert_eq!(signatures.get(0), None);
            assert!(!signatures.are_complete());
        }
    }

    #[test]
    fn digest_takes_its_length_only() {
        let mut signatures = Signatures::new(1_000, 32);
        (0..1_000).for_each(|segment| signatures.insert(segment, &[segment as u8; 32]));
        assert!(
            (0..1_000).all(|segment| signatures.get(segment) == Some(&[segment as u8; 32][..]))
        );
        assert_eq!(signatures.rows.len() + 4 * signatures.rounds.len(), 37_000);
    }

    #[test]
    fn segment_number_beyond_the_table_is_not_kept() {
        let mut signatures = Signatures::new(u64::MAX, 32);
        let beyond = (1 << 32) * Signatures::SLOTS;
        signatures.insert(beyond - 1, &[1]);
        assert_eq!(signatures.get(beyond - 1), Some(&[1][..]));
        assert_eq!(signatures.kept_from(0).next(), Some((65_535, beyond - 1, &[1][..])));
        assert!(signatures.are_complete());
        signatures.insert(beyond, &[1]);
        assert_eq!(signatures.get(beyond), None);
        assert!(!signatures.are_complete());
    }
}
