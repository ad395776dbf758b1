//! Records of which a row is about a stretch of time: what all of them do alike.
use super::period::Period;
use super::place::Places;
use super::table::Sheet;
use super::{Fill, Seen};
use crate::observe::Observation;
use recoup_transport::time::{Duration, Instant};

/// Counts of a stretch of time, and the rows made from them.
pub(super) trait Count {
    /// As [`Fill::COLUMNS`].
    const COLUMNS: &'static str;

    /// Takes in an observation.
    fn count(&mut self, places: &Places, observation: &Observation<'_>);

    /// Makes the rows of the stretch that begins at `start` and lasts so many seconds, and begins anew.
    fn rows(&mut self, places: &Places, start: Instant, seconds: f64, sheet: &mut Sheet);
}

/// The table of what is counted in each stretch. A stretch in which nothing happened makes no rows.
pub(super) struct Bins<C> {
    period: Period,
    counts: C,
}

impl<C: Count> Bins<C> {
    /// Intervals of `width`.
    pub(super) fn new(width: Duration, counts: C) -> Self {
        Self { period: Period::new(width), counts }
    }

    fn roll(&mut self, places: &Places, now: Instant, sheet: &mut Sheet) {
        while let Some(stretch) = self.period.due(now) {
            self.flush(places, stretch, sheet);
            self.period.skip(now);
        }
    }

    fn flush(&mut self, places: &Places, (start, end): (Instant, Instant), sheet: &mut Sheet) {
        self.counts.rows(places, start, end.since(start).as_secs_f64(), sheet);
    }
}

impl<C: Count> Fill for Bins<C> {
    const COLUMNS: &'static str = C::COLUMNS;

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        self.roll(places, now, sheet);
        self.counts.count(places, observation);
    }

    fn finish(&mut self, places: &Places, now: Instant, sheet: &mut Sheet) {
        self.roll(places, now, sheet);
        if let Some(stretch) = self.period.rest(now) {
            self.flush(places, stretch, sheet);
        }
    }
}
