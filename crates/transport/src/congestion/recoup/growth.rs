//! Whether the delivery rate still follows the window: beside jitter, what grows with the rate need not be a queue.
//!
//! Where jitter keeps the order, the first packet of a bunch holds back the others. Round trips then grow with the rate,
//! as they do in a queue. But a link that is full delivers no more for a larger window. A rise compares its rate with that
//! at its beginning, once the window is larger by a quarter ([`COMPARED`]). If a part of the growth ([`FOLLOWED_PART`]) shows in
//! the rate, the comparison begins anew there, and the apparent queue is jitter. On a radio that aggregates
//! frames both grow for a while: there the rule costs delay.
//!
//! Source: BBR (draft-ietf-ccwg-bbr) ends start-up where the rate no longer grows. Difference: any rise is compared, and
//! with the growth of the window, so that a slow rise counts as much as a fast one. Beside others the rate follows the
//! window, too; therefore this counts only where jitter decides what a queue is.
use super::constants::{COMPARED, FOLLOWED_PART};

/// Compares the growth of the delivery rate with that of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Growth {
    /// Window and deliveries per second from which growth counts.
    from: Option<(f64, f64)>,
    /// Deliveries per second in the last round; 0 before any.
    last: f64,
    /// The rate followed the window at the last comparison.
    follows: bool,
}

impl Growth {
    /// Begins a rise: growth counts from its first round on.
    pub(super) fn begin(&mut self) {
        *self = Self::default();
    }

    /// Ends a round in which this window was in use, in segments, with its deliveries per second.
    pub(super) fn end_round(&mut self, window: f64, rate: f64) {
        // Bunches make the rate of a single round uncertain.
        let smoothed = if self.last > 0.0 { (rate + self.last) / 2.0 } else { rate };
        self.last = rate;
        let Some((from, before)) = self.from else {
            self.from = Some((window, smoothed));
            return;
        };
        let grown = window / from;
        if grown >= COMPARED {
            self.follows = smoothed >= before * (1.0 + FOLLOWED_PART * (grown - 1.0));
            if self.follows {
                self.from = Some((window, smoothed));
            }
        }
    }

    /// Segments of the window up to which the rate followed, in proportion fewer if the rate has fallen; 0 if unknown.
    pub(super) fn followed_at(&self, rate: f64) -> f64 {
        let (window, before) = self.from.unwrap_or((0.0, 0.0));
        if before > rate { window * rate / before } else { window }
    }

    /// Whether the rate follows the window.
    pub(super) fn follows(&self) -> bool {
        self.follows
    }

    /// Whether the rate follows a window of so many segments, or the window has grown too little for a comparison.
    pub(super) fn may_follow(&self, window: f64) -> bool {
        self.follows || self.from.is_none_or(|(from, _)| window < COMPARED * from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After rounds with these windows and rates.
    fn after(rounds: &[(f64, f64)]) -> Growth {
        let mut growth = Growth::default();
        rounds.iter().for_each(|(window, rate)| growth.end_round(*window, *rate));
        growth
    }

    #[test]
    fn rate_that_grows_with_the_window_follows() {
        let growth = after(&[(100.0, 1000.0), (110.0, 1100.0), (126.0, 1260.0)]);
        assert!(growth.follows());
        assert!(growth.may_follow(1000.0));
    }

    #[test]
    fn rate_of_a_full_link_does_not_follow() {
        let growth = after(&[(100.0, 1000.0), (110.0, 1000.0), (126.0, 1000.0)]);
        assert!(!growth.follows());
        assert_eq!(growth.followed_at(1000.0), 100.0);
        assert_eq!(growth.followed_at(500.0), 50.0, "the rate has fallen since");
        assert!(growth.may_follow(124.0), "too little growth for a comparison");
        assert!(!growth.may_follow(126.0));
    }

    #[test]
    fn rate_that_ceases_to_follow_shows_full_link() {
        let mut growth = after(&[(100.0, 1000.0), (126.0, 1260.0)]);
        assert!(growth.follows());
        growth.end_round(160.0, 1100.0);
        assert!(growth.follows(), "one slow round may be chance");
        growth.end_round(200.0, 1100.0);
        assert!(!growth.follows());
    }

    #[test]
    fn rise_begins_anew() {
        let mut growth = after(&[(100.0, 1000.0), (126.0, 1260.0)]);
        growth.begin();
        assert!(!growth.follows());
        assert!(growth.may_follow(1e6), "nothing is known");
        assert_eq!(growth.followed_at(1000.0), 0.0);
        growth.end_round(70.0, 700.0);
        assert!(!growth.may_follow(100.0));
    }
}
