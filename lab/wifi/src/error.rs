//! Probability that a stretch of a frame is received at a given SNR.
//!
//! Three models of ns-3.37. *table*: AWGN link simulations, its default. *nist*: Pei and Henderson, "Validation of OFDM
//! error rate model in ns-3", 2010. *yans*: Lacage and Henderson, "Yet another network simulator", 2006. 802.11b always
//! has a model of its own.
//!
//! Differences: the table model knows no BPSK 3/4 (9 Mbit/s) and asks *yans* there, as ns-3 does.
mod curve;
mod dsss;
mod nist;
mod table;
mod yans;

use super::rate::Rate;
use std::fmt;
use std::str::FromStr;

/// The error model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorModel {
    /// Measured curves.
    #[default]
    Table,
    /// 3 to 4.3 dB more pessimistic.
    Nist,
    /// Union bounds with the first one or two terms.
    Yans,
}

impl ErrorModel {
    /// Probability that `bits` at `rate` are received without an error; `snr` is linear, in the
    /// rate's bandwidth.
    pub fn success(self, rate: Rate, snr: f64, bits: u64) -> f64 {
        match (self, Coding::of(rate)) {
            (_, None) => dsss::success(rate, snr, bits),
            (Self::Nist, Some(coding)) => nist::success(coding, snr, bits),
            (Self::Yans, Some(coding)) => yans::success(coding, rate, snr, bits),
            (Self::Table, Some(coding)) => match coding.curve() {
                Some(mcs) => table::success(mcs, snr, bits),
                None => yans::success(coding, rate, snr, bits),
            },
        }
    }

    /// The SNR up to which the probability is 0 and that from which on it is 1 for any number of bits, if any.
    pub(super) fn certain(self, rate: Rate) -> Option<(f64, f64)> {
        match self {
            Self::Table => Coding::of(rate)?.curve().map(table::certain),
            Self::Nist | Self::Yans => None,
        }
    }
}

impl fmt::Display for ErrorModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table => "table",
            Self::Nist => "nist",
            Self::Yans => "yans",
        })
    }
}

impl FromStr for ErrorModel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Table, Self::Nist, Self::Yans]
            .into_iter()
            .find(|model| model.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no error model: write table, nist or yans"))
    }
}

/// Constellation and convolutional code of an OFDM rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Coding {
    /// Points of the constellation.
    points: u32,
    code: Code,
}

/// Rate of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Half,
    TwoThirds,
    ThreeQuarters,
    FiveSixths,
}

impl Coding {
    fn of(rate: Rate) -> Option<Self> {
        use Code::{FiveSixths, Half, ThreeQuarters, TwoThirds};
        let (points, code) = match rate {
            Rate::Dsss(_) => return None,
            Rate::Ofdm(place) => [
                (2, Half),
                (2, ThreeQuarters),
                (4, Half),
                (4, ThreeQuarters),
                (16, Half),
                (16, ThreeQuarters),
                (64, TwoThirds),
                (64, ThreeQuarters),
            ][usize::from(place) & 7],
            Rate::Ht { mcs, .. } => [
                (2, Half),
                (4, Half),
                (4, ThreeQuarters),
                (16, Half),
                (16, ThreeQuarters),
                (64, TwoThirds),
                (64, ThreeQuarters),
                (64, FiveSixths),
            ][usize::from(mcs) & 7],
        };
        Some(Self { points, code })
    }

    /// The MCS with the same constellation and code.
    fn curve(self) -> Option<usize> {
        Some(match (self.points, self.code) {
            (2, Code::Half) => 0,
            (4, Code::Half) => 1,
            (4, _) => 2,
            (16, Code::Half) => 3,
            (16, _) => 4,
            (64, Code::TwoThirds) => 5,
            (64, Code::ThreeQuarters) => 6,
            (64, _) => 7,
            _ => return None,
        })
    }

    fn ratio(self) -> f64 {
        match self.code {
            Code::Half => 1.0 / 2.0,
            Code::TwoThirds => 2.0 / 3.0,
            Code::ThreeQuarters => 3.0 / 4.0,
            Code::FiveSixths => 5.0 / 6.0,
        }
    }
}

/// Decibels as a ratio.
pub(super) fn from_db(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

/// A ratio in decibels.
pub(super) fn to_db(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}
