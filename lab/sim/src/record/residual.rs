//! Residual losses of a medium on each face, in bins of time.
use super::bins::Count;
use super::place::Places;
use super::seconds;
use super::table::{Cell, Sheet};
use super::track::{Carriage, Carried};
use crate::observe::{LossReason, Observation};
use recoup_transport::time::Instant;

/// Makes `residual`: a row for each face to a medium that sent or lost something.
pub(super) struct Residual {
    carriage: Carriage,
}

impl Residual {
    pub(super) fn new(places: &Places) -> Self {
        Self { carriage: Carriage::new(places) }
    }
}

impl Count for Residual {
    const COLUMNS: &'static str = "time_s f64 s, node text, link text, direction text, sent u64 packets, lost u64 \
         packets, lost_queue_full u64 packets, lost_down u64 packets, residual_loss f64";

    fn count(&mut self, places: &Places, observation: &Observation<'_>) {
        self.carriage.on(places, observation);
    }

    fn rows(&mut self, places: &Places, start: Instant, _: f64, sheet: &mut Sheet) {
        let channels = places.channels().zip(self.carriage.all_mut());
        for (channel, carried) in channels.filter(|(it, _)| places.is_aerial(it.link)) {
            if carried.packets == 0 && carried.lost.is_empty() {
                continue;
            }
            let count = |reason| Cell::U64(carried.lost.get(&reason).copied().unwrap_or(0));
            let node = places.sender(channel).map_or("?", |node| places.node(node));
            sheet.push(&[
                seconds(start),
                Cell::Text(node),
                Cell::Text(places.link(channel.link)),
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
