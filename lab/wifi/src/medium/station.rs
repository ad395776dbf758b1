//! A station: queues, receiver, contention, timers.
use super::super::access::Access;
use super::super::air::{Air, Kind, Mpdu, PpduId};
use super::super::arf::Arf;
use super::super::association::Association;
use super::super::content::Content;
use super::super::minstrel::Minstrel;
use super::super::plan::{Category, MediumPlan, Role};
use super::super::radio::Radio;
use super::super::rate::Rate;
use super::super::reorder::Reorder;
use super::super::{Address, StationId};
use recoup_core::load::Load;
use recoup_core::random::Rng;
use std::collections::VecDeque;

/// Counters of a station.
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
    /// Frames given up because the one they were for belongs elsewhere.
    pub departed: u64,
    /// Beacons sent by an access point, or received by a client.
    pub beacons: u64,
    /// Times that a client came to an access point: as either of them.
    pub associations: u64,
    /// Times that two of its own categories were ready at once.
    pub internal_collisions: u64,
}

/// A frame that waits.
#[derive(Debug)]
pub(super) struct Queued<L> {
    pub(super) number: u64,
    pub(super) since: u64,
    pub(super) to: Address,
    pub(super) load: Content<L>,
    /// Further loads sent with it as an A-MSDU, once it was sent.
    pub(super) more: Vec<Content<L>>,
    /// Given when it is sent for the first time.
    pub(super) sequence: Option<u16>,
    pub(super) is_retry: bool,
    /// Number of tries.
    pub(super) tries: u32,
    /// Sent in an aggregate, with unknown result.
    pub(super) is_flying: bool,
    /// Delivered, though its sender may not know, or given up.
    pub(super) has_arrived: bool,
    /// The one it is for belongs elsewhere: it is not sent again.
    pub(super) is_void: bool,
}

impl<L> Queued<L> {
    pub(super) fn new(number: u64, since: u64, to: Address, load: Content<L>) -> Self {
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
            is_void: false,
        }
    }

    /// Content of the frame.
    pub(super) fn loads(&self) -> impl Iterator<Item = &L> {
        std::iter::once(&self.load).chain(&self.more).filter_map(Content::as_above)
    }

    /// Whether it is management.
    pub(super) fn is_management(&self) -> bool {
        self.load.management().is_some()
    }

    /// Whether it may be a part of an aggregate to `to`.
    pub(super) fn is_for(&self, to: StationId) -> bool {
        self.to == Address::Station(to) && !self.is_management() && !self.is_void
    }

    /// Whether it was sent to `to` in an aggregate, with unknown result.
    pub(super) fn is_flying_to(&self, to: StationId) -> bool {
        self.is_flying && self.to == Address::Station(to)
    }

    /// The MPDU in which it is sent.
    pub(super) fn mpdu(&self, sequence: u16, bytes: u32) -> Mpdu {
        let (number, is_retry, is_management) = (self.number, self.is_retry, self.is_management());
        Mpdu { number, bytes, sequence, is_retry, is_management }
    }
}

/// Queue and state of a category. Its back-off is the contender of the same number.
#[derive(Debug)]
pub(super) struct Line<L> {
    pub(super) category: Category,
    pub(super) queue: VecDeque<Queued<L>>,
    /// Failures in a row of frames that are, and are not, announced.
    pub(super) long_failures: u32,
    pub(super) short_failures: u32,
    backoffs: Rng,
}

impl<L> Line<L> {
    fn new(category: Category, rng: &Rng) -> Self {
        let backoffs = match category {
            Category::BestEffort => rng.substream("backoff"),
            other => rng.substream(&format!("backoff/{other:?}")),
        };
        Self { category, queue: VecDeque::new(), long_failures: 0, short_failures: 0, backoffs }
    }

    /// Whether the frame at the front is announced by RTS.
    pub(super) fn is_long(&self, plan: &MediumPlan) -> bool
    where
        L: Load,
    {
        let bytes = self.queue.front().map_or(0, |queued| queued.load.bytes());
        plan.rts_bytes.is_some_and(|most| bytes + plan.overhead_bytes() > most)
    }
}

/// Wait of a station after a transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Awaited {
    Nothing,
    /// The end of a frame without answer.
    End,
    Ack,
    /// A block acknowledgement, of an aggregate or of a request for it.
    BlockAck,
    Cts,
}

/// Answer of a station a SIFS after a reception.
#[derive(Clone, Copy, Debug)]
pub(super) enum Response {
    Ack {
        to: StationId,
        rate: Rate,
    },
    BlockAck {
        to: StationId,
        category: Category,
        rate: Rate,
    },
    Cts {
        to: StationId,
        rate: Rate,
        nav_nanos: u64,
    },
    /// The data that were announced.
    Data,
    /// Next step in the station's transmission opportunity.
    Next,
}

/// Another station in a category, under block acknowledgement.
#[derive(Debug)]
pub(super) struct Peer<L> {
    pub(super) id: StationId,
    pub(super) category: Category,
    /// Number of the next new frame to it.
    pub(super) next_sequence: u16,
    /// A request for acknowledgement is to be sent.
    pub(super) must_ask: bool,
    /// Consecutive unanswered requests.
    pub(super) asked_in_vain: u32,
    /// Receive state of the peer.
    pub(super) reorder: Reorder<L>,
}

impl<L> Peer<L> {
    /// The number of a frame that is sent to it for the first time.
    pub(super) fn number(&mut self) -> u16 {
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) & 0xfff;
        sequence
    }

    /// Restarts the sequence numbers of frames to the peer, and gives up earlier ones.
    pub(super) fn begin_anew(&mut self) {
        (self.next_sequence, self.must_ask, self.asked_in_vain) = (0, false, 0);
    }
}

/// A frame on the air toward this station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) end: u64,
    pub(super) ppdu: PpduId,
}

/// How a station finds its rate toward another one.
#[derive(Debug)]
pub(super) enum Adaptation {
    Arf(Arf),
    Minstrel(Minstrel),
}

impl Adaptation {
    pub(super) fn rate(&self) -> Rate {
        match self {
            Self::Arf(arf) => arf.rate(),
            Self::Minstrel(minstrel) => minstrel.rate(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Station<L> {
    pub(super) radio: Radio,
    pub(super) access: Access,
    /// Queues, the first category first.
    pub(super) lines: Vec<Line<L>>,
    /// The line of the current exchange, or of the last.
    pub(super) active: usize,
    /// When the station got the medium.
    pub(super) txop_start: u64,
    /// Result of the exchange for rate adaptation.
    pub(super) is_rated: bool,
    pub(super) awaited: Awaited,
    /// End of the wait.
    pub(super) timeout_at: u64,
    pub(super) response: Option<(u64, Response)>,
    /// Frames on the air toward this station, sorted by their ends.
    pub(super) expected: VecDeque<Expected>,
    /// When a reservation by an RTS is given up if nothing follows it.
    pub(super) nav_reset_at: u64,
    next_sequence: u16,
    /// By sender: the sequence number that was received last.
    pub(super) received: Vec<(StationId, u16)>,
    /// Peers under block acknowledgement.
    pub(super) peers: Vec<Peer<L>>,
    /// Rates to others, found by trying.
    pub(super) adaptations: Vec<(StationId, Adaptation)>,
    /// Its role.
    pub(super) role: Role,
    /// Of a client: to which access point it belongs.
    pub(super) association: Option<Association>,
    /// Of an access point: when the next beacon is due.
    pub(super) beacon_at: u64,
    /// Partner of the current exchange.
    pub(super) partner: StationId,
    /// Its next action may not be at the time for which it is in the agenda.
    pub(super) is_changed: bool,
    pub(super) is_down: bool,
    /// End of its scan: it neither sends nor receives until then.
    pub(super) is_away: bool,
    pub(super) counters: Counters,
    rng: Rng,
    /// From which the orders of Minstrel's samples are drawn.
    pub(super) samples: Rng,
    replayed: VecDeque<u32>,
}

impl<L> Station<L> {
    pub(super) fn new(plan: &MediumPlan, role: Role, rng: &Rng) -> Self {
        let is_client = role == Role::Client;
        let mut station = Self {
            radio: Radio::new(rng.substream("reception")),
            access: Access::new(plan.timing, &[]),
            lines: Vec::new(),
            active: 0,
            txop_start: 0,
            is_rated: false,
            awaited: Awaited::Nothing,
            timeout_at: u64::MAX,
            response: None,
            expected: VecDeque::new(),
            nav_reset_at: u64::MAX,
            next_sequence: 0,
            received: Vec::new(),
            peers: Vec::new(),
            adaptations: Vec::new(),
            role,
            association: is_client.then(|| Association::new(plan.infrastructure)),
            beacon_at: match role {
                Role::AccessPoint => {
                    rng.substream("beacon").below(plan.infrastructure.beacon_nanos)
                }
                Role::Peer | Role::Client => u64::MAX,
            },
            partner: StationId(0),
            is_changed: false,
            is_down: false,
            is_away: false,
            counters: Counters::default(),
            rng: rng.clone(),
            samples: rng.substream("minstrel"),
            replayed: VecDeque::new(),
        };
        station.line_of(plan, Category::BestEffort);
        station
    }

    /// The line of a category, opened at first use.
    pub(super) fn line_of(&mut self, plan: &MediumPlan, category: Category) -> usize {
        let place = self.lines.iter().position(|line| line.category >= category);
        let place = place.unwrap_or(self.lines.len());
        if self.lines.get(place).is_some_and(|line| line.category == category) {
            return place;
        }
        self.lines.insert(place, Line::new(category, &self.rng));
        self.access.insert(place, plan.contention_of(category));
        self.active += usize::from(self.lines.len() > 1 && place <= self.active);
        let slots = self.draw(place);
        self.access.contenders[place].begin(0, slots);
        place
    }

    /// Slots of the next back-off of a line.
    pub(super) fn draw(&mut self, line: usize) -> u32 {
        let window = u64::from(self.access.contenders[line].cw()) + 1;
        let backoffs = &mut self.lines[line].backoffs;
        self.replayed.pop_front().unwrap_or_else(|| backoffs.below(window) as u32)
    }

    pub(super) fn replay(&mut self, slots: impl IntoIterator<Item = u32>) {
        self.replayed.extend(slots);
        if let Some(first) = self.replayed.pop_front() {
            self.access.contenders[0].begin(0, first);
        }
    }

    /// All queued frames.
    pub(super) fn queued(&self) -> impl Iterator<Item = &Queued<L>> {
        self.lines.iter().flat_map(|line| &line.queue)
    }

    /// The line of the current exchange.
    pub(super) fn line(&mut self) -> &mut Line<L> {
        &mut self.lines[self.active]
    }

    /// Time of the station's next action, as far as it is known.
    pub(super) fn next(&self, now: u64, air: &Air<L>) -> Option<u64> {
        let response = self.response.map_or(u64::MAX, |(at, _)| at);
        let expected = self.expected.front().map_or(u64::MAX, |expected| expected.end);
        let member = self.association.as_ref().map_or(u64::MAX, Association::deadline);
        let fixed = response.min(expected).min(self.timeout_at).min(self.nav_reset_at);
        let fixed = fixed.min(self.beacon_at).min(member);
        let access = self.access.next(now).map_or(u64::MAX, |at| at.max(self.engaged_until(air)));
        let next = fixed.min(access);
        (next < u64::MAX).then_some(next)
    }

    /// Time until which the station certainly cannot get the medium.
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

    /// State of another station in a category.
    pub(super) fn peer(&mut self, id: StationId, category: Category) -> &mut Peer<L> {
        let place = self.peer_place(id, category);
        &mut self.peers[place]
    }

    /// Where the state of another station in a category stands, created at first use.
    pub(super) fn peer_place(&mut self, id: StationId, category: Category) -> usize {
        let is_it = |peer: &Peer<L>| peer.id == id && peer.category == category;
        self.peers.iter().position(is_it).unwrap_or_else(|| {
            self.peers.push(Peer {
                id,
                category,
                next_sequence: 0,
                must_ask: false,
                asked_in_vain: 0,
                reorder: Reorder::new(),
            });
            self.peers.len() - 1
        })
    }

    /// Rate adaptation toward the partner, if it needs the result of a frame.
    pub(super) fn adaptation(&mut self) -> Option<&mut Adaptation> {
        let partner = self.partner;
        let known = self.adaptations.iter_mut().find(|(id, _)| *id == partner);
        known.filter(|_| self.is_rated).map(|(_, adaptation)| adaptation)
    }

    /// Whom the station must ask what it has received, in a category.
    pub(super) fn must_ask(&self, category: Category) -> Option<StationId> {
        let asked = |peer: &&Peer<L>| peer.must_ask && peer.category == category;
        self.peers.iter().find(asked).map(|peer| peer.id)
    }

    /// Whether there is anything to send in a line.
    pub(super) fn has_work(&self, line: usize) -> bool {
        let line = &self.lines[line];
        !line.queue.is_empty() || self.must_ask(line.category).is_some()
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

    /// The sequence number of a frame that is sent for the first time.
    pub(super) fn number(&mut self) -> u16 {
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) & 0xfff;
        sequence
    }

    /// The station neither sends nor receives any more.
    pub(super) fn stop(&mut self) {
        self.awaited = Awaited::Nothing;
        (self.timeout_at, self.nav_reset_at) = (u64::MAX, u64::MAX);
        self.response = None;
        self.access.give_up();
    }
}
