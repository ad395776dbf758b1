//! `acked(retries=3,threshold=3,idle=5ms,frames=8192,octets=16777216)`: the reliability of NDNLPv2, as NFD has it.
//!
//! Source: NDNLPv2, "Reliability"; S. Vusirikala, S. Mastorakis, A. Afanasyev, L. Zhang, "Hop-By-Hop Best Effort Link Layer
//! Reliability in Named Data Networking" (NDN-0041); constants and details as in NFD's `LpReliability`. Each frame has a
//! Sequence that stays and a TxSequence that is new whenever it is sent. The receiver acknowledges every TxSequence, on
//! frames that leave anyway or, after `idle`, on frames of their own. A frame is lost once `threshold` greater ones were
//! acknowledged, or when its timer runs out (RTO of ndn-cxx: initially 1 s, 200 ms to 60 s, k = 4, without back-off, samples
//! by Karn's rule); it is sent again `retries` times, then all frames of its packet are given up.
//!
//! Differences from NFD:
//! - at most `frames` frames with `octets` octets are held; NFD has no bound. The oldest is given up first;
//! - acknowledgements that wait and Sequences that came are bounded, too;
//! - both ends must have it switched on, as with NFD, and there is no way to ask. A neighbour that acknowledged nothing while
//!   64 transmissions were lost is held for one that has not: frames still bear numbers, but are not sent again until it
//!   acknowledges one. NFD goes on sending every frame four times.
mod flight;
mod recent;

use super::recovery::{Agreement, Arrival, Counters, LinkRecovery, Outgoing, Sending, Tag};
use crate::rto::{Jacobson, RtoEstimator, RttSample};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::{Duration, Instant};
use flight::{Flight, Flying};
use recent::Recent;
use std::collections::VecDeque;
use std::fmt;

/// Octets of an Ack field.
const ACK_TLV_OCTETS: usize = 12;
/// Octets of a Sequence and of a TxSequence field.
const NUMBERS_TLV_OCTETS: usize = 10 + 12;
/// Most Acks on a frame of their own: they fit the shortest datagram that every network carries.
const MAX_IDLE_ACKS: usize = 96;
/// Most Acks that wait; older ones give way.
const MAX_ACKS: usize = 4_096;

/// The parameters of [`Acked`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckedSettings {
    /// How often a frame is sent again at most.
    pub retries: u32,
    /// So many greater acknowledgements say that a frame is lost.
    pub threshold: u32,
    /// How long acknowledgements wait for a frame that leaves anyway.
    pub idle: Duration,
    /// Most frames that are held.
    pub frames: u32,
    /// Most octets of frames that are held.
    pub octets: u64,
}

impl Default for AckedSettings {
    fn default() -> Self {
        let idle = Duration::from_millis(5);
        Self { retries: 3, threshold: 3, idle, frames: 8192, octets: 16 << 20 }
    }
}

impl AckedSettings {
    pub(crate) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let default = Self::default();
        let whole = "a whole number";
        let count = "a whole number from 1 to 65536";
        let some = |text: &str| text.parse().ok().filter(|it| (1..=65_536).contains(it));
        let octets = |text: &str| text.parse().ok().filter(|it: &u64| *it > 0);
        let settings = Self {
            retries: spec.take("retries", default.retries, whole, |text| text.parse().ok())?,
            threshold: spec.take("threshold", default.threshold, count, some)?,
            idle: spec.duration("idle", default.idle, Duration::ZERO)?,
            frames: spec.take("frames", default.frames, count, some)?,
            octets: spec.take("octets", default.octets, "a number of octets", octets)?,
        };
        spec.finish()?;
        Ok(settings)
    }
}

impl fmt::Display for AckedSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "acked")
            .value("retries", self.retries)
            .value("threshold", self.threshold)
            .duration("idle", self.idle)
            .value("frames", self.frames)
            .value("octets", self.octets)
            .finish()
    }
}

/// One end of a link with NDNLPv2 reliability.
#[derive(Debug)]
pub struct Acked<T> {
    settings: AckedSettings,
    rtt: Jacobson,
    sequence: u64,
    flight: Flight<T>,
    recent: Recent,
    acks: VecDeque<u64>,
    /// When the acknowledgements that wait leave on a frame of their own; `None` if they may leave at once, or if there are none.
    acks_due: Option<Instant>,
    down: bool,
    counters: Counters,
}

impl<T> Acked<T> {
    /// An end to which nothing was acknowledged yet.
    #[must_use]
    pub fn new(settings: AckedSettings) -> Self {
        Self {
            settings,
            rtt: Jacobson::new(crate::rto::JacobsonSettings::default()),
            sequence: 0,
            flight: Flight::new(settings),
            recent: Recent::default(),
            acks: VecDeque::new(),
            acks_due: None,
            down: false,
            counters: Counters::default(),
        }
    }

    /// The first acknowledgements that wait, as many as fit.
    fn take_acks(&mut self, most: usize) -> Vec<u64> {
        let most = most.min(self.acks.len());
        let acks = self.acks.drain(..most).collect();
        if self.acks.is_empty() {
            self.acks_due = None;
        }
        acks
    }

    fn tag(&mut self, now: Instant, flying: Flying<T>, room_octets: usize) -> Tag {
        let sequence = Some(flying.sequence);
        let rto = self.rtt.rto();
        let tx_sequence = Some(self.flight.add(now, now + rto, flying, &mut self.counters));
        let acks = self.take_acks(room_octets / ACK_TLV_OCTETS);
        Tag { sequence, tx_sequence, acks, ..Tag::default() }
    }

    fn on_ack(&mut self, now: Instant, ack: u64) {
        let Some(landed) = self.flight.land(ack, &mut self.counters) else {
            return;
        };
        if landed.resends == 0 {
            let rtt = now.since(landed.sent);
            self.rtt.on_sample(now, &RttSample::new(ack, rtt));
        }
        self.flight.overtake(ack, &mut self.counters);
    }

    fn acknowledge(&mut self, now: Instant, tx_sequence: u64) {
        if self.acks.is_empty() {
            self.acks_due = Some(now + self.settings.idle);
        }
        if self.acks.len() == MAX_ACKS {
            self.acks.pop_front();
        }
        self.acks.push_back(tx_sequence);
    }
}

impl<T: Clone + fmt::Debug + Send> LinkRecovery<T> for Acked<T> {
    fn send(&mut self, now: Instant, frame: &T, sending: &Sending) -> Tag {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        let flying = Flying::new(frame.clone(), now, sequence, sending);
        self.tag(now, flying, sending.room_octets)
    }

    fn receive(&mut self, now: Instant, tag: &Tag, carries: bool) -> Arrival {
        for ack in &tag.acks {
            self.on_ack(now, *ack);
        }
        if !carries {
            return Arrival::Control;
        }
        let Some(tx_sequence) = tag.tx_sequence else {
            return Arrival::Deliver;
        };
        self.acknowledge(now, tx_sequence);
        let rto = self.rtt.rto();
        if tag.sequence.is_some_and(|sequence| !self.recent.insert(now, sequence, rto)) {
            self.counters.duplicates += 1;
            return Arrival::Duplicate;
        }
        Arrival::Deliver
    }

    fn fire(&mut self, now: Instant) {
        if self.down {
            return;
        }
        self.acks_due = self.acks_due.filter(|due| *due > now);
        self.flight.expire(now, &mut self.counters);
    }

    fn waits(&self) -> bool {
        let acks = !self.acks.is_empty() && self.acks_due.is_none();
        self.flight.has_lost() || !self.down && (acks || self.flight.waits())
    }

    fn poll(&mut self, now: Instant) -> Option<Outgoing<T>> {
        self.fire(now);
        if self.down {
            return None;
        }
        if let Some(flying) = self.flight.pop_again() {
            let (frame, waited) = (flying.frame.clone(), now.since(flying.first));
            self.counters.resent += 1;
            let room_octets = flying.room_octets;
            let flying = Flying { resends: flying.resends + 1, ..flying };
            return Some(Outgoing::Again {
                frame,
                tag: self.tag(now, flying, room_octets),
                waited,
            });
        }
        if self.acks.is_empty() || self.acks_due.is_some() {
            return None;
        }
        self.counters.control += 1;
        let acks = self.take_acks(MAX_IDLE_ACKS);
        Some(Outgoing::Control(Tag { acks, ..Tag::default() }))
    }

    fn poll_lost(&mut self) -> Option<T> {
        self.flight.pop_lost()
    }

    fn deadline(&self) -> Option<Instant> {
        if self.down {
            return None;
        }
        self.acks_due.into_iter().chain(self.flight.deadline()).min()
    }

    fn link_down(&mut self, _now: Instant) {
        self.down = true;
    }

    fn link_up(&mut self, _now: Instant, _greets: bool) {
        self.down = false;
    }

    fn tag_octets(&self) -> usize {
        NUMBERS_TLV_OCTETS
    }

    fn agreement(&self) -> Agreement {
        if self.flight.is_acknowledged() { Agreement::Agreed } else { Agreement::Offered }
    }

    fn counters(&self) -> Counters {
        Counters {
            held: self.flight.held(),
            held_octets: self.flight.held_octets(),
            ..self.counters
        }
    }
}

impl<T> fmt::Display for Acked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}
