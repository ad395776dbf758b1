//! Handovers of clients between access points.
use super::place::Places;
use super::table::{Cell, Sheet};
use super::{Fill, Seen, seconds};
use crate::observe::Observation;
use recoup_transport::time::Instant;

/// Makes `handoffs`: a row for each client that joins an access point.
pub(super) struct Handoffs {
    /// By node: when it left the access point before.
    left: Vec<Option<Instant>>,
}

impl Handoffs {
    pub(super) fn new(places: &Places) -> Self {
        Self { left: vec![None; places.nodes()] }
    }
}

impl Fill for Handoffs {
    const COLUMNS: &'static str = "time_s f64 s, client text, from text, to text, without_s f64 s";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        match *observation {
            Observation::Left { client, .. } => {
                if let Some(left) = self.left.get_mut(client.0 as usize) {
                    *left = Some(now);
                }
            }
            Observation::Joined { client, point, before } => {
                let left = self.left.get_mut(client.0 as usize).and_then(Option::take);
                sheet.push(&[
                    seconds(now),
                    Cell::Text(places.node(client)),
                    Cell::Text(before.map_or("", |before| places.node(before))),
                    Cell::Text(places.node(point)),
                    Cell::F64(left.map_or(f64::NAN, |left| now.since(left).as_secs_f64())),
                ]);
            }
            _ => {}
        }
    }
}
