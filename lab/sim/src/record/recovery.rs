//! Stays in fast recovery: how long, how far the window grew, what was taken for lost.
use super::place::Places;
use super::table::{Cell, Sheet};
use super::{Fill, Seen, event, seconds};
use crate::network::ApplicationId;
use recoup_transport::event::{Event, Signal};
use recoup_transport::loss::Phase;
use recoup_transport::time::Instant;

/// Makes `recoveries`. Rows come in the order in which recoveries end.
pub(super) struct Recoveries {
    flows: Vec<Flow>,
}

/// State of an application.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    window: f64,
    /// Time of the last change of the window, and the window before that instant.
    changed: Instant,
    before: f64,
    /// Segments taken for lost by the order of arrivals since the last recovery.
    lost: u64,
    open: Option<Stay>,
}

impl Flow {
    /// Records a window.
    fn set_window(&mut self, now: Instant, window: f64) {
        if now > self.changed {
            (self.changed, self.before) = (now, self.window);
        }
        self.window = window;
    }

    /// The window before this instant.
    fn before(&self, now: Instant) -> f64 {
        if self.changed == now { self.before } else { self.window }
    }
}

/// A recovery in progress.
#[derive(Clone, Copy, Debug)]
struct Stay {
    since: Instant,
    window_before: f64,
    window_max: f64,
    false_alarms: u64,
    timeouts: u64,
}

impl Recoveries {
    pub(super) fn new(places: &Places) -> Self {
        Self { flows: vec![Flow::default(); places.applications()] }
    }

    fn close(&mut self, places: &Places, now: Instant, id: ApplicationId, sheet: &mut Sheet) {
        let Some(flow) = self.flows.get_mut(id.0 as usize) else { return };
        let Some(stay) = flow.open.take() else { return };
        sheet.push(&[
            seconds(stay.since),
            Cell::Text(places.application(id)),
            Cell::F64(now.since(stay.since).as_secs_f64()),
            Cell::F64(stay.window_max),
            Cell::U64(std::mem::take(&mut flow.lost)),
            Cell::U64(stay.false_alarms),
            Cell::U64(stay.timeouts),
            Cell::F64(stay.window_before),
        ]);
    }
}

impl Fill for Recoveries {
    const COLUMNS: &'static str = "time_s f64 s, application text, duration_s f64 s, window_max f64 segments, lost u64 \
         segments, false_alarms u64 segments, timeouts u64, window_before f64 segments";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        let Some((id, event)) = event(observation) else { return };
        let Some(flow) = self.flows.get_mut(id.0 as usize) else { return };
        match *event {
            Event::Lost { .. } => flow.lost += 1,
            Event::Window { window, .. } => {
                flow.set_window(now, window);
                let open = flow.open.as_mut();
                open.into_iter().for_each(|it| it.window_max = it.window_max.max(window));
            }
            Event::TimedOut { .. } => flow.open.iter_mut().for_each(|it| it.timeouts += 1),
            Event::Spurious { cause: Signal::Order, .. } => {
                flow.open.iter_mut().for_each(|it| it.false_alarms += 1);
            }
            Event::Phase { phase: Phase::Fast } => {
                // The reduction is reported before the phase, at the same instant.
                let window_before = flow.before(now);
                let window_max = flow.window;
                let (since, false_alarms, timeouts) = (now, 0, 0);
                let stay = Stay { since, window_before, window_max, false_alarms, timeouts };
                flow.open.get_or_insert(stay);
            }
            Event::Phase { .. } => self.close(places, now, id, sheet),
            _ => {}
        }
    }

    fn finish(&mut self, places: &Places, now: Instant, sheet: &mut Sheet) {
        (0..self.flows.len() as u32)
            .for_each(|id| self.close(places, now, ApplicationId(id), sheet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_before_recovery_precedes_its_reduction() {
        let mut flow = Flow { window: 10.0, ..Flow::default() };
        let at = |millis| Instant::ZERO + recoup_transport::time::Duration::from_millis(millis);
        flow.set_window(at(1), 80.0);
        flow.set_window(at(2), 43.0);
        flow.set_window(at(2), 49.0);
        assert_eq!((flow.before(at(2)), flow.before(at(3))), (80.0, 49.0));
    }
}
