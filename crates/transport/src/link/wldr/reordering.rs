//! Reordering of a link, and the resulting hold time of gaps.
//!
//! A frame received after one with a higher number is *late*: by the time since its gap opened, and by the numbers
//! received after the gap meanwhile. A gap is reported as soon as either exceeds that of earlier late frames by a
//! quarter. If no frame was late, a gap is reported at once.
//!
//! Source: RFC 4737, sections 4.2 (reordering extent, in packets) and 4.3 (late-time offset); RFC 8985, section 6.2
//! (a reordering window that opens with the first reordering, is limited, and closes again some time after the last).
//!
//! Differences: time and extent are the maximum of the last [`WINDOW`] or two. RFC 8985 widens its window by a part
//! of the round trip for each spurious retransmission, whereas receivers of one hop see late frames themselves. A
//! frame later than the limit changes nothing: such a wait would delay each repair and still be too short.
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Late frames count for at least this time, and at most twice.
const WINDOW: Duration = Duration::from_secs(5);
/// Most gaps whose frames may be late; the oldest are forgotten first.
const MAX_OPENED: usize = 64;

/// Lateness of frames.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    time: Duration,
    frames: u64,
}

/// Numbers missing since `at`.
#[derive(Clone, Copy, Debug)]
struct Opened {
    from: u64,
    until: u64,
    at: Instant,
}

/// Lateness of recent frames.
#[derive(Clone, Debug)]
pub(super) struct Reordering {
    least: Duration,
    most: Duration,
    /// By increasing number; reported or not, filled by a retransmission or not.
    opened: VecDeque<Opened>,
    /// Maximum of this window, and of the one before.
    seen: [Extent; 2],
    window_ends: Instant,
}

impl Reordering {
    /// A gap is held for `least`, and for up to `most` if frames are late.
    pub(super) fn new(least: Duration, most: Duration) -> Self {
        let most = most.max(least);
        Self {
            least,
            most,
            opened: VecDeque::new(),
            seen: Default::default(),
            window_ends: Instant::ZERO,
        }
    }

    /// Keeps the link's lateness for new numbers.
    pub(super) fn begin_anew(mut self) -> Self {
        self.opened.clear();
        self
    }

    /// Least hold time of a gap.
    pub(super) fn least(&self) -> Duration {
        self.least
    }

    /// Records a gap from `from` to `until`, exclusive; returns its hold time.
    pub(super) fn opened(&mut self, now: Instant, from: u64, until: u64) -> Duration {
        self.turn(now);
        if self.opened.len() >= MAX_OPENED {
            self.opened.pop_front();
        }
        self.opened.push_back(Opened { from, until, at: now });
        let [this, last] = self.seen.map(|seen| seen.time);
        let time = this.max(last);
        (time + time / 4).clamp(self.least, self.most)
    }

    /// Numbers after a gap at which its frames are lost; `None` if no late frame has shown how many.
    #[inline]
    pub(super) fn frames(&self) -> Option<u64> {
        let [this, last] = self.seen.map(|seen| seen.frames);
        let frames = this.max(last);
        (frames > 0).then(|| frames + frames / 4 + 1)
    }

    /// Records the frame `number`, received after frames up to `expected`, exclusive.
    pub(super) fn late(&mut self, now: Instant, number: u64, expected: u64) {
        let place = self.opened.partition_point(|opened| opened.until <= number);
        let Some(gap) = self.opened.get(place).copied().filter(|gap| gap.from <= number) else {
            return;
        };
        // Only the first time: duplicates by the network may arrive at any time.
        self.opened.remove(place);
        for part in [Opened { from: number + 1, ..gap }, Opened { until: number, ..gap }] {
            if part.from < part.until && self.opened.len() < MAX_OPENED {
                self.opened.insert(place, part);
            }
        }
        let (time, frames) = (now.since(gap.at), expected.saturating_sub(gap.until));
        if time <= self.most {
            self.turn(now);
            let [seen, _] = &mut self.seen;
            *seen = Extent { time: seen.time.max(time), frames: seen.frames.max(frames) };
        }
    }

    /// Begins the next window if it is due.
    fn turn(&mut self, now: Instant) {
        if now < self.window_ends {
            return;
        }
        let is_next = now < self.window_ends + WINDOW;
        let [this, _] = self.seen;
        self.seen = [Extent::default(), if is_next { this } else { Extent::default() }];
        self.window_ends = now + WINDOW;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_millis(50);

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Opens a gap of two numbers; returns the first, and the hold time in microseconds.
    fn open(link: &mut Reordering, millis: u64) -> (u64, u128) {
        let first = 100 * millis;
        (first, link.opened(at(millis), first, first + 2).as_micros())
    }

    fn held(link: &mut Reordering, millis: u64) -> u128 {
        open(link, millis).1
    }

    /// Opens a gap whose second frame arrives after `time`, behind `frames` others.
    fn late(link: &mut Reordering, millis: u64, time: u64, frames: u64) {
        let (first, _) = open(link, millis);
        link.late(at(millis + time), first + 1, first + 2 + frames);
    }

    #[test]
    fn hold_follows_late_frames_up_to_its_limit() {
        let mut link = Reordering::new(Duration::ZERO, MOST);
        assert_eq!((held(&mut link, 0), link.frames()), (0, None));
        late(&mut link, 1, 8, 7);
        assert_eq!((held(&mut link, 10), link.frames()), (10_000, Some(7 + 1 + 1)));
        late(&mut link, 20, 4, 12);
        assert_eq!((held(&mut link, 30), link.frames()), (10_000, Some(12 + 3 + 1)));
        late(&mut link, 40, 41, 5);
        assert_eq!(held(&mut link, 90), 50_000);
        late(&mut link, 100, 51, 5_000);
        assert_eq!(
            (held(&mut link, 200), link.frames()),
            (50_000, Some(16)),
            "too late to wait for"
        );
    }

    #[test]
    fn hold_ends_after_the_last_late_frame() {
        let mut link = Reordering::new(Duration::from_millis(1), MOST);
        late(&mut link, 0, 4, 2);
        assert_eq!([5, 4_999, 5_100, 9_900].map(|millis| held(&mut link, millis)), [5_000; 4]);
        assert_eq!((held(&mut link, 10_200), link.frames()), (1_000, None));
        late(&mut link, 20_000, 4, 2);
        assert_eq!(held(&mut link, 40_000), 1_000);
    }

    #[test]
    fn duplicate_frame_is_late_once() {
        let mut link = Reordering::new(Duration::ZERO, MOST);
        late(&mut link, 1, 2, 3);
        for (millis, number) in [(30, 101), (31, 99), (32, 102)] {
            link.late(at(millis), number, 900);
        }
        assert_eq!(held(&mut link, 40), 2_500);
        link.late(at(9), 100, 105);
        assert_eq!(held(&mut link, 50), 10_000);
    }

    #[test]
    fn equal_limits_disable_the_adaptation() {
        let mut link = Reordering::new(Duration::from_millis(5), Duration::ZERO);
        late(&mut link, 0, 4, 2);
        assert_eq!(held(&mut link, 5), 5_000);
    }
}
