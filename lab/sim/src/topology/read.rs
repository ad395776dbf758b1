//! Topologies in the formats of other tools. Readers take text, never a file.
//!
//! For any text, a reader returns a topology or one error that names the line. Its memory is bounded by a multiple of
//! the text, and the text by [`MAX_TEXT_BYTES`].
pub mod annotated;
mod attribute;
mod brite;
mod caida;
mod decimal;
mod edge;
mod fnss;
mod gml;
mod graph;
mod graphml;
pub mod mini_ndn;
pub mod rocketfuel;
mod rocketfuel_map;
mod xml;

pub use attribute::{Described, describe, describe_node};

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
    /// GraphML, as the Topology Zoo and networkx have it.
    Graphml,
    /// GML, as the Topology Zoo and networkx have it.
    Gml,
    /// XML of the Fast Network Simulation Setup.
    Fnss,
    /// Output of BRITE.
    Brite,
    /// CAIDA's relationships of autonomous systems.
    Caida,
    /// Rocketfuel's maps of providers, `.cch`.
    RocketfuelMap,
    /// Rocketfuel's pairs of nodes with latencies in milliseconds.
    RocketfuelLatencies,
    /// Rocketfuel's pairs of nodes with weights.
    RocketfuelWeights,
}

/// How nodes of a graph get their names, if the file has labels beside ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// By the label; by the id if there is none. Nodes of one label are `label-id`.
    #[default]
    Label,
    /// By the id.
    Id,
}

/// A format: its name in scenarios, whether a text has it, and its reader.
struct Row {
    format: Format,
    name: &'static str,
    is_likely: fn(&str) -> bool,
    read: fn(&str, Naming) -> Result<Topology, TopologyError>,
}

/// The formats. Rocketfuel's pairs do not show their meaning and are never guessed.
const ROWS: [Row; 10] = [
    Row {
        format: Format::Graphml,
        name: "graphml",
        is_likely: |text| is_xml(text) && text.contains("<graphml"),
        read: graphml::read,
    },
    Row {
        format: Format::Fnss,
        name: "fnss",
        is_likely: |text| is_xml(text) && text.contains("<topology"),
        read: fnss::read,
    },
    Row { format: Format::Gml, name: "gml", is_likely: gml::is_likely, read: gml::read },
    Row { format: Format::Brite, name: "brite", is_likely: brite::is_likely, read: brite::read },
    Row { format: Format::Caida, name: "caida", is_likely: caida::is_likely, read: caida::read },
    Row {
        format: Format::RocketfuelMap,
        name: "rocketfuel-map",
        is_likely: rocketfuel_map::is_likely,
        read: rocketfuel_map::read,
    },
    Row {
        format: Format::MiniNdn,
        name: "mini-ndn",
        is_likely: |text| has_line(text, &["[nodes]", "[links]", "[stations]"]),
        read: |text, _| mini_ndn::read(text),
    },
    Row {
        format: Format::Annotated,
        name: "annotated",
        is_likely: |text| has_line(text, &["router"]),
        read: |text, _| annotated::read(text),
    },
    Row {
        format: Format::RocketfuelLatencies,
        name: "rocketfuel-latencies",
        is_likely: |_| false,
        read: |text, _| rocketfuel::read(Some(text), None),
    },
    Row {
        format: Format::RocketfuelWeights,
        name: "rocketfuel-weights",
        is_likely: |_| false,
        read: |text, _| rocketfuel::read(None, Some(text)),
    },
];

/// All formats by their names.
pub const FORMATS: [(&str, Format); ROWS.len()] = {
    let mut formats = [("", Format::Annotated); ROWS.len()];
    let mut at = 0;
    while at < ROWS.len() {
        formats[at] = (ROWS[at].name, ROWS[at].format);
        at += 1;
    }
    formats
};

impl Format {
    /// The format that a text seems to have.
    pub fn guess(text: &str) -> Option<Self> {
        ROWS.iter().find(|row| (row.is_likely)(text)).map(|row| row.format)
    }

    /// Its name, as it is written in scenarios.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
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
        let found = FORMATS.iter().find(|(own, _)| *own == name);
        let wrong = || Problem::unexpected("a format of topologies", name).into();
        found.map(|(_, format)| *format).ok_or_else(wrong)
    }
}

/// Reads a text in a given format. Formats without labels pass over `naming`.
pub fn read(format: Format, text: &str, naming: Naming) -> Result<Topology, TopologyError> {
    let row = ROWS.iter().find(|row| row.format == format);
    let read = row.map(|row| row.read).ok_or(Problem::Shape("the format has no reader"))?;
    read(text, naming)
}

fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

fn has_line(text: &str, wanted: &[&str]) -> bool {
    text.lines().any(|line| wanted.contains(&line.trim_end()))
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
        for (name, format) in FORMATS {
            assert_eq!(format.to_string(), name);
            assert_eq!(name.parse(), Ok(format));
        }
        assert!("gexf".parse::<Format>().unwrap_err().to_string().contains("found \"gexf\""));
    }

    #[test]
    fn format_is_detected_from_the_text() {
        let guess = Format::guess;
        assert_eq!(guess("# my network\nrouter\n"), Some(Format::Annotated));
        assert_eq!(guess("# c\n[nodes]\na: _\n"), Some(Format::MiniNdn));
        assert_eq!(guess("<?xml version='1.0'?>\n<graphml/>"), Some(Format::Graphml));
        assert_eq!(guess("\u{feff}<topology/>"), Some(Format::Fnss));
        assert_eq!(guess("# c\ngraph [\n"), Some(Format::Gml));
        assert_eq!(guess("Creator \"me\"\ngraph\n[\n"), Some(Format::Gml));
        assert_eq!(guess("Topology: ( 2 Nodes, 1 Edges )\n"), Some(Format::Brite));
        assert_eq!(guess("# c\n1|2|-1\n"), Some(Format::Caida));
        assert_eq!(guess("1 @A,+B + bb (1) &2 -> <2> {-3} =n! r0\n"), Some(Format::RocketfuelMap));
        assert_eq!((guess("a b 3\n"), guess("<svg/>"), guess("")), (None, None, None));
    }

    #[test]
    fn overlong_text_is_rejected() {
        let long = "#".repeat(MAX_TEXT_BYTES + 1);
        for (_, format) in FORMATS {
            let error = read(format, &long, Naming::Label).unwrap_err();
            assert_eq!(error.to_string(), "more than 16777216 bytes", "{format}");
        }
    }
}
