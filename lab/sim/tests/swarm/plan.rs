//! The simulation of a seed.
use crate::channel;
use crate::consumer;
use crate::dice::Dice;
use recoup_forwarder::strategy;
use recoup_forwarder::suppression::Suppression;
use recoup_packet::name::Name;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, BackgroundPlan, CsCapacity, Direction, Fault,
    LinkId, LinkOptions, Network, NodeId, PacketShape, ProducePlan, RoutePlan, ServePlan, Stop,
    StrategyPlan, Unsolicited,
};
use recoup_sim::route::{Graph, Metric, NextHops, Producer};
use recoup_sim::topology;
use recoup_transport::queue::Discipline;
use recoup_transport::serve::{ServeOptions, Version};
use recoup_transport::time::{Duration, Instant};

/// A simulation that ends: every consumer ends or is stopped.
pub(crate) struct Swarmed {
    pub(crate) network: Network,
    /// Nothing is lost and nothing fails: every fetch must get its object.
    pub(crate) is_gentle: bool,
}

/// When consumers that do not end by themselves, and all other traffic, are taken away, in milliseconds.
const LAST_TRAFFIC: u64 = 8_000;

pub(crate) fn plan(seed: u64) -> Swarmed {
    let is_gentle = Dice::of(seed, "gentle").chance(0.15);
    let mut network = places(&mut Dice::of(seed, "topology"), is_gentle);
    nodes(&mut Dice::of(seed, "nodes"), &mut network, is_gentle);
    schedulers(&mut Dice::of(seed, "schedulers"), &mut network, is_gentle);
    let producers = producers(&mut Dice::of(seed, "producers"), &mut network, is_gentle);
    routes(&mut Dice::of(seed, "routes"), &mut network, &producers, is_gentle);
    consumers(&mut Dice::of(seed, "consumers"), &mut network, &producers, is_gentle);
    if !is_gentle {
        background(&mut Dice::of(seed, "background"), &mut network);
        faults(&mut Dice::of(seed, "faults"), &mut network);
    }
    let mut dice = Dice::of(seed, "rest");
    network.follow_transmissions = dice.chance(0.3);
    network.stop = Stop { at: Instant::from_millis(1_000_000_000), when_done: dice.chance(0.5) };
    Swarmed { network, is_gentle }
}

fn places(dice: &mut Dice, is_gentle: bool) -> Network {
    let count = dice.between(2, 9) as u32;
    let most = (count * (count - 1) / 2).min(count + 3);
    let topology = match dice.between(0, 5) {
        0 => topology::line(count),
        1 => topology::star(count - 1),
        2 => topology::grid(2 + count % 2, 2),
        _ => {
            let links = dice.between(u64::from(count) - 1, u64::from(most)) as u32;
            topology::random(count, links, dice.rng())
        }
    };
    let (nodes, links) = topology.unwrap().plans(&LinkOptions::default());
    let mut network = Network { nodes, links, ..Network::default() };
    for link in &mut network.links {
        let draw = if is_gentle { channel::gentle } else { channel::any };
        link.forth = draw(dice);
        link.back = if dice.chance(0.6) { link.forth.clone() } else { draw(dice) };
        link.cost = dice.between(1, 10);
        link.back_cost = link.cost;
    }
    network
}

/// Besides all policies by their names.
const SUPPRESSION: [&str; 3] =
    ["same-face-retx(fixed=10ms)", "same-face-retx(faces=any)", "soft-hard(soft=20ms)"];

fn strategy(dice: &mut Dice) -> &'static str {
    dice.one_named(strategy::names(), &["multipath(split=cost)", "discover(phi=2)"])
}

fn nodes(dice: &mut Dice, network: &mut Network, is_gentle: bool) {
    let everywhere = strategy(dice);
    for node in &mut network.nodes {
        node.options.cache = match dice.between(0, 5) {
            0 => CsCapacity::Unlimited,
            1 => CsCapacity::Bytes(dice.magnitude(100, 200_000)),
            2 | 3 => CsCapacity::Packets(dice.magnitude(1, 300)),
            _ => CsCapacity::Packets(0),
        };
        node.options.strategy =
            if dice.chance(0.3) { strategy(dice) } else { everywhere }.parse().unwrap();
        if !is_gentle {
            node.options.suppression =
                dice.one_named(Suppression::names(), &SUPPRESSION).parse().unwrap();
            if dice.chance(0.2) {
                node.options.unsolicited = Unsolicited::AdmitNetwork;
            }
        }
        if dice.chance(0.3) {
            let laws =
                ["constant(time=0.2ms)", "exponential(mean=0.3ms)", "uniform(min=0ms,max=1ms)"];
            node.processing = dice.one(&laws).parse().unwrap();
        }
    }
}

/// Besides all disciplines by their names.
const SCHEDULERS: [&str; 2] = ["max-min(share=flow,gain=1)", "drr(share=flow,quantum=500)"];
/// Schedulers with queues so short that packets are dropped.
const NARROW: [&str; 3] =
    ["fifo(packets=5)", "max-min(flow-queue=4,packets=12,flows=3)", "drr(flow-queue=4,bytes=9000)"];

/// How some nodes, or single links, share what leaves; not always alike at both ends.
fn schedulers(dice: &mut Dice, network: &mut Network, is_gentle: bool) {
    let narrow: &[_] = if is_gentle { &[] } else { &NARROW };
    let more = [&SCHEDULERS, narrow].concat();
    let one = |dice: &mut Dice| dice.one_named(Discipline::names(), &more);
    let everywhere = dice.chance(0.3).then(|| one(dice));
    for node in &mut network.nodes {
        let own = if dice.chance(0.1) { Some(one(dice)) } else { everywhere };
        node.scheduler = own.unwrap_or("none").parse().unwrap();
    }
    for link in &mut network.links {
        for way in [&mut link.forth, &mut link.back] {
            way.scheduler = if dice.chance(0.05) { one(dice) } else { "none" }.parse().unwrap();
        }
    }
}

/// A producer's object.
struct Served {
    prefix: Name,
    nodes: Vec<NodeId>,
    /// Whether it is an object, and has a version.
    object: Option<bool>,
}

fn producers(dice: &mut Dice, network: &mut Network, is_gentle: bool) -> Vec<Served> {
    let mut all = Vec::new();
    for number in 0..dice.between(1, 3) {
        let prefix: Name = format!("/p{number}").parse().unwrap();
        let object = dice.chance(0.7).then(|| dice.chance(0.5));
        let kind = match object {
            Some(versioned) => serve(dice, &prefix, versioned),
            None => produce(dice, &prefix),
        };
        let mut nodes = vec![NodeId(dice.place(network.nodes.len()))];
        if dice.chance(0.2) {
            nodes.push(NodeId(dice.place(network.nodes.len())));
        }
        nodes.dedup();
        for (copy, node) in nodes.iter().enumerate() {
            let start = if is_gentle { Instant::ZERO } else { dice.instant(0, 300) };
            let leaves = !is_gentle && dice.chance(0.1);
            let stop = leaves.then(|| dice.instant(1_000, LAST_TRAFFIC));
            let (name, kind) = (format!("producer-{number}-{copy}"), kind.clone());
            network.applications.push(ApplicationPlan { name, node: *node, start, stop, kind });
        }
        all.push(Served { prefix, nodes, object });
    }
    all
}

fn shape(dice: &mut Dice, content_bytes: u64) -> PacketShape {
    match dice.between(0, 2) {
        0 => PacketShape::Digest,
        1 => PacketShape::Signature(64),
        _ => PacketShape::Total(content_bytes as u32 + 200),
    }
}

fn serve(dice: &mut Dice, prefix: &Name, versioned: bool) -> ApplicationKind {
    let segment_bytes = dice.magnitude(100, 7_000);
    ApplicationKind::Serve(ServePlan {
        prefix: prefix.clone(),
        size_bytes: dice.magnitude(1, 150) * segment_bytes - dice.between(0, 50),
        options: ServeOptions {
            segment_bytes,
            freshness: if dice.chance(0.5) { Duration::ZERO } else { dice.millis(1, 5_000) },
            version: if versioned { Version::Fixed(7) } else { Version::None },
            ..ServeOptions::default()
        },
        packet: shape(dice, segment_bytes),
    })
}

fn produce(dice: &mut Dice, prefix: &Name) -> ApplicationKind {
    let content_bytes = dice.magnitude(1, 7_000);
    ApplicationKind::Produce(ProducePlan {
        prefix: prefix.clone(),
        content: content_bytes.into(),
        freshness: if dice.chance(0.5) { Duration::ZERO } else { dice.millis(1, 5_000) },
        packet: shape(dice, content_bytes),
    })
}

fn routes(dice: &mut Dice, network: &mut Network, served: &[Served], is_gentle: bool) {
    let metric =
        [Metric::Hops, Metric::Delay, Metric::RoundTrip, Metric::Cost][dice.place(4) as usize];
    let hops = [
        NextHops::Shortest,
        NextHops::EqualCost,
        NextHops::Downhill(None),
        NextHops::Downhill(Some(2)),
        NextHops::LoopFree(None),
    ][dice.place(5) as usize];
    let graph = Graph::of_plans(&network.nodes, &network.links, metric).unwrap();
    let each = |it: &Served| {
        let of = |node: &NodeId| Producer { node: *node, prefix: it.prefix.clone() };
        it.nodes.iter().map(of).collect::<Vec<_>>()
    };
    let producers: Vec<Producer> = served.iter().flat_map(each).collect();
    network.routes = graph.routes(&producers, hops, &[]).unwrap();
    if is_gentle {
        return;
    }
    // Misconfigured routes: Interests may loop.
    for _ in 0..if dice.chance(0.15) { dice.between(1, 6) } else { 0 } {
        let node = NodeId(dice.place(network.nodes.len()));
        let links: Vec<LinkId> = network.by_node().at(node).faces.iter().map(|it| it.0).collect();
        if links.is_empty() {
            continue;
        }
        let link = links[dice.place(links.len()) as usize];
        let prefix = if dice.chance(0.5) { "/".into() } else { served[0].prefix.to_string() };
        let hops = vec![(link, dice.between(0, 5))];
        network.routes.push(RoutePlan { node, prefix: prefix.parse().unwrap(), hops });
    }
    if dice.chance(0.3) {
        let node = NodeId(dice.place(network.nodes.len()));
        let strategy = strategy(dice).parse().unwrap();
        let prefix = served[0].prefix.clone();
        network.strategies.push(StrategyPlan { node, prefix, strategy });
    }
}

fn consumers(dice: &mut Dice, network: &mut Network, served: &[Served], is_gentle: bool) {
    for number in 0..dice.between(1, 4) {
        let node = NodeId(dice.place(network.nodes.len()));
        let start = if is_gentle { dice.instant(1, 1_000) } else { dice.instant(0, 2_000) };
        let of = &served[dice.place(served.len()) as usize];
        // If no route leads away, only local producers answer.
        if is_gentle
            && !network.by_node().leads_away(node)
            && !served.iter().all(|it| it.nodes.contains(&node))
        {
            continue;
        }
        let (kind, ends) = match of.object {
            Some(versioned) if dice.chance(0.8) => (fetch(dice, of, versioned, is_gentle), true),
            _ => {
                let prefixes: Vec<Name> = served.iter().map(|it| it.prefix.clone()).collect();
                consumer::request(dice, &prefixes)
            }
        };
        let stops = !ends || !is_gentle && dice.chance(0.1);
        let stop = stops.then(|| dice.instant(2_000, LAST_TRAFFIC));
        let name = format!("consumer-{number}");
        network.applications.push(ApplicationPlan { name, node, start, stop, kind });
    }
}

fn fetch(dice: &mut Dice, of: &Served, versioned: bool, is_gentle: bool) -> ApplicationKind {
    let discover = versioned || dice.chance(0.3);
    if is_gentle {
        let plan = consumer::patient_fetch(dice, &of.prefix, discover);
        return ApplicationKind::Fetch(Box::new(plan));
    }
    let mut plan = consumer::fetch(dice, &of.prefix, discover);
    if dice.chance(0.05) {
        plan.object = format!("{}/nowhere", of.prefix).parse().unwrap();
    }
    ApplicationKind::Fetch(Box::new(plan))
}

fn background(dice: &mut Dice, network: &mut Network) {
    for number in 0..if dice.chance(0.4) { dice.between(1, 2) } else { 0 } {
        let link = LinkId(dice.place(network.links.len()));
        let rate = dice.magnitude(10, 400) as f64;
        let (on, off) = (dice.millis(1, 300), dice.millis(1, 300));
        let arrival = match dice.between(0, 2) {
            0 => Arrival::Constant(rate),
            1 => Arrival::Poisson(rate),
            _ => Arrival::OnOff { rate, on, off },
        };
        let frame_bytes = dice.magnitude(40, 1_500) as u32;
        let plan = BackgroundPlan { link, direction: direction(dice), frame_bytes, arrival };
        network.applications.push(ApplicationPlan {
            name: format!("background-{number}"),
            node: network.links[link.0 as usize].ends.0,
            start: dice.instant(0, 1_000),
            stop: Some(dice.instant(2_000, LAST_TRAFFIC)),
            kind: ApplicationKind::Background(plan),
        });
    }
}

fn direction(dice: &mut Dice) -> Direction {
    if dice.chance(0.5) { Direction::Forth } else { Direction::Back }
}

/// Things fail and, nearly always, work again.
fn faults(dice: &mut Dice, network: &mut Network) {
    for _ in 0..if dice.chance(0.6) { dice.between(1, 6) } else { 0 } {
        let at = dice.instant(0, LAST_TRAFFIC);
        let until = at + dice.millis(0, 3_000);
        let link = LinkId(dice.place(network.links.len()));
        let node = NodeId(dice.place(network.nodes.len()));
        let direction = direction(dice);
        let (begins, ends) = match dice.between(0, 4) {
            0 => (Fault::LinkDown(link), Fault::LinkUp(link)),
            1 => (Fault::NodeDown(node), Fault::NodeUp(node)),
            2 => (Fault::OutageBegins(link, direction), Fault::OutageEnds(link, direction)),
            _ => {
                let draw = |dice: &mut Dice| {
                    let plan = Box::new(channel::any(dice));
                    Fault::Change(link, direction, plan)
                };
                (draw(dice), draw(dice))
            }
        };
        network.faults.push((at, begins));
        if dice.chance(0.9) {
            network.faults.push((until, ends));
        }
    }
}
