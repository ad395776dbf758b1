//! Topologies in the formats of other tools. Readers take text, never a file.
//!
//! For any text, a reader returns a topology or one error that names the line. Its memory is bounded by a multiple of
//! the text, and the text by [`MAX_TEXT_BYTES`].
pub mod annotated;
mod decimal;
mod edge;
pub mod mini_ndn;
pub mod rocketfuel;

use super::error::Problem;
use super::{Topology, TopologyError};
use std::fmt;
use std::str::FromStr;

/// Longest text that is read.
pub const MAX_TEXT_BYTES: usize = 16 << 20;

/// A format of topology files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ndnSIM's annotated topology: sections `router` and `link`.
    Annotated,
    /// Mini-NDN's `.conf`: sections `[nodes]` and `[links]`.
    MiniNdn,
    /// Rocketfuel's pairs of nodes with latencies in milliseconds.
    RocketfuelLatencies,
    /// Rocketfuel's pairs of nodes with weights.
    RocketfuelWeights,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] =
        [Self::Annotated, Self::MiniNdn, Self::RocketfuelLatencies, Self::RocketfuelWeights];

    /// The format that a text seems to have. Rocketfuel's files do not show what they hold, and are
    /// never guessed.
    pub fn guess(text: &str) -> Option<Self> {
        text.lines().find_map(|line| match line.trim_end() {
            "[nodes]" | "[links]" | "[stations]" => Some(Self::MiniNdn),
            "router" => Some(Self::Annotated),
            _ => None,
        })
    }

    /// Its name, as it is written in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Annotated => "annotated",
            Self::MiniNdn => "mini-ndn",
            Self::RocketfuelLatencies => "rocketfuel-latencies",
            Self::RocketfuelWeights => "rocketfuel-weights",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = TopologyError;

    fn from_str(name: &str) -> Result<Self, TopologyError> {
        const WHAT: &str = "one of the formats annotated, mini-ndn, rocketfuel-latencies \
                            and rocketfuel-weights";
        let format = Self::ALL.into_iter().find(|format| format.name() == name);
        format.ok_or_else(|| Problem::unexpected(WHAT, name).into())
    }
}

/// Reads a text in a given format.
pub fn read(format: Format, text: &str) -> Result<Topology, TopologyError> {
    match format {
        Format::Annotated => annotated::read(text),
        Format::MiniNdn => mini_ndn::read(text),
        Format::RocketfuelLatencies => rocketfuel::read(Some(text), None),
        Format::RocketfuelWeights => rocketfuel::read(None, Some(text)),
    }
}

/// The lines of a text with their numbers, the first is 1, without white space at their ends.
fn lines(text: &str) -> Result<impl Iterator<Item = (usize, &str)>, Problem> {
    check_length(text)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok((1..).zip(text.lines().map(str::trim_end)))
}

fn check_length(text: &str) -> Result<(), Problem> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(Problem::TooMany { what: "bytes", limit: MAX_TEXT_BYTES });
    }
    Ok(())
}

/// A coordinate.
fn coordinate(text: &str) -> Result<f64, Problem> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| Problem::unexpected("a coordinate", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_prints_and_reads_its_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert!("brite".parse::<Format>().unwrap_err().to_string().contains("found \"brite\""));
    }

    #[test]
    fn format_is_detected_from_the_text() {
        let guess = Format::guess;
        assert_eq!(guess("# my network\nrouter\n"), Some(Format::Annotated));
        assert_eq!(guess("# c\n[nodes]\na: _\n"), Some(Format::MiniNdn));
        assert_eq!((guess("a b 3\n"), guess("<svg/>"), guess("")), (None, None, None));
    }

    #[test]
    fn overlong_text_is_rejected() {
        let long = "#".repeat(MAX_TEXT_BYTES + 1);
        for format in Format::ALL {
            let error = read(format, &long).unwrap_err();
            assert_eq!(error.to_string(), "more than 16777216 bytes", "{format}");
        }
    }
}
