//! Handovers of clients between access points.
use super::place::Places;
use super::table::{Cell, Sheet, Table};
use super::{Recorder, seconds};
use crate::network::NodeId;
use crate::observe::{Observation, Observer};
use recoup_transport::time::Instant;
use std::sync::Arc;

/// Makes `handoffs`: a row for each client that joins an access point.
pub(super) struct Handoffs {
    places: Arc<Places>,
    /// By node: when it left the access point before.
    left: Vec<Option<Instant>>,
    sheet: Sheet,
}

impl Handoffs {
    pub(super) fn new(places: Arc<Places>, rows: usize) -> Self {
        let columns = "time_s f64 s, client text, from text, to text, without_s f64 s";
        let left = vec![None; places.nodes()];
        Self { places, left, sheet: Sheet::of("handoffs", columns, rows) }
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
}
