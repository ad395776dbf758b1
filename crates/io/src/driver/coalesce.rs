//! When to wait a moment before reading, so that a wake-up brings more packets (what network drivers call interrupt
//! moderation).
//!
//! A wake-up costs several microseconds, a packet a fraction of one. Where clients write each packet by itself,
//! nearly every packet wakes the process, and most of its time goes there. A pause of some ten microseconds collects
//! them; but where the next packet only comes because of the last answer, a pause delays everything and collects
//! nothing. Wake-ups in close succession do not reveal the cause, so the driver tries. After many of them it delays a
//! wake-up, and further ones while pauses collect enough frames. Where a pause collects too few, the next try comes
//! after twice as many.
use recoup_transport::time::{Duration, Instant};

/// Wake-ups in close succession before a pause is tried.
const CLOSE: u32 = 64;
/// Longest time between wake-ups in close succession.
const SOON: Duration = Duration::from_micros(50);
/// A wake-up with fewer frames is a small one.
const SMALL_FRAMES: usize = 8;
/// Wake-ups from a pause in vain to the next try: at first, and at most.
const FIRST_REST: u32 = 1 << 8;
const MAX_REST: u32 = 1 << 16;

/// Decides on pauses.
#[derive(Debug)]
pub(super) struct Coalescer {
    pause: Option<Duration>,
    /// Small wake-ups in close succession; from [`CLOSE`] on there are pauses.
    close: u32,
    /// Wake-ups until pauses are tried again.
    rest: u32,
    next_rest: u32,
    last: Instant,
}

impl Coalescer {
    /// Pauses of that length; never any without.
    pub(super) fn new(pause: Option<Duration>) -> Self {
        Self { pause, close: 0, rest: 0, next_rest: FIRST_REST, last: Instant::ZERO }
    }

    /// How long to wait before looking what has come.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.pause.filter(|_| self.close >= CLOSE)
    }

    /// Whether pauses are made here and the last one that was tried collected nothing: as far as is known, packets come as
    /// answers only.
    pub(super) fn is_fruitless(&self) -> bool {
        self.pause.is_some() && self.next_rest > FIRST_REST
    }

    /// A wake-up at `now` brought so many frames.
    pub(super) fn note(&mut self, now: Instant, frames: usize) {
        let Some(pause) = self.pause else {
            return;
        };
        let gap = now.since(self.last);
        self.last = now;
        let (paused, small) = (self.close >= CLOSE, frames < SMALL_FRAMES);
        if paused && small {
            (self.close, self.rest) = (0, self.next_rest);
            self.next_rest = MAX_REST.min(2 * self.next_rest);
        } else if paused {
            self.next_rest = FIRST_REST;
            // After silence everything begins anew.
            self.close = if gap > SOON + pause { 0 } else { CLOSE };
        } else if self.rest > 0 {
            self.rest -= 1;
        } else {
            self.close = if small && frames > 0 && gap <= SOON { self.close + 1 } else { 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_micros(50);

    /// Simulates wake-ups: each follows after `gap`, or after the pause if that is longer, with the
    /// frames that `frames` gives for that time. Returns the number of pauses.
    fn play(
        coalesce: &mut Coalescer,
        count: u32,
        gap: Duration,
        frames: impl Fn(Duration) -> usize,
    ) -> u32 {
        let mut paused = 0;
        for _ in 0..count {
            let waited = coalesce.pause().map_or(gap, |pause| pause.max(gap));
            paused += u32::from(coalesce.pause().is_some());
            coalesce.note(coalesce.last + waited, frames(waited));
        }
        paused
    }

    /// Frames of a sender that does not wait for answers, one each three microseconds.
    fn stream(waited: Duration) -> usize {
        waited.as_micros() as usize / 3
    }

    #[test]
    fn stream_of_small_wake_ups_is_coalesced() {
        let mut coalesce = Coalescer::new(Some(PAUSE));
        let paused = play(&mut coalesce, 1_000, Duration::from_micros(5), stream);
        assert_eq!(paused, 1_000 - CLOSE);
        assert!(!coalesce.is_fruitless());
    }

    #[test]
    fn request_response_traffic_is_delayed_ever_more_seldom() {
        let mut coalesce = Coalescer::new(Some(PAUSE));
        let paused = play(&mut coalesce, 100_000, Duration::from_micros(20), |_| 1);
        assert!((1..=10).contains(&paused), "{paused}");
        assert!(coalesce.is_fruitless());
        play(&mut coalesce, 100_000, Duration::from_micros(5), stream);
        assert!(!coalesce.is_fruitless(), "a stream follows");
    }

    #[test]
    fn large_or_rare_wake_ups_are_never_delayed() {
        for (gap, frames) in [(Duration::from_micros(5), 200), (Duration::from_millis(1), 1)] {
            let mut coalesce = Coalescer::new(Some(PAUSE));
            assert_eq!(play(&mut coalesce, 10_000, gap, |_| frames), 0);
        }
        let mut never = Coalescer::new(None);
        assert_eq!(play(&mut never, 10_000, Duration::from_micros(5), stream), 0);
    }

    #[test]
    fn silence_ends_it() {
        let mut coalesce = Coalescer::new(Some(PAUSE));
        play(&mut coalesce, 100, Duration::from_micros(5), stream);
        assert!(coalesce.pause().is_some());
        play(&mut coalesce, 1, Duration::from_millis(3), stream);
        assert!(coalesce.pause().is_none());
    }
}
