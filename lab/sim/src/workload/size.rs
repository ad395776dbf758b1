//! Lengths of the contents of a catalogue: one for all, from a log of requests, or drawn.
//!
//! ```text
//! 1024 B
//! trace(file=log.csv,most=8600B)
//! uniform(min=100B,max=8kB,seed=1)    exponential(mean=2kB)    log-normal(median=2kB,sigma=1)
//! ```
//!
//! The length of a content follows from its number alone, so that each producer and each run has the same one. A drawn
//! length is cut to a packet; another `seed` draws others. A content that the log does not have is of 1,024 bytes.
use super::log::RequestLog;
use crate::model::law::{exponential_unit, normal_unit};
use crate::network::OverTime;
use recoup_core::unit;
use recoup_packet::name::Name;
use recoup_transport::random::{Rng, mix};
use recoup_transport::spec::{Spec, SpecError};
use std::fmt;

/// Most bytes of content in a packet.
pub const MOST_BYTES: u64 = 8_600;
/// Length of a content of unknown length.
const ELSE_BYTES: u64 = 1_024;

/// Lengths of contents.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentSizes {
    /// All have this length.
    All(u64),
    /// As a log has them.
    Log {
        /// The log.
        log: OverTime<RequestLog>,
        /// Longer contents count as so long; without it they are an error.
        most: Option<u64>,
    },
    /// Drawn for each content.
    Drawn {
        /// Their distribution.
        law: SizeLaw,
        /// Seed of the draws.
        seed: u64,
    },
}

/// A distribution of lengths, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeLaw {
    /// From `min` to `max`.
    Uniform {
        /// The shortest.
        min: u64,
        /// The longest.
        max: u64,
    },
    /// Memoryless.
    Exponential {
        /// The mean before lengths are cut.
        mean: u64,
    },
    /// The logarithm is normal.
    LogNormal {
        /// Half of the contents are longer.
        median: u64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
}

impl From<u64> for ContentSizes {
    fn from(bytes: u64) -> Self {
        Self::All(bytes)
    }
}

impl ContentSizes {
    /// Reads anything but a plain length.
    ///
    /// # Errors
    /// The problem of the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut spec = Spec::parse(text).map_err(|error| error.to_string())?;
        if spec.name() == "trace" {
            let most = size(&mut spec, "most", 0).map_err(|error| error.to_string())?;
            let whole = "the name of a file";
            let file = spec.take("file", String::new(), whole, |text| Some(text.to_owned()));
            let file = file.and_then(|file| spec.finish().map(|()| file));
            let file = file.map_err(|error| error.to_string())?;
            let log = OverTime::parse(&format!("trace(file={file})"))?;
            let log = log.filter(|_| !file.is_empty()).ok_or("write trace(file=NAME)")?;
            return Ok(Self::Log { log, most: Some(most).filter(|most| *most > 0) });
        }
        law(spec).map_err(|error| error.to_string())
    }

    /// Checks what the file of a log shows.
    ///
    /// # Errors
    /// The problem, as the end of a sentence.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::All(_) | Self::Drawn { .. } => Ok(()),
            Self::Log { log, most } => {
                let read =
                    log.trace().ok_or_else(|| format!("{log}: the file has not been read"))?;
                read.check_sizes(most.unwrap_or(MOST_BYTES), most.is_some())
                    .map_err(|what| format!("{}:{what}", log.file()))
            }
        }
    }

    /// Length of the content of a name, whose last component is its number.
    pub fn of(&self, name: &Name) -> u64 {
        let number = || {
            let last = name.last()?;
            std::str::from_utf8(last.value()).ok()?.parse::<u64>().ok()
        };
        match self {
            Self::All(bytes) => *bytes,
            Self::Log { log, most } => {
                let known = number().zip(log.trace()).and_then(|(it, log)| log.size(it));
                let bytes = known.unwrap_or(ELSE_BYTES);
                most.map_or(bytes, |most| bytes.min(most)).clamp(1, MOST_BYTES)
            }
            Self::Drawn { law, seed } => {
                let content = number().map_or(0, mix);
                law.draw(&mut Rng::from_seed(mix(*seed) ^ content)).clamp(1, MOST_BYTES)
            }
        }
    }

    /// Bytes below which no content is.
    pub fn least_bytes(&self) -> u64 {
        match self {
            Self::All(bytes) => *bytes,
            Self::Log { .. } | Self::Drawn { .. } => 1,
        }
    }
}

impl SizeLaw {
    fn draw(self, rng: &mut Rng) -> u64 {
        match self {
            Self::Uniform { min, max } => min + rng.below(max - min + 1),
            Self::Exponential { mean } => libm::round(exponential_unit(rng) * mean as f64) as u64,
            Self::LogNormal { median, sigma } => {
                libm::round(median as f64 * libm::exp(sigma * normal_unit(rng))) as u64
            }
        }
    }
}

fn size(spec: &mut Spec<'_>, key: &'static str, default: u64) -> Result<u64, SpecError> {
    spec.take(key, default, "1 to 8600 bytes, such as 2kB", |text| {
        unit::bytes(text).ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes))
    })
}

fn law(mut spec: Spec<'_>) -> Result<ContentSizes, SpecError> {
    let seed = spec.take("seed", 1, "a whole number", |text| text.parse().ok())?;
    let law = match spec.name() {
        "uniform" => {
            let (min, max) = (size(&mut spec, "min", 1)?, size(&mut spec, "max", MOST_BYTES)?);
            if min > max {
                return Err(spec.bad("min", min, "at most `max`"));
            }
            SizeLaw::Uniform { min, max }
        }
        "exponential" => SizeLaw::Exponential { mean: size(&mut spec, "mean", ELSE_BYTES)? },
        "log-normal" => SizeLaw::LogNormal {
            median: size(&mut spec, "median", ELSE_BYTES)?,
            sigma: spec.number("sigma", 1.0, 0.0..=20.0, "a number from 0 to 20")?,
        },
        name => {
            let known = vec!["trace", "uniform", "exponential", "log-normal"];
            let family = "distribution of lengths";
            return Err(SpecError::UnknownName { family, name: name.to_owned(), known });
        }
    };
    spec.finish()?;
    Ok(ContentSizes::Drawn { law, seed })
}

impl fmt::Display for ContentSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(bytes) => f.write_str(&unit::print_bytes(*bytes)),
            Self::Log { log, most: None } => log.fmt(f),
            Self::Log { log, most: Some(most) } => {
                write!(f, "trace(file={},most={most}B)", log.file())
            }
            Self::Drawn { law, seed } => match law {
                SizeLaw::Uniform { min, max } => {
                    write!(f, "uniform(min={min}B,max={max}B,seed={seed})")
                }
                SizeLaw::Exponential { mean } => write!(f, "exponential(mean={mean}B,seed={seed})"),
                SizeLaw::LogNormal { median, sigma } => {
                    write!(f, "log-normal(median={median}B,sigma={sigma},seed={seed})")
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::trace::Trace as _;

    fn sizes(sizes: &ContentSizes) -> Vec<u64> {
        let name = |number: u64| format!("/video/{number}").parse().unwrap();
        (1..=2_000).map(|number| sizes.of(&name(number))).collect()
    }

    fn mean(sizes: &[u64]) -> f64 {
        sizes.iter().sum::<u64>() as f64 / sizes.len() as f64
    }

    #[test]
    fn distribution_is_printed_and_read() {
        for text in [
            "trace(file=a.csv)",
            "trace(file=a.csv,most=100B)",
            "uniform(min=10B,max=20B,seed=3)",
            "exponential(mean=2000B,seed=1)",
            "log-normal(median=500B,sigma=0.5,seed=1)",
        ] {
            assert_eq!(ContentSizes::parse(text).unwrap().to_string(), text);
        }
        for text in ["pareto(min=1B)", "uniform(min=9B,max=2B)", "uniform(max=1MB)", "trace()"] {
            assert!(ContentSizes::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn draws_follow_the_law_and_stay() {
        let read = |text| ContentSizes::parse(text).unwrap();
        let uniform = sizes(&read("uniform(min=1000B,max=3000B)"));
        assert!((mean(&uniform) - 2_000.0).abs() < 50.0, "{}", mean(&uniform));
        assert_eq!(uniform, sizes(&read("uniform(min=1000B,max=3000B)")));
        assert_ne!(uniform, sizes(&read("uniform(min=1000B,max=3000B,seed=2)")));
        let exponential = mean(&sizes(&read("exponential(mean=500B)")));
        assert!((exponential - 500.0).abs() < 40.0, "{exponential}");
        let mut normal = sizes(&read("log-normal(median=500B,sigma=2)"));
        assert!(normal.iter().all(|bytes| (1..=MOST_BYTES).contains(bytes)));
        normal.sort_unstable();
        assert!((400..600).contains(&normal[1_000]), "{}", normal[1_000]);
    }

    #[test]
    fn log_decides_or_names_its_line() {
        let read = |text: &str, log: &str| {
            let mut sizes = ContentSizes::parse(text).unwrap();
            let ContentSizes::Log { log: over_time, .. } = &mut sizes else { panic!() };
            over_time.read(RequestLog::parse(log).unwrap().into());
            sizes.check().map(|()| self::sizes(&sizes))
        };
        let all = read("trace(file=l)", "0 a 100\n1 b 200\n2 a 300\n").unwrap();
        assert_eq!(all[..3], [100, 200, 1_024]);
        let wrong = read("trace(file=l)", "0 a 100\n1 b 9000\n").unwrap_err();
        assert!(wrong.starts_with("l:2: 9000 B do not fit"), "{wrong}");
        let cut = read("trace(file=l,most=500B)", "0 a 100\n1 b 9000\n").unwrap();
        assert_eq!(cut[..2], [100, 500]);
        let none = read("trace(file=l)", "0 a\n1 b\n").unwrap_err();
        assert!(none.starts_with("l:1: has no length"), "{none}");
    }
}
