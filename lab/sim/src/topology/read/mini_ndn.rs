//! Mini-NDN's topology files (`.conf`): sections of an INI file whose keys and values are separated by
//! a space.
//!
//! Source: Mini-NDN 0.7, `Minindn.processTopo` and Mininet's `TCIntf`; `man tc` for units.
//!
//! ```text
//! [nodes]
//! c1: _ position=0,0,0
//! p1: _
//! [links]
//! c1:p1 delay=10ms bw=5 loss=1 max_queue_size=32
//! [faces]
//! c1:p1 cost=42
//! ```
//!
//! `bw` is in Mbit/s, `loss` in per cent, `max_queue_size` in packets, `delay` has a unit, `jitter` without one is in
//! microseconds, as for `tc`. Such a file implies Mininet's links: the delay comes before the rate, and one limit
//! counts
//! the packets in both (1,000 by default, netem's own limit). Jitter is uniform on either side of the delay and lets
//! packets overtake each other.
//!
//! Differences: a switch becomes a node with the label `switch` that forwards NDN packets; other parameters of nodes
//! (radius, angle, logging) are ignored; wireless sections are rejected. Names keep their case.
use super::super::draft::Draft;
use super::super::error::excerpt;
use super::super::{ChannelPart, QueueRoom, Topology, TopologyError};
use super::decimal::{self, Decimal};
use super::{Problem, coordinate, lines};
use crate::model::law::Law;
use crate::model::loss::Loss;
use crate::network::Order;
use recoup_transport::spec::Spelled;
use recoup_transport::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// Packets that netem holds if it is given no limit.
const NETEM_LIMIT_PACKETS: u64 = 1_000;

/// Reads a topology.
pub fn read(text: &str) -> Result<Topology, TopologyError> {
    let sections = Sections::of(text)?;
    let mut draft = Draft::default();
    let mut links = BTreeMap::new();
    for entry in &sections.nodes {
        node(&mut draft, entry, None).map_err(|p| entry.wrong(p))?;
    }
    for entry in &sections.switches {
        node(&mut draft, entry, Some("switch")).map_err(|p| entry.wrong(p))?;
    }
    for entry in &sections.links {
        link(&mut draft, &mut links, entry).map_err(|p| entry.wrong(p))?;
    }
    for entry in &sections.faces {
        face(&mut draft, &links, entry).map_err(|p| entry.wrong(p))?;
    }
    face_backs(&mut draft, &links, &sections.faces);
    Ok(draft.finish())
}

/// A line of a section: `key parameters`.
struct Entry<'a> {
    line: usize,
    key: &'a str,
    parameters: &'a str,
}

impl<'a> Entry<'a> {
    fn wrong(&self, problem: Problem) -> TopologyError {
        TopologyError::at(self.line, problem)
    }

    /// The two names of `a:b`.
    fn ends(&self) -> Result<(&'a str, &'a str), Problem> {
        const WHAT: &str = "two nodes such as a:b";
        let wrong = || Problem::unexpected(WHAT, self.key);
        let (a, b) = self.key.split_once(':').ok_or_else(wrong)?;
        if a.is_empty() || b.is_empty() || b.contains(':') { Err(wrong()) } else { Ok((a, b)) }
    }

    /// The parameters `name=value`.
    fn parameters(&self) -> impl Iterator<Item = Result<(&'a str, &'a str), Problem>> {
        let words = self.parameters.split_whitespace().filter(|word| *word != "_");
        words.map(|word| {
            word.split_once('=')
                .ok_or_else(|| Problem::unexpected("a parameter such as delay=10ms", word))
        })
    }
}

#[derive(Default)]
struct Sections<'a> {
    nodes: Vec<Entry<'a>>,
    switches: Vec<Entry<'a>>,
    links: Vec<Entry<'a>>,
    faces: Vec<Entry<'a>>,
}

impl<'a> Sections<'a> {
    fn of(text: &'a str) -> Result<Self, TopologyError> {
        let mut sections = Self::default();
        let (mut current, mut named) = ("", BTreeSet::new());
        for (line, content) in lines(text)? {
            let content = content.trim_start();
            let wrong = |problem| Err(TopologyError::at(line, problem));
            if content.is_empty() || content.starts_with(['#', ';']) {
                continue;
            }
            if let Some(section) = content.strip_prefix('[').and_then(|s| s.strip_suffix(']')) {
                current = section;
                named.insert(section);
                sections.entries(section).or_else(wrong)?;
                continue;
            }
            let (key, parameters) = content.split_once([' ', '\t']).unwrap_or((content, ""));
            let entry = Entry { line, key, parameters };
            sections.entries(current).or_else(wrong)?.push(entry);
        }
        match ["nodes", "links"].into_iter().find(|section| !named.contains(section)) {
            Some("nodes") => Err(Problem::Missing("a section [nodes]").into()),
            Some(_) => Err(Problem::Missing("a section [links]").into()),
            None => Ok(sections),
        }
    }

    fn entries(&mut self, section: &str) -> Result<&mut Vec<Entry<'a>>, Problem> {
        const WIRELESS: [&str; 7] =
            ["stations", "accessPoints", "cars", "aps", "adhocNetwork", "mobility", "wmediumd"];
        match section {
            "nodes" => Ok(&mut self.nodes),
            "switches" => Ok(&mut self.switches),
            "links" => Ok(&mut self.links),
            "faces" => Ok(&mut self.faces),
            wireless if WIRELESS.contains(&wireless) => Err(Problem::unsupported(
                "wireless section",
                wireless,
                "use a file with wired links",
            )),
            other => Err(Problem::unexpected(
                "one of the sections [nodes], [switches], [links] and [faces]",
                other,
            )),
        }
    }
}

fn node(draft: &mut Draft, entry: &Entry<'_>, label: Option<&str>) -> Result<(), Problem> {
    let name = entry.key.strip_suffix(':').unwrap_or(entry.key);
    if name.contains(':') {
        return Err(Problem::unexpected("a node such as \"a: _\"", entry.key));
    }
    let node = draft.node(name)?;
    let mut place = None;
    for parameter in entry.parameters() {
        if let ("position", value) = parameter? {
            place = Some(position(value)?);
        }
    }
    draft.describe(node, place, label);
    Ok(())
}

/// `x,y` or `x,y,z`.
fn position(text: &str) -> Result<(f64, f64), Problem> {
    let wrong = || Problem::unexpected("a position such as 10,20,0", text);
    let (x, rest) = text.split_once(',').ok_or_else(wrong)?;
    let y = rest.split(',').next().unwrap_or_default();
    Ok((coordinate(x)?, coordinate(y)?))
}

/// Places of the links between two nodes, by the names in the order of the file.
type Places<'a> = BTreeMap<(&'a str, &'a str), usize>;

fn link<'a>(draft: &mut Draft, links: &mut Places<'a>, entry: &Entry<'a>) -> Result<(), Problem> {
    let (a, b) = entry.ends()?;
    if links.contains_key(&(a, b)) {
        return Err(Problem::RepeatedLink(excerpt(entry.key)));
    }
    let ends = (draft.known(a)?, draft.known(b)?);
    let place = draft.link(ends.0, ends.1, channel(entry)?, 1)?;
    links.insert((a, b), place);
    Ok(())
}

fn channel(entry: &Entry<'_>) -> Result<ChannelPart, Problem> {
    let mut part = ChannelPart {
        order: Some(Order::DelayThenRate),
        queue: Some(QueueRoom::Packets(NETEM_LIMIT_PACKETS)),
        ..ChannelPart::default()
    };
    let mut jitter = None;
    for parameter in entry.parameters() {
        let (name, value) = parameter?;
        match name {
            "delay" => part.delay = Some(delay(value)?),
            "bw" => part.rate_bits = Some(rate(value)?),
            "loss" => part.loss = Some(loss(value)?),
            "max_queue_size" => {
                let packets = decimal::whole(value, "a number of packets")?;
                part.queue = Some(QueueRoom::Packets(packets));
            }
            "jitter" => jitter = Some(microseconds(value)?),
            // Which classes of tc set the rate; the limit counts packets in any case.
            "use_htb" | "use_hfsc" | "use_tbf" => (),
            other => return Err(unknown(other)),
        }
    }
    if let Some(jitter) = jitter.filter(|jitter| !jitter.is_zero()) {
        spread(&mut part, jitter)?;
    }
    Ok(part)
}

fn unknown(name: &str) -> Problem {
    const KNOWN: &str = "one of delay=, bw=, loss=, max_queue_size= and jitter=";
    Problem::unexpected(KNOWN, name)
}

/// Puts the delay into the middle of a uniform law.
fn spread(part: &mut ChannelPart, jitter: Duration) -> Result<(), Problem> {
    let least = part.delay.unwrap_or_default().checked_sub(jitter);
    let least = least.ok_or(Problem::Shape("the jitter is larger than the delay"))?;
    let law = Law::Uniform { min: Duration::ZERO, max: jitter.saturating_mul(2) };
    part.delay = Some(least);
    part.jitter = Some(law.into());
    part.reorder = Some(true);
    Ok(())
}

fn delay(text: &str) -> Result<Duration, Problem> {
    decimal::duration(text, "a delay with its unit, such as 10ms", unit_of_time)
}

fn microseconds(text: &str) -> Result<Duration, Problem> {
    decimal::duration(text, "a jitter such as 1ms", |unit| match unit {
        "" => Some((1, 3)),
        unit => unit_of_time(unit),
    })
}

/// The units of `tc`.
fn unit_of_time(unit: &str) -> Option<(u64, i32)> {
    match unit {
        "s" | "sec" | "secs" => Some((1, 9)),
        "ms" | "msec" | "msecs" => Some((1, 6)),
        "us" | "usec" | "usecs" => Some((1, 3)),
        "ns" | "nsec" | "nsecs" => Some((1, 0)),
        _ => None,
    }
}

fn rate(text: &str) -> Result<u64, Problem> {
    decimal::quantity(text, "a bandwidth in Mbit/s, such as 5 or 0.5", |unit| {
        unit.is_empty().then_some((1, 6))
    })
}

fn loss(text: &str) -> Result<Spelled<Loss>, Problem> {
    let loss = Decimal::parse(text).and_then(|share| share.loss(-2));
    loss.ok_or_else(|| Problem::unexpected("a loss in per cent, from 0 to 100", text))
}

/// Sets the cost in the direction that a line names.
fn face(draft: &mut Draft, links: &Places<'_>, entry: &Entry<'_>) -> Result<(), Problem> {
    let (a, b) = entry.ends()?;
    let cost = face_cost(entry)?;
    let (forth, back) = (links.get(&(a, b)), links.get(&(b, a)));
    if forth.or(back).is_none() {
        return Err(Problem::unexpected("two nodes with a link between them", entry.key));
    }
    let Some(cost) = cost else { return Ok(()) };
    if let Some(link) = forth.and_then(|place| draft.link_at(*place)) {
        link.cost = cost;
    }
    if let Some(link) = back.and_then(|place| draft.link_at(*place)) {
        link.back_cost = Some(cost);
    }
    Ok(())
}

fn face_cost(entry: &Entry<'_>) -> Result<Option<u64>, Problem> {
    let mut cost = None;
    for parameter in entry.parameters() {
        match parameter? {
            ("cost", value) => cost = Some(decimal::whole(value, "a cost")?),
            (other, _) => return Err(Problem::unexpected("cost=", other)),
        }
    }
    Ok(cost)
}

/// Gives a link whose cost is set from its second end only the same cost from its first.
fn face_backs(draft: &mut Draft, links: &Places<'_>, faces: &[Entry<'_>]) {
    let named = faces.iter().filter_map(|face| face.ends().ok()).collect::<BTreeSet<_>>();
    for (ends, place) in links {
        let Some(link) = draft.link_at(*place) else { continue };
        if !named.contains(ends) {
            link.cost = link.back_cost.unwrap_or(link.cost);
        }
        link.back_cost = link.back_cost.filter(|back| *back != link.cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::TopologyLink;

    fn one_link(parameters: &str) -> Result<TopologyLink, String> {
        let text = format!("[nodes]\na: _\nb: _\n[links]\na:b {parameters}\n");
        read(&text).map(|topology| topology.links[0].clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_link_is_what_mininet_makes_of_it() {
        let link = one_link("delay=10ms bw=5 loss=0.5 max_queue_size=32").unwrap();
        assert_eq!(link.forth, link.back);
        let part = link.forth;
        assert_eq!(
            (part.rate_bits, part.delay),
            (Some(5_000_000), Some(Duration::from_millis(10)))
        );
        assert_eq!(part.queue, Some(QueueRoom::Packets(32)));
        assert_eq!(part.order, Some(Order::DelayThenRate));
        assert_eq!(part.loss.unwrap().text(), "bernoulli(p=0.005)");
        let unsaid = one_link("delay=1ms").unwrap().forth;
        assert_eq!((unsaid.queue, unsaid.rate_bits), (Some(QueueRoom::Packets(1_000)), None));
    }

    #[test]
    fn jitter_lies_on_either_side_of_the_delay() {
        let part = one_link("delay=10ms jitter=500").unwrap().forth;
        assert_eq!(part.delay, Some(Duration::from_micros(9_500)));
        assert_eq!(part.jitter.unwrap().text(), "uniform(min=0s,max=1ms)");
        assert_eq!(part.reorder, Some(true));
        assert!(one_link("delay=1ms jitter=2ms").unwrap_err().contains("larger than the delay"));
    }

    #[test]
    fn wrong_link_is_named_with_its_line() {
        let error = |parameters| one_link(parameters).unwrap_err();
        assert_eq!(
            error("delay=10"),
            "line 5: expected a delay with its unit, such as 10ms, found \"10\""
        );
        assert_eq!(
            error("bw=5Mbit"),
            "line 5: expected a bandwidth in Mbit/s, such as 5 or 0.5, found \"5Mbit\""
        );
        assert!(error("loss=101").contains("from 0 to 100"));
        assert!(error("dealy=10ms").contains("found \"dealy\""));
    }

    #[test]
    fn face_costs_hold_in_the_named_direction() {
        let read_with = |faces: &str| {
            let text = format!("[nodes]\na:\nb:\n[links]\na:b delay=1ms\n[faces]\n{faces}");
            read(&text).map(|t| (t.links[0].cost, t.links[0].cost_back()))
        };
        assert_eq!(read_with("a:b cost=42\n"), Ok((42, 42)));
        assert_eq!(read_with("b:a cost=7\n"), Ok((7, 7)));
        assert_eq!(read_with("b:a cost=7\na:b cost=42\n"), Ok((42, 7)));
        assert!(read_with("a:c cost=1\n").unwrap_err().to_string().starts_with("line 7: "));
    }

    #[test]
    fn sections_come_in_any_order() {
        let text =
            "; c\n[links]\n  a:s1 delay=1ms\n[switches]\ns1: _\n[nodes]\na: _ position=1,2,0\n";
        let topology = read(text).unwrap();
        assert_eq!(topology.nodes[0].position, Some((1.0, 2.0)));
        assert_eq!(topology.nodes[1].label.as_deref(), Some("switch"));
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(error("[nodes]\n[stations]\n").starts_with("line 2: wireless section"));
        assert!(error("a: _\n").starts_with("line 1: expected one of the sections"));
        assert_eq!(error("[nodes]\n"), "expected a section [links], but there is nothing");
        assert!(
            error("[nodes]\na:\nb:\n[links]\na:b delay=1ms\na:b delay=1ms\n").contains("twice")
        );
    }
}
