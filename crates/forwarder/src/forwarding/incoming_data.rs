//! Incoming Data.
//!
//! Source: NFD, `Forwarder::onIncomingData`.
//!
//! Differences: entries are removed at once, not when their timer expires at the same instant. Data of an application
//! answers the one pending Interest that the application names, without a look-up. A congestion mark of the Data is
//! forwarded with it, but never stored.
use super::edge::FlowPart;
use super::mobility;
use super::{Edge, Forwarder};
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{FaceId, LinkType};
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Hop, Kind};
use crate::strategy::{FaceFacts, Faces, Scope};
use crate::table::PitId;
use crate::table::policy::CopyDown;
use recoup_packet::data::{ContentType, Data};
use recoup_packet::lp::field;
use recoup_transport::application::{Asked, ReturnPath};
use recoup_transport::time::Instant;

impl<E: Edge> Forwarder<E> {
    #[inline]
    pub(super) fn incoming_data(
        &mut self,
        now: Instant,
        ingress: FaceId,
        facts: FaceFacts,
        data: Data,
        mut hop: Hop,
    ) {
        if !facts.local && Scope::of_value(data.name_value()) == Scope::Localhost {
            return self.edge.out().drop_hop(ingress, Kind::Data, &hop, DropReason::Scope);
        }
        self.settle_record(now, &mut hop);
        let mut found = std::mem::take(&mut self.found);
        self.pit.matches(&data, hop.name_hash, &mut found);
        match found.split_last() {
            None => self.data_unsolicited(now, ingress, data, hop),
            Some((last, others)) => {
                let is_kept = self.store(now, &data, &mut hop);
                for id in others {
                    self.satisfy(now, *id, ingress, data.clone(), &hop, is_kept);
                }
                self.satisfy(now, *last, ingress, data, &hop, is_kept);
            }
        }
        self.found = found;
    }

    /// Handles an answer of an application, or of the management, whose answers are not cached.
    pub(crate) fn answer(&mut self, now: Instant, from: FaceId, data: Data, path: ReturnPath) {
        let bytes = data.encoded_len() as u32;
        let waiting = self.pit.by_ticket(path.0).filter(|id| {
            let entry = self.pit.entry(*id);
            entry.out_record(from).is_some() && entry.interest().is_satisfied_by(&data)
        });
        let Some(id) = waiting else {
            let hop = Hop::bare(self.hasher.hash(data.name_value()), bytes);
            return self.data_unsolicited(now, from, data, hop);
        };
        let entry = self.pit.entry(id);
        let same = entry.interest().name.len() == data.name().len();
        let hash = if same { entry.hash() } else { self.hasher.hash(data.name_value()) };
        let mut hop = Hop::bare(hash, bytes);
        let observer = &mut self.edge.out().observer;
        let trace = observer.answered(id, from);
        observer.attach(&mut hop, trace);
        let returned_fields = self.take_returned_fields(id);
        self.send_back(&returned_fields, true, &mut hop);
        let mut is_kept = false;
        if from != FaceId::MANAGEMENT {
            self.add_provider_id(&mut hop);
            is_kept = self.store(now, &data, &mut hop);
        }
        self.satisfy(now, id, from, data, &hop, is_kept);
    }

    /// Offers Data to the content store, unless it forbids that; returns whether the content store answers with it
    /// from now on. If no node downstream is to store it, too, the Data is marked. An application Nack is not stored: it
    /// reports what one producer lacks now, while the store answers with it for as long as it has room.
    #[inline]
    pub(super) fn store(&mut self, now: Instant, data: &Data, hop: &mut Hop) -> bool {
        if self.cs.is_off() || hop.extra.as_ref().is_some_and(|extra| extra.no_cache) {
            return false;
        }
        if data.content_type() == ContentType::Nack {
            return false;
        }
        let Some(evicted) = self.cs.insert(now, data.clone(), hop.name_hash) else {
            return false;
        };
        if evicted > 0 {
            self.memory.recycle_data(self.cs.take_gone());
            self.edge.out().event(NodeEvent::CsEvicted { packets: evicted as u32 });
        }
        if self.cs.copy_down() != CopyDown::Off {
            hop.extra_mut().no_cache = true;
        }
        self.cs.serves()
    }

    /// Satisfies one pending Interest; `is_kept` if the content store answers with the Data from now on.
    fn satisfy(
        &mut self,
        now: Instant,
        id: PitId,
        ingress: FaceId,
        data: Data,
        came: &Hop,
        is_kept: bool,
    ) {
        let hash = self.pit.entry(id).hash();
        self.record_round_trip(now, id, ingress);
        self.edge.out().event(NodeEvent::PitSatisfied { hash });
        self.notify_strategy(now, id, |strategy, context, entry| {
            strategy.before_satisfy(context, entry, ingress);
        });
        self.learn_soft_timeout(now, id, ingress);
        let ending = self.ending(id, &data, is_kept);
        let reduction = self.reduction(id);
        let Outbox { observer, outputs } = self.edge.out();
        let common = observer.satisfied(id, self.pit.entry(id), came, outputs);
        let content = self.content_of_answer(id, &data);
        let asked = Asked::of(self.pit.entry(id).interest());
        let waiting = self.pit.entry(id).ins().len();
        let (mut place, mut left) = (0, Some(data));
        while let Some(record) = self.pit.entry_mut(id).ins_mut().get_mut(place) {
            place += 1;
            let (face, waits, slots) = (record.face, record.expiry > now, record.slots);
            let rare = record.rare.take();
            if self.faces.is_counting() {
                self.faces.release_slots(face, slots);
            }
            let nonce = rare.as_ref().and_then(|rare| rare.flow_nonce);
            let token = rare.and_then(|rare| rare.pit_token);
            let Outbox { observer, outputs } = self.edge.out();
            let trace = observer.data_for(id, face, came, &common, outputs);
            if let Some(content) = content {
                let flow = FlowPart { neighbour: face, content };
                self.edge.answered(ingress, flow, nonce, came);
            }
            // The last downstream gets the Data itself, the others share it.
            let data = if place == waiting { left.take() } else { left.clone() };
            let Some(data) = data.filter(|_| waits && self.may_go_to(face, ingress)) else {
                self.edge.out().trace_dropped(trace);
                continue;
            };
            let mut hop = onward(came, nonce.filter(|_| face.app().is_none()));
            if self.cs.copy_down() != CopyDown::Off
                && came.extra.as_ref().is_some_and(|extra| extra.no_cache)
            {
                hop.extra_mut().no_cache = true;
            }
            self.edge.out().observer.attach(&mut hop, trace);
            if let Some(by) = reduction {
                mobility::prolong(&mut hop.extra_mut().carried, by);
            }
            if token.is_some() {
                hop.extra_mut().pit_token = token;
            }
            if self.edge.recovers(face) {
                hop.note_lifetime(self.pit.entry(id).interest());
            }
            if self.faces.has_local_fields(face) {
                hop.extra_mut().incoming = Some(ingress);
            }
            self.outgoing_data(now, face, data, hop, content, Some(asked));
        }
        // These writes wait for memory; the copies above would otherwise wait for them.
        self.remember_nonces(now, id, ending);
        self.end_entry(id);
    }

    /// Records the round-trip time of an Interest sent to `upstream`.
    #[inline]
    fn record_round_trip(&mut self, now: Instant, id: PitId, upstream: FaceId) {
        self.counters.satisfied += 1;
        if let Some(record) = self.pit.entry(id).out_record(upstream) {
            self.counters.round_trips.add(now.since(record.sent));
        }
    }

    /// Data does not return by its ingress face, except on ad-hoc links.
    #[inline]
    fn may_go_to(&self, egress: FaceId, ingress: FaceId) -> bool {
        egress != ingress
            || self.faces.facts(ingress).is_some_and(|it| it.link_type == LinkType::AdHoc)
    }
}

/// Link fields for the next hop: the mark, forwarded fields, and the flow nonce of the downstream. The cache policy
/// is for this node alone, as in NFD, unless the admission policy forwards it.
#[inline]
fn onward(came: &Hop, flow_nonce: Option<u64>) -> Hop {
    let mut hop = came.onward();
    if let Some(extra) = &came.extra {
        if !extra.carried.is_empty() {
            hop.extra_mut().carried.clone_from(&extra.carried);
        }
        if extra.provider.is_some() {
            hop.extra_mut().provider = extra.provider;
        }
    }
    match flow_nonce {
        Some(nonce) => field::set_flow_nonce(&mut hop.extra_mut().carried, nonce),
        None => {
            hop.extra.as_mut().and_then(|extra| extra.carried.take(field::FLOW_NONCE));
        }
    }
    hop
}
