//! Limits of faces, so that no neighbour exhausts the memory of a node or starves the others.
//!
//! Pending Interests take *slots* of the table: one for each started [`SLOT_BYTES`] bytes of the Interest, so that
//! one limit covers their number and their memory. An Interest without a free slot is answered with a Nack
//! (Congestion).
//!
//! Source of the fair share: A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet
//! switches", 1998, with α = 1: no face takes more slots than are free, so some stay free under any load.
//!
//! Differences: slots of a table are shared instead of cells of a buffer. A quarter of the table is reserved for
//! faces with few slots: with many new faces, each takes half of the rest.
use recoup_transport::time::Duration;

/// Bytes of an Interest for each slot.
pub const SLOT_BYTES: u32 = 512;

/// Slots of a face that are always admitted while the table is not full.
pub(crate) const FEW: usize = 8;

/// The part of the table that provisional faces share.
const PROVISIONAL_PART: usize = 8;

/// Limits of a network face; by default there are none. Those of all faces are
/// [`NodeConfig::limits`](crate::options::NodeConfig::limits), those of one face
/// [`FaceAttributes::limits`](crate::face::FaceAttributes::limits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceLimits {
    /// Most slots of the table of pending Interests.
    pub pending: Option<usize>,
    /// No more slots than are free in three quarters of the table, or a few.
    pub fair: bool,
    /// Interests per second, with a burst of a tenth of a second; 0 admits none.
    pub rate: Option<u64>,
}

impl FaceLimits {
    /// Whether there is no limit.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a face that has `taken` slots may take `slots` more, if all have taken `total` of `limit`.
    #[inline]
    pub(crate) fn admits_pending(
        &self,
        taken: usize,
        slots: usize,
        total: usize,
        limit: usize,
    ) -> bool {
        let most = self.pending.unwrap_or(usize::MAX);
        let free = (limit - limit / 4).saturating_sub(total);
        taken + slots <= if self.fair { most.min(free.max(FEW)) } else { most }
    }
}

/// Whether a provisional face that has `taken` slots may take `slots` more, if all such faces have taken `total` of a table
/// of `limit`: a fair share of an eighth of the table; with what few each may take, no more than a quarter.
pub(crate) fn admits_provisional(taken: usize, slots: usize, total: usize, limit: usize) -> bool {
    let fair = FaceLimits { fair: true, ..FaceLimits::default() };
    let part = limit / PROVISIONAL_PART;
    total + slots <= 2 * part && fair.admits_pending(taken, slots, total, part)
}

/// The slots that an Interest of so many bytes takes.
#[inline]
pub(crate) fn slots(bytes: u32) -> u8 {
    u8::try_from(1 + bytes / SLOT_BYTES).unwrap_or(u8::MAX)
}

/// Longest time that an Interest stays pending, whatever its lifetime.
pub const MAX_LIFETIME: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_interests_take_several_slots() {
        assert_eq!([0, 511, 512, 8_800, u32::MAX].map(slots), [1, 1, 2, 18, 255]);
    }

    #[test]
    fn some_slots_stay_free_under_any_load() {
        let limits = FaceLimits { fair: true, ..FaceLimits::default() };
        let (limit, mut taken) = (1_000, [0_usize; 9]);
        for _ in 0..limit {
            for face in 0..taken.len() {
                let total = taken.iter().sum::<usize>();
                taken[face] += usize::from(limits.admits_pending(taken[face], 1, total, limit));
            }
        }
        assert!(taken.iter().all(|it| it.abs_diff(limit * 3 / 4 / 10) <= 1), "{taken:?}");
        let both = FaceLimits { pending: Some(3), ..limits };
        assert!(both.admits_pending(2, 1, 0, 1_000) && !both.admits_pending(3, 1, 0, 1_000));
    }

    #[test]
    fn last_face_gets_a_few_slots() {
        let limits = FaceLimits { fair: true, ..FaceLimits::default() };
        let (limit, mut total) = (10_000, 0);
        for _ in 0..200 {
            let mut taken = 0;
            while limits.admits_pending(taken, 1, total, limit) {
                (taken, total) = (taken + 1, total + 1);
            }
            assert!(taken >= FEW);
        }
        assert!(total < limit);
    }
}
