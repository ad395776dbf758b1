//! `compound(mode=standard,update=per-rtt,zero-on-loss=rto,alpha=0.125,beta=0.5,k=0.75,gamma=30,zeta=1,
//! low-window=38,…)`: a second window, `dwnd`, beside Reno's, that grows fast as long as no queue does.
//!
//! Sources: K. Tan, J. Song, Q. Zhang and M. Sridharan, "A Compound TCP Approach for High-Speed and Long
//! Distance Networks" (2006), and their Internet draft of 2008 for the low window; for `mode=udugama`
//! A. Udugama et al. (2013), section 4.1.
//!
//! Once in each round trip, R its mean: `diff = window · (1 − least RTT / R)` segments are estimated to
//! wait in queues. If those are fewer than `gamma`, `dwnd` grows by `alpha · window^k − 1`, else it shrinks
//! by `zeta · diff`. The window is the sum of both.
//!
//! | | `standard` | `udugama` |
//! |---|---|---|
//! | below a window of `low-window` | `dwnd` does not grow | it does |
//! | loss | `dwnd` makes up for what Reno's half takes beyond `1 − beta` of the whole | `dwnd` stays |
//! | in fast recovery | `dwnd` is frozen | the rule keeps acting, so a rising round trip shrinks it |
//!
//! A timeout that begins an event makes `dwnd` 0 in both, with `zero-on-loss=any` each event does.
//!
//! Differences:
//! - the window is counted in segments and read as it is, with no averaging of the estimate (the draft adapts
//!   `gamma`, which neither paper does);
//! - a round ends with the first Data that answers a transmission sent after it began; its mean is of segments sent
//!   once (Karn), and a round without any changes nothing;
//! - `update=per-data` applies the whole step at each such Data: the study does not state the interval, and its model
//!   did so;
//! - `dwnd` grows and shrinks only while the window is in use, or in fast recovery.
use super::{AfterTimeout, Delivered, WIDEST, WindowPhase, WindowRule, WindowSettings, Windowed};
use crate::spec::{Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// Compound TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compound {
    settings: CompoundSettings,
    /// The delay window (`dwnd`), segments.
    dwnd: f64,
    round: Round,
}

/// The parameters of [`Compound`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompoundSettings {
    /// Publication whose description is followed.
    pub mode: CompoundMode,
    /// Interval of the updates of the delay window.
    pub update: DelayUpdate,
    /// Loss events that reset the delay window.
    pub zero_on_loss: ZeroOnLoss,
    /// Growth: `alpha · window^k − 1` segments.
    pub alpha: f64,
    /// Factor of the whole window at a loss with [`CompoundMode::Standard`], 0 to 1.
    pub beta: f64,
    /// Growth: `alpha · window^k − 1` segments.
    pub k: f64,
    /// Segments in queues at which the delay window shrinks.
    pub gamma: f64,
    /// Segments by which the window shrinks for each queued segment.
    pub zeta: f64,
    /// Least window, in segments, at which the delay window grows with [`CompoundMode::Standard`].
    pub low_window: f64,
}

/// Publication whose description is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompoundMode {
    /// Tan et al.
    Standard,
    /// Udugama et al.
    Udugama,
}

/// Interval of the updates of the delay window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayUpdate {
    /// Once in each round trip, by its mean.
    PerRtt,
    /// At each Data, by its own round trip.
    PerData,
}

/// Loss events that reset the delay window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroOnLoss {
    /// Those that begin with a timeout.
    Rto,
    /// All of them.
    Any,
}

impl CompoundMode {
    const WORDS: [(&str, Self); 2] = [("standard", Self::Standard), ("udugama", Self::Udugama)];
}

impl DelayUpdate {
    const WORDS: [(&str, Self); 2] = [("per-rtt", Self::PerRtt), ("per-data", Self::PerData)];
}

impl ZeroOnLoss {
    const WORDS: [(&str, Self); 2] = [("rto", Self::Rto), ("any", Self::Any)];
}

impl Default for CompoundSettings {
    fn default() -> Self {
        Self {
            mode: CompoundMode::Standard,
            update: DelayUpdate::PerRtt,
            zero_on_loss: ZeroOnLoss::Rto,
            alpha: 1.0 / 8.0,
            beta: 0.5,
            k: 0.75,
            gamma: 30.0,
            zeta: 1.0,
            low_window: 38.0,
        }
    }
}

/// The round trips of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Round {
    /// Highest send order when the round began; none before the first delivery.
    end: Option<u64>,
    sum_s: f64,
    samples: u32,
}

impl Round {
    /// Records a delivery. If it ends a round: the mean round-trip time of that round, seconds.
    fn on_delivered(&mut self, delivered: &Delivered) -> Option<f64> {
        let mut mean = None;
        if self.end.is_none_or(|end| delivered.order > end) {
            mean = (self.samples > 0).then(|| self.sum_s / f64::from(self.samples));
            let end = Some(delivered.highest_order.max(delivered.order));
            *self = Self { end, ..Self::default() };
        }
        if let Some(rtt) = delivered.rtt {
            self.sum_s += rtt.as_secs_f64();
            self.samples = self.samples.saturating_add(1);
        }
        mean
    }
}

impl Compound {
    /// A rule in its initial state.
    pub fn new(settings: CompoundSettings) -> Self {
        Self { settings, dwnd: 0.0, round: Round::default() }
    }

    /// Estimated number of segments of a `window` that wait in queues.
    fn waiting(window: f64, rtt_s: f64, least: Duration) -> f64 {
        (window * (1.0 - least.as_secs_f64() / rtt_s)).max(0.0)
    }

    /// Updates the delay window for a round trip.
    fn judge(&mut self, window: f64, rtt_s: f64, least: Duration) {
        let CompoundSettings { mode, alpha, k, gamma, zeta, low_window, .. } = self.settings;
        let waiting = Self::waiting(window, rtt_s, least);
        if waiting >= gamma {
            self.dwnd = (self.dwnd - zeta * waiting).max(0.0);
        } else if mode == CompoundMode::Udugama || window >= low_window {
            let step = (alpha * libm::pow(window, k) - 1.0).max(0.0);
            self.dwnd = (self.dwnd + step).min(WIDEST);
        }
    }
}

impl Default for Compound {
    fn default() -> Self {
        Self::new(CompoundSettings::default())
    }
}

impl WindowRule for Compound {
    const NAME: &'static str = "compound";

    fn describe(&mut self, each: &mut Description<'_>) {
        let settings = &mut self.settings;
        let positive = "a number from 0 to 1000000";
        each.word("mode", &mut settings.mode, &CompoundMode::WORDS, "standard or udugama");
        each.word("update", &mut settings.update, &DelayUpdate::WORDS, "per-rtt or per-data");
        each.word("zero-on-loss", &mut settings.zero_on_loss, &ZeroOnLoss::WORDS, "rto or any");
        each.number("alpha", &mut settings.alpha, 0.0..=1e6, positive);
        each.number("beta", &mut settings.beta, 0.0..=1.0, "a number from 0 to 1");
        each.number("k", &mut settings.k, 0.0..=2.0, "a number from 0 to 2");
        each.number("gamma", &mut settings.gamma, 0.0..=1e6, positive);
        each.number("zeta", &mut settings.zeta, 0.0..=1e6, positive);
        each.number("low-window", &mut settings.low_window, 0.0..=1e6, positive);
    }

    fn observe(&mut self, phase: WindowPhase, window: f64, delivered: &Delivered) {
        let mean = self.round.on_delivered(delivered);
        let rtt_s = match self.settings.update {
            DelayUpdate::PerRtt => mean,
            DelayUpdate::PerData => delivered.rtt.map(|rtt| rtt.as_secs_f64()),
        };
        let acts = match phase {
            WindowPhase::SlowStart => false,
            WindowPhase::Avoidance => true,
            WindowPhase::Recovery => self.settings.mode == CompoundMode::Udugama,
        };
        if let (true, Some(rtt_s), Some(least)) = (acts, rtt_s, delivered.min_rtt)
            && rtt_s > 0.0
        {
            self.judge(window, rtt_s, least);
        }
    }

    fn increase(&mut self, _: Instant, cwnd: f64, _: &Delivered) -> f64 {
        1.0 / (cwnd + self.dwnd)
    }

    fn decrease(&mut self, _: Instant, window: f64) -> f64 {
        let half = (window - self.dwnd).max(1.0) / 2.0;
        self.dwnd = match (self.settings.zero_on_loss, self.settings.mode) {
            (ZeroOnLoss::Any, _) => 0.0,
            (_, CompoundMode::Udugama) => self.dwnd,
            (_, CompoundMode::Standard) => (window * self.settings.beta - half).max(0.0),
        };
        half
    }

    fn on_timeout(&mut self) {
        self.dwnd = 0.0;
    }

    fn delay_window(&self) -> f64 {
        self.dwnd
    }
}

pub(super) fn from_spec(spec: Spec<'_>) -> Result<Windowed<Compound>, SpecError> {
    let timeout = AfterTimeout::SlowStart;
    let settings = WindowSettings { timeout, ..WindowSettings::default() };
    with_defaults(spec, CompoundSettings::default(), settings)
}

pub(super) fn with_defaults(
    spec: Spec<'_>,
    rule: CompoundSettings,
    settings: WindowSettings,
) -> Result<Windowed<Compound>, SpecError> {
    Windowed::from_spec(spec, Compound::new(rule), settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Duration = Duration::from_millis(40);

    fn delivered(order: u64, highest_order: u64, rtt: Duration) -> Delivered {
        Delivered {
            segment: order,
            order,
            highest_order,
            rtt: Some(rtt),
            min_rtt: Some(LEAST),
            advance: 1,
            ..Delivered::default()
        }
    }

    fn compound(mode: CompoundMode) -> Compound {
        Compound::new(CompoundSettings { mode, ..CompoundSettings::default() })
    }

    #[test]
    fn delay_window_grows_each_round_without_a_queue() {
        let mut compound = compound(CompoundMode::Standard);
        // 81^0.75 = 27.
        for order in 1..=10 {
            compound.observe(WindowPhase::Avoidance, 81.0, &delivered(order, 10, LEAST));
            let before = compound.dwnd;
            assert_eq!(before, 0.0, "the first round is not over");
        }
        compound.observe(WindowPhase::Avoidance, 81.0, &delivered(11, 20, LEAST));
        assert!((compound.dwnd - (27.0 / 8.0 - 1.0)).abs() < 1e-9, "{}", compound.dwnd);
        compound.observe(WindowPhase::Avoidance, 81.0, &delivered(12, 20, LEAST));
        assert!((compound.dwnd - 2.375).abs() < 1e-9);
    }

    #[test]
    fn delay_window_shrinks_with_queued_segments() {
        let mut compound = compound(CompoundMode::Standard);
        compound.dwnd = 70.0;
        // 100 · (1 − 40/57) = 29.8; 100 · (1 − 40/60) = 33.3.
        compound.judge(100.0, 0.057, LEAST);
        assert!(compound.dwnd > 70.0);
        compound.dwnd = 70.0;
        compound.judge(100.0, 0.060, LEAST);
        assert!((compound.dwnd - 70.0 + 100.0 / 3.0).abs() < 1e-9);
        compound.judge(100.0, 0.400, LEAST);
        assert_eq!(compound.dwnd, 0.0);
    }

    #[test]
    fn only_udugama_mode_grows_below_low_window() {
        for (mode, grows) in [(CompoundMode::Standard, false), (CompoundMode::Udugama, true)] {
            let mut compound = compound(mode);
            compound.judge(37.0, 0.040, LEAST);
            assert_eq!(compound.dwnd > 0.0, grows);
            compound.judge(38.0, 0.040, LEAST);
            assert!(compound.dwnd > 0.0);
        }
    }

    #[test]
    fn standard_mode_halves_window_and_udugama_keeps_dwnd() {
        for (mode, dwnd) in [(CompoundMode::Standard, 20.0), (CompoundMode::Udugama, 40.0)] {
            let mut compound = compound(mode);
            compound.dwnd = 40.0;
            assert_eq!(compound.decrease(Instant::ZERO, 100.0), 30.0);
            assert_eq!(compound.dwnd, dwnd);
            compound.on_timeout();
            assert_eq!(compound.dwnd, 0.0);
            compound.dwnd = 40.0;
            compound.settings.zero_on_loss = ZeroOnLoss::Any;
            compound.decrease(Instant::ZERO, 100.0);
            assert_eq!(compound.dwnd, 0.0);
        }
    }

    #[test]
    fn only_udugama_mode_acts_in_fast_recovery() {
        for (mode, left) in [(CompoundMode::Standard, 50.0), (CompoundMode::Udugama, 0.0)] {
            let mut compound = compound(mode);
            compound.dwnd = 50.0;
            for order in 1..3 {
                let late = Duration::from_millis(100);
                let delivered = delivered(order, order, late);
                compound.observe(WindowPhase::SlowStart, 90.0, &delivered);
                assert_eq!(compound.dwnd, 50.0);
            }
            let late = Duration::from_millis(100);
            compound.observe(WindowPhase::Recovery, 90.0, &delivered(3, 3, late));
            assert_eq!(compound.dwnd, left);
        }
    }

    #[test]
    fn per_data_update_applies_the_whole_step() {
        let update = DelayUpdate::PerData;
        let mut compound = Compound::new(CompoundSettings { update, ..Default::default() });
        (1..=3).for_each(|order| {
            compound.observe(WindowPhase::Avoidance, 81.0, &delivered(order, 10, LEAST));
        });
        assert!((compound.dwnd - 3.0 * 2.375).abs() < 1e-9);
    }
}
