//! States of the window of [`Recoup`](super::Recoup).
use super::compete::Emptied;
use super::constants::SAME;
use crate::time::Instant;

/// The four states of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// The window doubles each round.
    Startup(Startup),
    /// The window rises until a queue stands.
    Rise {
        /// Rounds without a queue.
        calm: u32,
    },
    /// The window is what the path carries without a queue.
    Drain(Drain),
    /// Others fill the queue: the window follows CUBIC.
    Compete(Compete),
}

/// State of start-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Startup {
    /// Deliveries per second in the last round that was faster than the one before by a quarter.
    pub(super) rate: f64,
    /// Rounds since.
    pub(super) still: u32,
    /// The window was in use in the last round.
    pub(super) in_use: bool,
    /// The path has moved, and its rate is not known yet.
    pub(super) moved: bool,
}

impl Startup {
    pub(super) const BEGINNING: Self = Self { rate: 0.0, still: 0, in_use: true, moved: false };
}

/// State of a drain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drain {
    /// Window before.
    pub(super) from: f64,
    /// Deliveries per second.
    pub(super) rate: f64,
    /// Least queueing delay before, seconds.
    pub(super) before: f64,
    /// Highest send order when the flight had shrunk to the window.
    pub(super) mark: Option<u64>,
    /// Highest send order at the first answer to a transmission after `mark`.
    pub(super) end: Option<u64>,
    /// Least queueing delay since, seconds; infinite if no round trip was measured.
    pub(super) floor: f64,
    /// Longest queueing delay since, seconds.
    pub(super) high: f64,
    /// `floor` of the ineffective drain that this one follows; infinite if it follows none.
    pub(super) first: f64,
    /// Flights without a measured round trip: all answers were retransmissions.
    pub(super) blind: u32,
    /// This drain follows an ineffective one, and goes deeper.
    pub(super) again: bool,
    /// This drain tests whether others still fill the queue.
    pub(super) tests: bool,
    /// This drain ends a start-up.
    pub(super) startup: bool,
    /// Jitter decides what a queue is.
    pub(super) beside_jitter: bool,
}

impl Drain {
    /// Part of the queueing delay that may remain without competing flows.
    pub(super) fn remains(&self) -> f64 {
        if self.tests { 0.25 } else { 0.6 }
    }

    /// Whether two drains left the same constant delay, which is therefore no queue.
    pub(super) fn changes_nothing(&self) -> bool {
        let most = self.floor * SAME + 1.0 / self.rate;
        (self.floor - self.first).abs() <= most && self.high - self.floor <= most
    }

    /// Whether the flight has ended in which the queue had to vanish.
    pub(super) fn is_over(&self, order: u64) -> bool {
        self.end.is_some_and(|end| order > end)
    }
}

/// State of competition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Compete {
    pub(super) since: Instant,
    pub(super) rounds: u32,
    /// Least queueing delay and window at the last change of that delay.
    pub(super) steady: (f64, f64),
    /// Rounds since then.
    pub(super) still: u32,
    pub(super) emptied: Emptied,
    /// Rounds in a row without a queue.
    pub(super) empty: u32,
}

/// Queueing delays of transmissions of a drained flight, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Calm {
    /// Their send orders lie above this.
    pub(super) after: u64,
    /// Their send orders are no higher.
    pub(super) through: u64,
    pub(super) sum: f64,
    pub(super) samples: u32,
    pub(super) least: f64,
}

impl Calm {
    pub(super) fn new(after: u64, through: u64) -> Self {
        Self { after, through, sum: 0.0, samples: 0, least: f64::INFINITY }
    }

    pub(super) fn add(&mut self, queue: f64) {
        self.sum += queue;
        self.samples += 1;
        self.least = self.least.min(queue);
    }

    /// Mean excess over the minimum, if there are enough samples.
    pub(super) fn excess(&self) -> Option<f64> {
        (self.samples >= 4).then(|| self.sum / f64::from(self.samples) - self.least)
    }
}
