//! Change of the path: round trips at least double from one Data to the next, and stay so for a round trip.
//!
//! A queue grows slowly from one transmission to the next, and packets held by a stalled link arrive with decreasing
//! round trips. A queue may have grown between two samples that many retransmissions separate, which give none. The base round trip of the new path is that of transmissions sent after the rise. Earlier ones were
//! in flight during the change, and show a part of it.
use super::constants::{JUMP_LEAST, JUMP_LEVEL, JUMP_ORDERS, JUMP_SAMPLES};
use crate::time::Instant;

/// A rise that may be a new path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rise {
    since: Instant,
    samples: u64,
    /// Round trips up to this are not of the new path.
    level: f64,
    /// Least round trip of transmissions sent after the rise.
    least: f64,
}

/// Detects jumps of the round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Jump {
    /// Send order and round trip of the latest sample.
    last: Option<(u64, f64)>,
    rise: Option<Rise>,
}

impl Jump {
    /// Records the round trip of the transmission `order`, with the base round trip of the path. Returns the base of the
    /// new path, once it is certain. All in seconds.
    pub(super) fn add(&mut self, now: Instant, order: u64, rtt: f64, base: f64) -> Option<f64> {
        let last = self.last.replace((order, rtt));
        let last = last.filter(|(last, _)| order.abs_diff(*last) <= JUMP_ORDERS);
        let Some(mut rise) = self.rise.filter(|rise| rtt >= rise.level) else {
            let high = base.max(JUMP_LEAST);
            self.rise = last.filter(|(_, before)| rtt >= before + high).map(|(_, before)| Rise {
                since: now,
                samples: 0,
                level: before + JUMP_LEVEL * (rtt - before),
                least: f64::INFINITY,
            });
            return None;
        };
        if now.since(rise.since).as_secs_f64() >= rtt {
            rise.samples += 1;
            rise.least = rise.least.min(rtt);
        }
        let stays = rise.samples >= JUMP_SAMPLES;
        self.rise = Some(rise).filter(|_| !stays);
        stays.then_some(rise.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Detected base after a round trip of 20 ms, and those of so many milliseconds, one every 10 ms, from that send
    /// order on.
    fn jump_from(order: u64, rtts: impl IntoIterator<Item = u64>) -> Option<f64> {
        let mut jump = Jump::default();
        jump.add(Instant::ZERO, 0, 0.02, 0.02);
        let mut add =
            |n, rtt: u64| jump.add(Instant::from_millis(10 * n), order + n, rtt as f64 / 1e3, 0.02);
        (1..).zip(rtts).find_map(|(n, rtt)| add(n, rtt))
    }

    fn jump(rtts: impl IntoIterator<Item = u64>) -> Option<f64> {
        jump_from(0, rtts)
    }

    #[test]
    fn queue_that_grew_unseen_is_no_other_path() {
        assert_eq!(jump_from(JUMP_ORDERS, [80; 17]), None, "retransmissions give no round trip");
    }

    #[test]
    fn rise_that_stays_is_another_path() {
        assert_eq!(jump([80; 17]), Some(0.08));
        assert_eq!(jump([80; 15]), None, "the eighth sample after a round trip is missing");
    }

    #[test]
    fn transmissions_during_the_change_are_no_base() {
        // The Interests had crossed the link before its delay changed, their Data had not.
        assert_eq!(jump([50; 4].into_iter().chain([80; 20])), Some(0.08));
    }

    #[test]
    fn stalled_link_is_no_other_path() {
        assert_eq!(jump((2..=8).rev().map(|n| 10 * n).chain([20; 10])), None);
    }

    #[test]
    fn growing_queue_is_no_other_path() {
        assert_eq!(jump((2..30).map(|n| 10 * n)), None);
    }
}
