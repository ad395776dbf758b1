//! Dropped packets, in bins of time.
use super::bins::Count;
use super::place::{Channel, Places};
use super::seconds;
use super::table::{Cell, Sheet};
use crate::observe::Observation;
use recoup_forwarder::packet::Kind;
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// Makes `drops`. Places are nodes (`r1`) and directions of links (`r1-r2.forth`).
#[derive(Default)]
pub(super) struct Drops {
    counts: BTreeMap<(String, Option<Kind>, &'static str), u64>,
}

impl Count for Drops {
    const COLUMNS: &'static str =
        "time_s f64 s, place text, kind text, reason text, packets u64 packets";

    fn count(&mut self, places: &Places, observation: &Observation<'_>) {
        let key = match *observation {
            Observation::Dropped { node, kind, reason } => {
                (places.node(node).to_owned(), kind, reason.name())
            }
            Observation::Lost { link, direction, packet, reason } => {
                let direction = Channel::new(link, direction).direction_name();
                let place = format!("{}.{direction}", places.link(link));
                (place, Some(packet.kind()), reason.name())
            }
            _ => return,
        };
        *self.counts.entry(key).or_default() += 1;
    }

    fn rows(&mut self, _: &Places, start: Instant, _: f64, sheet: &mut Sheet) {
        for ((place, kind, reason), packets) in std::mem::take(&mut self.counts) {
            sheet.push(&[
                seconds(start),
                Cell::Text(&place),
                Cell::Text(kind.map_or("", kind_name)),
                Cell::Text(reason),
                Cell::U64(packets),
            ]);
        }
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
