//! A station: its queue, its receiver, its contention, and what it waits for.
use super::super::access::Access;
use super::super::air::{Air, Kind, PpduId};
use super::super::minstrel::Minstrel;
use super::super::plan::MediumPlan;
use super::super::radio::Radio;
use super::super::rate::Rate;
use super::super::reorder::Reorder;
use super::super::{Address, StationId};
use recoup_transport::queue::Load;
use recoup_transport::random::Rng;
use std::collections::VecDeque;

/// What a station counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data frames on the air, again or for the first time.
    pub data_sent: u64,
    /// Data frames that were acknowledged.
    pub acknowledged: u64,
    /// Acknowledgements that did not come.
    pub ack_timeouts: u64,
    /// Answers to an RTS that did not come.
    pub cts_timeouts: u64,
    /// Frames given up after too many tries.
    pub retries_exhausted: u64,
    /// Frames that waited for too long.
    pub expired: u64,
    /// Frames that found the queue full.
    pub full: u64,
    /// Frames received that had been received before.
    pub duplicates: u64,
}

/// A frame that waits.
#[derive(Debug)]
pub(super) struct Queued<L> {
    pub(super) number: u64,
    pub(super) since: u64,
    pub(super) to: Address,
    pub(super) load: L,
    /// What is sent with it as an A-MSDU, once it was.
    pub(super) more: Vec<L>,
    /// Given when it is sent for the first time.
    pub(super) sequence: Option<u16>,
    pub(super) is_retry: bool,
    /// How often it was sent.
    pub(super) tries: u32,
    /// It was sent in an aggregate, and nothing is known of it.
    pub(super) is_flying: bool,
    /// It is where it should be, though its sender may not know.
    pub(super) has_arrived: bool,
}

impl<L> Queued<L> {
    pub(super) fn new(number: u64, since: u64, to: Address, load: L) -> Self {
        Self {
            number,
            since,
            to,
            load,
            more: Vec::new(),
            sequence: None,
            is_retry: false,
            tries: 0,
            is_flying: false,
            has_arrived: false,
        }
    }
}

/// What a station waits for after it has sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Awaited {
    Nothing,
    /// The end of a frame that nobody answers.
    End,
    Ack,
    /// A block acknowledgement, of an aggregate or of a request for it.
    BlockAck,
    Cts,
}

/// What a station sends a SIFS after it received something.
#[derive(Clone, Copy, Debug)]
pub(super) enum Response {
    Ack {
        to: StationId,
        rate: Rate,
    },
    BlockAck {
        to: StationId,
        rate: Rate,
    },
    Cts {
        to: StationId,
        rate: Rate,
        nav_nanos: u64,
    },
    /// The data that were announced.
    Data,
}

/// Another station, under block acknowledgement.
#[derive(Debug)]
pub(super) struct Peer<L> {
    pub(super) id: StationId,
    /// Number of the next new frame to it.
    pub(super) next_sequence: u16,
    /// A request for acknowledgement is to be sent.
    pub(super) must_ask: bool,
    /// What came from it.
    pub(super) reorder: Reorder<L>,
    pub(super) minstrel: Option<Minstrel>,
}

impl<L> Peer<L> {
    /// The number of a frame that is sent to it for the first time.
    pub(super) fn number(&mut self) -> u16 {
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) & 0xfff;
        sequence
    }
}

/// A frame for this station that is on its way to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) end: u64,
    pub(super) ppdu: PpduId,
}

#[derive(Debug)]
pub(super) struct Station<L> {
    pub(super) radio: Radio,
    pub(super) access: Access,
    pub(super) queue: VecDeque<Queued<L>>,
    pub(super) awaited: Awaited,
    /// When waiting ends.
    pub(super) timeout_at: u64,
    pub(super) response: Option<(u64, Response)>,
    /// Frames for it on their way, by their ends.
    pub(super) expected: VecDeque<Expected>,
    /// When a reservation by an RTS is given up if nothing follows it.
    pub(super) nav_reset_at: u64,
    next_sequence: u16,
    /// Failures in a row of frames that are, and are not, announced.
    pub(super) long_failures: u32,
    pub(super) short_failures: u32,
    /// By sender: the sequence number that was received last.
    pub(super) received: Vec<(StationId, u16)>,
    /// What is known of those with whom it exchanges frames under block acknowledgement.
    pub(super) peers: Vec<Peer<L>>,
    /// To whom the exchange under way is.
    pub(super) partner: StationId,
    pub(super) is_down: bool,
    pub(super) counters: Counters,
    backoffs: Rng,
    /// From which the orders of Minstrel's samples are drawn.
    pub(super) samples: Rng,
    replayed: VecDeque<u32>,
}

impl<L> Station<L> {
    pub(super) fn new(plan: &MediumPlan, rng: &Rng) -> Self {
        let mut station = Self {
            radio: Radio::new(rng.substream("reception")),
            access: Access::new(plan.timing, &[plan.contention]),
            queue: VecDeque::new(),
            awaited: Awaited::Nothing,
            timeout_at: u64::MAX,
            response: None,
            expected: VecDeque::new(),
            nav_reset_at: u64::MAX,
            next_sequence: 0,
            long_failures: 0,
            short_failures: 0,
            received: Vec::new(),
            peers: Vec::new(),
            partner: StationId(0),
            is_down: false,
            counters: Counters::default(),
            backoffs: rng.substream("backoff"),
            samples: rng.substream("minstrel"),
            replayed: VecDeque::new(),
        };
        let slots = station.draw();
        station.access.contenders[0].begin(0, slots);
        station
    }

    /// Slots of the next back-off.
    pub(super) fn draw(&mut self) -> u32 {
        let window = u64::from(self.access.contenders[0].cw()) + 1;
        self.replayed.pop_front().unwrap_or_else(|| self.backoffs.below(window) as u32)
    }

    pub(super) fn replay(&mut self, slots: impl IntoIterator<Item = u32>) {
        self.replayed.extend(slots);
        if let Some(first) = self.replayed.pop_front() {
            self.access.contenders[0].begin(0, first);
        }
    }

    /// When the station has to act next, as far as it can be told.
    pub(super) fn next(&self, now: u64, air: &Air<L>) -> Option<u64> {
        let response = self.response.map_or(u64::MAX, |(at, _)| at);
        let expected = self.expected.front().map_or(u64::MAX, |expected| expected.end);
        let fixed = response.min(expected).min(self.timeout_at).min(self.nav_reset_at);
        let access = self.access.next(now).map_or(u64::MAX, |at| at.max(self.engaged_until(air)));
        let next = fixed.min(access);
        (next < u64::MAX).then_some(next)
    }

    /// Until when the station certainly will not get the medium.
    fn engaged_until(&self, air: &Air<L>) -> u64 {
        let Some(signal) = self.radio.current() else {
            return 0;
        };
        let ppdu = air.ppdu(signal.ppdu);
        match ppdu.kind {
            Kind::Data { .. } if self.radio.is_in_payload() => {
                signal.end + self.access.least_pause_nanos(ppdu.nav_nanos)
            }
            _ => signal.end,
        }
    }

    /// What is known of another station.
    pub(super) fn peer(&mut self, id: StationId) -> &mut Peer<L> {
        let place = self.peers.iter().position(|peer| peer.id == id).unwrap_or_else(|| {
            let (reorder, minstrel) = (Reorder::new(), None);
            self.peers.push(Peer { id, next_sequence: 0, must_ask: false, reorder, minstrel });
            self.peers.len() - 1
        });
        &mut self.peers[place]
    }

    /// Whether there is anything to send.
    pub(super) fn has_work(&self) -> bool {
        !self.queue.is_empty() || self.peers.iter().any(|peer| peer.must_ask)
    }

    /// Whether a frame is new; if so it is remembered as the last of its sender.
    pub(super) fn is_new(&mut self, from: StationId, sequence: u16, is_retry: bool) -> bool {
        let Some(known) = self.received.iter_mut().find(|(station, _)| *station == from) else {
            self.received.push((from, sequence));
            return true;
        };
        let is_same = is_retry && known.1 == sequence;
        known.1 = sequence;
        !is_same
    }

    /// Whether the frame at the front is announced by RTS.
    pub(super) fn is_long(&self, plan: &MediumPlan) -> bool
    where
        L: Load,
    {
        let octets = self.queue.front().map_or(0, |queued| queued.load.octets());
        plan.rts_octets.is_some_and(|most| octets + plan.overhead_octets() > most)
    }

    /// The sequence number of a frame that is sent for the first time.
    pub(super) fn number(&mut self) -> u16 {
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) & 0xfff;
        sequence
    }

    /// The station fails.
    pub(super) fn stop(&mut self) {
        self.is_down = true;
        self.awaited = Awaited::Nothing;
        (self.timeout_at, self.nav_reset_at) = (u64::MAX, u64::MAX);
        self.response = None;
        self.access.give_up();
    }
}
