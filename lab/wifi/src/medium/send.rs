//! Frames on their way to the air.
use super::super::air::{Envelope, Kind, Mpdu, PpduId};
use super::super::arf::Arf;
use super::super::content::{Content, Management};
use super::super::minstrel::Minstrel;
use super::super::plan::{ACK_BYTES, Category, RTS_BYTES, RateControl};
use super::super::radio::{Signal, WEAK};
use super::super::rate::Rate;
use super::super::{Address, StationId};
use super::station::{Adaptation, Awaited, Expected};
use super::{Discard, Medium, MediumOutput, Traced};
use recoup_core::load::Load;

impl<L: Load + Clone> Medium<L> {
    /// Sends the frame at the front.
    pub(super) fn send_data(&mut self, now: u64, index: usize) {
        let station = &mut self.stations[index];
        let category = station.line().category;
        let Some(queued) = station.line().queue.front() else {
            return;
        };
        let (to, bytes) = (queued.to, self.plan.mpdu_bytes(&queued.load, &queued.more));
        let (is_management, is_beacon) =
            (queued.is_management(), queued.load.management() == Some(Management::Beacon));
        let mpdu = queued.mpdu(queued.sequence.unwrap_or_default(), bytes);
        let shared = (to == Address::All).then(|| queued.load.clone());
        let rate = self.data_rate(now, index, to, is_management);
        let kind = if is_beacon { Kind::Beacon } else { Kind::Data { is_aggregate: false } };
        let nav_nanos = if to == Address::All { 0 } else { self.ack_nanos(rate) };
        let from = StationId(index as u32);
        let envelope = Envelope { from, to, kind, category, rate, bytes, nav_nanos };
        let end = self.transmit(now, envelope, &[mpdu], shared);
        let station = &mut self.stations[index];
        station.counters.data_sent += u64::from(!is_beacon);
        if to == Address::All {
            (station.awaited, station.timeout_at) = (Awaited::End, end);
            // From here on, the receivers of the frame decide its fate, not this station.
            station.line().queue[0].has_arrived = true;
        } else {
            let until = end + self.plan.timing.timeout_nanos(rate.control_answer());
            (station.awaited, station.timeout_at) = (Awaited::Ack, until);
            station.access.wait_for_ack(until);
        }
    }

    pub(super) fn send_rts(&mut self, now: u64, index: usize) {
        let station = &mut self.stations[index];
        let category = station.line().category;
        let Some(queued) = station.line().queue.front() else {
            return;
        };
        let (to, is_management) = (queued.to, queued.is_management());
        let bytes = queued.load.bytes() + self.plan.overhead_bytes();
        let rate = self.plan.basic_rate;
        let data_rate = self.data_rate(now, index, to, is_management);
        let (sifs, band) = (self.plan.timing.sifs_nanos, self.plan.timing.band);
        let cts = rate.control_answer().ppdu_nanos(ACK_BYTES, band);
        let data = data_rate.ppdu_nanos(bytes, band);
        let nav_nanos = sifs + cts + sifs + data + self.ack_nanos(data_rate);
        let from = StationId(index as u32);
        let (kind, bytes) = (Kind::Rts, RTS_BYTES);
        let envelope = Envelope { from, to, kind, category, rate, bytes, nav_nanos };
        let end = self.transmit(now, envelope, &[], None);
        let until = end + self.plan.timing.timeout_nanos(rate.control_answer());
        let station = &mut self.stations[index];
        (station.awaited, station.timeout_at) = (Awaited::Cts, until);
        station.access.wait_for_cts(until);
    }

    pub(super) fn send_ack(&mut self, now: u64, index: usize, to: StationId, rate: Rate) {
        let (from, to, kind) = (StationId(index as u32), Address::Station(to), Kind::Ack);
        let (category, bytes) = (Category::BestEffort, ACK_BYTES);
        let envelope = Envelope { from, to, kind, category, rate, bytes, nav_nanos: 0 };
        self.transmit(now, envelope, &[], None);
    }

    pub(super) fn send_cts(
        &mut self,
        now: u64,
        index: usize,
        to: StationId,
        rate: Rate,
        nav_nanos: u64,
    ) {
        let (from, to, kind) = (StationId(index as u32), Address::Station(to), Kind::Cts);
        let (category, bytes) = (Category::BestEffort, ACK_BYTES);
        let envelope = Envelope { from, to, kind, category, rate, bytes, nav_nanos };
        self.transmit(now, envelope, &[], None);
    }

    /// SIFS and acknowledgement of a frame at `rate`.
    pub(super) fn ack_nanos(&self, rate: Rate) -> u64 {
        let timing = &self.plan.timing;
        timing.sifs_nanos + rate.control_answer().ppdu_nanos(ACK_BYTES, timing.band)
    }

    /// The rate of the next frame to `to`, which becomes the partner of the exchange.
    pub(super) fn data_rate(
        &mut self,
        now: u64,
        index: usize,
        to: Address,
        is_management: bool,
    ) -> Rate {
        let station = &mut self.stations[index];
        station.is_rated = !is_management;
        let Address::Station(to) = to else {
            return self.plan.basic_rate;
        };
        station.partner = to;
        match self.plan.rate {
            _ if is_management => self.plan.basic_rate,
            adapted => {
                if let Some(known) = station.adaptation() {
                    return known.rate();
                }
                let new = match adapted {
                    RateControl::MinstrelHt { wide, short_guard } => {
                        let mut rng = station.samples.substream(&to.0.to_string());
                        Adaptation::Minstrel(Minstrel::new(now, wide, short_guard, &mut rng))
                    }
                    RateControl::Arf { adaptive } => Adaptation::Arf(Arf::new(adaptive)),
                    RateControl::Constant(rate) => return rate,
                };
                let rate = new.rate();
                station.adaptations.push((to, new));
                rate
            }
        }
    }

    /// Puts a frame of these MPDUs on the air, for all stations in range; returns its end. A frame for all has its load
    /// with it.
    pub(super) fn transmit(
        &mut self,
        now: u64,
        envelope: Envelope,
        mpdus: &[Mpdu],
        shared: Option<Content<L>>,
    ) -> u64 {
        let Envelope { from, to, kind, rate, bytes, .. } = envelope;
        let nanos = rate.ppdu_nanos(bytes, self.plan.timing.band);
        let end = now + nanos;
        let station = &mut self.stations[from.0 as usize];
        station.radio.send(now, end);
        station.access.on_tx_start(now, end);
        let ppdu = self.air.put(envelope, mpdus, shared);
        if self.is_traced {
            let is_retry = mpdus.first().is_some_and(|mpdu| mpdu.is_retry);
            let is_data = matches!(kind, Kind::Data { .. });
            let sent = Traced::Sent { from, to, is_data, is_retry, bytes, rate, nanos };
            self.outputs.push_back(MediumOutput::Traced(sent));
        }
        self.spread(now, nanos, ppdu);
        end
    }

    /// Announces a frame to all stations in range.
    fn spread(&mut self, now: u64, nanos: u64, ppdu: PpduId) {
        let (from, to, rate, is_beacon) = {
            let sent = self.air.ppdu(ppdu);
            (sent.from, sent.to, sent.rate, sent.kind == Kind::Beacon)
        };
        let mut neighbours = std::mem::take(&mut self.neighbours);
        self.links.reach(from.0, now, rate.width_mhz(), &mut neighbours);
        let (mut users, mut addressed) = (0, 0);
        for neighbour in &neighbours {
            let index = neighbour.station as usize;
            let station = &mut self.stations[index];
            if station.is_down || station.is_away {
                continue;
            }
            let start = now + neighbour.delay_nanos;
            let end = start + nanos;
            let signal = Signal { ppdu, start, end, power: neighbour.power, rate };
            // A signal weaker than a detectable preamble is never decoded.
            if neighbour.power < self.receiver.preamble {
                if station.radio.is_patient() {
                    station.radio.expect(Signal { ppdu: WEAK, ..signal });
                } else {
                    self.settle(now, index);
                    self.stations[index].radio.expect(Signal { ppdu: WEAK, ..signal });
                }
                continue;
            }
            users += 1;
            self.settle(now, index);
            let station = &mut self.stations[index];
            station.radio.expect(signal);
            let is_addressed = match to {
                Address::Station(to) => to.0 == neighbour.station,
                Address::All if is_beacon => station.association.is_some(),
                Address::All => true,
            };
            if is_addressed {
                addressed += 1;
                let place = station.expected.iter().rposition(|other| other.end <= end);
                station.expected.insert(place.map_or(0, |place| place + 1), Expected { end, ppdu });
                self.arm_by(index, end);
            } else if station.access.is_extended(now) {
                // What can be decoded ends the longer space after what could not.
                self.arm_by(index, end);
            }
        }
        self.neighbours = neighbours;
        // A broadcast without any station in range.
        if addressed == 0
            && to == Address::All
            && let Some(load) = self.air.take_shared(ppdu)
        {
            self.lose(from, to, load, Discard::Unheard);
        }
        self.air.hold(ppdu, users, addressed);
    }
}
