//! The receiver of a station: which of the signals that reach it is decoded, and when the medium is busy.
//!
//! A preamble is decided on 4 µs after its start: the strongest that arrived meanwhile must have enough power and SINR.
//! Then headers, then bytes, each stretch of constant interference tested by itself. As ns-3.37's `PhyEntity`,
//! `InterferenceHelper` and `WifiPhyStateHelper`.
//!
//! A radio needs no wake-up. The next call that concerns a receiver brings it up to date ([`Radio::step`]). It changes
//! only its own station, and the times of the signals give the order of its events.
use super::access::Access;
use super::air::Air;
use super::rate::{HT_SIGNAL_NANOS, Rate};
use super::receiver::{Decoder, Receiver};
use recoup_core::random::Rng;
use signals::Signals;
use std::collections::VecDeque;

mod signals;

pub(super) use signals::{Signal, Stretch, WEAK};

/// From the start of a frame as long as another may capture the receiver.
const CAPTURE_NANOS: u64 = 16_000;
/// Signals too weak to matter by themselves that are put into the list before it is worked through.
const PATIENCE: usize = 32;
/// Signals that are held before those that are over are looked for.
const HELD: usize = 24;
/// Rate of SIGNAL and HT-SIG.
const HEADER_RATE: Rate = Rate::Ofdm(0);

/// State of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Idle, without a decodable frame.
    Listening,
    /// A preamble was detected; the first header is through at the end of the phase.
    Header,
    /// The second header of 802.11n is through at its end.
    SecondHeader,
    /// Preamble and headers are received; bytes begin at its end.
    Training,
    /// Receiving bytes.
    Payload,
    /// The second header was lost: busy until the frame is over.
    Lost,
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
    signals: Signals,
    /// Preambles that are to be decided on, by time.
    preambles: VecDeque<Signal>,
    /// When the first of them is decided on, if any.
    decision_at: u64,
    phase: Phase,
    /// End of the phase; never while listening.
    phase_end: u64,
    /// The frame of the phase, or the last one.
    current: Signal,
    tx_end: u64,
    /// The end of the own frame, while it is still to be acted upon.
    sent_at: u64,
    rx_end: u64,
    busy_end: u64,
    rng: Rng,
}

impl Radio {
    pub(super) fn new(rng: Rng) -> Self {
        Self {
            signals: Signals::new(),
            preambles: VecDeque::new(),
            decision_at: u64::MAX,
            phase: Phase::Listening,
            phase_end: u64::MAX,
            current: Signal { ppdu: WEAK, start: 0, end: 0, power: 0.0, rate: HEADER_RATE },
            tx_end: 0,
            sent_at: u64::MAX,
            rx_end: 0,
            busy_end: 0,
            rng,
        }
    }

    /// A frame will reach the station.
    #[inline]
    pub(super) fn expect(&mut self, signal: Signal) {
        self.signals.expect(signal);
    }

    /// Whether signals on their way may be left for later.
    pub(super) fn is_patient(&self) -> bool {
        self.signals.on_way().len() < PATIENCE
    }

    /// The station begins to send, until `end`: what it was decoding is lost.
    pub(super) fn send(&mut self, now: u64, end: u64) {
        self.enter(Phase::Listening, u64::MAX);
        self.drop_preambles();
        self.rx_end = self.rx_end.min(now);
        (self.tx_end, self.sent_at) = (end, end);
    }

    /// The frame in reception, if any: the medium is certainly busy until its end.
    pub(super) fn current(&self) -> Option<&Signal> {
        (self.phase != Phase::Listening).then_some(&self.current)
    }

    /// Whether the headers of what is being received are through.
    pub(super) fn is_in_payload(&self) -> bool {
        self.phase == Phase::Payload
    }

    /// Whether anything happens until `now`.
    #[inline]
    pub(super) fn is_due(&self, now: u64) -> bool {
        let arrival = self.signals.on_way().first().map_or(u64::MAX, |signal| signal.start);
        self.phase_end.min(self.sent_at).min(self.decision_at).min(arrival) <= now
    }

    /// Does what is due until `now`, up to the next thing of interest outside.
    #[inline]
    pub(super) fn step<L>(
        &mut self,
        now: u64,
        receiver: &mut Receiver,
        access: &mut Access,
        air: &mut Air<L>,
    ) -> Option<(u64, Reception)> {
        loop {
            let first = self.phase_end.min(self.sent_at).min(self.decision_at);
            let next = self.signals.on_way().first().filter(|signal| signal.start < first);
            if let Some(signal) = next.copied() {
                if signal.start > now {
                    return None;
                }
                self.take_in(&signal, receiver, access, air);
            } else if first > now {
                return None;
            } else if first == self.phase_end {
                if let Some(reception) = self.advance(first, receiver, access) {
                    return Some((first, reception));
                }
            } else if first == self.sent_at {
                self.sent_at = u64::MAX;
                self.sense(first, receiver.energy, access);
            } else {
                self.decide(first, receiver, access);
            }
        }
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
        self.success_at(signal.power, signal, window, decoder, stretch, receiver)
    }

    /// [`Radio::success`], if that part of the frame has a power of its own.
    pub(super) fn success_at(
        &self,
        power: f64,
        signal: &Signal,
        window: (u64, u64),
        decoder: &Decoder,
        stretch: &mut Stretch,
        receiver: &mut Receiver,
    ) -> f64 {
        let (mut at, end) = window;
        match self.foresee_at(power, signal, decoder) {
            Some(is_received) if at < end => return f64::from(u8::from(is_received)),
            _ => {}
        }
        let mut success = 1.0;
        while at < end && success > 0.0 {
            if at >= stretch.until {
                *stretch = self.signals.stretch(signal, at);
            }
            let next = stretch.until.min(end);
            let sinr = decoder.sinr(power, stretch.interference);
            success *= receiver.success(decoder, sinr, next - at);
            at = next;
        }
        success
    }

    /// Whether all or nothing of a frame is received, if the interference does not matter: its sender is out of range
    /// of the rate, or so near that all signals together leave enough SINR.
    pub(super) fn foresee(&self, signal: &Signal, decoder: &Decoder) -> Option<bool> {
        self.foresee_at(signal.power, signal, decoder)
    }

    fn foresee_at(&self, power: f64, signal: &Signal, decoder: &Decoder) -> Option<bool> {
        if decoder.is_hopeless(power) {
            return Some(false);
        }
        decoder.is_certain(power, self.signals.worst(signal)).then_some(true)
    }

    /// A frame is over and what was in it is decided: senses what is left.
    pub(super) fn finish(&mut self, now: u64, receiver: &Receiver, access: &mut Access) {
        self.sense(now, receiver.carrier, access);
    }

    // --- steps ----------------------------------------------------------------------------------

    fn add_preamble(&mut self, signal: &Signal) {
        self.preambles.push_back(*signal);
        self.decision_at = self.decision_at.min(signal.decision_at());
    }

    fn drop_preambles(&mut self) {
        self.preambles.clear();
        self.decision_at = u64::MAX;
    }

    fn enter(&mut self, phase: Phase, end: u64) {
        (self.phase, self.phase_end) = (phase, end);
    }

    /// The next signal arrives.
    fn take_in<L>(
        &mut self,
        signal: &Signal,
        receiver: &Receiver,
        access: &mut Access,
        air: &mut Air<L>,
    ) {
        let is_crowded = self.signals.here().len() >= HELD;
        if !signal.is_weak() {
            if is_crowded || self.signals.ceiling() + signal.power >= receiver.carrier {
                self.forget(signal.start, air);
            }
            return self.arrive(signal.start, signal, receiver, access);
        }
        let may_be_sensed = self.may_be_sensed(signal, receiver);
        if is_crowded || may_be_sensed {
            self.forget(signal.start, air);
        }
        match may_be_sensed && self.may_be_sensed(signal, receiver) {
            true => self.arrive(signal.start, signal, receiver, access),
            // Too weak to be decoded, and without effect on the state of the medium.
            false => self.signals.hold(signal),
        }
    }

    /// Whether an undecoded signal may make the medium busy, or busy for longer. It may not during the bytes of a
    /// frame, nor if all signals together are too weak. Nor may it if the own frame or the known busy time outlasts it.
    fn may_be_sensed(&self, signal: &Signal, receiver: &Receiver) -> bool {
        if self.signals.ceiling() + signal.power < receiver.carrier {
            return false;
        }
        let is_deaf = self.phase == Phase::Payload && self.rx_end > signal.start;
        let is_outlasted = match self.tx_end > signal.start {
            true => self.tx_end >= signal.end,
            // A preamble that is too weak still settles which of those decided on with it is the strongest.
            false => {
                let is_alone = self.preambles.is_empty() && !receiver.has_capture();
                is_alone && self.busy_end >= signal.end
            }
        };
        !is_deaf && !is_outlasted
    }

    fn arrive(&mut self, now: u64, signal: &Signal, receiver: &Receiver, access: &mut Access) {
        self.signals.hold(signal);
        if self.tx_end > now {
            return self.overlook(now, signal, self.tx_end, receiver, access);
        }
        if self.phase == Phase::Listening {
            // What is too weak to be detected is too weak to be sensed, too, unless there is more of it.
            let may_be_sensed = || {
                self.signals.ceiling() >= receiver.carrier
                    && self.signals.power(now) >= receiver.carrier
            };
            if signal.power >= receiver.preamble || may_be_sensed() {
                self.add_preamble(signal);
            }
            return;
        }
        let current = &self.current;
        if now <= current.start + CAPTURE_NANOS && receiver.captures(current.power, signal.power) {
            self.enter(Phase::Listening, u64::MAX);
            self.rx_end = self.rx_end.min(now);
            self.add_preamble(signal);
        } else if self.rx_end <= now {
            self.overlook(now, signal, self.busy_end, receiver, access);
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
        if signal.end > now.max(idle_at) && self.signals.ceiling() >= receiver.carrier {
            self.sense(now, receiver.carrier, access);
        }
    }

    fn decide(&mut self, now: u64, receiver: &Receiver, access: &mut Access) {
        let Some(signal) = self.preambles.pop_front() else {
            return;
        };
        self.decision_at = self.preambles.front().map_or(u64::MAX, Signal::decision_at);
        if self.preambles.iter().any(|other| other.power > signal.power) {
            return;
        }
        let width_mhz = signal.rate.width_mhz();
        let detects = |interference| receiver.detects(signal.power, interference, width_mhz);
        // As a rule the signal is too weak whatever the interference, or strong enough for any.
        if !detects(0.0)
            || !detects(self.signals.worst(&signal))
                && !detects(self.signals.interference_before(&signal, now))
        {
            let idle_at = self.busy_end;
            return self.overlook(now, &signal, idle_at, receiver, access);
        }
        self.drop_preambles();
        let header = signal.start + signal.rate.preamble_nanos() + signal.rate.first_header_nanos();
        self.current = signal;
        self.enter(Phase::Header, header);
        self.occupy(now, header, access);
    }

    fn advance(
        &mut self,
        now: u64,
        receiver: &mut Receiver,
        access: &mut Access,
    ) -> Option<Reception> {
        let Signal { start, end, rate, .. } = self.current;
        match self.phase {
            Phase::Listening => {}
            Phase::Header => {
                let from = now - rate.first_header_nanos();
                let header = if rate.is_dsss() { Rate::Dsss(0) } else { HEADER_RATE };
                if !self.receives_header((from, now), header, receiver) {
                    self.enter(Phase::Listening, u64::MAX);
                    let (signal, idle_at) = (self.current, self.busy_end);
                    self.overlook(now, &signal, idle_at, receiver, access);
                } else if rate.is_ht() {
                    self.enter(Phase::SecondHeader, now + HT_SIGNAL_NANOS);
                    self.occupy(now, now + HT_SIGNAL_NANOS, access);
                } else {
                    return Some(self.begin(now, access));
                }
            }
            Phase::SecondHeader => {
                let window = (now - HT_SIGNAL_NANOS, now);
                let (next, until) = match self.receives_header(window, HEADER_RATE, receiver) {
                    true => (Phase::Training, start + rate.header_nanos()),
                    false => (Phase::Lost, end),
                };
                self.enter(next, until);
                self.occupy(now, until, access);
            }
            Phase::Training => return Some(self.begin(now, access)),
            Phase::Payload => {
                self.enter(Phase::Listening, u64::MAX);
                return Some(Reception::Ended(self.current));
            }
            Phase::Lost => {
                self.enter(Phase::Listening, u64::MAX);
                self.sense(now, receiver.carrier, access);
            }
        }
        None
    }

    /// Draws whether a header is received.
    fn receives_header(&mut self, window: (u64, u64), rate: Rate, receiver: &mut Receiver) -> bool {
        let signal = self.current;
        let decoder = receiver.decoder(rate, signal.rate.width_mhz());
        let success = self.success(&signal, window, &decoder, &mut Stretch::default(), receiver);
        self.receives(success)
    }

    fn begin(&mut self, now: u64, access: &mut Access) -> Reception {
        let end = self.current.end;
        self.enter(Phase::Payload, end);
        self.rx_end = end;
        access.on_rx_start(now, end);
        Reception::Begun(end)
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
        let until = self.signals.busy_until(now, threshold);
        if until > now {
            self.occupy(now, until, access);
        }
    }

    /// Lets go of signals that are over and of no interest any more.
    fn forget<L>(&mut self, now: u64, air: &mut Air<L>) {
        let received = self.current().map(|signal| signal.start);
        let waiting = self.preambles.front().map(|signal| signal.start);
        self.signals.forget(received.into_iter().chain(waiting).fold(now, u64::min), air);
    }
}

#[cfg(test)]
mod tests;
