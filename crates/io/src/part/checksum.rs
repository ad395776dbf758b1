//! Checksums of the content of a `.part` file: content that changed on the disk is found and fetched again.
//!
//! The received segments are divided into *stretches*: consecutive segments, of some megabytes in all, with the CRC-32 of their
//! content. A stretch grows as the next segments arrive. Two adjacent stretches become one if they are short enough together.
//! So the number of stretches follows the number of gaps, and hardly the length of the file.
use super::RangeSet;
use super::batch::Piece;
use super::journal::Journal;
use crc32fast::Hasher;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// A stretch does not grow beyond this, in bytes, as long as there are few.
const STRETCH_BYTES: u64 = 4 << 20;
/// The length to which stretches grow doubles with each further so many of them: 60 GB without gaps have 4,000 stretches, 60 TB
/// have 14,000.
const DOUBLING: usize = 1_000;
/// Most doublings.
const MAX_DOUBLINGS: usize = 20;
/// Length of one read of a file, in bytes.
const READ_BYTES: usize = 1 << 20;

/// Consecutive segments and the CRC-32 of their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) last: u64,
    pub(super) bytes: u64,
    pub(super) crc: u32,
}

/// The stretches, by their first segments. They do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checksums(BTreeMap<u64, Stretch>);

impl Checksums {
    /// The stretches in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Stretch)> + '_ {
        self.0.iter().map(|(&first, &stretch)| (first, stretch))
    }

    /// Adds a stretch that overlaps with no other.
    pub(super) fn insert(&mut self, first: u64, stretch: Stretch) {
        self.0.insert(first, stretch);
    }

    /// The stretches that consecutive new segments make, continued ones included; [`Checksums::commit`] adds them.
    pub(super) fn prepare(&self, run: &[Piece]) -> Vec<(u64, Stretch)> {
        let limit = self.limit();
        let (mut stretches, mut rest) = (Vec::new(), run);
        let mut continued = run.first().and_then(|piece| self.before(piece.segment, limit));
        while let Some(piece) = rest.first() {
            let empty = (piece.segment, Stretch { last: piece.segment, bytes: 0, crc: 0 });
            let (first, mut stretch) = continued.take().unwrap_or(empty);
            let mut hasher = Hasher::new_with_initial_len(stretch.crc, stretch.bytes);
            while let Some((piece, after)) = rest.split_first() {
                hasher.update(&piece.content);
                stretch.bytes += piece.content.len() as u64;
                stretch.last = piece.segment;
                rest = after;
                if stretch.bytes >= limit {
                    break;
                }
            }
            stretch.crc = hasher.finalize();
            stretches.push((first, stretch));
        }
        stretches
    }

    /// Adds all stretches that were prepared since the last commit, in place of those that they continue.
    pub(super) fn commit(&mut self, prepared: &[(u64, Stretch)]) {
        self.0.extend(prepared.iter().copied());
        let limit = self.limit();
        // From the last one on: a stretch that is merged with the one before it has been joined with the one after it.
        let mut firsts: Vec<u64> = prepared.iter().map(|&(first, _)| first).collect();
        firsts.sort_unstable_by(|a, b| b.cmp(a));
        for first in firsts {
            self.join(first, limit);
        }
    }

    /// How long a stretch may grow, in bytes.
    fn limit(&self) -> u64 {
        STRETCH_BYTES << (self.0.len() / DOUBLING).min(MAX_DOUBLINGS)
    }

    /// The stretch that the segment continues.
    fn before(&self, segment: u64, limit: u64) -> Option<(u64, Stretch)> {
        let (&first, &stretch) = self.0.range(..segment).next_back()?;
        let continues = stretch.last.checked_add(1) == Some(segment) && stretch.bytes < limit;
        continues.then_some((first, stretch))
    }

    /// Merges a stretch with the next one if they are adjacent and short enough together.
    fn join(&mut self, first: u64, limit: u64) {
        let Some(&stretch) = self.0.get(&first) else { return };
        let Some(next) = stretch.last.checked_add(1) else { return };
        let Some(&other) = self.0.get(&next) else { return };
        if stretch.bytes.saturating_add(other.bytes) > limit {
            return;
        }
        let mut hasher = Hasher::new_with_initial_len(stretch.crc, stretch.bytes);
        hasher.combine(&Hasher::new_with_initial_len(other.crc, other.bytes));
        let bytes = stretch.bytes + other.bytes;
        self.0.remove(&next);
        self.insert(first, Stretch { last: other.last, bytes, crc: hasher.finalize() });
    }

    /// Forgets the segments from `end` on. Returns the first segment of a stretch that lay on both sides; it is forgotten as a
    /// whole.
    pub(super) fn cut(&mut self, end: u64) -> Option<u64> {
        self.0.split_off(&end);
        let last = self.0.last_entry().filter(|stretch| stretch.get().last >= end)?;
        let first = *last.key();
        last.remove();
        Some(first)
    }
}

/// Reads the content that the journal claims, and takes back the stretches that the file does not hold as they were written.
/// Returns how long these are, in bytes.
pub(super) fn verify(journal: &mut Journal, file: &File) -> u64 {
    let (mut kept, mut received) = (Checksums::default(), RangeSet::new());
    let (mut dropped, mut buffer) = (0, Vec::new());
    for (first, stretch) in journal.checksums.iter() {
        let span = journal.span(first, stretch.last);
        match span.and_then(|span| checksum(file, span, &mut buffer).ok()) {
            Some(crc) if crc == stretch.crc => {
                received.insert_run(first, stretch.last);
                kept.insert(first, stretch);
            }
            _ => dropped += stretch.bytes,
        }
    }
    (journal.checksums, journal.received) = (kept, received);
    journal.forget_tail();
    dropped
}

/// The CRC-32 of a part of a file.
pub(super) fn checksum(file: &File, span: Range<u64>, buffer: &mut Vec<u8>) -> io::Result<u32> {
    buffer.resize(READ_BYTES, 0);
    let mut hasher = Hasher::new();
    let mut offset = span.start;
    while offset < span.end {
        let length = (span.end - offset).min(READ_BYTES as u64);
        let into = buffer.get_mut(..length as usize).unwrap_or_default();
        file.read_exact_at(into, offset)?;
        hasher.update(into);
        offset += length;
    }
    Ok(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: usize = 300_000;

    fn piece(segment: u64) -> Piece {
        let content = vec![segment as u8; SIZE - segment as usize % 3].into();
        Piece { segment, offset: 0, content }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn checksums_are_those_of_the_content(
            order in Just((0..80u64).collect::<Vec<_>>()).prop_shuffle(),
            run in 1usize..12,
        ) {
            let mut sums = Checksums::default();
            let mut model = std::collections::BTreeSet::new();
            for batch in order.chunks(run) {
                let mut batch: Vec<_> = batch.iter().map(|&segment| piece(segment)).collect();
                batch.sort_by_key(|piece| piece.segment);
                let runs = batch.chunk_by(|a, b| a.segment + 1 == b.segment);
                let prepared: Vec<_> = runs.flat_map(|run| sums.prepare(run)).collect();
                sums.commit(&prepared);
                model.extend(batch.iter().map(|piece| piece.segment));
                let covered: Vec<u64> =
                    sums.iter().flat_map(|(first, stretch)| first..=stretch.last).collect();
                prop_assert_eq!(covered, model.iter().copied().collect::<Vec<_>>());
            }
            for (first, stretch) in sums.iter() {
                let mut hasher = Hasher::new();
                (first..=stretch.last).for_each(|segment| hasher.update(&piece(segment).content));
                prop_assert_eq!(stretch.crc, hasher.finalize());
                prop_assert!(stretch.bytes <= STRETCH_BYTES + SIZE as u64);
            }
            // Two in a row are longer than one may be.
            prop_assert!(sums.0.len() as u64 <= 2 * (80 * SIZE as u64).div_ceil(STRETCH_BYTES));
        }
    }

    #[test]
    fn runs_of_one_batch_close_all_gaps() {
        let mut sums = Checksums::default();
        for segment in [6, 8] {
            sums.commit(&sums.prepare(&[piece(segment)]));
        }
        let prepared = [5, 7].map(|segment| sums.prepare(&[piece(segment)])).concat();
        sums.commit(&prepared);
        assert_eq!(sums.iter().map(|(first, it)| (first, it.last)).collect::<Vec<_>>(), [(5, 8)]);
    }

    #[test]
    fn many_stretches_let_further_ones_grow() {
        let mut sums = Checksums::default();
        for gap in 0..3 * DOUBLING as u64 {
            sums.insert(2 * gap, Stretch { last: 2 * gap, bytes: 1, crc: 0 });
        }
        assert_eq!(sums.limit(), 8 * STRETCH_BYTES);
    }

    #[test]
    fn a_cut_forgets_the_stretch_on_both_sides() {
        let mut sums = Checksums::default();
        sums.commit(&sums.prepare(&[piece(0), piece(1), piece(2)]));
        sums.commit(&sums.prepare(&[piece(5)]));
        assert_eq!(sums.cut(2), Some(0));
        assert_eq!(sums.iter().count(), 0);
        sums.commit(&sums.prepare(&[piece(0), piece(1)]));
        assert_eq!(sums.cut(2), None);
        assert_eq!(sums.iter().count(), 1);
    }
}
