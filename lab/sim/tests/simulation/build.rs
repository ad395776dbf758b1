//! Small networks for tests.
#![allow(dead_code, reason = "each test file uses some of it")]
use recoup_packet::name::Name;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, FetchPlan, LinkId, LinkOptions, LinkPlan, Network,
    NodeId, NodePlan, PacketShape, Popularity, ProducePlan, RequestPlan, RoutePlan, ServePlan,
};
use recoup_sim::simulation::{Digest, Ended, Simulation};
use recoup_transport::fetch::{FetchOptions, Retries};
use recoup_transport::queue::QueueLimit;
use recoup_transport::serve::{ServeOptions, Version};
use recoup_transport::time::{Duration, Instant};

/// A channel of `rate_bits` and `delay_millis`, with a queue of 100 packets.
pub(crate) fn link(rate_bits: u64, delay_millis: u64) -> LinkOptions {
    let delay = Duration::from_millis(delay_millis);
    LinkOptions { rate_bits, delay, ..LinkOptions::default() }
}

/// Nodes `n0`, `n1`, … in a row; everything is routed to the last one.
pub(crate) fn line(nodes: u32, plan: &LinkOptions) -> Network {
    let mut network = Network::default();
    for number in 0..nodes {
        network.nodes.push(NodePlan { name: format!("n{number}"), ..NodePlan::default() });
    }
    for number in 1..nodes {
        let link = join(&mut network, NodeId(number - 1), NodeId(number), plan);
        network.routes.push(RoutePlan {
            node: NodeId(number - 1),
            prefix: Name::root(),
            hops: vec![(link, 1)],
        });
    }
    network
}

/// A link with the same channel in both directions, and a route over it from the first end.
pub(crate) fn join(network: &mut Network, a: NodeId, b: NodeId, plan: &LinkOptions) -> LinkId {
    let name = |node: NodeId| network.nodes[node.0 as usize].name.clone();
    let link = LinkPlan {
        name: format!("{}-{}", name(a), name(b)),
        ends: (a, b),
        forth: plan.clone(),
        back: plan.clone(),
        ..LinkPlan::default()
    };
    network.links.push(link);
    let id = LinkId(network.links.len() as u32 - 1);
    network.routes.push(RoutePlan { node: a, prefix: Name::root(), hops: vec![(id, 1)] });
    id
}

/// Adds an application for each plan, named after its word and the number of earlier applications.
pub(crate) fn applications<const N: usize>(
    network: &mut Network,
    plans: [(&str, u32, ApplicationKind); N],
) {
    for (word, node, kind) in plans {
        network.applications.push(ApplicationPlan {
            name: format!("{word}-{}", network.applications.len()),
            node: NodeId(node),
            start: Instant::ZERO,
            stop: None,
            kind,
        });
    }
}

/// An object of segments of 1,000 bytes.
pub(crate) fn serve(
    node: u32,
    prefix: &str,
    size_bytes: u64,
) -> (&'static str, u32, ApplicationKind) {
    let plan = ServePlan {
        prefix: prefix.parse().unwrap(),
        size_bytes,
        options: ServeOptions {
            segment_bytes: 1_000,
            freshness: Duration::from_secs(10),
            version: Version::None,
            ..ServeOptions::default()
        },
        packet: PacketShape::Digest,
    };
    ("serve", node, ApplicationKind::Serve(plan))
}

/// A fetch without discovery.
pub(crate) fn fetch(node: u32, object: &str) -> (&'static str, u32, ApplicationKind) {
    let plan = FetchPlan {
        options: FetchOptions {
            discover: false,
            rto: "jacobson".parse().unwrap(),
            sampling: "rfc7323".parse().unwrap(),
            congestion: "cubic".parse().unwrap(),
            loss: "timeout".parse().unwrap(),
            lifetime: Duration::from_secs(4),
            retries: Retries(Some(15)),
            no_progress: Duration::from_secs(20),
            rto_check: Duration::ZERO,
            react_to_marks: true,
            ..FetchOptions::default()
        },
        ..FetchPlan::new(object.parse().unwrap())
    };
    ("fetch", node, ApplicationKind::Fetch(Box::new(plan)))
}

/// A producer of packets with that many bytes of content.
pub(crate) fn produce(
    node: u32,
    prefix: &str,
    content_bytes: u64,
) -> (&'static str, u32, ApplicationKind) {
    let plan = ProducePlan {
        prefix: prefix.parse().unwrap(),
        content: content_bytes.into(),
        freshness: Duration::from_secs(3_600),
        packet: PacketShape::Digest,
    };
    ("produce", node, ApplicationKind::Produce(plan))
}

/// A consumer of 1,000 contents by Zipf's law, with one Interest for each.
pub(crate) fn request(
    node: u32,
    prefix: &str,
    arrival: Arrival,
    requests: u64,
) -> (&'static str, u32, ApplicationKind) {
    let plan = RequestPlan {
        prefixes: vec![prefix.parse().unwrap()],
        contents: 1_000,
        popularity: Popularity::ZipfMandelbrot { q: 0.0, s: 1.0 },
        arrival,
        requests: Some(requests),
        rto: None,
        retries: None,
        lifetime: Duration::from_secs(4),
        rto_scan: None,
        pending: None,
    };
    ("request", node, ApplicationKind::Request(Box::new(plan)))
}

/// Runs a network to its end.
pub(crate) fn run(network: Network, seed: u64) -> (Digest, Ended) {
    let mut digest = Digest::new();
    let ended = Simulation::new(network, seed).unwrap().run(&mut [&mut digest]);
    (digest, ended)
}

/// A consumer, a router and a producer; the second link is slow, and loses some Data.
pub(crate) fn lossy_line() -> Network {
    let mut network = line(3, &link(5_000_000, 10));
    network.links[1].back.rate_bits = 2_000_000;
    network.links[1].back.queue = QueueLimit::of_packets(10);
    network.links[1].back.loss = "bernoulli(p=0.05)".parse().unwrap();
    applications(&mut network, [serve(2, "/f", 300_000), fetch(0, "/f")]);
    let ApplicationKind::Fetch(plan) = &mut network.applications[1].kind else { panic!() };
    plan.options.congestion = "fixed(window=16)".parse().unwrap();
    network.follow_transmissions = true;
    network
}
