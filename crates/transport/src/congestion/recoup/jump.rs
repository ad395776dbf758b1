//! Another path: round trips at least double from one Data to the next, and stay so for a round trip.
//!
//! A queue grows by little from one transmission to the next, and what a stalled link holds back arrives with ever
//! shorter round trips. The base round trip of the other path is that of transmissions that were sent after the rise:
//! those before met the change on their way, and know a part of it.
use crate::time::Instant;

/// Another path differs by so many seconds at least.
const LEAST: f64 = 0.004;
/// Round trips that stay above this part of the rise belong to the other path.
const LEVEL: f64 = 0.75;
/// Round trips of transmissions sent after the rise that tell of another path.
const SAMPLES: u64 = 8;

/// A rise that may be another path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rise {
    since: Instant,
    samples: u64,
    /// Round trips that are no longer do not belong to it.
    level: f64,
    /// Least round trip of transmissions sent after the rise.
    least: f64,
}

/// Watches round trips for a jump.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Jump {
    last: Option<f64>,
    rise: Option<Rise>,
}

impl Jump {
    /// Takes in a round trip, beside the base round trip of the path; the base of the other path, once it is clear that
    /// there is one. All in seconds.
    pub(super) fn add(&mut self, now: Instant, rtt: f64, base: f64) -> Option<f64> {
        let last = self.last.replace(rtt);
        let Some(mut rise) = self.rise.filter(|rise| rtt >= rise.level) else {
            let high = base.max(LEAST);
            self.rise = last.filter(|before| rtt >= before + high).map(|before| Rise {
                since: now,
                samples: 0,
                level: before + LEVEL * (rtt - before),
                least: f64::INFINITY,
            });
            return None;
        };
        if now.since(rise.since).as_secs_f64() >= rtt {
            rise.samples += 1;
            rise.least = rise.least.min(rtt);
        }
        let stays = rise.samples >= SAMPLES;
        self.rise = Some(rise).filter(|_| !stays);
        stays.then_some(rise.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What round trips of so many milliseconds, one every 10 ms, tell after one of 20 ms.
    fn jump(rtts: impl IntoIterator<Item = u64>) -> Option<f64> {
        let mut jump = Jump::default();
        jump.add(Instant::ZERO, 0.02, 0.02);
        (1..)
            .zip(rtts)
            .find_map(|(n, rtt)| jump.add(Instant::from_millis(10 * n), rtt as f64 / 1e3, 0.02))
    }

    #[test]
    fn rise_that_stays_is_another_path() {
        assert_eq!(jump([80; 17]), Some(0.08));
        assert_eq!(jump([80; 15]), None, "the eighth sample after a round trip is missing");
    }

    #[test]
    fn transmissions_that_met_the_change_do_not_tell_the_base() {
        // Interests had crossed the link before its delay changed, their Data had not.
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
