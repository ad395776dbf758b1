//! One row for each segment: times of request and arrival.
use super::place::Places;
use super::table::{Cell, Sheet, Table};
use super::{Recorder, seconds};
use crate::network::ApplicationId;
use crate::observe::{Observation, Observer};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Makes `segments`. A row is complete when its segment has come, or at the end: then what did not
/// come is absent.
pub(super) struct Segments {
    places: Arc<Places>,
    sheet: Sheet,
    open: BTreeMap<(ApplicationId, u64), Open>,
}

/// A segment with an Interest sent.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    first_sent: Instant,
    last_sent: Instant,
    first_rto: Duration,
    last_rto: Duration,
    transmissions: u32,
    timeouts: u32,
}

/// An arrival.
struct Come {
    at: Instant,
    rtt: Duration,
    delay: Duration,
    content_bytes: u32,
    packet_bytes: u32,
}

impl Segments {
    pub(super) fn new(places: Arc<Places>, rows: usize) -> Self {
        let columns = "application text, segment u64, first_sent_s f64 s, last_sent_s f64 s, arrived_s f64 s, \
             rtt_s f64 s, delay_s f64 s, first_rto_s f64 s, last_rto_s f64 s, transmissions u64, \
             timeouts u64, content_bytes u64 bytes, packet_bytes u64 bytes";
        let sheet = Sheet::of("segments", columns, rows);
        Self { places, sheet, open: BTreeMap::new() }
    }

    fn on_event(&mut self, now: Instant, application: ApplicationId, event: &Event) {
        match *event {
            Event::Sent { segment, transmissions, rto } => {
                let key = (application, segment);
                self.on_sent(now, key, transmissions, rto.into());
            }
            Event::TimedOut { segment } => {
                if let Some(open) = self.open.get_mut(&(application, segment)) {
                    open.timeouts += 1;
                }
            }
            Event::Received { segment, content_bytes, wire_bytes, rtt, delay, .. } => {
                let come = Come {
                    at: now,
                    rtt: rtt.into(),
                    delay: delay.into(),
                    content_bytes,
                    packet_bytes: wire_bytes,
                };
                if let Some(open) = self.open.remove(&(application, segment)) {
                    self.push(application, segment, &open, Some(&come));
                }
            }
            _ => {}
        }
    }

    /// A restarted fetch closes the row of a segment that has not arrived.
    fn on_sent(&mut self, now: Instant, key: (ApplicationId, u64), n: u32, rto: Duration) {
        if n == 1
            && let Some(before) = self.open.remove(&key)
        {
            self.push(key.0, key.1, &before, None);
        }
        let new = Open { first_sent: now, first_rto: rto, ..Open::default() };
        let open = self.open.entry(key).or_insert(new);
        (open.last_sent, open.last_rto, open.transmissions) = (now, rto, n);
    }

    fn push(&mut self, application: ApplicationId, segment: u64, open: &Open, come: Option<&Come>) {
        let absent = Cell::F64(f64::NAN);
        let time = |duration: Duration| Cell::F64(duration.as_secs_f64());
        self.sheet.push(&[
            Cell::Text(self.places.application(application)),
            Cell::U64(segment),
            seconds(open.first_sent),
            seconds(open.last_sent),
            come.map_or(absent, |come| seconds(come.at)),
            come.map_or(absent, |come| time(come.rtt)),
            come.map_or(absent, |come| time(come.delay)),
            time(open.first_rto),
            time(open.last_rto),
            Cell::U64(u64::from(open.transmissions)),
            Cell::U64(u64::from(open.timeouts)),
            Cell::U64(come.map_or(0, |come| u64::from(come.content_bytes))),
            Cell::U64(come.map_or(0, |come| u64::from(come.packet_bytes))),
        ]);
    }
}

impl Observer for Segments {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Application { application, report: Report::Event(event) } = *observation
        {
            self.on_event(now, application, event);
        }
    }
}

impl Recorder for Segments {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, _now: Instant) -> Vec<Table> {
        for ((application, segment), open) in std::mem::take(&mut self.open) {
            self.push(application, segment, &open, None);
        }
        self.take()
    }
}
