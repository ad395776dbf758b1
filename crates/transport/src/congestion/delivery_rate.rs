//! Delivery-rate sampling: the rate of deliveries over rounds and over shorter intervals.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation. A sample is limited by the longer of the send and the arrival
//! interval.
//!
//! Differences: a round, not a packet, is the unit. Deliveries of a round were sent in the round before, whose
//! duration is the send interval. No state is kept for each packet.
use super::extreme::Extreme;
use crate::time::{Duration, Instant};

/// Rounds over which the maximum is taken.
const ROUNDS: usize = 8;
/// Half the time of the longer and of the shorter maximum.
const FASTEST_SPAN: Duration = Duration::from_secs(5);
const LATELY_SPAN: Duration = Duration::from_millis(400);
/// Times at which the delivery count is recorded: as many are kept, and as many pass in a base round trip.
const MARKS: usize = 8;
const MARKS_PER_TRIP: f64 = 16.0;
/// Minimum number of deliveries for a rate.
const MIN_DELIVERIES: u64 = 16;

/// Rates are deliveries per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DeliveryRate {
    delivered: u64,
    /// Duration of the last round.
    duration: Duration,
    rounds: [f64; ROUNDS],
    fastest: Extreme,
    lately: Extreme,
    /// Times at which the delivery count was recorded, the latest first.
    marks: [(Instant, u64); MARKS],
}

impl DeliveryRate {
    pub(super) fn new() -> Self {
        Self {
            delivered: 0,
            duration: Duration::ZERO,
            rounds: [0.0; ROUNDS],
            fastest: Extreme::new(true, FASTEST_SPAN),
            lately: Extreme::new(true, LATELY_SPAN),
            marks: [(Instant::ZERO, 0); MARKS],
        }
    }

    /// Deliveries so far.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The rate of the last round; 0 before any.
    pub(super) fn last(&self) -> f64 {
        self.rounds[0]
    }

    /// Highest rate of the last eight rounds; with `bursty`, of the last 0.8 s as well.
    pub(super) fn top(&self, bursty: bool) -> f64 {
        let lately = self.lately.get().filter(|_| bursty).unwrap_or(0.0);
        self.rounds.iter().copied().fold(lately, f64::max)
    }

    /// Rate over the shortest recent interval with enough deliveries; 0 if there is none.
    pub(super) fn latest(&self) -> f64 {
        let (now, delivered) = self.marks[0];
        let enough = |(_, before): &&(Instant, u64)| delivered - before >= MIN_DELIVERIES;
        let Some((then, before)) = self.marks.iter().find(enough) else { return 0.0 };
        let elapsed = now.since(*then).as_secs_f64();
        if elapsed > 0.0 { (delivered - before) as f64 / elapsed } else { 0.0 }
    }

    /// The highest rate of the last 10 s.
    pub(super) fn fastest(&self) -> f64 {
        self.fastest.get().unwrap_or(0.0)
    }

    /// Records a delivery. `base` is the base round-trip time of the path, seconds.
    pub(super) fn on_delivered(&mut self, now: Instant, base: f64) {
        self.delivered += 1;
        if now.since(self.marks[0].0).as_secs_f64() >= base / MARKS_PER_TRIP {
            self.marks.rotate_right(1);
            self.marks[0] = (now, self.delivered);
        }
    }

    /// Ends a round with this many deliveries.
    pub(super) fn end_round(&mut self, now: Instant, delivered: u64, duration: Duration) {
        let longer = duration.max(self.duration).as_secs_f64();
        self.duration = duration;
        if longer > 0.0 {
            let rate = delivered as f64 / longer;
            self.rounds.rotate_right(1);
            self.rounds[0] = rate;
            self.fastest.add(now, rate);
            self.lately.add(now, rate);
        }
    }

    /// Resets the rates: the path has changed.
    pub(super) fn forget(&mut self, now: Instant) {
        self.fastest = self.fastest.emptied(now);
        self.lately = self.lately.emptied(now);
        self.rounds = [0.0; ROUNDS];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn rate_is_limited_by_the_longer_interval() {
        let mut rate = DeliveryRate::new();
        rate.end_round(at(100), 10, Duration::from_millis(100));
        rate.end_round(at(110), 10, Duration::from_millis(10));
        assert_eq!((rate.last(), rate.top(false)), (100.0, 100.0));
        rate.end_round(at(120), 10, Duration::from_millis(10));
        assert_eq!(rate.last(), 1000.0);
    }

    #[test]
    fn latest_rate_needs_sixteen_deliveries() {
        let mut rate = DeliveryRate::new();
        // A count every 40 ms, a sixteenth of the base round trip.
        (1..=15).for_each(|n| rate.on_delivered(at(10 * n), 0.64));
        assert_eq!(rate.latest(), 0.0);
        rate.on_delivered(at(160), 0.64);
        assert_eq!(rate.latest(), 100.0);
    }
}
