//! The medium, as a machine: frames in at one station, out at others.
//!
//! All events follow from calls of [`Medium::handle`] and [`Medium::poll`]; [`Medium::deadline`] names the next instant
//! of an event. A station has one entry in the medium's agenda: the earliest of its timers (the end of its back-off, of
//! the wait for an answer, of a frame for it). A frame for another station costs no entry; its effect is settled at the
//! next call that concerns the station.
mod block;
mod exchange;
mod membership;
mod receive;
mod send;
mod station;

pub use station::Counters;

use super::air::{Air, Mpdu};
use super::association::Association;
use super::content::Content;
use super::links::{Links, Neighbour};
use super::motion::Motion;
use super::plan::{Category, MediumPlan, Role};
use super::rate::Rate;
use super::receiver::Receiver;
use super::{Address, StationId};
use recoup_core::agenda::{Agenda, Key};
use recoup_core::load::Load;
use recoup_core::random::Rng;
use recoup_core::time::Instant;
use station::{Queued, Station};
use std::collections::VecDeque;

/// Inputs of the medium.
#[derive(Debug)]
pub enum MediumInput<L> {
    /// A station is to send a frame. Its size is that above the LLC header.
    Frame {
        /// The sender.
        from: StationId,
        /// Its destination.
        to: Address,
        /// Access category; without EDCA all frames share one.
        category: Category,
        /// The load.
        load: L,
    },
    /// The frames queued in a station for another one are given up: that one has moved elsewhere.
    Forget {
        /// The station that holds them.
        from: StationId,
        /// Their destination.
        to: StationId,
    },
    /// A station fails: its queue is lost, and it neither sends nor receives.
    Down(StationId),
    /// A station works again.
    Up(StationId),
}

/// Outputs of the medium.
#[derive(Clone, Debug, PartialEq)]
pub enum MediumOutput<L> {
    /// A frame arrived.
    Arrived {
        /// The receiving station.
        at: StationId,
        /// The sending station.
        from: StationId,
        /// The load.
        load: L,
        /// Another station has received it before: it was for all.
        is_copy: bool,
    },
    /// A frame will arrive nowhere.
    Lost {
        /// Its sender.
        from: StationId,
        /// Its destination.
        to: Address,
        /// The load.
        load: L,
        /// The reason.
        reason: Discard,
    },
    /// A client belongs to an access point from now on.
    Joined {
        /// The client.
        client: StationId,
        /// The access point.
        point: StationId,
        /// The previous access point; may equal `point`.
        before: Option<StationId>,
    },
    /// A client does not belong to an access point any more, which does not know that yet.
    Left {
        /// The client.
        client: StationId,
        /// The access point.
        point: StationId,
    },
    /// An event of a station, after [`Medium::trace`].
    Traced(Traced),
}

/// Why a frame was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Discard {
    /// No room in the station's queue.
    QueueFull,
    /// Queued for too long.
    Lifetime,
    /// The last try was not acknowledged.
    Retries,
    /// A broadcast that no station received.
    Unheard,
    /// The station failed.
    Down,
    /// The one that it was for belongs elsewhere.
    Departed,
}

/// Events of a station, frame by frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// The transmission of a frame begins.
    Sent {
        /// Its sender.
        from: StationId,
        /// Its destination.
        to: Address,
        /// Whether it is data, and not a control or management frame.
        is_data: bool,
        /// Whether it is a retransmission.
        is_retry: bool,
        /// Bytes of the PSDU.
        bytes: u32,
        /// At this rate.
        rate: Rate,
        /// Time on the air, in ns.
        nanos: u64,
    },
    /// A back-off was drawn.
    Backoff {
        /// By whom.
        station: StationId,
        /// Slots.
        slots: u32,
    },
}

/// A channel and its stations.
#[derive(Debug)]
pub struct Medium<L> {
    plan: MediumPlan,
    /// Lifetime of a queued frame, in ns.
    lifetime: u64,
    receiver: Receiver,
    air: Air<L>,
    links: Links,
    stations: Vec<Station<L>>,
    agenda: Agenda,
    outputs: VecDeque<MediumOutput<L>>,
    is_traced: bool,
    numbers: u64,
    /// When something last happened.
    latest: u64,
    neighbours: Vec<Neighbour>,
    mpdus: Vec<Mpdu>,
}

impl<L: Load + Clone> Medium<L> {
    /// A medium with stations that move like that, among equals. Chance comes from streams below `rng`:
    /// `links`, and `station/<number>` with `backoff` and `reception` below it.
    pub fn new(plan: MediumPlan, motions: Vec<Motion>, rng: &Rng) -> Self {
        Self::with_roles(plan, motions.into_iter().map(|motion| (motion, Role::Peer)), rng)
    }

    /// A medium with stations of these motions and roles. From the beginning, clients are associated with the access
    /// point that they receive best ([`Medium::member_of`]), if any is in range.
    pub fn with_roles(
        plan: MediumPlan,
        stations: impl IntoIterator<Item = (Motion, Role)>,
        rng: &Rng,
    ) -> Self {
        let (motions, roles): (Vec<Motion>, Vec<Role>) = stations.into_iter().unzip();
        let rng_of = |number: usize| rng.substream(&format!("station/{number}"));
        let stations = roles.iter().enumerate();
        let stations: Vec<Station<L>> =
            stations.map(|(number, role)| Station::new(&plan, *role, &rng_of(number))).collect();
        let mut medium = Self {
            plan,
            lifetime: u64::try_from(plan.lifetime.as_nanos()).unwrap_or(u64::MAX),
            receiver: Receiver::new(plan.receiver),
            air: Air::new(),
            links: Links::new(&plan, motions, rng.substream("links")),
            agenda: Agenda::new(stations.len()),
            stations,
            outputs: VecDeque::new(),
            is_traced: false,
            numbers: 0,
            latest: 0,
            neighbours: Vec::new(),
            mpdus: Vec::new(),
        };
        medium.gather();
        medium
    }

    /// Takes an input.
    pub fn handle(&mut self, now: Instant, input: MediumInput<L>) {
        let now = now.as_nanos();
        self.latest = now;
        match input {
            MediumInput::Frame { from, to, category, load } => {
                self.accept(now, from, to, category, load);
            }
            MediumInput::Forget { from, to } => self.forget(now, from, to),
            MediumInput::Down(station) => self.fail(now, station),
            MediumInput::Up(station) => self.recover(now, station),
        }
    }

    /// Hands out one consequence; to be called until `None`.
    pub fn poll(&mut self, now: Instant) -> Option<MediumOutput<L>> {
        let now = now.as_nanos();
        loop {
            if let Some(output) = self.outputs.pop_front() {
                return Some(output);
            }
            let (key, slot) = self.agenda.first()?;
            if key.at().as_nanos() > now {
                return None;
            }
            self.wake(key.at().as_nanos(), slot as usize);
        }
    }

    /// Returns loads that are lost already, in front of all due outputs.
    pub fn poll_lost(&mut self) -> Option<(L, Discard)> {
        if !matches!(self.outputs.front(), Some(MediumOutput::Lost { .. })) {
            return None;
        }
        match self.outputs.pop_front() {
            Some(MediumOutput::Lost { load, reason, .. }) => Some((load, reason)),
            _ => None,
        }
    }

    /// When to come back if nothing happens.
    ///
    /// Pending outputs are due at the instant of their cause.
    pub fn deadline(&self) -> Option<Instant> {
        if !self.outputs.is_empty() {
            return Some(Instant::from_nanos(self.latest));
        }
        self.agenda.first().map(|(key, _)| key.at())
    }

    /// Number of stations.
    pub fn len(&self) -> usize {
        self.stations.len()
    }

    /// Whether there are no stations.
    pub fn is_empty(&self) -> bool {
        self.stations.is_empty()
    }

    /// Frames that wait in a station, the one that is being sent included.
    pub fn waiting(&self, station: StationId) -> usize {
        self.waiting_loads(station).count()
    }

    /// Frames queued in a station, the one in transmission included.
    pub fn waiting_loads(&self, station: StationId) -> impl Iterator<Item = &L> {
        let station = self.stations.get(station.0 as usize);
        station.into_iter().flat_map(Station::queued).flat_map(Queued::loads)
    }

    /// Frames of a station that have not arrived anywhere.
    pub fn inside(&self) -> impl Iterator<Item = &L> {
        let waiting = self.stations.iter().flat_map(Station::queued);
        let waiting = waiting.filter(|queued| !queued.has_arrived).flat_map(Queued::loads);
        let peers = self.stations.iter().flat_map(|station| &station.peers);
        waiting.chain(self.air.unheard()).chain(peers.flat_map(|peer| peer.reorder.waiting()))
    }

    /// Counters of a station.
    pub fn counters(&self, station: StationId) -> Counters {
        self.stations.get(station.0 as usize).map(|station| station.counters).unwrap_or_default()
    }

    /// Enables or disables events of stations, frame by frame.
    pub fn trace(&mut self, is_traced: bool) {
        self.is_traced = is_traced;
    }

    /// Replaces the next back-offs of a station: what another recording drew is drawn here, too. The one that
    /// the station has drawn at its start is replaced by the first.
    pub fn replay_backoffs(&mut self, station: StationId, slots: impl IntoIterator<Item = u32>) {
        if let Some(station) = self.stations.get_mut(station.0 as usize) {
            station.replay(slots);
        }
    }

    /// The access point that a client belongs to.
    pub fn member_of(&self, station: StationId) -> Option<StationId> {
        let association = self.stations.get(station.0 as usize)?.association.as_ref();
        association.and_then(Association::point)
    }

    // --- agenda ---------------------------------------------------------------------------------

    /// A station's time has come.
    fn wake(&mut self, now: u64, index: usize) {
        self.settle(now, index);
        self.act(now, index);
        self.arm(now, index);
    }

    /// Wakes a station no later than `at`.
    fn arm_by(&mut self, index: usize, at: u64) {
        let is_earlier = self.agenda.key(index as u32).is_none_or(|key| at < key.at().as_nanos());
        if is_earlier {
            self.stations[index].is_changed = true;
            let sequence = self.agenda.sequence();
            self.agenda.arm(index as u32, Key::new(Instant::from_nanos(at), sequence));
        }
    }

    /// Wakes a station when it has to act next.
    fn arm(&mut self, now: u64, index: usize) {
        let slot = index as u32;
        self.stations[index].is_changed = false;
        let Some(at) = self.stations[index].next(now, &self.air) else {
            return self.agenda.disarm(slot);
        };
        let at = Instant::from_nanos(at.max(now));
        if self.agenda.key(slot).is_none_or(|key| key.at() != at || at.as_nanos() == now) {
            let sequence = self.agenda.sequence();
            self.agenda.arm(slot, Key::new(at, sequence));
        }
    }

    // --- frames from above ----------------------------------------------------------------------

    fn accept(&mut self, now: u64, from: StationId, to: Address, category: Category, load: L) {
        let index = from.0 as usize;
        let is_there = |id: StationId| (id.0 as usize) < self.stations.len();
        let can_be_sent = is_there(from) && !self.stations[index].is_down;
        let load = Content::Above(load);
        if !can_be_sent || matches!(to, Address::Station(id) if !is_there(id) || id == from) {
            return self.lose(from, to, load, Discard::Down);
        }
        self.settle(now, index);
        self.enqueue(now, index, to, category, load);
        let is_due = || self.agenda.key(from.0).is_some_and(|key| key.at().as_nanos() == now);
        if self.stations[index].is_changed || is_due() {
            self.arm(now, index);
        }
    }

    /// A frame begins to wait in a station that was brought up to date.
    fn enqueue(
        &mut self,
        now: u64,
        index: usize,
        to: Address,
        category: Category,
        load: Content<L>,
    ) {
        self.numbers += 1;
        let (number, from) = (self.numbers, StationId(index as u32));
        let line = self.stations[index].line_of(&self.plan, self.plan.category(category));
        if self.stations[index].lines[line].queue.len() >= self.plan.queue_frames {
            self.expire(now, index, line);
        }
        if self.stations[index].lines[line].queue.len() >= self.plan.queue_frames {
            self.stations[index].counters.full += 1;
            return self.lose(from, to, load, Discard::QueueFull);
        }
        self.expire(now, index, line);
        let station = &mut self.stations[index];
        let is_first = station.lines[line].queue.is_empty();
        station.is_changed |= is_first;
        if is_first && station.access.needs_backoff(now, line, self.plan.fresh_space) {
            self.draw(now, index, line);
        }
        self.stations[index].lines[line].queue.push_back(Queued::new(number, now, to, load));
        self.claim(now, index);
    }

    /// A frame is given up.
    fn lose(&mut self, from: StationId, to: Address, load: Content<L>, reason: Discard) {
        match load {
            Content::Above(load) => {
                self.outputs.push_back(MediumOutput::Lost { from, to, load, reason });
            }
            Content::Management(management) => self.on_unanswered(from, management),
        }
    }

    fn fail(&mut self, now: u64, station: StationId) {
        let index = station.0 as usize;
        if index >= self.stations.len() {
            return;
        }
        self.settle(now, index);
        for line in 0..self.stations[index].lines.len() {
            let queue = std::mem::take(&mut self.stations[index].lines[line].queue);
            for queued in queue.into_iter().filter(|queued| !queued.has_arrived) {
                self.abandon(index, line, queued, Discard::Down);
            }
        }
        for place in 0..self.stations[index].peers.len() {
            let peer = &mut self.stations[index].peers[place];
            peer.asked_in_vain = 0;
            let (from, waiting) = (peer.id, peer.reorder.take_waiting());
            for load in waiting {
                self.lose(from, Address::Station(station), Content::Above(load), Discard::Down);
            }
        }
        self.stations[index].is_down = true;
        self.stations[index].stop();
        self.part(index);
        self.arm(now, index);
    }

    fn recover(&mut self, now: u64, station: StationId) {
        let index = station.0 as usize;
        if index < self.stations.len() {
            self.settle(now, index);
            self.stations[index].is_down = false;
            self.resume_beacons(now, index);
            self.claim(now, index);
            self.arm(now, index);
        }
    }
}
