//! Suppression of superfluous broadcasts: a node drops a packet that another node has just sent.
//!
//! A packet for all waits for a random time before it contends for the medium. A packet with the same name that is
//! received on the broadcast face meanwhile makes it superfluous: an Interest, because another node has sent it; Data,
//! because the Interest was answered. The random time also separates nodes that react to one frame at the same instant,
//! and would all begin one DIFS after it. The rule is that of the listen-first protocols (Meisel, Pappas and Zhang, "Ad
//! hoc networking via named data", 2010; Wang et al., "Rapid traffic information dissemination using named data",
//! 2012).
//!
//! Differences: names must be equal; a packet that travels in parts is never superfluous.
use super::Aerial;
use crate::simulation::lane::Frame;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

/// A deferred packet.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub(super) aerial: Aerial,
    pub(super) lane: usize,
    pub(super) frame: Frame,
}

/// Packets for all that wait, of all stations of a medium.
#[derive(Debug)]
pub(super) struct Deferred {
    longest: Duration,
    rng: Rng,
    /// Sorted by the time of contention, then by arrival.
    waiting: BTreeMap<(Instant, u64), Outgoing>,
    count: u64,
}

impl Deferred {
    /// Packets wait for up to `longest`; if that is nothing they do not wait.
    pub(super) fn new(longest: Duration, rng: Rng) -> Self {
        Self { longest, rng, waiting: BTreeMap::new(), count: 0 }
    }

    /// Takes a packet, unless it need not wait.
    pub(super) fn take(&mut self, now: Instant, outgoing: Outgoing) -> Result<(), Outgoing> {
        let longest = u64::try_from(self.longest.as_nanos()).unwrap_or(u64::MAX);
        if longest == 0 || !outgoing.aerial.is_for_all() {
            return Err(outgoing);
        }
        let time = Duration::from_nanos(self.rng.below(longest));
        self.waiting.insert((now + time, self.count), outgoing);
        self.count += 1;
        Ok(())
    }

    /// When the next packet contends.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|((at, _), _)| *at)
    }

    /// A packet whose time has come.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Outgoing> {
        self.deadline().filter(|at| *at <= now)?;
        self.waiting.pop_first().map(|(_, outgoing)| outgoing)
    }

    /// `packet` was received on the broadcast face of that lane: removes the packets that it makes superfluous there.
    pub(super) fn silence(&mut self, lane: usize, packet: &Packet) -> Vec<Outgoing> {
        let (hash, kind) = (packet.hop.name_hash, packet.kind());
        let is_superfluous = |outgoing: &Outgoing| {
            let own = outgoing.frame.packet.as_ref();
            outgoing.lane == lane
                && own.is_some_and(|mine| {
                    let is_answered = kind == Kind::Data && mine.kind() == Kind::Interest;
                    mine.hop.name_hash == hash && (mine.kind() == kind || is_answered)
                })
        };
        let keys = self.waiting.iter().filter(|(_, outgoing)| is_superfluous(outgoing));
        let keys: Vec<_> = keys.map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| self.waiting.remove(key)).collect()
    }

    /// The deferred frames.
    pub(super) fn inside(&self) -> impl Iterator<Item = &Frame> {
        self.waiting.values().map(|outgoing| &outgoing.frame)
    }
}
