//! Simulations with access points: faces and routes follow the clients, and every loss is counted.
use recoup_forwarder::packet::Kind;
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::channel::LossReason;
use recoup_sim::metric::{Detail, Metrics};
use recoup_sim::network::{Direction, Fault, LinkId, Network, NodeId};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::record::{RecordPlan, Records};
use recoup_sim::simulation::{Cause, Digest, Ended, Simulation};
use recoup_transport::time::Instant;

/// A client that asks, and one that answers, pass by two access points.
const ROAD: &str = r#"
stop = "9 s"

[topology]
nodes = ["root", "ap1", "ap2", "asks", "answers"]
links = ["root-ap1", "root-ap2"]

[link]
rate = "100 Mbit/s"
delay = "1 ms"

[nodes.ap1]
position = [0, 0]
[nodes.ap2]
position = [80, 0]
[nodes.asks]
position = [0, 5]
motion = "linear(speed=10m/s)"
[nodes.answers]
position = [0, -5]
motion = "linear(speed=10m/s)"

[wifi]
standard = "n"
rate = "ht-3-40-short"
path-loss = "log-distance(exponent=2.47)"
points = "ap*"
clients = ["asks", "answers"]

[produce]
content = "1024 B"
[applications.near]
kind = "produce"
node = "root"
prefix = "/near"
[applications.far]
kind = "produce"
node = "answers"
prefix = "/far"

[request]
contents = 1000000
arrival = "constant(rate=500)"
rto = "none"
[applications.down]
kind = "request"
node = "asks"
prefix = "/near"
[applications.up]
kind = "request"
node = "root"
prefix = "/far"
"#;

/// The study's joint topology, on a small scale of time.
const CITY: &str = r#"
stop = "4 s"

[topology]
kind = "access-points"
clients = 10

[link]
rate = "1 Gbit/s"
delay = "1 ms"

[nodes."m{1..10}"]
motion = "random-waypoint(west=80,south=80,east=320,north=320,speed=50km/h)"

[wifi]
standard = "n"
path-loss = "log-distance(exponent=2.47)"
fading = "nakagami(m=1)"
mpdu-tries = 4
points = "ap*"
clients = "m*"

[wifi.handoff]
dwell = "500 ms"

[produce]
content = "1024 B"
[applications.p]
kind = "produce"
node = "m{6..10}"
prefix = "/p{k}"

[request]
contents = 1000000
arrival = "constant(rate=100)"
[applications.c]
kind = "request"
node = "m{1..5}"
prefix = "/p{k}"
"#;

fn network(text: &str, seed: u64) -> Network {
    let file = ScenarioFile::parse(text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let no_files = |_: &str| Err("there are no files".to_owned());
    let scenario = file.scenario(&file.point(0).unwrap(), &no_files);
    let network = scenario.and_then(|scenario| scenario.network(seed));
    network.unwrap_or_else(|error| panic!("{error}"))
}

/// Events, by time.
#[derive(Default)]
struct Story {
    /// Client and access point.
    joined: Vec<(Instant, NodeId, NodeId)>,
    left: Vec<(Instant, NodeId, NodeId)>,
    /// Packets that arrived over a link in a direction.
    arrived: Vec<(Instant, LinkId, Direction, Kind)>,
    lost_down: u64,
}

impl Observer for Story {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Joined { client, point, .. } => self.joined.push((now, client, point)),
            Observation::Left { client, point } => self.left.push((now, client, point)),
            Observation::Arrived { link, direction, packet } => {
                self.arrived.push((now, link, direction, packet.kind()));
            }
            Observation::Lost { reason: LossReason::Down, .. } => self.lost_down += 1,
            _ => {}
        }
    }
}

fn story(network: Network, seed: u64) -> (Story, Ended) {
    let mut simulation = Simulation::new(network, seed).unwrap();
    let mut story = Story::default();
    let ended = simulation.run(&mut [&mut story]);
    (story, ended)
}

#[test]
fn interests_follow_a_producer_at_once() {
    let network = network(ROAD, 1);
    let node = |name: &str| network.nodes.iter().position(|node| node.name == name).unwrap();
    let link = |name: &str| network.links.iter().position(|link| link.name == name).unwrap();
    let (answers, second) = (NodeId(node("answers") as u32), NodeId(node("ap2") as u32));
    let wire = LinkId(link("root-ap2") as u32);
    let (story, ended) = story(network.clone(), 1);
    assert_eq!(ended.cause, Cause::Time);
    let comings: Vec<_> = story.joined.iter().filter(|(_, client, _)| *client == answers).collect();
    let [(at, _, point)] = comings[..] else { panic!("{comings:?}") };
    assert_eq!(*point, second);
    let is_up = |arrived: &&(Instant, LinkId, Direction, Kind)| {
        arrived.1 == wire && arrived.3 == Kind::Interest && arrived.2 == Direction::Forth
    };
    let first = story.arrived.iter().find(is_up).unwrap();
    let gap = first.0.since(*at).as_secs_f64();
    assert!(
        (0.001..0.004).contains(&gap),
        "one millisecond of wire, and at most one of waiting: {gap}"
    );
}

#[test]
fn roaming_client_continues_and_losses_are_counted() {
    let network = network(ROAD, 1);
    let (story, ended) = story(network.clone(), 1);
    assert_eq!((story.left.len(), story.joined.len()), (2, 2));
    let asked = ended.balance.sent(Some(Kind::Interest));
    assert!(asked > 2 * 8 * 500 * 2, "{ended:?}");
    let came = ended.balance.delivered(Some(Kind::Data)) as f64 / (2.0 * 2.0 * 9.0 * 500.0);
    assert!((0.99..1.0).contains(&came), "{came}");
    assert_eq!(story.lost_down, LossReasons::of(&ended).down);
    let mut metrics = Metrics::new(&network, Detail::default());
    Simulation::new(network, 1).unwrap().run(&mut [&mut metrics]);
    let summary = metrics.finish(Instant::from_millis(9_000));
    assert_eq!(summary.get("all.handoffs"), Some(2.0));
    assert!(summary.get("all.residual_loss").unwrap() < 0.01);
}

struct LossReasons {
    down: u64,
}

impl LossReasons {
    fn of(ended: &Ended) -> Self {
        let kinds = [Kind::Interest, Kind::Data, Kind::Nack].map(Some);
        Self { down: kinds.map(|kind| ended.balance.lost(kind, LossReason::Down)).iter().sum() }
    }
}

#[test]
fn noticing_departures_reduces_losses() {
    let lost = |handoff: &str| {
        let text = ROAD.replace("[produce]", &format!("[wifi.handoff]\n{handoff}\n[produce]"));
        story(network(&text, 1), 1).0.lost_down
    };
    let late = lost("scan = \"200 ms\"");
    assert!(late > 50, "100 Interests were sent to a client that had left: {late}");
    // No packet is queued at the access point for a client that is known to be gone.
    let early = lost("scan = \"200 ms\"\nnotice = \"departure\"");
    assert!(early < late / 2, "{early} {late}");
}

#[test]
fn handoffs_repeat_and_recorders_change_nothing() {
    let run = |seed: u64| {
        let mut digest = Digest::new();
        let ended = Simulation::new(network(CITY, seed), seed).unwrap().run(&mut [&mut digest]);
        (digest.value(), ended)
    };
    let (digest, ended) = run(1);
    assert_eq!(ended.cause, Cause::Time);
    assert!(ended.balance.delivered(Some(Kind::Data)) > 5 * 300 * 2, "{ended:?}");
    assert_eq!((digest, &ended), (run(1).0, &run(1).1));
    assert_ne!(digest, run(2).0);
    let plans: Vec<_> = RecordPlan::names().map(|n| RecordPlan::parse(n).unwrap()).collect();
    let mut records = Records::new(&network(CITY, 1), &plans);
    let (mut story, mut recorded) = (Story::default(), Digest::new());
    let mut simulation = Simulation::new(network(CITY, 1), 1).unwrap();
    assert_eq!(simulation.run(&mut [&mut records, &mut story, &mut recorded]), ended);
    assert_eq!(recorded.value(), digest);
    let tables = records.finish(ended.at);
    let rows = |name: &str| tables.iter().find(|table| table.name == name).unwrap().len();
    assert_eq!(rows("handoffs"), story.joined.len());
    assert!(rows("residual") > 40 && story.joined.len() > 3, "{}", story.joined.len());
}

#[test]
fn failed_access_point_loses_and_regains_clients() {
    let mut network = network(ROAD, 1);
    let still = |text: &str| text.replace("linear(speed=10m/s)", "still");
    network = {
        drop(network);
        self::network(&still(ROAD), 1)
    };
    let first = NodeId(network.nodes.iter().position(|node| node.name == "ap1").unwrap() as u32);
    network.faults.push((Instant::from_millis(1_000), Fault::NodeDown(first)));
    network.faults.push((Instant::from_millis(4_000), Fault::NodeUp(first)));
    let (story, ended) = story(network, 1);
    let points: Vec<_> =
        story.joined.iter().map(|(at, _, point)| (at.as_secs_f64(), *point)).collect();
    assert!(points.iter().take(2).all(|(at, point)| *at < 2.3 && *point != first), "{points:?}");
    assert!(points.len() == 4 && points[3].1 == first && points[3].0 > 4.0, "{points:?}");
    assert!(ended.balance.delivered(Some(Kind::Data)) > 9 * 500 * 2, "{ended:?}");
}
