//! Curves and events of applications: windows, RTO estimates, all other events.
use super::period::Spacing;
use super::table::{Cell, Sheet};
use super::{Fill, Seen, event, seconds};
use crate::observe::Observation;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::Duration;

/// Makes `window`.
pub(super) struct Windows(pub Spacing);

impl Fill for Windows {
    const COLUMNS: &'static str = "time_s f64 s, application text, window f64 segments, ssthresh f64 segments, \
         delay_window f64 segments";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        if let Some((id, Event::Window { window, ssthresh, delay_window })) = event(observation)
            && self.0.admits(id.0 as usize, now)
        {
            sheet.push(&[
                seconds(now),
                Cell::Text(places.application(id)),
                Cell::F64(*window),
                Cell::F64(*ssthresh),
                Cell::F64(*delay_window),
            ]);
        }
    }
}

/// Makes `rto`.
pub(super) struct Rtos(pub Spacing);

impl Fill for Rtos {
    const COLUMNS: &'static str = "time_s f64 s, application text, segment u64, rtt_s f64 s, srtt_s f64 s, rttvar_s f64 \
         s, rto_s f64 s";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        if let Some((id, event)) = event(observation)
            && let Event::Sampled { segment, rtt, srtt, rttvar, rto } = *event
            && self.0.admits(id.0 as usize, now)
        {
            let [rtt, srtt, rttvar, rto] =
                [rtt, srtt, rttvar, rto].map(|it| Cell::F64(Duration::from(it).as_secs_f64()));
            let (id, segment) = (Cell::Text(places.application(id)), Cell::U64(segment));
            sheet.push(&[seconds(now), id, segment, rtt, srtt, rttvar, rto]);
        }
    }
}

/// Makes `events`: what has no table of its own. The segment is -1 where an event has none.
pub(super) struct Events;

impl Fill for Events {
    const COLUMNS: &'static str =
        "time_s f64 s, application text, event text, segment i64, detail text";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        let row = match *observation {
            Observation::Started { application, .. } => Some((application, ("started", None, ""))),
            Observation::Application { application, report } => {
                words(report).map(|it| (application, it))
            }
            _ => None,
        };
        let Some((id, (event, segment, detail))) = row else { return };
        sheet.push(&[
            seconds(now),
            Cell::Text(places.application(id)),
            Cell::Text(event),
            Cell::I64(segment.map_or(-1, |segment| i64::try_from(segment).unwrap_or(i64::MAX))),
            Cell::Text(detail),
        ]);
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
