//! `recoup(init-cwnd=10,beta=0.7)`: distinguishes congestion from other losses, and keeps queues short.
//!
//! ```text
//!            a queue stands, a loss beside it,
//!            or three rounds without a higher rate        the queue falls
//!   Startup ─────────────────────────────────────► Drain ─────────────► Rise
//!      ▲    ◄────────────────────────────────────  ▲ │ ◄────────────────┘ │
//!      │          the delay is constant            │ │    a queue stands  │
//!      │ the path moves, from any state            │ │ twice in vain      │ a loss or mark at
//!      │                                      test │ ▼                    │ a small share
//!      └────────────────────────────────────── Compete ◄──────────────────┘
//!                                                  └──► Rise: the queue is emptied, or the flow is alone
//! ```
//!
//! # Invariants
//!
//! `lab/studies/tests/invariants` checks them after each delivery and loss of simulations on random networks, (b) and (e)
//! in blocks of ten rounds with at least 200 transmissions, after the first twenty rounds.
//!
//! - (a) *Delivered data bound the window.* It is at most three times what arrived within one longest round trip of the
//!   last minute, plus the initial window. For an object that is or becomes short, it is at most seven times that.
//! - (b) *A loss is random only while the rate follows the window.* Of two blocks within sixty rounds, the later has not
//!   half as large a window again, a rate at most a twentieth higher, and a tenth more random losses.
//! - (c) *A base round trip that may be a queue is probed.* While each round trip exceeds the real base by a quarter, the
//!   window shrinks by a fifth, or is at most three segments, at least once in 32 s.
//! - (d) *An estimate uses explained losses only.* Only losses that `cause.rs` calls random widen the window of a drain.
//!   Whether `cause.rs` is right is the matter of (b).
//! - (e) *Waste is bounded.* At most two fifths of the transmissions of a block are lost, and at most a fifth of all,
//!   beyond the losses of the path. With caches on the path neither holds.
//!
//! # Rules
//!
//! *Losses.* A loss without a queue is no congestion: the segment is retransmitted and the window stays (`cause.rs`). On a
//! path that is too short to show a queue, each loss is congestion, and the window follows CUBIC.
//! *Start-up.* From 10 segments the window doubles each round, paced at twice its rate, until a queue stands, a loss is
//! congestion, or three rounds bring no higher rate. It is at most three times what a recent round delivered. Bunches
//! of Data may hide a queue: on a new path the window is at most twice what the path carries at the measured rate. Short
//! objects leave as fast as the last train came. Their window grows fourfold while that train shows a path for twice as
//! much (`train.rs`).
//! Where jitter decides what a queue is, a short one ends start-up only once the rate rises no more.
//! *Rise.* Within some six rounds the window rises from an empty queue to a standing one, but not beyond twice the
//! deliveries of a round trip. After rounds without a queue beyond the jitter it accelerates. Where jitter decides what a
//! queue is, a short one stands only if the rate no longer follows the window (`growth.rs`). A drain keeps most of it.
//! *Drain.* A standing queue is drained: for one flight the window is what the path carries without a queue (delivery
//! rate · base round trip / (1 − loss)). Half of the reduction is undone afterwards, and the window is never wider than
//! before. *Marks.* A congestion mark drains, and removes half of the share of marked answers (`marks.rs`).
//! *Heavy loss.* Far more may be lost than at a small window, or more while the rate does not follow. The window then
//! becomes what the path delivers, and grows slowly beyond (`heavy.rs`). *Compete.* If two drains do not lower the
//! queue, others fill it: the window follows CUBIC up to half of the bottleneck (`compete.rs`).
//! A loss beside a queue of which this flow has less than three quarters shows the same: a late flow takes a queue that
//! never empties for the path, and cannot drain it. So does such a loss where jitter hides the capacity, and a mark at
//! less than nine tenths of it. Marks keep the queue short; competition then ends once the flow is alone. Heavy loss
//! narrows a competing window, too. A drain tests whether others still compete, after 4 s and then
//! ever more rarely up to 32 s. Competition ends if the queue vanishes twice without having been full, or for three
//! rounds. A further one begins with the same window. Meanwhile a loss that a link repaired counts as one if a full
//! queue stood beside it: the queue may be below that link. The window does not grow beyond 1.25 times what the longest
//! round trip delivers.
//! *Silence.* After a timeout in a silence the window is 2, and timers expire after a second, until something arrives.
//!
//! Sources: Copa (NSDI 2018) and Nimbus (SIGCOMM 2022) for the ideas of drains and of detecting competitors; BBR
//! (draft-ietf-ccwg-bbr) for the end of start-up; RFC 9438 for competition; RFC 9002 for the base round trip; F-RTO
//! (RFC 5682) for the window after a silence.
//!
//! Differences: a queue stands if for half a round trip no sample of a path class is below a threshold (`path.rs`,
//! `class.rs`). Where jitter changes the order, that takes 32 samples or those of a round. A flow with a high rate has a
//! lower threshold, so that it drains first, which makes flows converge. Jitter and links that deliver in bursts raise
//! it. After a change of the path, rate and base are forgotten (`jump.rs`). Within a machine or a local network a process
//! that waits for its processor looks like a queue. If the base round trip is below 1 ms, the path carries what arrives
//! in 10 ms. Its threshold is 10 ms, without pacing. If answers wait for this process for more than 0.25 ms, the
//! far one probably waits, too: fourfold waits count as jitter, and nothing is paced (`fetch/pacer.rs`).
use super::cubic::Cubic;
use super::{
    CongestionControl, Delivered, Loss, LossCause, LossKind, RecoveryPoint, WIDEST, sane_limit,
};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::{Duration, Instant};
use constants::{
    GAIN, IN_USE, LEAST, LEAST_PATIENCE, MOST_PATIENT, PATIENT, POLICED_GAIN, PROBE, STARTUP_GAIN,
};
use growth::Growth;
use heavy::Policed;
use mode::{Calm, Mode, Startup};
use path::Path;
use std::fmt;
use train::Train;

mod class;
mod compete;
mod constants;
mod growth;
mod heavy;
mod jump;
mod marks;
mod mode;
mod path;
mod react;
mod round;
mod train;

/// The parameters of [`Recoup`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoupSettings {
    /// Window at the beginning, segments.
    pub init_cwnd: f64,
    /// Factor of the window at a Nack (Congestion), 0 to 1.
    pub beta: f64,
}

impl Default for RecoupSettings {
    fn default() -> Self {
        Self { init_cwnd: 10.0, beta: 0.7 }
    }
}

/// Congestion control by queueing delay that competes where it must.
#[derive(Clone, Debug, PartialEq)]
pub struct Recoup {
    settings: RecoupSettings,
    mode: Mode,
    cwnd: f64,
    limit: f64,
    /// The window within all limits.
    window: f64,
    path: Path,
    train: Train,
    cubic: Cubic,
    recovery: RecoveryPoint,
    /// Window before a silence.
    silenced: Option<f64>,
    calm: Option<Calm>,
    /// Seconds of competition before a test whether others still compete.
    patience: f64,
    /// At the last delivery the window, not the application, limited the sending.
    in_use: bool,
    /// Segments that the path carried at the last queue.
    ceiling: f64,
    /// End of the last competition, and the window then.
    competed: Option<(Instant, f64)>,
    /// Whether the rate follows the window.
    growth: Growth,
    /// Slow growth after heavy loss.
    policed: Policed,
}

impl Recoup {
    /// A window in its initial state.
    pub fn new(settings: RecoupSettings) -> Self {
        let settings = RecoupSettings { init_cwnd: sane_limit(settings.init_cwnd), ..settings };
        let mut recoup = Self {
            settings,
            mode: Mode::Startup(Startup::BEGINNING),
            cwnd: settings.init_cwnd,
            limit: WIDEST,
            window: 1.0,
            path: Path::new(),
            train: Train::default(),
            cubic: Cubic::default(),
            recovery: RecoveryPoint::default(),
            silenced: None,
            calm: None,
            patience: LEAST_PATIENCE,
            in_use: false,
            ceiling: 0.0,
            competed: None,
            growth: Growth::default(),
            policed: Policed::default(),
        };
        recoup.settle();
        recoup
    }

    /// Completed rounds, and the share of transmissions lost at random that widens the window of a drain.
    pub fn explained_loss(&self) -> (u64, f64) {
        self.path.explained_loss()
    }

    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let default = RecoupSettings::default();
        let window = "a number from 1 to 1000000000";
        let settings = RecoupSettings {
            init_cwnd: spec.number("init-cwnd", default.init_cwnd, 1.0..=WIDEST, window)?,
            beta: spec.number("beta", default.beta, 0.0..=1.0, "a number from 0 to 1")?,
        };
        spec.finish()?;
        Ok(Self::new(settings))
    }

    fn settle(&mut self) {
        self.cwnd = sane_limit(self.cwnd);
        self.window = self.cwnd.min(self.limit).max(1.0);
    }

    /// Handles a timer that expired in a silence: the next transmissions only probe.
    fn fall_silent(&mut self, now: Instant) {
        if self.silenced.is_none() && self.path.is_silent(now) {
            self.silenced = Some(self.cwnd);
            self.cwnd = self.cwnd.min(LEAST);
        }
    }
}

impl CongestionControl for Recoup {
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn pacing_rate(&self, remaining: Option<u64>) -> Option<f64> {
        if self.path.is_short() {
            // Timers are not as fine as such a round trip.
            return None;
        }
        let rtt = self.path.smoothed().filter(|rtt| *rtt > 0.0)?;
        Some(match self.mode {
            Mode::Startup(_) if train::is_short(remaining) => {
                (STARTUP_GAIN * self.window / rtt).max(self.train.pace(self.window, rtt))
            }
            Mode::Startup(_) => STARTUP_GAIN * self.window / rtt,
            _ if self.policed.is_active() => POLICED_GAIN * self.window / rtt,
            _ => GAIN * self.window / rtt,
        })
    }

    fn least_timeout(&self) -> Option<Duration> {
        let least = Duration::try_from_secs_f64(PATIENT * self.path.longest()?).ok()?;
        Some(least.min(MOST_PATIENT))
    }

    fn silence_timeout(&self) -> Option<Duration> {
        self.silenced?;
        Some(self.least_timeout().map_or(PROBE, |least| least.max(PROBE)))
    }

    fn on_waited(&mut self, wait: Option<Duration>) {
        self.path.on_waited(wait);
    }

    fn on_delivered(&mut self, now: Instant, delivered: &Delivered) {
        self.cwnd = self.cwnd.max(self.silenced.take().unwrap_or(0.0));
        self.settle();
        self.in_use = f64::from(delivered.in_flight) + 1.0 >= IN_USE * libm::floor(self.window);
        let seen = self.path.on_delivered(now, self.window, delivered);
        if let Some(rtt) = self.path.smoothed() {
            self.train.on_delivered(now, rtt);
        }
        if seen.moved {
            self.train = Train::default();
            self.on_moved();
        }
        if seen.split {
            self.on_split();
        }
        self.watch_calm(delivered, &seen);
        self.watch_growth(&seen);
        match self.mode {
            Mode::Startup(startup) => self.on_startup(delivered, &seen, startup),
            Mode::Rise { calm } => self.on_rise(&seen, calm),
            Mode::Drain(drain) => self.on_drain(now, delivered, &seen, drain),
            Mode::Compete(compete) => self.on_compete(now, delivered, &seen, compete),
        }
        self.settle();
    }

    fn cause(&self, loss: &Loss) -> Option<LossCause> {
        Some(self.path.cause(loss))
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) -> bool {
        let cause = self.path.cause(loss);
        match loss.kind {
            LossKind::Mark => self.path.on_marked(now),
            _ => self.path.on_lost(loss, cause),
        }
        let by_timer = loss.kind == LossKind::Timeout;
        let new = !self.recovery.covers(loss.order);
        let congestion = new && self.react(now, loss, cause);
        if by_timer {
            self.fall_silent(now);
        }
        self.settle();
        // A timeout backs off whatever its cause.
        let event = congestion || new && by_timer;
        if event {
            self.recovery = RecoveryPoint::after(loss);
        }
        event
    }

    fn on_repaired(&mut self, now: Instant, loss: &Loss) -> bool {
        // Others fill a queue that may be below the link, and react to its drops. A short path shows no queue.
        let competes = matches!(self.mode, Mode::Compete(_)) && !self.path.is_short();
        let overflow = || matches!(self.path.cause(loss), LossCause::Congestion(_));
        competes && overflow() && self.on_loss(now, loss)
    }

    fn set_limit(&mut self, max_window: f64) {
        self.limit = sane_limit(max_window);
        self.settle();
    }
}

impl fmt::Display for Recoup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "recoup")
            .value("init-cwnd", self.settings.init_cwnd)
            .value("beta", self.settings.beta)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::compete::Bottleneck;
    use super::*;

    /// A window of 100 after 198 answers, one each millisecond, over a queue that grows repeatedly from 0 to 19 ms.
    fn beside_a_queue() -> (Recoup, Instant) {
        beyond(Duration::from_millis(20))
    }

    /// Such a window beyond another base round trip.
    fn beyond(base: Duration) -> (Recoup, Instant) {
        let (mut recoup, mut now) = (Recoup::new(RecoupSettings::default()), Instant::ZERO);
        for order in 1..=198 {
            now += Duration::from_millis(1);
            recoup.on_delivered(
                now,
                &Delivered {
                    path: None,
                    segment: order,
                    order,
                    highest_order: order + 10,
                    rtt: Some(base + Duration::from_millis(order % 20)),
                    srtt: None,
                    min_rtt: None,
                    in_flight: 10,
                    advance: 1,
                    remaining: None,
                },
            );
        }
        recoup.cwnd = 100.0;
        (recoup, now)
    }

    fn lost(order: u64, kind: LossKind) -> Loss {
        Loss {
            kind,
            order,
            highest_order: 208,
            high_data: 0,
            high_interest: 0,
            in_flight: 10,
            evidence: 0,
            srtt: None,
            min_rtt: None,
        }
    }

    /// Whether the repair of that transmission reduces the window.
    fn narrows((mut recoup, now): (Recoup, Instant), order: u64) -> bool {
        let narrowed = recoup.on_repaired(now, &lost(order, LossKind::Order));
        assert_eq!(narrowed, recoup.cwnd < 100.0);
        narrowed
    }

    /// A rise at a window of 100 beside a queue, at this share of the bottleneck: the mode after a loss beside the full
    /// queue.
    fn after_overflow(share: f64) -> Mode {
        let (mut recoup, now) = beside_a_queue();
        recoup.mode = Mode::Rise { calm: 0 };
        recoup.path.bottleneck = Bottleneck::of(recoup.path.rate() / share);
        recoup.on_loss(now, &lost(199, LossKind::Order));
        recoup.mode
    }

    #[test]
    fn overflow_of_a_foreign_queue_begins_competition() {
        assert!(matches!(after_overflow(0.7), Mode::Compete(_)));
        assert!(matches!(after_overflow(0.8), Mode::Drain(_)), "the queue is its own");
    }

    #[test]
    fn competing_window_has_no_floor_but_two() {
        let (mut recoup, now) = beside_a_queue();
        recoup.compete(now);
        for order in (199..).step_by(100).take(30) {
            recoup.recovery = RecoveryPoint::default();
            recoup.path.bottleneck = Bottleneck::of(1_000.0);
            recoup.on_loss(now, &lost(order, LossKind::Mark));
        }
        assert_eq!(recoup.cwnd, LEAST);
    }

    #[test]
    fn timers_expire_each_second_in_a_silence() {
        let (mut recoup, now) = beside_a_queue();
        assert_eq!(recoup.silence_timeout(), None);
        recoup.on_loss(now + Duration::from_secs(3), &lost(205, LossKind::Timeout));
        assert_eq!(recoup.silence_timeout(), Some(PROBE));
    }

    #[test]
    fn repair_beside_a_full_queue_is_congestion() {
        let competing = |base| {
            let (mut recoup, now) = beyond(Duration::from_micros(base));
            recoup.compete(now);
            (recoup, now)
        };
        assert!(!narrows(competing(200), 199), "a short path shows no queue");
        let competing = || competing(20_000);
        assert!(narrows(competing(), 199));
        assert!(!narrows(competing(), 190), "the queue was half full");
        let (mut alone, now) = beside_a_queue();
        alone.mode = Mode::Rise { calm: 0 };
        assert!(!narrows((alone, now), 199));
    }
}
