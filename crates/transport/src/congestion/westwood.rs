//! `westwood(…)`: after a loss the window is what the path delivered without a queue (Westwood+).
//!
//! Source: Grieco and Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno and Vegas TCP Congestion
//! Control", ACM CCR 34(2), 2004; Linux, `tcp_westwood.c`, for the filter.
//!
//! Once in a round trip, the deliveries of it are a sample of the rate `b`; a low-pass filter of two stages smooths the
//! samples. A loss sets `cwnd = ssthresh = b · base round trip`; after a timeout only `ssthresh`. Growth is Reno's.
//!
//! Differences: those of `windowed`, which never widens a window at a loss.
use super::{AfterTimeout, Delivered, WindowRule, WindowSettings, Windowed};
use crate::spec::{Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// The shortest interval of a sample.
const LEAST_INTERVAL: Duration = Duration::from_millis(50);
/// Weight of the past in each stage of the filter.
const PAST: f64 = 7.0 / 8.0;

/// The rule of Westwood+.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Westwood {
    /// Start of the present interval.
    since: Option<Instant>,
    delivered: u32,
    /// Deliveries per second: the first stage of the filter, and the second.
    first: f64,
    rate: f64,
    base: Option<Duration>,
}

impl Westwood {
    fn add(&mut self, sample: f64) {
        if self.rate == 0.0 {
            (self.first, self.rate) = (sample, sample);
        } else {
            self.first = PAST * self.first + (1.0 - PAST) * sample;
            self.rate = PAST * self.rate + (1.0 - PAST) * self.first;
        }
    }

    /// Segments that the path carries without a queue; `None` before any sample.
    fn bdp(&self) -> Option<f64> {
        Some(self.rate * self.base?.as_secs_f64()).filter(|bdp| *bdp > 0.0)
    }
}

impl WindowRule for Westwood {
    const NAME: &'static str = "westwood";

    fn describe(&mut self, _: &mut Description<'_>) {}

    fn measure(&mut self, now: Instant, delivered: &Delivered) {
        self.base = delivered.min_rtt.or(self.base);
        let since = *self.since.get_or_insert(now);
        self.delivered = self.delivered.saturating_add(1);
        let interval = now.since(since);
        if interval > delivered.srtt.unwrap_or_default().max(LEAST_INTERVAL) {
            self.add(f64::from(self.delivered) / interval.as_secs_f64());
            (self.since, self.delivered) = (Some(now), 0);
        }
    }

    fn increase(&mut self, _: Instant, window: f64, _: &Delivered) -> f64 {
        1.0 / window
    }

    fn decrease(&mut self, _: Instant, window: f64) -> f64 {
        self.bdp().unwrap_or(window / 2.0).min(window)
    }

    fn timeout_threshold(&self, _: f64, left: f64) -> f64 {
        left
    }
}

pub(super) fn from_spec(spec: Spec<'_>) -> Result<Windowed<Westwood>, SpecError> {
    let timeout = AfterTimeout::SlowStart;
    let settings = WindowSettings { timeout, ..WindowSettings::default() };
    Windowed::from_spec(spec, Westwood::default(), settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{CongestionControl, Loss, LossKind};

    /// A window of 100 segments over 100 ms of base round trip, with a delivery each 2 ms.
    fn used() -> Box<dyn CongestionControl> {
        let text = "westwood(init-cwnd=100,init-ssthresh=1)";
        let mut westwood = crate::congestion::parse(text).unwrap();
        for order in 1..=1_000 {
            westwood.on_delivered(
                Instant::from_millis(2 * order),
                &Delivered {
                    segment: order,
                    order,
                    highest_order: order,
                    rtt: Some(Duration::from_millis(200)),
                    srtt: Some(Duration::from_millis(200)),
                    min_rtt: Some(Duration::from_millis(100)),
                    in_flight: 1,
                    advance: 1,
                    ..Delivered::default()
                },
            );
        }
        westwood
    }

    fn loss(kind: LossKind) -> Loss {
        Loss {
            kind,
            order: 1_000,
            highest_order: 1_000,
            high_data: 1_000,
            high_interest: 1_000,
            in_flight: 50,
            evidence: 3,
            ..Loss::default()
        }
    }

    #[test]
    fn loss_leaves_the_bandwidth_delay_product() {
        let mut westwood = used();
        assert_eq!(westwood.window(), 100.0);
        assert!(westwood.on_loss(Instant::from_millis(2_001), &loss(LossKind::Order)));
        // 500 a second, 100 ms.
        assert!((westwood.window() - 50.0).abs() < 1.0, "{}", westwood.window());
    }

    #[test]
    fn timeout_keeps_the_product_as_threshold() {
        let mut westwood = used();
        assert!(westwood.on_loss(Instant::from_millis(2_001), &loss(LossKind::Timeout)));
        assert_eq!(westwood.window(), 1.0);
        assert!((westwood.ssthresh() - 50.0).abs() < 1.0, "{}", westwood.ssthresh());
    }
}
