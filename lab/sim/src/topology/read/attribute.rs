//! Attributes of nodes and links: one table for all formats that have them, and their units.
//!
//! | attribute of a link | meaning |
//! |---|---|
//! | `LinkSpeedRaw` | rate in bit/s |
//! | `capacity`, `bandwidth`, `rate` | its unit, `capacity_unit`, or Mbit/s |
//! | `bw` | rate in Mbit/s |
//! | `delay`, `latency` | its unit, `delay_unit`, or ms |
//! | `buffer`, `queue` | `buffer_unit`, or packets |
//! | `max_queue_size` | packets |
//! | `loss` | a loss model, or `1%` |
//! | `weight`, `cost`, `metric` | cost |
//!
//! Attributes of the graph give the units of bare numbers.
//! Sources of the units: FNSS 0.9, `units.py`; Mininet, `TCIntf` (`bw` in Mbit/s, `max_queue_size` in packets). A bare
//! number as `loss` is an error: it is per cent in Mininet and a share elsewhere. Attributes that only describe, as
//! those of the Topology Zoo, are passed over; all others are named in [`Unused`].
use super::super::error::excerpt;
use super::super::{ChannelPart, QueueRoom, TopologyError};
use super::Problem;
use super::decimal::{self, Decimal};
use super::graph::{Attributes, is_given};
use crate::model::loss::Loss;
use recoup_transport::spec::Spelled;
use recoup_transport::time::Duration;
use std::collections::BTreeSet;

/// Property of a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Property {
    Rate,
    Delay,
    Queue,
    Loss,
    Cost,
}

/// Attributes of links by their names in lower case.
const OF_LINKS: [(&str, Property); 14] = [
    ("linkspeedraw", Property::Rate),
    ("capacity", Property::Rate),
    ("bandwidth", Property::Rate),
    ("rate", Property::Rate),
    ("bw", Property::Rate),
    ("delay", Property::Delay),
    ("latency", Property::Delay),
    ("buffer", Property::Queue),
    ("queue", Property::Queue),
    ("max_queue_size", Property::Queue),
    ("loss", Property::Loss),
    ("weight", Property::Cost),
    ("cost", Property::Cost),
    ("metric", Property::Cost),
];

/// Attributes of links that only describe. `LinkSpeed` and its unit repeat `LinkSpeedRaw`.
const DESCRIBE_LINKS: [&str; 11] = [
    "description",
    "id",
    "key",
    "label",
    "name",
    "linktype",
    "linknote",
    "linklabel",
    "linkstatus",
    "linkspeed",
    "linkspeedunits",
];

/// Attributes of nodes that are read, or only describe.
const OF_NODES: [&str; 23] = [
    "description",
    "doubted",
    "geocode_append",
    "geocode_country",
    "geocode_id",
    "geocode_name",
    "id",
    "label",
    "name",
    "city",
    "longitude",
    "latitude",
    "x",
    "y",
    "pos",
    "country",
    "internal",
    "hyperedge",
    "type",
    "asn",
    "geolocation",
    "doubled",
    "region",
];

/// Largest bare number of a rate in Mbit/s; a larger one is probably in bit/s.
const MOST_MBITS: u64 = 1_000_000;

/// Units of bare numbers.
#[derive(Clone, Copy, Default)]
pub(super) struct Units<'a> {
    capacity: Option<&'a str>,
    delay: Option<&'a str>,
    buffer: Option<&'a str>,
}

impl<'a> Units<'a> {
    /// The units among the attributes of a graph.
    pub(super) fn of(find: impl Fn(&str) -> Option<&'a str>) -> Self {
        Self {
            capacity: find("capacity_unit"),
            delay: find("delay_unit"),
            buffer: find("buffer_unit"),
        }
    }

    fn rate(&self, text: &str) -> Result<u64, Problem> {
        const WHAT: &str = "a rate above 0, such as 10Mbps";
        const UNIT: &str = "a capacity_unit such as Mbps";
        const HUGE: &str = "a rate in Mbit/s of at most 1000000; give a unit or a capacity_unit";
        let bare = Decimal::parse(text).is_some();
        let bits = match self.capacity.filter(|_| bare) {
            Some(unit) => {
                let factor = capacity_unit(unit).ok_or_else(|| Problem::unexpected(UNIT, unit))?;
                decimal::quantity(text, WHAT, |_| Some(factor))?
            }
            None => decimal::quantity(text, WHAT, |unit| match unit {
                "" => Some((1, 6)),
                unit => capacity_unit(unit),
            })?,
        };
        if bare && self.capacity.is_none() && bits > MOST_MBITS * 1_000_000 {
            return Err(Problem::unexpected(HUGE, text));
        }
        above_zero(bits, WHAT, text)
    }

    fn delay(&self, text: &str) -> Result<Duration, Problem> {
        let bare = self.delay.unwrap_or("ms");
        time_unit(bare).ok_or_else(|| Problem::unexpected("a delay_unit such as ms", bare))?;
        decimal::duration(text, "a delay such as 10ms", |unit| {
            time_unit(if unit.is_empty() { bare } else { unit })
        })
    }

    fn queue(&self, text: &str) -> Result<QueueRoom, Problem> {
        const WHAT: &str = "the size of a queue, a number";
        let size = Decimal::parse(text).and_then(|size| size.times(1, 0));
        let size = size.ok_or_else(|| Problem::unexpected(WHAT, text))?;
        match self.buffer {
            None | Some("packets" | "packet" | "pkts") => Ok(QueueRoom::Packets(size)),
            Some("bytes" | "byte" | "B") => Ok(QueueRoom::Bytes(size)),
            Some(other) => Err(Problem::unexpected("a buffer_unit, packets or bytes", other)),
        }
    }
}

fn above_zero(number: u64, what: &'static str, text: &str) -> Result<u64, Problem> {
    if number == 0 { Err(Problem::unexpected(what, text)) } else { Ok(number) }
}

/// The units of rates of FNSS: `Mbps`, `MB/s`, `Mbit/s`, `Mb`.
fn capacity_unit(unit: &str) -> Option<(u64, i32)> {
    let bare = unit.strip_suffix("it/s").or(unit.strip_suffix("ps")).or(unit.strip_suffix("/s"));
    let bare = bare.unwrap_or(unit);
    let (size, factor) = match bare.strip_suffix('b') {
        Some(size) => (size, 1),
        None if unit.ends_with("it/s") => return None,
        None => (bare.strip_suffix('B')?, 8),
    };
    let power = match size {
        "" => 0,
        "k" | "K" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        _ => return None,
    };
    Some((factor, power))
}

/// The units of time of FNSS, in nanoseconds.
fn time_unit(unit: &str) -> Option<(u64, i32)> {
    match unit {
        "minutes" | "minute" | "min" | "m" => Some((60, 9)),
        "seconds" | "second" | "sec" | "s" => Some((1, 9)),
        "milliseconds" | "millisecond" | "millisec" | "ms" => Some((1, 6)),
        "microseconds" | "microsecond" | "microsec" | "us" => Some((1, 3)),
        "nanoseconds" | "nanosecond" | "nanosec" | "ns" => Some((1, 0)),
        _ => None,
    }
}

fn loss(text: &str) -> Result<Spelled<Loss>, Problem> {
    const WHAT: &str = "a loss model such as bernoulli(p=0.01), or per cent with their sign";
    if let Some(share) = text.strip_suffix('%').and_then(Decimal::parse) {
        return share.loss(-2).ok_or_else(|| Problem::unexpected(WHAT, text));
    }
    if Decimal::parse(text).is_some() {
        const ADVICE: &str = "it may be a share or per cent; write bernoulli(p=0.01), or 1%";
        return Err(Problem::unsupported("loss without a unit", text, ADVICE));
    }
    text.parse().map_err(|_| Problem::unexpected(WHAT, text))
}

/// The attributes of a link, understood.
#[derive(Default)]
pub(super) struct LinkAttributes {
    pub(super) part: ChannelPart,
    /// Its cost, if it has one.
    pub(super) weight: Option<Decimal>,
}

impl LinkAttributes {
    /// Reads attributes; those without a meaning are counted in `unused`.
    pub(super) fn of(
        attributes: &Attributes<'_>,
        units: &Units<'_>,
        unused: &mut Unused,
    ) -> Result<Self, Problem> {
        let mut known = Self::default();
        let mut given = Vec::new();
        for (name, value) in attributes {
            let (lower, value) = (name.to_ascii_lowercase(), value.trim());
            let Some((own, property)) = OF_LINKS.iter().find(|(own, _)| *own == lower) else {
                unused.look_at_link(name, &lower);
                continue;
            };
            if !is_given(value) {
                continue;
            }
            if given.contains(property) {
                return Err(Problem::RepeatedAttribute(excerpt(name)));
            }
            given.push(*property);
            let wrong = |problem| Problem::Attribute(excerpt(name), Box::new(problem));
            known.set(own, *property, value, units).map_err(wrong)?;
        }
        Ok(known)
    }

    fn set(
        &mut self,
        name: &str,
        property: Property,
        value: &str,
        units: &Units<'_>,
    ) -> Result<(), Problem> {
        const BITS: Units<'_> = Units { capacity: Some("bps"), delay: None, buffer: None };
        const MBITS: Units<'_> = Units { capacity: Some("Mbps"), delay: None, buffer: None };
        const PACKETS: Units<'_> = Units { capacity: None, delay: None, buffer: None };
        match (property, name) {
            (Property::Rate, "linkspeedraw") => self.part.rate_bits = Some(BITS.rate(value)?),
            (Property::Rate, "bw") => self.part.rate_bits = Some(MBITS.rate(value)?),
            (Property::Rate, _) => self.part.rate_bits = Some(units.rate(value)?),
            (Property::Delay, _) => self.part.delay = Some(units.delay(value)?),
            (Property::Queue, "max_queue_size") => self.part.queue = Some(PACKETS.queue(value)?),
            (Property::Queue, _) => self.part.queue = Some(units.queue(value)?),
            (Property::Loss, _) => self.part.loss = Some(loss(value)?),
            (Property::Cost, _) => {
                let wrong = || Problem::unexpected("a cost that is not negative", value);
                self.weight = Some(Decimal::parse(value).ok_or_else(wrong)?);
            }
        }
        Ok(())
    }
}

/// A link that a program describes by attributes, as a graph of networkx has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Its properties.
    pub part: ChannelPart,
    /// Its cost times 1,000.
    pub milli_cost: u64,
    /// Attributes that have no meaning here.
    pub unused: Vec<String>,
}

/// Reads attributes of a link; `units` are those of its graph.
///
/// # Errors
/// The value of a known attribute is not understood.
pub fn describe(
    attributes: &[(String, String)],
    units: &[(String, String)],
) -> Result<Described, TopologyError> {
    let find = |name: &str| units.iter().find(|(own, _)| own == name).map(|(_, unit)| &**unit);
    let (units, mut unused) = (Units::of(find), Unused::default());
    let attributes: Attributes<'_> =
        attributes.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let known = LinkAttributes::of(&attributes, &units, &mut unused)?;
    let milli_cost = known.weight.map_or(Some(1_000), |weight| weight.times(1_000, 0));
    let milli_cost = milli_cost.ok_or(Problem::Shape("the cost is too large"))?;
    Ok(Described { part: known.part, milli_cost, unused: unused.of_links.into_iter().collect() })
}

/// Those attributes of a node, among the ones that a program gives, that have no meaning here.
pub fn describe_node(names: &[String]) -> Vec<String> {
    let mut unused = Unused::default();
    unused.look_at_node(names.iter().map(String::as_str));
    unused.of_nodes.into_iter().collect()
}

/// Names of attributes that have no meaning here.
#[derive(Default)]
pub(super) struct Unused {
    of_nodes: BTreeSet<String>,
    of_links: BTreeSet<String>,
}

impl Unused {
    /// Most names that a note lists.
    const MOST: usize = 20;

    /// Records attributes of a node.
    pub(super) fn look_at_node<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        for name in names {
            if !OF_NODES.iter().any(|own| own.eq_ignore_ascii_case(name)) {
                add(&mut self.of_nodes, name);
            }
        }
    }

    fn look_at_link(&mut self, name: &str, lower: &str) {
        if !DESCRIBE_LINKS.contains(&lower) {
            add(&mut self.of_links, name);
        }
    }

    /// A sentence each for nodes and for links.
    pub(super) fn notes(self) -> impl Iterator<Item = String> {
        let all = [("nodes", self.of_nodes), ("links", self.of_links)];
        all.into_iter().filter(|(_, names)| !names.is_empty()).map(|(of, names)| {
            let names: Vec<_> = names.into_iter().collect();
            format!("attributes of {of} that have no meaning here: {}", names.join(", "))
        })
    }
}

fn add(names: &mut BTreeSet<String>, name: &str) {
    if names.len() < Unused::MOST && !names.contains(name) {
        names.insert(excerpt(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_of_a_program_has_units() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        let given = [("latency", "2.5"), ("capacity", "3"), ("weight", "1.5"), ("colour", "red")];
        let known = describe(&pairs(&given), &pairs(&[("capacity_unit", "Gbps")])).unwrap();
        assert_eq!(known.part.delay, Some(Duration::from_micros(2_500)));
        assert_eq!(known.part.rate_bits, Some(3_000_000_000));
        assert_eq!((known.milli_cost, known.unused), (1_500, vec!["colour".to_owned()]));
        let error = describe(&pairs(&[("delay", "soon")]), &[]).unwrap_err().to_string();
        assert_eq!(error, "delay: expected a delay such as 10ms, found \"soon\"");
        let error = describe(&pairs(&[("weight", "much")]), &[]).unwrap_err().to_string();
        assert_eq!(error, "weight: expected a cost that is not negative, found \"much\"");
        assert_eq!(describe_node(&["Label", "mood", "pos"].map(String::from)), ["mood"]);
    }
}
