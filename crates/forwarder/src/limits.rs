//! What one face may take of a node, so that no neighbour exhausts its memory or starves the others.
//!
//! Pending Interests take *places* of the table: one for each started [`PLACE_OCTETS`] octets of the Interest, so that
//! the same limit bounds how many there are and what they hold. Whose Interest finds no place is told so (a Nack for
//! congestion).
//!
//! Source of the fair share: A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet
//! switches", 1998, with α = 1: nobody takes more than is free, so something stays free whoever asks for how much.
//!
//! Differences: what is shared are places of a table instead of cells of a buffer; a quarter of the table is left to
//! faces that have few, for where many come one after the other, each takes half of what the one before has left.
use recoup_transport::time::Duration;
use serde::{Deserialize, Serialize};

/// Octets of an Interest that count as one place.
pub const PLACE_OCTETS: u32 = 512;

/// What a face may take whatever the others have, as long as the table is not full.
pub(crate) const FEW: usize = 8;

/// The part of the table that provisional faces share.
const PROVISIONAL_PART: usize = 8;

/// What a network face of a node may take; by default everything. What all of them may take stands in
/// [`NodeOptions::limits`](crate::options::NodeOptions::limits), and of one in
/// [`FaceAttributes::limits`](crate::face::FaceAttributes::limits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaceLimits {
    /// Most places of the table of pending Interests.
    pub pending: Option<usize>,
    /// No more places than are free in three quarters of the table, or a few.
    pub fair: bool,
    /// Interests a second, of which a tenth may come at once; 0 lets none pass.
    pub rate: Option<u64>,
}

impl FaceLimits {
    /// Whether a face may take everything.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a face that has `taken` places may take `places` more, if all have taken `total` of `limit`.
    pub(crate) fn let_wait(&self, taken: usize, places: usize, total: usize, limit: usize) -> bool {
        let most = self.pending.unwrap_or(usize::MAX);
        let free = (limit - limit / 4).saturating_sub(total);
        taken + places <= if self.fair { most.min(free.max(FEW)) } else { most }
    }
}

/// Whether a provisional face that has `taken` places may take `places` more, if all such faces have taken `total` of a table
/// of `limit`: a fair share of an eighth of the table; with what few each may take, no more than a quarter.
pub(crate) fn let_wait_provisionally(
    taken: usize,
    places: usize,
    total: usize,
    limit: usize,
) -> bool {
    let fair = FaceLimits { fair: true, ..FaceLimits::default() };
    let part = limit / PROVISIONAL_PART;
    total + places <= 2 * part && fair.let_wait(taken, places, total, part)
}

/// The places that an Interest of so many octets takes.
pub(crate) fn places(octets: u32) -> u8 {
    u8::try_from(1 + octets / PLACE_OCTETS).unwrap_or(u8::MAX)
}

/// Longest time that an Interest stays pending, whatever lifetime it asks for.
pub const MAX_LIFETIME: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_interests_take_several_places() {
        assert_eq!([0, 511, 512, 8_800, u32::MAX].map(places), [1, 1, 2, 18, 255]);
    }

    #[test]
    fn whoever_asks_for_how_much_something_stays_free() {
        let limits = FaceLimits { fair: true, ..FaceLimits::default() };
        let (limit, mut taken) = (1_000, [0_usize; 9]);
        for _ in 0..limit {
            for face in 0..taken.len() {
                let total = taken.iter().sum::<usize>();
                taken[face] += usize::from(limits.let_wait(taken[face], 1, total, limit));
            }
        }
        assert!(taken.iter().all(|it| it.abs_diff(limit * 3 / 4 / 10) <= 1), "{taken:?}");
        let both = FaceLimits { pending: Some(3), ..limits };
        assert!(both.let_wait(2, 1, 0, 1_000) && !both.let_wait(3, 1, 0, 1_000));
    }

    #[test]
    fn a_face_that_comes_last_gets_a_few() {
        let limits = FaceLimits { fair: true, ..FaceLimits::default() };
        let (limit, mut total) = (10_000, 0);
        for _ in 0..200 {
            let mut taken = 0;
            while limits.let_wait(taken, 1, total, limit) {
                (taken, total) = (taken + 1, total + 1);
            }
            assert!(taken >= FEW);
        }
        assert!(total < limit);
    }
}
