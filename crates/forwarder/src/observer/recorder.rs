//! The simulator's observer: it records events, and follows first transmissions until their fate is known, to detect
//! spurious timeouts.
//!
//! Source: the spurious timeouts (B) of Nikzad et al. (2022). Each Interest of an application gets an id, a *token*,
//! which all descendants of the Interest carry. Events report changes of tokens. An observer of all nodes counts the
//! copies of each (1 at its birth, more with `TraceCopied`, less with each other event). It knows the fate of a token
//! once none is left:
//!
//! - an Interest sent to n faces takes its tokens along to each (`TraceCopied` with n − 1);
//! - an Interest that is aggregated leaves its tokens with its face;
//! - Data from the content store takes them over, and Data from a producer those of the Interest that it answers;
//! - Data that answers a pending Interest takes along to a face those of its tokens that came by that face, and those
//!   left there; at the application they are delivered;
//! - tokens end with packets that are dropped and with Interests that expire or are rejected;
//! - tokens of Data whose Interest was answered by an earlier copy are superseded: they count as delivered.
//!
//! Differences: a token of Data may have come by none of the downstream faces (its own pending Interest has expired,
//! but the consumer has retransmitted). It goes to all of them, and only its own consumer counts it. All Interests of
//! an application get ids, retransmissions too; an observer of first transmissions ignores the others. An Interest
//! sent to another next hop after a Nack has no tokens: they ended where the Nack began.
use super::Observer;
use crate::event::NodeEvent;
use crate::face::{AppId, FaceId};
use crate::message::Output;
use crate::packet::{Hop, Packet};
use crate::table::{PitEntry, PitId};
use crate::trace::Trace;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most tokens remembered after their pending Interest was answered; the oldest are forgotten.
const ANSWERED: usize = 1 << 16;

/// Records events as [`Output::Event`], and follows tokens if ids are assigned.
#[derive(Debug, Default)]
pub struct Recorder {
    records: bool,
    next: Option<u64>,
    /// Tokens that passed an answered Interest, and of which copies may still arrive.
    answered: BTreeSet<u64>,
    order: VecDeque<u64>,
    /// Tokens of Interests that applications of this node, or its management, have not answered.
    delivered: BTreeMap<(PitId, FaceId), Trace>,
    /// Tokens of pending Interests, by their ingress face.
    pending: BTreeMap<(PitId, FaceId), Pending>,
}

/// Tokens of the Interests that came by one face for one entry.
#[derive(Debug, Default)]
struct Pending {
    /// Tokens of aggregated Interests.
    waiting: Trace,
    /// Tokens whose Interest was forwarded.
    forwarded: Trace,
}

impl Recorder {
    /// An observer that records events if `records`. Interests of the node's applications get ids from `first_id` on;
    /// the ids of all nodes of a simulation must differ. `None`: no ids.
    #[must_use]
    pub fn new(records: bool, first_id: Option<u64>) -> Self {
        Self { records, next: first_id, ..Self::default() }
    }

    #[inline]
    fn record(&self, event: NodeEvent, out: &mut VecDeque<Output>) {
        if self.records {
            out.push_back(Output::Event(event));
        }
    }

    fn note_answered(&mut self, id: u64) {
        if !self.answered.insert(id) {
            return;
        }
        self.order.push_back(id);
        if self.order.len() > ANSWERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.answered.remove(&oldest);
        }
    }

    /// Whether tokens are followed.
    #[inline]
    fn follows(&self, trace: &Trace) -> bool {
        self.next.is_some() || !trace.is_empty() || !self.delivered.is_empty()
    }

    fn dies(&self, trace: &Trace, out: &mut VecDeque<Output>) {
        for id in trace.ids() {
            self.record(NodeEvent::TraceDied { id: *id }, out);
        }
    }

    /// Adds `more` to `tokens`; of a token in both, one copy ends here (a channel had duplicated it).
    fn join(&self, tokens: &mut Trace, more: Trace, out: &mut VecDeque<Output>) {
        self.dies(&common(tokens, &more), out);
        tokens.merge(more);
    }

    fn copied(&self, trace: &Trace, copies: usize, out: &mut VecDeque<Output>) {
        for id in trace.ids().iter().filter(|_| copies > 0) {
            self.record(NodeEvent::TraceCopied { id: *id, copies: copies as u32 }, out);
        }
    }

    /// Handles tokens of unsolicited Data: an earlier copy has answered, or the Interest has expired.
    fn late(&self, trace: &Trace, out: &mut VecDeque<Output>) {
        for id in trace.ids().iter().copied() {
            let event = match self.answered.contains(&id) {
                true => NodeEvent::TraceSuperseded { id },
                false => NodeEvent::TraceDied { id },
            };
            self.record(event, out);
        }
    }

    /// Leaves tokens with a pending Interest that goes to `copies` faces.
    fn leave(
        &mut self,
        id: PitId,
        ingress: FaceId,
        trace: &Trace,
        copies: usize,
        out: &mut VecDeque<Output>,
    ) {
        self.copied(trace, copies.saturating_sub(1), out);
        let mut pending = self.pending.remove(&(id, ingress)).unwrap_or_default();
        if copies > 0 {
            pending.forwarded.merge(trace.split());
        } else {
            self.join(&mut pending.waiting, trace.split(), out);
        }
        self.pending.insert((id, ingress), pending);
    }

    /// Returns tokens that came by no downstream face, which go to all of them; those whose Interest had been
    /// answered before are superseded.
    fn strays(
        &mut self,
        id: PitId,
        entry: &PitEntry,
        brought: &Trace,
        out: &mut VecDeque<Output>,
    ) -> Trace {
        let mut strays = Trace::new();
        let several = entry.outs().len() > 1;
        let faces = || entry.ins().iter().map(|record| record.face);
        let mut late = Trace::new();
        for token in brought.ids().iter().copied() {
            if faces().any(|face| self.forwarded(id, face).contains(&token)) {
                continue;
            }
            let known = self.answered.contains(&token);
            if known { late.merge(Trace::of(token)) } else { strays.merge(Trace::of(token)) }
        }
        for face in faces() {
            for token in self.forwarded(id, face).to_vec() {
                if several || !brought.ids().contains(&token) {
                    self.note_answered(token);
                }
            }
        }
        self.late(&late, out);
        // Answers of other applications with the Interest will be unsolicited.
        while let Some(tokens) = self.unanswered(id) {
            for id in tokens.ids().iter().copied() {
                self.record(NodeEvent::TraceSuperseded { id }, out);
            }
        }
        self.copied(&strays, entry.ins().len().saturating_sub(1), out);
        strays
    }

    /// The tokens that Data takes along to a face.
    fn tokens_for(
        &mut self,
        id: PitId,
        face: FaceId,
        came: &Hop,
        strays: &Trace,
        out: &mut VecDeque<Output>,
    ) -> Trace {
        let Pending { mut waiting, forwarded } =
            self.pending.remove(&(id, face)).unwrap_or_default();
        self.join(&mut waiting, common(came.trace(), &forwarded), out);
        self.join(&mut waiting, strays.split(), out);
        waiting
    }

    /// The tokens of one application that has an Interest of an entry and has not answered it.
    fn unanswered(&mut self, id: PitId) -> Option<Trace> {
        let mut of_entry = self.delivered.range((id, FaceId(0))..=(id, FaceId(u32::MAX)));
        let key = *of_entry.next()?.0;
        self.delivered.remove(&key)
    }

    fn forwarded(&self, id: PitId, face: FaceId) -> &[u64] {
        self.pending.get(&(id, face)).map_or(&[], |pending| pending.forwarded.ids())
    }
}

impl Observer for Recorder {
    type Trace = Trace;

    #[inline]
    fn event(&mut self, event: NodeEvent, out: &mut VecDeque<Output>) {
        self.record(event, out);
    }

    #[inline]
    fn is_recording(&self) -> bool {
        self.records
    }

    fn interest_sent(&mut self, app: AppId, packet: &mut Packet, out: &mut VecDeque<Output>) {
        if let Some(id) = self.next {
            self.next = Some(id + 1);
            self.attach(&mut packet.hop, Trace::of(id));
            let hash = packet.hop.name_hash;
            self.record(NodeEvent::TraceBorn { id, app, hash }, out);
        }
    }

    #[inline]
    fn packet_dropped(&mut self, hop: &Hop, out: &mut VecDeque<Output>) {
        self.dies(hop.trace(), out);
    }

    fn packet_resent(&mut self, packet: &Packet, out: &mut VecDeque<Output>) {
        self.copied(packet.trace(), 1, out);
    }

    #[inline]
    fn data_delivered(&mut self, app: AppId, hop: &Hop, out: &mut VecDeque<Output>) {
        for id in hop.trace().ids() {
            self.record(NodeEvent::TraceDelivered { id: *id, app }, out);
        }
    }

    #[inline]
    fn take(&mut self, hop: &mut Hop) -> Trace {
        hop.extra.as_mut().map(|extra| extra.trace.take()).unwrap_or_default()
    }

    #[inline]
    fn attach(&mut self, hop: &mut Hop, trace: Trace) {
        if !trace.is_empty() {
            hop.extra_mut().trace.merge(trace);
        }
    }

    #[inline]
    fn trace_dropped(&mut self, trace: Trace, out: &mut VecDeque<Output>) {
        self.dies(&trace, out);
    }

    #[inline]
    fn interest_pending(
        &mut self,
        id: PitId,
        ingress: FaceId,
        trace: &Trace,
        copies: usize,
        out: &mut VecDeque<Output>,
    ) {
        if !trace.is_empty() {
            self.leave(id, ingress, trace, copies, out);
        }
    }

    #[inline]
    fn interest_delivered(
        &mut self,
        id: PitId,
        face: FaceId,
        trace: Trace,
        out: &mut VecDeque<Output>,
    ) {
        if !trace.is_empty() {
            let mut all = self.answered(id, face);
            self.join(&mut all, trace, out);
            self.delivered.insert((id, face), all);
        }
    }

    #[inline]
    fn answered(&mut self, id: PitId, face: FaceId) -> Trace {
        match self.delivered.is_empty() {
            true => Trace::new(),
            false => self.delivered.remove(&(id, face)).unwrap_or_default(),
        }
    }

    fn data_unsolicited(&mut self, trace: Trace, out: &mut VecDeque<Output>) {
        self.late(&trace, out);
    }

    #[inline]
    fn satisfied(
        &mut self,
        id: PitId,
        entry: &PitEntry,
        came: &Hop,
        out: &mut VecDeque<Output>,
    ) -> Trace {
        match self.follows(came.trace()) {
            true => self.strays(id, entry, came.trace(), out),
            false => Trace::new(),
        }
    }

    #[inline]
    fn data_for(
        &mut self,
        id: PitId,
        face: FaceId,
        came: &Hop,
        strays: &Trace,
        out: &mut VecDeque<Output>,
    ) -> Trace {
        // Without ids there is nothing to follow.
        match self.pending.is_empty() && strays.is_empty() {
            true => Trace::new(),
            false => self.tokens_for(id, face, came, strays, out),
        }
    }

    fn waiting_ended(&mut self, id: PitId, face: FaceId, out: &mut VecDeque<Output>) {
        if let Some(pending) = self.pending.remove(&(id, face)) {
            self.dies(&pending.waiting, out);
        }
    }

    fn interest_ended(&mut self, id: PitId, entry: &PitEntry, out: &mut VecDeque<Output>) {
        let mut dead = Trace::new();
        for record in entry.ins() {
            if let Some(pending) = self.pending.remove(&(id, record.face)) {
                dead.merge(pending.waiting);
            }
        }
        self.dies(&dead, out);
        while let Some(tokens) = self.unanswered(id) {
            self.dies(&tokens, out);
        }
    }
}

/// The tokens in both traces.
fn common(one: &Trace, other: &Trace) -> Trace {
    match (one.ids(), other.ids()) {
        ([], _) | (_, []) => Trace::new(),
        (_, [id]) if one.ids().contains(id) => Trace::of(*id),
        (_, [_]) => Trace::new(),
        _ => one.shared_with(other),
    }
}
