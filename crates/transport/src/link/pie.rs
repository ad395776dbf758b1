//! `pie(target=15ms,update=15ms,burst=150ms)`: marks with a probability that a controller adjusts to the queueing delay.
//!
//! Source: RFC 8033, sections 4.1 to 4.4, 5.2 (departure rate) and 5.4 (derandomisation); the numbers of section 5.1.
//! Each update changes the probability by α·(delay − target) + β·(delay − former delay), less while it is small.
//!
//! Differences: packets are marked at any probability, never dropped. Updates take place when packets join. The departure
//! rate is that between two updates at both of which packets waited. No random number is drawn: a packet is
//! marked once the probabilities since the last mark sum to 1, which lies between the bounds of section 5.4.
use crate::time::{Duration, Instant};

/// Weight of the distance from the target, in 1/s.
const ALPHA: f64 = 0.125;
/// Weight of the change, in 1/s.
const BETA: f64 = 1.25;
/// Two packets of mean size: a shorter queue is not marked.
const SHORT_BYTES: u64 = 2 * 1_024;
/// Probabilities below which a change is divided.
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pie {
    /// Queueing delay to keep.
    pub target: Duration,
    /// Least time between two updates.
    pub update: Duration,
    /// Duration of a burst that is not marked.
    pub burst: Duration,
}

impl Default for Pie {
    fn default() -> Self {
        let of = Duration::from_millis;
        Self { target: of(15), update: of(15), burst: of(150) }
    }
}

/// The marking of one queue.
#[derive(Clone, Debug)]
pub struct PieMarker {
    pie: Pie,
    probability: f64,
    /// Sum of probabilities since the last mark.
    sum: f64,
    /// Queueing delay at the last update, in seconds.
    delay_s: f64,
    burst: Duration,
    /// Departure rate in bytes per second; 0 while it is unknown.
    rate: f64,
    updated: Instant,
    /// Queue at the last update, and bytes that have joined since.
    before: (u64, u64),
}

impl PieMarker {
    /// The marking of an empty queue.
    #[must_use]
    pub fn new(pie: Pie) -> Self {
        Self {
            pie,
            probability: 0.0,
            sum: 0.0,
            delay_s: 0.0,
            burst: pie.burst,
            rate: 0.0,
            updated: Instant::ZERO,
            before: (0, 0),
        }
    }

    /// Whether a packet of `bytes` that joins the queue is to be marked; `queue_bytes` are queued.
    #[must_use]
    pub fn on_enqueue(&mut self, now: Instant, queue_bytes: u64, bytes: u64) -> bool {
        let elapsed = now.since(self.updated);
        if elapsed >= self.pie.update {
            self.update(elapsed, queue_bytes);
            (self.updated, self.before) = (now, (queue_bytes, 0));
        }
        self.before.1 += bytes;
        let is_quick = self.delay_s < self.pie.target.as_secs_f64() / 2.0 && self.probability < 0.2;
        if !self.burst.is_zero() || is_quick || queue_bytes <= SHORT_BYTES {
            return false;
        }
        self.sum += self.probability;
        let marks = self.sum >= 1.0;
        if marks || self.probability == 0.0 {
            self.sum = 0.0;
        }
        marks
    }

    fn update(&mut self, elapsed: Duration, queue_bytes: u64) {
        let (former, joined) = self.before;
        if former > 0 && queue_bytes > 0 {
            let left = (former + joined).saturating_sub(queue_bytes);
            let rate = left as f64 / elapsed.as_secs_f64();
            self.rate = if self.rate == 0.0 { rate } else { (self.rate + rate) / 2.0 };
        }
        let delay_s = if self.rate > 0.0 { queue_bytes as f64 / self.rate } else { 0.0 };
        let target_s = self.pie.target.as_secs_f64();
        let change = ALPHA * (delay_s - target_s) + BETA * (delay_s - self.delay_s);
        let scale = SCALES.into_iter().find(|(below, _)| self.probability < *below);
        let change = match scale {
            Some((_, scale)) => change / scale,
            None => change.min(0.02),
        };
        let decay = if delay_s == 0.0 && self.delay_s == 0.0 { 0.98 } else { 1.0 };
        self.probability = ((self.probability + change) * decay).clamp(0.0, 1.0);
        let is_idle = self.probability == 0.0 && delay_s.max(self.delay_s) < target_s / 2.0;
        self.burst = if is_idle { self.pie.burst } else { self.burst.saturating_sub(elapsed) };
        self.delay_s = delay_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks in each second of ten, for a packet of 1,000 bytes each millisecond into a queue of constant length.
    fn marks(queue_bytes: u64) -> Vec<usize> {
        let mut marker = PieMarker::new(Pie::default());
        let mut is_marked = |ms| marker.on_enqueue(Instant::from_millis(ms), queue_bytes, 1_000);
        let seconds = (0..10).map(|second| second * 1_000..(second + 1) * 1_000);
        seconds.map(|second| second.filter(|ms| is_marked(*ms)).count()).collect()
    }

    #[test]
    fn delay_above_the_target_is_marked_more_often() {
        // A megabyte a second leaves, so 40,000 bytes are 40 ms.
        let marks = marks(40_000);
        assert!(marks[0] < 20 && marks.is_sorted() && marks[9] == 1_000, "{marks:?}");
        assert!(marks.iter().zip(super::tests::marks(60_000)).all(|(few, many)| *few <= many));
    }

    #[test]
    fn delay_below_the_target_is_not_marked() {
        for queue_bytes in [0, 2_048, 7_000, 14_000] {
            assert_eq!(marks(queue_bytes), [0; 10], "{queue_bytes}");
        }
    }

    #[test]
    fn burst_is_not_marked() {
        let mut marker = PieMarker::new(Pie::default());
        assert!((0..150).all(|ms| !marker.on_enqueue(Instant::from_millis(ms), ms * 1_000, 2_000)));
    }
}
