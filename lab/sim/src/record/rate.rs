//! Rates in stretches of time: what consumers received and links carried.
use super::bins::Count;
use super::period::Period;
use super::place::Places;
use super::table::{Cell, Sheet, Table};
use super::track::{Carriage, Carried};
use super::{Recorder, seconds};
use crate::network::ApplicationId;
use crate::observe::{Observation, Observer};
use crate::statistic::jain;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Makes `goodput` (a row for each consumer between its first Interest and its end) and `fairness`
/// (Jain's index of the goodputs of those).
pub(super) struct Goodput {
    places: Arc<Places>,
    period: Period,
    consumers: Vec<Consumer>,
    goodput: Sheet,
    fairness: Sheet,
}

#[derive(Clone, Copy, Debug, Default)]
struct Consumer {
    is_active: bool,
    /// Whether it ended in this stretch.
    is_ending: bool,
    segments: u64,
    content_bytes: u64,
    packet_bytes: u64,
}

impl Goodput {
    pub(super) fn new(places: Arc<Places>, rows: usize, bin: Duration) -> Self {
        let goodput = "time_s f64 s, application text, goodput_bps f64 bit/s, throughput_bps f64 bit/s, \
             segments u64 segments";
        let fairness = "time_s f64 s, jain f64, consumers u64";
        Self {
            period: Period::new(bin),
            consumers: vec![Consumer::default(); places.applications()],
            goodput: Sheet::of("goodput", goodput, rows),
            fairness: Sheet::of("fairness", fairness, rows),
            places,
        }
    }

    fn on_report(&mut self, application: ApplicationId, report: &Report) {
        let is_consumer = self.places.is_consumer(application);
        let Some(consumer) = self.consumers.get_mut(application.0 as usize).filter(|_| is_consumer)
        else {
            return;
        };
        match report {
            Report::Event(Event::Sent { .. }) => consumer.is_active = true,
            Report::Event(Event::Received { content_bytes, wire_bytes, .. }) => {
                consumer.segments += 1;
                consumer.content_bytes += u64::from(*content_bytes);
                consumer.packet_bytes += u64::from(*wire_bytes);
            }
            Report::Done(_) => consumer.is_ending = true,
            _ => {}
        }
    }

    fn roll(&mut self, now: Instant) {
        if !self.consumers.iter().any(|consumer| consumer.is_active) {
            self.period.skip(now);
        }
        while let Some((start, end)) = self.period.due(now) {
            self.flush(start, end);
        }
    }

    fn flush(&mut self, start: Instant, end: Instant) {
        let width = end.since(start).as_secs_f64();
        let mut shares = Vec::new();
        for (number, consumer) in self.consumers.iter_mut().enumerate() {
            if !consumer.is_active {
                continue;
            }
            let rate = |bytes: u64| bytes as f64 * 8.0 / width;
            let (goodput, throughput) = (rate(consumer.content_bytes), rate(consumer.packet_bytes));
            shares.push(goodput);
            let name = self.places.application(ApplicationId(number as u32));
            let (goodput, throughput) = (Cell::F64(goodput), Cell::F64(throughput));
            let segments = Cell::U64(consumer.segments);
            self.goodput.push(&[seconds(start), Cell::Text(name), goodput, throughput, segments]);
            *consumer = Consumer { is_active: !consumer.is_ending, ..Consumer::default() };
        }
        if let Some(jain) = jain(&shares) {
            let consumers = Cell::U64(shares.len() as u64);
            self.fairness.push(&[seconds(start), Cell::F64(jain), consumers]);
        }
    }
}

impl Observer for Goodput {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Application { application, report } = *observation {
            self.roll(now);
            self.on_report(application, report);
        }
    }
}

impl Recorder for Goodput {
    fn take(&mut self) -> Vec<Table> {
        vec![self.goodput.take(), self.fairness.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Table> {
        self.roll(now);
        if let Some((start, end)) = self.period.rest(now) {
            self.flush(start, end);
        }
        self.take()
    }
}

/// Makes `links`: a row for each direction of a link that carried or lost something.
pub(super) struct Links {
    carriage: Carriage,
}

impl Links {
    pub(super) fn new(places: &Places) -> Self {
        Self { carriage: Carriage::new(places) }
    }
}

impl Count for Links {
    const COLUMNS: &'static str = "time_s f64 s, link text, direction text, packets u64 packets, bytes u64 bytes, lost \
         u64 packets, utilisation f64";

    fn count(&mut self, places: &Places, observation: &Observation<'_>) {
        self.carriage.on(places, observation);
    }

    fn rows(&mut self, places: &Places, start: Instant, width: f64, sheet: &mut Sheet) {
        for (channel, carried) in places.channels().zip(self.carriage.all_mut()) {
            let lost = carried.lost.values().sum::<u64>();
            if carried.packets == 0 && lost == 0 {
                continue;
            }
            sheet.push(&[
                seconds(start),
                Cell::Text(places.link(channel.link)),
                Cell::Text(channel.direction_name()),
                Cell::U64(carried.packets),
                Cell::U64(carried.bytes),
                Cell::U64(lost),
                Cell::F64(carried.utilisation(width).unwrap_or(f64::NAN)),
            ]);
            *carried = Carried { charge: carried.charge, ..Carried::default() };
        }
    }
}
