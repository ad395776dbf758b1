//! Exchanges: what a station sends when, and what follows when an answer comes or does not.
//!
//! IEEE Std 802.11-2016, §10.3. A station draws a new back-off after each exchange, whatever came of it.
//!
//! Differences, ns-3.37's: failures are counted for the station, not for the frame, and continue if a frame expired in
//! between. An unanswered RTS counts as a failure of short frames, so that it never ends the tries of the long frame
//! that it announces.
use super::super::Address;
use super::super::access::Claim;
use super::block::Report;
use super::station::{Awaited, Queued, Response};
use super::{Discard, Medium, MediumOutput, Traced};
use crate::StationId;
use recoup_core::load::Load;

impl<L: Load + Clone> Medium<L> {
    /// Does what is due in a station that was brought up to date.
    pub(super) fn act(&mut self, now: u64, index: usize) {
        while let Some(expected) = self.stations[index].expected.front().copied() {
            if expected.end > now {
                break;
            }
            self.stations[index].expected.pop_front();
            self.conclude(expected.ppdu);
        }
        if let Some((at, response)) = self.stations[index].response
            && at <= now
        {
            self.stations[index].response = None;
            self.respond(now, index, response);
        }
        if self.stations[index].timeout_at <= now {
            self.on_timeout(now, index);
        }
        if self.stations[index].association.is_some() {
            self.decide(now, index);
        }
        if self.stations[index].beacon_at <= now {
            self.queue_beacon(now, index);
        }
        if let Some(line) = self.stations[index].access.winner(now) {
            self.win(now, index, line);
        }
    }

    /// A broadcast is over for one of its receivers.
    fn conclude(&mut self, ppdu: u32) {
        if let Some((from, load)) = self.air.conclude(ppdu) {
            self.lose(from, Address::All, load, Discard::Unheard);
        }
    }

    fn respond(&mut self, now: u64, index: usize, response: Response) {
        match response {
            Response::Ack { to, rate } => self.send_ack(now, index, to, rate),
            Response::BlockAck { to, category, rate } => {
                self.send_block_ack(now, index, to, category, rate);
            }
            Response::Cts { to, rate, nav_nanos } => self.send_cts(now, index, to, rate, nav_nanos),
            Response::Data => self.send_data(now, index),
            Response::Next => self.start(now, index),
        }
    }

    /// The medium is a line's; others that were ready as well have collided with it inside the station.
    fn win(&mut self, now: u64, index: usize, line: usize) {
        for other in line + 1..self.stations[index].lines.len() {
            let station = &mut self.stations[index];
            if station.access.is_done(now, other) {
                station.counters.internal_collisions += 1;
                station.access.contenders[other].double_cw();
                self.draw(now, index, other);
                self.stations[index].access.request(now, other);
            }
        }
        let station = &mut self.stations[index];
        (station.active, station.txop_start) = (line, now);
        self.start(now, index);
    }

    /// Sends what comes next in the line that has the medium.
    fn start(&mut self, now: u64, index: usize) {
        let line = self.stations[index].active;
        self.stations[index].access.contenders[line].claim = Claim::Requested;
        self.expire(now, index, line);
        if !self.stations[index].has_work(line) {
            return self.release(now, index);
        }
        if self.plan.aggregation.is_some() && self.start_block(now, index) {
            return;
        }
        let station = &mut self.stations[index];
        station.access.contenders[line].claim = Claim::Granted;
        let (front, category) = (&station.lines[line].queue[0], station.lines[line].category);
        if front.sequence.is_none() {
            let number = match (front.to, self.plan.aggregation) {
                (Address::Station(to), Some(_)) if !front.is_management() => {
                    station.peer(to, category).number()
                }
                _ => station.number(),
            };
            station.line().queue[0].sequence = Some(number);
        }
        let line = &station.lines[line];
        let is_announced = line.queue[0].to != Address::All && line.is_long(&self.plan);
        if is_announced { self.send_rts(now, index) } else { self.send_data(now, index) }
    }

    fn on_timeout(&mut self, now: u64, index: usize) {
        self.stations[index].timeout_at = u64::MAX;
        match std::mem::replace(&mut self.stations[index].awaited, Awaited::Nothing) {
            Awaited::Nothing => return,
            Awaited::End => {
                self.stations[index].line().queue.pop_front();
            }
            Awaited::Ack => self.on_ack_timeout(now, index),
            Awaited::BlockAck => self.on_block_ack_timeout(now, index),
            Awaited::Cts => self.on_cts_timeout(index),
        }
        self.release(now, index);
        self.claim(now, index);
    }

    fn on_ack_timeout(&mut self, now: u64, index: usize) {
        let plan = &self.plan;
        let station = &mut self.stations[index];
        station.counters.ack_timeouts += 1;
        let line = station.line();
        let (failures, most) = match line.is_long(plan) {
            true => (&mut line.long_failures, plan.long_tries),
            false => (&mut line.short_failures, plan.tries),
        };
        *failures += 1;
        if *failures >= most {
            *failures = 0;
            self.report(now, index, Report::GivenUp);
            return self.give_up(index);
        }
        self.report(now, index, Report::Lost);
        let station = &mut self.stations[index];
        station.access.contenders[station.active].double_cw();
        if let Some(queued) = station.line().queue.front_mut() {
            queued.is_retry = true;
        }
    }

    fn on_cts_timeout(&mut self, index: usize) {
        let station = &mut self.stations[index];
        station.counters.cts_timeouts += 1;
        station.line().short_failures += 1;
        if station.line().long_failures >= self.plan.long_tries {
            return self.give_up(index);
        }
        station.access.contenders[station.active].double_cw();
    }

    /// The frame at the front was sent as often as may be.
    fn give_up(&mut self, index: usize) {
        let station = &mut self.stations[index];
        station.counters.retries_exhausted += 1;
        station.access.contenders[station.active].reset_cw();
        let line = station.active;
        let given_up = station.line().queue.pop_front().filter(|queued| !queued.has_arrived);
        if let Some(queued) = given_up {
            self.abandon(index, line, queued, Discard::Retries);
        }
    }

    /// Gives a frame up that has not arrived.
    pub(super) fn abandon(
        &mut self,
        index: usize,
        line: usize,
        queued: Queued<L>,
        reason: Discard,
    ) {
        let from = StationId(index as u32);
        let is_numbered = queued.sequence.is_some() && !queued.is_management() && !queued.is_void;
        if let Address::Station(to) = queued.to
            && is_numbered
            && self.plan.aggregation.is_some()
        {
            // The receiver must not wait for its number.
            let station = &mut self.stations[index];
            let category = station.lines[line].category;
            station.peer(to, category).must_ask = true;
        }
        for load in std::iter::once(queued.load).chain(queued.more) {
            self.lose(from, queued.to, load, reason);
        }
    }

    /// The frame at the front was acknowledged.
    pub(super) fn on_ack(&mut self, now: u64, index: usize) {
        self.report(now, index, Report::Received);
        let plan = &self.plan;
        let station = &mut self.stations[index];
        station.awaited = Awaited::Nothing;
        station.timeout_at = u64::MAX;
        station.access.stop_waiting_for_ack(now);
        station.counters.acknowledged += 1;
        let line = station.line();
        match line.is_long(plan) {
            true => line.long_failures = 0,
            false => line.short_failures = 0,
        }
        let acknowledged = line.queue.pop_front();
        let category = line.category;
        station.access.contenders[station.active].reset_cw();
        if let Some(Address::Station(to)) = acknowledged.map(|queued| queued.to)
            && plan.aggregation.is_some()
        {
            let peer = station.peer(to, category);
            // The receiver still waits for dropped frames, and holds this frame behind them.
            peer.must_ask |= peer.asked_in_vain > 0;
        }
        self.go_on(now, index);
    }

    /// An exchange went well: the next one follows a SIFS later while the station has time, else it is over.
    pub(super) fn go_on(&mut self, now: u64, index: usize) {
        if !self.has_time(now, index) {
            return self.release(now, index);
        }
        let station = &mut self.stations[index];
        station.access.contenders[station.active].claim = Claim::Granted;
        station.response = Some((now + self.plan.timing.sifs_nanos, Response::Next));
    }

    /// Whether the frame at the front can be sent and acknowledged in what is left of the station's time.
    fn has_time(&mut self, now: u64, index: usize) -> bool {
        let station = &self.stations[index];
        let limit = station.access.contenders[station.active].plan.txop_nanos;
        let line = &station.lines[station.active];
        let Some(queued) = line.queue.front().filter(|_| limit > 0) else {
            return false;
        };
        let (to, is_management) = (queued.to, queued.is_management());
        let bytes = self.plan.mpdu_bytes(&queued.load, &queued.more);
        if line.is_long(&self.plan) || line.queue.iter().any(|queued| queued.is_flying) {
            return false;
        }
        let rate = self.data_rate(now, index, to, is_management);
        let timing = &self.plan.timing;
        let nanos = timing.sifs_nanos + rate.ppdu_nanos(bytes, timing.band) + self.ack_nanos(rate);
        now + nanos <= self.stations[index].txop_start + limit
    }

    pub(super) fn on_cts(&mut self, now: u64, index: usize) {
        let station = &mut self.stations[index];
        station.awaited = Awaited::Nothing;
        station.timeout_at = u64::MAX;
        station.line().short_failures = 0;
        station.access.stop_waiting_for_cts(now);
        station.response = Some((now + self.plan.timing.sifs_nanos, Response::Data));
    }

    // --- the claim to the medium ----------------------------------------------------------------

    /// The exchange is over: a new back-off.
    pub(super) fn release(&mut self, now: u64, index: usize) {
        let line = self.stations[index].active;
        self.stations[index].access.contenders[line].claim = Claim::None;
        self.draw(now, index, line);
    }

    /// Wants the medium for each line in which there is something to send.
    pub(super) fn claim(&mut self, now: u64, index: usize) {
        for line in 0..self.stations[index].lines.len() {
            self.expire(now, index, line);
            let station = &mut self.stations[index];
            let is_idle = station.access.contenders[line].claim == Claim::None;
            if is_idle && !station.is_away && !station.is_down && station.has_work(line) {
                station.access.request(now, line);
                station.is_changed = true;
            }
        }
    }

    pub(super) fn draw(&mut self, now: u64, index: usize, line: usize) {
        let station = &mut self.stations[index];
        let slots = station.draw(line);
        station.access.contenders[line].begin(now, slots);
        station.is_changed = true;
        if self.is_traced {
            let station = StationId(index as u32);
            let traced = Traced::Backoff { station, slots };
            self.outputs.push_back(MediumOutput::Traced(traced));
        }
    }

    /// Gives up what has waited for too long in a line, but for what is being sent.
    #[inline(always)]
    pub(super) fn expire(&mut self, now: u64, index: usize, line: usize) {
        if self.stale(now, index, line).is_some() {
            self.drop_stale(now, index, line);
        }
    }

    fn drop_stale(&mut self, now: u64, index: usize, line: usize) {
        while let Some(kept) = self.stale(now, index, line) {
            if let Some(queued) = self.stations[index].lines[line].queue.remove(kept) {
                self.stations[index].counters.expired += u64::from(!queued.is_void);
                if !queued.has_arrived {
                    self.abandon(index, line, queued, Discard::Lifetime);
                }
            }
        }
    }

    /// Place of the first frame that waits in a line, if it has waited for too long.
    #[inline(always)]
    fn stale(&self, now: u64, index: usize, line: usize) -> Option<usize> {
        let station = &self.stations[index];
        let kept = usize::from(station.access.contenders[line].claim == Claim::Granted);
        let queued = station.lines[line].queue.get(kept)?;
        let is_alive = now <= queued.since.saturating_add(self.lifetime) && !queued.is_void;
        (!is_alive && !queued.is_flying).then_some(kept)
    }
}
