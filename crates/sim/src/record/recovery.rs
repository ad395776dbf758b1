//! Stays in fast recovery: how long, how far the window grew, what was taken for lost.
use super::place::Places;
use super::table::{Cell, Sheet, Table, Type};
use super::{Recorder, seconds};
use crate::network::ApplicationId;
use crate::observe::{Observation, Observer};
use recoup_transport::application::Report;
use recoup_transport::event::{Event, Signal};
use recoup_transport::loss::Phase;
use recoup_transport::time::Instant;
use std::sync::Arc;

/// Makes `recoveries`. Rows come in the order in which recoveries end.
pub(super) struct Recoveries {
    places: Arc<Places>,
    sheet: Sheet,
    flows: Vec<Flow>,
}

/// State of an application.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    window: f64,
    /// Segments taken for lost by the order of arrivals since the last recovery.
    lost: u64,
    open: Option<Stay>,
}

/// A recovery in progress.
#[derive(Clone, Copy, Debug)]
struct Stay {
    since: Instant,
    window_max: f64,
    false_alarms: u64,
    timeouts: u64,
}

impl Recoveries {
    pub(super) fn new(places: Arc<Places>, rows: usize) -> Self {
        let columns = [
            ("time_s", "s", Type::F64),
            ("application", "", Type::Text),
            ("duration_s", "s", Type::F64),
            ("window_max", "segments", Type::F64),
            ("lost", "segments", Type::U64),
            ("false_alarms", "segments", Type::U64),
            ("timeouts", "", Type::U64),
        ];
        let flows = vec![Flow::default(); places.applications()];
        Self { places, sheet: Sheet::new(Table::new("recoveries", &columns), rows), flows }
    }

    fn on_event(&mut self, now: Instant, id: ApplicationId, event: &Event) {
        let Some(flow) = self.flows.get_mut(id.0 as usize) else { return };
        match *event {
            Event::Lost { .. } => flow.lost += 1,
            Event::Window { window, .. } => {
                flow.window = window;
                let open = flow.open.as_mut();
                open.into_iter().for_each(|it| it.window_max = it.window_max.max(window));
            }
            Event::TimedOut { .. } => flow.open.iter_mut().for_each(|it| it.timeouts += 1),
            Event::Spurious { cause: Signal::Order, .. } => {
                flow.open.iter_mut().for_each(|it| it.false_alarms += 1);
            }
            Event::Phase { phase: Phase::Fast } => {
                let (window_max, false_alarms, timeouts) = (flow.window, 0, 0);
                flow.open.get_or_insert(Stay { since: now, window_max, false_alarms, timeouts });
            }
            Event::Phase { .. } => self.close(now, id),
            _ => {}
        }
    }

    fn close(&mut self, now: Instant, id: ApplicationId) {
        let Some(flow) = self.flows.get_mut(id.0 as usize) else { return };
        let Some(stay) = flow.open.take() else { return };
        self.sheet.push(&[
            seconds(stay.since),
            Cell::Text(self.places.application(id)),
            Cell::F64(now.since(stay.since).as_secs_f64()),
            Cell::F64(stay.window_max),
            Cell::U64(std::mem::take(&mut flow.lost)),
            Cell::U64(stay.false_alarms),
            Cell::U64(stay.timeouts),
        ]);
    }
}

impl Observer for Recoveries {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Application { application, report: Report::Event(event) } = observation
        {
            self.on_event(now, *application, event);
        }
    }
}

impl Recorder for Recoveries {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Table> {
        (0..self.flows.len() as u32).for_each(|id| self.close(now, ApplicationId(id)));
        self.take()
    }
}
