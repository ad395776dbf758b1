//! Pacing of Interests: a token bucket in virtual time.
//!
//! If the rate rises, the remaining wait shrinks with it.
//!
//! After an idle time a burst is sent at once: the Interests of [`QUANTUM`], but not more than a [`PART`] of the
//! window. Above [`BATCHED`] Interests are sent in batches, one each [`GRANULARITY`]. A wake-up for each of them
//! would cost more than the Interest, and a batch of datagrams is one system call. Below that rate a batch might
//! overrun a buffer of a few packets.
//!
//! *Waits.* If answers wait for this process for longer than [`IDLE`], others use its processor, and Interests are not
//! paced. Wake-ups for single Interests would make all processes wait for longer, and would split the batches of answers.
use crate::time::{Duration, Instant};

/// Time for which unused tokens are kept.
const QUANTUM: Duration = Duration::from_millis(1);
/// Most unused tokens, as a part of the window. On a short path a burst of a millisecond is as long as a flight, and
/// the burst of its answers makes the next one.
const PART: f64 = 1.0 / 16.0;
/// Segments per second above which Interests are sent in batches.
const BATCHED: f64 = 50_000.0;
/// Longest mean wait of a process on an idle machine: 0.06 ms were measured, and 1 to 4 ms beside 100 others.
const IDLE: Duration = Duration::from_micros(250);
/// Answers over which their wait is smoothed.
const WAITS: u32 = 8;
/// Least time between two batches.
const GRANULARITY: Duration = Duration::from_micros(100);

/// Spaces Interests by a rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// Time of the next Interest.
    next: Instant,
    /// The rate of the last Interest.
    rate: f64,
    /// Time for which answers wait for this process, smoothed, once there is one.
    waited: Option<Duration>,
}

impl Pacer {
    /// Records that an answer waited for this process for so long.
    pub(super) fn on_waited(&mut self, wait: Duration) {
        let smoothed = self.waited.map(|waited| (waited * (WAITS - 1) + wait) / WAITS);
        self.waited = Some(smoothed.unwrap_or(wait));
    }

    /// Time for which answers wait for this process, if it is too long for pacing.
    pub(super) fn waits(&self) -> Option<Duration> {
        self.waited.filter(|waited| *waited > IDLE)
    }

    /// Time of the next Interest, if none may be sent now.
    pub(super) fn wait(&mut self, now: Instant, rate: Option<f64>) -> Option<Instant> {
        let rate = rate.filter(|_| self.waits().is_none());
        if let Some(rate) = rate.filter(|rate| *rate > self.rate && self.rate > 0.0) {
            self.next = self.next.min(now + self.next.since(now).mul_f64(self.rate / rate));
            self.rate = rate;
        }
        rate.filter(|_| self.next > now).map(|rate| {
            let least = if rate > BATCHED { GRANULARITY } else { Duration::ZERO };
            self.next.max(now + least)
        })
    }

    /// Records an Interest, sent at a rate in segments per second and with a window in segments.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Send times of Interests within 10 ms at a rate, with a poll at each deadline, and their numbers.
    fn batches(rate: f64) -> Vec<(Instant, u32)> {
        let (mut pacer, mut now, mut batches) = (Pacer::default(), Instant::ZERO, Vec::new());
        while now < Instant::from_millis(10) {
            let mut batch = 0;
            let next = loop {
                match pacer.wait(now, Some(rate)) {
                    Some(next) => break next,
                    None => pacer.on_sent(now, Some(rate), 1e6),
                }
                batch += 1;
            };
            batches.push((now, batch));
            now = next;
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
        let before = pacer.wait(now, Some(100.0)).expect("a time");
        let wait = pacer.wait(now, Some(1_000.0)).expect("a time").since(now);
        assert_eq!(wait, before.since(now) / 10);
    }

    #[test]
    fn burst_after_idle_time_is_limited() {
        let burst = |window: f64| {
            let (mut pacer, now, mut burst) = (Pacer::default(), Instant::from_millis(500), 0);
            while pacer.wait(now, Some(20_000.0)).is_none() {
                pacer.on_sent(now, Some(20_000.0), window);
                burst += 1;
            }
            burst
        };
        assert_eq!((burst(40.0), burst(4000.0)), (3, 21));
    }

    #[test]
    fn process_that_waits_sends_without_pacing() {
        let (mut pacer, now) = (Pacer::default(), Instant::from_millis(500));
        pacer.on_sent(now, Some(100.0), 10.0);
        assert!(pacer.wait(now, Some(100.0)).is_some());
        pacer.on_waited(Duration::from_millis(2));
        assert_eq!(pacer.wait(now, Some(100.0)), None);
        (0..16).for_each(|_| pacer.on_waited(Duration::ZERO));
        assert!(pacer.wait(now, Some(100.0)).is_some());
    }

    #[test]
    fn slow_interests_are_sent_one_by_one() {
        assert!(batches(BATCHED)[100..].iter().all(|(_, batch)| *batch == 1));
    }

    #[test]
    fn fast_interests_are_sent_in_batches() {
        let batches = batches(200_000.0);
        assert!(batches[1..].iter().all(|(_, batch)| (20..=21).contains(batch)), "{batches:?}");
        let sent: u32 = batches.iter().map(|(_, batch)| batch).sum();
        assert!((1_980..=2_020).contains(&sent), "{sent}");
    }
}
