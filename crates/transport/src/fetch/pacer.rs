//! Pacing of Interests: a token bucket in virtual time.
//!
//! If the rate rises, the wait that is left shrinks with it.
//!
//! After an idle time a burst leaves at once: Interests of [`QUANTUM`], but not more than a [`PART`] of the window. Above
//! [`BATCHED`] Interests leave in batches, one each [`GRANULARITY`]: to be woken for each of them costs more than they do,
//! and a batch of datagrams is one system call. Below that rate a batch might overrun a buffer of a few packets.
use crate::time::{Duration, Instant};

/// Time for which unused permission to send is kept.
const QUANTUM: Duration = Duration::from_millis(1);
/// Part of the window for which unused permission to send is kept at most: on a short path a burst of a millisecond is as
/// long as a flight, and the burst of its answers makes the next one.
const PART: f64 = 1.0 / 16.0;
/// Segments per second above which Interests leave in batches.
const BATCHED: f64 = 50_000.0;
/// Least time between two batches.
const GRANULARITY: Duration = Duration::from_micros(100);

/// Spaces Interests by a rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// When the next Interest may leave.
    next: Instant,
    /// The rate of the last Interest.
    rate: f64,
    /// The window has free space, but an Interest may leave only then.
    blocked: Option<Instant>,
}

impl Pacer {
    /// An Interest may leave now; if not, the time at which one may is kept.
    pub(super) fn allows(&mut self, now: Instant, rate: Option<f64>) -> bool {
        if let Some(rate) = rate.filter(|rate| *rate > self.rate && self.rate > 0.0) {
            self.next = self.next.min(now + self.next.since(now).mul_f64(self.rate / rate));
            self.rate = rate;
        }
        let paced = rate.filter(|_| self.next > now);
        self.blocked = paced.map(|rate| {
            let least = if rate > BATCHED { GRANULARITY } else { Duration::ZERO };
            self.next.max(now + least)
        });
        self.blocked.is_none()
    }

    /// Nothing waits for its time.
    pub(super) fn release(&mut self) {
        self.blocked = None;
    }

    /// An Interest left, at a rate in segments per second and with a window of so many segments.
    pub(super) fn on_sent(&mut self, now: Instant, rate: Option<f64>, window: f64) {
        if let Some(rate) = rate.filter(|rate| *rate > 0.0) {
            let duration = |segments: f64| {
                let duration = Duration::try_from_secs_f64(segments / rate);
                duration.unwrap_or(Duration::MAX).min(Duration::from_secs(1))
            };
            let kept = duration(PART * window).min(QUANTUM);
            self.next = self.next.max(now - kept) + duration(1.0);
            self.rate = rate;
        }
    }

    /// When an Interest that waits for its time may leave.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.blocked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When Interests leave within 10 ms at a rate, if somebody asks at each deadline, and how many each time.
    fn batches(rate: f64) -> Vec<(Instant, u32)> {
        let (mut pacer, mut now, mut batches) = (Pacer::default(), Instant::ZERO, Vec::new());
        while now < Instant::from_millis(10) {
            let mut batch = 0;
            while pacer.allows(now, Some(rate)) {
                pacer.on_sent(now, Some(rate), 1e6);
                batch += 1;
            }
            batches.push((now, batch));
            now = pacer.deadline().expect("a deadline");
        }
        batches
    }

    #[test]
    fn slow_interests_leave_one_by_one() {
        let batches = batches(2_000.0);
        assert!(batches.iter().all(|(_, batch)| *batch == 1), "{batches:?}");
        assert_eq!(batches[7].0.since(batches[6].0), Duration::from_micros(500));
    }

    #[test]
    fn higher_rate_shortens_the_wait() {
        let (mut pacer, now) = (Pacer::default(), Instant::from_millis(500));
        pacer.on_sent(now, Some(100.0), 1.0);
        assert!(!pacer.allows(now, Some(100.0)));
        let before = pacer.deadline().expect("a deadline");
        assert!(!pacer.allows(now, Some(1_000.0)));
        let wait = pacer.deadline().expect("a deadline").since(now);
        assert_eq!(wait, before.since(now) / 10);
    }

    #[test]
    fn burst_after_idle_time_is_a_part_of_the_window() {
        let burst = |window: f64| {
            let (mut pacer, now, mut burst) = (Pacer::default(), Instant::from_millis(500), 0);
            while pacer.allows(now, Some(20_000.0)) {
                pacer.on_sent(now, Some(20_000.0), window);
                burst += 1;
            }
            burst
        };
        assert_eq!((burst(40.0), burst(4000.0)), (3, 21));
    }

    #[test]
    fn interests_leave_one_by_one_up_to_a_rate() {
        assert!(batches(BATCHED)[100..].iter().all(|(_, batch)| *batch == 1));
    }

    #[test]
    fn fast_interests_leave_in_batches_at_the_same_rate() {
        let batches = batches(200_000.0);
        assert!(batches[1..].iter().all(|(_, batch)| (20..=21).contains(batch)), "{batches:?}");
        let sent: u32 = batches.iter().map(|(_, batch)| batch).sum();
        assert!((1_980..=2_020).contains(&sent), "{sent}");
    }
}
