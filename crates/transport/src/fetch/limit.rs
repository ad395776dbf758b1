//! Limit of the rate at which Data arrives: a token bucket that fetches share.
//!
//! A consumer cannot hold Data back, but it can send fewer Interests. Each arriving packet takes a token for each of
//! its bytes. An Interest in flight reserves the tokens of the answer that is expected, the size of the last packet.
//! So a full
//! window does not leave at once. A lost Interest gives its reservation back: its retransmission costs nothing more.
use crate::time::{Duration, Instant};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Time for which unused tokens are kept.
const BURST: Duration = Duration::from_millis(100);
/// Size of an answer that is assumed before the first one, in bytes.
const ASSUMED_BYTES: f64 = 8_800.0;

/// A limit of the received bytes per second. Clones are the same limit: fetches that share it stay below it together.
#[derive(Clone)]
pub struct RateLimit(Arc<Mutex<Bucket>>);

#[derive(Debug)]
struct Bucket {
    bytes_per_second: f64,
    /// Negative if more has arrived than was expected.
    tokens: f64,
    /// Tokens of answers that are expected.
    reserved: f64,
    /// Size of an answer.
    expected: f64,
    filled: Option<Instant>,
}

impl RateLimit {
    /// A limit of so many bytes per second, at least 1.
    #[must_use]
    pub fn new(bytes_per_second: u64) -> Self {
        let bytes_per_second = bytes_per_second.max(1) as f64;
        Self(Arc::new(Mutex::new(Bucket {
            bytes_per_second,
            tokens: 0.0,
            reserved: 0.0,
            expected: ASSUMED_BYTES,
            filled: None,
        })))
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RateLimit({} B/s)", self.bucket().bytes_per_second)
    }
}

impl Bucket {
    fn fill(&mut self, now: Instant) {
        let full = self.expected.max(self.bytes_per_second * BURST.as_secs_f64());
        self.tokens = match self.filled {
            None => full,
            Some(then) => {
                let tokens = self.tokens + now.since(then).as_secs_f64() * self.bytes_per_second;
                // What is expected is paid from the tokens that come until then.
                tokens.min(full + self.reserved)
            }
        };
        self.filled = Some(now);
    }
}

/// The part of one fetch in a limit.
#[derive(Debug, Default)]
pub(super) struct Limited {
    limit: Option<RateLimit>,
    reserved: f64,
    /// Time at which the limit permits the next Interest.
    blocked: Option<Instant>,
}

impl Limited {
    pub(super) fn new(limit: Option<RateLimit>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Records a packet of so many bytes.
    pub(super) fn on_arrival(&mut self, now: Instant, bytes: usize) {
        if let Some(limit) = &self.limit {
            let mut bucket = limit.bucket();
            bucket.fill(now);
            bucket.expected = bytes as f64;
            bucket.tokens -= bytes as f64;
        }
    }

    /// Whether an Interest may be sent beside so many in flight; if not, the time of the next one is recorded.
    pub(super) fn allows(&mut self, now: Instant, in_flight: u32) -> bool {
        let Some(limit) = &self.limit else {
            return true;
        };
        let mut bucket = limit.bucket();
        bucket.fill(now);
        let reserved = f64::from(in_flight) * bucket.expected;
        bucket.reserved += reserved - std::mem::replace(&mut self.reserved, reserved);
        let missing = bucket.expected - (bucket.tokens - bucket.reserved);
        let wait = (missing > 0.0).then(|| missing / bucket.bytes_per_second);
        self.blocked = wait.map(|seconds| {
            // A nanosecond more: the tokens are there at the deadline, whatever was rounded.
            let wait = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(3_600));
            now + wait + Duration::from_nanos(1)
        });
        self.blocked.is_none()
    }

    /// Time at which an Interest that waits may be sent.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.blocked
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        if let Some(limit) = &self.limit {
            limit.bucket().reserved -= self.reserved;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that arrive within 10 s, if answers of that size come to `fetches` consumers after a round trip of `rtt_ms`.
    fn received(limit: &RateLimit, bytes: usize, fetches: usize, rtt_ms: u64) -> usize {
        let rtt = Duration::from_millis(rtt_ms);
        let mut all: Vec<(Limited, Vec<Instant>)> =
            (0..fetches).map(|_| (Limited::new(Some(limit.clone())), Vec::new())).collect();
        let mut total = 0;
        for now in (0..10_000).map(Instant::from_millis) {
            for (limited, flying) in &mut all {
                let arrived = flying.iter().take_while(|sent| **sent + rtt <= now).count();
                flying.drain(..arrived);
                (0..arrived).for_each(|_| limited.on_arrival(now, bytes));
                total += arrived * bytes;
                while flying.len() < 1_000 && limited.allows(now, flying.len() as u32) {
                    flying.push(now);
                }
            }
        }
        total
    }

    #[test]
    fn fetches_stay_below_their_common_limit() {
        for (rate, bytes, fetches, rtt_ms) in [
            (1_000_000, 8_000, 1, 50),
            (1_000_000, 8_000, 1, 900),
            (1_000_000, 1_000, 4, 50),
            (20_000, 8_000, 3, 50),
            (1_000, 5_000, 1, 50),
        ] {
            let total = received(&RateLimit::new(rate), bytes, fetches, rtt_ms) as f64;
            let most = rate as f64 * 10.1 + 8_800.0;
            assert!(total <= most, "{total} of {most}");
            let least = rate as f64 * (9.4 - rtt_ms as f64 / 1e3) - 8_800.0;
            assert!(total >= least, "{total} of {least}");
        }
    }

    #[test]
    fn waiting_interest_has_a_deadline_that_permits_it() {
        let mut limited = Limited::new(Some(RateLimit::new(1_000)));
        let mut now = Instant::ZERO;
        assert!(limited.allows(now, 0) && limited.deadline().is_none());
        assert!(!limited.allows(now, 1));
        limited.on_arrival(now, 8_800);
        for _ in 0..100 {
            assert!(!limited.allows(now, 0));
            now = limited.deadline().unwrap();
            assert!(limited.allows(now, 0));
            limited.on_arrival(now, 8_800);
        }
        assert!(now.since(Instant::ZERO) > Duration::from_secs(879));
    }

    #[test]
    fn fetch_that_ends_frees_its_reservation() {
        let limit = RateLimit::new(1_000);
        let mut first = Limited::new(Some(limit.clone()));
        assert!(first.allows(Instant::ZERO, 0) && !first.allows(Instant::ZERO, 1));
        let mut second = Limited::new(Some(limit.clone()));
        assert!(!second.allows(Instant::ZERO, 0));
        drop(first);
        assert!(second.allows(Instant::ZERO, 0));
    }
}
