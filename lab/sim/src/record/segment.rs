//! One row for each segment: times of request and arrival.
use super::place::Places;
use super::table::{Cell, Sheet};
use super::{Fill, Seen, event, seconds};
use crate::network::ApplicationId;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

/// Makes `segments`. A row is complete when its segment has come, or at the end: then what did not
/// come is absent.
#[derive(Default)]
pub(super) struct Segments {
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

/// A consumer, and the number of its segment.
type Key = (ApplicationId, u64);

impl Open {
    /// Appends the row of a segment.
    fn push(
        &self,
        (application, segment): Key,
        come: Option<&Come>,
        places: &Places,
        sheet: &mut Sheet,
    ) {
        let absent = Cell::F64(f64::NAN);
        let time = |duration: Duration| Cell::F64(duration.as_secs_f64());
        sheet.push(&[
            Cell::Text(places.application(application)),
            Cell::U64(segment),
            seconds(self.first_sent),
            seconds(self.last_sent),
            come.map_or(absent, |come| seconds(come.at)),
            come.map_or(absent, |come| time(come.rtt)),
            come.map_or(absent, |come| time(come.delay)),
            time(self.first_rto),
            time(self.last_rto),
            Cell::U64(u64::from(self.transmissions)),
            Cell::U64(u64::from(self.timeouts)),
            Cell::U64(come.map_or(0, |come| u64::from(come.content_bytes))),
            Cell::U64(come.map_or(0, |come| u64::from(come.packet_bytes))),
        ]);
    }
}

impl Segments {
    /// A restarted fetch closes the row of a segment that has not arrived.
    fn on_sent(
        &mut self,
        (now, key): (Instant, Key),
        (n, rto): (u32, Duration),
        places: &Places,
        sheet: &mut Sheet,
    ) {
        if n == 1
            && let Some(before) = self.open.remove(&key)
        {
            before.push(key, None, places, sheet);
        }
        let new = Open { first_sent: now, first_rto: rto, ..Open::default() };
        let open = self.open.entry(key).or_insert(new);
        (open.last_sent, open.last_rto, open.transmissions) = (now, rto, n);
    }
}

impl Fill for Segments {
    const COLUMNS: &'static str = "application text, segment u64, first_sent_s f64 s, last_sent_s f64 s, arrived_s f64 \
         s, rtt_s f64 s, delay_s f64 s, first_rto_s f64 s, last_rto_s f64 s, transmissions \
         u64, timeouts u64, content_bytes u64 bytes, packet_bytes u64 bytes";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        let Some((application, event)) = event(observation) else { return };
        match *event {
            Event::Sent { segment, transmissions, rto } => {
                let key = (application, segment);
                self.on_sent((now, key), (transmissions, rto.into()), places, sheet);
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
                    open.push((application, segment), Some(&come), places, sheet);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, places: &Places, _: Instant, sheet: &mut Sheet) {
        for (key, open) in std::mem::take(&mut self.open) {
            open.push(key, None, places, sheet);
        }
    }
}
