//! Schedulers of faces: which of the packets that are to leave goes next, and when.
//!
//! A gate stands between the pipelines and the link of a face. Interests and Data pass it, each as part of a flow: the
//! content's name without the segment, and the flow nonce. Nacks are short and overtake. A gate opens when its
//! scheduler says so, and never before the link takes a packet; application faces have none.
//!
//! Source: Udugama et al., hop-by-hop fairness (2013): Interests after the FIB look-up, charged with the Data that they
//! bring back; Data after the PIT match and from the content store.
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::hash::{NameHasher, mix};
use crate::link::{Link, QueueState};
use crate::node::{Node, Output};
use crate::packet::{Hop, Kind, Packet};
use crate::shard::Handed;
use crate::table::PitId;
use recoup_packet::data::Data;
use recoup_packet::lp::field;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_transport::queue::{
    Charge, Discipline, FairScheduler, FlowKey, Refusal, Refused, Scheduling,
};
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// The gates of a node's faces.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// What is to stand at faces, up or not.
    plans: BTreeMap<FaceId, Scheduling>,
    /// What is to stand at all other faces that lead to other machines.
    default: Option<Scheduling>,
    /// At faces that are up, by their numbers.
    gates: Vec<Gate>,
    /// When gates are to be looked at.
    due: BTreeSet<(Instant, FaceId)>,
    /// A face of another worker has, or had, one.
    are_elsewhere: bool,
}

/// The gate of one face.
#[derive(Debug)]
struct Gate {
    face: FaceId,
    discipline: Discipline,
    scheduler: Box<dyn FairScheduler<Packet>>,
    /// As it stands in [`Gates::due`].
    due: Option<Instant>,
}

impl Gates {
    pub(crate) fn new(default: Option<Scheduling>) -> Self {
        Self { default, ..Self::default() }
    }

    /// Whether no face has a gate.
    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.gates.is_empty() && !self.are_elsewhere
    }

    /// Data came by a face that answer Interests of this flow, which are charged with these octets.
    pub(crate) fn answered(&mut self, ingress: FaceId, key: FlowKey, octets: u32) {
        let place = self.place(ingress).ok();
        if let Some(gate) = place.and_then(|place| self.gates.get_mut(place)) {
            gate.scheduler.answered(key, octets);
        }
    }

    /// What waits at the gate of a face, if it has one.
    pub(crate) fn waiting(&self, face: FaceId) -> Option<QueueState> {
        let scheduler = &self.gates.get(self.place(face).ok()?)?.scheduler;
        Some(QueueState { packets: scheduler.packets(), octets: scheduler.octets() })
    }

    /// When the first gate is to be looked at.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// A gate that is to be looked at by now.
    #[inline]
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<FaceId> {
        let (_, face) = self.due.first().copied().filter(|(due, _)| *due <= now)?;
        if let Ok(place) = self.place(face) {
            self.arm(place, None);
        }
        Some(face)
    }

    /// Where the gate of a face is, or would be.
    fn place(&self, face: FaceId) -> Result<usize, usize> {
        self.gates.binary_search_by_key(&face, |gate| gate.face)
    }

    fn arm(&mut self, place: usize, due: Option<Instant>) {
        let Some(gate) = self.gates.get_mut(place) else {
            return;
        };
        if gate.due != due {
            gate.due.map(|before| self.due.remove(&(before, gate.face)));
            due.map(|due| self.due.insert((due, gate.face)));
            gate.due = due;
        }
    }
}

impl Node {
    /// What leaves by a face is scheduled like this from now on.
    pub(crate) fn on_schedule(&mut self, now: Instant, face: FaceId, scheduling: Scheduling) {
        self.gates.plans.insert(face, scheduling);
        if self.faces.get(face).is_some() {
            self.open_gate(now, face);
            self.let_pass(now, face);
        }
    }

    /// A face is up: it gets the gate that it is to have. What waits at one of the same kind stays there; at one of another
    /// kind it is the first to leave the new one.
    pub(crate) fn open_gate(&mut self, now: Instant, face: FaceId) {
        // Applications on this machine take what they are given as fast as they can.
        let is_local = self.faces.get(face).is_some_and(|face| face.attributes.local);
        let default = self.gates.default.filter(|_| !is_local);
        let plan = self.gates.plans.get(&face).copied().or(default);
        let Some(Scheduling { discipline, capacity }) = plan else {
            return;
        };
        if self.faces.elsewhere(face).is_some() {
            self.gates.are_elsewhere = true;
            return;
        }
        let place = match self.gates.place(face) {
            Ok(place) => place,
            Err(place) => {
                let scheduler = discipline.build(capacity);
                let gate = Gate { face, discipline, scheduler, due: None };
                return self.gates.gates.insert(place, gate);
            }
        };
        let Some(gate) = self.gates.gates.get_mut(place) else {
            return;
        };
        if gate.discipline == discipline {
            return gate.scheduler.set_capacity(capacity);
        }
        let mut before = std::mem::replace(&mut gate.scheduler, discipline.build(capacity));
        gate.discipline = discipline;
        let mut lost = Vec::new();
        while let Some(packet) = before.evict() {
            let key = FlowKey { group: face.0, flow: 0 };
            let moved = gate.scheduler.enqueue(now, key, Charge::Itself, packet);
            lost.extend(moved.err().map(|refused| refused.item));
        }
        for packet in lost {
            self.discard_packet(face, packet, DropReason::QueueFull);
        }
    }

    /// A face is gone, and what waited at its gate with it.
    pub(crate) fn close_gate(&mut self, face: FaceId) {
        let Ok(place) = self.gates.place(face) else {
            return;
        };
        self.gates.arm(place, None);
        let mut gate = self.gates.gates.remove(place);
        while let Some(packet) = gate.scheduler.evict() {
            self.discard_packet(face, packet, DropReason::NoFace);
        }
    }

    /// An Interest or Data is to leave by a face, on behalf of the neighbour at `group`; `content` is what it is part of.
    pub(crate) fn schedule(
        &mut self,
        now: Instant,
        id: FaceId,
        (group, content): (FaceId, u64),
        packet: Packet,
    ) {
        if self.gates.are_elsewhere
            && let Some(worker) = self.faces.elsewhere(id)
        {
            return self.hand(worker, Handed::Leaves { face: id, group: Some(group), packet });
        }
        let place = self.gates.place(id).ok();
        let gate = place.and_then(|place| self.gates.gates.get_mut(place));
        let (Some(gate), Some(face)) = (gate, self.faces.get_mut(id)) else {
            return self.transmit(now, id, packet);
        };
        let charge = match packet.kind() {
            Kind::Interest => Charge::Answer,
            Kind::Data | Kind::Nack | Kind::Idle => Charge::Itself,
        };
        let flow = flow(&self.hasher, content, nonce_of(&packet.hop));
        let key = FlowKey { group: group.0, flow };
        let takes_it = match &face.link {
            Link::Wire(_) | Link::Elsewhere(_) => true,
            Link::Value(link) => link.is_ready(now),
        };
        let offered = match takes_it {
            true => gate.scheduler.offer(now, key, charge, packet),
            false => gate.scheduler.enqueue(now, key, charge, packet).map(|()| None),
        };
        match offered {
            Ok(Some(packet)) => {
                face.link.set_gated(gate.scheduler.octets());
                self.transmit(now, id, packet);
            }
            Ok(None) => {
                self.let_pass(now, id);
                self.say_queued(id);
            }
            Err(Refused { item, why }) => self.discard_packet(id, item, reason(why)),
        }
    }

    /// Lets everything pass the gate of a face that may, as long as the link takes it.
    pub(crate) fn let_pass(&mut self, now: Instant, id: FaceId) {
        let Ok(place) = self.gates.place(id) else {
            return;
        };
        loop {
            let (Some(gate), Some(face)) =
                (self.gates.gates.get_mut(place), self.faces.get_mut(id))
            else {
                return;
            };
            if let Link::Value(link) = &mut face.link
                && !link.is_ready(now)
            {
                if gate.scheduler.packets() > 0 && link.ask() {
                    self.outbox.outputs.push_back(Output::Wants { face: id });
                }
                return self.gates.arm(place, None);
            }
            let Some(packet) = gate.scheduler.dequeue(now) else {
                let due = gate.scheduler.deadline();
                return self.gates.arm(place, due);
            };
            let is_last = gate.scheduler.packets() == 0;
            face.link.set_gated(gate.scheduler.octets());
            self.transmit(now, id, packet);
            if is_last {
                return self.gates.arm(place, None);
            }
        }
    }

    fn say_queued(&mut self, face: FaceId) {
        if self.outbox.observes()
            && let Some(QueueState { packets, octets }) = self.gates.waiting(face)
            && packets > 0
        {
            let (packets, octets) = (packets as u32, octets as u32);
            self.outbox.event(NodeEvent::Queued { face, packets, octets });
        }
    }

    /// Data of this content came by `ingress` and answers who asks at `asker`: Interests of this flow are charged with its
    /// octets.
    pub(crate) fn note_answer(
        &mut self,
        ingress: FaceId,
        asker: FaceId,
        (content, nonce): (u64, Option<u64>),
        came: &Hop,
    ) {
        let is_here = self.gates.place(ingress).is_ok();
        let elsewhere = match !is_here && self.gates.are_elsewhere {
            true => self.faces.elsewhere(ingress),
            false => None,
        };
        if !is_here && elsewhere.is_none() {
            return;
        }
        let key = FlowKey { group: asker.0, flow: flow(&self.hasher, content, nonce) };
        let octets = came.link_octets();
        match elsewhere {
            Some(worker) => self.hand(worker, Handed::Answered { face: ingress, key, octets }),
            None => self.gates.answered(ingress, key, octets),
        }
    }

    /// The content that an entry's Interest asks for: found once for an exchange.
    pub(crate) fn content_of(&mut self, id: PitId) -> u64 {
        let Self { pit, hasher, .. } = self;
        pit.entry_mut(id).content(|name| content(hasher, name))
    }

    /// The content that Data which answers an entry is part of; nothing where nobody schedules.
    pub(crate) fn content_of_answer(&mut self, id: PitId, data: &Data) -> Option<u64> {
        if self.gates.are_none() {
            return None;
        }
        // Both names are the same if they are as long; an answer may have a longer one.
        let same = self.pit.entry(id).interest().name.len() == data.name().len();
        Some(if same { self.content_of(id) } else { content(&self.hasher, data.name()) })
    }
}

fn nonce_of(hop: &Hop) -> Option<u64> {
    hop.extra.as_ref().and_then(|extra| field::flow_nonce(&extra.carried))
}

/// The hash of a name without its segment.
pub(crate) fn content(hasher: &NameHasher, name: &Name) -> u64 {
    let segment = name.last().filter(|last| Convention::of_segment(last).is_some());
    let end = name.value().len() - segment.map_or(0, |segment| segment.encoded_len());
    hasher.hash(&name.value()[..end])
}

/// Content and originator.
fn flow(hasher: &NameHasher, content: u64, nonce: Option<u64>) -> u64 {
    nonce.map_or(content, |nonce| mix(content ^ hasher.hash(&nonce.to_be_bytes())))
}

fn reason(why: Refusal) -> DropReason {
    match why {
        Refusal::Full => DropReason::QueueFull,
        Refusal::FlowFull => DropReason::FlowFull,
        Refusal::TooManyFlows => DropReason::TooManyFlows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_content_and_originator_whatever_the_segment() {
        let hasher = NameHasher::new(1);
        let of = |name: &str, nonce| flow(&hasher, content(&hasher, &name.parse().unwrap()), nonce);
        assert_eq!(of("/a/v=1/seg=1", None), of("/a/v=1/seg=2", None));
        assert_eq!(of("/a/v=1/seg=1", Some(7)), of("/a/v=1/seg=200", Some(7)));
        assert_eq!(of("/a/v=1/%00%01", None), of("/a/v=1/seg=2", None));
        let others = [of("/a/v=2/seg=1", None), of("/a/v=1/seg=1", Some(8)), of("/a/v=1/b", None)];
        for other in others {
            assert_ne!(of("/a/v=1/seg=1", None), other);
            assert_ne!(of("/a/v=1/seg=1", Some(7)), other);
        }
    }
}
