//! Lengths of queues and numbers of pending Interests over time.
use super::period::Spacing;
use super::place::Places;
use super::table::{Cell, Sheet, Table};
use super::track::{Pits, Queues};
use super::{Recorder, seconds};
use crate::observe::{Observation, Observer};
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Makes `queue`: the queue of the node in front of a link. If its delay comes before its rate, or other traffic shares
/// it, the queue of the link itself.
pub(super) struct Lengths {
    places: Arc<Places>,
    queues: Queues,
    sheet: Sheet,
    spacing: Spacing,
}

impl Lengths {
    pub(super) fn new(places: Arc<Places>, rows: usize, every: Duration) -> Self {
        let columns =
            "time_s f64 s, link text, direction text, packets u64 packets, bytes u64 bytes";
        Self {
            queues: Queues::new(&places),
            sheet: Sheet::of("queue", columns, rows),
            spacing: Spacing::new(every, places.channels().count()),
            places,
        }
    }
}

impl Observer for Lengths {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let Self { places, queues, sheet, spacing } = self;
        queues.on(places, observation, |channel, waiting| {
            if spacing.admits(channel.index(), now) {
                sheet.push(&[
                    seconds(now),
                    Cell::Text(places.link(channel.link)),
                    Cell::Text(channel.direction_name()),
                    Cell::U64(waiting.packets),
                    Cell::U64(waiting.bytes),
                ]);
            }
        });
    }
}

impl Recorder for Lengths {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }
}

/// Makes `pit`.
pub(super) struct Pending {
    places: Arc<Places>,
    pits: Pits,
    sheet: Sheet,
    spacing: Spacing,
}

impl Pending {
    pub(super) fn new(places: Arc<Places>, rows: usize, every: Duration) -> Self {
        let columns = "time_s f64 s, node text, entries u64";
        Self {
            pits: Pits::new(&places),
            sheet: Sheet::of("pit", columns, rows),
            spacing: Spacing::new(every, places.nodes()),
            places,
        }
    }
}

impl Observer for Pending {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Some((node, entries)) = self.pits.on(&self.places, observation)
            && self.spacing.admits(node.0 as usize, now)
        {
            let name = Cell::Text(self.places.node(node));
            self.sheet.push(&[seconds(now), name, Cell::U64(entries)]);
        }
    }
}

impl Recorder for Pending {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }
}
