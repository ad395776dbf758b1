//! Topology files of ndnSIM ("annotated"): a section `router` with nodes, a section `link` with links.
//!
//! Source: ndnSIM 2.9, manual "Creating topologies" and `AnnotatedTopologyReader`. Columns are separated
//! by white space; a line is a comment if `#` is its first character, and nowhere else.
//!
//! ```text
//! router
//! #name  city  y  x  [MPI rank]
//! c1     NA    1  1
//! p1     NA    2  1
//! link
//! #from  to  bandwidth  metric  delay  queue  loss
//! c1     p1  1Mbps      1       10ms   20     ns3::RateErrorModel,ErrorUnit=ERROR_UNIT_PACKET,ErrorRate=0.1
//! ```
//!
//! As in ndnSIM: lines before `router` are ignored; of a link only the first two columns are needed; a second line with
//! the same nodes in the other order is skipped. Numbers without a unit are bits per second and seconds. Loss and queue
//! hold in both directions; a position near the equator means that there is none.
//!
//! Differences: a link from a node to itself, as ndnSIM's samples have, is left out with a note. Positions are kept as
//! the file gives them (`x` to the right, `y` upwards; ndnSIM mirrors `y` for its screen) and are not drawn at random
//! if there are none. The MPI rank is ignored. Text that ndnSIM skips silently is an error. A bare number in the column
//! of loss is the share of lost packets, as in ndndSIM.
use super::super::draft::{Draft, SelfLinks};
use super::super::{ChannelPart, QueueRoom, Topology, TopologyError};
use super::decimal::{self, Decimal};
use super::{Problem, coordinate, lines};
use crate::model::loss::Loss;
use recoup_transport::spec::Spelled;
use std::collections::BTreeSet;
use std::str::SplitWhitespace;

/// Reads a topology.
pub fn read(text: &str) -> Result<Topology, TopologyError> {
    let mut draft = Draft::default();
    let mut section = Section::Before;
    let (mut joined, mut self_links) = (BTreeSet::new(), SelfLinks::default());
    for (number, line) in lines(text)? {
        match (line, section) {
            ("router", Section::Before) => section = Section::Router,
            ("link", Section::Router) => section = Section::Link,
            (_, Section::Before) | ("", _) => (),
            (line, _) if line.starts_with('#') => (),
            (line, Section::Router) => node(&mut draft, line).map_err(|p| at(number, p))?,
            (line, Section::Link) => {
                link(&mut draft, &mut joined, &mut self_links, line).map_err(|p| at(number, p))?;
            }
        }
    }
    if section == Section::Before {
        return Err(Problem::Missing("a line that is only \"router\" before the nodes").into());
    }
    let mut topology = draft.finish();
    topology.notes.extend(self_links.note());
    Ok(topology)
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Before,
    Router,
    Link,
}

fn at(line: usize, problem: Problem) -> TopologyError {
    TopologyError::at(line, problem)
}

fn node(draft: &mut Draft, line: &str) -> Result<(), Problem> {
    let mut columns = line.split_whitespace();
    let node = draft.node(columns.next().unwrap_or_default())?;
    let label = columns.next().filter(|label| *label != "NA");
    let y = columns.next().map(coordinate).transpose()?;
    let x = columns.next().map(coordinate).transpose()?;
    let position = x.zip(y).filter(|(_, y)| y.abs() > 0.001);
    draft.describe(node, position, label);
    if let Some(rank) = columns.next() {
        decimal::whole(rank, "a number of a process (column 5)")?;
    }
    nothing_more(columns, "the end of the line after five columns")
}

fn link(
    draft: &mut Draft,
    joined: &mut BTreeSet<(u32, u32)>,
    self_links: &mut SelfLinks,
    line: &str,
) -> Result<(), Problem> {
    let mut columns = line.split_whitespace();
    let name = columns.next().unwrap_or_default();
    let from = draft.known(name)?;
    let to = draft.known(columns.next().ok_or(Problem::Missing("the second end of the link"))?)?;
    let rate_bits = columns.next().map(rate).transpose()?;
    let metric = columns.next().map(|text| decimal::whole(text, "a whole metric (column 4)"));
    let cost = metric.transpose()?.unwrap_or(1);
    let delay = columns.next().map(delay).transpose()?;
    let queue = columns.next().map(queue).transpose()?;
    let loss = columns.next().map(loss).transpose()?;
    let part = ChannelPart { rate_bits, delay, queue, loss, ..ChannelPart::default() };
    nothing_more(columns, "the end of the line after seven columns")?;
    if from == to {
        self_links.add(name);
        return Ok(());
    }
    if joined.contains(&(to.0, from.0)) {
        return Ok(());
    }
    joined.insert((from.0, to.0));
    draft.link(from, to, part, cost).map(|_| ())
}

fn nothing_more(mut columns: SplitWhitespace<'_>, what: &'static str) -> Result<(), Problem> {
    columns.next().map_or(Ok(()), |text| Err(Problem::unexpected(what, text)))
}

/// A rate as ns-3 writes it, in bits per second.
fn rate(text: &str) -> Result<u64, Problem> {
    decimal::quantity(text, "a bandwidth such as 10Mbps (column 3)", |unit| {
        let (size, bytes) = match unit.strip_suffix("ps").or(unit.strip_suffix("/s")) {
            Some(unit) => (unit.strip_suffix(['b', 'B'])?, unit.ends_with('B')),
            None if unit.is_empty() => ("", false),
            None => return None,
        };
        let (factor, power) = match size {
            "" => (1, 0),
            "k" | "K" => (1, 3),
            "M" => (1, 6),
            "G" => (1, 9),
            "ki" | "Ki" => (1 << 10, 0),
            "Mi" => (1 << 20, 0),
            "Gi" => (1 << 30, 0),
            _ => return None,
        };
        Some((if bytes { 8 * factor } else { factor }, power))
    })
}

/// A time as ns-3 writes it.
fn delay(text: &str) -> Result<recoup_transport::time::Duration, Problem> {
    decimal::duration(text, "a delay such as 10ms (column 5)", |unit| match unit {
        "" | "s" => Some((1, 9)),
        "ms" => Some((1, 6)),
        "us" => Some((1, 3)),
        "ns" => Some((1, 0)),
        "ps" => Some((1, -3)),
        "fs" => Some((1, -6)),
        "min" => Some((60, 9)),
        "h" => Some((3_600, 9)),
        "d" => Some((86_400, 9)),
        _ => None,
    })
}

fn queue(text: &str) -> Result<QueueRoom, Problem> {
    if text.starts_with("ns3::") {
        const ADVICE: &str = "write the number of packets of a drop-tail queue (column 6)";
        return Err(Problem::unsupported("queue", text, ADVICE));
    }
    let packets = text.strip_suffix('p').unwrap_or(text);
    decimal::whole(packets, "a number of packets (column 6)").map(QueueRoom::Packets)
}

/// A loss model: ns-3's error model for whole packets, or a share of packets.
fn loss(text: &str) -> Result<Spelled<Loss>, Problem> {
    const SHARE: &str = "a share of lost packets from 0 to 1 (column 7)";
    const ADVICE: &str = "write ns3::RateErrorModel,ErrorUnit=ERROR_UNIT_PACKET,ErrorRate=0.01";
    let share = |number: &str| {
        let loss = Decimal::parse(number).and_then(|share| share.loss(0));
        loss.ok_or_else(|| Problem::unexpected(SHARE, number))
    };
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return share(text);
    }
    let wrong = || Problem::unsupported("loss model", text, ADVICE);
    let attributes = text.strip_prefix("ns3::RateErrorModel").ok_or_else(wrong)?;
    let (mut unit, mut rate) = ("", "0");
    for attribute in attributes.split(',').skip(1) {
        match attribute.split_once('=') {
            Some(("ErrorUnit", value)) => unit = value,
            Some(("ErrorRate", value)) => rate = value,
            _ => return Err(wrong()),
        }
    }
    let named = attributes.is_empty() || attributes.starts_with(',');
    // Without a unit ns-3 counts bytes.
    if !named || !matches!(unit, "ERROR_UNIT_PACKET" | "EU_PKT") {
        return Err(wrong());
    }
    share(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_link(columns: &str) -> Result<ChannelPart, String> {
        let text = format!("router\na NA 1 1\nb NA 1 2\nlink\na b {columns}\n");
        let topology = read(&text).map_err(|error| error.to_string())?;
        assert_eq!(topology.links[0].forth, topology.links[0].back);
        Ok(topology.links[0].forth.clone())
    }

    #[test]
    fn rates_and_delays_are_those_of_ns_3() {
        let rate = |text: &str| one_link(text).map(|part| part.rate_bits.unwrap());
        assert_eq!(rate("1Mbps"), Ok(1_000_000));
        assert_eq!((rate("0.5Gb/s"), rate("512kbps")), (Ok(500_000_000), Ok(512_000)));
        assert_eq!((rate("1KiB/s"), rate("9600")), (Ok(8_192), Ok(9_600)));
        assert!(rate("1Mbit").is_err() && rate("-1bps").is_err() && rate("bps").is_err());
        let nanos = |text: &str| {
            one_link(&format!("1bps 1 {text}")).map(|part| part.delay.unwrap().as_nanos())
        };
        assert_eq!(
            (nanos("0.207ms"), nanos("2"), nanos("1500ps")),
            (Ok(207_000), Ok(2_000_000_000), Ok(2))
        );
        let error = nanos("10 msec").unwrap_err();
        assert_eq!(error, "line 5: expected a number of packets (column 6), found \"msec\"");
    }

    #[test]
    fn a_packet_error_model_becomes_bernoulli_loss() {
        let loss =
            |text: &str| one_link(&format!("1Mbps 1 1ms 20 {text}")).map(|p| p.loss.unwrap());
        let model = "ns3::RateErrorModel,ErrorUnit=ERROR_UNIT_PACKET,ErrorRate=";
        assert_eq!(loss(&format!("{model}0.9")), Ok("bernoulli(p=0.9)".parse().unwrap()));
        assert_eq!(loss(&format!("{model}0")), Ok("none".parse().unwrap()));
        assert_eq!(loss("0.05"), Ok("bernoulli(p=0.05)".parse().unwrap()));
        assert!(loss(&format!("{model}1.5")).unwrap_err().contains("from 0 to 1"));
        for other in [
            "ns3::BurstErrorModel,ErrorRate=0.1",
            "ns3::RateErrorModel,ErrorRate=0.1",
            "ns3::RateErrorModel,ErrorUnit=ERROR_UNIT_BIT,ErrorRate=0.1",
            "ns3::RateErrorModelX,ErrorUnit=ERROR_UNIT_PACKET",
        ] {
            let error = loss(other).unwrap_err();
            assert!(error.starts_with("line 5: loss model \"ns3::"), "{error}");
            assert!(error.contains("cannot be simulated"), "{error}");
        }
    }

    #[test]
    fn a_queue_is_counted_in_packets() {
        let queue = |text: &str| one_link(&format!("1Mbps 1 1ms {text}")).map(|p| p.queue.unwrap());
        assert_eq!(
            (queue("20"), queue("20p")),
            (Ok(QueueRoom::Packets(20)), Ok(QueueRoom::Packets(20)))
        );
        assert!(queue("ns3::RedQueue,MeanPktSize=100").unwrap_err().contains("drop-tail"));
    }

    #[test]
    fn only_the_ends_of_a_link_are_needed() {
        assert_eq!(one_link(""), Ok(ChannelPart::default()));
        let text = "router\na\nb\nlink\na\n";
        let error = read(text).unwrap_err().to_string();
        assert_eq!(error, "line 5: expected the second end of the link, but there is nothing");
    }

    #[test]
    fn the_wrong_line_is_named() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            error("a NA 1 1\nlink\n"),
            "expected a line that is only \"router\" before the nodes, but there is nothing"
        );
        assert_eq!(
            error("router\na\na\n"),
            "line 3: node \"a\" is there twice; each needs a name of its own"
        );
    }
}
