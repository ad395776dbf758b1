//! The receiver of a station: which of the signals that reach it is decoded, and when the medium is busy.
//!
//! A preamble is decided on 4 µs after its start: the strongest that arrived meanwhile must have enough power and SINR.
//! Then headers, then bytes, each stretch of constant interference tested by itself. As ns-3.37's `PhyEntity`,
//! `InterferenceHelper` and `WifiPhyStateHelper`.
//!
//! A radio needs no wake-up. The next call that concerns a receiver brings it up to date ([`Radio::step`]). It changes
//! only its own station, and the times of the signals give the order of its events.
use super::access::Access;
use super::air::{Air, PpduId};
use super::rate::{HT_SIGNAL_NANOS, Rate};
use super::receiver::{Decoder, Receiver};
use recoup_core::random::Rng;
use std::collections::VecDeque;

/// From the start of a preamble to the decision on it.
const DETECTION_NANOS: u64 = 4_000;
/// From the start of a frame as long as another may capture the receiver.
const CAPTURE_NANOS: u64 = 16_000;
/// Signals too weak to matter by themselves that are put into the list before it is worked through.
const PATIENCE: usize = 32;
/// Signals that are held before those that are over are looked for.
const HELD: usize = 24;
/// Rate of SIGNAL and HT-SIG.
const HEADER_RATE: Rate = Rate::Ofdm(0);

/// In place of the number of a frame that is too weak to be decoded: its bytes do not matter.
pub(super) const WEAK: PpduId = PpduId::MAX;

/// A frame as it reaches a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    /// The frame, or [`WEAK`].
    pub(super) ppdu: PpduId,
    pub(super) start: u64,
    pub(super) end: u64,
    /// In milliwatts.
    pub(super) power: f64,
    pub(super) rate: Rate,
}

impl Signal {
    fn is_weak(&self) -> bool {
        self.ppdu == WEAK
    }
}

/// A part of a frame in which the interference is constant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stretch {
    /// In milliwatts.
    interference: f64,
    until: u64,
}

/// State of the receiver.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Idle, without a decodable frame.
    Listening,
    /// A preamble was detected; the first header is through at the given time.
    Header(Signal, u64),
    /// The second header of 802.11n is through at the given time.
    SecondHeader(Signal, u64),
    /// Preamble and headers are received; bytes begin at the given time.
    Training(Signal, u64),
    /// Receiving bytes.
    Payload(Signal),
    /// The second header was lost: busy until the frame is over.
    Lost(Signal),
}

/// Result of a reception.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reception {
    /// Headers are received: bytes follow until the given time.
    Begun(u64),
    /// A frame is over.
    Ended(Signal),
}

#[derive(Debug)]
pub(super) struct Radio {
    /// On their way, by arrival.
    pending: VecDeque<Signal>,
    /// Signals on the air, or gone and still relevant to the current reception.
    signals: Vec<Signal>,
    /// No less than the power of what is held, over or not.
    ceiling: f64,
    /// When the first of them is over.
    first_end: u64,
    /// Preambles that are to be decided on, by time.
    preambles: VecDeque<Signal>,
    phase: Phase,
    tx_end: u64,
    /// The end of the own frame is still to be acted upon.
    is_sending: bool,
    rx_end: u64,
    busy_end: u64,
    rng: Rng,
}

impl Radio {
    pub(super) fn new(rng: Rng) -> Self {
        Self {
            pending: VecDeque::new(),
            signals: Vec::new(),
            ceiling: 0.0,
            first_end: u64::MAX,
            preambles: VecDeque::new(),
            phase: Phase::Listening,
            tx_end: 0,
            is_sending: false,
            rx_end: 0,
            busy_end: 0,
            rng,
        }
    }

    /// A frame will reach the station.
    pub(super) fn expect(&mut self, signal: Signal) {
        // Frames begin one after the other, and the ways are short: nearly always it is the last.
        if self.pending.back().is_none_or(|last| last.start <= signal.start) {
            return self.pending.push_back(signal);
        }
        let place = self.pending.iter().rposition(|other| other.start <= signal.start);
        self.pending.insert(place.map_or(0, |place| place + 1), signal);
    }

    /// Whether what is on its way may be left for later.
    pub(super) fn is_patient(&self) -> bool {
        self.pending.len() < PATIENCE
    }

    /// The station begins to send, until `end`: what it was decoding is lost.
    pub(super) fn send(&mut self, now: u64, end: u64) {
        self.phase = Phase::Listening;
        self.preambles.clear();
        self.rx_end = self.rx_end.min(now);
        (self.tx_end, self.is_sending) = (end, true);
    }

    /// End of the frame in reception, if any: the medium is certainly busy until then.
    pub(super) fn current(&self) -> Option<Signal> {
        match self.phase {
            Phase::Listening => None,
            Phase::Header(signal, _) | Phase::SecondHeader(signal, _) => Some(signal),
            Phase::Training(signal, _) | Phase::Payload(signal) | Phase::Lost(signal) => {
                Some(signal)
            }
        }
    }

    /// Whether the headers of what is being received are through.
    pub(super) fn is_in_payload(&self) -> bool {
        matches!(self.phase, Phase::Payload(_))
    }

    /// Takes in signals that begin before `until` and are too weak to be decoded.
    fn take_in<L>(&mut self, until: u64, receiver: &Receiver, air: &mut Air<L>) {
        while let Some(signal) = self.pending.front().copied() {
            if signal.start >= until || !signal.is_weak() {
                return;
            }
            if self.signals.len() >= HELD || self.may_be_sensed(&signal, receiver) {
                self.forget(signal.start, air);
                if self.may_be_sensed(&signal, receiver) {
                    return;
                }
            }
            self.pending.pop_front();
            self.hold(signal);
        }
    }

    /// Whether an undecoded signal may make the medium busy, or busy for longer. It may not during the bytes of a
    /// frame, if the own frame outlasts it, or if all signals together are too weak.
    fn may_be_sensed(&self, signal: &Signal, receiver: &Receiver) -> bool {
        let is_deaf = matches!(self.phase, Phase::Payload(_)) && self.rx_end > signal.start;
        let is_outlasted = self.tx_end > signal.start && self.tx_end >= signal.end;
        !is_deaf && !is_outlasted && self.ceiling + signal.power >= receiver.carrier
    }

    /// Does the next thing that is due until `now`; `Ok(None)` if that is of no interest outside, `Err` if
    /// nothing is due.
    pub(super) fn step<L>(
        &mut self,
        now: u64,
        receiver: &mut Receiver,
        access: &mut Access,
        air: &mut Air<L>,
    ) -> Result<Option<(u64, Reception)>, ()> {
        let phase = self.phase_at();
        let sent = if self.is_sending { self.tx_end } else { u64::MAX };
        let decision = self.preambles.front().map_or(u64::MAX, |s| s.start + DETECTION_NANOS);
        let arrival = self.pending.front().map_or(u64::MAX, |signal| signal.start);
        let first = phase.min(sent).min(decision);
        if arrival < first && arrival <= now {
            self.take_in(first.min(now + 1), receiver, air);
        }
        let arrival = self.pending.front().map_or(u64::MAX, |signal| signal.start);
        let at = first.min(arrival);
        if at > now {
            return Err(());
        }
        if at == phase {
            return Ok(self.advance(at, receiver, access).map(|reception| (at, reception)));
        }
        if at == sent {
            self.is_sending = false;
            self.sense(at, receiver.energy, access);
        } else if at == decision {
            self.decide(at, receiver, access);
        } else if let Some(signal) = self.pending.pop_front() {
            if self.signals.len() >= HELD || self.ceiling + signal.power >= receiver.carrier {
                self.forget(at, air);
            }
            self.arrive(at, signal, receiver, access);
        }
        Ok(None)
    }

    /// Draws whether something of that probability is received.
    pub(super) fn receives(&mut self, success: f64) -> bool {
        success >= 1.0 || (success > 0.0 && self.rng.unit_f64() < success)
    }

    /// Probability that what lies between two instants of a frame is received. Windows of one frame come in order, and
    /// share `stretch`.
    pub(super) fn success(
        &self,
        signal: &Signal,
        window: (u64, u64),
        decoder: &Decoder,
        stretch: &mut Stretch,
        receiver: &mut Receiver,
    ) -> f64 {
        let (mut at, end) = window;
        let mut success = 1.0;
        // A station out of range of the rate receives nothing, whatever else is on the air.
        if at < end && decoder.is_hopeless(signal.power) {
            return 0.0;
        }
        while at < end && success > 0.0 {
            if at >= stretch.until {
                *stretch = self.stretch(signal, at);
            }
            let next = stretch.until.min(end);
            let sinr = decoder.sinr(signal.power, stretch.interference);
            success *= receiver.success(decoder, sinr, next - at);
            at = next;
        }
        success
    }

    /// A frame is over and what was in it is decided: senses what is left.
    pub(super) fn finish(&mut self, now: u64, receiver: &Receiver, access: &mut Access) {
        self.sense(now, receiver.carrier, access);
    }

    // --- steps ----------------------------------------------------------------------------------

    fn phase_at(&self) -> u64 {
        match self.phase {
            Phase::Listening => u64::MAX,
            Phase::Header(_, at) | Phase::SecondHeader(_, at) | Phase::Training(_, at) => at,
            Phase::Payload(signal) | Phase::Lost(signal) => signal.end,
        }
    }

    fn arrive(&mut self, now: u64, signal: Signal, receiver: &Receiver, access: &mut Access) {
        self.hold(signal);
        if self.tx_end > now {
            return self.overlook(now, &signal, self.tx_end, receiver, access);
        }
        let Some(current) = self.current() else {
            // What is too weak to be detected is too weak to be sensed, too, unless there is more of it.
            let may_be_sensed =
                self.ceiling >= receiver.carrier && self.power(now) >= receiver.carrier;
            if signal.power >= receiver.preamble || may_be_sensed {
                self.preambles.push_back(signal);
            }
            return;
        };
        if now <= current.start + CAPTURE_NANOS && receiver.captures(current.power, signal.power) {
            self.phase = Phase::Listening;
            self.rx_end = self.rx_end.min(now);
            self.preambles.push_back(signal);
        } else if self.rx_end <= now {
            self.overlook(now, &signal, self.busy_end, receiver, access);
        }
    }

    /// A frame that is not decoded: busy as long as there is energy, if it outlasts what is known of.
    fn overlook(
        &mut self,
        now: u64,
        signal: &Signal,
        idle_at: u64,
        receiver: &Receiver,
        access: &mut Access,
    ) {
        if signal.end > now.max(idle_at) && self.ceiling >= receiver.carrier {
            self.sense(now, receiver.carrier, access);
        }
    }

    fn decide(&mut self, now: u64, receiver: &Receiver, access: &mut Access) {
        let Some(signal) = self.preambles.pop_front() else {
            return;
        };
        if self.preambles.iter().any(|other| other.power > signal.power) {
            return;
        }
        let interference = self.interference_before(&signal, now);
        if !receiver.detects(signal.power, interference, signal.rate.width_mhz()) {
            let idle_at = self.busy_end;
            return self.overlook(now, &signal, idle_at, receiver, access);
        }
        self.preambles.clear();
        let header = signal.start + signal.rate.preamble_nanos() + signal.rate.first_header_nanos();
        self.phase = Phase::Header(signal, header);
        self.occupy(now, header, access);
    }

    fn advance(
        &mut self,
        now: u64,
        receiver: &mut Receiver,
        access: &mut Access,
    ) -> Option<Reception> {
        match self.phase {
            Phase::Listening => None,
            Phase::Header(signal, _) => {
                let from = now - signal.rate.first_header_nanos();
                let rate = if signal.rate.is_dsss() { Rate::Dsss(0) } else { HEADER_RATE };
                if !self.receives_header(&signal, (from, now), rate, receiver) {
                    self.phase = Phase::Listening;
                    self.overlook(now, &signal, self.busy_end, receiver, access);
                    return None;
                }
                if signal.rate.is_ht() {
                    let until = now + HT_SIGNAL_NANOS;
                    self.phase = Phase::SecondHeader(signal, until);
                    self.occupy(now, until, access);
                    return None;
                }
                Some(self.begin(now, signal, access))
            }
            Phase::SecondHeader(signal, _) => {
                let window = (now - HT_SIGNAL_NANOS, now);
                if self.receives_header(&signal, window, HEADER_RATE, receiver) {
                    let until = signal.start + signal.rate.header_nanos();
                    self.phase = Phase::Training(signal, until);
                    self.occupy(now, until, access);
                } else {
                    self.phase = Phase::Lost(signal);
                    self.occupy(now, signal.end, access);
                }
                None
            }
            Phase::Training(signal, _) => Some(self.begin(now, signal, access)),
            Phase::Payload(signal) => {
                self.phase = Phase::Listening;
                Some(Reception::Ended(signal))
            }
            Phase::Lost(_) => {
                self.phase = Phase::Listening;
                self.sense(now, receiver.carrier, access);
                None
            }
        }
    }

    /// Draws whether a header is received.
    fn receives_header(
        &mut self,
        signal: &Signal,
        window: (u64, u64),
        rate: Rate,
        receiver: &mut Receiver,
    ) -> bool {
        let decoder = receiver.decoder(rate, signal.rate.width_mhz());
        let success =
            self.success(signal, window, &decoder, &mut Stretch::default(), receiver);
        self.receives(success)
    }

    fn begin(&mut self, now: u64, signal: Signal, access: &mut Access) -> Reception {
        self.phase = Phase::Payload(signal);
        self.rx_end = signal.end;
        access.on_rx_start(now, signal.end);
        Reception::Begun(signal.end)
    }

    // --- energy ---------------------------------------------------------------------------------

    fn occupy(&mut self, now: u64, until: u64, access: &mut Access) {
        access.on_busy(now, until);
        self.busy_end = self.busy_end.max(until);
    }

    /// The medium is busy while all that is here together has `threshold`.
    fn sense(&mut self, now: u64, threshold: f64, access: &mut Access) {
        if self.rx_end > now {
            return;
        }
        let mut until = now;
        let mut power = self.power(until);
        while power >= threshold {
            let later = self.signals.iter().map(|signal| signal.end).filter(|end| *end > until);
            let Some(end) = later.min() else {
                break;
            };
            until = end;
            power = self.power(until);
        }
        if until > now {
            self.occupy(now, until, access);
        }
    }

    fn power(&self, at: u64) -> f64 {
        let here = self.signals.iter().filter(|signal| signal.start <= at && at < signal.end);
        here.map(|signal| signal.power).sum()
    }

    /// Interference with a frame at `at`, and the time until which it holds.
    fn stretch(&self, signal: &Signal, at: u64) -> Stretch {
        let mut stretch = Stretch { interference: 0.0, until: u64::MAX };
        for other in self.signals.iter().filter(|other| other.ppdu != signal.ppdu) {
            if other.start > at {
                stretch.until = stretch.until.min(other.start);
            } else if other.end > at {
                stretch.interference += other.power;
                stretch.until = stretch.until.min(other.end);
            }
        }
        stretch
    }

    fn interference_before(&self, signal: &Signal, now: u64) -> f64 {
        let others = self.signals.iter().filter(|other| other.ppdu != signal.ppdu);
        others.filter(|other| other.start < now && now <= other.end).map(|other| other.power).sum()
    }

    fn hold(&mut self, signal: Signal) {
        self.ceiling += signal.power;
        self.first_end = self.first_end.min(signal.end);
        self.signals.push(signal);
    }

    /// Lets go of signals that are over and of no interest any more.
    fn forget<L>(&mut self, now: u64, air: &mut Air<L>) {
        let received = self.current().map(|signal| signal.start);
        let waiting = self.preambles.front().map(|signal| signal.start);
        let since = received.into_iter().chain(waiting).fold(now, u64::min);
        if self.first_end > since {
            return;
        }
        (self.ceiling, self.first_end) = (0.0, u64::MAX);
        self.signals.retain(|signal| {
            let is_over = signal.end <= since;
            if !is_over {
                self.ceiling += signal.power;
                self.first_end = self.first_end.min(signal.end);
            } else if !signal.is_weak() {
                air.release(signal.ppdu);
            }
            !is_over
        });
    }
}
