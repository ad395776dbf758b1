//! Processor time of the 802.11 medium: 36 access points and ten saturated stations of 802.11n.
//!
//! `cargo bench -p recoup-sim --bench wifi -- [FROM TO]` runs until TO ms and counts data frames on the air from FROM on.
//! `cargo xtask bench instructions` counts the instructions of `measured`; `units` are data frames (MPDUs).
use recoup_packet::name::Name;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, LinkId, LinkPlan, Network, NodeId, NodePlan,
    PacketShape, Popularity, ProducePlan, RequestPlan, Rerouting, WifiPlan, WifiStation,
};
use recoup_sim::route::{Metric, NextHops, Producer};
use recoup_sim::simulation::Simulation;
use recoup_transport::time::{Duration, Instant};
use recoup_wifi::motion::Motion;
use recoup_wifi::plan::{MediumPlan, RateControl, Role};
use recoup_wifi::propagation::Position;

fn main() {
    let mut given = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let (from, to) = given.next().zip(given.next()).unwrap_or((0, 1_000));
    let Ok(mut simulation) = Simulation::with_silent_nodes(cells(), 1) else {
        return println!("no simulation");
    };
    simulation.run_until(Instant::from_millis(from), &mut []);
    let (before, began) = (data_frames(&simulation), processor_seconds());
    measured(&mut simulation, Instant::from_millis(to));
    let seconds = processor_seconds() - began;
    println!("{:.1} times real time", (to - from) as f64 / 1e3 / seconds);
    println!("units {}", data_frames(&simulation) - before);
}

/// Runs the part that counts.
#[inline(never)]
fn measured(simulation: &mut Simulation, until: Instant) {
    simulation.run_until(until, &mut []);
}

/// Data frames that all stations have sent so far, each retransmission included.
fn data_frames(simulation: &Simulation) -> u64 {
    let stations = (0..46).filter_map(|node| simulation.wifi_counters(0, NodeId(node)));
    stations.map(|counters| counters.data_sent).sum()
}

/// Processor time of this process, if the system reports it (Linux).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|text| text.parse::<f64>().ok());
    nanos.unwrap_or(0.0) / 1e9
}

fn link(number: usize, a: u32, b: u32) -> LinkPlan {
    let ends = (NodeId(a), NodeId(b));
    LinkPlan { name: format!("l{number}"), ends, ..LinkPlan::default() }
}

fn produce(node: u32, prefix: &str) -> ApplicationPlan {
    let plan = ProducePlan {
        prefix: name(prefix),
        content: 1_024.into(),
        freshness: Duration::from_secs(3_600),
        packet: PacketShape::Digest,
    };
    application(format!("produce{prefix}"), node, ApplicationKind::Produce(plan))
}

/// A station that requests all the time.
fn request(node: u32, prefix: &str) -> ApplicationPlan {
    let plan = RequestPlan {
        prefixes: vec![name(prefix)],
        contents: 1 << 30,
        popularity: Popularity::Sequential,
        arrival: Arrival::Window(Box::new("fixed(window=16)".parse().unwrap())),
        requests: None,
        rto: "jacobson".parse().ok(),
        retries: None,
        lifetime: Duration::from_secs(4),
        rto_scan: None,
        pending: None,
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

/// A grid of access points 50 m apart, wired to a node that answers, and ten stations that belong to them.
fn cells() -> Network {
    let mut network = Network { nodes: (0..47).map(node).collect(), ..Network::default() };
    let point = |n: u32| Position { x: f64::from(n % 6) * 50.0, y: f64::from(n / 6) * 50.0 };
    let station = |n: u32, place, role| {
        let motion = Motion::still(place);
        WifiStation { node: NodeId(n), motion, role }
    };
    let mut stations: Vec<WifiStation> =
        (0..36).map(|n| station(n, point(n), Role::AccessPoint)).collect();
    stations.extend((0..10).map(|number| {
        let Position { x, y } = point(number * 3);
        station(36 + number, Position { x: x + 10.0, y: y + 5.0 }, Role::Client)
    }));
    let medium = MediumPlan::n(RateControl::MinstrelHt { wide: true, short_guard: true });
    for point in 0..36 {
        let mut wire = link(network.links.len(), 46, point);
        (wire.forth.delay, wire.back.delay) = (Duration::from_millis(1), Duration::from_millis(1));
        network.links.push(wire);
    }
    let mut links = Vec::new();
    for (user, point) in (36..46).flat_map(|user| (0..36).map(move |point| (user, point))) {
        links.push(LinkId(network.links.len() as u32));
        network.links.push(link(network.links.len(), user, point));
    }
    network.wifi.push(WifiPlan::new("air", medium, stations, links));
    network.applications.push(produce(46, "/o"));
    network.applications.extend((36..46).map(|user| request(user, &format!("/o/{user}"))));
    let producer = Producer { node: NodeId(46), prefix: name("/o") };
    network.rerouting = Some(Rerouting {
        producers: vec![vec![producer]],
        metric: Metric::Delay,
        next_hops: NextHops::Shortest,
    });
    network.stop.at = Instant::from_millis(10_000);
    network
}
