//! Pending Interests whose face is gone, and prefixes that lost their next hop, for [`super::mobility`].
use crate::face::FaceId;
use crate::hash::NameHasher;
use crate::table::{Pit, PitId, PrefixTable, Tickets};
use recoup_packet::name::Name;
use recoup_transport::time::{Duration, Instant};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Most prefixes remembered that lost their last next hop.
const MOST_LOST: usize = 4_096;

/// What a node remembers of entries and prefixes whose faces are gone.
#[derive(Clone, Debug)]
pub(crate) struct Reroutes {
    /// By face, the entries that have a record of it: no face that goes needs a look at all entries.
    lists: BTreeMap<FaceId, Tickets>,
    /// Entries of local applications that wait for a face.
    held: Tickets,
    /// When a prefix lost a next hop.
    lost: PrefixTable<Instant>,
    /// When those said long ago were looked for last.
    swept: Instant,
    /// By ticket, what is known of entries since a face of theirs is gone; of some that are gone, too.
    reroutes: BTreeMap<u64, Reroute>,
    /// So many reroutes are kept before it is looked which of their entries are there.
    full_at: usize,
}

/// What is known of an entry since a face by which its Interest left is gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reroute {
    /// The nonce that the Interest had before nodes gave it others.
    pub(crate) nonce: Option<u32>,
    /// When the Interest left by the first face that is gone.
    pub(crate) first: Option<Instant>,
    /// When it was sent on last.
    pub(crate) again: Option<Instant>,
    /// By which faces it was sent on or came back: it goes round in no circle.
    pub(crate) tried: SmallVec<[FaceId; 2]>,
}

/// So many reroutes are kept before it is looked which of them still lead anywhere.
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

    /// What is known of an entry since a face of it is gone.
    #[inline]
    pub(crate) fn reroute(&self, id: PitId, pit: &Pit) -> Option<&Reroute> {
        if self.reroutes.is_empty() { None } else { self.reroutes.get(&pit.ticket(id)) }
    }

    /// As [`reroute`](Self::reroute), to be changed.
    pub(crate) fn reroute_mut(&mut self, id: PitId, pit: &Pit) -> &mut Reroute {
        if self.reroutes.len() >= self.full_at.max(FEW) {
            self.reroutes.retain(|ticket, _| pit.by_ticket(*ticket).is_some());
            self.full_at = 2 * self.reroutes.len();
        }
        self.reroutes.entry(pit.ticket(id)).or_default()
    }

    /// The consumer retransmits: the round trip of an entry begins anew.
    pub(crate) fn restart_clock(&mut self, id: PitId, pit: &Pit) {
        if let Some(reroute) = self.reroutes.get_mut(&pit.ticket(id)) {
            (reroute.first, reroute.again) = (None, None);
        }
    }

    /// An entry has a record of a face from now on.
    pub(crate) fn note(&mut self, face: FaceId, id: PitId, pit: &Pit) {
        let is_there = |ticket| {
            let entry = pit.by_ticket(ticket).map(|id| pit.entry(id));
            entry.is_some_and(|it| it.out_record(face).is_some() || it.in_record(face).is_some())
        };
        self.lists.entry(face).or_default().push(pit.ticket(id), is_there);
    }

    /// The entries that may have a record of a face, each once, which is forgotten.
    pub(crate) fn take(&mut self, face: FaceId, pit: &Pit) -> Vec<PitId> {
        self.lists.remove(&face).unwrap_or_default().into_entries(pit)
    }

    /// An entry waits for a face.
    pub(crate) fn hold(&mut self, id: PitId, pit: &Pit) {
        self.held.push(pit.ticket(id), |ticket| pit.by_ticket(ticket).is_some());
    }

    /// The entries that wait for a face, which are forgotten.
    pub(crate) fn take_held(&mut self, pit: &Pit) -> Vec<PitId> {
        std::mem::take(&mut self.held).into_entries(pit)
    }

    /// A prefix loses a next hop, which counts for a time `within` from now.
    pub(crate) fn record_loss(&mut self, now: Instant, prefix: &Name, within: Duration) {
        let is_full = self.lost.len() >= MOST_LOST;
        if is_full && now.since(self.swept) >= within {
            self.sweep_lost(now, within);
        }
        if self.lost.len() < MOST_LOST || self.lost.get(prefix).is_some() {
            self.lost.insert(prefix, now);
        }
    }

    /// Forgets the prefixes that lost their next hop too long ago to count.
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
        // Those for which nobody ever asked again do not stand in the way of others.
        reroutes.record_loss(at(3_500), &name("/new"), second);
        assert!(reroutes.has_lost(at(3_600), &name("/new/x"), second));
        assert_eq!(reroutes.lost.len(), 1);
    }
}
