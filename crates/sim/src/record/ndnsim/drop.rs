//! L2RateTracer.
use super::Rate;
use crate::network::NodeId;
use crate::observe::{Observation, Observer};
use crate::record::period::Period;
use crate::record::place::{Channel, Places};
use crate::record::table::{Cell, Sheet, Table, Type};
use crate::record::{Recorder, seconds};
use recoup_forwarder::drop::DropReason;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Makes `ndnsim-drop`: a row for each node and period.
pub(in crate::record) struct DropTrace {
    places: Arc<Places>,
    period: Period,
    drops: Vec<Rate>,
    sheet: Sheet,
}

impl DropTrace {
    pub(in crate::record) fn new(places: Arc<Places>, rows: usize, period: Duration) -> Self {
        let columns = [
            ("Time", "s", Type::F64),
            ("Node", "", Type::Text),
            ("Interface", "", Type::Text),
            ("Type", "", Type::Text),
            ("Packets", "1/s", Type::F64),
            ("Kilobytes", "KiB/s", Type::F64),
            ("PacketsRaw", "packets", Type::F64),
            ("KilobytesRaw", "KiB", Type::F64),
        ];
        Self {
            period: Period::new(period),
            drops: vec![Rate::default(); places.nodes()],
            sheet: Sheet::new(Table::new("ndnsim-drop", &columns), rows),
            places,
        }
    }

    fn roll(&mut self, now: Instant) {
        while let Some((start, end)) = self.period.due(now) {
            let width = end.since(start).as_secs_f64();
            for (number, drops) in self.drops.iter_mut().enumerate() {
                let name = Cell::Text(self.places.node(NodeId(number as u32)));
                let (interface, kind) = (Cell::Text("combined"), Cell::Text("Drop"));
                let [packets, kilobytes, packets_raw, kilobytes_raw] = drops.close(width);
                self.sheet.push(&[
                    seconds(end),
                    name,
                    interface,
                    kind,
                    packets,
                    kilobytes,
                    packets_raw,
                    kilobytes_raw,
                ]);
            }
        }
    }
}

impl Observer for DropTrace {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        self.roll(now);
        let (node, octets) = match *observation {
            Observation::Dropped { node, reason: DropReason::QueueFull, .. } => (Some(node), 0),
            Observation::Lost { link, direction, packet, .. } => {
                (self.places.sender(Channel::new(link, direction)), packet.octets() as u64)
            }
            _ => return,
        };
        if let Some(drops) = node.and_then(|node| self.drops.get_mut(node.0 as usize)) {
            drops.add(octets);
        }
    }
}

impl Recorder for DropTrace {
    fn take(&mut self) -> Vec<Table> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Table> {
        self.roll(now);
        self.take()
    }
}
