//! The reordering window of time thresholds: the age at which an overtaken transmission is lost.
//!
//! Sources: RFC 8985 section 6.2: a spurious loss widens the window, and 16 recoveries without one narrow it again.
//! The window of a path that reorders is longer: there a quarter of the minimum round-trip time, here four times the
//! addition of the factor. RFC 9002 section 6.1.2: a factor of the round trip, at least 1 ms.
//!
//! Differences:
//! - the longest recent round trip replaces the greater of the smoothed and the latest one: with two sources these
//!   two are often those of the near one;
//! - a spurious loss doubles the addition of the factor, up to eight times, instead of adding a quarter of the
//!   minimum round-trip time.
use crate::time::{Duration, Instant};

/// Shortest threshold (`kGranularity`, RFC 9002, 6.1.2).
const SHORTEST: Duration = Duration::from_millis(1);
/// Most multiples of the factor's addition.
const WIDEST: u32 = 8;
/// Recoveries without a spurious loss after which the window is as narrow as at first (RFC 8985, 6.2, step 4).
const CALM: u32 = 16;
/// Multiple of the factor's addition while answers arrive out of order.
const REORDERED: u32 = 4;
/// Answers in order after which that ends.
const IN_ORDER: u32 = 64;

/// The reordering window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReorderingWindow {
    longest: Longest,
    /// Multiple of the factor's addition.
    widening: u32,
    /// Recoveries since the last spurious loss.
    calm: u32,
    /// This recovery had a spurious loss.
    alarmed: bool,
    /// Answers in order until the path no longer counts as reordering.
    reordered: u32,
}

impl Default for ReorderingWindow {
    fn default() -> Self {
        Self { longest: Longest::default(), widening: 1, calm: 0, alarmed: false, reordered: 0 }
    }
}

impl ReorderingWindow {
    /// Adds a round-trip time.
    pub(super) fn add(&mut self, now: Instant, rtt: Duration) {
        self.reordered = self.reordered.saturating_sub(1);
        self.longest.add(now, rtt);
    }

    /// Records an answer out of order.
    pub(super) fn on_reordered(&mut self) {
        self.reordered = IN_ORDER;
    }

    /// The longest recent round trip.
    pub(super) fn longest(&self) -> Option<Duration> {
        self.longest.get()
    }

    /// Age at which an overtaken transmission is lost; `None` before any round trip.
    pub(super) fn age(&self, factor: f64) -> Option<Duration> {
        let longest = self.longest.get()?.as_secs_f64();
        let reordered = if self.reordered > 0 { REORDERED } else { 1 };
        let excess = (factor - 1.0) * f64::from(reordered.max(self.widening));
        let age = Duration::try_from_secs_f64(longest * (1.0 + excess)).unwrap_or(Duration::MAX);
        Some(age.max(SHORTEST))
    }

    /// Send time at or before which overtaken transmissions are lost.
    pub(super) fn sent_by(&self, now: Instant, factor: f64) -> Option<Instant> {
        let age = u64::try_from(self.age(factor)?.as_nanos()).ok()?;
        now.as_nanos().checked_sub(age).map(Instant::from_nanos)
    }

    /// Widens the window after a spurious loss, once in a recovery.
    pub(super) fn widen(&mut self) {
        if !std::mem::replace(&mut self.alarmed, true) {
            self.widening = (self.widening * 2).min(WIDEST);
            self.calm = 0;
        }
    }

    /// Records the end of a recovery, or that there was none.
    pub(super) fn end_recovery(&mut self, recovering: bool) {
        if recovering && !self.alarmed {
            self.calm = self.calm.saturating_add(1);
            self.widening = if self.calm < CALM { self.widening } else { 1 };
        }
        self.alarmed = false;
    }
}

/// The longest recent round trip: a maximum is kept for once to twice its own length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Longest {
    current: Option<Duration>,
    before: Option<Duration>,
    /// Start of the current period.
    since: Instant,
}

impl Longest {
    fn get(&self) -> Option<Duration> {
        self.current.max(self.before)
    }

    fn add(&mut self, now: Instant, rtt: Duration) {
        if self.get().is_none_or(|longest| now.since(self.since) > longest) {
            (self.before, self.current, self.since) = (self.current, None, now);
        }
        self.current = self.current.max(Some(rtt));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(80);

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn long_round_trip_expires_after_twice_its_time() {
        let mut longest = Longest::default();
        longest.add(at(0), RTT);
        for millis in 1..=161 {
            longest.add(at(millis), Duration::from_millis(5));
            assert_eq!(longest.get(), Some(RTT), "{millis}");
        }
        longest.add(at(163), Duration::from_millis(5));
        assert_eq!(longest.get(), Some(Duration::from_millis(5)));
    }

    #[test]
    fn reordered_answers_widen_the_threshold_for_a_while() {
        let mut window = ReorderingWindow::default();
        window.on_reordered();
        window.add(at(0), RTT);
        assert_eq!(window.age(9.0 / 8.0), Some(Duration::from_millis(120)));
        (1..64).for_each(|n| window.add(at(n), RTT));
        assert_eq!(window.age(9.0 / 8.0), Some(Duration::from_millis(90)));
    }

    #[test]
    fn threshold_is_at_least_a_millisecond() {
        let mut window = ReorderingWindow::default();
        assert_eq!(window.age(9.0 / 8.0), None);
        window.add(at(0), Duration::from_micros(80));
        assert_eq!(window.age(9.0 / 8.0), Some(SHORTEST));
    }
}
