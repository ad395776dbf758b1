//! L3RateTracer.
use super::Rate;
use crate::network::NodeId;
use crate::observe::{Observation, Observer};
use crate::record::Recorder;
use crate::record::period::Period;
use crate::record::place::{Channel, Places};
use crate::record::table::{Cell, Sheet, Table, Type};
use crate::record::{Table as Made, seconds};
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Types of a face's rows, in the order of its counts.
const OF_FACES: [&str; 6] =
    ["InInterests", "OutInterests", "InData", "OutData", "InNacks", "OutNacks"];
/// Types of a node's rows.
const OF_NODES: [&str; 2] = ["SatisfiedInterests", "TimedOutInterests"];

/// Makes `ndnsim-rate`.
pub(in crate::record) struct RateTrace {
    places: Arc<Places>,
    period: Period,
    nodes: Vec<Node>,
    sheet: Sheet,
}

#[derive(Clone, Debug, Default)]
struct Node {
    faces: Vec<Face>,
    all: [Rate; 2],
}

#[derive(Clone, Debug)]
struct Face {
    channel: Channel,
    description: String,
    rates: [Rate; 6],
}

impl RateTrace {
    pub(in crate::record) fn new(places: Arc<Places>, rows: usize, period: Duration) -> Self {
        let columns = [
            ("Time", "s", Type::F64),
            ("Node", "", Type::Text),
            ("FaceId", "", Type::I64),
            ("FaceDescr", "", Type::Text),
            ("Type", "", Type::Text),
            ("Packets", "1/s", Type::F64),
            ("Kilobytes", "KiB/s", Type::F64),
            ("PacketRaw", "packets", Type::F64),
            ("KilobytesRaw", "KiB", Type::F64),
        ];
        let mut nodes = vec![Node::default(); places.nodes()];
        for channel in places.channels() {
            let sender = places.sender(channel).map_or(0, |node| node.0 as usize);
            let description = format!("{}.{}", places.link(channel.link), channel.direction_name());
            let face = Face { channel, description, rates: [Rate::default(); 6] };
            nodes.get_mut(sender).into_iter().for_each(|node| node.faces.push(face.clone()));
        }
        let sheet = Sheet::new(Table::new("ndnsim-rate", &columns), rows);
        Self { places, period: Period::new(period), nodes, sheet }
    }

    fn count(&mut self, node: Option<NodeId>, channel: Channel, out: usize, packet: &Packet) {
        let Some(node) = node.and_then(|node| self.nodes.get_mut(node.0 as usize)) else {
            return;
        };
        let kind = match packet.kind() {
            Kind::Interest => 0,
            Kind::Data => 2,
            Kind::Nack => 4,
            Kind::Idle => return,
        };
        if let Some(face) = node.faces.iter_mut().find(|face| face.channel == channel) {
            face.rates[kind + out].add(u64::from(packet.hop.octets));
        }
    }

    fn roll(&mut self, now: Instant) {
        while let Some((start, end)) = self.period.due(now) {
            self.flush(end, end.since(start).as_secs_f64());
        }
    }

    fn flush(&mut self, end: Instant, width: f64) {
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let name = self.places.node(NodeId(number as u32));
            let mut push = |face: i64, description: &str, kind: &str, rate: &mut Rate| {
                let [packets, kilobytes, packets_raw, kilobytes_raw] = rate.close(width);
                self.sheet.push(&[
                    seconds(end),
                    Cell::Text(name),
                    Cell::I64(face),
                    Cell::Text(description),
                    Cell::Text(kind),
                    packets,
                    kilobytes,
                    packets_raw,
                    kilobytes_raw,
                ]);
            };
            for (number, face) in node.faces.iter_mut().enumerate() {
                for (kind, rate) in OF_FACES.into_iter().zip(&mut face.rates) {
                    push(number as i64, &face.description, kind, rate);
                }
            }
            for (kind, rate) in OF_NODES.into_iter().zip(&mut node.all) {
                push(-1, "all", kind, rate);
            }
        }
    }
}

impl Observer for RateTrace {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        self.roll(now);
        match *observation {
            Observation::Sent { link, direction, packet } => {
                let channel = Channel::new(link, direction);
                self.count(self.places.sender(channel), channel, 1, packet);
            }
            Observation::Arrived { link, direction, packet } => {
                let channel = Channel::new(link, direction);
                self.count(self.places.receiver(channel), channel.reverse(), 0, packet);
            }
            Observation::Node { node, event } => {
                let what = match event {
                    NodeEvent::PitSatisfied { .. } => 0,
                    NodeEvent::PitExpired { .. } => 1,
                    _ => return,
                };
                if let Some(node) = self.nodes.get_mut(node.0 as usize) {
                    node.all[what].add(0);
                }
            }
            _ => {}
        }
    }
}

impl Recorder for RateTrace {
    fn take(&mut self) -> Vec<Made> {
        vec![self.sheet.take()]
    }

    fn finish(&mut self, now: Instant) -> Vec<Made> {
        self.roll(now);
        self.take()
    }
}
