//! Congestion marks for packets that join a queue.
//!
//! Source: NFD, `GenericLinkService::checkCongestionLevel` (after CoDel, RFC 8289, whose control law spaces the
//! marks). Once the queue has exceeded a threshold for one interval, the next packet is marked. The mark after it
//! follows an interval over √(n+1) later, where n counts the marks since the queue was last short. Differences from
//! CoDel: the length of the queue in bytes is measured, not the sojourn time of a packet, and no earlier rate of
//! marks is remembered. Differences from NFD: none.

use crate::time::{Duration, Instant};

/// Parameters of congestion marking; by default those of NFD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marking {
    /// Queue length in bytes above which the queue is congested.
    pub threshold_bytes: u64,
    /// Duration of congestion before the first mark, and base of the time between marks.
    pub interval: Duration,
}

impl Default for Marking {
    fn default() -> Self {
        Self { threshold_bytes: 65_536, interval: Duration::from_millis(100) }
    }
}

/// Congestion marking of one queue.
#[derive(Clone, Debug)]
pub struct Marker {
    marking: Marking,
    /// Time of the next mark; `None` while the queue is short.
    next: Option<Instant>,
    /// Marks since the queue was last short.
    marks: u64,
}

impl Marker {
    /// The marking of an empty queue.
    #[must_use]
    pub fn new(marking: Marking) -> Self {
        Self { marking, next: None, marks: 0 }
    }

    /// Whether the packet that joins the queue is to be marked; `queue_bytes` are queued.
    #[must_use]
    pub fn on_enqueue(&mut self, now: Instant, queue_bytes: u64) -> bool {
        if queue_bytes <= self.marking.threshold_bytes {
            (self.next, self.marks) = (None, 0);
            return false;
        }
        let Some(next) = self.next else {
            self.next = Some(now + self.marking.interval);
            return false;
        };
        if now < next {
            return false;
        }
        self.marks += 1;
        self.next = Some(next + self.spacing());
        true
    }

    /// Time from the last mark to the next one.
    fn spacing(&self) -> Duration {
        let interval_nanos = self.marking.interval.as_nanos() as f64;
        Duration::from_nanos((interval_nanos / libm::sqrt((self.marks + 1) as f64)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: u64 = 65_536;
    const LONG: u64 = 65_537;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn queue_at_its_threshold_causes_no_mark() {
        let mut marker = Marker::new(Marking::default());
        assert!((0..10_000).all(|at| !marker.on_enqueue(ms(at), SHORT)));
    }

    #[test]
    fn first_mark_follows_after_one_interval() {
        let mut marker = Marker::new(Marking::default());
        let marked = [(1_000, LONG), (1_050, LONG), (1_099, 1 << 30), (1_100, LONG), (1_101, LONG)]
            .map(|(at, bytes)| marker.on_enqueue(ms(at), bytes));
        assert_eq!(marked, [false, false, false, true, false]);
    }

    #[test]
    fn mark_interval_shrinks_by_the_square_root() {
        let mut marker = Marker::new(Marking::default());
        let marks: Vec<u64> = (0..400_000)
            .map(|step| step * 1_000)
            .filter(|nanos| marker.on_enqueue(Instant::from_nanos(*nanos), LONG))
            .collect();
        // 100, then + 100/√2, + 100/√3, + 100/√4, + 100/√5 ms; each at the next whole microsecond.
        assert_eq!(
            marks,
            [100_000_000, 170_711_000, 228_446_000, 278_446_000, 323_168_000, 363_992_000]
        );
    }

    #[test]
    fn short_queue_resets_the_marking() {
        let mut marker = Marker::new(Marking::default());
        assert!(!marker.on_enqueue(ms(0), LONG));
        assert!(marker.on_enqueue(ms(100), LONG));
        assert!(marker.on_enqueue(ms(171), LONG));
        assert!(!marker.on_enqueue(ms(200), SHORT));
        assert!(!marker.on_enqueue(ms(300), LONG), "long for the first time again");
        assert!(!marker.on_enqueue(ms(399), LONG));
        assert!(marker.on_enqueue(ms(400), LONG));
        assert!(!marker.on_enqueue(ms(470), LONG), "the second mark is due at 470.7");
        assert!(marker.on_enqueue(ms(471), LONG));
    }

    #[test]
    fn marks_catch_up_after_a_pause() {
        // As in NFD, the next mark is timed from the last one, not from the packet.
        let mut marker = Marker::new(Marking::default());
        assert!(!marker.on_enqueue(ms(0), LONG));
        let marked: Vec<bool> = (0..5).map(|_| marker.on_enqueue(ms(250), LONG)).collect();
        assert_eq!(marked, [true, true, true, false, false]);
    }

    #[test]
    fn threshold_and_interval_are_parameters() {
        let marking = Marking { threshold_bytes: 0, interval: Duration::from_millis(10) };
        let mut marker = Marker::new(marking);
        let marked = [(0, 0), (0, 1), (10, 1), (17, 1), (18, 1), (18, 0), (30, 1)]
            .map(|(at, bytes)| marker.on_enqueue(ms(at), bytes));
        assert_eq!(marked, [false, false, true, false, true, false, false]);
    }
}
