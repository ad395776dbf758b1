//! Peers over UDP of whose Interests none was answered yet.
//!
//! The sender of a datagram may be forged, so a newcomer displaces nothing but an older newcomer. Its face is promoted to an
//! on-demand face with the first Data that leaves by it. Newcomers have a quota of their own; the oldest is evicted for the
//! next, but not before it had time to be answered.
use super::room::{Neighbour, PeerKind};
use super::{Driver, DriverOptions, Uses};
use crate::face::{CloseReason, DropReason, FaceId};
use hashbrown::HashMap;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeSet;

/// The part of all faces that newcomers may be.
const NEWCOMER_PART: usize = 4;
/// A newcomer is not evicted earlier: most Interests are answered sooner, if they are.
const LEAST_AGE: Duration = Duration::from_millis(500);
/// Newcomers that may have link recovery: its state is the largest that a datagram can begin.
const RECOVERING: usize = 256;

/// Faces of newcomers, oldest first.
#[derive(Debug)]
pub(super) struct Newcomers {
    limit: usize,
    limit_per_neighbour: usize,
    faces: HashMap<FaceId, Newcomer>,
    by_time: BTreeSet<(Instant, FaceId)>,
    /// By neighbour, oldest first.
    by_neighbour: BTreeSet<(Neighbour, Instant, FaceId)>,
    /// How many newcomers each neighbour has.
    counts: HashMap<Neighbour, usize>,
    recovering: usize,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
struct Newcomer {
    since: Instant,
    neighbour: Neighbour,
    recovers: bool,
}

/// Whether there is space for one more newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// There is.
    Free,
    /// There is if this newcomer is evicted.
    Instead(FaceId),
    /// There is none, and all others are too young to be evicted.
    None,
}

impl Newcomers {
    /// An empty set, with the limits of the driver's options.
    pub(super) fn of(options: &DriverOptions) -> Self {
        let limit = options.newcomers.min(options.faces / NEWCOMER_PART).max(1);
        Self::new(limit, options.faces_per_address)
    }

    /// At most `limit` newcomers, and of each neighbour at most `limit_per_neighbour`.
    fn new(limit: usize, limit_per_neighbour: usize) -> Self {
        Self {
            limit,
            limit_per_neighbour,
            faces: HashMap::new(),
            by_time: BTreeSet::new(),
            by_neighbour: BTreeSet::new(),
            counts: HashMap::new(),
            recovering: 0,
        }
    }

    /// Whether there is space for one more newcomer of a neighbour.
    pub(super) fn space(&self, now: Instant, neighbour: Neighbour) -> Space {
        let count = self.counts.get(&neighbour).copied().unwrap_or_default();
        let oldest = if count >= self.limit_per_neighbour {
            let from = (neighbour, Instant::ZERO, FaceId(0));
            self.by_neighbour.range(from..).next().map(|(_, since, face)| (*since, *face))
        } else if self.faces.len() >= self.limit {
            self.by_time.first().copied()
        } else {
            return Space::Free;
        };
        match oldest {
            Some((since, face)) if now.since(since) >= LEAST_AGE => Space::Instead(face),
            _ => Space::None,
        }
    }

    /// A newcomer has a face.
    pub(super) fn insert(&mut self, now: Instant, face: FaceId, neighbour: Neighbour) {
        let recovers = self.recovering < RECOVERING;
        self.recovering += usize::from(recovers);
        self.faces.insert(face, Newcomer { since: now, neighbour, recovers });
        self.by_time.insert((now, face));
        self.by_neighbour.insert((neighbour, now, face));
        *self.counts.entry(neighbour).or_default() += 1;
    }

    /// A face is promoted or gone; its neighbour, if it was a newcomer.
    pub(super) fn remove(&mut self, face: FaceId) -> Option<Neighbour> {
        let Newcomer { since, neighbour, recovers } = self.faces.remove(&face)?;
        self.recovering -= usize::from(recovers);
        self.by_time.remove(&(since, face));
        self.by_neighbour.remove(&(neighbour, since, face));
        if let Some(count) = self.counts.get_mut(&neighbour) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&neighbour);
            }
        }
        Some(neighbour)
    }

    /// Whether a face is that of a newcomer.
    pub(super) fn contains(&self, face: FaceId) -> bool {
        self.faces.contains_key(&face)
    }

    /// Whether a face is that of a newcomer without link recovery.
    pub(super) fn lacks_recovery(&self, face: FaceId) -> bool {
        self.faces.get(&face).is_some_and(|newcomer| !newcomer.recovers)
    }

    /// Number of newcomers.
    pub(super) fn len(&self) -> usize {
        self.faces.len()
    }
}

impl Driver {
    /// Lets a newcomer have the face that is opened next; another one may be evicted for it.
    pub(super) fn admit_newcomer(
        &mut self,
        now: Instant,
        neighbour: Neighbour,
    ) -> Result<FaceId, DropReason> {
        match self.quotas.newcomers.space(now, neighbour) {
            Space::Free => {}
            Space::Instead(oldest) => {
                self.quotas.counts.newcomers_evicted += 1;
                self.end(oldest, CloseReason::Evicted, false);
            }
            Space::None => return Err(DropReason::NoRoom),
        }
        let face = self.sockets.next_id();
        self.quotas.newcomers.insert(now, face, neighbour);
        Ok(face)
    }

    /// Makes an on-demand face of the face of a newcomer, if there is space for one. Else it stays what it is.
    pub(super) fn promote(&mut self, id: FaceId, uses: Uses<'_>) {
        let neighbour = self.sockets.faces.get(&id).and_then(|face| face.neighbour);
        let now = self.timing.clock.now();
        if !self.quotas.newcomers.contains(id)
            || !self.make_room(now, PeerKind::Datagram, neighbour, uses)
        {
            return;
        }
        self.quotas.newcomers.remove(id);
        self.quotas.add(PeerKind::Datagram, neighbour);
        self.report_description(id);
        self.up(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbour(number: u8) -> Neighbour {
        Neighbour::of([192, 0, 2, number].into())
    }

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn oldest_newcomer_is_evicted_for_the_next() {
        let mut newcomers = Newcomers::new(3, 3);
        for number in 1..=3 {
            assert_eq!(newcomers.space(at(0), neighbour(number)), Space::Free);
            newcomers.insert(at(u64::from(number)), FaceId(number.into()), neighbour(number));
        }
        assert_eq!(newcomers.space(at(500), neighbour(9)), Space::None, "the oldest is young");
        assert_eq!(newcomers.space(at(501), neighbour(9)), Space::Instead(FaceId(1)));
        assert_eq!(newcomers.remove(FaceId(1)), Some(neighbour(1)));
        assert_eq!((newcomers.remove(FaceId(1)), newcomers.len()), (None, 2));
        assert_eq!(newcomers.space(at(501), neighbour(9)), Space::Free);
    }

    #[test]
    fn one_neighbour_displaces_only_its_own_newcomers() {
        let mut newcomers = Newcomers::new(100, 2);
        newcomers.insert(at(0), FaceId(1), neighbour(1));
        newcomers.insert(at(1), FaceId(2), neighbour(2));
        newcomers.insert(at(2), FaceId(3), neighbour(2));
        assert_eq!(newcomers.space(at(1_000), neighbour(2)), Space::Instead(FaceId(2)));
        assert_eq!(newcomers.space(at(1_000), neighbour(1)), Space::Free);
        newcomers.remove(FaceId(2));
        assert_eq!(newcomers.space(at(1_000), neighbour(2)), Space::Free);
    }

    #[test]
    fn few_newcomers_have_link_recovery() {
        let mut newcomers = Newcomers::new(1_000, 1_000);
        for number in 0..=RECOVERING as u32 {
            newcomers.insert(at(0), FaceId(number), neighbour(1));
        }
        let last = FaceId(RECOVERING as u32);
        assert!(newcomers.lacks_recovery(last) && !newcomers.lacks_recovery(FaceId(0)));
        newcomers.remove(FaceId(0));
        newcomers.remove(last);
        newcomers.insert(at(1), last, neighbour(1));
        assert!(!newcomers.lacks_recovery(last));
        assert!(!newcomers.lacks_recovery(FaceId(7_000)), "it is no newcomer");
    }

    #[test]
    fn table_is_empty_when_all_are_gone() {
        let mut newcomers = Newcomers::new(8, 4);
        for number in 0..10_000_u32 {
            let (now, from) = (at(u64::from(number) * 200), neighbour((number % 5) as u8));
            if let Space::Instead(face) = newcomers.space(now, from) {
                newcomers.remove(face);
            }
            newcomers.insert(now, FaceId(number), from);
            assert!(newcomers.len() <= 8);
        }
        for number in 0..10_000 {
            newcomers.remove(FaceId(number));
        }
        let Newcomers { faces, by_time, by_neighbour, counts, recovering, .. } = newcomers;
        assert!(faces.is_empty() && by_time.is_empty() && by_neighbour.is_empty());
        assert!(counts.is_empty() && recovering == 0);
    }
}
