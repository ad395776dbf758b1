//! What a medium leaves to be lost on each face, and clients that go from one access point to another.
use super::period::Period;
use super::place::Places;
use super::table::{Cell, Sheet, Table, Type};
use super::track::{Carriage, Carried};
use super::{Recorder, seconds};
use crate::network::NodeId;
use crate::observe::{LossReason, Observation, Observer};
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Makes `residual`: a row for each face to a medium that sent or lost something.
pub(super) struct Residual {
    places: Arc<Places>,
    period: Period,
    carriage: Carriage,
    sheet: Sheet,
}

impl Residual {
    pub(super) fn new(places: Arc<Places>, rows: usize, bin: Duration) -> Self {
        let columns = [
            ("time_s", "s", Type::F64),
            ("node", "", Type::Text),
            ("link", "", Type::Text),
            ("direction", "", Type::Text),
            ("sent", "packets", Type::U64),
            ("lost", "packets", Type::U64),
            ("lost_queue_full", "packets", Type::U64),
            ("lost_down", "packets", Type::U64),
            ("residual_loss", "", Type::F64),
        ];
        Self {
            period: Period::new(bin),
            carriage: Carriage::new(&places),
            sheet: Sheet::new(Table::new("residual", &columns), rows),
            places,
        }
    }

    fn roll(&mut self, now: Instant) {
        while let Some((start, _)) = self.period.due(now) {
            self.flush(start);
            self.period.skip(now);
        }
    }

    fn flush(&mut self, start: Instant) {
        let channels = self.places.channels().zip(self.carriage.all_mut());
        for (channel, carried) in channels.filter(|(it, _)| self.places.is_aerial(it.link)) {
            if carried.packets == 0 && carried.lost.is_empty() {
                continue;
            }
            let count = |reason| Cell::U64(carried.lost.get(&reason).copied().unwrap_or(0));
            let node = self.places.sender(channel).map_or("?", |node| self.places.node(node));
            self.sheet.push(&[
                seconds(start),
                Cell::Text(node),
                Cell::Text(self.places.link(channel.link)),
                Cell::Text(channel.direction_name()),
                Cell::U64(carried.packets),
                count(LossReason::Model),
                count(LossReason::QueueFull),
                count(LossReason::Down),
                Cell::F64(carried.residual_loss().unwrap_or(f64::NAN)),
            ]);
            *carried = Carried { charge: carried.charge, ..Carried::default() };
        }
    }
}

impl Observer for Residual {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        self.roll(now);
        self.carriage.on(&self.places, observation);
    }
}

impl Recorder for Residual {
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

/// Makes `handoffs`: a row for each time that a client has come to an access point.
pub(super) struct Handoffs {
    places: Arc<Places>,
    /// By node: when it left the access point before.
    left: Vec<Option<Instant>>,
    sheet: Sheet,
}

impl Handoffs {
    pub(super) fn new(places: Arc<Places>, rows: usize) -> Self {
        let columns = [
            ("time_s", "s", Type::F64),
            ("client", "", Type::Text),
            ("from", "", Type::Text),
            ("to", "", Type::Text),
            ("without_s", "s", Type::F64),
        ];
        let left = vec![None; places.nodes()];
        Self { places, left, sheet: Sheet::new(Table::new("handoffs", &columns), rows) }
    }

    fn on_joined(&mut self, now: Instant, client: NodeId, point: NodeId, before: Option<NodeId>) {
        let left = self.left.get_mut(client.0 as usize).and_then(Option::take);
        self.sheet.push(&[
            seconds(now),
            Cell::Text(self.places.node(client)),
            Cell::Text(before.map_or("", |before| self.places.node(before))),
            Cell::Text(self.places.node(point)),
            Cell::F64(left.map_or(f64::NAN, |left| now.since(left).as_secs_f64())),
        ]);
    }
}

impl Observer for Handoffs {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Left { client, .. } => {
                if let Some(left) = self.left.get_mut(client.0 as usize) {
                    *left = Some(now);
                }
            }
            Observation::Joined { client, point, before } => {
                self.on_joined(now, client, point, before);
            }
            _ => {}
        }
    }
}

impl Recorder for Handoffs {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, _: Instant) -> Vec<Table> {
        self.take()
    }
}
