//! `red(min=30kB,max=90kB,weight=9,every=50,slot=1ms)`: marks by the mean length of the queue.
//!
//! Source: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993,
//! Figure 2. The mean has the weight 2^−`weight` of the newest length. Between `min` and `max` a packet is marked with a
//! probability that rises from 0 to 1/`every`; from `max` on, each packet is.
//!
//! Differences: lengths are in bytes. No random number is drawn: the paper's number of packets between two marks is
//! uniform up to 1/probability, and here always half of that. The time of a small packet, by which a mean falls while the
//! queue is empty, is `slot`; the queue counts as empty since the last packet joined.
use crate::time::{Duration, Instant};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Red {
    /// Mean length in bytes from which packets are marked.
    pub min_bytes: u64,
    /// Mean length in bytes from which each packet is marked; above `min_bytes`.
    pub max_bytes: u64,
    /// The newest length has the weight 2^−`weight` in the mean.
    pub weight: u8,
    /// Just below `max_bytes`, at most so many packets lie between two marks; half of them on average.
    pub every: u32,
    /// Time of a small packet on an idle link.
    pub slot: Duration,
}

impl Default for Red {
    /// The paper's 5 packets, three times as many, 0.002 and 1/50; packets of 6,000 bytes.
    fn default() -> Self {
        let slot = Duration::from_millis(1);
        Self { min_bytes: 30_000, max_bytes: 90_000, weight: 9, every: 50, slot }
    }
}

/// The marking of one queue.
#[derive(Clone, Debug)]
pub struct RedMarker {
    red: Red,
    mean_bytes: f64,
    joined: Instant,
    /// Packets since the last mark, or since the mean was short.
    unmarked: u32,
}

impl RedMarker {
    /// The marking of an empty queue.
    #[must_use]
    pub fn new(red: Red) -> Self {
        Self { red, mean_bytes: 0.0, joined: Instant::ZERO, unmarked: 0 }
    }

    /// Whether the packet that joins the queue is to be marked; `queue_bytes` are queued.
    #[must_use]
    pub fn on_enqueue(&mut self, now: Instant, queue_bytes: u64) -> bool {
        let Red { min_bytes, max_bytes, weight, every, slot } = self.red;
        let weight = libm::exp2(-f64::from(weight));
        if queue_bytes == 0 {
            let slots = now.since(self.joined).as_secs_f64() / slot.as_secs_f64();
            self.mean_bytes *= libm::pow(1.0 - weight, slots);
        } else {
            self.mean_bytes += weight * (queue_bytes as f64 - self.mean_bytes);
        }
        self.joined = now;
        let (min, max) = (min_bytes as f64, max_bytes as f64);
        let probability = (self.mean_bytes - min) / (max - min) / f64::from(every);
        self.unmarked = if probability < 0.0 { 0 } else { self.unmarked.saturating_add(1) };
        let marks = self.mean_bytes >= max || f64::from(self.unmarked) * probability >= 0.5;
        if marks {
            self.unmarked = 0;
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of the marks of 10,000 packets into a queue of that length, without a weight.
    fn marks(queue_bytes: u64) -> Vec<u64> {
        let mut marker = RedMarker::new(Red { weight: 0, ..Red::default() });
        let marked = |ms: &u64| marker.on_enqueue(Instant::from_millis(*ms), queue_bytes);
        (0..10_000).filter(marked).collect()
    }

    #[test]
    fn probability_rises_from_minimum_to_maximum() {
        assert_eq!(marks(30_000), [0; 0]);
        // 1/100 in the middle: each 50th packet, the mean of the paper's 1 to 100.
        assert_eq!(marks(60_000), (0..200).map(|mark| mark * 50 + 49).collect::<Vec<_>>());
        assert_eq!(marks(89_999).len(), 384);
        assert_eq!(marks(90_000).len(), 10_000);
    }

    #[test]
    fn mean_follows_the_queue_slowly() {
        let mut marker = RedMarker::new(Red::default());
        let first = (0..).find(|ms| marker.on_enqueue(Instant::from_millis(*ms), 100_000));
        // 1 − (1 − 1/512)^n reaches 0.3 after 183 packets.
        assert!((183..300).contains(&first.unwrap()), "{first:?}");
    }

    #[test]
    fn mean_falls_while_the_queue_is_empty() {
        let mut marker = RedMarker::new(Red::default());
        assert!(
            (0..5_000).filter(|ms| marker.on_enqueue(Instant::from_millis(*ms), 95_000)).count()
                > 1_000
        );
        assert!(!marker.on_enqueue(Instant::from_millis(6_000), 0));
        assert!(marker.mean_bytes < 95_000.0 / 4.0, "{}", marker.mean_bytes);
    }
}
