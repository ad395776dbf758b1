//! Aggregates and block acknowledgement: the sender's side, and what is released at the receiver.
//!
//! IEEE Std 802.11-2016, §10.13, §10.14 and §10.24. Frames to one station are joined to an A-MPDU up to its limits in
//! bytes, in time, and in frames in flight. Frames missing in a block acknowledgement are sent again before new ones.
//! If no acknowledgement comes, the sender requests one.
//!
//! Differences: the agreement needs no exchange of its own. A single frame is sent by itself, with a normal
//! acknowledgement, as in ns-3; and as there an A-MSDU in an A-MPDU may be longer than 4095 bytes.
use super::super::air::{Envelope, Kind, Mpdu, Ppdu, PpduId};
use super::super::content::Content;
use super::super::plan::{
    Aggregation, BLOCK_ACK_BYTES, BLOCK_ACK_REQUEST_BYTES, Category, MOST_PPDU_NANOS, amsdu_bytes,
};
use super::super::rate::Rate;
use super::super::reorder::{WINDOW, distance};
use super::super::{Address, StationId};
use super::station::{Awaited, Station};
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
        let (mpdus, bytes) = self.compose(now, index, to, rate);
        if mpdus.len() < 2 {
            return false;
        }
        self.stations[index].access.contenders[line].claim = Claim::Granted;
        self.send_aggregate(now, index, to, rate, bytes, mpdus);
        true
    }

    /// The frames of the next aggregate, and its bytes; single frames stay as they are.
    fn compose(
        &mut self,
        now: u64,
        index: usize,
        to: StationId,
        rate: Rate,
    ) -> (Vec<Mpdu<L>>, u32) {
        let Some(plan) = self.plan.aggregation else {
            return (Vec::new(), 0);
        };
        self.bundle(index, to, &plan);
        let most_nanos = self.most_nanos(now, index, rate);
        let (medium, station) = (self.plan, &mut self.stations[index]);
        let (line, category) = (station.active, station.line().category);
        let start = window_start(station, to);
        let (mut mpdus, mut bytes) = (Vec::new(), 0_u32);
        for place in 0..station.lines[line].queue.len() {
            let queued = &station.lines[line].queue[place];
            if queued.to != Address::Station(to) || queued.is_management() || queued.is_void {
                continue;
            }
            let mpdu_bytes = medium.mpdu_bytes(&queued.load, &queued.more);
            let total = bytes.next_multiple_of(4) + 4 + mpdu_bytes;
            let nanos = rate.ppdu_nanos(total, medium.timing.band);
            let is_full = total > plan.ampdu_bytes || nanos > most_nanos;
            if is_full && !mpdus.is_empty() {
                break;
            }
            let given = queued.sequence;
            let sequence = match given {
                Some(sequence) => sequence,
                None => {
                    let peer = station.peer(to, category);
                    if distance(start, peer.next_sequence) >= WINDOW {
                        break;
                    }
                    peer.number()
                }
            };
            let queued = &mut station.lines[line].queue[place];
            queued.sequence = Some(sequence);
            mpdus.push(Mpdu {
                sequence,
                is_retry: queued.is_retry,
                load: queued.load.clone(),
                more: queued.more.clone(),
                bytes: mpdu_bytes,
                number: queued.number,
            });
            bytes = total;
        }
        (mpdus, bytes)
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
        while plan.amsdu_bytes > 0 && place + 1 < queue.len() {
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
        mpdus: Vec<Mpdu<L>>,
    ) {
        let station = &mut self.stations[index];
        station.counters.data_sent += mpdus.len() as u64;
        for queued in &mut station.line().queue {
            if mpdus.iter().any(|mpdu| mpdu.number == queued.number) {
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
        let end = self.transmit(now, envelope, mpdus);
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
        let end = self.transmit(now, envelope, None);
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
        self.transmit(now, envelope, None);
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
        let (received, lost) = self.sort(index, start, bits);
        if !was_asked && let Some(minstrel) = self.stations[index].minstrel() {
            minstrel.on_aggregate(now, received, lost);
        }
        self.go_on(now, index);
    }

    /// Removes acknowledged frames and marks the rest to be sent again; returns the number of each.
    fn sort(&mut self, index: usize, start: u16, bits: u64) -> (u32, u32) {
        let most = self.plan.aggregation.and_then(|plan| plan.mpdu_tries);
        let (mut received, mut lost, mut place) = (0, 0, 0);
        let line = self.stations[index].active;
        while place < self.stations[index].lines[line].queue.len() {
            let station = &mut self.stations[index];
            let queued = &mut station.lines[line].queue[place];
            if !std::mem::replace(&mut queued.is_flying, false) {
                place += 1;
                continue;
            }
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
        let lifetime = u64::try_from(self.plan.lifetime.as_nanos()).unwrap_or(u64::MAX);
        let station = &mut self.stations[index];
        station.counters.ack_timeouts += 1;
        let (partner, line) = (station.partner, station.active);
        let lost = station.line().queue.iter().filter(|queued| queued.is_flying).count() as u32;
        let category = station.line().category;
        let was_asked = std::mem::replace(&mut station.peer(partner, category).must_ask, true);
        if !was_asked && let Some(minstrel) = station.minstrel() {
            minstrel.on_aggregate(now, 0, lost);
        }
        let is_alive = |queued: &super::Queued<L>| {
            !queued.is_void && now <= queued.since.saturating_add(lifetime)
        };
        if station.line().queue.iter().any(|queued| queued.is_flying && is_alive(queued)) {
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
            queued.is_flying = false;
        }
        self.expire(now, index, line);
    }

    /// Reports the result of a single frame to rate adaptation.
    pub(super) fn report(&mut self, now: u64, index: usize, report: Report) {
        let Some(minstrel) = self.stations[index].minstrel() else {
            return;
        };
        match report {
            Report::Received => minstrel.on_success(now),
            Report::Lost => minstrel.on_failure(),
            Report::GivenUp => minstrel.on_final_failure(now),
        }
    }

    // --- at the receiver ------------------------------------------------------------------------

    /// Takes what came of a frame, and hands up what is in order.
    pub(super) fn deliver_in_order(&mut self, index: usize, id: PpduId, received: u64) {
        let Ppdu { from, category, .. } = *self.air.ppdu(id);
        let mut released = Vec::new();
        for place in 0..self.air.ppdu(id).mpdus.len() {
            if received >> place & 1 == 0 {
                continue;
            }
            let mpdu = &self.air.ppdu(id).mpdus[place];
            let lines = &mut self.stations[from.0 as usize].lines;
            let line = lines.iter_mut().find(|line| line.category == category);
            let mut queue = line.into_iter().flat_map(|line| &mut line.queue);
            let held = queue.find(|queued| queued.number == mpdu.number);
            // Its sender failed meanwhile, or counts anew: the number would move the new window.
            let Some(queued) = held.filter(|queued| !queued.is_void) else {
                continue;
            };
            let is_first = !std::mem::replace(&mut queued.has_arrived, true);
            let loads = std::iter::once(&mpdu.load).chain(&mpdu.more).filter(|_| is_first);
            let loads = loads.cloned().filter_map(Content::above).collect();
            let station = &mut self.stations[index];
            let reorder = &mut station.peer(from, category).reorder;
            if !reorder.accept(mpdu.sequence, loads, &mut released) {
                station.counters.duplicates += 1;
            }
        }
        self.hand_up(index, from, released);
    }

    pub(super) fn close_holes(
        &mut self,
        index: usize,
        from: StationId,
        category: Category,
        start: u16,
    ) {
        let mut released = Vec::new();
        self.stations[index].peer(from, category).reorder.advance(start, &mut released);
        self.hand_up(index, from, released);
    }

    fn hand_up(&mut self, index: usize, from: StationId, released: Vec<L>) {
        let at = StationId(index as u32);
        let arrived = |load| MediumOutput::Arrived { at, from, load, is_copy: false };
        self.outputs.extend(released.into_iter().map(arrived));
    }
}

/// The number of the first frame to `to` that is not known to have been received.
fn window_start<L>(station: &mut Station<L>, to: StationId) -> u16 {
    let is_for = |queued: &&super::Queued<L>| {
        queued.to == Address::Station(to) && !queued.is_management() && !queued.is_void
    };
    let category = station.line().category;
    match station.line().queue.iter().find(is_for).and_then(|queued| queued.sequence) {
        Some(sequence) => sequence,
        None => station.peer(to, category).next_sequence,
    }
}
