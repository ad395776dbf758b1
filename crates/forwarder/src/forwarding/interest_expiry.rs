//! A pending Interest ends.
//!
//! Source: NFD, `Forwarder::onInterestFinalize` and `insertDeadNonceList`: the nonces of what was sent are remembered
//! unless Data came with which the content store answers copies.
//!
//! Difference: a node that keeps no such Data remembers the nonces of all that it sent to other nodes; NFD takes it for granted
//! that there is a store.
use super::{Edge, Forwarder};
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::table::{OutRecord, PitId};
use recoup_packet::data::Data;
use recoup_transport::time::Instant;

/// How a pending Interest ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    /// Without Data.
    Unanswered,
    /// With Data, and the content store does not answer copies.
    Answered,
    /// With Data with which the content store answers copies from here on.
    PacketMemory,
}

impl<E: Edge> Forwarder<E> {
    /// Nobody waits any more, and no Data came.
    pub(crate) fn interest_expiry(&mut self, now: Instant, id: PitId) {
        let hash = self.pit.entry(id).hash();
        self.counters.unsatisfied += 1;
        self.edge.out().event(NodeEvent::PitExpired { hash });
        self.notify_strategy(now, id, |strategy, context, entry| {
            strategy.on_expiry(context, entry)
        });
        self.remember_nonces(now, id, Ending::Unanswered);
        self.interest_forget(id);
    }

    /// Nobody waits any more: all were refused.
    pub(crate) fn interest_finalize(&mut self, now: Instant, id: PitId) {
        self.remember_nonces(now, id, Ending::Unanswered);
        self.interest_abandon(id);
    }

    /// Nobody waits any more: all are gone.
    pub(crate) fn interest_abandon(&mut self, id: PitId) {
        let hash = self.pit.entry(id).hash();
        self.edge.out().event(NodeEvent::PitAbandoned { hash });
        self.interest_forget(id);
    }

    fn interest_forget(&mut self, id: PitId) {
        let Outbox { observer, outputs } = self.edge.out();
        observer.interest_ended(id, self.pit.entry(id), outputs);
        if self.faces.is_counting() {
            let records = self.pit.entry(id).ins();
            records.iter().for_each(|it| self.faces.release_slots(it.face, it.slots));
        }
        self.end_entry(id);
    }

    /// Takes an entry away; the next Interest that comes may use its memory.
    pub(super) fn end_entry(&mut self, id: PitId) {
        if let Some(interest) = self.pit.remove(id) {
            self.memory.recycle(interest);
        }
    }

    /// How a pending Interest ends with that Data; `is_kept` if the content store answers with it from here on.
    pub(super) fn ending(&self, id: PitId, data: &Data, is_kept: bool) -> Ending {
        let stays_fresh = || {
            !self.pit.entry(id).interest().must_be_fresh
                || data.freshness() >= self.dead_nonce_lifetime
        };
        if is_kept && stays_fresh() { Ending::PacketMemory } else { Ending::Answered }
    }

    /// Remembers the nonces of an Interest, where a copy could still go round.
    pub(super) fn remember_nonces(&mut self, now: Instant, id: PitId, ending: Ending) {
        if ending == Ending::PacketMemory {
            return;
        }
        let Self { pit, dead_nonces, reroutes, .. } = self;
        let entry = pit.entry(id);
        let first = reroutes.reroute(id, pit).and_then(|reroute| reroute.nonce);
        // What an application answered goes no further.
        let may_return = |record: &&OutRecord| {
            ending == Ending::Unanswered
                || record.face.app().is_none() && record.face != FaceId::MANAGEMENT
        };
        let sent = entry.outs().iter().filter(may_return).filter_map(|record| record.nonce);
        for nonce in first.into_iter().chain(sent) {
            dead_nonces.insert(now, entry.hash(), nonce);
        }
    }
}
