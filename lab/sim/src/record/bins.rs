//! Records of which a row is about a stretch of time: what all of them do alike.
use super::Recorder;
use super::period::Period;
use super::place::Places;
use super::table::{Sheet, Table};
use crate::observe::{Observation, Observer};
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Counts of a stretch of time, and the rows made from them.
pub(super) trait Count {
    /// Takes in an observation.
    fn count(&mut self, places: &Places, observation: &Observation<'_>);

    /// Makes the rows of the stretch that begins at `start` and lasts so many seconds, and begins anew.
    fn rows(&mut self, places: &Places, start: Instant, seconds: f64, sheet: &mut Sheet);
}

/// The table of what is counted in each stretch. A stretch in which nothing happened makes no rows.
pub(super) struct Bins<C> {
    places: Arc<Places>,
    period: Period,
    sheet: Sheet,
    counts: C,
}

impl<C: Count> Bins<C> {
    /// Intervals of `width`, up to the capacity of the sheet.
    pub(super) fn new(places: Arc<Places>, width: Duration, sheet: Sheet, counts: C) -> Self {
        Self { places, period: Period::new(width), sheet, counts }
    }

    fn roll(&mut self, now: Instant) {
        while let Some(stretch) = self.period.due(now) {
            self.flush(stretch);
            self.period.skip(now);
        }
    }

    fn flush(&mut self, (start, end): (Instant, Instant)) {
        let seconds = end.since(start).as_secs_f64();
        self.counts.rows(&self.places, start, seconds, &mut self.sheet);
    }
}

impl<C: Count> Observer for Bins<C> {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        self.roll(now);
        self.counts.count(&self.places, observation);
    }
}

impl<C: Count> Recorder for Bins<C> {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Table> {
        self.roll(now);
        if let Some(stretch) = self.period.rest(now) {
            self.flush(stretch);
        }
        self.take()
    }
}
