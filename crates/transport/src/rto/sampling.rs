//! Selection of the round-trip samples: `per-rtt`, `every` or `rfc7323`.
//!
//! Sources: S. Yang's consumer (2016), its designs #2 and #3; RFC 7323 appendix G, which takes every
//! sample but divides the gains by the number of samples expected in one round trip.
//!
//! Differences: appendix G expects one sample for two segments, because TCP receivers acknowledge every other one.
//! Here every Data is an answer of its own. Nevertheless the divisor is half of the segments in flight, rounded up,
//! as in established consumers of named data.
use super::RttSample;
use crate::time::Duration;
use std::fmt;
use std::str::FromStr;

/// Selection of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// One segment is timed at a time: about one in each round trip.
    PerRtt,
    /// Every segment that was transmitted once.
    Every,
    /// Every such segment, with gains divided by half the number in flight.
    #[default]
    Rfc7323,
}

impl Sampling {
    const WORDS: [(&str, Self); 3] =
        [("per-rtt", Self::PerRtt), ("every", Self::Every), ("rfc7323", Self::Rfc7323)];
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::WORDS.iter().filter(|(_, value)| value == self).try_for_each(|(word, _)| f.pad(word))
    }
}

/// The text is no selection of samples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no way of sampling; there are: per-rtt, every, rfc7323")]
pub struct UnknownSampling(String);

impl FromStr for Sampling {
    type Err = UnknownSampling;

    fn from_str(text: &str) -> Result<Self, UnknownSampling> {
        let found = Self::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| UnknownSampling(text.to_owned()))
    }
}

/// Selects the segments that are samples. Its owner reports the fate of the segments and never offers a retransmitted
/// one (Karn's algorithm).
#[derive(Clone, Debug)]
pub struct Sampler {
    sampling: Sampling,
    timed: Option<u64>,
}

impl Sampler {
    /// A sampler of this kind.
    pub fn new(sampling: Sampling) -> Self {
        Self { sampling, timed: None }
    }

    /// `segment` was transmitted for the first time.
    pub fn on_sent(&mut self, segment: u64) {
        self.timed.get_or_insert(segment);
    }

    /// `segment` timed out, was retransmitted or is no longer requested: it is no sample.
    pub fn on_abandoned(&mut self, segment: u64) {
        if self.timed == Some(segment) {
            self.timed = None;
        }
    }

    /// The Data of `segment` arrived after its only transmission; `in_flight` counts the segments before, this one
    /// included. Returns the divisor if it is a sample.
    pub fn on_delivered(
        &mut self,
        segment: u64,
        rtt: Duration,
        in_flight: u32,
    ) -> Option<RttSample> {
        let timed = self.timed == Some(segment);
        self.on_abandoned(segment);
        let weight_divisor = match self.sampling {
            Sampling::PerRtt if !timed => return None,
            Sampling::PerRtt | Sampling::Every => 1.0,
            Sampling::Rfc7323 => f64::from(in_flight.div_ceil(2).max(1)),
        };
        Some(RttSample { weight_divisor, ..RttSample::new(segment, rtt) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(10);

    fn taken(sampler: &mut Sampler, segment: u64) -> bool {
        sampler.on_delivered(segment, RTT, 5).is_some()
    }

    #[test]
    fn one_segment_is_timed_at_a_time() {
        let mut sampler = Sampler::new(Sampling::PerRtt);
        (0..4).for_each(|segment| sampler.on_sent(segment));
        assert!(!taken(&mut sampler, 1) && taken(&mut sampler, 0) && !taken(&mut sampler, 2));
        sampler.on_sent(4);
        sampler.on_sent(5);
        assert!(!taken(&mut sampler, 3) && taken(&mut sampler, 4) && !taken(&mut sampler, 5));
    }

    #[test]
    fn lost_timed_segment_gives_no_sample() {
        let mut sampler = Sampler::new(Sampling::PerRtt);
        sampler.on_sent(0);
        sampler.on_sent(1);
        sampler.on_abandoned(1);
        sampler.on_abandoned(0);
        assert!(!taken(&mut sampler, 0));
        sampler.on_sent(2);
        assert!(taken(&mut sampler, 2));
    }

    #[test]
    fn the_gains_are_divided_by_half_the_flight() {
        let divisor = |sampling, in_flight| {
            let sample = Sampler::new(sampling).on_delivered(0, RTT, in_flight);
            sample.map(|sample| sample.weight_divisor)
        };
        for (in_flight, expected) in [(0, 1.0), (1, 1.0), (2, 1.0), (3, 2.0), (100, 50.0)] {
            assert_eq!(divisor(Sampling::Rfc7323, in_flight), Some(expected));
            assert_eq!(divisor(Sampling::Every, in_flight), Some(1.0));
        }
    }

    #[test]
    fn printed_sampling_parses_to_itself() {
        for (_, sampling) in Sampling::WORDS {
            assert_eq!(sampling.to_string().parse(), Ok(sampling));
        }
        let error = "often".parse::<Sampling>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`often` is no way of sampling; there are: per-rtt, every, rfc7323"
        );
    }
}
