//! State of [`super::mobility`]: pending Interests whose face is gone, and prefixes that lost their next hop.
use crate::face::FaceId;
use crate::hash::NameHasher;
use crate::table::{Pit, PitId, PrefixTable, Tickets};
use recoup_packet::name::Name;
use recoup_transport::time::{Duration, Instant};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Most prefixes remembered that lost their last next hop.
const MOST_LOST: usize = 4_096;

/// Entries and prefixes whose faces are gone.
#[derive(Clone, Debug)]
pub(crate) struct Reroutes {
    /// By face, the entries that have a record of it, so that a lost face needs no search of all entries.
    lists: BTreeMap<FaceId, Tickets>,
    /// Entries of local applications that wait for a face.
    held: Tickets,
    /// Time of the last loss of a next hop, by prefix.
    lost: PrefixTable<Instant>,
    /// Time of the last removal of expired losses.
    swept: Instant,
    /// By ticket, the state of entries with a lost face; of some removed entries, too.
    reroutes: BTreeMap<u64, Reroute>,
    /// Number of reroutes at which those of removed entries are dropped.
    full_at: usize,
}

/// State of an entry that has lost a face of its out-records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reroute {
    /// The first nonce of the Interest, before nodes replaced it.
    pub(crate) nonce: Option<u32>,
    /// Time of the transmission on the first lost face.
    pub(crate) first: Option<Instant>,
    /// The face of a next hop is gone, here or further on. A retransmission does not change that.
    pub(crate) lost: bool,
    /// Time of the last rerouting.
    pub(crate) again: Option<Instant>,
    /// Faces that sent or returned the Interest already, which prevents loops.
    pub(crate) tried: SmallVec<[FaceId; 2]>,
}

/// Least number of reroutes at which those of removed entries are dropped.
const FEW: usize = 64;

impl Reroutes {
    pub(crate) fn new(hasher: NameHasher) -> Self {
        Self {
            lists: BTreeMap::new(),
            held: Tickets::default(),
            lost: PrefixTable::new(hasher),
            swept: Instant::ZERO,
            reroutes: BTreeMap::new(),
            full_at: 0,
        }
    }

    /// State of an entry that has lost a face.
    #[inline]
    pub(crate) fn reroute(&self, id: PitId, pit: &Pit) -> Option<&Reroute> {
        if self.reroutes.is_empty() { None } else { self.reroutes.get(&pit.ticket(id)) }
    }

    /// As [`reroute`](Self::reroute), mutable.
    pub(crate) fn reroute_mut(&mut self, id: PitId, pit: &Pit) -> &mut Reroute {
        if self.reroutes.len() >= self.full_at.max(FEW) {
            self.reroutes.retain(|ticket, _| pit.by_ticket(*ticket).is_some());
            self.full_at = 2 * self.reroutes.len();
        }
        self.reroutes.entry(pit.ticket(id)).or_default()
    }

    /// Restarts the round trip of an entry: the consumer has retransmitted.
    pub(crate) fn restart_clock(&mut self, id: PitId, pit: &Pit) {
        if let Some(reroute) = self.reroutes.get_mut(&pit.ticket(id)) {
            (reroute.first, reroute.again) = (None, None);
        }
    }

    /// Lists an entry at a face.
    pub(crate) fn note(&mut self, face: FaceId, id: PitId, pit: &Pit) {
        let is_there = |ticket| {
            let entry = pit.by_ticket(ticket).map(|id| pit.entry(id));
            entry.is_some_and(|it| it.out_record(face).is_some() || it.in_record(face).is_some())
        };
        self.lists.entry(face).or_default().push(pit.ticket(id), is_there);
    }

    /// Takes the entries that may have a record of a face, each once.
    pub(crate) fn take(&mut self, face: FaceId, pit: &Pit) -> Vec<PitId> {
        self.lists.remove(&face).unwrap_or_default().into_entries(pit)
    }

    /// The entries that may have a record of a face, each once.
    pub(crate) fn at_face(&self, face: FaceId, pit: &Pit) -> Vec<PitId> {
        self.lists.get(&face).cloned().unwrap_or_default().into_entries(pit)
    }

    /// Lists an entry that waits for a face.
    pub(crate) fn hold(&mut self, id: PitId, pit: &Pit) {
        self.held.push(pit.ticket(id), |ticket| pit.by_ticket(ticket).is_some());
    }

    /// Takes the entries that wait for a face.
    pub(crate) fn take_held(&mut self, pit: &Pit) -> Vec<PitId> {
        std::mem::take(&mut self.held).into_entries(pit)
    }

    /// Records the loss of a next hop, valid for a time `within` from now.
    pub(crate) fn record_loss(&mut self, now: Instant, prefix: &Name, within: Duration) {
        let is_full = self.lost.len() >= MOST_LOST;
        if is_full && now.since(self.swept) >= within {
            self.sweep_lost(now, within);
        }
        if self.lost.len() < MOST_LOST || self.lost.get(prefix).is_some() {
            self.lost.insert(prefix, now);
        }
    }

    /// Removes the losses that are no longer valid.
    fn sweep_lost(&mut self, now: Instant, within: Duration) {
        self.swept = now;
        let is_old = |at: &Instant| now.since(*at) >= within;
        let old = self.lost.iter().filter(|(_, at)| is_old(at));
        let old: Vec<Name> = old.map(|(prefix, _)| prefix.clone()).collect();
        for prefix in old {
            self.lost.remove(&prefix);
        }
    }

    /// Whether a prefix of `name` lost a next hop less than `within` ago.
    pub(crate) fn has_lost(&mut self, now: Instant, name: &Name, within: Duration) -> bool {
        while let Some((prefix, at)) = self.lost.longest(name) {
            if now.since(*at) < within {
                return true;
            }
            let prefix = prefix.clone();
            self.lost.remove(&prefix);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_prefixes_expire_and_are_bounded() {
        let mut reroutes = Reroutes::new(NameHasher::new(1));
        let at = Instant::from_millis;
        let name = |text: &str| text.parse::<Name>().unwrap();
        let second = Duration::from_secs(1);
        reroutes.record_loss(at(0), &name("/a"), second);
        reroutes.record_loss(at(900), &name("/a/b"), second);
        assert!(reroutes.has_lost(at(999), &name("/a/x"), second));
        assert!(reroutes.has_lost(at(1_800), &name("/a/b/c"), second));
        assert!(!reroutes.has_lost(at(1_800), &name("/a/x"), second));
        assert!(!reroutes.has_lost(at(1_900), &name("/a/b/c"), second));
        assert!(reroutes.lost.is_empty());
        for number in 0..10_000 {
            reroutes.record_loss(at(2_000), &name(&format!("/{number}")), second);
        }
        assert_eq!(reroutes.lost.len(), MOST_LOST);
        // Losses without any later Interest do not take the space of others.
        reroutes.record_loss(at(3_500), &name("/new"), second);
        assert!(reroutes.has_lost(at(3_600), &name("/new/x"), second));
        assert_eq!(reroutes.lost.len(), 1);
    }
}
