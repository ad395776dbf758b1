//! `acked(retries=3,threshold=3,idle=5ms,frames=8192,bytes=16777216)`: the reliability of NDNLPv2, as NFD has it.
//!
//! Source: NDNLPv2, "Reliability"; S. Vusirikala, S. Mastorakis, A. Afanasyev, L. Zhang, "Hop-By-Hop Best Effort Link
//! Layer Reliability in Named Data Networking" (NDN-0041). Constants and details are those of NFD's `LpReliability`.
//! Each frame has a constant Sequence and a TxSequence that is new for each transmission. The receiver acknowledges
//! every TxSequence, on frames sent anyway or, after `idle`, on frames without a packet. A frame is lost once
//! `threshold` greater ones were acknowledged, or when its timer expires (RTO of ndn-cxx: initially 1 s, 200 ms to 60
//! s, k = 4, without back-off, samples by Karn's rule). It is retransmitted up to `retries` times; then all frames of
//! its packet are given up.
//!
//! Differences from NFD:
//! - at most `frames` frames with `bytes` bytes are held; NFD has no limit. The oldest is given up first;
//! - queued acknowledgements and received Sequences are limited, too;
//! - both ends must enable it, as with NFD; there is no negotiation. If a neighbour acknowledged nothing while 64
//!   transmissions were lost, it is taken for one without reliability. Frames still carry numbers, but are not
//!   retransmitted until it acknowledges one. NFD continues to send every frame four times.
mod flight;
mod recent;

use super::pool::Pool;
use super::recovery::{Agreement, Arrival, Counters, LinkRecovery, Outgoing, Sending, Tag};
use crate::rto::{Jacobson, RtoEstimator, RttSample};
use crate::spec::{Described, Description};
use crate::time::{Duration, Instant};
use flight::{Flight, InFlight};
use recent::Recent;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Bytes of an Ack field.
const ACK_TLV_BYTES: usize = 12;
/// Bytes of a Sequence and of a TxSequence field.
const NUMBERS_TLV_BYTES: usize = 10 + 12;
/// Most Acks on a frame without a packet: they fit the shortest datagram that every network carries.
const MAX_IDLE_ACKS: usize = 96;
/// Most queued Acks; the oldest are dropped first.
const MAX_ACKS: usize = 4_096;

/// The parameters of [`Acked`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckedSettings {
    /// Most retransmissions of a frame.
    pub retries: u32,
    /// Number of greater acknowledged numbers at which a frame is lost.
    pub threshold: u32,
    /// Longest wait of acknowledgements for a frame that carries them.
    pub idle: Duration,
    /// Most frames held.
    pub frames: u32,
    /// Most bytes of frames held.
    pub bytes: u64,
}

impl Default for AckedSettings {
    fn default() -> Self {
        let idle = Duration::from_millis(5);
        Self { retries: 3, threshold: 3, idle, frames: 8192, bytes: 16 << 20 }
    }
}

impl AckedSettings {}

impl Described for AckedSettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        let count = "a whole number from 1 to 65536";
        each.whole("retries", &mut self.retries, .., "a whole number");
        each.whole("threshold", &mut self.threshold, 1..=65_536, count);
        each.duration("idle", &mut self.idle, Duration::ZERO);
        each.whole("frames", &mut self.frames, 1..=65_536, count);
        each.whole("bytes", &mut self.bytes, 1.., "a number of bytes");
    }
}

recoup_core::print_as_spec!(AckedSettings, "acked");

/// One end of a link with NDNLPv2 reliability.
#[derive(Debug)]
pub struct Acked<T> {
    settings: AckedSettings,
    rtt: Jacobson,
    sequence: u64,
    flight: Flight<T>,
    recent: Recent,
    acks: VecDeque<u64>,
    /// Time at which queued acknowledgements are sent on a frame without a packet; `None` if they may be sent at
    /// once, or if there are none.
    acks_due: Option<Instant>,
    down: bool,
    counters: Counters,
}

impl<T> Acked<T> {
    /// An end that has received no acknowledgement.
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

    /// Takes queued acknowledgements, the oldest first, at most `most`.
    fn take_acks(&mut self, most: usize) -> Vec<u64> {
        let most = most.min(self.acks.len());
        let acks = self.acks.drain(..most).collect();
        if self.acks.is_empty() {
            self.acks_due = None;
        }
        acks
    }

    fn tag(&mut self, now: Instant, frame: InFlight<T>, free_bytes: usize) -> Tag {
        let sequence = Some(frame.sequence);
        let rto = self.rtt.rto();
        let tx_sequence = Some(self.flight.add(now, now + rto, frame, &mut self.counters));
        let acks = self.take_acks(free_bytes / ACK_TLV_BYTES);
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
        let frame = InFlight::new(frame.clone(), now, sequence, sending);
        self.tag(now, frame, sending.free_bytes)
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
        if let Some(frame) = self.flight.pop_again() {
            let (copy, waited) = (frame.frame.clone(), now.since(frame.first));
            self.counters.resent += 1;
            let free_bytes = frame.free_bytes;
            let again = InFlight { resends: frame.resends + 1, ..frame };
            return Some(Outgoing::Again {
                frame: copy,
                tag: self.tag(now, again, free_bytes),
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
        self.flight.expect_neighbour();
    }

    fn tag_bytes(&self) -> usize {
        NUMBERS_TLV_BYTES
    }

    fn share(&mut self, pool: &Arc<Pool>) {
        self.flight.share(Arc::clone(pool));
    }

    fn shed(&mut self) {
        self.flight.shed(&mut self.counters);
    }

    fn agreement(&self) -> Agreement {
        if self.flight.is_acknowledged() { Agreement::Agreed } else { Agreement::Offered }
    }

    fn counters(&self) -> Counters {
        Counters { held: self.flight.held(), held_bytes: self.flight.held_bytes(), ..self.counters }
    }
}

impl<T> fmt::Display for Acked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}
