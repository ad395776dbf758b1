//! Rounds: the transmissions sent while the previous round is answered.
use crate::time::Instant;

/// The current round. Times are seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Round {
    pub(super) start: Instant,
    /// Highest send order at its start; an answer to a later one ends the round.
    pub(super) through: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    /// Lost transmissions that no queue explains.
    pub(super) random: u64,
    pub(super) in_use: bool,
    floor: Option<f64>,
    high: f64,
    /// The longest gaps between deliveries, the longest first.
    gaps: [f64; 3],
}

/// Facts of a completed round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoundFacts {
    /// Least queueing delay, seconds, if any round trip was measured.
    pub(super) floor: Option<f64>,
    /// Longest queueing delay, seconds.
    pub(super) high: f64,
    /// The window, not the application, limited the sending.
    pub(super) in_use: bool,
    /// Share of lost transmissions.
    pub(super) loss: f64,
    /// The loss is far above that at a small window.
    pub(super) heavy: bool,
}

impl Round {
    pub(super) fn new(start: Instant, through: u64) -> Self {
        Self { start, through, ..Self::default() }
    }

    /// Records a delivery, with the time since the one before.
    pub(super) fn on_delivered(&mut self, gap: f64, in_use: bool) {
        self.delivered += 1;
        self.in_use |= in_use;
        if let Some(place) = self.gaps.iter().position(|longer| gap > *longer) {
            self.gaps[place..].rotate_right(1);
            self.gaps[place] = gap;
        }
    }

    /// Records a queueing delay.
    pub(super) fn on_sample(&mut self, queue: f64) {
        self.floor = Some(self.floor.map_or(queue, |floor| floor.min(queue)));
        self.high = self.high.max(queue);
    }

    /// The third longest gap between deliveries: a link that aggregates frames makes several in each round.
    pub(super) fn gap(&self) -> f64 {
        self.gaps[2]
    }

    /// Share of lost transmissions.
    pub(super) fn loss(&self) -> f64 {
        self.lost as f64 / (self.delivered + self.lost).max(1) as f64
    }

    /// Share of transmissions lost at random.
    pub(super) fn random_loss(&self) -> f64 {
        self.random as f64 / (self.delivered + self.random).max(1) as f64
    }

    pub(super) fn facts(&self) -> RoundFacts {
        let Self { floor, high, in_use, .. } = *self;
        RoundFacts { floor, high, in_use, loss: self.loss(), heavy: false }
    }
}
