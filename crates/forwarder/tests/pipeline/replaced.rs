//! Forwarders that take the place of another at one address, as at a move between access points.
use crate::bench::question;
use crate::tester::Probe;
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output};
use recoup_forwarder::options::NodeConfig;
use recoup_transport::application::AppOutput;
use recoup_transport::time::{Duration, Instant};

const FACE: FaceId = FaceId(1);

/// A producer that watches its forwarder, and two forwarders of which one is in reach.
struct Station {
    station: Node,
    producer: Probe,
    forwarders: [Node; 2],
    /// The one in reach; `None` between two access points.
    in_reach: Option<usize>,
    wire: FaceAttributes,
    now: Instant,
}

impl Station {
    fn new(recovery: &str) -> Self {
        let wire =
            FaceAttributes { recovery: recovery.parse().unwrap(), ..FaceAttributes::wire(1_400) };
        let mut station = Node::new(
            NodeConfig::deterministic(0).with(|it| it.mobility = "mldr".parse().unwrap()),
        );
        let producer = Probe::default();
        station.attach(Instant::ZERO, Box::new(producer.clone()), vec!["/a".parse().unwrap()]);
        let up = Input::FaceUp { face: FACE, attributes: wire.toward_producers() };
        station.handle(Instant::ZERO, up);
        // The command that registers comes after the face.
        station.watch_neighbours();
        let forwarders = [1, 2].map(|seed| {
            let mut forwarder = Node::deterministic(seed);
            forwarder.handle(Instant::ZERO, Input::FaceUp { face: FACE, attributes: wire });
            forwarder
        });
        Self { station, producer, forwarders, in_reach: Some(0), wire, now: Instant::ZERO }
    }

    /// Lets time pass; returns the number of frames that the station has sent.
    fn run(&mut self, millis: u64) -> usize {
        let end = self.now + Duration::from_millis(millis);
        let mut sent = 0;
        while self.now < end {
            for frame in frames(&mut self.station, self.now) {
                sent += 1;
                if let Some(near) = self.in_reach {
                    self.forwarders[near].handle(self.now, Input::Frame { face: FACE, frame });
                }
            }
            for (number, forwarder) in self.forwarders.iter_mut().enumerate() {
                for frame in frames(forwarder, self.now) {
                    if self.in_reach == Some(number) {
                        self.station.handle(self.now, Input::Frame { face: FACE, frame });
                    }
                }
            }
            self.now += Duration::from_millis(1);
        }
        sent
    }

    /// An Interest reaches the producer, whose answer leaves.
    fn serve(&mut self, name: &str, nonce: u32) {
        let frame = question(name, nonce).to_bytes();
        self.station.handle(self.now, Input::Frame { face: FACE, frame });
        self.run(1);
    }

    /// The faces that the producer saw come and go since the last call.
    fn faces(&self) -> Vec<String> {
        let lines = self.producer.received().into_iter();
        let words = lines.filter_map(|it| Some(it.rsplit_once(' ')?.1.to_owned()));
        words.filter(|it| it == "up" || it == "down").collect()
    }
}

fn frames(node: &mut Node, now: Instant) -> Vec<Bytes> {
    let mut frames = Vec::new();
    while let Some(output) = node.poll(now) {
        if let Output::Send { frame, .. } = output {
            frames.push(frame.into_bytes());
        }
    }
    frames
}

#[test]
fn producer_finds_the_next_forwarder_within_a_pause() {
    for recovery in ["auto", "wldr", "auto(strict=true)"] {
        let mut station = Station::new(recovery);
        station.serve("/a/1", 1);
        station.run(1_000);
        assert_eq!(station.faces(), ["up"], "{recovery}");
        // The station moves, and no Interest follows its last Data.
        station.serve("/a/2", 2);
        station.in_reach = Some(1);
        station.run(200);
        assert_eq!(station.faces(), ["down", "up"], "{recovery}");
        // So does a forwarder that closed its face: the route was lost with it.
        let (down, attributes) = (Input::FaceDown { face: FACE }, station.wire);
        station.forwarders[1].handle(station.now, down);
        station.forwarders[1].handle(station.now, Input::FaceUp { face: FACE, attributes });
        station.run(1_000);
        station.serve("/a/4", 4);
        station.run(1_000);
        assert_eq!(station.faces(), ["down", "up"], "{recovery}");
        // It is there, and nothing more happens.
        station.serve("/a/3", 3);
        station.run(2_000);
        assert_eq!(station.faces(), [""; 0], "{recovery}");
    }
}

#[test]
fn silent_forwarder_takes_the_uplink_down() {
    let mut station = Station::new("auto");
    station.serve("/a/1", 1);
    station.run(1_000);
    station.serve("/a/2", 2);
    station.in_reach = None;
    station.run(1_000);
    assert_eq!(station.faces(), ["up", "down"]);
    station.in_reach = Some(1);
    station.run(2_000);
    assert_eq!(station.faces(), ["up"]);
}

#[test]
fn keep_alive_asks_an_idle_forwarder() {
    let mut station = Station::new("auto");
    station.serve("/a/1", 1);
    station.run(1_000);
    station.in_reach = Some(1);
    station.run(2_000);
    assert_eq!(station.faces(), ["up", "down", "up"], "an idle forwarder is asked");
    station.in_reach = Some(0);
    station.run(60_000);
    assert_eq!(station.run(10_000), 0, "later an idle link stays idle");
    station.faces();
    station.in_reach = Some(1);
    station.producer.put(AppOutput::KeepAlive);
    station.station.handle(station.now, Input::Ready { face: FACE });
    station.run(200);
    assert_eq!(station.faces(), ["down", "up"]);
}

#[test]
fn forwarder_without_recovery_is_asked_three_times() {
    let mut station = Station::new("auto");
    station.in_reach = None;
    for step in 0..20 {
        station.serve(&format!("/a/{step}"), step + 1);
        station.run(500);
    }
    // An Interest for /localhop/hello is a question; each Data is one frame.
    assert_eq!(station.run(5_000), 0);
    assert_eq!(station.faces(), ["up"]);
}
