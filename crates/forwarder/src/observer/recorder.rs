//! Following first transmissions until their fate is known: was a timeout necessary?
//!
//! Source: our own, for the needless timeouts (B) of Nikzad et al. (2022). Each Interest of an application gets an id,
//! a *token*, which travels with whatever descends from it. What happens to tokens is told as events; whoever observes
//! all nodes keeps the number of copies of each (1 at its birth, more with `TraceCopied`, less with each other event)
//! and knows its fate once none is left:
//!
//! - an Interest that goes to n faces takes its tokens along to each (`TraceCopied` with n − 1);
//! - an Interest that joins a pending one leaves its tokens in its in-record;
//! - Data from the content store takes them over, and Data from a producer those that it was asked with;
//! - Data that answers a pending Interest takes along to a face those of its tokens that came by that face, and those
//!   left there; at the application that waits they are delivered;
//! - tokens die with packets that are dropped and with in-records that expire or are refused;
//! - tokens of Data that finds its Interest answered by an earlier copy are superseded: they count as delivered.
//!
//! Differences: a token of Data that came by none of the faces that wait (its own pending Interest has expired, but the
//! consumer has asked again) goes to all of them, and only the consumer that it belongs to may count it. All
//! Interests of an application get ids, retransmissions too; who wants to know of first ones only ignores the others.
//! What a node sends by another way after a Nack has no tokens: they died where the Nack began.
use crate::event::NodeEvent;
use crate::face::{AppId, FaceId};
use crate::node::Node;
use crate::packet::{Hop, Packet};
use crate::table::PitId;
use crate::trace::Trace;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Tokens remembered after their pending Interest was answered; the oldest are forgotten.
const ANSWERED: usize = 1 << 16;

/// What a node knows of tokens.
#[derive(Debug)]
pub(crate) struct Oracle {
    next: Option<u64>,
    /// Tokens that passed a pending Interest which was answered, but of which copies may still come.
    answered: BTreeSet<u64>,
    order: VecDeque<u64>,
    /// Tokens with which applications of this node, or its management, were asked and have not answered.
    asked: BTreeMap<(PitId, FaceId), Trace>,
}

impl Oracle {
    pub(crate) fn new(first: Option<u64>) -> Self {
        let (answered, order) = (BTreeSet::new(), VecDeque::new());
        Self { next: first, answered, order, asked: BTreeMap::new() }
    }

    fn is_on(&self) -> bool {
        self.next.is_some()
    }

    fn born(&mut self) -> Option<u64> {
        let id = self.next?;
        self.next = Some(id + 1);
        Some(id)
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
}

impl Hop {
    /// Takes the tokens out.
    #[inline]
    pub(crate) fn take_trace(&mut self) -> Trace {
        self.trace.take()
    }

    /// Puts tokens in.
    #[inline]
    pub(crate) fn add_trace(&mut self, trace: Trace) {
        self.trace.merge(trace);
    }
}

impl Node {
    /// Whether tokens are followed: without, there is nothing to be told of them.
    fn is_followed(&self, trace: &Trace) -> bool {
        self.oracle.is_on() || !trace.is_empty() || !self.oracle.asked.is_empty()
    }

    /// An application asks.
    pub(crate) fn trace_born(&mut self, app: AppId, packet: &mut Packet) {
        if let Some(id) = self.oracle.born() {
            packet.hop.add_trace(Trace::of(id));
            let hash = packet.hop.name_hash;
            self.outbox.event(NodeEvent::TraceBorn { id, app, hash });
        }
    }

    pub(crate) fn trace_dies(&mut self, trace: &Trace) {
        for id in trace.ids() {
            self.outbox.event(NodeEvent::TraceDied { id: *id });
        }
    }

    /// Puts `more` together with `tokens`; of what is in both, one copy ends here (a channel had doubled it).
    pub(crate) fn trace_joins(&mut self, tokens: &mut Trace, more: Trace) {
        self.trace_dies(&common(tokens, &more));
        tokens.merge(more);
    }

    pub(crate) fn trace_is_copied(&mut self, trace: &Trace, copies: usize) {
        for id in trace.ids().iter().filter(|_| copies > 0) {
            self.outbox.event(NodeEvent::TraceCopied { id: *id, copies: copies as u32 });
        }
    }

    pub(crate) fn trace_is_delivered(&mut self, app: AppId, trace: &Trace) {
        for id in trace.ids() {
            self.outbox.event(NodeEvent::TraceDelivered { id: *id, app });
        }
    }

    /// Data came that nobody waits for: an earlier copy has answered, or the Interest has expired.
    pub(crate) fn trace_is_late(&mut self, trace: &Trace) {
        for id in trace.ids().iter().copied() {
            let answered = self.oracle.answered.contains(&id);
            self.outbox.event(match answered {
                true => NodeEvent::TraceSuperseded { id },
                false => NodeEvent::TraceDied { id },
            });
        }
    }

    /// What becomes of the tokens `brought` by Data that answers a pending Interest: those that came by no face which
    /// waits are handed out, to go to all of them; those whose Interest had been answered before are superseded.
    pub(crate) fn trace_answers(&mut self, id: PitId, brought: &Trace) -> Trace {
        let mut strays = Trace::new();
        if !self.is_followed(brought) {
            return strays;
        }
        let entry = self.pit.entry(id);
        let several = entry.outs().len() > 1;
        let passed = |token: u64| entry.ins().iter().any(|it| it.passed().ids().contains(&token));
        let mut late = Trace::new();
        for token in brought.ids().iter().copied().filter(|token| !passed(*token)) {
            let known = self.oracle.answered.contains(&token);
            if known { late.merge(Trace::of(token)) } else { strays.merge(Trace::of(token)) }
        }
        for token in entry.ins().iter().flat_map(|record| record.passed().ids()) {
            if several || !brought.ids().contains(token) {
                self.oracle.note_answered(*token);
            }
        }
        self.trace_is_late(&late);
        // Applications that were asked, too, will find that they have been forestalled.
        while let Some(tokens) = self.trace_of_silent(id) {
            for id in tokens.ids().iter().copied() {
                self.outbox.event(NodeEvent::TraceSuperseded { id });
            }
        }
        strays
    }

    /// An application is asked, or the management: the tokens stay with it until it answers or the entry ends.
    pub(crate) fn trace_asks(&mut self, id: PitId, face: FaceId, tokens: Trace) {
        if tokens.is_empty() {
            return;
        }
        let mut with = self.trace_of_answer(id, face);
        self.trace_joins(&mut with, tokens);
        self.oracle.asked.insert((id, face), with);
    }

    /// The tokens that an application takes over with its answer: all that it was asked with.
    pub(crate) fn trace_of_answer(&mut self, id: PitId, from: FaceId) -> Trace {
        self.oracle.asked.remove(&(id, from)).unwrap_or_default()
    }

    /// The tokens of one application that was asked and has not answered; none if there is no more of them.
    pub(crate) fn trace_of_silent(&mut self, id: PitId) -> Option<Trace> {
        let mut silent = self.oracle.asked.range((id, FaceId(0))..=(id, FaceId(u32::MAX)));
        let place = *silent.next()?.0;
        self.oracle.asked.remove(&place)
    }
}

/// The tokens that are in both, for example of those that Data brought those that came by a face.
pub(crate) fn common(one: &Trace, other: &Trace) -> Trace {
    match (one.ids(), other.ids()) {
        ([], _) | (_, []) => Trace::new(),
        (_, [id]) if one.ids().contains(id) => Trace::of(*id),
        (_, [_]) => Trace::new(),
        _ => one.shared_with(other),
    }
}
