//! One round: the window of transmissions that were sent while the one before was answered.
use crate::time::Instant;

/// A round that goes on. Times are seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Round {
    pub(super) start: Instant,
    /// Highest send order at its start; an answer to a later one ends it.
    pub(super) through: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) in_use: bool,
    floor: Option<f64>,
    /// The longest gaps between deliveries, the longest first.
    gaps: [f64; 3],
}

/// What a round that is over showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoundFacts {
    /// Least queueing delay, seconds, if any round trip was measured.
    pub(super) floor: Option<f64>,
    /// The window, not the application, decided how much was sent.
    pub(super) in_use: bool,
    /// Transmissions that were lost.
    pub(super) lost: u64,
    /// Far more is lost than at a small window.
    pub(super) heavy: bool,
}

impl Round {
    pub(super) fn new(start: Instant, through: u64) -> Self {
        Self { start, through, ..Self::default() }
    }

    /// A segment arrived so long after the one before.
    pub(super) fn on_delivered(&mut self, gap: f64, in_use: bool) {
        self.delivered += 1;
        self.in_use |= in_use;
        if let Some(place) = self.gaps.iter().position(|longer| gap > *longer) {
            self.gaps[place..].rotate_right(1);
            self.gaps[place] = gap;
        }
    }

    /// A queueing delay was measured.
    pub(super) fn on_sample(&mut self, queue: f64) {
        self.floor = Some(self.floor.map_or(queue, |floor| floor.min(queue)));
    }

    /// The third longest gap between deliveries: a link that aggregates frames makes several in each round.
    pub(super) fn gap(&self) -> f64 {
        self.gaps[2]
    }

    /// Share of transmissions that were lost.
    pub(super) fn loss(&self) -> f64 {
        self.lost as f64 / (self.delivered + self.lost).max(1) as f64
    }

    pub(super) fn facts(&self) -> RoundFacts {
        RoundFacts { floor: self.floor, in_use: self.in_use, lost: self.lost, heavy: false }
    }
}
