//! How much processor time the 802.11 medium takes: `cargo run --release -p recoup-sim --example wifi_speed`.
//!
//! A fetch of 5 MB over three hops at a window of 16 in the world, and 36 access points with ten stations of
//! 802.11n: saturated, and with 0.8 Mbit/s each. Only the ratio of simulated to processor time means anything, and only on an idle machine.
use recoup_packet::name::Name;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, FetchPlan, LinkId, LinkPlan, Network, NodeId,
    NodePlan, PacketShape, Popularity, ProducePlan, RequestPlan, RoutePlan, ServePlan, WifiPlan,
    WifiStation,
};
use recoup_sim::wifi::motion::Motion;
use recoup_sim::wifi::plan::{MediumPlan, RateControl, Role};
use recoup_sim::wifi::propagation::Position;
use recoup_sim::wifi::rate::Rate;
use recoup_sim::world::World;
use recoup_transport::time::{Duration, Instant};

fn main() {
    report("3 hops, 5 MB, window 16", chain(), 5);
    let (busy, calm) = (fetching as fn(u32, &str) -> _, asking as fn(u32, &str) -> _);
    report("36 access points, 10 stations that fetch all the time, 802.11n", cells(busy), 1);
    report("36 access points, 10 stations that ask 100 times a second, 802.11n", cells(calm), 3);
}

/// Prints simulated and processor seconds of a run, the least of some.
fn report(what: &str, network: Network, times: u64) {
    let mut least = f64::INFINITY;
    let mut simulated = 0.0;
    let mut hops = 0;
    for seed in 1..=times {
        let Ok(mut world) = World::with_silent_nodes(network.clone(), seed) else {
            return println!("{what}: no world");
        };
        let begun = processor_seconds();
        let ended = world.run(&mut []);
        least = least.min(processor_seconds() - begun);
        simulated = ended.at.as_secs_f64();
        hops = ended.balance.hops();
    }
    let ratio = simulated / least;
    println!(
        "{what}: {simulated:.2} s simulated, {hops} packet-hops, {least:.4} CPU-s, {ratio:.0}x"
    );
}

/// Processor time of this process, where the system tells it (Linux).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|text| text.parse::<f64>().ok());
    nanos.unwrap_or(0.0) / 1e9
}

fn link(number: usize, a: u32, b: u32) -> LinkPlan {
    let (forth, back) = Default::default();
    LinkPlan { name: format!("l{number}"), ends: (NodeId(a), NodeId(b)), forth, back, cost: 1 }
}

fn serve(node: u32, prefix: &str, size_octets: u64) -> ApplicationPlan {
    let plan = ServePlan {
        prefix: name(prefix),
        version: None,
        size_octets,
        segment_octets: 1_024,
        freshness: Duration::from_secs(3_600),
        packet: PacketShape::Digest,
    };
    application(format!("serve{prefix}"), node, ApplicationKind::Serve(plan))
}

fn fetch(node: u32, object: &str, congestion: &str) -> ApplicationPlan {
    let plan = FetchPlan {
        object: name(object),
        discover: false,
        rto: "jacobson".into(),
        sampling: "rfc7323".into(),
        congestion: congestion.into(),
        loss: "timeout".into(),
        lifetime: Duration::from_secs(4),
        retries: None,
        no_progress: Duration::from_secs(60),
        rto_check: Duration::ZERO,
        react_to_marks: false,
        options: Vec::new(),
    };
    application(format!("fetch{object}"), node, ApplicationKind::Fetch(Box::new(plan)))
}

fn produce(node: u32, prefix: &str) -> ApplicationPlan {
    let plan = ProducePlan {
        prefix: name(prefix),
        content_octets: 1_024,
        freshness: Duration::from_secs(3_600),
        packet: PacketShape::Digest,
    };
    application(format!("produce{prefix}"), node, ApplicationKind::Produce(plan))
}

fn fetching(node: u32, prefix: &str) -> ApplicationPlan {
    request(node, prefix, Arrival::Window("fixed(window=16)".into()))
}

fn asking(node: u32, prefix: &str) -> ApplicationPlan {
    request(node, prefix, Arrival::Constant(100.0))
}

fn request(node: u32, prefix: &str, arrival: Arrival) -> ApplicationPlan {
    let plan = RequestPlan {
        prefixes: vec![name(prefix)],
        contents: 1 << 30,
        popularity: Popularity::Sequential,
        arrival,
        requests: None,
        rto: "jacobson".into(),
        retries: None,
        lifetime: Duration::from_secs(4),
    };
    application(format!("request{prefix}"), node, ApplicationKind::Request(Box::new(plan)))
}

fn name(text: &str) -> Name {
    text.parse().unwrap_or_else(|_| Name::root())
}

fn application(name: String, node: u32, kind: ApplicationKind) -> ApplicationPlan {
    ApplicationPlan { name, node: NodeId(node), start: Instant::ZERO, stop: None, kind }
}

fn node(number: u32) -> NodePlan {
    NodePlan { name: format!("n{number}"), ..NodePlan::default() }
}

fn route(node: u32, prefix: &str, link: usize) -> RoutePlan {
    let hops = vec![(LinkId(link as u32), 1)];
    RoutePlan { node: NodeId(node), prefix: name(prefix), hops }
}

fn station(node: u32, x: f64, y: f64) -> WifiStation {
    let (node, role) = (NodeId(node), Role::Peer);
    WifiStation { node, motion: Motion::still(Position { x, y }), role }
}

fn chain() -> Network {
    let mut network = Network { nodes: (0..4).map(node).collect(), ..Network::default() };
    for hop in 0..3_u32 {
        network.links.push(link(hop as usize, hop, hop + 1));
        network.routes.push(route(hop, "/", hop as usize));
    }
    let stations = (0..4).map(|n| station(n, f64::from(n) * 150.0, 0.0)).collect();
    let (medium, links) = (MediumPlan::g(Rate::Ofdm(7)), (0..3).map(LinkId).collect());
    network.wifi.push(WifiPlan::new("air", medium, stations, links));
    network.applications = vec![serve(3, "/o", 5_000_600), fetch(0, "/o", "fixed(window=16)")];
    network
}

/// A grid of access points 50 m apart, and ten stations beside as many of them.
fn cells(consumer: fn(u32, &str) -> ApplicationPlan) -> Network {
    let mut network = Network { nodes: (0..46).map(node).collect(), ..Network::default() };
    let mut stations: Vec<WifiStation> =
        (0..36).map(|n| station(n, f64::from(n % 6) * 50.0, f64::from(n / 6) * 50.0)).collect();
    for number in 0..10_u32 {
        let (point, user) = (number * 3, 36 + number);
        let Position { x, y } = stations[point as usize].motion.position(Instant::ZERO);
        stations.push(station(user, x + 10.0, y + 5.0));
        let prefix = format!("/o{number}");
        network.links.push(link(number as usize, user, point));
        network.routes.push(route(user, &prefix, number as usize));
        network.applications.push(produce(point, &prefix));
        network.applications.push(consumer(user, &prefix));
    }
    let control = RateControl::MinstrelHt { wide: true, short_guard: true };
    let (medium, links) = (MediumPlan::n(control), (0..10).map(LinkId).collect());
    network.wifi.push(WifiPlan::new("air", medium, stations, links));
    network.stop.at = Instant::from_millis(10_000);
    network
}
