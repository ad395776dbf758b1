//! State shared by records and metrics: sizes of which observations only report changes, and packets carried by
//! channels.
use super::place::{Channel, ChannelCharge, Places};
use crate::network::NodeId;
use crate::observe::{LossReason, Observation};
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::Packet;
use std::collections::BTreeMap;

/// The queue of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Packets.
    pub(crate) packets: u64,
    /// Their bytes, with link header.
    pub(crate) bytes: u64,
}

/// The queues of all channels: what waits in the node in front of a channel, and in the channel where
/// that has a queue of its own.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    in_front: Vec<Waiting>,
    inside: Vec<Waiting>,
}

impl Queues {
    /// Empty queues.
    pub(crate) fn new(places: &Places) -> Self {
        let channels = places.channels().count();
        let empty = vec![Waiting::default(); channels];
        Self { in_front: empty.clone(), inside: empty }
    }

    /// Takes in an observation; reports changed queues with their lengths.
    pub(crate) fn on(
        &mut self,
        places: &Places,
        observation: &Observation<'_>,
        mut report: impl FnMut(Channel, Waiting),
    ) {
        if let Observation::Fault { number } = *observation {
            for channel in places.failures(number) {
                self.empty(*channel);
                report(*channel, Waiting::default());
            }
        } else if let Some(channel) = self.changed(places, observation) {
            report(channel, self.waiting(channel));
        }
    }

    fn waiting(&self, channel: Channel) -> Waiting {
        let of = |side: &[Waiting]| side.get(channel.index()).copied().unwrap_or_default();
        let (in_front, inside) = (of(&self.in_front), of(&self.inside));
        Waiting { packets: in_front.packets + inside.packets, bytes: in_front.bytes + inside.bytes }
    }

    fn empty(&mut self, channel: Channel) {
        for side in [&mut self.in_front, &mut self.inside] {
            side.get_mut(channel.index()).into_iter().for_each(|it| *it = Waiting::default());
        }
    }

    fn changed(&mut self, places: &Places, observation: &Observation<'_>) -> Option<Channel> {
        match *observation {
            Observation::Node { node, event: NodeEvent::Queued { face, packets, bytes } } => {
                let channel = places.channel(node, face)?;
                let (packets, bytes) = (u64::from(packets), u64::from(bytes));
                *self.in_front.get_mut(channel.index())? = Waiting { packets, bytes };
                Some(channel)
            }
            Observation::Sent { link, direction, packet } => {
                let channel = Channel::new(link, direction);
                self.in_front.get_mut(channel.index())?.remove(packet).then_some(channel)
            }
            Observation::Waiting { link, direction, packets, bytes } => {
                let channel = Channel::new(link, direction);
                let waiting = Waiting { packets, bytes };
                let inside = self.inside.get_mut(channel.index())?;
                (std::mem::replace(inside, waiting) != waiting).then_some(channel)
            }
            _ => None,
        }
    }
}

impl Waiting {
    /// Removes a packet; `false` if the queue was empty, so that it had not been queued.
    fn remove(&mut self, packet: &Packet) -> bool {
        let waited = self.packets > 0;
        if waited {
            self.packets -= 1;
            let bytes = if self.packets == 0 { self.bytes } else { packet.bytes() as u64 };
            self.bytes = self.bytes.saturating_sub(bytes);
        }
        waited
    }
}

/// Pending Interests of each node.
#[derive(Clone, Debug)]
pub(crate) struct Pits {
    entries: Vec<u64>,
}

impl Pits {
    /// No Interest is pending.
    pub(crate) fn new(places: &Places) -> Self {
        Self { entries: vec![0; places.nodes()] }
    }

    /// Takes in an observation; returns the changed node and its pending Interests.
    pub(crate) fn on(
        &mut self,
        places: &Places,
        observation: &Observation<'_>,
    ) -> Option<(NodeId, u64)> {
        let (node, change) = match *observation {
            Observation::Node { node, event: NodeEvent::PitInserted { .. } } => (node, Some(true)),
            Observation::Node {
                node,
                event:
                    NodeEvent::PitSatisfied { .. }
                    | NodeEvent::PitExpired { .. }
                    | NodeEvent::PitAbandoned { .. },
            } => (node, Some(false)),
            Observation::Fault { number } => (places.crash(number)?, None),
            _ => return None,
        };
        let entries = self.entries.get_mut(node.0 as usize)?;
        *entries = match change {
            Some(true) => *entries + 1,
            Some(false) => entries.saturating_sub(1),
            None => 0,
        };
        Some((node, *entries))
    }
}

/// Packets carried by each channel.
#[derive(Clone, Debug)]
pub(crate) struct Carriage {
    channels: Vec<Carried>,
}

/// Packets that a channel carried and lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    /// Charge of the channel.
    pub(crate) charge: Option<ChannelCharge>,
    /// Packets handed to it.
    pub(crate) packets: u64,
    /// Their bytes, with link header.
    pub(crate) bytes: u64,
    /// Time for which its rate was taken up by them.
    pub(crate) busy_s: f64,
    /// Lost packets.
    pub(crate) lost: BTreeMap<LossReason, u64>,
}

impl Carriage {
    /// Empty counts.
    pub(crate) fn new(places: &Places) -> Self {
        let carried = |channel| Carried { charge: places.charge(channel), ..Carried::default() };
        Self { channels: places.channels().map(carried).collect() }
    }

    /// The counts of each channel, in the order of [`Channel::index`].
    pub(crate) fn all(&self) -> &[Carried] {
        &self.channels
    }

    /// The counts of each channel, to be reset.
    pub(crate) fn all_mut(&mut self) -> &mut [Carried] {
        &mut self.channels
    }

    /// Takes in an observation.
    pub(crate) fn on(&mut self, places: &Places, observation: &Observation<'_>) {
        let (link, direction) = match *observation {
            Observation::Sent { link, direction, .. }
            | Observation::Doubled { link, direction, .. }
            | Observation::Lost { link, direction, .. } => (link, direction),
            Observation::Fault { number } => return self.on_fault(places, number),
            _ => return,
        };
        let Some(carried) = self.channels.get_mut(Channel::new(link, direction).index()) else {
            return;
        };
        match *observation {
            Observation::Sent { packet, .. } => carried.on_sent(packet),
            Observation::Doubled { packet, .. } => carried.on_doubled(packet),
            Observation::Lost { packet, reason, .. } => carried.on_lost(packet, reason),
            _ => {}
        }
    }

    fn on_fault(&mut self, places: &Places, number: usize) {
        if let Some((channel, charge)) = places.change(number)
            && let Some(carried) = self.channels.get_mut(channel.index())
        {
            carried.charge = Some(charge);
        }
    }
}

impl Carried {
    /// Share of so many seconds for which the rate was taken up; `None` without a rate.
    pub(crate) fn utilisation(&self, seconds: f64) -> Option<f64> {
        let has_rate = self.charge.is_some_and(|charge| charge.rate_bits > 0);
        (has_rate && seconds > 0.0).then(|| self.busy_s / seconds)
    }

    /// Share lost of the packets that were neither rejected nor given up because an end was gone; `None` without
    /// packets.
    pub(crate) fn residual_loss(&self) -> Option<f64> {
        let count = |reason| self.lost.get(&reason).copied().unwrap_or(0);
        let (lost, full, down) =
            (count(LossReason::Model), count(LossReason::QueueFull), count(LossReason::Down));
        let taken = self.packets.saturating_sub(full + down);
        (taken > 0).then(|| lost as f64 / taken as f64)
    }

    /// Adds what another channel carried and lost.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.busy_s += other.busy_s;
        for (reason, count) in &other.lost {
            *self.lost.entry(*reason).or_default() += count;
        }
    }

    fn on_sent(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += packet.bytes() as u64;
        self.busy_s += self.seconds(packet);
    }

    /// The copy takes up the rate only where the rate comes last.
    fn on_doubled(&mut self, packet: &Packet) {
        if self.rate_comes_last() {
            self.busy_s += self.seconds(packet);
        }
    }

    /// A lost packet has taken up the rate, unless the rate comes last or the queue rejected it.
    fn on_lost(&mut self, packet: &Packet, reason: LossReason) {
        *self.lost.entry(reason).or_default() += 1;
        if self.rate_comes_last() || reason == LossReason::QueueFull {
            self.busy_s -= self.seconds(packet);
        }
    }

    fn rate_comes_last(&self) -> bool {
        self.charge.is_some_and(|charge| charge.rate_comes_last)
    }

    fn seconds(&self, packet: &Packet) -> f64 {
        self.charge.map_or(0.0, |charge| charge.seconds(packet))
    }
}
