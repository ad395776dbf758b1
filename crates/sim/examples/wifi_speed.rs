//! How much processor time the 802.11 medium takes: `cargo run --release -p recoup-sim --example wifi_speed [filter]`.
//!
//! `wifi_speed FROM TO` runs the saturated grid until TO ms and counts data frames on the air from FROM on as `units`; what
//! happens in between happens in `measured`.
//!
//! A fetch of 5 MB over three hops at a window of 16 in the simulator; 36 access points with ten stations of 802.11n
//! each: saturated, with 0.8 Mbit/s each, and wandering at 50 km/h under fading. Only the ratio of simulated to
//! processor time is meaningful, and only on an idle machine.
use recoup_packet::name::Name;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, Arrival, FetchPlan, LinkId, LinkPlan, Network, NodeId,
    NodePlan, PacketShape, Popularity, ProducePlan, RequestPlan, Rerouting, RoutePlan, ServePlan,
    WifiPlan, WifiStation,
};
use recoup_sim::route::{Metric, NextHops, Producer};
use recoup_sim::simulation::Simulation;
use recoup_transport::fetch::{FetchOptions, Retries};
use recoup_transport::random::Rng;
use recoup_transport::serve::{ServeOptions, Version};
use recoup_transport::time::{Duration, Instant};
use recoup_wifi::motion::{Motion, RandomWaypoint};
use recoup_wifi::plan::{MediumPlan, RateControl, Role};
use recoup_wifi::propagation::Position;
use recoup_wifi::rate::Rate;

fn main() {
    if let (Some(from), Some(to)) = (millis(1), millis(2)) {
        return count(from, to);
    }
    report("3 hops, 5 MB, window 16", chain(), 5);
    let (busy, calm) = (fetching as fn(u32, &str) -> _, asking as fn(u32, &str) -> _);
    report("36 access points, 10 stations that fetch all the time, 802.11n", cells(busy, 0.0), 1);
    report(
        "36 access points, 10 stations that ask 100 times a second, 802.11n",
        cells(calm, 0.0),
        3,
    );
    report("the same at 50 km/h under Rayleigh fading", cells(calm, 50.0 / 3.6), 3);
    report("that fetch all the time at 50 km/h under Rayleigh fading", cells(busy, 50.0 / 3.6), 1);
}

/// A time of the simulation that the command line names.
fn millis(place: usize) -> Option<Instant> {
    std::env::args().nth(place)?.parse().ok().map(Instant::from_millis)
}

/// Prints the data frames (MPDUs) on the air in a part of the saturated grid.
fn count(from: Instant, to: Instant) {
    let Ok(mut simulation) = Simulation::with_silent_nodes(cells(fetching, 0.0), 1) else {
        return println!("no simulation");
    };
    simulation.run_until(from, &mut []);
    let before = data_frames(&simulation);
    measured(&mut simulation, to);
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

/// Prints simulated and processor seconds of a run, the least of some.
fn report(what: &str, network: Network, times: u64) {
    if std::env::args().nth(1).is_some_and(|part| !what.contains(&part)) {
        return;
    }
    let mut least = f64::INFINITY;
    let mut simulated = 0.0;
    let mut hops = 0;
    for seed in 1..=times {
        let Ok(mut simulation) = Simulation::with_silent_nodes(network.clone(), seed) else {
            return println!("{what}: no simulation");
        };
        let begun = processor_seconds();
        let ended = simulation.run(&mut []);
        least = least.min(processor_seconds() - begun);
        simulated = ended.at.as_secs_f64();
        hops = ended.balance.hops();
    }
    let ratio = simulated / least;
    println!(
        "{what}: {simulated:.2} s simulated, {hops} packet-hops, {least:.4} CPU-s, {ratio:.0}x"
    );
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

fn serve(node: u32, prefix: &str, size_bytes: u64) -> ApplicationPlan {
    let plan = ServePlan {
        prefix: name(prefix),
        size_bytes,
        options: ServeOptions {
            segment_bytes: 1_024,
            freshness: Duration::from_secs(3_600),
            version: Version::None,
            ..ServeOptions::default()
        },
        packet: PacketShape::Digest,
    };
    application(format!("serve{prefix}"), node, ApplicationKind::Serve(plan))
}

fn fetch(node: u32, object: &str, congestion: &str) -> ApplicationPlan {
    let plan = FetchPlan {
        options: FetchOptions {
            discover: false,
            rto: "jacobson".parse().unwrap(),
            sampling: "rfc7323".parse().unwrap(),
            congestion: congestion.parse().unwrap(),
            loss: "timeout".parse().unwrap(),
            lifetime: Duration::from_secs(4),
            retries: Retries(None),
            no_progress: Duration::from_secs(60),
            rto_check: Duration::ZERO,
            react_to_marks: false,
            ..FetchOptions::default()
        },
        ..FetchPlan::new(name(object))
    };
    application(format!("fetch{object}"), node, ApplicationKind::Fetch(Box::new(plan)))
}

fn produce(node: u32, prefix: &str) -> ApplicationPlan {
    let plan = ProducePlan {
        prefix: name(prefix),
        content_bytes: 1_024,
        freshness: Duration::from_secs(3_600),
        packet: PacketShape::Digest,
    };
    application(format!("produce{prefix}"), node, ApplicationKind::Produce(plan))
}

fn fetching(node: u32, prefix: &str) -> ApplicationPlan {
    request(node, prefix, Arrival::Window(Box::new("fixed(window=16)".parse().unwrap())))
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

/// A grid of access points 50 m apart, wired to a node that answers, and ten stations that belong to them.
fn cells(consumer: fn(u32, &str) -> ApplicationPlan, speed: f64) -> Network {
    let mut network = Network { nodes: (0..47).map(node).collect(), ..Network::default() };
    let until = Instant::from_millis(10_000);
    let point = |n: u32| Position { x: f64::from(n % 6) * 50.0, y: f64::from(n / 6) * 50.0 };
    let station = |n: u32, motion, role| WifiStation { node: NodeId(n), motion, role };
    let mut stations: Vec<WifiStation> =
        (0..36).map(|n| station(n, Motion::still(point(n)), Role::AccessPoint)).collect();
    let mut rng = Rng::from_seed(1);
    for number in 0..10_u32 {
        let Position { x, y } = point(number * 3);
        let place = Position { x: x + 10.0, y: y + 5.0 };
        let area = RandomWaypoint {
            from: point(7),
            to: point(28),
            slowest: speed,
            fastest: speed,
            pause: Duration::ZERO,
        };
        let motion = match speed > 0.0 {
            true => Motion::random_waypoint(&area, &mut rng, until),
            false => Motion::still(place),
        };
        stations.push(station(36 + number, motion, Role::Client));
    }
    let control = RateControl::MinstrelHt { wide: true, short_guard: true };
    let mut medium = MediumPlan::n(control);
    if speed > 0.0 {
        (medium.fading.nakagami_m, medium.fading.carrier_hz) = (Some(1.0), 5.19e9);
    }
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
    network.applications.extend((36..46).map(|user| consumer(user, &format!("/o/{user}"))));
    let producer = Producer { node: NodeId(46), prefix: name("/o") };
    network.rerouting = Some(Rerouting {
        producers: vec![vec![producer]],
        metric: Metric::Delay,
        next_hops: NextHops::Shortest,
    });
    network.stop.at = until;
    network
}
