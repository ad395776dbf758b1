//! End of a pending Interest.
//!
//! Source: NFD, `Forwarder::onInterestFinalize` and `insertDeadNonceList`. The nonces of outgoing Interests are
//! remembered unless the content store answers copies with the Data.
//!
//! Difference: a node that does not store the Data remembers the nonces of all Interests that it sent to other nodes;
//! NFD assumes a content store.
use super::{Edge, Forwarder};
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::table::{OutRecord, PitId};
use recoup_packet::data::Data;
use recoup_transport::time::Instant;

/// End of a pending Interest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    /// No Data answered the Interest.
    Unanswered,
    /// Data answered it, and the content store does not answer copies.
    Answered,
    /// Data answered it, with which the content store answers copies from now on.
    Stored,
}

impl<E: Edge> Forwarder<E> {
    /// The Interest expired.
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

    /// All downstream faces got a Nack.
    pub(crate) fn interest_finalize(&mut self, now: Instant, id: PitId) {
        self.remember_nonces(now, id, Ending::Unanswered);
        self.interest_abandon(id);
    }

    /// All downstream faces are gone.
    pub(crate) fn interest_abandon(&mut self, id: PitId) {
        let Self { pit, strategies, .. } = self;
        let entry = pit.entry(id);
        let strategy = strategies.longest_mut(&entry.interest().name);
        if let Some((_, strategy)) = strategy.filter(|(_, strategy)| strategy.learns()) {
            strategy.on_abandon(entry);
        }
        let hash = entry.hash();
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

    /// Removes an entry; the next Interest may reuse its memory.
    pub(super) fn end_entry(&mut self, id: PitId) {
        if let Some(interest) = self.pit.remove(id) {
            self.memory.recycle(interest);
        }
    }

    /// End of a pending Interest with that Data; `is_kept` if the content store answers with it from now on.
    pub(super) fn ending(&self, id: PitId, data: &Data, is_kept: bool) -> Ending {
        let stays_fresh = || {
            !self.pit.entry(id).interest().must_be_fresh
                || data.freshness() >= self.dead_nonce_lifetime
        };
        if is_kept && stays_fresh() { Ending::Stored } else { Ending::Answered }
    }

    /// Remembers the nonces of an Interest, if a copy could still loop.
    pub(super) fn remember_nonces(&mut self, now: Instant, id: PitId, ending: Ending) {
        if ending == Ending::Stored {
            return;
        }
        let Self { pit, dead_nonces, reroutes, .. } = self;
        let entry = pit.entry(id);
        let first = reroutes.reroute(id, pit).and_then(|reroute| reroute.nonce);
        // An Interest answered by an application is not forwarded.
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
