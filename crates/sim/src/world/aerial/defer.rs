//! What broadcast faces leave unsaid: who is about to say what another one has just said, keeps silent.
//!
//! A packet for all waits for a random time before it contends for the medium. What is heard on the
//! broadcast face meanwhile makes it superfluous if it has the same name: an Interest, because somebody else
//! asks; Data, because it was answered. The random time also keeps those apart whom one frame has made
//! speak at the same instant, and who would all begin one DIFS after it. The rule is that of the
//! listen-first protocols (Meisel, Pappas and Zhang, "Ad hoc networking via named data", 2010; Wang et al.,
//! "Rapid traffic information dissemination using named data", 2012).
//!
//! Differences: names must be equal; a packet that travels in parts is never superfluous.
use super::Aerial;
use crate::world::lane::Frame;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

/// A packet that waits to be said.
#[derive(Clone, Debug)]
pub(super) struct Unsaid {
    pub(super) aerial: Aerial,
    pub(super) lane: usize,
    pub(super) frame: Frame,
}

/// Packets for all that wait, of all stations of a medium.
#[derive(Debug)]
pub(super) struct Deferred {
    longest: Duration,
    rng: Rng,
    /// By the time at which they contend, then in the order in which they came.
    waiting: BTreeMap<(Instant, u64), Unsaid>,
    count: u64,
}

impl Deferred {
    /// Packets wait for up to `longest`; if that is nothing they do not wait.
    pub(super) fn new(longest: Duration, rng: Rng) -> Self {
        Self { longest, rng, waiting: BTreeMap::new(), count: 0 }
    }

    /// Takes a packet, unless it need not wait.
    pub(super) fn take(&mut self, now: Instant, unsaid: Unsaid) -> Result<(), Unsaid> {
        let longest = u64::try_from(self.longest.as_nanos()).unwrap_or(u64::MAX);
        if longest == 0 || !unsaid.aerial.is_for_all() {
            return Err(unsaid);
        }
        let time = Duration::from_nanos(self.rng.below(longest));
        self.waiting.insert((now + time, self.count), unsaid);
        self.count += 1;
        Ok(())
    }

    /// When the next packet contends.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|((at, _), _)| *at)
    }

    /// A packet whose time has come.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Unsaid> {
        self.deadline().filter(|at| *at <= now)?;
        self.waiting.pop_first().map(|(_, unsaid)| unsaid)
    }

    /// `packet` was heard on the broadcast face whose lane that is: takes out what is superfluous there.
    pub(super) fn silence(&mut self, lane: usize, packet: &Packet) -> Vec<Unsaid> {
        let (hash, kind) = (packet.hop.name_hash, packet.kind());
        let is_superfluous = |unsaid: &Unsaid| {
            let said = unsaid.frame.packet.as_ref();
            unsaid.lane == lane
                && said.is_some_and(|mine| {
                    let is_answered = kind == Kind::Data && mine.kind() == Kind::Interest;
                    mine.hop.name_hash == hash && (mine.kind() == kind || is_answered)
                })
        };
        let keys = self.waiting.iter().filter(|(_, unsaid)| is_superfluous(unsaid));
        let keys: Vec<_> = keys.map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| self.waiting.remove(key)).collect()
    }

    /// What waits.
    pub(super) fn inside(&self) -> impl Iterator<Item = &Frame> {
        self.waiting.values().map(|unsaid| &unsaid.frame)
    }
}
