//! A windowed minimum or maximum over one to two spans of time.
//!
//! Source: the windowed filters of RFC 9002 and of draft-ietf-ccwg-bbr. Difference: two halves instead of the three best
//! values.
use crate::time::{Duration, Instant};

/// An extreme over the last one to two spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extreme {
    current: Option<f64>,
    before: Option<f64>,
    since: Instant,
    largest: bool,
    span: Duration,
}

impl Extreme {
    /// A maximum if `largest`, else a minimum.
    pub(super) fn new(largest: bool, span: Duration) -> Self {
        Self { current: None, before: None, since: Instant::ZERO, largest, span }
    }

    /// An empty filter of the same kind and span.
    pub(super) fn emptied(&self, now: Instant) -> Self {
        Self { current: None, before: None, since: now, ..*self }
    }

    pub(super) fn set_span(&mut self, span: Duration) {
        self.span = span;
    }

    pub(super) fn add(&mut self, now: Instant, value: f64) {
        if now.since(self.since) > self.span {
            (self.before, self.current, self.since) = (self.current, None, now);
        }
        self.current = self.pick(self.current, Some(value));
    }

    pub(super) fn get(&self) -> Option<f64> {
        self.pick(self.current, self.before)
    }

    fn pick(&self, a: Option<f64>, b: Option<f64>) -> Option<f64> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.largest { a.max(b) } else { a.min(b) }),
            (one, other) => one.or(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_forgotten_after_two_spans() {
        let mut least = Extreme::new(false, Duration::from_secs(1));
        least.add(Instant::from_millis(100), 1.0);
        least.add(Instant::from_millis(1_200), 5.0);
        assert_eq!(least.get(), Some(1.0));
        least.add(Instant::from_millis(2_300), 7.0);
        assert_eq!(least.get(), Some(5.0));
    }
}
