//! Frames from the air.
use super::super::air::{Kind, PpduId};
use super::super::content::Content;
use super::super::plan::ACK_BYTES;
use super::super::radio::{Reception, Signal, Stretch};
use super::super::{Address, StationId};
use super::station::{Awaited, Response};
use super::{Medium, MediumOutput};
use recoup_core::load::Load;

/// Slack of an answer in reception beyond its frame, in ns.
const SAFEGUARD_NANOS: u64 = 400;

impl<L: Load + Clone> Medium<L> {
    /// Brings a station up to date with its receptions until `now`.
    #[inline]
    pub(super) fn settle(&mut self, now: u64, index: usize) {
        let station = &mut self.stations[index];
        if station.nav_reset_at <= now || station.radio.is_due(now) {
            station.is_changed = true;
            self.settle_due(now, index);
        }
    }

    fn settle_due(&mut self, now: u64, index: usize) {
        let reset_at = self.stations[index].nav_reset_at;
        if reset_at <= now {
            self.catch_up(reset_at, index);
            let station = &mut self.stations[index];
            if station.nav_reset_at == reset_at {
                station.nav_reset_at = u64::MAX;
                station.access.reset_nav(reset_at);
            }
        }
        self.catch_up(now, index);
    }

    fn catch_up(&mut self, now: u64, index: usize) {
        loop {
            let station = &mut self.stations[index];
            let step =
                station.radio.step(now, &mut self.receiver, &mut station.access, &mut self.air);
            match step {
                None => return,
                Some((at, Reception::Begun(end))) => self.on_begun(at, index, end),
                Some((at, Reception::Ended(signal))) => self.on_ended(at, index, &signal),
            }
        }
    }

    /// Reception of bytes begins: they may be an awaited answer.
    fn on_begun(&mut self, now: u64, index: usize, end: u64) {
        let station = &mut self.stations[index];
        if matches!(station.awaited, Awaited::Ack | Awaited::BlockAck | Awaited::Cts) {
            station.timeout_at = end + SAFEGUARD_NANOS;
            station.access.stop_waiting_for_ack(now);
        }
        station.nav_reset_at = u64::MAX;
    }

    fn on_ended(&mut self, now: u64, index: usize, signal: &Signal) {
        let received = self.receive(index, signal);
        let station = &mut self.stations[index];
        let is_received = !station.is_down && !station.is_away && received != 0;
        if is_received {
            self.on_frame(now, index, signal, received);
        }
        let station = &mut self.stations[index];
        station.access.on_rx_end(now, !is_received);
        station.radio.finish(now, &self.receiver, &mut station.access);
        if is_received {
            self.claim(now, index);
        }
    }

    /// Draws what of a frame is received: a bit for each part. A station that overhears an aggregate needs its
    /// reservation, which each part holds: the parts behind the first that is received do not matter.
    fn receive(&mut self, index: usize, signal: &Signal) -> u64 {
        let (station, ppdu) = (&mut self.stations[index], self.air.ppdu(signal.ppdu));
        let decoder = self.receiver.decoder(signal.rate, signal.rate.width_mhz());
        let fades_by_itself = self.links.fade_per_mpdu() && ppdu.parts() > 1;
        match station.radio.foresee(signal, &decoder) {
            Some(true) if !fades_by_itself => return u64::MAX,
            Some(false) if !fades_by_itself => return 0,
            _ => {}
        }
        let is_mine = matches!(ppdu.to, Address::Station(StationId(to)) if to as usize == index);
        let start = signal.start + signal.rate.header_nanos();
        let (mut received, mut from, mut bytes) = (0_u64, start, 0);
        let mut stretch = Stretch::default();
        for place in 0..ppdu.parts() {
            let until = ppdu.end_of_part(place, &mut bytes, start, signal.end);
            let power = match fades_by_itself && place > 0 {
                true => self.links.power_at(ppdu.from.0, index as u32, from),
                false => signal.power,
            };
            let window = (from, until);
            let (radio, receiver) = (&station.radio, &mut self.receiver);
            let success = radio.success_at(power, signal, window, &decoder, &mut stretch, receiver);
            received |= u64::from(station.radio.receives(success)) << place;
            from = until;
            if received != 0 && !is_mine {
                break;
            }
        }
        received
    }

    /// A frame came, with those of its MPDUs whose bits are set in `received`.
    fn on_frame(&mut self, now: u64, index: usize, signal: &Signal, received: u64) {
        let id = signal.ppdu;
        let ppdu = self.air.ppdu(id);
        let (from, to, kind, rate) = (ppdu.from, ppdu.to, ppdu.kind, ppdu.rate);
        let (nav_nanos, category) = (ppdu.nav_nanos, ppdu.category);
        let is_mine = to == Address::Station(StationId(index as u32));
        if !is_mine {
            self.reserve(now, index, id);
            if kind == Kind::Beacon {
                self.note_beacon(now, index, from, signal.power);
            } else if to == Address::All {
                self.deliver_copies(index, id);
            }
            return;
        }
        let sifs = self.plan.timing.sifs_nanos;
        let station = &mut self.stations[index];
        match kind {
            Kind::Data { is_aggregate } => {
                let (to, rate) = (from, rate.control_answer());
                let response = match is_aggregate {
                    true => Response::BlockAck { to, category, rate },
                    false => Response::Ack { to, rate },
                };
                station.response = Some((now + sifs, response));
                let is_above = !ppdu.mpdus.iter().any(|mpdu| mpdu.is_management);
                match is_above && self.plan.aggregation.is_some() {
                    false => self.deliver(now, index, id),
                    true => self.deliver_in_order(index, id, received),
                }
            }
            Kind::BlockAckRequest { start } => {
                let rate = rate.control_answer();
                let response = Response::BlockAck { to: from, category, rate };
                station.response = Some((now + sifs, response));
                self.close_holes(index, from, category, start);
            }
            Kind::BlockAck { start, bits } => {
                if station.awaited == Awaited::BlockAck {
                    self.on_block_ack(now, index, start, bits);
                }
            }
            Kind::Ack if station.awaited == Awaited::Ack => self.on_ack(now, index),
            Kind::Cts if station.awaited == Awaited::Cts => self.on_cts(now, index),
            Kind::Rts if station.access.nav_end() <= now => {
                let rate = rate.control_answer();
                let cts = sifs + rate.ppdu_nanos(ACK_BYTES, self.plan.timing.band);
                let nav_nanos = nav_nanos.saturating_sub(cts);
                let response = Response::Cts { to: from, rate, nav_nanos };
                station.response = Some((now + sifs, response));
            }
            Kind::Ack | Kind::Cts | Kind::Rts | Kind::Beacon => {}
        }
    }

    /// A frame for another station reserves the medium.
    fn reserve(&mut self, now: u64, index: usize, id: PpduId) {
        let ppdu = self.air.ppdu(id);
        let timing = &self.plan.timing;
        let station = &mut self.stations[index];
        let end = now + ppdu.nav_nanos;
        if ppdu.kind == Kind::Rts && end > station.access.nav_end() {
            let answer = ppdu.rate.ppdu_nanos(ACK_BYTES, timing.band);
            let pause = 2 * timing.sifs_nanos + 2 * timing.slot_nanos;
            station.nav_reset_at = now + pause + answer + ppdu.rate.header_nanos();
        }
        station.access.on_nav(now, end);
    }

    /// Hands a frame for this station up, unless it was before.
    fn deliver(&mut self, now: u64, index: usize, id: PpduId) {
        let ppdu = self.air.ppdu(id);
        let (from, at) = (ppdu.from, StationId(index as u32));
        let mut management = None;
        for mpdu in &ppdu.mpdus {
            if !self.stations[index].is_new(from, mpdu.sequence, mpdu.is_retry) {
                self.stations[index].counters.duplicates += 1;
                continue;
            }
            let mut queue =
                self.stations[from.0 as usize].lines.iter_mut().flat_map(|line| &mut line.queue);
            let held = queue.find(|queued| queued.number == mpdu.number);
            // A sender that failed meanwhile has lost it already.
            let Some(queued) = held.filter(|queued| !queued.has_arrived) else {
                continue;
            };
            queued.has_arrived = true;
            match queued.load.clone() {
                Content::Management(content) => management = Some(content),
                Content::Above(load) => {
                    let arrived = MediumOutput::Arrived { at, from, load, is_copy: false };
                    self.outputs.push_back(arrived);
                }
            }
        }
        if let Some(management) = management {
            self.on_management(now, index, from, management);
        }
    }

    /// Hands a frame for all up.
    fn deliver_copies(&mut self, index: usize, id: PpduId) {
        let is_copy = self.air.mark_received(id);
        let ppdu = self.air.ppdu(id);
        let (at, from) = (StationId(index as u32), ppdu.from);
        if let Some(load) = ppdu.shared.as_ref().and_then(Content::as_above).cloned() {
            self.outputs.push_back(MediumOutput::Arrived { at, from, load, is_copy });
        }
    }
}
