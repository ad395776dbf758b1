//! Signals at one receiver, and their energy.
use super::super::air::{Air, PpduId};
use super::super::rate::Rate;

/// From the start of a preamble to the decision on it.
const DETECTION_NANOS: u64 = 4_000;

/// In place of the number of a frame that is too weak to be decoded: its bytes do not matter.
pub(in super::super) const WEAK: PpduId = PpduId::MAX;

/// A frame as it reaches a receiver.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Signal {
    /// The frame, or [`WEAK`].
    pub(in super::super) ppdu: PpduId,
    pub(in super::super) start: u64,
    pub(in super::super) end: u64,
    /// In milliwatts.
    pub(in super::super) power: f64,
    pub(in super::super) rate: Rate,
}

impl Signal {
    pub(super) fn is_weak(&self) -> bool {
        self.ppdu == WEAK
    }

    /// When its preamble is decided on.
    pub(super) fn decision_at(&self) -> u64 {
        self.start + DETECTION_NANOS
    }
}

/// A part of a frame in which the interference is constant.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Stretch {
    /// In milliwatts.
    pub(super) interference: f64,
    pub(super) until: u64,
}

/// Signals by arrival: on the air, or gone and still relevant to the current reception; behind them those on their way.
#[derive(Debug)]
pub(super) struct Signals {
    all: Vec<Signal>,
    /// Number of signals that have arrived.
    arrived: usize,
    /// No less than the power of the signals that have arrived, over or not.
    ceiling: f64,
    /// When the first of them is over.
    first_end: u64,
}

impl Signals {
    pub(super) fn new() -> Self {
        Self { all: Vec::new(), arrived: 0, ceiling: 0.0, first_end: u64::MAX }
    }

    /// A signal will arrive.
    #[inline]
    pub(super) fn expect(&mut self, signal: Signal) {
        self.all.push(signal);
        // Frames begin one after the other, and the ways are short: nearly always it is the last.
        let mut place = self.all.len() - 1;
        while place > self.arrived && self.all[place - 1].start > signal.start {
            self.all.swap(place - 1, place);
            place -= 1;
        }
    }

    /// Signals on their way, the next one first.
    #[inline]
    pub(super) fn on_way(&self) -> &[Signal] {
        &self.all[self.arrived..]
    }

    /// Signals that have arrived, and are on the air or relevant to the current reception.
    pub(super) fn here(&self) -> &[Signal] {
        &self.all[..self.arrived]
    }

    pub(super) fn power(&self, at: u64) -> f64 {
        let here = self.here().iter().filter(|signal| signal.start <= at && at < signal.end);
        here.map(|signal| signal.power).sum()
    }

    /// Interference with a frame at `at`, and the time until which it holds.
    pub(super) fn stretch(&self, signal: &Signal, at: u64) -> Stretch {
        let mut stretch = Stretch { interference: 0.0, until: u64::MAX };
        for other in self.here().iter().filter(|other| other.ppdu != signal.ppdu) {
            if other.start > at {
                stretch.until = stretch.until.min(other.start);
            } else if other.end > at {
                stretch.interference += other.power;
                stretch.until = stretch.until.min(other.end);
            }
        }
        stretch
    }

    /// No less than the interference with a frame at any time of its reception.
    ///
    /// The margin is more than sums of a million powers in different orders differ by.
    pub(super) fn worst(&self, signal: &Signal) -> f64 {
        (self.ceiling * (1.0 + 1e-9) - signal.power).max(0.0)
    }

    pub(super) fn interference_before(&self, signal: &Signal, now: u64) -> f64 {
        let others = self.here().iter().filter(|other| other.ppdu != signal.ppdu);
        others.filter(|other| other.start < now && now <= other.end).map(|other| other.power).sum()
    }

    /// No less than the power of all that is here, in milliwatts.
    pub(super) fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// From `now` until when all that is here together has `threshold`.
    pub(super) fn busy_until(&self, now: u64, threshold: f64) -> u64 {
        let mut until = now;
        while self.power(until) >= threshold {
            let later = self.here().iter().map(|signal| signal.end).filter(|end| *end > until);
            let Some(end) = later.min() else {
                break;
            };
            until = end;
        }
        until
    }

    /// The next signal has arrived.
    pub(super) fn hold(&mut self, signal: &Signal) {
        self.arrived += 1;
        self.ceiling += signal.power;
        self.first_end = self.first_end.min(signal.end);
    }

    /// Lets go of signals that are over at `since`.
    pub(super) fn forget<L>(&mut self, since: u64, air: &mut Air<L>) {
        if self.first_end > since {
            return;
        }
        (self.ceiling, self.first_end) = (0.0, u64::MAX);
        let (mut kept, mut place) = (0, 0);
        self.all.retain(|signal| {
            place += 1;
            if place > self.arrived {
                return true;
            }
            if signal.end > since {
                self.ceiling += signal.power;
                self.first_end = self.first_end.min(signal.end);
                kept += 1;
                return true;
            }
            if !signal.is_weak() {
                air.release(signal.ppdu);
            }
            false
        });
        self.arrived = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn signals_are_held_by_arrival(starts in prop::collection::vec(0..50_u64, 0..60)) {
            let mut signals = Signals::new();
            let rate = Rate::Ofdm(0);
            for (end, start) in (100..).zip(&starts) {
                signals.expect(Signal { ppdu: WEAK, start: *start, end, power: 1e-9, rate });
            }
            let mut expected: Vec<(u64, u64)> = starts.into_iter().zip(100..).collect();
            // Signals that start together keep their order.
            expected.sort_by_key(|(start, _)| *start);
            let held = |signals: &[Signal]| -> Vec<(u64, u64)> {
                signals.iter().map(|it| (it.start, it.end)).collect()
            };
            prop_assert_eq!(held(signals.on_way()), expected.clone());
            while let Some(next) = signals.on_way().first().copied() {
                signals.hold(&next);
            }
            prop_assert_eq!(held(signals.here()), expected);
        }
    }
}
