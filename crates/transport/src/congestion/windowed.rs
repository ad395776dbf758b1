//! Common parts of window-based algorithms: slow start, one reduction per flight, undo.
//!
//! Each algorithm implements a [`WindowRule`]: growth after slow start, and reduction.
//!
//! Sources: RFC 5681 section 3.1 (slow start, threshold); RFC 6675 section 5 (one reduction per flight); RFC 5681
//! section 3.2 and RFC 6582 (fast recovery); S. Yang's consumer (2016), which brought conservative window adaptation
//! to named data; RFC 7661 (growth only of a window in use); RFC 3522 and 4015 (undo, here once all losses of an
//! event proved spurious); RFC 9406 (the end of slow start before a loss, with `hystart=true`; see
//! `windowed/hystart.rs`).
//!
//! Differences:
//! - a timeout is treated like any other loss, `cwnd = ssthresh`, not `cwnd = 1` (RFC 5681, 3.1): every segment has
//!   its own timer, and other segments keep arriving; `reset-to-init` returns to the initial window instead;
//! - with `restart=true` a timeout also lowers the window to what is in flight (packet conservation, RFC 6937) and,
//!   where nothing is in flight, restarts (RFC 5681, 3.1). After a burst overran a buffer, `cwnd = ssthresh` alone
//!   would send the next burst into the same buffer;
//! - loss events are separated by send order, not by segment number, so that a retransmission lost again begins a new
//!   event. `conservative=rec-point` has Yang's condition: a loss is a new event if a segment has arrived whose
//!   number is above all those requested at the last one. `conservative=off` reduces for every loss;
//! - the threshold derives from the window, not from what is in flight: timed-out segments have left the flight
//!   already, and the window only grows while in use;
//! - "in use" is remembered for one flight: a batch of deliveries handled at once is not slowed down because nothing
//!   could be sent in between;
//! - while more is in flight than the window allows (after a reduction) nothing grows; `growth=always` has neither of
//!   these two conditions, as Yang's consumer;
//! - `undo=false` omits the undo; `rec-point`, which knows no send order, never has it;
//! - a loss never widens a window of 1, which Yang's `cwnd = ssthresh` (at least 2) would;
//! - `timeout=slow-start` follows RFC 5681, 3.1, after a timeout, with half of the window as threshold for each rule.
//!   A further timeout of the event, in its fast recovery, ends that with a window of 1 and the same threshold;
//! - an out-of-order loss is a loss like any other. With `accounting=outstanding` that is all: arrivals free the
//!   window, and missing segments are retransmitted as it allows (RFC 6675; with `restart=true` no faster than in
//!   slow start, the limit of RFC 6937). With `accounting=span` fast recovery follows: RFC 5681, 3.2, and RFC 6582,
//!   3.2, inflated at its beginning by the segments received out of order. Nothing grows meanwhile. A further event
//!   in it reduces the threshold, not the inflated window;
//! - HyStart++ is for the slow start before the first loss (RFC 9406, 4.3), whether or not `init-ssthresh` limits it;
//!   an undo restores it. Rounds are counted, and round trips compared, whether or not the window is in use.
use super::{Accounting, CongestionControl, Delivered, Loss, LossKind, RecoveryPoint, sane_limit};
use crate::spec::{self, Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};
use state::{Episode, State};
use std::fmt;

mod hystart;
mod settings;
mod state;

pub use settings::{AfterTimeout, Conservative, Growth, WindowSettings};

/// The lowest slow-start threshold (RFC 5681, equation 4).
const LOWEST_SSTHRESH: f64 = 2.0;

/// Growth and reduction of the window of one algorithm, with its state.
pub trait WindowRule: Copy + fmt::Debug + PartialEq + Send {
    /// The name of the algorithm.
    const NAME: &'static str;

    /// A delivery may narrow the window. Such a rule also decides at the limit of the window.
    const NARROWS: bool = false;

    /// Describes the parameters of the rule.
    fn describe(&mut self, each: &mut Description<'_>);

    /// A segment arrived, whether or not the window is in use. Called before all else.
    fn measure(&mut self, now: Instant, delivered: &Delivered) {
        let _ = (now, delivered);
    }

    /// The window if the first slow start ends with this delivery, at most `cwnd`.
    fn end_slow_start(&mut self, cwnd: f64) -> Option<f64> {
        let _ = cwnd;
        None
    }

    /// Segments by which the window grows for one delivery after slow start; finite, and not negative unless the rule
    /// [`NARROWS`](Self::NARROWS).
    fn increase(&mut self, now: Instant, cwnd: f64, delivered: &Delivered) -> f64;

    /// Congestion window after a loss event, segments; at most `window`, the whole before it.
    fn decrease(&mut self, now: Instant, window: f64) -> f64;

    /// Slow-start threshold after a timeout with `timeout=slow-start`: half of the `window`, or what `decrease` has
    /// `left`.
    fn timeout_threshold(&self, window: f64, left: f64) -> f64 {
        let _ = left;
        window / 2.0
    }

    /// The loss event of the last `decrease` began with a timeout.
    fn on_timeout(&mut self) {}

    /// A segment arrived while the whole `window` was in use, or in fast recovery. Called before the window grows.
    fn observe(&mut self, phase: WindowPhase, window: f64, delivered: &Delivered) {
        let _ = (phase, window, delivered);
    }

    /// Segments that the rule adds to the congestion window; finite, 0 or more.
    fn delay_window(&self) -> f64 {
        0.0
    }

    /// For a time `pause`, now over, the window was not in use or could not grow.
    fn on_pause(&mut self, pause: Duration) {
        let _ = pause;
    }
}

/// Phase of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowPhase {
    /// The window grows by one segment for each delivery.
    SlowStart,
    /// The window grows by its rule.
    Avoidance,
    /// The window counts the span and is inflated by what arrives beyond a loss.
    Recovery,
}

/// A window that grows and shrinks by the rule `R`.
#[derive(Clone, Debug, PartialEq)]
pub struct Windowed<R> {
    settings: WindowSettings,
    state: State<R>,
    limit: f64,
    /// The window within all limits.
    window: f64,
    /// State before the last reduction, while that may be undone.
    episode: Option<Episode<R>>,
    /// The window was in use when the transmission of this order was the latest.
    used_until: Option<u64>,
    last_growth: Instant,
    paused: bool,
}

impl<R: WindowRule> Windowed<R> {
    /// A window in its initial state. Settings below 1 count as 1.
    pub fn new(rule: R, settings: WindowSettings) -> Self {
        let settings = WindowSettings {
            init_cwnd: sane_limit(settings.init_cwnd),
            init_ssthresh: settings.init_ssthresh.max(1.0),
            max_cwnd: settings.max_cwnd.max(1.0),
            undo: settings.undo && settings.conservative != Conservative::RecPoint,
            ..settings
        };
        let mut windowed = Self {
            settings,
            state: State::new(rule, &settings),
            limit: sane_limit(settings.max_cwnd),
            window: 1.0,
            episode: None,
            used_until: None,
            last_growth: Instant::ZERO,
            paused: true,
        };
        windowed.settle();
        windowed
    }

    fn settle(&mut self) {
        self.window = self.state.window().min(self.limit).max(1.0);
    }

    /// Whether this delivery came while the window, not the application, limited the sending.
    fn was_in_use(&mut self, delivered: &Delivered) -> bool {
        let (in_flight, allowed) = (f64::from(delivered.in_flight), libm::floor(self.window));
        if in_flight + 1.0 >= allowed {
            self.used_until = Some(delivered.highest_order);
        }
        in_flight <= allowed && self.used_until.is_some_and(|until| delivered.order <= until)
    }

    fn grow(&mut self, now: Instant, delivered: &Delivered) {
        if self.paused {
            self.state.rule.on_pause(now.since(self.last_growth));
        }
        (self.paused, self.last_growth) = (false, now);
        let (slow, state) = (self.state.in_slow_start(), &mut self.state);
        let phase = if slow { WindowPhase::SlowStart } else { WindowPhase::Avoidance };
        state.rule.observe(phase, self.window, delivered);
        if slow
            && state.ssthresh.is_infinite()
            && let Some(left) = state.rule.end_slow_start(state.cwnd)
        {
            (state.cwnd, state.ssthresh) = (left, left);
            return self.settle();
        }
        let increase = if slow {
            state.hystart.map_or(1.0, |hystart| hystart.increase())
        } else {
            state.rule.increase(now, state.cwnd, delivered)
        };
        // A limit that has become lower leaves the state.
        state.cwnd = (state.cwnd + increase).min(self.limit.max(state.cwnd));
        self.settle();
    }

    fn inflate(&mut self, delivered: &Delivered) {
        self.state.rule.observe(WindowPhase::Recovery, self.window, delivered);
        let most = self.limit.max(self.state.cwnd);
        self.state.inflate(delivered);
        self.state.cwnd = self.state.cwnd.min(most);
        self.settle();
    }

    /// The loss does not belong to the last event.
    fn is_new(&self, loss: &Loss) -> bool {
        match self.settings.conservative {
            Conservative::Off => true,
            Conservative::SendOrder => !self.state.recovery.covers(loss.order),
            Conservative::RecPoint => loss.high_data > self.state.rec_point,
        }
    }

    fn shrink(&mut self, now: Instant, loss: &Loss) {
        let before = self.state;
        let window = self.deflated();
        let left = self.state.rule.decrease(now, window);
        if loss.kind == LossKind::Timeout {
            self.state.rule.on_timeout();
        }
        let (ssthresh, cwnd) = match self.settings.timeout {
            AfterTimeout::SlowStart if loss.kind == LossKind::Timeout => {
                (self.state.rule.timeout_threshold(window, left), 1.0)
            }
            _ if self.settings.reset_to_init => (left, self.settings.init_cwnd),
            _ => (left, left.max(LOWEST_SSTHRESH)),
        };
        self.state.ssthresh = ssthresh.max(LOWEST_SSTHRESH);
        self.state.cwnd = cwnd.min((window - self.state.rule.delay_window()).max(1.0));
        self.state.recovery = RecoveryPoint::after(loss);
        self.state.rec_point = loss.high_interest;
        self.state.hystart = None;
        self.begin_recovery(loss);
        let undoable = self.settings.undo && undoable(loss);
        self.episode = undoable.then_some(Episode { before, losses: 1 });
        self.paused = true;
        self.settle();
    }

    /// The window without its inflation. An event in recovery reduces this, or a loss would widen the window by what
    /// had arrived.
    fn deflated(&self) -> f64 {
        let left = self.state.ssthresh + self.state.rule.delay_window();
        if self.state.inflated { self.window.min(left) } else { self.window }
    }

    /// Enters fast recovery: segments beyond a loss lie in the span, but no longer in the network.
    fn begin_recovery(&mut self, loss: &Loss) {
        let by_span = self.settings.accounting == Accounting::Span;
        self.state.inflated = by_span && loss.kind == LossKind::Order;
        if self.state.inflated {
            self.state.cwnd += f64::from(loss.evidence);
        }
    }

    /// A timer of the last event expired in its fast recovery.
    fn abandon_recovery(&mut self) {
        let inflated = self.state.cwnd;
        self.state.deflate();
        if self.settings.timeout == AfterTimeout::SlowStart {
            self.state.cwnd = 1.0;
        }
        self.state.cwnd = self.state.cwnd.min(inflated);
        self.settle();
    }

    /// Records one more loss of the last event.
    fn repeat(&mut self, loss: &Loss) {
        match &mut self.episode {
            Some(episode) if undoable(loss) => {
                episode.losses += u64::from(!episode.before.recovery.covers(loss.order));
            }
            _ => self.episode = None,
        }
    }

    /// Packet conservation: timed-out segments are retransmitted as other segments arrive, or in a new slow start up
    /// to the threshold if nothing is in flight. A lost flight does not become a burst.
    fn restart(&mut self, loss: &Loss) {
        let in_flight = f64::from(loss.in_flight).max(self.settings.init_cwnd);
        self.state.cwnd = self.state.cwnd.min(in_flight);
        self.settle();
    }

    fn undo(&mut self, before: State<R>) {
        self.state = before.restored(&self.state);
        self.episode = None;
        self.paused = true;
        self.settle();
    }
}

/// Whether a loss may prove spurious. A timer may have been too early, and packets may have been reordered; a mark
/// and a Nack are definite.
fn undoable(loss: &Loss) -> bool {
    matches!(loss.kind, LossKind::Timeout | LossKind::Order)
}

impl<R: WindowRule> CongestionControl for Windowed<R> {
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        self.state.ssthresh
    }

    fn delay_window(&self) -> f64 {
        self.state.rule.delay_window()
    }

    fn accounting(&self) -> Accounting {
        self.settings.accounting
    }

    fn is_shareable(&self) -> bool {
        let by_segment = self.settings.conservative == Conservative::RecPoint;
        self.accounting() == Accounting::Outstanding && !by_segment
    }

    fn on_delivered(&mut self, now: Instant, delivered: &Delivered) {
        self.state.rule.measure(now, delivered);
        self.state.watch(delivered);
        if self.state.inflated {
            return self.inflate(delivered);
        }
        let may_grow = self.was_in_use(delivered) || self.settings.growth == Growth::Always;
        if may_grow && (R::NARROWS || self.state.window() < self.limit) {
            self.grow(now, delivered);
        } else {
            self.paused = true;
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) -> bool {
        let new = self.is_new(loss);
        if new {
            self.shrink(now, loss);
        } else {
            self.repeat(loss);
        }
        if !new && loss.kind == LossKind::Timeout && self.state.inflated {
            self.abandon_recovery();
        }
        if self.settings.restart && undoable(loss) && !self.state.inflated {
            self.restart(loss);
        }
        new
    }

    fn on_spurious(&mut self, _: Instant, order: u64) -> bool {
        let recovery = self.state.recovery;
        let Some(episode) = &mut self.episode else {
            return false;
        };
        if !recovery.covers(order) || episode.before.recovery.covers(order) {
            return false;
        }
        episode.losses -= 1;
        let (before, all) = (episode.before, episode.losses == 0);
        if all {
            self.undo(before);
        }
        all
    }

    fn on_recovered(&mut self, _: Instant) {
        if self.state.inflated {
            self.state.deflate();
            self.paused = true;
            self.settle();
        }
    }

    fn set_limit(&mut self, max_window: f64) {
        self.limit = sane_limit(max_window).min(self.settings.max_cwnd);
        self.settle();
    }
}

impl<R: WindowRule> fmt::Display for Windowed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        spec::describe::print(f, R::NAME, &Window(self.state.rule, self.settings))
    }
}

impl<R: WindowRule> Windowed<R> {
    /// Reads the parameters given; the others are those of `rule` and `settings`.
    pub(super) fn from_spec(
        spec: Spec<'_>,
        rule: R,
        settings: WindowSettings,
    ) -> Result<Self, SpecError> {
        let Window(rule, settings) = spec.read(Window(rule, settings))?;
        Ok(Self::new(rule, settings))
    }
}

/// A rule and the parameters of all rules.
#[derive(Clone)]
struct Window<R>(R, WindowSettings);

impl<R: WindowRule> Described for Window<R> {
    fn describe(&mut self, each: &mut Description<'_>) {
        self.0.describe(each);
        self.1.describe(each);
    }
}

#[cfg(test)]
mod tests;
