//! Aggregates and block acknowledgement: the sender's side, and what is released at the receiver.
//!
//! IEEE Std 802.11-2016, §10.13, §10.14 and §10.24. Frames to one station are joined to an A-MPDU up to its limits in
//! bytes, in time, and in frames in flight. Frames missing in a block acknowledgement are sent again before new ones.
//! If no acknowledgement comes, the sender requests one.
//!
//! Differences: the agreement needs no exchange of its own. A single frame is sent by itself, with a normal
//! acknowledgement, as in ns-3; and as there an A-MSDU in an A-MPDU may be longer than 4095 bytes.
use super::super::air::{Envelope, Kind, Mpdu, Ppdu, PpduId};
use super::super::plan::{
    Aggregation, BLOCK_ACK_BYTES, BLOCK_ACK_REQUEST_BYTES, Category, MOST_PPDU_NANOS, amsdu_bytes,
};
use super::super::rate::Rate;
use super::super::reorder::{WINDOW, distance};
use super::super::{Address, StationId};
use super::station::{Adaptation, Awaited, Station};
use super::{Discard, Medium, MediumOutput};
use crate::access::Claim;
use recoup_core::load::Load;
use std::iter::once;

/// Result of a single frame, for rate adaptation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Report {
    Received,
    Lost,
    GivenUp,
}

impl<L: Load + Clone> Medium<L> {
    /// Sends a request or an aggregate; `false` if the frame at the front is to be sent alone.
    pub(super) fn start_block(&mut self, now: u64, index: usize) -> bool {
        let station = &mut self.stations[index];
        let (line, category) = (station.active, station.line().category);
        if let Some(to) = station.must_ask(category) {
            station.access.contenders[line].claim = Claim::Granted;
            self.send_request(now, index, to);
            return true;
        }
        let front = station.line().queue.front().filter(|queued| !queued.is_management());
        let Some(Address::Station(to)) = front.map(|queued| queued.to) else {
            return false;
        };
        let rate = self.data_rate(now, index, Address::Station(to), false);
        let mut mpdus = std::mem::take(&mut self.mpdus);
        mpdus.clear();
        let bytes = self.compose(now, index, to, rate, &mut mpdus);
        let is_aggregate = mpdus.len() > 1;
        if is_aggregate {
            self.stations[index].access.contenders[line].claim = Claim::Granted;
            self.send_aggregate(now, index, to, rate, bytes, &mpdus);
        }
        self.mpdus = mpdus;
        is_aggregate
    }

    /// Fills `mpdus` with the frames of the next aggregate, and returns its bytes; single frames stay as they are.
    fn compose(
        &mut self,
        now: u64,
        index: usize,
        to: StationId,
        rate: Rate,
        mpdus: &mut Vec<Mpdu>,
    ) -> u32 {
        let Some(plan) = self.plan.aggregation else {
            return 0;
        };
        if plan.amsdu_bytes > 0 {
            self.bundle(index, to, &plan);
        }
        let most_bytes = rate.most_bytes(self.most_nanos(now, index, rate), self.plan.timing.band);
        let most_bytes = most_bytes.min(plan.ampdu_bytes);
        let (medium, station) = (&self.plan, &mut self.stations[index]);
        let start = window_start(station, to);
        let place = station.peer_place(to, station.lines[station.active].category);
        let (line, peer) = (&mut station.lines[station.active], &mut station.peers[place]);
        let mut bytes = 0_u32;
        for queued in line.queue.iter_mut().filter(|queued| queued.is_for(to)) {
            let mpdu_bytes = medium.mpdu_bytes(&queued.load, &queued.more);
            let total = bytes.next_multiple_of(4) + 4 + mpdu_bytes;
            if total > most_bytes && !mpdus.is_empty() {
                break;
            }
            if queued.sequence.is_none() && distance(start, peer.next_sequence) >= WINDOW {
                break;
            }
            let sequence = *queued.sequence.get_or_insert_with(|| peer.number());
            mpdus.push(queued.mpdu(sequence, mpdu_bytes));
            bytes = total;
        }
        bytes
    }

    /// Longest duration of an aggregate in the rest of the transmission opportunity.
    fn most_nanos(&self, now: u64, index: usize, rate: Rate) -> u64 {
        let station = &self.stations[index];
        let limit = station.access.contenders[station.active].plan.txop_nanos;
        if limit == 0 {
            return MOST_PPDU_NANOS;
        }
        let timing = &self.plan.timing;
        let answer = rate.control_answer().ppdu_nanos(BLOCK_ACK_BYTES, timing.band);
        let left = (station.txop_start + limit).saturating_sub(now);
        left.saturating_sub(timing.sifs_nanos + answer).min(MOST_PPDU_NANOS)
    }

    /// Joins new frames to A-MSDUs.
    fn bundle(&mut self, index: usize, to: StationId, plan: &Aggregation) {
        let queue = &mut self.stations[index].line().queue;
        let is_new = |queued: &super::Queued<L>| {
            let is_mine = queued.to == Address::Station(to) && !queued.is_management();
            is_mine && queued.sequence.is_none()
        };
        let mut place = 0;
        while place + 1 < queue.len() {
            let (first, next) = (&queue[place], &queue[place + 1]);
            let loads = || once(&first.load).chain(&first.more).chain(once(&next.load));
            let fits = is_new(first) && is_new(next) && amsdu_bytes(loads()) <= plan.amsdu_bytes;
            if !fits || !next.more.is_empty() {
                place += 1;
            } else if let Some(next) = queue.remove(place + 1) {
                queue[place].more.push(next.load);
            }
        }
    }

    fn send_aggregate(
        &mut self,
        now: u64,
        index: usize,
        to: StationId,
        rate: Rate,
        bytes: u32,
        mpdus: &[Mpdu],
    ) {
        let station = &mut self.stations[index];
        station.counters.data_sent += mpdus.len() as u64;
        let mut queue = station.line().queue.iter_mut();
        for mpdu in mpdus {
            if let Some(queued) = queue.find(|queued| queued.number == mpdu.number) {
                queued.is_flying = true;
                queued.tries += 1;
            }
        }
        let timing = self.plan.timing;
        let answer = rate.control_answer().ppdu_nanos(BLOCK_ACK_BYTES, timing.band);
        let envelope = Envelope {
            from: StationId(index as u32),
            to: Address::Station(to),
            kind: Kind::Data { is_aggregate: true },
            category: station.line().category,
            rate,
            bytes,
            nav_nanos: timing.sifs_nanos + answer,
        };
        let end = self.transmit(now, envelope, mpdus, None);
        self.await_block_ack(index, end + timing.timeout_nanos(rate.control_answer()));
    }

    fn send_request(&mut self, now: u64, index: usize, to: StationId) {
        let start = window_start(&mut self.stations[index], to);
        let station = &mut self.stations[index];
        (station.partner, station.is_rated) = (to, true);
        let category = station.line().category;
        let (rate, timing) = (self.plan.basic_rate, self.plan.timing);
        let answer = rate.control_answer();
        let envelope = Envelope {
            from: StationId(index as u32),
            to: Address::Station(to),
            kind: Kind::BlockAckRequest { start },
            category,
            rate,
            bytes: BLOCK_ACK_REQUEST_BYTES,
            nav_nanos: timing.sifs_nanos + answer.ppdu_nanos(BLOCK_ACK_BYTES, timing.band),
        };
        let end = self.transmit(now, envelope, &[], None);
        self.await_block_ack(index, end + timing.timeout_nanos(answer));
    }

    fn await_block_ack(&mut self, index: usize, until: u64) {
        let station = &mut self.stations[index];
        (station.awaited, station.timeout_at) = (Awaited::BlockAck, until);
        station.access.wait_for_ack(until);
    }

    pub(super) fn send_block_ack(
        &mut self,
        now: u64,
        index: usize,
        to: StationId,
        category: Category,
        rate: Rate,
    ) {
        let (start, bits) = self.stations[index].peer(to, category).reorder.acknowledgement();
        let (from, to) = (StationId(index as u32), Address::Station(to));
        let (kind, bytes) = (Kind::BlockAck { start, bits }, BLOCK_ACK_BYTES);
        let envelope = Envelope { from, to, kind, category, rate, bytes, nav_nanos: 0 };
        self.transmit(now, envelope, &[], None);
    }

    // --- answers --------------------------------------------------------------------------------

    pub(super) fn on_block_ack(&mut self, now: u64, index: usize, start: u16, bits: u64) {
        let station = &mut self.stations[index];
        (station.awaited, station.timeout_at) = (Awaited::Nothing, u64::MAX);
        station.access.stop_waiting_for_ack(now);
        station.access.contenders[station.active].reset_cw();
        let (partner, category) = (station.partner, station.line().category);
        let peer = station.peer(partner, category);
        let was_asked = std::mem::replace(&mut peer.must_ask, false);
        if was_asked {
            peer.asked_in_vain = 0;
        }
        peer.must_ask = peer.asked_in_vain > 0;
        let (received, lost) = self.sort(index, partner, start, bits);
        if !was_asked
            && let Some(Adaptation::Minstrel(minstrel)) = self.stations[index].adaptation()
        {
            minstrel.on_aggregate(now, received, lost);
        }
        self.go_on(now, index);
    }

    /// Removes acknowledged frames to `partner` and marks the rest to be sent again; returns the number of each.
    fn sort(&mut self, index: usize, partner: StationId, start: u16, bits: u64) -> (u32, u32) {
        let most = self.plan.aggregation.and_then(|plan| plan.mpdu_tries);
        let (mut received, mut lost, mut place) = (0, 0, 0);
        let line = self.stations[index].active;
        while place < self.stations[index].lines[line].queue.len() {
            let station = &mut self.stations[index];
            let queued = &mut station.lines[line].queue[place];
            if !queued.is_flying_to(partner) {
                place += 1;
                continue;
            }
            queued.is_flying = false;
            let ahead = distance(start, queued.sequence.unwrap_or(start));
            let is_received = ahead >= 2048 || ahead < WINDOW && bits >> ahead & 1 == 1;
            if is_received {
                received += 1;
                station.counters.acknowledged += 1;
                station.lines[line].queue.remove(place);
                continue;
            }
            lost += 1;
            queued.is_retry = true;
            if most.is_none_or(|most| queued.tries < most) {
                place += 1;
                continue;
            }
            station.counters.retries_exhausted += 1;
            let given_up = station.lines[line].queue.remove(place);
            if let Some(queued) = given_up.filter(|queued| !queued.has_arrived) {
                self.abandon(index, line, queued, Discard::Retries);
            }
        }
        (received, lost)
    }

    /// No acknowledgement came: the sender requests one, as long as it could name a frame.
    pub(super) fn on_block_ack_timeout(&mut self, now: u64, index: usize) {
        let lifetime = self.lifetime;
        let station = &mut self.stations[index];
        station.counters.ack_timeouts += 1;
        let (partner, line) = (station.partner, station.active);
        let flying = station.line().queue.iter().filter(|queued| queued.is_flying_to(partner));
        let lost = flying.count() as u32;
        let category = station.line().category;
        let was_asked = std::mem::replace(&mut station.peer(partner, category).must_ask, true);
        if !was_asked && let Some(Adaptation::Minstrel(minstrel)) = station.adaptation() {
            minstrel.on_aggregate(now, 0, lost);
        }
        let is_alive = |queued: &super::Queued<L>| {
            !queued.is_void && now <= queued.since.saturating_add(lifetime)
        };
        let mut flying = station.line().queue.iter().filter(|queued| queued.is_flying_to(partner));
        if flying.any(is_alive) {
            return station.access.contenders[line].double_cw();
        }
        if lost == 0 {
            // The frames that the receiver waits for were given up, and it does not answer: send the request again
            // later.
            let most = self.plan.tries;
            let peer = station.peer(partner, category);
            peer.asked_in_vain += 1;
            peer.must_ask = !peer.asked_in_vain.is_multiple_of(most);
            if peer.must_ask {
                return station.access.contenders[line].double_cw();
            }
        }
        station.access.contenders[line].reset_cw();
        for queued in &mut station.line().queue {
            queued.is_flying &= !queued.is_flying_to(partner);
        }
        self.expire(now, index, line);
    }

    /// Reports the result of a single frame to rate adaptation.
    pub(super) fn report(&mut self, now: u64, index: usize, report: Report) {
        use Adaptation::{Arf, Minstrel};
        match (self.stations[index].adaptation(), report) {
            (None, _) => {}
            (Some(Minstrel(minstrel)), Report::Received) => minstrel.on_success(now),
            (Some(Minstrel(minstrel)), Report::Lost) => minstrel.on_failure(),
            (Some(Minstrel(minstrel)), Report::GivenUp) => minstrel.on_final_failure(now),
            (Some(Arf(arf)), Report::Received) => arf.on_success(),
            (Some(Arf(arf)), Report::Lost) => arf.on_failure(),
            (Some(Arf(arf)), Report::GivenUp) => arf.on_given_up(),
        }
    }

    // --- at the receiver ------------------------------------------------------------------------

    /// Takes the MPDUs that came of a frame, and hands up their loads in order.
    pub(super) fn deliver_in_order(&mut self, index: usize, id: PpduId, received: u64) {
        let Self { air, stations, outputs, .. } = self;
        let Ppdu { from, category, ref mpdus, .. } = *air.ppdu(id);
        let Ok([sender, receiver]) = stations.get_disjoint_mut([from.0 as usize, index]) else {
            return;
        };
        let line = sender.lines.iter_mut().find(|line| line.category == category);
        // Numbers go up along a queue, so one walk finds all.
        debug_assert!(
            line.iter().all(|it| it.queue.iter().is_sorted_by_key(|queued| queued.number))
        );
        let mut queue = line.into_iter().flat_map(|line| &mut line.queue).peekable();
        let mut peer = None;
        let at = StationId(index as u32);
        let mut release =
            |load| outputs.push_back(MediumOutput::Arrived { at, from, load, is_copy: false });
        for (place, mpdu) in mpdus.iter().enumerate() {
            if received >> place & 1 == 0 {
                continue;
            }
            while queue.next_if(|queued| queued.number < mpdu.number).is_some() {}
            let held = queue.next_if(|queued| queued.number == mpdu.number);
            // Its sender failed meanwhile, or counts anew: the number would move the new window.
            let Some(queued) = held.filter(|queued| !queued.is_void) else {
                continue;
            };
            let is_first = !std::mem::replace(&mut queued.has_arrived, true);
            let loads = queued.loads().filter(|_| is_first).cloned();
            let peer = *peer.get_or_insert_with(|| receiver.peer_place(from, category));
            let reorder = &mut receiver.peers[peer].reorder;
            if !reorder.accept(mpdu.sequence, loads, &mut release) {
                receiver.counters.duplicates += 1;
            }
        }
    }

    pub(super) fn close_holes(
        &mut self,
        index: usize,
        from: StationId,
        category: Category,
        start: u16,
    ) {
        let (at, outputs) = (StationId(index as u32), &mut self.outputs);
        self.stations[index].peer(from, category).reorder.advance(start, &mut |load| {
            outputs.push_back(MediumOutput::Arrived { at, from, load, is_copy: false });
        });
    }
}

/// The number of the first frame to `to` that is not known to have been received.
fn window_start<L>(station: &mut Station<L>, to: StationId) -> u16 {
    let category = station.line().category;
    let front = station.line().queue.iter().find(|queued| queued.is_for(to));
    match front.and_then(|queued| queued.sequence) {
        Some(sequence) => sequence,
        None => station.peer(to, category).next_sequence,
    }
}
