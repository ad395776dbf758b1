//! First timeouts and whether they were necessary.
use super::place::Places;
use super::table::{Cell, Sheet};
use super::{Fill, Seen, seconds};
use crate::observe::Observer;
use crate::oracle::Oracle;
use recoup_transport::time::{Duration, Instant};

/// Makes `timeouts`. Rows come in the order of the verdicts.
pub(super) struct Timeouts(pub Oracle);

impl Timeouts {
    fn collect(&mut self, places: &Places, sheet: &mut Sheet) {
        let time = |duration: Duration| Cell::F64(duration.as_secs_f64());
        while let Some(timeout) = self.0.poll() {
            sheet.push(&[
                Cell::Text(places.application(timeout.application)),
                Cell::U64(timeout.segment),
                seconds(timeout.sent),
                seconds(timeout.expired),
                time(timeout.rto),
                timeout.rtt.map_or(Cell::F64(f64::NAN), time),
                Cell::F64(timeout.relative().unwrap_or(f64::NAN)),
                Cell::Text(timeout.verdict.name()),
            ]);
        }
    }
}

impl Fill for Timeouts {
    const COLUMNS: &'static str = "application text, segment u64, sent_s f64 s, expired_s f64 s, rto_s f64 s, rtt_s f64 \
         s, relative f64, verdict text";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        self.0.on(now, observation);
        self.collect(places, sheet);
    }

    fn finish(&mut self, places: &Places, _: Instant, sheet: &mut Sheet) {
        self.0.finish();
        self.collect(places, sheet);
    }
}
