//! Whether link recovery can pay on a path: the path is long, or it loses packets.
//!
//! On a short path a retransmission by the consumer costs as little as a repair by the link. Numbers cost processor
//! time for each frame. The end that sends Interests measures both, before any offer:
//!
//! | evidence | rule |
//! |---|---|
//! | round trips while nothing else is in flight | one of 10 ms, or two in a row of 1 ms |
//! | retransmissions, at most one per 64 Interests | 8, and one in 400 Interests |
//!
//! The first round trip below 1 ms makes a path short until its face comes up again. Later ones are less certain:
//! they include the queue of a fast sender. A round trip between 1 and 10 ms may be that of a busy processor, so a
//! second one decides. Process scheduling also makes a consumer retransmit a window at once, which counts as one
//! loss.
use crate::time::{Duration, Instant};

/// Below this round-trip time a path is short: repairs by the consumer are as good.
const SHORT: Duration = Duration::from_millis(1);
/// From this round-trip time on a path is long: process scheduling seldom takes so long.
const LONG: Duration = Duration::from_millis(10);
/// Retransmissions within this number of Interests are one loss event.
const LOSS_EVENT: u64 = 64;
/// Minimum number of loss events of a lossy path.
const LOSS_EVENTS: u64 = 8;
/// Most Interests for each loss event of a lossy path.
const INTERESTS_PER_LOSS_EVENT: u64 = 400;

/// How long a path is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Length {
    #[default]
    Unknown,
    /// One round trip was between `SHORT` and `LONG`.
    Doubtful,
    Short,
    Long,
}

/// Measurements of the path of a face.
#[derive(Debug, Default)]
pub(super) struct Path {
    length: Length,
    /// Interests sent, less the frames received since: 0 if none is in flight.
    in_flight: u64,
    /// Send time of an Interest while no other was in flight, until a frame arrives.
    sent_at: Option<Instant>,
    /// The next Interest is a retransmission.
    retransmits: bool,
    interests: u64,
    loss_events: u64,
    /// Count of Interests at which the last loss event ends.
    event_until: u64,
}

impl Path {
    /// Records an Interest.
    #[inline]
    pub(super) fn on_interest(&mut self, now: Instant) {
        if self.in_flight == 0 && !self.retransmits {
            self.sent_at = Some(now);
        }
        self.retransmits = false;
        self.in_flight += 1;
        self.interests += 1;
    }

    /// The next Interest is a retransmission.
    pub(super) fn on_retransmission(&mut self) {
        if self.interests >= self.event_until {
            self.loss_events += 1;
            self.event_until = self.interests + LOSS_EVENT;
        }
        // The next frame may answer either of them (Karn).
        (self.sent_at, self.retransmits) = (None, true);
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Records a received frame.
    #[inline]
    pub(super) fn on_frame(&mut self, now: Instant) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(sent_at) = self.sent_at.take() {
            self.judge(now.since(sent_at));
        }
    }

    fn judge(&mut self, round_trip: Duration) {
        self.length = match self.length {
            Length::Short | Length::Long => return,
            _ if round_trip < SHORT => Length::Short,
            Length::Unknown if round_trip < LONG => Length::Doubtful,
            _ => Length::Long,
        };
    }

    /// Whether recovery can pay.
    pub(super) fn pays(&self) -> bool {
        self.length == Length::Long || self.loses()
    }

    fn loses(&self) -> bool {
        let most = self.loss_events.saturating_mul(INTERESTS_PER_LOSS_EVENT);
        self.loss_events >= LOSS_EVENTS && self.interests <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path with these round-trip times in microseconds, one Interest at a time.
    fn path(round_trips: &[u64]) -> Path {
        let (mut path, mut now) = (Path::default(), Instant::ZERO);
        for micros in round_trips {
            path.on_interest(now);
            now += Duration::from_micros(*micros);
            path.on_frame(now);
        }
        path
    }

    #[test]
    fn only_long_paths_pay_without_losses() {
        for (round_trips, pays) in [
            (&[][..], false),
            (&[999], false),
            (&[999, 50_000, 50_000], false),
            (&[1_000], false),
            (&[9_999, 999, 9_999], false),
            (&[1_000, 1_000], true),
            (&[10_000], true),
            (&[10_000, 100], true),
        ] {
            assert_eq!(path(round_trips).pays(), pays, "{round_trips:?}");
        }
    }

    /// A short path with one retransmission after each `gap` Interests.
    fn lossy(gap: usize, retransmissions: usize) -> Path {
        let mut path = path(&[100]);
        for _ in 0..retransmissions {
            for _ in 0..gap {
                path.on_interest(Instant::from_millis(1_000));
            }
            path.on_retransmission();
        }
        path
    }

    #[test]
    fn losses_of_a_short_path_pay() {
        assert!(lossy(100, 8).pays() && lossy(390, 8).pays());
        assert!(!lossy(100, 7).pays());
        assert!(!lossy(500, 100).pays(), "losses are rare");
        assert!(!lossy(1, 300).pays(), "one window that is sent again is one loss event");
    }

    #[test]
    fn retransmission_measures_no_round_trip() {
        let (mut path, ms) = (Path::default(), Instant::from_millis);
        path.on_interest(ms(0));
        path.on_retransmission();
        path.on_interest(ms(1_000));
        path.on_frame(ms(1_000));
        assert_eq!(path.length, Length::Unknown);
        path.on_interest(ms(1_001));
        path.on_frame(ms(1_021));
        assert_eq!(path.length, Length::Long);
    }

    #[test]
    fn window_in_flight_measures_no_round_trip() {
        let mut path = Path::default();
        for _ in 0..10 {
            path.on_interest(Instant::ZERO);
        }
        for micros in 0..9 {
            path.on_frame(Instant::ZERO + Duration::from_micros(5_000 + micros));
            path.on_interest(Instant::ZERO + Duration::from_micros(5_000 + micros));
        }
        assert_eq!(path.length, Length::Doubtful, "the first of them decides nothing");
    }
}
