//! Laws that a time is drawn from: `none`, `constant`, `uniform`, `exponential`, `normal`.
//!
//! Distributions serve as jitter, added to a delay, and as the processing time of a node.
//! Each draw of one law takes the same number of numbers from its stream.
use recoup_transport::random::Rng;
use recoup_transport::spec::{self, Described, Description, Reader, SpecError};
use recoup_transport::time::Duration;
use std::fmt;
use std::str::FromStr;

/// A law of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// No time at all.
    #[default]
    None,
    /// Always the same.
    Constant {
        /// The time.
        time: Duration,
    },
    /// Each time between two equally likely.
    Uniform {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// Memoryless.
    Exponential {
        /// Its mean.
        mean: Duration,
    },
    /// Gaussian; draws below zero occur, and shorten the delay that they are added to.
    Normal {
        /// Its mean.
        mean: Duration,
        /// Its standard deviation.
        sd: Duration,
    },
}

const FAMILY: &[(&str, Reader<Law>)] = &[
    ("none", |spec| spec.finish().map(|()| Law::None)),
    ("constant", |spec| spec.read(Law::Constant { time: Duration::ZERO })),
    ("uniform", |spec| spec.read(Law::Uniform { min: Duration::ZERO, max: Duration::ZERO })),
    ("exponential", |spec| spec.read(Law::Exponential { mean: Duration::ZERO })),
    ("normal", |spec| spec.read(Law::Normal { mean: Duration::ZERO, sd: Duration::ZERO })),
];

impl FromStr for Law {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        spec::parse_with(text, "law of a time", FAMILY)
    }
}

impl Law {
    /// Draws a time, in nanoseconds; below zero only where the law is `normal`.
    pub fn draw(&self, rng: &mut Rng) -> i64 {
        match *self {
            Self::None => 0,
            Self::Constant { time } => nanos(time),
            Self::Uniform { min, max } => {
                let (low, high) = (nanos(min), nanos(max));
                low + rng.below((high - low) as u64 + 1) as i64
            }
            Self::Exponential { mean } => whole(exponential_unit(rng) * nanos(mean) as f64),
            Self::Normal { mean, sd } => {
                nanos(mean).saturating_add(whole(normal_unit(rng) * nanos(sd) as f64))
            }
        }
    }

    /// Draws a time that is not below zero.
    pub fn draw_time(&self, rng: &mut Rng) -> Duration {
        Duration::from_nanos(u64::try_from(self.draw(rng)).unwrap_or(0))
    }
}

impl Described for Law {
    fn describe(&mut self, each: &mut Description<'_>) {
        let mut time = |key, time: &mut Duration| {
            each.duration(key, time, Duration::ZERO);
            each.check(*time <= LONGEST, key, format_args!("{time:?}"), "a day or less");
        };
        match self {
            Self::None => {}
            Self::Constant { time: always } => time("time", always),
            Self::Uniform { min, max } => {
                time("min", min);
                time("max", max);
                each.check(min <= max, "min", format_args!("{min:?}"), "no more than max");
            }
            Self::Exponential { mean } => time("mean", mean),
            Self::Normal { mean, sd } => {
                time("mean", mean);
                time("sd", sd);
            }
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::None => "none",
            Self::Constant { .. } => "constant",
            Self::Uniform { .. } => "uniform",
            Self::Exponential { .. } => "exponential",
            Self::Normal { .. } => "normal",
        };
        spec::describe::print(f, name, self)
    }
}

/// Draws from the exponential law with mean 1, by inversion.
pub fn exponential_unit(rng: &mut Rng) -> f64 {
    -libm::log(1.0 - rng.unit_f64())
}

/// Draws from the normal law with mean 0 and deviation 1: Box and Muller, 1958.
///
/// Differences: the second of the pair is thrown away, so that no draw depends on whether another
/// was taken before it.
pub fn normal_unit(rng: &mut Rng) -> f64 {
    let radius = (2.0 * exponential_unit(rng)).sqrt();
    radius * libm::cos(2.0 * std::f64::consts::PI * rng.unit_f64())
}

/// The nearest whole number of nanoseconds within 292 years.
fn whole(nanos: f64) -> i64 {
    libm::round(nanos) as i64
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// The longest time that a parameter may have: a day.
const LONGEST: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of 100,000 draws, in milliseconds.
    fn moments(text: &str) -> (f64, f64) {
        let law = text.parse::<Law>().unwrap();
        let mut rng = Rng::from_seed(1);
        let draws: Vec<f64> = (0..100_000).map(|_| law.draw(&mut rng) as f64 / 1e6).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let square = draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>();
        (mean, (square / draws.len() as f64).sqrt())
    }

    #[test]
    fn each_law_has_its_mean_and_deviation() {
        for (text, mean, deviation) in [
            ("none", 0.0, 0.0),
            ("constant(time=3ms)", 3.0, 0.0),
            ("uniform(min=2ms,max=4ms)", 3.0, 1.0 / 3.0_f64.sqrt()),
            ("exponential(mean=3ms)", 3.0, 3.0),
            ("normal(mean=1ms,sd=3ms)", 1.0, 3.0),
        ] {
            let (found_mean, found_deviation) = moments(text);
            assert!((found_mean - mean).abs() < 0.03, "{text}: {found_mean}");
            assert!((found_deviation - deviation).abs() < 0.03, "{text}: {found_deviation}");
        }
    }

    #[test]
    fn a_law_is_read_as_it_is_printed() {
        for text in [
            "none",
            "constant(time=300us)",
            "uniform(min=0s,max=2ms)",
            "exponential(mean=300us)",
            "normal(mean=0s,sd=1ms)",
        ] {
            assert_eq!(text.parse::<Law>().unwrap().to_string(), text);
        }
    }
}
