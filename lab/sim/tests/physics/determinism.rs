//! A seed decides everything, and what is added elsewhere decides nothing.
use crate::line::{PREFIX, add, channel, fetch, line, produce, request, serve};
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, BackgroundPlan, CsCapacity, Direction, Fault,
    LinkId, LinkOptions, LinkPlan, Network, NodeId, NodePlan, Popularity, RoutePlan, Stop,
};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::record::{RecordPlan, Records};
use recoup_sim::simulation::{Digest, Simulation};
use recoup_transport::fetch::Retries;
use recoup_transport::queue::QueueLimit;
use recoup_transport::time::Instant;

/// Loss, jitter, caches, retransmissions, background traffic, faults: everything that draws.
fn busy() -> Network {
    let lossy = LinkOptions {
        jitter: "exponential(mean=1ms)".parse().unwrap(),
        reorder: true,
        queue: QueueLimit::of_packets(20),
        loss: "bernoulli(p=0.02)+gilbert-elliott(p=0.005,r=0.2)".parse().unwrap(),
        duplicate: "bernoulli(p=0.01)".parse().unwrap(),
        marking: "codel(threshold=4kB,interval=20ms)".parse().unwrap(),
        ..channel(5_000_000, 8)
    };
    let mut network = line(&[
        (lossy.clone(), lossy),
        (channel(20_000_000, 3), channel(20_000_000, 3)),
        (channel(10_000_000, 2), channel(10_000_000, 2)),
    ]);
    network.stop = Stop { at: Instant::from_millis(6_000), when_done: false };
    network.nodes[1].options.cache = CsCapacity::Packets(50);
    network.nodes[2].processing = "exponential(mean=0.1ms)".parse().unwrap();
    let ApplicationKind::Fetch(mut plan) = fetch(1) else { panic!() };
    plan.options.congestion = "cubic".parse().unwrap();
    plan.options.rto = "jacobson".parse().unwrap();
    plan.options.retries = Retries(None);
    plan.options.react_to_marks = true;
    add(&mut network, "fetch", 0, ApplicationKind::Fetch(plan));
    let popularity = Popularity::ZipfMandelbrot { q: 0.7, s: 0.9 };
    let ApplicationKind::Request(mut plan) =
        request(2_000, Arrival::Poisson(300.0), popularity, 500)
    else {
        panic!()
    };
    plan.prefixes = vec!["/y".parse().unwrap()];
    add(&mut network, "requests", 0, ApplicationKind::Request(plan));
    let ApplicationKind::Produce(mut plan) = produce() else { panic!() };
    plan.prefix = "/y".parse().unwrap();
    add(&mut network, "answers", 3, ApplicationKind::Produce(plan));
    add(&mut network, "serve", 3, serve(2_000));
    let routes: Vec<RoutePlan> = network.routes.clone();
    let other = |route: RoutePlan| RoutePlan { prefix: "/y".parse().unwrap(), ..route };
    network.routes.extend(routes.into_iter().map(other));
    let frames = BackgroundPlan {
        link: LinkId(2),
        direction: Direction::Back,
        frame_bytes: 900,
        arrival: Arrival::Poisson(200.0),
    };
    add(&mut network, "background", 2, ApplicationKind::Background(frames));
    network.faults = vec![
        (Instant::from_millis(2_000), Fault::LinkDown(LinkId(1))),
        (Instant::from_millis(2_300), Fault::LinkUp(LinkId(1))),
    ];
    network
}

fn digest_with(network: Network, seed: u64, others: &mut [&mut dyn Observer]) -> Digest {
    let mut digest = Digest::new();
    let mut observers: Vec<&mut dyn Observer> = vec![&mut digest];
    for other in others {
        observers.push(*other);
    }
    Simulation::new(network, seed).unwrap().run(&mut observers);
    digest
}

#[test]
fn digest_depends_on_the_seed() {
    let digest = digest_with(busy(), 1, &mut []);
    assert!(digest.observations() > 10_000, "{digest:?}");
    assert_eq!(digest_with(busy(), 1, &mut []), digest);
    assert_ne!(digest_with(busy(), 2, &mut []), digest);
}

#[test]
fn records_do_not_change_what_they_record() {
    let network = busy();
    let names = [
        "segments", "window", "rto", "events", "queue", "pit", "goodput", "links", "caches",
        "drops",
    ];
    let plans: Vec<RecordPlan> =
        names.iter().map(|name| RecordPlan::parse(name).unwrap()).collect();
    let mut records = Records::new(&network, &plans);
    let alone = digest_with(network.clone(), 1, &mut []);
    assert_eq!(digest_with(network.clone(), 1, &mut [&mut records]), alone);
    assert!(records.finish(Instant::from_millis(6_000)).iter().any(|table| !table.is_empty()));
}

/// Everything on links, in order, with the links' names.
struct OnLinks {
    names: Vec<String>,
    seen: Vec<(Instant, String, Direction, char, u64, u32)>,
}

impl OnLinks {
    fn of(
        network: Network,
        seed: u64,
        silent: bool,
    ) -> Vec<(Instant, String, Direction, char, u64, u32)> {
        let names = network.links.iter().map(|link| link.name.clone()).collect();
        let mut on_links = Self { names, seen: Vec::new() };
        let build = if silent { Simulation::with_silent_nodes } else { Simulation::new };
        build(network, seed).unwrap().run(&mut [&mut on_links]);
        on_links.seen
    }
}

impl Observer for OnLinks {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let (what, link, direction, packet) = match *observation {
            Observation::Sent { link, direction, packet } => ('s', link, direction, packet),
            Observation::Arrived { link, direction, packet } => ('a', link, direction, packet),
            Observation::Lost { link, direction, packet, .. } => ('l', link, direction, packet),
            Observation::Doubled { link, direction, packet } => ('d', link, direction, packet),
            _ => return,
        };
        let name = self.names[link.0 as usize].clone();
        let bytes = packet.bytes() as u32;
        self.seen.push((now, name, direction, what, packet.hop.name_hash, bytes));
    }
}

#[test]
fn silent_nodes_and_oracle_change_nothing() {
    let expected = OnLinks::of(busy(), 1, false);
    assert!(expected.iter().filter(|it| it.3 == 'l').count() > 50);
    assert_eq!(OnLinks::of(busy(), 1, true), expected);
    let network = Network { follow_transmissions: true, ..busy() };
    assert_eq!(OnLinks::of(network, 1, false), expected);
}

/// Puts two nodes with a lossy link and traffic of their own in front of all others.
fn with_more_in_front(mut network: Network) -> Network {
    let shift = |id: NodeId| NodeId(id.0 + 2);
    let further = |id: LinkId| LinkId(id.0 + 1);
    for link in &mut network.links {
        link.ends = (shift(link.ends.0), shift(link.ends.1));
    }
    for route in &mut network.routes {
        route.node = shift(route.node);
        route.hops.iter_mut().for_each(|(link, _)| *link = further(*link));
    }
    for application in &mut network.applications {
        application.node = shift(application.node);
        if let ApplicationKind::Background(plan) = &mut application.kind {
            plan.link = further(plan.link);
        }
    }
    for (_, fault) in &mut network.faults {
        if let Fault::LinkDown(link) | Fault::LinkUp(link) = fault {
            *link = further(*link);
        }
    }
    for name in ["other-b", "other-a"] {
        network.nodes.insert(0, NodePlan { name: name.into(), ..NodePlan::default() });
    }
    let forth = LinkOptions { loss: "bernoulli(p=0.2)".parse().unwrap(), ..channel(3_000_000, 2) };
    let (name, ends, back) = ("other".into(), (NodeId(0), NodeId(1)), forth.clone());
    network.links.insert(0, LinkPlan { name, ends, forth, back, ..LinkPlan::default() });
    let prefix = PREFIX.parse().unwrap();
    network.routes.insert(0, RoutePlan { node: NodeId(0), prefix, hops: vec![(LinkId(0), 1)] });
    let requests = request(3_000, Arrival::Poisson(900.0), Popularity::Uniform, 50);
    let (start, stop) = (Instant::from_millis(3), None);
    for (name, node, kind) in [("others", 0, requests), ("other", 1, produce())] {
        let (name, node) = (name.into(), NodeId(node));
        network.applications.insert(0, ApplicationPlan { name, node, start, stop, kind });
    }
    network
}

#[test]
fn added_node_moves_no_other_draws() {
    let alone = OnLinks::of(busy(), 1, false);
    let together = OnLinks::of(with_more_in_front(busy()), 1, false);
    assert!(together.len() > alone.len() + 1_000);
    let ours: Vec<_> = together.into_iter().filter(|it| it.1 != "other").collect();
    assert_eq!(ours, alone);
}

/// Numbers of the packets of a direction that were lost at random.
fn lost(network: Network, name: &str) -> (Vec<usize>, usize) {
    let seen = OnLinks::of(network, 1, false);
    let ours = |it: &&(Instant, String, Direction, char, u64, u32)| {
        it.1 == name && it.2 == Direction::Back && (it.3 == 's' || it.3 == 'l')
    };
    let (mut sent, mut lost) = (0, Vec::new());
    for it in seen.iter().filter(ours) {
        match it.3 {
            's' => sent += 1,
            _ => lost.push(sent),
        }
    }
    (lost, sent)
}

#[test]
fn algorithms_meet_equal_losses_on_one_seed() {
    let with = |congestion: &str| {
        let mut network = busy();
        network.faults.clear();
        let ApplicationKind::Fetch(plan) = &mut network.applications[0].kind else { panic!() };
        plan.options.congestion = congestion.parse().unwrap();
        lost(network, "n0-n1")
    };
    let ((some, sent), (others, others_sent)) = (with("cubic"), with("aimd"));
    let both = sent.min(others_sent);
    let until = |lost: &[usize]| lost.iter().copied().filter(|n| *n <= both).collect::<Vec<_>>();
    assert!(until(&some).len() > 20 && sent != others_sent);
    assert_eq!(until(&some), until(&others));
}
