//! Competition: this consumer's share of the bottleneck, and whether others still fill the queue.
//!
//! Queued packets of one consumer arrive at the rate of the bottleneck. The shortest recent spacing therefore shows
//! the capacity, and the delivery rate over it is the own share. Jitter shortens spacings, too. A test drain shows the
//! capacity in another way: the segments that it removes from the queue over the delay that they took. The smaller
//! capacity counts.
//!
//! *Half.* While others fill the queue, a share above half is more than the fair share of one of two. The window
//! shrinks by at least a segment in each round trip or an eighth of the excess, until the share is half or the queue
//! vanishes. A competitor that sends in bursts, and therefore has more drops than this paced consumer, keeps its
//! share that way.
//!
//! *Emptied queues.* Consumers that fill a queue react to drops, so its peaks are those of a full buffer. Consumers
//! whose congestion control drains it react before. If the queue vanishes twice within some rounds each, and was not
//! full in between, no competitor fills it, and competition ends.
//!
//! Source: packet pairs (S. Keshav, "A Control-Theoretic Approach to Flow Control", SIGCOMM 1991). Difference: three
//! deliveries instead of two. Before a first test, jitter makes the capacity seem higher and the share smaller; the
//! window then follows CUBIC alone.
use super::super::Delivered;
use super::super::extreme::Extreme;
use super::constants::{
    EMPTIED_ROUNDS, EMPTIED_TIMES, HALF, LEAST_DRAINED, SHARE_ROUNDS, SHRINK, SPACING_SPAN,
};
use crate::time::Instant;

/// Capacity of the bottleneck, and share of this consumer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bottleneck {
    /// Send order and time of the two latest deliveries, the latest first.
    latest: [(u64, Instant); 2],
    /// Shortest recent mean interval of three deliveries in order of sending, seconds.
    spacing: Extreme,
    /// Share of the capacity, smoothed over rounds.
    share: f64,
    /// Deliveries per second that drains showed, smoothed over them.
    drained: Option<f64>,
}

impl Bottleneck {
    pub(super) fn new() -> Self {
        let spacing = Extreme::new(false, SPACING_SPAN);
        Self { latest: [(0, Instant::ZERO); 2], spacing, share: 0.0, drained: None }
    }

    /// A bottleneck of so many deliveries per second.
    #[cfg(test)]
    pub(super) fn of(capacity: f64) -> Self {
        let mut bottleneck = Self::new();
        bottleneck.spacing.add(Instant::ZERO, 1.0 / capacity);
        bottleneck
    }

    pub(super) fn on_delivered(&mut self, now: Instant, delivered: &Delivered) {
        let [(last, at), (first, since)] = self.latest;
        if delivered.order == last + 1 && last == first + 1 {
            self.spacing.add(now, now.since(since).as_secs_f64() / 2.0);
        }
        self.latest = [(delivered.order, now), (last, at)];
    }

    /// Ends a round of competition with this delivery rate.
    pub(super) fn end_round(&mut self, rate: f64) {
        let capacity = self.capacity();
        let share = if capacity > 0.0 { rate / capacity } else { 0.0 };
        self.share += (share - self.share) / SHARE_ROUNDS;
    }

    /// Deliveries per second of the bottleneck; 0 if unknown.
    pub(super) fn capacity(&self) -> f64 {
        let spacing = self.spacing.get().filter(|spacing| *spacing > 0.0);
        let spaced = spacing.map_or(f64::INFINITY, |spacing| 1.0 / spacing);
        let capacity = self.drained.unwrap_or(spaced).min(spaced);
        if capacity.is_finite() { capacity } else { 0.0 }
    }

    /// Records a drain at this delivery rate: fewer segments in the queue made it shorter by so many seconds.
    pub(super) fn on_drained(&mut self, segments: f64, seconds: f64, rate: f64) {
        if seconds > 0.0 && segments >= LEAST_DRAINED {
            let capacity = (segments / seconds).max(rate);
            self.drained = Some(self.drained.map_or(capacity, |before| (before + capacity) / 2.0));
        }
    }

    /// Discards what drains showed: the path has changed.
    pub(super) fn forget_drains(&mut self) {
        self.drained = None;
    }

    /// Begins a competition, with an unknown share.
    pub(super) fn begin(&mut self) {
        self.share = 0.0;
    }

    /// Whether the share is above half.
    pub(super) fn is_exceeded(&self) -> bool {
        self.share > HALF
    }

    /// Reduction per answer of a window of so many segments that would otherwise grow by `step`.
    pub(super) fn shrink(&self, window: f64, step: f64) -> f64 {
        step.min(1.0 / window).max(SHRINK * (self.share.min(1.0) - HALF))
    }
}

/// Number of times that the queue vanished recently without having been full.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Emptied {
    /// Longest queueing delay since the queue vanished, seconds.
    peak: f64,
    /// Rounds since.
    rounds: u32,
    times: u32,
}

impl Emptied {
    /// Records a queueing delay, seconds.
    pub(super) fn add(&mut self, queue: f64) {
        self.peak = self.peak.max(queue);
    }

    /// Ends a round in which the queue vanished or not; a longer delay than `threshold` is a queue. True if the queue
    /// is emptied by consumers that do not fill it.
    pub(super) fn end_round(
        &mut self,
        vanished: bool,
        threshold: f64,
        is_full: impl Fn(f64) -> bool,
    ) -> bool {
        self.rounds += 1;
        if vanished && self.peak > threshold {
            let drained = self.rounds <= EMPTIED_ROUNDS && !is_full(self.peak);
            let times = if drained { self.times + 1 } else { 0 };
            *self = Self { times, ..Self::default() };
        }
        self.times >= EMPTIED_TIMES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deliveries of consecutive send orders at these times, in ms.
    fn delivered_at(times: &[u64], orders: impl Iterator<Item = u64>) -> Bottleneck {
        let mut bottleneck = Bottleneck::new();
        for (order, at) in orders.zip(times) {
            let delivered = Delivered {
                path: None,
                segment: 0,
                order,
                highest_order: 100,
                rtt: None,
                srtt: None,
                min_rtt: None,
                in_flight: 0,
                advance: 1,
                remaining: None,
            };
            bottleneck.on_delivered(Instant::from_millis(*at), &delivered);
        }
        bottleneck
    }

    /// Whether the share exceeds half after many rounds at this rate.
    fn exceeds(mut bottleneck: Bottleneck, rate: f64) -> bool {
        (0..100).for_each(|_| bottleneck.end_round(rate));
        bottleneck.is_exceeded()
    }

    #[test]
    fn closest_three_deliveries_show_the_capacity() {
        // The closest three are 2 ms apart each: 500 deliveries per second.
        let bottleneck = delivered_at(&[0, 8, 10, 12, 20], 5..10);
        assert!(exceeds(bottleneck, 260.0));
        assert!(!exceeds(bottleneck, 240.0));
    }

    #[test]
    fn deliveries_out_of_order_show_no_capacity() {
        let bottleneck = delivered_at(&[0, 1, 2, 3], [5, 7, 6, 8].into_iter());
        assert!(!exceeds(bottleneck, 1e9));
    }

    /// A bottleneck of 500 deliveries per second, of which `rate` are this consumer's.
    fn with_rate(rate: f64) -> Bottleneck {
        let mut bottleneck = delivered_at(&[0, 2, 4], 5..8);
        (0..100).for_each(|_| bottleneck.end_round(rate));
        bottleneck
    }

    #[test]
    fn excess_over_half_shrinks_the_window() {
        let large = with_rate(400.0);
        assert!((large.shrink(100.0, 1.0) - 0.3 / 8.0).abs() < 1e-3, "an eighth of the excess");
        assert_eq!(large.shrink(2.0, 1.0), 0.5, "at least a segment in a round trip");
    }

    /// Whether queues with these peaks that vanish after `rounds` are emptied by drains; full ones have 20 ms.
    fn is_emptied(peaks: &[f64], rounds: u32) -> bool {
        let (mut emptied, mut is) = (Emptied::default(), false);
        for peak in peaks {
            emptied.add(*peak);
            for round in 1..=rounds {
                is = emptied.end_round(round == rounds, 0.005, |delay| delay >= 0.02);
            }
        }
        is
    }

    #[test]
    fn early_vanishing_queue_is_emptied_by_drains() {
        assert!(is_emptied(&[0.01, 0.01], 8));
        assert!(!is_emptied(&[0.01], 8), "once");
        assert!(!is_emptied(&[0.01, 0.02], 8), "full in between");
        assert!(!is_emptied(&[0.01, 0.01], 17), "too rarely");
        assert!(!is_emptied(&[0.004, 0.004], 8), "no queue");
    }

    #[test]
    fn drains_show_the_capacity_beside_jitter() {
        let mut bottleneck = delivered_at(&[0, 1, 2], 5..8);
        bottleneck.on_drained(3.0, 0.001, 100.0);
        assert_eq!(bottleneck.capacity(), 1_000.0, "too few segments");
        bottleneck.on_drained(20.0, 0.1, 100.0);
        assert_eq!(bottleneck.capacity(), 200.0);
        bottleneck.on_drained(20.0, 0.2, 300.0);
        assert_eq!(bottleneck.capacity(), 250.0, "at least the rate");
        bottleneck.forget_drains();
        assert_eq!(bottleneck.capacity(), 1_000.0);
    }

    #[test]
    fn competition_begins_without_a_share() {
        let mut bottleneck = delivered_at(&[0, 2, 4], 5..8);
        (0..100).for_each(|_| bottleneck.end_round(500.0));
        bottleneck.begin();
        assert!(!bottleneck.is_exceeded());
    }
}
