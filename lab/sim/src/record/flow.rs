//! Curves and events of applications: windows, RTO estimates, all other events.
use super::period::Spacing;
use super::place::Places;
use super::table::{Cell, Sheet, Table};
use super::{Recorder, seconds};
use crate::network::ApplicationId;
use crate::observe::{Observation, Observer};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Makes `window`.
pub(super) struct Windows {
    places: Arc<Places>,
    sheet: Sheet,
    spacing: Spacing,
}

impl Windows {
    pub(super) fn new(places: Arc<Places>, rows: usize, every: Duration) -> Self {
        let columns = "time_s f64 s, application text, window f64 segments, ssthresh f64 segments, \
             delay_window f64 segments";
        let spacing = Spacing::new(every, places.applications());
        Self { places, sheet: Sheet::of("window", columns, rows), spacing }
    }
}

impl Observer for Windows {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Some((id, Event::Window { window, ssthresh, delay_window })) = event(observation)
            && self.spacing.admits(id.0 as usize, now)
        {
            self.sheet.push(&[
                seconds(now),
                Cell::Text(self.places.application(id)),
                Cell::F64(*window),
                Cell::F64(*ssthresh),
                Cell::F64(*delay_window),
            ]);
        }
    }
}

impl Recorder for Windows {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }
}

/// Makes `rto`.
pub(super) struct Rtos {
    places: Arc<Places>,
    sheet: Sheet,
    spacing: Spacing,
}

impl Rtos {
    pub(super) fn new(places: Arc<Places>, rows: usize, every: Duration) -> Self {
        let columns = "time_s f64 s, application text, segment u64, rtt_s f64 s, srtt_s f64 s, rttvar_s f64 \
             s, rto_s f64 s";
        let spacing = Spacing::new(every, places.applications());
        Self { places, sheet: Sheet::of("rto", columns, rows), spacing }
    }
}

impl Observer for Rtos {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let Some((id, event)) = event(observation) else {
            return;
        };
        let Event::Sampled { segment, rtt, srtt, rttvar, rto } = *event else {
            return;
        };
        if self.spacing.admits(id.0 as usize, now) {
            let times =
                [rtt, srtt, rttvar, rto].map(|it| Cell::F64(Duration::from(it).as_secs_f64()));
            let [rtt, srtt, rttvar, rto] = times;
            let application = Cell::Text(self.places.application(id));
            let row = [seconds(now), application, Cell::U64(segment), rtt, srtt, rttvar, rto];
            self.sheet.push(&row);
        }
    }
}

impl Recorder for Rtos {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }
}

/// Makes `events`: what has no table of its own. The segment is -1 where an event has none.
pub(super) struct Events {
    places: Arc<Places>,
    sheet: Sheet,
}

impl Events {
    pub(super) fn new(places: Arc<Places>, rows: usize) -> Self {
        let columns = "time_s f64 s, application text, event text, segment i64, detail text";
        Self { places, sheet: Sheet::of("events", columns, rows) }
    }
}

impl Observer for Events {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let row = match *observation {
            Observation::Started { application, .. } => Some((application, ("started", None, ""))),
            Observation::Application { application, report } => {
                words(report).map(|it| (application, it))
            }
            _ => None,
        };
        let Some((id, (event, segment, detail))) = row else {
            return;
        };
        self.sheet.push(&[
            seconds(now),
            Cell::Text(self.places.application(id)),
            Cell::Text(event),
            Cell::I64(segment.map_or(-1, |segment| i64::try_from(segment).unwrap_or(i64::MAX))),
            Cell::Text(detail),
        ]);
    }
}

impl Recorder for Events {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }
}

type Words = (&'static str, Option<u64>, &'static str);

/// An event in words: kind, segment, details; `None` if another table has the event.
fn words(report: &Report) -> Option<Words> {
    match report {
        Report::Event(event) => event_words(event),
        Report::Done(Ok(())) => Some(("completed", None, "")),
        Report::Done(Err(_)) => Some(("failed", None, "")),
        Report::Resolved { .. } => Some(("resolved", None, "")),
        _ => None,
    }
}

fn event_words(event: &Event) -> Option<Words> {
    let words = match *event {
        Event::Probed => ("probed", None, ""),
        Event::TimedOut { segment } => ("timed-out", Some(segment), ""),
        Event::Lost { segment } => ("lost", Some(segment), ""),
        Event::Repaired { segment } => ("repaired", Some(segment), ""),
        Event::Phase { phase } => ("phase", None, phase.word()),
        Event::Reduced { cause } => ("reduced", None, cause.word()),
        Event::Spurious { segment, cause } => ("spurious", Some(segment), cause.word()),
        Event::Explained { segment, cause, .. } => ("explained", Some(segment), cause.word()),
        Event::Inferred { segment, cause, holds: true } => {
            ("inferred", Some(segment), cause.word())
        }
        Event::Inferred { segment, cause, holds: false } => {
            ("revoked", Some(segment), cause.word())
        }
        Event::Prolonged { segment, .. } => ("prolonged", Some(segment), ""),
        Event::LeftOut { segment } => ("left-out", Some(segment), ""),
        Event::Withdrawn { segment } => ("withdrawn", Some(segment), ""),
        Event::Marked { segment } => ("marked", Some(segment), ""),
        Event::Nacked { segment, .. } => ("nacked", segment, ""),
        Event::Duplicate => ("duplicate", None, ""),
        Event::Rejected { segment, why } => ("rejected", segment, why),
        Event::EndKnown { last } => ("end-known", Some(last), ""),
        Event::Disconnected => ("disconnected", None, ""),
        Event::Connected => ("connected", None, ""),
        Event::ServedMetadata => ("served-metadata", None, ""),
        Event::Unknown => ("unknown", None, ""),
        Event::SourceEnded => ("source-ended", None, ""),
        _ => return None,
    };
    Some(words)
}

fn event<'a>(observation: &'a Observation<'_>) -> Option<(ApplicationId, &'a Event)> {
    match observation {
        Observation::Application { application, report: Report::Event(event) } => {
            Some((*application, event))
        }
        _ => None,
    }
}
