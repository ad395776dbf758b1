//! AppDelayTracer.
use crate::network::ApplicationId;
use crate::observe::{Observation, Observer};
use crate::record::place::Places;
use crate::record::table::{Cell, Sheet, Table, Type};
use crate::record::{Recorder, seconds};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Makes `ndnsim-delay`: two rows for each segment that came.
pub(in crate::record) struct DelayTrace {
    places: Arc<Places>,
    sheet: Sheet,
}

impl DelayTrace {
    pub(in crate::record) fn new(places: Arc<Places>, rows: usize) -> Self {
        let columns = [
            ("Time", "s", Type::F64),
            ("Node", "", Type::Text),
            ("AppId", "", Type::U64),
            ("SeqNo", "", Type::U64),
            ("Type", "", Type::Text),
            ("DelayS", "s", Type::F64),
            ("DelayUS", "us", Type::F64),
            ("RetxCount", "", Type::U64),
            ("HopCount", "", Type::I64),
        ];
        Self { places, sheet: Sheet::new(Table::new("ndnsim-delay", &columns), rows) }
    }

    fn push(&mut self, now: Instant, id: ApplicationId, segment: u64, row: Row) {
        let home = self.places.home(id);
        self.sheet.push(&[
            seconds(now),
            Cell::Text(home.map_or("?", |node| self.places.node(node))),
            Cell::U64(self.places.ordinal(id)),
            Cell::U64(segment),
            Cell::Text(row.kind),
            Cell::F64(row.delay.as_secs_f64()),
            Cell::F64(row.delay.as_nanos() as f64 / 1000.0),
            Cell::U64(u64::from(row.transmissions)),
            Cell::I64(-1),
        ]);
    }
}

struct Row {
    kind: &'static str,
    delay: Duration,
    transmissions: u32,
}

impl Observer for DelayTrace {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Application { application, report: Report::Event(event) } = *observation
            && let Event::Received { segment, rtt, delay, transmissions, .. } = *event
        {
            let last = Row { kind: "LastDelay", delay: rtt.into(), transmissions: 1 };
            self.push(now, application, segment, last);
            let full = Row { kind: "FullDelay", delay: delay.into(), transmissions };
            self.push(now, application, segment, full);
        }
    }
}

impl Recorder for DelayTrace {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }
}
