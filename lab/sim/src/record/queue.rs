//! Lengths of queues and numbers of pending Interests over time.
use super::period::Spacing;
use super::place::Places;
use super::table::{Cell, Sheet};
use super::track::{Pits, Queues};
use super::{Fill, Seen, seconds};
use recoup_transport::time::Duration;

/// Makes `queue`: the queue of the node in front of a link. If its delay comes before its rate, or other traffic shares
/// it, the queue of the link itself.
pub(super) struct Lengths {
    queues: Queues,
    spacing: Spacing,
}

impl Lengths {
    pub(super) fn new(places: &Places, every: Duration) -> Self {
        let spacing = Spacing::new(every, places.channels().count());
        Self { queues: Queues::new(places), spacing }
    }
}

impl Fill for Lengths {
    const COLUMNS: &'static str =
        "time_s f64 s, link text, direction text, packets u64 packets, bytes u64 bytes";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        self.queues.on(places, observation, |channel, waiting| {
            if self.spacing.admits(channel.index(), now) {
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

/// Makes `pit`.
pub(super) struct Pending {
    pits: Pits,
    spacing: Spacing,
}

impl Pending {
    pub(super) fn new(places: &Places, every: Duration) -> Self {
        Self { pits: Pits::new(places), spacing: Spacing::new(every, places.nodes()) }
    }
}

impl Fill for Pending {
    const COLUMNS: &'static str = "time_s f64 s, node text, entries u64";

    fn on(&mut self, seen: Seen<'_>, sheet: &mut Sheet) {
        let Seen { places, now, observation } = seen;
        if let Some((node, entries)) = self.pits.on(places, observation)
            && self.spacing.admits(node.0 as usize, now)
        {
            sheet.push(&[seconds(now), Cell::Text(places.node(node)), Cell::U64(entries)]);
        }
    }
}
