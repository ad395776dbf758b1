//! Nodes whose links lead over the medium.
#[path = "../simulation/build.rs"]
mod build;

use build::{applications, fetch, link, serve};
use recoup_lab::scenario::ScenarioFile;
use recoup_packet::name::Name;
use recoup_sim::channel::LossReason;
use recoup_sim::network::{
    Fault, LinkId, LinkPlan, Network, NodeId, NodeOptions, NodePlan, RoutePlan, WifiPlan,
    WifiStation,
};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::record::{RecordPlan, Records};
use recoup_sim::simulation::{Cause, Digest, Ended, Simulation};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use recoup_wifi::motion::{Motion, RandomWaypoint};
use recoup_wifi::plan::{MediumPlan, Role};
use recoup_wifi::propagation::Position;
use recoup_wifi::rate::Rate;

fn stations(places: impl IntoIterator<Item = Motion>) -> Vec<WifiStation> {
    let numbered = places.into_iter().enumerate();
    let station = |(n, motion)| WifiStation { node: NodeId(n as u32), motion, role: Role::Peer };
    numbered.map(station).collect()
}

/// `nodes` nodes in a row over 802.11g; the first fetches from the last.
fn chain(nodes: u32, metres: f64, object_bytes: u64) -> Network {
    let mut network = build::line(nodes, &link(0, 0));
    let row = (0..nodes).map(|n| Motion::still(Position { x: f64::from(n) * metres, y: 0.0 }));
    let medium = MediumPlan::g(Rate::ofdm(54).unwrap());
    let links = (0..nodes - 1).map(LinkId).collect();
    network.wifi.push(WifiPlan::new("air", medium, stations(row), links));
    let (serve, fetch) = (serve(nodes - 1, "/object", object_bytes), fetch(0, "/object"));
    applications(&mut network, [serve, fetch]);
    network
}

fn run(network: Network, seed: u64) -> (u64, Ended, Simulation) {
    let mut simulation = Simulation::new(network, seed).unwrap();
    let mut digest = Digest::new();
    let ended = simulation.run(&mut [&mut digest]);
    (digest.value(), ended, simulation)
}

#[test]
fn an_object_is_fetched_over_three_hops() {
    let (_, ended, simulation) = run(chain(4, 150.0, 200_000), 1);
    assert_eq!(ended.cause, Cause::Done);
    assert!(ended.balance.hops() > 3 * 2 * 25, "{ended:?}");
    let counters = simulation.wifi_counters(0, NodeId(1)).unwrap();
    assert!(counters.acknowledged > 2 * 25, "{counters:?}");
    // 54 Mbit/s over three hops within carrier sense of each other leave about 5.
    assert!(ended.at.as_secs_f64() > 200_000.0 * 8.0 / 6e6, "{}", ended.at);
}

#[test]
fn stations_out_of_range_lose_their_frames() {
    let mut network = chain(2, 5_000.0, 1_000);
    network.stop.at = Instant::from_millis(2_000);
    let (_, ended, _) = run(network, 1);
    assert_eq!(ended.cause, Cause::Time);
    assert_eq!(ended.balance.hops(), 0);
    let interests = Some(recoup_forwarder::packet::Kind::Interest);
    assert!(ended.balance.lost(interests, LossReason::Model) > 0, "{ended:?}");
}

#[test]
fn failing_relay_only_delays_a_fetch() {
    let whole = run(chain(3, 150.0, 300_000), 1).1;
    let mut network = chain(3, 150.0, 300_000);
    network.faults.push((Instant::from_millis(50), Fault::NodeDown(NodeId(1))));
    network.faults.push((Instant::from_millis(1_050), Fault::NodeUp(NodeId(1))));
    let broken = run(network, 1).1;
    assert_eq!((whole.cause, broken.cause), (Cause::Done, Cause::Done));
    assert!(broken.at > whole.at + Duration::from_millis(500), "{} {}", broken.at, whole.at);
}

/// Eight nodes that wander about, all with a broadcast face and no other.
fn wanderers(seed: u64) -> Network {
    let area = RandomWaypoint {
        from: Position::default(),
        to: Position { x: 900.0, y: 900.0 },
        slowest: 5.0,
        fastest: 15.0,
        pause: Duration::from_millis(500),
    };
    let mut network = Network::default();
    let mut rng = Rng::from_seed(seed);
    let mut motions = Vec::new();
    for number in 0..8 {
        let node = NodeId(number);
        let strategy = "multicast".parse().unwrap();
        network.nodes.push(NodePlan {
            name: format!("n{number}"),
            options: NodeOptions { strategy, ..NodeOptions::default() },
            ..NodePlan::default()
        });
        network.links.push(LinkPlan {
            name: format!("air-{number}"),
            ends: (node, node),
            forth: link(0, 0),
            back: link(0, 0),
            ..LinkPlan::default()
        });
        let hops = vec![(LinkId(number), 1)];
        network.routes.push(RoutePlan { node, prefix: Name::root(), hops });
        motions.push(Motion::random_waypoint(&area, &mut rng, Instant::from_millis(60_000)));
    }
    let mut medium = MediumPlan::g(Rate::ofdm(24).unwrap());
    medium.basic_rate = Rate::ofdm(12).unwrap();
    medium.fading.nakagami_m = Some(2.0);
    medium.fading.carrier_hz = 2.412e9;
    let (stations, links) = (stations(motions), (0..8).map(LinkId).collect());
    network.wifi.push(WifiPlan::new("air", medium, stations, links));
    applications(&mut network, [serve(7, "/object", 100_000), fetch(0, "/object")]);
    network.stop.at = Instant::from_millis(60_000);
    network
}

#[test]
fn wandering_nodes_fetch_by_broadcast_repeatably() {
    let (digest, ended, _) = run(wanderers(1), 5);
    assert!(ended.balance.hops() > 500, "{ended:?}");
    let doubled = ended.balance.doubled(Some(recoup_forwarder::packet::Kind::Interest));
    assert!(doubled > 0, "several nodes receive an Interest: {ended:?}");
    assert_eq!((digest, &ended), (run(wanderers(1), 5).0, &run(wanderers(1), 5).1));
    assert_ne!(digest, run(wanderers(1), 6).0);
}

/// Three stations of a scenario: one stands, one walks, one follows a file.
const MOVING: &str = r#"
stop = "20 s"

[topology]
nodes = ["here", "walker", "car"]
links = ["here-walker", "here-car"]

[nodes.here]
position = [0, 0]
[nodes.walker]
motion = "random-waypoint(west=-200,south=-200,east=200,north=200,speed=20m/s,slowest=5m/s)"
[nodes.car]
motion = "ns2(file=car.tcl,node=4)"

[wifi]
rate = "ofdm-24"
fading = "nakagami(m=1)"
shadowing = "log-normal(sd=4,distance=20)"

[applications.p]
kind = "produce"
node = "here"
prefix = "/p"

[request]
prefix = "/p"
contents = 100000
arrival = "constant(rate=50)"

[applications.c]
kind = "request"
node = ["walker", "car"]
"#;

const CAR: &str =
    "$node_(4) set X_ 0\n$node_(4) set Y_ 3\n$ns_ at 1 \"$node_(4) setdest 3000 3 200\"\n";

fn moving(text: &str, car: &str, seed: u64) -> Result<Network, String> {
    let file = ScenarioFile::parse(text, &[]).map_err(|error| error.to_string())?;
    let files = |name: &str| match name {
        "car.tcl" => Ok(car.to_owned()),
        _ => Err("is not there".to_owned()),
    };
    let scenario =
        file.scenario(&file.point(0).unwrap(), &files).map_err(|error| error.to_string())?;
    assert!(scenario.identity().contains(car));
    scenario.network(seed).map_err(|error| error.to_string())
}

#[test]
fn mobile_run_repeats_with_and_without_records() {
    let network = || moving(MOVING, CAR, 3).unwrap();
    let (digest, ended, _) = run(network(), 3);
    let interests = Some(recoup_forwarder::packet::Kind::Interest);
    assert!(ended.balance.lost(interests, LossReason::Model) > 50, "{ended:?}");
    assert!(ended.balance.hops() > 1_000, "{ended:?}");
    assert_eq!((digest, &ended), (run(network(), 3).0, &run(network(), 3).1));
    let plans: Vec<RecordPlan> =
        RecordPlan::names().map(|n| RecordPlan::parse(n).unwrap()).collect();
    let mut records = Records::new(&network(), &plans);
    let mut recorded = Digest::new();
    let mut simulation = Simulation::new(network(), 3).unwrap();
    assert_eq!(simulation.run(&mut [&mut records, &mut recorded]), ended);
    assert_eq!(recorded.value(), digest, "a recorder moves nothing");
    assert_ne!(run(moving(MOVING, CAR, 4).unwrap(), 4).0, digest);
}

#[test]
fn car_out_of_range_receives_nothing() {
    let arrived = |car: &str| {
        let network = moving(&MOVING.replace("nakagami(m=1)", "none"), car, 1).unwrap();
        let mut simulation = Simulation::new(network, 1).unwrap();
        let mut links = Counts::default();
        simulation.run(&mut [&mut links]);
        links.0
    };
    let (parked, leaving) = (arrived("$node_(4) set X_ 5\n"), arrived(CAR));
    assert!(parked[1] > 1_900, "{parked:?}");
    assert!(leaving[1] < parked[1] * 9 / 10, "{leaving:?}");
}

/// Packets that arrived, by link.
#[derive(Default)]
struct Counts([u64; 2]);

impl Observer for Counts {
    fn on(&mut self, _: Instant, observation: &Observation<'_>) {
        if let Observation::Arrived { link, .. } = observation {
            self.0[link.0 as usize] += 1;
        }
    }
}

#[test]
fn wrong_motion_names_file_and_line() {
    let problem = |text: &str, car: &str| moving(text, car, 1).unwrap_err();
    let wrong = problem(MOVING, "$node_(4) set X_ 1\n$node_(4) setdest 1 2\n");
    assert!(wrong.contains("car.tcl:2: is no movement: write `$node_(0) set X_ 1.0`"), "{wrong}");
    let not_moving = problem(MOVING, "$node_(3) set X_ 1\n");
    assert!(not_moving.contains("`4` moves nowhere in it; it moves `3`"), "{not_moving}");
    let gone = problem(&MOVING.replace("car.tcl", "bus.tcl"), CAR);
    assert!(gone.contains("bus.tcl: is not there"), "{gone}");
    let no_place = problem(&MOVING.replace("position = [0, 0]", ""), CAR);
    assert!(no_place.contains("`here` has no place"), "{no_place}");
    let no_speed = problem(&MOVING.replace("speed=20m/s", "speed=fast"), CAR);
    assert!(no_speed.contains("50km/h"), "{no_speed}");
}

const SCENARIO: &str = r#"
[topology]
kind = "line"
nodes = 3

[wifi]
standard = "n"
rate = "ht-4-40-short"
spacing = "20 m"

[applications.p]
kind = "serve"
node = "n3"
prefix = "/file"
size = "200 kB"

[applications.c]
kind = "fetch"
node = "n1"
object = "/file"
congestion = "cubic"
loss = "timeout"
"#;

#[test]
fn a_scenario_with_a_medium_runs() {
    let file = ScenarioFile::parse(SCENARIO, &[]).unwrap_or_else(|error| panic!("{error}"));
    let no_files = |_: &str| Err("there are no files".to_owned());
    let scenario = file.scenario(&file.point(0).unwrap(), &no_files);
    let network = scenario.and_then(|scenario| scenario.network(1));
    let network = network.unwrap_or_else(|error| panic!("{error}"));
    let (_, ended, _) = run(network, 1);
    assert_eq!(ended.cause, Cause::Done);
    assert!(ended.at.as_secs_f64() < 2.0, "{}", ended.at);
    assert!(ended.balance.hops() >= 2 * 2 * 200_000 / 8_000, "{ended:?}");
}

#[test]
fn packet_in_parts_arrives_with_its_last_part() {
    let text = |mtu: &str, metres: u32| {
        format!("{SCENARIO}rto = \"ccntimer\"\n")
            .replace("rate = \"ht-4-40-short\"", "rate = \"ofdm-24\"")
            .replace("standard = \"n\"", &format!("standard = \"g\"\n{mtu}"))
            .replace("20 m", &format!("{metres} m"))
            .replace("200 kB\"", "200 kB\"\nsegment = \"4096 B\"")
    };
    let run = |mtu, metres| {
        let file = ScenarioFile::parse(&text(mtu, metres), &[]).unwrap();
        let no_files = |_: &str| Err("there are no files".to_owned());
        let network =
            file.scenario(&file.point(0).unwrap(), &no_files).unwrap().network(1).unwrap();
        run(network, 1)
    };
    let frames =
        |simulation: &Simulation| simulation.wifi_counters(0, NodeId(2)).unwrap().acknowledged;
    let (_, whole, simulation) = run("", 100);
    assert_eq!((whole.cause, frames(&simulation)), (Cause::Done, 49));
    let (_, parts, simulation) = run("mtu = \"1500 B\"", 100);
    assert_eq!((parts.cause, frames(&simulation)), (Cause::Done, 49 * 3));
    assert!(parts.at > whole.at, "each part contends for the medium");
    // Hidden stations: parts collide, and with each part its packet is lost.
    let (_, hidden, _) = run("mtu = \"1500 B\"\ntries = 1", 600);
    let data = Some(recoup_forwarder::packet::Kind::Data);
    assert_eq!(hidden.cause, Cause::Done);
    assert!(hidden.balance.lost(data, LossReason::Model) > 0, "{:?}", hidden.balance);
}

/// Five nodes in range of each other: a consumer, a producer, and three that forward the packets they receive.
const ROOM: &str = r#"
stop = "4 s"

[topology]
nodes = ["asks", "a", "b", "c", "answers"]

[node]
strategy = "multicast"

[nodes.asks]
position = [0, 0]
[nodes.a]
position = [300, 0]
[nodes.b]
position = [300, 20]
[nodes.c]
position = [300, -20]
[nodes.answers]
position = [900, 0]

[wifi]
rate = "ofdm-6"
broadcast = "*"
lifetime = "50 ms"

[routing]
paths = "none"
[[route]]
node = "asks"
prefix = "/p"
via = "asks-all"
[[route]]
node = "a"
prefix = "/p"
via = "a-all"
[[route]]
node = "b"
prefix = "/p"
via = "b-all"
[[route]]
node = "c"
prefix = "/p"
via = "c-all"

[applications.p]
kind = "produce"
node = "answers"
prefix = "/p"

[applications.q]
kind = "request"
node = "asks"
prefix = "/p"
contents = 100000
arrival = "constant(rate=20)"
rto = "none"
"#;

#[test]
fn received_broadcast_suppresses_the_own_copy() {
    use recoup_forwarder::packet::Kind;
    let run_room = |defer: &str| {
        let text = ROOM.replace("lifetime", &format!("defer = \"{defer}\"\nlifetime"));
        let file = ScenarioFile::parse(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let no_files = |_: &str| Err("there are no files".to_owned());
        let scenario = file.scenario(&file.point(0).unwrap(), &no_files);
        let network = scenario.and_then(|scenario| scenario.network(1));
        run(network.unwrap_or_else(|error| panic!("{error}")), 1).1
    };
    let (rude, polite) = (run_room("0 ms"), run_room("5 ms"));
    let silent = |ended: &Ended| ended.balance.lost(Some(Kind::Interest), LossReason::Superfluous);
    assert_eq!(silent(&rude), 0);
    assert!(silent(&polite) > 60, "of three that would hand it on two keep silent: {polite:?}");
    let answered = |ended: &Ended| ended.balance.delivered(Some(Kind::Data));
    assert!(answered(&polite) > 80, "{polite:?}");
    assert_eq!(run_room("5 ms"), polite);
}

/// Two stations, one of which is out of reach from 1 s to 2 s.
const AWAY: &str = r#"
stop = "4 s"

[topology]
links = ["here-there"]

[nodes.here]
position = [0, 0]
[nodes.there]
motion = "ns2(file=away.tcl,node=1)"

[wifi]
standard = "n"
rate = "ht-3-40-short"
mpdu-tries = 4

[applications.p]
kind = "produce"
node = "there"
prefix = "/p"

[applications.c]
kind = "request"
node = "here"
prefix = "/p"
contents = 100000
arrival = "constant(rate=60)"
rto = "none"
"#;

const AWAY_AND_BACK: &str = "$node_(1) set X_ 10\n$node_(1) set Y_ 0\n\
    $ns_ at 1.0 \"$node_(1) setdest 510 0 1000\"\n$ns_ at 1.5 \"$node_(1) setdest 10 0 1000\"\n";

/// Interests that arrived at the producer, by time.
#[derive(Default)]
struct Comings(Vec<f64>);

impl Observer for Comings {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Observation::Arrived { packet, .. } = observation
            && packet.kind() == recoup_forwarder::packet::Kind::Interest
        {
            self.0.push(now.as_secs_f64());
        }
    }
}

#[test]
fn returning_client_skips_abandoned_segments() {
    let mut simulation =
        Simulation::new(moving(&AWAY.replace("away.tcl", "car.tcl"), AWAY_AND_BACK, 1).unwrap(), 1)
            .unwrap();
    let mut comings = Comings::default();
    simulation.run(&mut [&mut comings]);
    let within =
        |from: f64, until: f64| comings.0.iter().filter(|at| (from..until).contains(*at)).count();
    assert!(within(0.0, 1.0) > 55 && within(1.2, 1.8) == 0, "{:?}", comings.0);
    // 60 Interests a second; a window of 64 that stalls would hold back a second of them.
    assert!(within(2.05, 2.55) > 27, "{:?}", comings.0);
}
