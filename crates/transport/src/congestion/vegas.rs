//! `vegas(alpha=2,beta=4,gamma=1,…)`: keeps a few segments in the queue of the bottleneck.
//!
//! Source: Brakmo, O'Malley and Peterson, "TCP Vegas: New Techniques for Congestion Detection and Avoidance", SIGCOMM
//! 1994; Linux, `tcp_vegas.c`, for the default values and for the end of slow start.
//!
//! Once in a round, `diff = cwnd · (1 − base/rtt)` estimates the segments of this flow that wait. Here `rtt` is the
//! least round trip of the round. Below `alpha` the window grows by one, above `beta` it shrinks by one. If `diff`
//! exceeds `gamma` in slow start, slow start ends, with the window that the path carries, and one.
//!
//! Differences: those of `windowed`. A round with fewer than three measured round trips grows as Reno does (Linux).
//! Slow start doubles in each round (Linux), not in every other one. Only the first slow start ends by delay. Vegas'
//! own retransmission is left to the loss detector.
use super::{AfterTimeout, Delivered, WindowPhase, WindowRule, WindowSettings, Windowed};
use crate::spec::{Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// Round trips that a round needs for a decision.
const LEAST_SAMPLES: u32 = 3;
/// The window is not reduced below this.
const LEAST_WINDOW: f64 = 2.0;

/// The rule of Vegas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vegas {
    /// Fewer waiting segments widen the window.
    pub alpha: f64,
    /// More waiting segments narrow the window.
    pub beta: f64,
    /// More waiting segments end slow start.
    pub gamma: f64,
    round: Round,
    /// A decision that the next delivery applies.
    decision: Option<Decision>,
}

/// Round trips of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Round {
    /// Highest send order when the round began; none before the first delivery.
    end: Option<u64>,
    least: Option<Duration>,
    samples: u32,
}

/// Result of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decision {
    /// Too few round trips.
    Unknown,
    /// Shares of the base and the least round trip of the round.
    Ratio(f64),
}

impl Default for Vegas {
    fn default() -> Self {
        Self { alpha: 2.0, beta: 4.0, gamma: 1.0, round: Round::default(), decision: None }
    }
}

impl Vegas {
    /// Records a delivery; at the end of a round, its decision.
    fn measure_round(&mut self, delivered: &Delivered) {
        if self.round.end.is_none_or(|end| delivered.order > end) {
            let least = self.round.least.filter(|_| self.round.samples >= LEAST_SAMPLES);
            let ratio = least.zip(delivered.min_rtt).and_then(|(rtt, base)| {
                let ratio = base.as_secs_f64() / rtt.as_secs_f64();
                ratio.is_finite().then_some(ratio.min(1.0))
            });
            self.decision =
                self.round.end.map(|_| ratio.map_or(Decision::Unknown, Decision::Ratio));
            let end = Some(delivered.highest_order.max(delivered.order));
            self.round = Round { end, ..Round::default() };
        }
        if let Some(rtt) = delivered.rtt {
            self.round.least = Some(self.round.least.map_or(rtt, |least| least.min(rtt)));
            self.round.samples = self.round.samples.saturating_add(1);
        }
    }
}

impl WindowRule for Vegas {
    const NAME: &'static str = "vegas";
    const NARROWS: bool = true;

    fn describe(&mut self, each: &mut Description<'_>) {
        let expected = "a number from 0 to 1000000";
        each.number("alpha", &mut self.alpha, 0.0..=1e6, expected);
        each.number("beta", &mut self.beta, 0.0..=1e6, expected);
        each.number("gamma", &mut self.gamma, 0.0..=1e6, expected);
    }

    fn observe(&mut self, _: WindowPhase, _: f64, delivered: &Delivered) {
        self.measure_round(delivered);
    }

    fn end_slow_start(&mut self, cwnd: f64) -> Option<f64> {
        let Some(Decision::Ratio(ratio)) = self.decision.take() else { return None };
        let target = cwnd * ratio;
        (cwnd - target > self.gamma).then(|| cwnd.min(target + 1.0).max(LEAST_WINDOW))
    }

    fn increase(&mut self, _: Instant, cwnd: f64, _: &Delivered) -> f64 {
        match self.decision.take() {
            None => 0.0,
            Some(Decision::Unknown) => 1.0,
            Some(Decision::Ratio(ratio)) => {
                let waiting = cwnd * (1.0 - ratio);
                match () {
                    () if waiting > self.beta => -(1.0_f64.min((cwnd - LEAST_WINDOW).max(0.0))),
                    () if waiting < self.alpha => 1.0,
                    () => 0.0,
                }
            }
        }
    }

    fn decrease(&mut self, _: Instant, window: f64) -> f64 {
        window / 2.0
    }
}

pub(super) fn from_spec(spec: Spec<'_>) -> Result<Windowed<Vegas>, SpecError> {
    let timeout = AfterTimeout::SlowStart;
    let settings = WindowSettings { timeout, ..WindowSettings::default() };
    Windowed::from_spec(spec, Vegas::default(), settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::CongestionControl;

    const BASE: Duration = Duration::from_millis(40);

    /// Deliveries of `rounds` rounds of ten segments each, with this round trip.
    fn rounds(control: &mut dyn CongestionControl, from: u64, rounds: u64, rtt: u64) -> u64 {
        let mut order = from;
        for _ in 0..rounds {
            let highest_order = order + 10;
            for _ in 0..10 {
                order += 1;
                let in_flight = control.window() as u32;
                control.on_delivered(
                    Instant::from_millis(order),
                    &Delivered {
                        segment: order,
                        order,
                        highest_order: highest_order.max(order),
                        rtt: Some(Duration::from_millis(rtt)),
                        min_rtt: Some(BASE),
                        in_flight,
                        advance: 1,
                        ..Delivered::default()
                    },
                );
            }
        }
        order
    }

    #[test]
    fn window_follows_the_waiting_segments() {
        let mut vegas = crate::congestion::parse("vegas(init-cwnd=20,init-ssthresh=1)").unwrap();
        let order = rounds(&mut *vegas, 0, 4, 40);
        assert_eq!(vegas.window(), 23.0, "the first round decides nothing");
        // 23 · (1 − 40/60) = 7.7 segments wait.
        let order = rounds(&mut *vegas, order, 1, 60);
        let order = rounds(&mut *vegas, order, 2, 60);
        assert_eq!(vegas.window(), 22.0, "the round with the queue decides when it is over");
        // 22 · (1 − 40/46) = 2.9 segments wait.
        let order = rounds(&mut *vegas, order, 1, 46);
        let before = vegas.window();
        rounds(&mut *vegas, order, 5, 46);
        assert_eq!(vegas.window(), before);
    }

    #[test]
    fn slow_start_ends_once_segments_wait() {
        let mut vegas = crate::congestion::parse("vegas(init-cwnd=20)").unwrap();
        let order = rounds(&mut *vegas, 0, 2, 40);
        assert_eq!(vegas.window(), 40.0);
        let order = rounds(&mut *vegas, order, 1, 80);
        assert!(vegas.ssthresh().is_infinite());
        rounds(&mut *vegas, order, 1, 80);
        assert!(vegas.ssthresh().is_finite());
        assert!(vegas.window() < 30.0, "{}", vegas.window());
    }
}
