//! Exchanges: what a station sends when, and what follows when an answer comes or does not.
//!
//! IEEE Std 802.11-2016, §10.3. A station draws a new back-off after each exchange, whatever came of it.
//!
//! Differences, ns-3.37's: failures are counted for the station, not for the frame, and go on when a frame
//! outlived its time in between; an RTS that is not answered counts as a failure of short frames, so that
//! it never ends the tries of the long frame which it announces.
use super::super::Address;
use super::super::access::Claim;
use super::block::Report;
use super::station::{Awaited, Queued, Response};
use super::{Discard, Medium, MediumOutput, Traced};
use crate::wifi::StationId;
use recoup_transport::queue::Load;

impl<L: Load + Clone> Medium<L> {
    /// Does what is due in a station that was brought up to date.
    pub(super) fn act(&mut self, now: u64, who: usize) {
        while let Some(expected) = self.stations[who].expected.front().copied() {
            if expected.end > now {
                break;
            }
            self.stations[who].expected.pop_front();
            self.conclude(expected.ppdu);
        }
        if let Some((at, response)) = self.stations[who].response
            && at <= now
        {
            self.stations[who].response = None;
            self.respond(now, who, response);
        }
        if self.stations[who].timeout_at <= now {
            self.on_timeout(now, who);
        }
        if self.stations[who].access.winner(now).is_some() {
            self.start(now, who);
        }
    }

    /// A frame for all is over for one of those who should hear it.
    fn conclude(&mut self, ppdu: u32) {
        if let Some((from, load)) = self.air.conclude(ppdu) {
            self.lose(from, Address::All, load, Discard::Unheard);
        }
    }

    fn respond(&mut self, now: u64, who: usize, response: Response) {
        match response {
            Response::Ack { to, rate } => self.send_ack(now, who, to, rate),
            Response::BlockAck { to, rate } => self.send_block_ack(now, who, to, rate),
            Response::Cts { to, rate, nav_nanos } => self.send_cts(now, who, to, rate, nav_nanos),
            Response::Data => self.send_data(now, who),
        }
    }

    /// The medium is the station's.
    fn start(&mut self, now: u64, who: usize) {
        self.expire(now, who);
        if !self.stations[who].has_work() {
            return self.release(now, who);
        }
        if self.plan.aggregation.is_some() && self.start_block(now, who) {
            return;
        }
        let station = &mut self.stations[who];
        station.access.contenders[0].claim = Claim::Granted;
        if station.queue[0].sequence.is_none() {
            let number = match (station.queue[0].to, self.plan.aggregation) {
                (Address::Station(to), Some(_)) => station.peer(to).number(),
                _ => station.number(),
            };
            station.queue[0].sequence = Some(number);
        }
        let is_announced = station.queue[0].to != Address::All && station.is_long(&self.plan);
        if is_announced { self.send_rts(now, who) } else { self.send_data(now, who) }
    }

    fn on_timeout(&mut self, now: u64, who: usize) {
        self.stations[who].timeout_at = u64::MAX;
        match std::mem::replace(&mut self.stations[who].awaited, Awaited::Nothing) {
            Awaited::Nothing => return,
            Awaited::End => {
                self.stations[who].queue.pop_front();
            }
            Awaited::Ack => self.on_ack_timeout(now, who),
            Awaited::BlockAck => self.on_block_ack_timeout(now, who),
            Awaited::Cts => self.on_cts_timeout(who),
        }
        self.release(now, who);
        self.claim(now, who);
    }

    fn on_ack_timeout(&mut self, now: u64, who: usize) {
        let station = &mut self.stations[who];
        station.counters.ack_timeouts += 1;
        let is_long = station.is_long(&self.plan);
        let (failures, most) = match is_long {
            true => (&mut station.long_failures, self.plan.long_tries),
            false => (&mut station.short_failures, self.plan.tries),
        };
        *failures += 1;
        if *failures >= most {
            *failures = 0;
            self.report(now, who, Report::GivenUp);
            return self.give_up(who);
        }
        self.report(now, who, Report::Lost);
        let station = &mut self.stations[who];
        station.access.contenders[0].double_cw();
        if let Some(queued) = station.queue.front_mut() {
            queued.is_retry = true;
        }
    }

    fn on_cts_timeout(&mut self, who: usize) {
        let station = &mut self.stations[who];
        station.counters.cts_timeouts += 1;
        station.short_failures += 1;
        if station.long_failures >= self.plan.long_tries {
            return self.give_up(who);
        }
        station.access.contenders[0].double_cw();
    }

    /// The frame at the front was sent as often as may be.
    fn give_up(&mut self, who: usize) {
        let station = &mut self.stations[who];
        station.counters.retries_exhausted += 1;
        station.access.contenders[0].reset_cw();
        let given_up = station.queue.pop_front().filter(|queued| !queued.has_arrived);
        if let Some(queued) = given_up {
            self.abandon(who, queued, Discard::Retries);
        }
    }

    /// Gives a frame up that has not arrived.
    pub(super) fn abandon(&mut self, who: usize, queued: Queued<L>, reason: Discard) {
        let from = StationId(who as u32);
        if let (Address::Station(to), Some(_), Some(_)) =
            (queued.to, queued.sequence, self.plan.aggregation)
        {
            // The receiver must not wait for its number.
            self.stations[who].peer(to).must_ask = true;
        }
        for load in std::iter::once(queued.load).chain(queued.more) {
            self.lose(from, queued.to, load, reason);
        }
    }

    /// The frame at the front was acknowledged.
    pub(super) fn on_ack(&mut self, now: u64, who: usize) {
        self.report(now, who, Report::Received);
        let station = &mut self.stations[who];
        station.awaited = Awaited::Nothing;
        station.timeout_at = u64::MAX;
        station.access.stop_waiting_for_ack(now);
        station.counters.acknowledged += 1;
        match station.is_long(&self.plan) {
            true => station.long_failures = 0,
            false => station.short_failures = 0,
        }
        station.access.contenders[0].reset_cw();
        station.queue.pop_front();
        self.release(now, who);
    }

    pub(super) fn on_cts(&mut self, now: u64, who: usize) {
        let station = &mut self.stations[who];
        station.awaited = Awaited::Nothing;
        station.timeout_at = u64::MAX;
        station.short_failures = 0;
        station.access.stop_waiting_for_cts(now);
        station.response = Some((now + self.plan.timing.sifs_nanos, Response::Data));
    }

    // --- the claim to the medium ----------------------------------------------------------------

    /// The exchange is over: a new back-off.
    pub(super) fn release(&mut self, now: u64, who: usize) {
        self.stations[who].access.contenders[0].claim = Claim::None;
        self.draw(now, who);
    }

    /// Wants the medium if there is something to send.
    pub(super) fn claim(&mut self, now: u64, who: usize) {
        self.expire(now, who);
        let station = &mut self.stations[who];
        if station.access.contenders[0].claim == Claim::None && station.has_work() {
            station.access.request(now, 0);
        }
    }

    pub(super) fn draw(&mut self, now: u64, who: usize) {
        let slots = self.stations[who].draw();
        self.stations[who].access.contenders[0].begin(now, slots);
        if self.is_traced {
            let station = StationId(who as u32);
            let traced = Traced::Backoff { station, slots };
            self.outputs.push_back(MediumOutput::Traced(traced));
        }
    }

    /// Gives up what has waited for too long, but for what is being sent.
    pub(super) fn expire(&mut self, now: u64, who: usize) {
        let lifetime = u64::try_from(self.plan.lifetime.as_nanos()).unwrap_or(u64::MAX);
        let kept = usize::from(self.stations[who].access.contenders[0].claim == Claim::Granted);
        while let Some(queued) = self.stations[who].queue.get(kept) {
            if now <= queued.since.saturating_add(lifetime) || queued.is_flying {
                return;
            }
            if let Some(queued) = self.stations[who].queue.remove(kept) {
                self.stations[who].counters.expired += 1;
                if !queued.has_arrived {
                    self.abandon(who, queued, Discard::Lifetime);
                }
            }
        }
    }
}
