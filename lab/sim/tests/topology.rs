//! Topologies from files of other tools, and what hostile ones come to.

use proptest::prelude::*;
use recoup_sim::network::Order;
use recoup_sim::topology::read::{self, Format, Naming, rocketfuel};
use recoup_sim::topology::{ChannelPart, QueueRoom, Topology, sprint};
use std::time::Duration;

const ANNOTATED: &str = include_str!("topology/bottleneck.txt");
const MINI_NDN: &str = include_str!("topology/dumbbell.conf");
const GRAPHML: &str = include_str!("topology/coast.graphml");
const GML: &str = include_str!("topology/coast.gml");
const FNSS: &str = include_str!("topology/ring.fnss.xml");
const BRITE: &str = include_str!("topology/plane.brite");
const MAP: &str = include_str!("topology/provider.cch");
const SYSTEMS: &str = include_str!("topology/systems.as-rel");
const PAIRS: &str = "London,+X1 Paris,+X2 1.7\nParis,+X2 London,+X1 2\nParis,+X2 Milan,+X3 3.5\n";

fn read(format: Format, text: &str) -> Result<Topology, recoup_sim::topology::TopologyError> {
    read::read(format, text, Naming::Label)
}

/// The topology of a file whose format shows.
fn recognised(format: Format, text: &str) -> Topology {
    assert_eq!(Format::guess(text), Some(format));
    read(format, text).unwrap()
}

fn node_names(topology: &Topology) -> Vec<&str> {
    topology.nodes.iter().map(|node| node.name.as_str()).collect()
}

fn link_names(topology: &Topology) -> Vec<&str> {
    topology.links.iter().map(|link| link.name.as_str()).collect()
}

fn millis(part: &ChannelPart) -> u128 {
    part.delay.expect("a delay").as_millis()
}

#[test]
fn annotated_file_is_read_as_in_ndnsim() {
    let topology = read(Format::Annotated, ANNOTATED).unwrap();
    assert_eq!(Format::guess(ANNOTATED), Some(Format::Annotated));
    assert_eq!(link_names(&topology), ["c1-r1", "r1-r2", "r2-p1"]);
    assert_eq!(topology.nodes[3].position, Some((4.0, 1.0)));
    assert_eq!(topology.nodes[2].position, None);
    assert_eq!(topology.nodes[2].label.as_deref(), Some("Nowhere"));
    let shared = &topology.links[1];
    assert_eq!(
        (shared.cost, shared.forth.rate_bits, millis(&shared.back)),
        (3, Some(5_000_000), 10)
    );
    assert_eq!(shared.back.queue, Some(QueueRoom::Packets(32)));
    assert_eq!(shared.back.loss, "bernoulli(p=0.01)".parse().ok());
    assert_eq!((topology.links[0].forth.loss.clone(), shared.forth.order), (None, None));
}

#[test]
fn mini_ndn_links_equal_those_of_mininet() {
    let topology = read(Format::MiniNdn, MINI_NDN).unwrap();
    assert_eq!(Format::guess(MINI_NDN), Some(Format::MiniNdn));
    assert_eq!(link_names(&topology), ["c1-R1", "c2-R1", "R1-R2", "R2-p1", "R2-p2"]);
    let orders = topology.links.iter().flat_map(|link| [link.forth.order, link.back.order]);
    assert!(orders.into_iter().all(|order| order == Some(Order::DelayThenRate)));
    let shared = &topology.links[2];
    assert_eq!((shared.cost, shared.cost_back(), topology.links[0].cost), (42, 42, 1));
    assert_eq!(shared.forth.queue, Some(QueueRoom::Packets(32)));
    assert_eq!((shared.forth.rate_bits, millis(&shared.forth)), (Some(5_000_000), 10));
    assert_eq!(topology.links[4].back.loss, "bernoulli(p=0.01)".parse().ok());
}

#[test]
fn rocketfuel_files_make_links_with_two_directions() {
    let latencies = read(Format::RocketfuelLatencies, PAIRS).unwrap();
    assert_eq!(latencies.links[0].forth.delay, Some(Duration::from_micros(1_700)));
    assert_eq!(latencies.links[0].back.delay, Some(Duration::from_millis(2)));
    let both = rocketfuel::read(Some(PAIRS), Some(PAIRS)).unwrap();
    assert_eq!((both.links[0].cost, both.links[0].cost_back()), (1_700, 2_000));
    assert_eq!(both.links[0].forth.delay, latencies.links[0].forth.delay);
}

#[test]
fn zoo_networks_have_labels_and_distances() {
    for (format, text) in [(Format::Graphml, GRAPHML), (Format::Gml, GML)] {
        let topology = recognised(format, text);
        assert_eq!(node_names(&topology), ["St. José", "Tokyo", "Hub-2", "Hub-3"]);
        let links = ["St. José-Tokyo", "St. José-Tokyo#2", "Tokyo-Hub-2", "Hub-2-Hub-3"];
        assert_eq!(link_names(&topology), links);
        let rates: Vec<_> = topology.links.iter().map(|link| link.forth.rate_bits).collect();
        assert_eq!(rates, [Some(10_000_000_000), None, None, None]);
        // 8,336 km of fibre.
        assert_eq!((millis(&topology.links[1].forth), millis(&topology.links[1].back)), (41, 41));
        assert_eq!(topology.links[2].forth.delay, None);
        assert!(topology.geographic);
        let notes = [
            "links from a node to itself are left out: 1 (1)",
            "2 links have no delay: an end has no coordinates; `[link] delay` holds",
        ];
        assert_eq!(topology.notes, notes);
        let by_id = read::read(format, text, Naming::Id).unwrap();
        assert_eq!(node_names(&by_id), ["0", "1", "2", "3"]);
    }
}

#[test]
fn fnss_topology_keeps_its_units() {
    let topology = recognised(Format::Fnss, FNSS);
    assert_eq!(link_names(&topology), ["0-1", "1-2"]);
    let link = &topology.links[0];
    assert_eq!((link.forth.rate_bits, millis(&link.back)), (Some(1_500_000_000), 2));
    assert_eq!(link.forth.queue, Some(QueueRoom::Packets(20)));
    assert_eq!((link.cost, topology.links[1].cost), (1_000, 2_500));
    let notes = [
        "elements <application> of nodes are left out",
        "attributes of links that have no meaning here: type",
    ];
    assert_eq!(topology.notes, notes);
}

#[test]
fn brite_edges_have_milliseconds_and_mbits() {
    let topology = recognised(Format::Brite, BRITE);
    assert_eq!(link_names(&topology), ["0-1", "1-2", "0-2"]);
    assert_eq!(topology.nodes[1].position, Some((40.0, 60.0)));
    let link = &topology.links[0].forth;
    assert_eq!((link.rate_bits, link.delay), (Some(10_000_000), Some(Duration::from_micros(167))));
    assert_eq!(topology.links[2].forth, ChannelPart::default());
}

#[test]
fn rocketfuel_map_joins_both_lists() {
    let topology = recognised(Format::RocketfuelMap, MAP);
    assert_eq!(node_names(&topology), ["1", "2", "3"]);
    assert_eq!(topology.nodes[0].label.as_deref(), Some("San Jose, CA"));
    assert_eq!(link_names(&topology), ["1-2", "1-3", "2-3"]);
    assert_eq!(topology.notes, ["1 links to other providers are left out"]);
}

#[test]
fn relationships_of_systems_are_links() {
    let topology = recognised(Format::Caida, SYSTEMS);
    assert_eq!(node_names(&topology), ["64500", "64501", "64502"]);
    assert_eq!(link_names(&topology), ["64500-64501", "64500-64502", "64501-64502"]);
    assert_eq!(topology.notes.len(), 1);
}

#[test]
fn annotated_link_to_itself_is_left_out() {
    let text = "router\na\nb\nlink\na a 1Mbps 1 1ms 20\na b 1Mbps 1 1ms 20\n";
    let topology = read(Format::Annotated, text).unwrap();
    assert_eq!(link_names(&topology), ["a-b"]);
    assert_eq!(topology.notes, ["links from a node to itself are left out: 1 (a)"]);
}

#[test]
fn sprint_from_pairs_equals_the_built_in() {
    let built_in = sprint();
    let name = |node: recoup_sim::network::NodeId| built_in.nodes[node.0 as usize].name.as_str();
    let (mut latencies, mut weights) = (String::new(), String::new());
    for link in &built_in.links {
        let ends = format!("{} {}", name(link.ends.0), name(link.ends.1));
        let nanos = link.forth.delay.unwrap().as_nanos();
        latencies += &format!("{ends} {}.{:06}\n", nanos / 1_000_000, nanos % 1_000_000);
        weights += &format!("{ends} {}\n", link.cost);
    }
    let read = rocketfuel::read(Some(&latencies), Some(&weights)).unwrap();
    assert_eq!(read.nodes.len(), 52);
    for (read, known) in read.links.iter().zip(&built_in.links) {
        assert_eq!((&read.name, &read.forth, &read.back), (&known.name, &known.forth, &known.back));
        assert_eq!((read.cost, read.back_cost), (known.cost, known.back_cost));
    }
}

/// An error is one line, and a line that it names exists in the text.
fn check_outcome(format: Format, text: &str) -> Result<(), TestCaseError> {
    match read(format, text) {
        Ok(topology) => {
            prop_assert_eq!(topology.check(), Ok(()));
        }
        Err(error) => {
            let message = error.to_string();
            prop_assert!(!message.is_empty() && !message.contains('\n'), "{}", message);
            let lines = text.lines().count().max(1);
            prop_assert!(error.line.is_none_or(|line| (1..=lines + 1).contains(&line)));
        }
    }
    Ok(())
}

fn format() -> impl Strategy<Value = (Format, &'static str)> {
    prop::sample::select(vec![
        (Format::Annotated, ANNOTATED),
        (Format::MiniNdn, MINI_NDN),
        (Format::Graphml, GRAPHML),
        (Format::Gml, GML),
        (Format::Fnss, FNSS),
        (Format::Brite, BRITE),
        (Format::RocketfuelMap, MAP),
        (Format::Caida, SYSTEMS),
        (Format::RocketfuelLatencies, PAIRS),
        (Format::RocketfuelWeights, PAIRS),
    ])
}

proptest! {
    #[test]
    fn any_text_gives_a_topology_or_one_line(
        (format, _) in format(),
        text in ".{0,400}",
    ) {
        check_outcome(format, &text)?;
    }

    #[test]
    fn files_that_were_good_once_do_no_harm(
        (format, good) in format(),
        at in any::<prop::sample::Index>(),
        removed in 0_usize..12,
        inserted in prop::sample::select(vec![
            "", "\n", " ", "0", "-1", "1e999", ".", "=", ":", "a", "NaN", "<", ">", "/>", "\u{0}",
            "router\n", "link\n", "[links]\n", "delay=", "999999999999999999999", "\t", "é", "%", "#",
        ]),
    ) {
        let mut characters = good.chars().collect::<Vec<_>>();
        let at = at.index(characters.len());
        let end = (at + removed).min(characters.len());
        characters.splice(at..end, inserted.chars());
        check_outcome(format, &characters.into_iter().collect::<String>())?;
    }

    #[test]
    fn lines_in_any_order_do_no_harm(
        (format, good) in format(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let lines = good.lines().collect::<Vec<_>>();
        let text = order.iter().map(|place| lines[place.index(lines.len())]).collect::<Vec<_>>();
        check_outcome(format, &text.join("\n"))?;
    }
}
