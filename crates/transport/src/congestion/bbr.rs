//! `bbr(init-cwnd=10)`: a model of the path's rate and round-trip time, probed in turns (version 3).
//!
//! ```text
//!             the rate rises no more,                    the queue       ProbeBW
//!             or a round loses too much                  is empty        ┌──────────────────────────┐
//!   Startup ───────────────────────────► Drain ───────────────────────► Down ─► Cruise ─► Refill ─► Up
//!      ▲                                                                 ▲                          │
//!      └── not yet full ── ProbeRTT ── full ────────────────────────────►└──────────────────────────┘
//!                              ▲ from any state: no lower round trip for 5 s
//! ```
//!
//! Source: Cardwell, Swett and Beshay, "BBR Congestion Control", draft-ietf-ccwg-bbr-01, sections 2.2 to 2.8
//! (constants), 4.3 (states), 4.5 (model) and 4.6 (control). Names of fields are those of the draft.
//!
//! Differences:
//! - a consumer counts segments, not bytes, and has no budget for offload;
//! - samples follow from reported send orders, see `bbr/sample.rs`;
//! - a loss takes effect at the next delivery, as the acknowledgment that reveals it does in TCP;
//! - a sample is limited by the application only at the end of the object, since the window does not know other pauses;
//! - a timeout is one of TCP only if nothing else is in flight;
//! - a congestion mark counts as a loss for the model, but leaves the flight. The draft has no response to marks. A
//!   Nack (Congestion) ends a probe as a lossy one does;
use super::{CongestionControl, Delivered, Loss, LossKind, RecoveryPoint, WIDEST, sane_limit};
use crate::random::Rng;
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};
use model::{Model, Round};
use probe::{AckPhase, Probe};
use sample::{Sample, Sampler, Sent};

mod model;
mod probe;
mod sample;

/// Gains of the pacing rate: twice the rate in each round of Startup is 4·ln 2.
const STARTUP_PACING_GAIN: f64 = 2.77;
const DRAIN_PACING_GAIN: f64 = 0.5;
const DOWN_PACING_GAIN: f64 = 0.9;
const UP_PACING_GAIN: f64 = 1.25;
/// Gains of the window.
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
/// The pacing rate is below the estimated rate by this share.
const PACING_MARGIN: f64 = 0.01;
/// Share of losses that is too much.
const LOSS_THRESHOLD: f64 = 0.02;
/// Factor of the limits at a loss.
const BETA: f64 = 0.7;
/// Share of the long-term limit that stays free for others.
const HEADROOM: f64 = 0.15;
/// The least window.
const MIN_PIPE_CWND: f64 = 4.0;
/// Losses in a round of Startup that end it, if they are too much.
const STARTUP_FULL_LOSSES: u64 = 6;
/// A rate below this multiple is no growth, and rounds without growth until the path is full.
const FULL_BW_GAIN: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
const MIN_RTT_SPAN: Duration = Duration::from_secs(10);
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);

/// States.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_PACING_GAIN,
            Self::Drain => DRAIN_PACING_GAIN,
            Self::Down => DOWN_PACING_GAIN,
            Self::Up => UP_PACING_GAIN,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => UP_CWND_GAIN,
            Self::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => CWND_GAIN,
        }
    }
}

/// Signals of one delivery.
#[derive(Clone, Copy)]
struct Ack {
    now: Instant,
    /// Segments in flight after it.
    in_flight: f64,
    sample: Option<Sample>,
    sent: Option<Sent>,
    app_limited: bool,
    round_start: bool,
    /// The window limited the sending.
    cwnd_limited: bool,
}

/// Bottleneck bandwidth and round-trip propagation time.
#[derive(Clone, Debug, PartialEq)]
pub struct Bbr {
    init_cwnd: f64,
    rng: Rng,
    state: State,
    cwnd: f64,
    limit: f64,
    sampler: Sampler,
    model: Model,
    probe: Probe,
    recovery: RecoveryPoint,
    /// Deliveries at which the present round ends.
    next_round_delivered: u64,
    /// The path was found full, once and since the last reset.
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,
    /// Losses since the last delivery, and those of them that left the flight.
    newly_lost: u64,
    newly_gone: u64,
    /// Segments in flight at the transmission of a loss beyond the threshold.
    too_high: Option<f64>,
    /// Window before a ProbeRTT or a silence.
    prior_cwnd: f64,
    /// Highest send order at a timeout with nothing in flight.
    silence: Option<u64>,
    /// End of the present ProbeRTT, once the flight has shrunk.
    probe_rtt_done: Option<Instant>,
    probe_rtt_round_done: bool,
    pacing_rate: Option<f64>,
}

impl Bbr {
    /// A window of `init_cwnd` segments, at least 1.
    #[must_use]
    pub fn new(init_cwnd: f64) -> Self {
        let init_cwnd = sane_limit(init_cwnd);
        Self {
            init_cwnd,
            rng: Rng::from_seed(0),
            state: State::Startup,
            cwnd: init_cwnd,
            limit: WIDEST,
            sampler: Sampler::default(),
            model: Model::new(),
            probe: Probe::new(),
            recovery: RecoveryPoint::default(),
            next_round_delivered: 0,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            newly_lost: 0,
            newly_gone: 0,
            too_high: None,
            prior_cwnd: 0.0,
            silence: None,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            pacing_rate: None,
        }
    }

    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let read = spec.read(Self::new(10.0))?;
        Ok(Self::new(read.init_cwnd))
    }

    /// A round ends when a segment is delivered that was sent after its beginning.
    fn is_round_start(&mut self, sent: Option<Sent>) -> bool {
        let before = sent.map_or(0, |sent| sent.delivered);
        let starts = before >= self.next_round_delivered;
        if starts {
            self.start_round();
            self.probe.rounds += 1;
        }
        starts
    }

    fn start_round(&mut self) {
        self.next_round_delivered = self.sampler.delivered();
    }

    fn ack(&mut self, now: Instant, delivered: &Delivered) -> Ack {
        let least = self.model.min_rtt.unwrap_or_default();
        let sent = self.sampler.sent(delivered.order);
        let sample = self.sampler.on_delivered(now, delivered, least);
        let allowed = libm::floor(self.window());
        Ack {
            now,
            in_flight: f64::from(delivered.in_flight.saturating_sub(1)),
            sample,
            sent,
            app_limited: delivered.remaining == Some(0) || self.state == State::ProbeRtt,
            round_start: self.is_round_start(sent),
            cwnd_limited: f64::from(delivered.in_flight) + 1.0 >= allowed,
        }
    }

    /// Whether more than the threshold of what was in flight at the transmission was lost since.
    fn is_too_high(&self, sent: Sent) -> bool {
        let lost = self.sampler.lost().saturating_sub(sent.lost) as f64;
        lost > sent.in_flight * LOSS_THRESHOLD
    }

    /// Whether probes of the rate are on, so that losses have no short-term consequences.
    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    fn reset_full_bw(&mut self, rate: f64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (rate, 0, false);
    }

    fn check_full_bw(&mut self, ack: &Ack) {
        if self.full_bw_now || !ack.round_start || ack.app_limited {
            return;
        }
        let Some(sample) = ack.sample else { return };
        if sample.rate >= self.full_bw * FULL_BW_GAIN {
            return self.reset_full_bw(sample.rate);
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    fn check_startup(&mut self, round: Round) {
        if self.state != State::Startup {
            return;
        }
        let (lost, delivered) = (round.lost as f64, round.delivered as f64);
        let too_many = lost > (lost + delivered) * LOSS_THRESHOLD;
        if round.lost >= STARTUP_FULL_LOSSES && too_many {
            self.full_bw_reached = true;
            self.full_bw_now = true;
            let bdp = self.model.bdp(1.0).unwrap_or(self.cwnd);
            self.model.inflight_hi = bdp.max(self.model.inflight_latest).max(MIN_PIPE_CWND);
        }
        if self.full_bw_now {
            self.state = State::Drain;
        }
    }

    fn check_drain(&mut self, ack: &Ack) {
        let is_empty = self.model.bdp(1.0).is_none_or(|bdp| ack.in_flight <= bdp);
        if self.state == State::Drain && is_empty {
            self.start_down(ack.now);
        }
    }

    fn start_down(&mut self, now: Instant) {
        self.model.reset_congestion_signals();
        self.probe.pick_wait(&mut self.rng, now);
        self.probe.phase = AckPhase::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    fn start_refill(&mut self) {
        self.model.reset_short_term();
        self.probe.refill();
        self.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self, ack: &Ack) {
        self.probe.phase = AckPhase::Starting;
        self.start_round();
        self.reset_full_bw(ack.sample.map_or(0.0, |sample| sample.rate));
        self.state = State::Up;
        self.probe.raise_slope(self.cwnd);
    }

    /// One step of the cycle of ProbeBW.
    fn update_cycle(&mut self, ack: &Ack) {
        if !self.full_bw_reached {
            return;
        }
        self.adapt_upper_bound(ack);
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if ack.round_start => {
                self.probe.samples = true;
                self.start_up(ack);
            }
            State::Up if self.is_time_to_go_down(ack) => self.start_down(ack.now),
            _ => {}
        }
    }

    fn is_time_to_probe(&self, now: Instant) -> bool {
        let target = self.model.bdp(1.0).unwrap_or(self.cwnd).min(self.cwnd);
        self.probe.is_due(now, target)
    }

    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        let bdp = self.model.bdp_of(self.model.max_bw(), 1.0).unwrap_or(f64::INFINITY);
        ack.in_flight <= self.model.with_headroom() && ack.in_flight <= bdp
    }

    fn is_time_to_go_down(&mut self, ack: &Ack) -> bool {
        if ack.cwnd_limited && self.cwnd >= self.model.inflight_hi {
            self.reset_full_bw(ack.sample.map_or(self.full_bw, |sample| sample.rate));
            return false;
        }
        self.full_bw_now
    }

    /// Raises the long-term limit while it is used without loss, and lowers it at a loss beyond the threshold.
    fn adapt_upper_bound(&mut self, ack: &Ack) {
        if self.probe.phase == AckPhase::Starting && ack.round_start {
            self.probe.phase = AckPhase::Feedback;
        }
        if self.probe.phase == AckPhase::Stopping && ack.round_start {
            if self.state.is_probe_bw() && !ack.app_limited {
                self.model.advance_max_bw();
            }
            (self.probe.phase, self.probe.samples) = (AckPhase::Idle, false);
        }
        let acked = ack.sent.filter(|sent| self.is_too_high(*sent)).map(|sent| sent.in_flight);
        if let Some(in_flight) = self.too_high.take().or(acked) {
            return self.lower_upper_bound(ack, in_flight);
        }
        if self.model.inflight_hi.is_infinite() {
            return;
        }
        let used = ack.sent.map_or(0.0, |sent| sent.in_flight);
        self.model.inflight_hi = self.model.inflight_hi.max(used);
        if self.state == State::Up && ack.cwnd_limited && self.cwnd >= self.model.inflight_hi {
            self.model.inflight_hi += self.probe.raise(ack.round_start, self.cwnd);
        }
    }

    fn lower_upper_bound(&mut self, ack: &Ack, in_flight: f64) {
        if !std::mem::take(&mut self.probe.samples) {
            return;
        }
        if !ack.app_limited {
            let target = self.model.bdp(1.0).unwrap_or(self.cwnd).min(self.cwnd);
            self.model.inflight_hi = in_flight.max(target * BETA).max(MIN_PIPE_CWND);
        }
        if self.state == State::Up {
            self.start_down(ack.now);
        }
    }

    fn check_probe_rtt(&mut self, ack: &Ack, expired: bool) {
        if self.state != State::ProbeRtt && expired && self.model.min_rtt.is_some() {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt_done = None;
            self.probe.phase = AckPhase::Stopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
    }

    /// Remembers the window for after ProbeRTT and after a silence, whichever ends later.
    fn save_cwnd(&mut self) {
        let is_saved = self.state == State::ProbeRtt || self.silence.is_some();
        self.prior_cwnd = if is_saved { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn handle_probe_rtt(&mut self, ack: &Ack) {
        match self.probe_rtt_done {
            None if ack.in_flight <= self.probe_rtt_cwnd() => {
                self.probe_rtt_done = Some(ack.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.start_round();
            }
            Some(done) => {
                self.probe_rtt_round_done |= ack.round_start;
                if self.probe_rtt_round_done && ack.now >= done {
                    self.exit_probe_rtt(ack.now);
                }
            }
            None => {}
        }
    }

    fn exit_probe_rtt(&mut self, now: Instant) {
        self.model.probe_rtt_stamp = now;
        if self.silence.is_none() {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        self.model.reset_short_term();
        if self.full_bw_reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.model.bdp(PROBE_RTT_CWND_GAIN).unwrap_or(MIN_PIPE_CWND).max(MIN_PIPE_CWND)
    }

    /// In Startup the rate only rises. Before any sample it is that of the initial window.
    fn set_pacing_rate(&mut self) {
        let bw = self.model.bw().or_else(|| {
            let rtt = self.model.min_rtt.filter(|rtt| !rtt.is_zero())?;
            Some(self.init_cwnd / rtt.as_secs_f64())
        });
        let Some(bw) = bw else { return };
        let rate = self.state.pacing_gain() * bw * (1.0 - PACING_MARGIN);
        if self.full_bw_reached || self.pacing_rate.is_none_or(|before| rate > before) {
            self.pacing_rate = Some(rate);
        }
    }

    fn set_cwnd(&mut self) {
        let gone = std::mem::take(&mut self.newly_gone) as f64;
        self.cwnd = (self.cwnd - gone).max(1.0);
        let most = self.model.max_inflight(self.state.cwnd_gain());
        let grown = self.cwnd + 1.0;
        match most {
            Some(most) if self.full_bw_reached => self.cwnd = grown.min(most),
            Some(most)
                if self.cwnd >= most && self.sampler.delivered() as f64 >= self.init_cwnd => {}
            _ => self.cwnd = grown,
        }
        self.cwnd = self.cwnd.clamp(MIN_PIPE_CWND, WIDEST);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.model.inflight_hi,
            State::ProbeRtt | State::Cruise => self.model.with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let bound = bound.min(self.model.inflight_lo).max(MIN_PIPE_CWND);
        self.cwnd = self.cwnd.min(bound);
    }
}

impl CongestionControl for Bbr {
    fn window(&self) -> f64 {
        self.cwnd.min(self.limit).max(1.0)
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn pacing_rate(&self, _: Option<u64>) -> Option<f64> {
        self.pacing_rate
    }

    fn on_delivered(&mut self, now: Instant, delivered: &Delivered) {
        if self.silence.is_some_and(|silence| delivered.order > silence) {
            self.silence = None;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        let ack = self.ack(now, delivered);
        let round = self.model.on_ack(&ack, std::mem::take(&mut self.newly_lost));
        if round.is_some_and(|round| round.lost > 0) && !self.is_probing_bw() {
            self.model.lower_short_term(self.cwnd);
        }
        self.check_full_bw(&ack);
        self.check_startup(round.unwrap_or_default());
        self.check_drain(&ack);
        self.update_cycle(&ack);
        let expired = self.model.update_min_rtt(now, delivered.rtt);
        self.check_probe_rtt(&ack, expired);
        self.model.advance_latest(&ack);
        self.set_pacing_rate();
        self.set_cwnd();
    }

    fn on_loss(&mut self, _: Instant, loss: &Loss) -> bool {
        self.sampler.on_lost();
        self.newly_lost += 1;
        if loss.kind != LossKind::Mark {
            self.newly_gone += 1;
        }
        if let Some(sent) = self.sampler.sent(loss.order)
            && self.probe.samples
            && (self.is_too_high(sent) || loss.kind == LossKind::NackCongestion)
        {
            self.too_high.get_or_insert(sent.in_flight);
        }
        if loss.kind == LossKind::Timeout && loss.in_flight <= 1 && self.silence.is_none() {
            self.save_cwnd();
            self.silence = Some(loss.highest_order);
            self.cwnd = self.cwnd.min(f64::from(loss.in_flight) + 1.0);
        }
        let new = !self.recovery.covers(loss.order);
        if new {
            self.recovery = RecoveryPoint::after(loss);
        }
        new
    }

    fn on_spurious(&mut self, _: Instant, _: u64) -> bool {
        self.sampler.on_spurious();
        false
    }

    fn seed(&mut self, rng: Rng) {
        self.rng = rng;
    }

    fn set_limit(&mut self, max_window: f64) {
        self.limit = sane_limit(max_window);
    }
}

impl Described for Bbr {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("init-cwnd", &mut self.init_cwnd, 1.0..=1e6, "a number from 1 to 1000000");
    }
}

recoup_core::print_as_spec!(Bbr, "bbr");

#[cfg(test)]
mod tests;
