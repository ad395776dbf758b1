//! First timeouts and whether they were necessary.
use super::place::Places;
use super::table::{Cell, Sheet, Table};
use super::{Recorder, seconds};
use crate::network::Network;
use crate::observe::{Observation, Observer};
use crate::oracle::{Oracle, Timeout};
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Makes `timeouts`. Rows come in the order of the verdicts.
pub(super) struct Timeouts {
    places: Arc<Places>,
    sheet: Sheet,
    oracle: Oracle,
}

impl Timeouts {
    pub(super) fn new(network: &Network, places: Arc<Places>, rows: usize) -> Self {
        let columns = "application text, segment u64, sent_s f64 s, expired_s f64 s, rto_s f64 s, rtt_s f64 \
             s, relative f64, verdict text";
        let sheet = Sheet::of("timeouts", columns, rows);
        Self { places, sheet, oracle: Oracle::new(network) }
    }

    fn push(&mut self, timeout: &Timeout) {
        let time = |duration: Duration| Cell::F64(duration.as_secs_f64());
        self.sheet.push(&[
            Cell::Text(self.places.application(timeout.application)),
            Cell::U64(timeout.segment),
            seconds(timeout.sent),
            seconds(timeout.expired),
            time(timeout.rto),
            timeout.rtt.map_or(Cell::F64(f64::NAN), time),
            Cell::F64(timeout.relative().unwrap_or(f64::NAN)),
            Cell::Text(timeout.verdict.name()),
        ]);
    }

    fn collect(&mut self) {
        while let Some(timeout) = self.oracle.poll() {
            self.push(&timeout);
        }
    }
}

impl Observer for Timeouts {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        self.oracle.on(now, observation);
        self.collect();
    }
}

impl Recorder for Timeouts {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, _now: Instant) -> Vec<Table> {
        self.oracle.finish();
        self.collect();
        self.take()
    }
}
