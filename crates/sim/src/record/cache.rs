//! What content stores did, and what was discarded, in stretches of time.
use super::period::Period;
use super::place::{Channel, Places};
use super::table::{Cell, Sheet, Table, Type};
use super::{Recorder, seconds};
use crate::network::NodeId;
use crate::observe::{Observation, Observer};
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::Kind;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Makes `caches`: a row for each node whose content store was asked or gave something up.
pub(super) struct Caches {
    places: Arc<Places>,
    period: Period,
    counts: BTreeMap<NodeId, [u64; 3]>,
    sheet: Sheet,
}

impl Caches {
    pub(super) fn new(places: Arc<Places>, rows: usize, bin: Duration) -> Self {
        let columns = [
            ("time_s", "s", Type::F64),
            ("node", "", Type::Text),
            ("hits", "", Type::U64),
            ("misses", "", Type::U64),
            ("evicted", "packets", Type::U64),
        ];
        let sheet = Sheet::new(Table::new("caches", &columns), rows);
        Self { places, period: Period::new(bin), counts: BTreeMap::new(), sheet }
    }

    fn roll(&mut self, now: Instant) {
        while let Some((start, _)) = self.period.due(now) {
            self.flush(start);
            self.period.skip(now);
        }
    }

    fn flush(&mut self, start: Instant) {
        for (node, [hits, misses, evicted]) in std::mem::take(&mut self.counts) {
            let name = Cell::Text(self.places.node(node));
            let [hits, misses, evicted] = [hits, misses, evicted].map(Cell::U64);
            self.sheet.push(&[seconds(start), name, hits, misses, evicted]);
        }
    }
}

impl Observer for Caches {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let Observation::Node { node, event } = *observation else {
            return;
        };
        let (what, count) = match event {
            NodeEvent::CsHit { .. } => (0, 1),
            NodeEvent::CsMiss { .. } => (1, 1),
            NodeEvent::CsEvicted { packets } => (2, u64::from(packets)),
            _ => return,
        };
        self.roll(now);
        self.counts.entry(node).or_default()[what] += count;
    }
}

impl Recorder for Caches {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Table> {
        self.roll(now);
        if let Some((start, _)) = self.period.rest(now) {
            self.flush(start);
        }
        self.take()
    }
}

/// Makes `drops`. Places are nodes (`r1`) and directions of links (`r1-r2.forth`).
pub(super) struct Drops {
    places: Arc<Places>,
    period: Period,
    counts: BTreeMap<(String, Option<Kind>, &'static str), u64>,
    sheet: Sheet,
}

impl Drops {
    pub(super) fn new(places: Arc<Places>, rows: usize, bin: Duration) -> Self {
        let columns = [
            ("time_s", "s", Type::F64),
            ("place", "", Type::Text),
            ("kind", "", Type::Text),
            ("reason", "", Type::Text),
            ("packets", "packets", Type::U64),
        ];
        let sheet = Sheet::new(Table::new("drops", &columns), rows);
        Self { places, period: Period::new(bin), counts: BTreeMap::new(), sheet }
    }

    fn roll(&mut self, now: Instant) {
        while let Some((start, _)) = self.period.due(now) {
            self.flush(start);
            self.period.skip(now);
        }
    }

    fn flush(&mut self, start: Instant) {
        for ((place, kind, reason), packets) in std::mem::take(&mut self.counts) {
            self.sheet.push(&[
                seconds(start),
                Cell::Text(&place),
                Cell::Text(kind.map_or("", kind_name)),
                Cell::Text(reason),
                Cell::U64(packets),
            ]);
        }
    }
}

impl Observer for Drops {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let key = match *observation {
            Observation::Dropped { node, kind, reason } => {
                (self.places.node(node).to_owned(), kind, reason.name())
            }
            Observation::Lost { link, direction, packet, reason } => {
                let direction = Channel::new(link, direction).direction_name();
                let place = format!("{}.{direction}", self.places.link(link));
                (place, Some(packet.kind()), reason.name())
            }
            _ => return,
        };
        self.roll(now);
        *self.counts.entry(key).or_default() += 1;
    }
}

impl Recorder for Drops {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Table> {
        self.roll(now);
        if let Some((start, _)) = self.period.rest(now) {
            self.flush(start);
        }
        self.take()
    }
}

/// The kind of a packet as records spell it.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Interest => "interest",
        Kind::Data => "data",
        Kind::Nack => "nack",
        Kind::Idle => "idle",
    }
}
