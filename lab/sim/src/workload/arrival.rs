//! Times of requests and frames: `constant`, `poisson`, `on-off`, batches.
//!
//! The instants follow from the distribution and its stream alone, not from the fate of the requests.
use crate::model::law::exponential_unit;
use crate::network::Arrival;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Most arrivals per second that a law may have: one each nanosecond.
pub const MOST_PER_SECOND: f64 = SECOND;

impl Arrival {
    /// Whether the stream is finite.
    pub fn is_finite(&self) -> bool {
        matches!(self, Self::Batches(_))
    }

    /// The error of the distribution, as the end of a sentence; `None` if there is none.
    pub fn problem(&self) -> Option<String> {
        let rate = match self {
            Self::Constant(rate) | Self::Poisson(rate) | Self::OnOff { rate, .. } => *rate,
            Self::Batches(_) | Self::Window(_) => return None,
        };
        if let Self::OnOff { on, off, .. } = self
            && on.is_zero()
            && off.is_zero()
        {
            return Some("the times on and off are both zero".into());
        }
        let fits = rate > 0.0 && rate <= MOST_PER_SECOND;
        (!fits)
            .then(|| format!("{rate} per second is no rate above 0 and up to a thousand million"))
    }
}

/// Successive arrival instants of one distribution.
#[derive(Clone, Debug)]
pub struct Arrivals {
    law: Law,
    rng: Rng,
    /// When and how many, if there are more.
    next: Option<(Instant, u64)>,
}

#[derive(Clone, Debug)]
enum Law {
    Constant {
        rate: f64,
        start: Instant,
        number: u64,
    },
    Poisson {
        rate: f64,
    },
    OnOff {
        rate: f64,
        on: Duration,
        off: Duration,
        began: Instant,
        until: Instant,
        number: u64,
    },
    /// Latest first.
    Batches(Vec<(Instant, u64)>),
    Never,
}

impl Arrivals {
    /// The arrivals from `start` on. A window names no instants: its arrivals are none.
    pub fn new(arrival: &Arrival, start: Instant, rng: Rng) -> Self {
        let law = match arrival {
            Arrival::Constant(rate) => Law::Constant { rate: *rate, start, number: 0 },
            Arrival::Poisson(rate) => Law::Poisson { rate: *rate },
            Arrival::OnOff { rate, on, off } => Law::OnOff {
                rate: *rate,
                on: *on,
                off: *off,
                began: start,
                until: start,
                number: 0,
            },
            Arrival::Batches(batches) => {
                let mut batches: Vec<_> =
                    batches.iter().map(|(after, count)| (start + *after, *count)).collect();
                batches.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
                Law::Batches(batches)
            }
            Arrival::Window(_) => Law::Never,
        };
        let mut arrivals = Self { law, rng, next: None };
        if let Law::OnOff { on, until, .. } = &mut arrivals.law {
            *until = start + exponential(*on, &mut arrivals.rng);
        }
        arrivals.next = arrivals.following(start);
        arrivals
    }

    /// When the next ones are due.
    pub fn deadline(&self) -> Option<Instant> {
        self.next.map(|(at, _)| at)
    }

    /// Number of arrivals due at `now` and not taken yet; one instant at a time.
    pub fn pop_due(&mut self, now: Instant) -> Option<u64> {
        let (at, count) = self.next.filter(|(at, _)| *at <= now)?;
        self.next = self.following(at);
        Some(count)
    }

    /// The arrival after one at `last`.
    fn following(&mut self, last: Instant) -> Option<(Instant, u64)> {
        match &mut self.law {
            Law::Constant { rate, start, number } => {
                let at = nth(*start, *number, *rate);
                *number += 1;
                Some((at, 1))
            }
            Law::Poisson { rate } => {
                let gap = exponential_unit(&mut self.rng) / *rate;
                Some((last + seconds(gap), 1))
            }
            Law::OnOff { rate, on, off, began, until, number } => loop {
                let at = nth(*began, *number, *rate);
                if at < *until {
                    *number += 1;
                    break Some((at, 1));
                }
                *began = *until + exponential(*off, &mut self.rng);
                *until = *began + exponential(*on, &mut self.rng);
                *number = 0;
                if *began == Instant::MAX {
                    break None;
                }
            },
            Law::Batches(batches) => batches.pop(),
            Law::Never => None,
        }
    }
}

/// Arrival number `number` at a constant rate; rounding does not add up.
fn nth(start: Instant, number: u64, rate: f64) -> Instant {
    start + Duration::from_nanos(libm::round(number as f64 * SECOND / rate) as u64)
}

fn exponential(mean: Duration, rng: &mut Rng) -> Duration {
    seconds(exponential_unit(rng) * mean.as_secs_f64())
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_nanos(libm::round(seconds * SECOND) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instants(arrival: &Arrival, count: usize) -> Vec<f64> {
        let start = Instant::from_millis(1_000);
        let mut arrivals = Arrivals::new(arrival, start, Rng::from_seed(1));
        let mut instants = Vec::new();
        while instants.len() < count
            && let Some(at) = arrivals.deadline()
        {
            let due = arrivals.pop_due(at).unwrap();
            instants.extend((0..due).map(|_| at.as_secs_f64()));
        }
        instants
    }

    #[test]
    fn a_constant_rate_never_drifts() {
        let instants = instants(&Arrival::Constant(3.0), 3_000_001);
        assert_eq!((instants[0], instants[3], instants[3_000_000]), (1.0, 2.0, 1_000_001.0));
    }

    #[test]
    fn poisson_gaps_have_mean_and_deviation() {
        let instants = instants(&Arrival::Poisson(50.0), 100_001);
        let gaps: Vec<f64> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean * 50.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((square.sqrt() * 50.0 - 1.0).abs() < 0.02, "{square}");
    }

    #[test]
    fn on_off_stream_is_on_for_its_share() {
        let (on, off) = (Duration::from_millis(100), Duration::from_millis(300));
        let instants = instants(&Arrival::OnOff { rate: 1_000.0, on, off }, 1_000_000);
        let rate = 1_000_000.0 / (instants[999_999] - instants[0]);
        // A part of a gap is lost at the end of each on-time: half an arrival on average is won.
        assert!((rate / 251.25 - 1.0).abs() < 0.05, "{rate}");
        let long = instants.windows(2).filter(|pair| pair[1] - pair[0] > 0.002).count();
        assert!((9_000..11_000).contains(&long), "{long}");
    }

    #[test]
    fn batches_come_in_order_of_time() {
        let second = Duration::from_secs(1);
        let batches = Arrival::Batches(vec![(2 * second, 2), (Duration::ZERO, 1)]);
        assert_eq!(instants(&batches, 10), [1.0, 3.0, 3.0]);
        assert!(
            instants(&Arrival::Window(Box::new("fixed(window=3)".parse().unwrap())), 10).is_empty()
        );
    }

    #[test]
    fn a_rate_that_is_none_is_a_problem() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert!(Arrival::Poisson(rate).problem().is_some(), "{rate}");
        }
        assert_eq!(Arrival::Constant(1e9).problem(), None);
    }
}
