//! `pcon(beta=0.8,low-window=14,…)`: the consumer of PCON, a BIC window that marks reduce as losses do.
//!
//! Sources: Schneider, Yi, Zhang and Zhang, "A Practical Congestion Control Scheme for Named Data Networking", ICN
//! 2016: marked Data, a Nack and a timeout each reduce the window of TCP BIC, at most once in a round trip. Xu, Harfoush
//! and Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks", INFOCOM 2004; Linux,
//! `tcp_bic.c`, for the numbers.
//!
//! Below the window of the last loss the growth of a round trip is a quarter of the distance, at most 16 segments.
//! Above, it is a third of the distance, again at most 16. Near that window it is a fifth of a segment. A window of at
//! most `low-window` is Reno's.
//!
//! Differences: those of `windowed`. Marks come from links (`marking = "codel"`). PCON's forwarding is no part of it.
use super::{Delivered, WindowRule, WindowSettings, Windowed};
use crate::spec::{Description, Spec, SpecError};
use crate::time::Instant;

/// Most segments that a round trip adds.
const MOST_GROWTH: f64 = 16.0;
/// Share of the distance that a round trip adds below the last maximum, as a divisor.
const SEARCH: f64 = 4.0;
/// Share of the distance that a round trip adds above the last maximum, as a divisor.
const PROBE: f64 = SEARCH - 1.0;
/// Segments that a round trip adds near the last maximum.
const SMOOTH_GROWTH: f64 = SEARCH / 20.0;

/// The rule of PCON's consumer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pcon {
    /// Factor of the window at a loss or mark, 0 to 1.
    pub beta: f64,
    /// At most this window grows and halves as Reno's.
    pub low_window: f64,
    /// Window of the last reduction; 0 before any.
    last_max: f64,
}

impl Default for Pcon {
    fn default() -> Self {
        Self { beta: 0.8, low_window: 14.0, last_max: 0.0 }
    }
}

impl Pcon {
    /// Segments that a round trip adds.
    fn growth(&self, cwnd: f64) -> f64 {
        let above = cwnd - self.last_max;
        match above {
            _ if cwnd <= self.low_window => 1.0,
            _ if (-SEARCH..SEARCH).contains(&above) => SMOOTH_GROWTH,
            _ if above < 0.0 => (-above / SEARCH).min(MOST_GROWTH),
            _ => (above / PROBE).min(MOST_GROWTH),
        }
    }
}

impl WindowRule for Pcon {
    const NAME: &'static str = "pcon";

    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("beta", &mut self.beta, 0.0..=1.0, "a number from 0 to 1");
        each.number("low-window", &mut self.low_window, 0.0..=1e6, "a number from 0 to 1000000");
    }

    fn increase(&mut self, _: Instant, cwnd: f64, _: &Delivered) -> f64 {
        self.growth(cwnd) / cwnd
    }

    fn decrease(&mut self, _: Instant, window: f64) -> f64 {
        // A reduction below the last maximum releases bandwidth for a newer flow (fast convergence).
        let is_less = window < self.last_max;
        self.last_max = if is_less { window * (1.0 + self.beta) / 2.0 } else { window };
        let beta = if window <= self.low_window { self.beta.min(0.5) } else { self.beta };
        window * beta
    }
}

pub(super) fn from_spec(spec: Spec<'_>) -> Result<Windowed<Pcon>, SpecError> {
    Windowed::from_spec(spec, Pcon::default(), WindowSettings::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{Loss, LossKind};

    fn loss(kind: LossKind, order: u64) -> Loss {
        Loss { kind, order, highest_order: 200, in_flight: 100, ..Loss::default() }
    }

    #[test]
    fn growth_follows_the_distance_to_the_maximum() {
        let pcon = Pcon { last_max: 100.0, ..Pcon::default() };
        let growth = [10.0, 20.0, 60.0, 80.0, 97.0, 103.0, 112.0, 400.0].map(|it| pcon.growth(it));
        assert_eq!(growth, [1.0, 16.0, 10.0, 5.0, 0.2, 0.2, 4.0, 16.0]);
        // Nothing is known before the first loss.
        assert_eq!(Pcon::default().growth(100.0), 16.0);
    }

    #[test]
    fn marks_of_a_flight_reduce_once() {
        let text = "pcon(init-cwnd=100,init-ssthresh=1)";
        let mut window = crate::congestion::parse(text).unwrap();
        let now = Instant::from_millis(1);
        assert!(window.on_loss(now, &loss(LossKind::Mark, 150)));
        assert_eq!(window.window(), 80.0);
        for kind in [LossKind::Mark, LossKind::NackCongestion, LossKind::Order] {
            assert!(!window.on_loss(now, &loss(kind, 200)));
        }
        assert!(window.on_loss(now, &loss(LossKind::Mark, 201)));
        assert_eq!(window.window(), 64.0);
    }

    #[test]
    fn reduction_below_the_maximum_lowers_it() {
        let mut pcon = Pcon::default();
        let now = Instant::from_millis(1);
        assert_eq!((pcon.decrease(now, 100.0), pcon.last_max), (80.0, 100.0));
        assert_eq!((pcon.decrease(now, 90.0), pcon.last_max), (72.0, 81.0));
        assert_eq!((pcon.decrease(now, 14.0), pcon.last_max), (7.0, 12.6));
    }
}
