//! State of a window, and the part of it that an undo restores.
use super::hystart::HyStart;
use super::{WindowRule, WindowSettings};
use crate::congestion::{Delivered, RecoveryPoint};

/// All state that a reduction changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State<R> {
    pub(super) rule: R,
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) recovery: RecoveryPoint,
    /// Highest segment requested when the last event was detected (`recPoint`); 0 before any.
    pub(super) rec_point: u64,
    /// HyStart++; none if it is off or slow start is over.
    pub(super) hystart: Option<HyStart>,
    /// In fast recovery with `accounting=span`: the window is inflated by arrivals.
    pub(super) inflated: bool,
}

impl<R: WindowRule> State<R> {
    /// Initial state of `rule`.
    pub(super) fn new(rule: R, settings: &WindowSettings) -> Self {
        Self {
            rule,
            cwnd: settings.init_cwnd,
            ssthresh: settings.init_ssthresh,
            recovery: RecoveryPoint::default(),
            rec_point: 0,
            hystart: settings.hystart.then(HyStart::default),
            inflated: false,
        }
    }

    /// The whole window, the rule's delay window included.
    pub(super) fn window(&self) -> f64 {
        self.cwnd + self.rule.delay_window()
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Ends slow start if the delivery indicates a queue.
    pub(super) fn watch(&mut self, delivered: &Delivered) {
        let slow = self.in_slow_start();
        let Some(hystart) = self.hystart.as_mut().filter(|_| slow) else {
            return;
        };
        if hystart.on_delivered(delivered) {
            self.ssthresh = self.cwnd;
            self.hystart = None;
        }
    }

    /// Inflates the window for a delivery in fast recovery: by one, less the segments by which the span shrank.
    pub(super) fn inflate(&mut self, delivered: &Delivered) {
        let deflated = self.cwnd - delivered.advance as f64 + 1.0;
        self.cwnd = if delivered.advance == 0 { self.cwnd + 1.0 } else { deflated.max(1.0) };
    }

    /// Ends fast recovery: the window is that after the loss.
    pub(super) fn deflate(&mut self) {
        (self.cwnd, self.inflated) = (self.ssthresh, false);
    }

    /// The state before a reduction, with the larger of both windows.
    pub(super) fn restored(self, later: &Self) -> Self {
        let mut state = self;
        if state.inflated {
            state.deflate();
        }
        let whole = later.window() - state.rule.delay_window();
        let grown = if later.inflated { 0.0 } else { whole };
        Self { cwnd: state.cwnd.max(grown), ..state }
    }
}

/// State before a reduction, which may be undone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Episode<R> {
    pub(super) before: State<R>,
    /// Losses of this event that have not proved spurious.
    pub(super) losses: u64,
}
