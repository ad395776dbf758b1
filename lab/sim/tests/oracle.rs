//! The oracle on real nodes: its verdict on timeouts in networks whose verdict is known beforehand. In others, the fate
//! of every first transmission is known in the end.
#[path = "simulation/build.rs"]
mod build;

use build::{applications, fetch, line, link, produce, request, serve};
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::strategy;
use recoup_forwarder::suppression::Suppression;
use recoup_packet::name::Name;
use recoup_sim::metric::{Detail, Metrics, Summary};
use recoup_sim::network::{
    ApplicationKind, Arrival, CsCapacity, Direction, Fault, LinkId, LinkOptions, Network, NodeId,
    NodePlan, Order, Popularity, Stop, Unsolicited,
};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::oracle::Oracle;
use recoup_sim::route::{Graph, Metric, NextHops, Producer};
use recoup_sim::simulation::{Cause, Simulation};
use recoup_sim::topology;
use recoup_transport::queue::QueueLimit;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

/// Copies of what descends from each Interest, counted apart from the oracle.
#[derive(Default)]
struct Copies(BTreeMap<u64, i64>);

impl Copies {
    fn change(&mut self, id: u64, by: i64) {
        *self.0.entry(id).or_default() += by;
    }
}

impl Observer for Copies {
    fn on(&mut self, _now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Node { event, .. } => match event {
                NodeEvent::TraceBorn { id, .. } => self.change(id, 1),
                NodeEvent::TraceCopied { id, copies } => self.change(id, i64::from(copies)),
                NodeEvent::TraceDied { id }
                | NodeEvent::TraceSuperseded { id }
                | NodeEvent::TraceDelivered { id, .. } => self.change(id, -1),
                _ => {}
            },
            Observation::Lost { packet, .. } => {
                packet.trace().ids().iter().for_each(|id| self.change(*id, -1));
            }
            Observation::Doubled { packet, .. } => {
                packet.trace().ids().iter().for_each(|id| self.change(*id, 1));
            }
            _ => {}
        }
    }
}

/// Runs until nothing is left to happen: all Interests have expired.
fn run(mut network: Network, seed: u64) -> (Summary, Oracle, Copies) {
    network.follow_transmissions = true;
    network.stop = Stop { at: Instant::from_millis(1_000_000), when_done: false };
    let (mut metrics, mut oracle) =
        (Metrics::new(&network, Detail::default()), Oracle::new(&network));
    let mut copies = Copies::default();
    let mut simulation = Simulation::new(network, seed).unwrap();
    let ended = simulation.run(&mut [&mut metrics, &mut oracle, &mut copies]);
    assert_eq!(ended.cause, Cause::Quiet);
    oracle.finish();
    (metrics.finish(ended.at), oracle, copies)
}

/// A line of four nodes with a fetch of 300 segments at a constant timeout; 60 ms there and back.
fn fetching(rto: &str, change: impl FnOnce(&mut Network)) -> Summary {
    let mut network = line(4, &link(10_000_000, 10));
    applications(&mut network, [serve(3, "/f", 300_000), fetch(0, "/f")]);
    if let ApplicationKind::Fetch(plan) = &mut network.applications[1].kind {
        plan.options.rto = rto.parse().unwrap();
        plan.options.congestion = "fixed(window=8)".parse().unwrap();
    }
    change(&mut network);
    run(network, 1).0
}

fn counts(summary: &Summary) -> [f64; 3] {
    ["bad", "good", "undecided"].map(|it| summary.get(&format!("all.{it}_timeouts")).unwrap())
}

#[test]
fn without_loss_every_timeout_is_spurious() {
    let [bad, good, undecided] = counts(&fetching("constant(rto=50ms)", |_| {}));
    assert_eq!((bad, good, undecided), (300.0, 0.0, 0.0));
}

#[test]
fn behind_a_patient_timer_every_timeout_is_necessary() {
    for direction in 0..2 {
        let summary = fetching("constant(rto=500ms)", |network| {
            let link = &mut network.links[1];
            let channel = if direction == 0 { &mut link.forth } else { &mut link.back };
            channel.loss = "bernoulli(p=0.1)".parse().unwrap();
        });
        let [bad, good, undecided] = counts(&summary);
        assert_eq!((bad, undecided), (0.0, 0.0));
        // 300 first transmissions, one in ten of them lost.
        assert!((15.0..46.0).contains(&good), "{good}");
        let relative = summary.get("all.w").unwrap();
        assert!((relative - 500.0 / 62.0).abs() < 0.5, "{relative}");
    }
}

#[test]
fn hasty_timer_has_timeouts_of_both_kinds() {
    let summary = fetching("constant(rto=50ms)", |network| {
        network.links[2].back.loss = "bernoulli(p=0.2)".parse().unwrap();
    });
    let [bad, good, undecided] = counts(&summary);
    assert_eq!((bad + good, undecided), (300.0, 0.0));
    // A lost answer is spurious all the same if the answer to a retransmission replaces it: the token stays with the
    // consumer's own Interest only as long as that is pending, so nearly all lost ones stay lost.
    assert!((35.0..90.0).contains(&good), "{good}");
}

#[test]
fn what_waits_for_anothers_answer_shares_its_fate() {
    // Two consumers behind one router request the same content at once; one access link loses all.
    let mut network = Network::default();
    for name in ["c1", "c2", "r", "p"] {
        network.nodes.push(NodePlan { name: name.into(), ..NodePlan::default() });
    }
    let good = link(0, 10);
    let bad = LinkOptions { loss: "bernoulli(p=1)".parse().unwrap(), ..good.clone() };
    for (from, to) in [(0, 2), (1, 2), (2, 3)] {
        build::join(&mut network, NodeId(from), NodeId(to), &good);
    }
    network.links[1].back = bad;
    let arrival = || Arrival::Batches(vec![(Duration::ZERO, 20)]);
    applications(
        &mut network,
        [produce(3, "/d", 100), request(0, "/d", arrival(), 20), request(1, "/d", arrival(), 20)],
    );
    for application in &mut network.applications[1..] {
        let ApplicationKind::Request(plan) = &mut application.kind else { continue };
        (plan.popularity, plan.rto) = (Popularity::Sequential, "constant(rto=30ms)".parse().ok());
        plan.retries = Some(2);
    }
    let (summary, oracle, copies) = run(network, 1);
    // The first one's timer is hasty; the second one's Data dies on its way from the router.
    assert_eq!(summary.get("request-1.bad_timeouts"), Some(20.0));
    assert_eq!(summary.get("request-2.good_timeouts"), Some(20.0));
    assert_eq!(oracle.scores().map(|score| score.undecided).sum::<u64>(), 0);
    assert!(copies.0.values().all(|copies| *copies == 0), "{:?}", copies.0);
}

/// Asks once for each of 20 contents, all at the same time, and gives up at the timeout.
fn ask_once(network: &mut Network, application: usize, rto: &str) {
    let ApplicationKind::Request(plan) = &mut network.applications[application].kind else {
        panic!("not a request");
    };
    (plan.popularity, plan.rto, plan.contents) = (Popularity::Sequential, rto.parse().ok(), 20);
    plan.retries = Some(0);
}

fn batch(at_ms: u64, requests: u64) -> Arrival {
    Arrival::Batches(vec![(Duration::from_millis(at_ms), requests)])
}

/// A consumer that sends to two routers at once, both of which lead to the producer; 40 ms there and back. `losses` are
/// those of the two return paths.
fn two_ways(rto: &str, losses: [&str; 2]) -> [f64; 3] {
    let mut network = Network::default();
    for name in ["c", "r1", "r2", "p"] {
        network.nodes.push(NodePlan { name: name.into(), ..NodePlan::default() });
    }
    network.nodes[0].options.strategy = "multicast".parse().unwrap();
    for (from, to) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        build::join(&mut network, NodeId(from), NodeId(to), &link(0, 10));
    }
    for (link, loss) in [2, 3].into_iter().zip(losses) {
        network.links[link].back.loss = loss.parse().unwrap();
    }
    // One route with two next hops.
    let second = network.routes.remove(1);
    network.routes[0].hops.extend(second.hops);
    applications(&mut network, [produce(3, "/d", 100), request(0, "/d", batch(0, 20), 20)]);
    ask_once(&mut network, 1, rto);
    let (summary, _, copies) = run(network, 1);
    assert!(copies.0.values().all(|copies| *copies == 0), "{:?}", copies.0);
    counts(&summary)
}

#[test]
fn one_working_path_makes_a_timeout_spurious() {
    const ALL: &str = "bernoulli(p=1)";
    let hasty = "constant(rto=15ms)";
    assert_eq!(two_ways(hasty, ["none", "none"]), [20.0, 0.0, 0.0]);
    assert_eq!(two_ways(hasty, [ALL, "none"]), [20.0, 0.0, 0.0]);
    assert_eq!(two_ways(hasty, ["none", ALL]), [20.0, 0.0, 0.0]);
    assert_eq!(two_ways(hasty, [ALL, ALL]), [0.0, 20.0, 0.0]);
    assert_eq!(two_ways("constant(rto=60ms)", ["none", ALL]), [0.0; 3]);
}

#[test]
fn cache_hits_make_timeouts_spurious() {
    // The first consumer fills the router's cache with 12 of 20 contents; then nothing gets past the router.
    let mut network = Network::default();
    for name in ["c1", "c2", "r", "p"] {
        network.nodes.push(NodePlan { name: name.into(), ..NodePlan::default() });
    }
    network.nodes[2].options.cache = CsCapacity::Packets(100);
    for (from, to) in [(0, 2), (1, 2), (2, 3)] {
        build::join(&mut network, NodeId(from), NodeId(to), &link(0, 10));
    }
    let cut = Fault::OutageBegins(LinkId(2), Direction::Forth);
    network.faults.push((Instant::from_millis(500), cut));
    applications(
        &mut network,
        [
            produce(3, "/d", 100),
            request(0, "/d", batch(0, 12), 12),
            request(1, "/d", batch(1_000, 20), 20),
        ],
    );
    ask_once(&mut network, 1, "constant(rto=1s)");
    // 20 ms to the cache and back.
    ask_once(&mut network, 2, "constant(rto=15ms)");
    let (summary, ..) = run(network, 1);
    let of = |name: &str| summary.get(&format!("request-2.{name}_timeouts"));
    assert_eq!((of("bad"), of("good"), of("undecided")), (Some(12.0), Some(8.0), Some(0.0)));
    assert_eq!(summary.get("request-1.bad_timeouts"), Some(0.0));
}

#[test]
fn drops_of_a_full_queue_are_genuine() {
    // Of 20 Interests at once, one is being sent, four wait, the others are dropped.
    for (rto, bad) in [("constant(rto=5ms)", 5.0), ("constant(rto=3s)", 0.0)] {
        let channel = LinkOptions { queue: QueueLimit::of_packets(4), ..link(100_000, 10) };
        let mut network = line(3, &channel);
        applications(&mut network, [produce(2, "/d", 100), request(0, "/d", batch(0, 20), 20)]);
        ask_once(&mut network, 1, rto);
        assert_eq!(counts(&run(network, 1).0), [bad, 15.0, 0.0], "{rto}");
    }
}

#[test]
fn data_after_expiry_is_no_answer() {
    // 40 ms there and back; the Interests live for 30 ms, or for 50.
    for (lifetime, expected) in [(30, [0.0, 20.0, 0.0]), (50, [20.0, 0.0, 0.0])] {
        let mut network = line(3, &link(0, 10));
        applications(&mut network, [produce(2, "/d", 100), request(0, "/d", batch(0, 20), 20)]);
        ask_once(&mut network, 1, "constant(rto=15ms)");
        if let ApplicationKind::Request(plan) = &mut network.applications[1].kind {
            plan.lifetime = Duration::from_millis(lifetime);
        }
        assert_eq!(counts(&run(network, 1).0), expected, "{lifetime} ms");
    }
}

#[test]
fn answered_retransmission_does_not_excuse_the_timeout() {
    // The first Interest for each content is lost, with certainty; later Interests arrive.
    let mut network = line(3, &link(0, 10));
    network.links[1].forth.loss = "trace(packets=1-20)".parse().unwrap();
    applications(&mut network, [produce(2, "/d", 100), request(0, "/d", batch(0, 20), 20)]);
    ask_once(&mut network, 1, "constant(rto=100ms)");
    if let ApplicationKind::Request(plan) = &mut network.applications[1].kind {
        plan.retries = Some(3);
    }
    let (summary, ..) = run(network, 1);
    assert_eq!(counts(&summary), [0.0, 20.0, 0.0]);
    assert_eq!(summary.get("request-1.segments"), Some(20.0));
}

#[test]
fn every_copy_of_a_transmission_is_counted() {
    let mut timeouts = [0.0; 3];
    for seed in 0..60 {
        let (summary, oracle, copies) = run(random_simulation(seed), seed);
        let left: Vec<_> = copies.0.iter().filter(|(_, copies)| **copies != 0).collect();
        assert!(left.is_empty(), "seed {seed}: {} of {}: {left:x?}", left.len(), copies.0.len());
        assert!(oracle.followed(), "seed {seed}");
        for (sum, count) in timeouts.iter_mut().zip(counts(&summary)) {
            *sum += count;
        }
    }
    assert_eq!(timeouts[2], 0.0);
    assert!(timeouts[0] > 100.0 && timeouts[1] > 100.0, "{timeouts:?}");
}

/// Some nodes, some links, some strategies, some losses, and three consumers of two producers.
fn random_simulation(seed: u64) -> Network {
    let mut rng = Rng::from_seed(seed).substream("oracle");
    let nodes = 4 + rng.below(5) as u32;
    let links = nodes - 1 + rng.below(4) as u32;
    let topology = topology::random(nodes, links, &mut rng).unwrap();
    let (nodes, links) = topology.plans(&link(10_000_000, 5));
    let mut network = Network { nodes, links, ..Network::default() };
    let one = |rng: &mut Rng, of: &[&'static str]| of[rng.below(of.len() as u64) as usize];
    for node in &mut network.nodes {
        let strategies: Vec<_> = strategy::names().chain(["best-face(rto=reconsidered)"]).collect();
        node.options.strategy = one(&mut rng, &strategies).parse().unwrap();
        let more = ["soft-hard(soft=20ms)", "soft-hard(soft=auto)"];
        let suppressions: Vec<_> = Suppression::names().chain(more).collect();
        node.options.suppression = one(&mut rng, &suppressions).parse().unwrap();
        node.options.cache = CsCapacity::Packets([0, 0, 3, 1000][rng.below(4) as usize]);
        node.options.unsolicited = match rng.below(4) {
            0 => Unsolicited::AdmitNetwork,
            _ => Unsolicited::DropAll,
        };
    }
    for link in &mut network.links {
        for channel in [&mut link.forth, &mut link.back] {
            let losses = ["none", "bernoulli(p=0.05)", "bernoulli(p=0.2)"];
            channel.loss = one(&mut rng, &losses).parse().unwrap();
            channel.duplicate =
                one(&mut rng, &["none", "none", "bernoulli(p=0.05)"]).parse().unwrap();
            channel.jitter = one(&mut rng, &["none", "exponential(mean=5ms)"]).parse().unwrap();
            channel.reorder = rng.below(2) == 0;
            channel.queue = QueueLimit::of_packets(2 + rng.below(20));
            if rng.below(4) == 0 {
                channel.order = Order::DelayThenRate;
            }
        }
    }
    let count = network.nodes.len() as u64;
    let place = |rng: &mut Rng| rng.below(count) as u32;
    let homes = [place(&mut rng), place(&mut rng)];
    route(&mut network, &homes);
    let arrival = Arrival::Poisson(100.0);
    let consumers = [place(&mut rng), place(&mut rng), place(&mut rng)];
    applications(
        &mut network,
        [
            serve(homes[0], "/f", 60_000),
            produce(homes[1], "/d", 300),
            fetch(consumers[0], "/f"),
            request(consumers[1], "/d", arrival.clone(), 100),
            request(consumers[2], "/d", arrival, 100),
        ],
    );
    for application in &mut network.applications[2..] {
        match &mut application.kind {
            ApplicationKind::Fetch(plan) => {
                plan.options.rto = "jacobson(min=0ms,k=2)".parse().unwrap();
            }
            ApplicationKind::Request(plan) => {
                plan.rto = one(&mut rng, &["constant(rto=40ms)", "jacobson(min=0ms)"]).parse().ok();
                plan.lifetime = Duration::from_millis(100 + rng.below(2_000));
                plan.retries = Some(4);
            }
            _ => {}
        }
    }
    network
}

fn route(network: &mut Network, homes: &[u32; 2]) {
    let prefixes: [Name; 2] = ["/f".parse().unwrap(), "/d".parse().unwrap()];
    let producers: Vec<Producer> = homes
        .iter()
        .zip(prefixes)
        .map(|(node, prefix)| Producer { node: NodeId(*node), prefix })
        .collect();
    let graph = Graph::of_plans(&network.nodes, &network.links, Metric::Hops).unwrap();
    network.routes = graph.routes(&producers, NextHops::Downhill(None), &[]).unwrap();
}
