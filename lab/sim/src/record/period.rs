//! Equal stretches of time, and rows that keep their distance.
use recoup_transport::time::{Duration, Instant};

/// Stretches of time that follow each other; each begins where the one before ends, the first at 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    width: Duration,
    start: Instant,
}

impl Period {
    /// Stretches of this width (at least a nanosecond).
    pub(super) fn new(width: Duration) -> Self {
        Self { width: width.max(Duration::from_nanos(1)), start: Instant::ZERO }
    }

    /// The next stretch that is over at `now`; what happens at its end belongs to the one after.
    pub(super) fn due(&mut self, now: Instant) -> Option<(Instant, Instant)> {
        let (start, end) = (self.start, self.start + self.width);
        if end > now || end <= start {
            return None;
        }
        self.start = end;
        Some((start, end))
    }

    /// Leaves out the stretches that are over at `now`.
    pub(super) fn skip(&mut self, now: Instant) {
        let width = u64::try_from(self.width.as_nanos()).unwrap_or(u64::MAX);
        let start = now.as_nanos() - now.as_nanos() % width;
        self.start = self.start.max(Instant::from_nanos(start));
    }

    /// The elapsed part of the current stretch, if any.
    pub(super) fn rest(&self, now: Instant) -> Option<(Instant, Instant)> {
        (now > self.start).then_some((self.start, now))
    }
}

/// Lets through what is far enough from what it let through before, for each of several curves.
#[derive(Clone, Debug)]
pub(super) struct Spacing {
    least: Duration,
    last: Vec<Option<Instant>>,
}

impl Spacing {
    /// Points of each of `curves` curves keep at least this distance.
    pub(super) fn new(least: Duration, curves: usize) -> Self {
        Self { least, last: vec![None; curves] }
    }

    /// Whether a point of `curve` at `now` is far enough from the one before.
    pub(super) fn admits(&mut self, curve: usize, now: Instant) -> bool {
        let Some(last) = self.last.get_mut(curve) else {
            return false;
        };
        let admitted = last.is_none_or(|last| now.since(last) >= self.least);
        if admitted {
            *last = Some(now);
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_follow_each_other_without_gaps() {
        let at = Instant::from_millis;
        let mut period = Period::new(Duration::from_millis(10));
        assert_eq!(period.due(at(9)), None);
        assert_eq!(period.due(at(25)), Some((at(0), at(10))));
        assert_eq!(period.due(at(25)), Some((at(10), at(20))));
        assert_eq!(period.due(at(25)), None);
        assert_eq!(period.rest(at(25)), Some((at(20), at(25))));
        period.skip(at(95));
        assert_eq!(period.rest(at(95)), Some((at(90), at(95))));
        assert_eq!(period.rest(at(90)), None);
    }

    #[test]
    fn curves_keep_their_distances_apart_from_each_other() {
        let at = Instant::from_millis;
        let mut spacing = Spacing::new(Duration::from_millis(10), 2);
        let admitted = [(0, 0), (0, 9), (1, 9), (0, 10), (1, 18), (2, 50)]
            .map(|(curve, now)| spacing.admits(curve, at(now)));
        assert_eq!(admitted, [true, false, true, true, false, false]);
    }
}
