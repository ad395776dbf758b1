//! Two nodes over a link that loses frames: with recovery at both ends, at one end, and at none.
use bytes::Bytes;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{Agreement, FaceAttributes, FaceId, QueueLimit};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::{Body, Packet};
use recoup_packet::data::{ContentType, SignatureShape, Template};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::lp::field;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::link::recovery::Counters;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The face of the test's consumer or producer.
const EDGE: FaceId = FaceId(1);
/// The link between the nodes.
const LINK: FaceId = FaceId(2);
const DELAY: Duration = Duration::from_millis(5);
const UNLIMITED: QueueLimit = QueueLimit { packets: None, bytes: None };

/// An event at a node.
enum Load {
    Frame(Bytes),
    Packet(Packet),
    Ready,
    Ask(u64),
    Up(bool),
}

/// A consumer's node (0), a producer's node (1), and the link between them.
struct Harness {
    nodes: [Node; 2],
    agenda: BTreeMap<(Instant, u64), (usize, Load)>,
    scheduled: u64,
    now: Instant,
    loss: f64,
    rng: Rng,
    bytes: usize,
    answered: Vec<u64>,
    repeated: u64,
    /// Frames on the link with a field of recovery.
    tagged: u64,
    round_trips: BTreeMap<u64, Duration>,
    reductions: u64,
    /// Interests returned because a link had lost them or their Data.
    lost: Vec<u64>,
}

fn route(face: FaceId) -> Input {
    Input::Route(RouteChange { prefix: Name::root(), face, cost: Some(0) })
}

fn number(name: &Name) -> u64 {
    name.to_string().trim_start_matches('/').parse().unwrap()
}

impl Harness {
    fn new(link: [FaceAttributes; 2], loss: f64) -> Self {
        let node = |seed| {
            let options = NodeConfig { rng: Rng::from_seed(seed), ..NodeConfig::deterministic(0) };
            Node::new(options)
        };
        let mut nodes = [node(1), node(2)];
        for (index, face) in [(0, LINK), (1, EDGE)] {
            let edge = Input::FaceUp { face: EDGE, attributes: FaceAttributes::value(UNLIMITED) };
            nodes[index].handle(Instant::ZERO, edge);
            let attributes = FaceAttributes { permanent: true, ..link[index] };
            nodes[index].handle(Instant::ZERO, Input::FaceUp { face: LINK, attributes });
            nodes[index].handle(Instant::ZERO, route(face));
        }
        Self {
            nodes,
            agenda: BTreeMap::new(),
            scheduled: 0,
            now: Instant::ZERO,
            loss,
            rng: Rng::from_seed(7),
            bytes: 1_000,
            answered: Vec::new(),
            repeated: 0,
            tagged: 0,
            round_trips: BTreeMap::new(),
            reductions: 0,
            lost: Vec::new(),
        }
    }

    fn at(&mut self, at: Instant, node: usize, load: Load) {
        self.scheduled += 1;
        self.agenda.insert((at, self.scheduled), (node, load));
    }

    /// Requests `count` contents, and expects an answer to each.
    fn answers_all(&mut self, count: u64, ends: &[&str; 2]) {
        self.ask(0, count);
        self.run();
        assert_eq!(sorted(self.answered.clone()), (0..count).collect::<Vec<_>>(), "{ends:?}");
    }

    /// Sends Interests for `count` Data packets, one every millisecond, and runs until the answers are there.
    fn ask(&mut self, from: u64, count: u64) {
        for number in from..from + count {
            self.at(Instant::from_millis(number), 0, Load::Ask(number));
        }
    }

    fn run(&mut self) {
        loop {
            let next = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let due = self.nodes.iter().filter_map(Node::deadline);
            let Some(at) = next.into_iter().chain(due).min() else {
                return;
            };
            assert!(at >= self.now && at < Instant::from_millis(600_000), "it goes on for ever");
            self.now = at;
            while let Some(entry) = self.agenda.first_entry().filter(|it| it.key().0 <= at) {
                let (node, load) = entry.remove();
                self.deliver(node, load);
            }
            self.poll();
        }
    }

    fn deliver(&mut self, node: usize, load: Load) {
        let now = self.now;
        let input = match load {
            Load::Frame(frame) => Input::Frame { face: LINK, frame },
            Load::Packet(packet) => Input::Packet { face: LINK, packet },
            Load::Ready => Input::Ready { face: LINK },
            Load::Up(true) => {
                let attributes = self.attributes();
                Input::FaceUp { face: LINK, attributes }
            }
            Load::Up(false) => Input::FaceDown { face: LINK },
            Load::Ask(number) => self.question(node, number),
        };
        self.nodes[node].handle(now, input);
        self.poll();
    }

    /// An Interest of an application at a node.
    fn question(&self, node: usize, number: u64) -> Input {
        let mut interest = Interest::new(format!("/{number}").parse().unwrap());
        (interest.nonce, interest.lifetime) = (Some(number as u32), Some(Duration::from_secs(2)));
        let packet = Packet::interest(Arc::new(interest), self.nodes[node].hasher());
        Input::Packet { face: EDGE, packet }
    }

    fn attributes(&self) -> FaceAttributes {
        let attributes = FaceAttributes::value(UNLIMITED);
        FaceAttributes { recovery: "wldr".parse().unwrap(), ..attributes }
    }

    fn poll(&mut self) {
        for node in [0, 1, 0] {
            while let Some(output) = self.nodes[node].poll(self.now) {
                self.carry_out(node, output);
            }
        }
    }

    fn carry_out(&mut self, node: usize, output: Output) {
        match output {
            Output::Transmit { face: EDGE, packet } => self.at_the_edge(node, packet),
            Output::Transmit { packet, .. } => {
                self.tagged +=
                    u64::from(packet.hop.extra.as_ref().is_some_and(|it| it.tag.is_some()));
                let until = self.now + Duration::from_micros(100);
                self.nodes[node].handle(self.now, Input::Busy { face: LINK, until });
                self.cross(node, Load::Packet(packet));
            }
            Output::Send { frame, .. } => {
                let frame = frame.into_bytes();
                let ignorable = LpPacket::decode(frame.clone()).unwrap().header.ignorable;
                let ours =
                    [field::WLDR_SEQUENCE, field::EWLN].map(|typ| ignorable.get(typ).is_some());
                self.tagged += u64::from(ours != [false; 2]);
                self.cross(node, Load::Frame(frame));
            }
            Output::Wants { face: LINK } => {
                self.at(self.now + Duration::from_micros(100), node, Load::Ready);
            }
            Output::Wants { face } => self.nodes[node].handle(self.now, Input::Ready { face }),
            Output::Dropped { reason, .. } => {
                self.repeated += u64::from(reason == DropReason::Repeated);
            }
            Output::Event(_) | Output::App { .. } | Output::Order(_) => {}
        }
    }

    fn cross(&mut self, from: usize, load: Load) {
        if self.rng.unit_f64() >= self.loss {
            self.at(self.now + DELAY, 1 - from, load);
        }
    }

    /// Handles a packet that leaves the network: an Interest to the producer, Data to the consumer.
    fn at_the_edge(&mut self, node: usize, packet: Packet) {
        self.nodes[node].handle(self.now, Input::Busy { face: EDGE, until: self.now });
        match packet.body {
            Body::Interest(interest) => {
                let shape = SignatureShape::Digest;
                let template = Template::new(ContentType::Blob, Duration::ZERO, None, shape);
                let data = template.describe(interest.name.clone(), self.bytes).unwrap();
                let packet = Packet::data(data, self.nodes[node].hasher());
                self.nodes[node].handle(self.now, Input::Packet { face: EDGE, packet });
            }
            Body::Data(data) => {
                let number = number(data.name());
                self.answered.push(number);
                let trip = self.now.since(Instant::from_millis(number));
                let carried = packet.hop.extra.map(|extra| extra.carried).unwrap_or_default();
                let reduction = field::time(&carried, field::RTT_REDUCTION);
                self.reductions += u64::from(reduction.is_some());
                self.round_trips.insert(number, trip - reduction.unwrap_or_default());
            }
            Body::Nack(interest, NackReason::Loss) => self.lost.push(number(&interest.name)),
            // There is no uplink while the link is down.
            Body::Nack(..) => {}
            Body::Idle => panic!("a frame without packet at an edge"),
        }
    }

    fn counters(&self) -> [Counters; 2] {
        [0, 1].map(|node| self.nodes[node].recovery(LINK).unwrap_or_default())
    }
}

fn value(recovery: &str) -> FaceAttributes {
    FaceAttributes { recovery: recovery.parse().unwrap(), ..FaceAttributes::value(UNLIMITED) }
}

fn wire(recovery: &str) -> FaceAttributes {
    FaceAttributes { recovery: recovery.parse().unwrap(), ..FaceAttributes::wire(1_400) }
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

#[test]
fn a_lossy_link_with_recovery_loses_nothing() {
    for face in [value, wire] {
        for recovery in ["wldr", "acked"] {
            let mut harness = Harness::new([face(recovery), face(recovery)], 0.1);
            harness.ask(0, 1_000);
            harness.run();
            assert_eq!(
                sorted(harness.answered.clone()),
                (0..1_000).collect::<Vec<_>>(),
                "{recovery}"
            );
            let resent: u64 = harness.counters().iter().map(|it| it.resent).sum();
            // A lost acknowledgement causes a retransmission, too.
            let most = if recovery == "wldr" { 320 } else { 640 };
            assert!((180..most).contains(&resent), "{recovery}: {resent} of 2,000 frames");
            assert!(harness.counters().iter().all(|it| it.held == 0), "{:?}", harness.counters());
            assert_eq!(harness.nodes.each_ref().map(Node::pit_len), [0, 0]);
        }
    }
}

#[test]
fn eln_reports_nearly_every_loss() {
    for face in [value, wire] {
        let mut harness = Harness::new([face("wldr(mode=eln)"), face("wldr(mode=eln)")], 0.1);
        harness.ask(0, 1_000);
        harness.run();
        let missing: Vec<_> = (0..1_000).filter(|it| !harness.answered.contains(it)).collect();
        assert!((150..260).contains(&missing.len()), "{}", missing.len());
        let unreported = missing.iter().filter(|it| !harness.lost.contains(it)).count();
        // The notice that Data was lost may be lost, too.
        assert!(unreported < 30, "{unreported} of {}", missing.len());
        let wrong = harness.lost.iter().filter(|it| harness.answered.contains(it)).count();
        assert!(wrong < 5, "{wrong} came all the same");
    }
}

#[test]
fn fragments_are_recovered_one_by_one() {
    for recovery in ["wldr", "acked"] {
        let mut harness = Harness::new([wire(recovery), wire(recovery)], 0.05);
        harness.bytes = 8_000;
        harness.ask(0, 300);
        harness.run();
        assert!(harness.answered.len() >= 297, "{recovery}: {}", harness.answered.len());
        let [_, producer] = harness.counters();
        assert!(producer.labelled > 6 * 295 && producer.resent > 50, "{producer:?}");
    }
}

#[test]
fn without_recovery_frames_are_plain() {
    for face in [value, wire] {
        let mut harness = Harness::new([face("off"), face("off")], 0.1);
        harness.ask(0, 1_000);
        harness.run();
        assert!((740..880).contains(&harness.answered.len()), "{}", harness.answered.len());
        assert_eq!(harness.tagged, 0);
        assert!(harness.nodes[0].recovery(LINK).is_none());
    }
}

#[test]
fn neighbour_without_recovery_is_served() {
    for face in [value, wire] {
        for ends in [
            ["wldr", "off"],
            ["off", "wldr"],
            ["acked", "off"],
            ["off", "acked"],
            ["wldr", "acked"],
        ] {
            let mut harness = Harness::new(ends.map(face), 0.0);
            let count = if ends.contains(&"acked") { 200 } else { 6_000 };
            harness.answers_all(count, &ends);
            // An end that greets without answer stops numbering after a few seconds, and holds nothing.
            let [one, other] = harness.counters();
            let (numbered, held) = (one.labelled + other.labelled, one.held + other.held);
            assert!(ends.contains(&"acked") || numbered < 4_500, "{ends:?}: {numbered}");
            assert!(
                ends.contains(&"acked") || harness.tagged < 4_520,
                "{ends:?}: {}",
                harness.tagged
            );
            assert!(held == 0, "{ends:?}: {held} held");
        }
    }
}

#[test]
fn repair_takes_about_one_hop_round_trip() {
    let mut harness = Harness::new([value("wldr"), value("wldr")], 0.1);
    harness.ask(0, 1_000);
    harness.run();
    let slow = harness.round_trips.values().filter(|it| **it > Duration::from_millis(40)).count();
    // Losses twice in a row, or with a lost EWLN.
    assert!(slow < 120, "{slow}");
    assert!(harness.reductions > 50, "{}", harness.reductions);
}

#[test]
fn query_leaves_after_all_frames() {
    let mut harness = Harness::new([wire("wldr"), wire("wldr")], 0.0);
    harness.ask(1, 3);
    harness.run();
    harness.now += Duration::from_millis(1);
    for number in 1_000..1_200 {
        let input = harness.question(0, number);
        harness.nodes[0].handle(harness.now, input);
    }
    let mut lengths = Vec::new();
    while let Some(output) = harness.nodes[0].poll(harness.now) {
        if let Output::Send { face: LINK, frame } = output {
            lengths.push(frame.len());
        }
    }
    // Frames of one length are one batch of a socket.
    assert_eq!(lengths.len(), 201);
    assert!(lengths[..200].iter().all(|it| *it == lengths[0]) && lengths[200] != lengths[0]);
}

#[test]
fn losses_while_down_are_repaired_when_up() {
    let mut harness = Harness::new([value("wldr"), value("wldr")], 0.0);
    harness.ask(0, 300);
    // The consumer's face is down from 100 to 200 ms: packets in flight to it are lost.
    harness.at(Instant::from_millis(100), 0, Load::Up(false));
    harness.at(Instant::from_millis(200), 0, Load::Up(true));
    harness.run();
    // Interests without an uplink are lost; Interests in flight, and their Data, are not.
    let lost: Vec<_> = (0..300).filter(|it| !harness.answered.contains(it)).collect();
    assert!(lost.iter().all(|it| (100..=200).contains(it)), "{lost:?}");
    assert!(harness.counters()[1].resent > 0);
}

#[test]
fn auto_repairs_a_link_once_both_ends_agree() {
    for face in [value, wire] {
        let mut harness = Harness::new(["auto", "auto"].map(face), 0.1);
        harness.ask(0, 1_000);
        harness.run();
        // Before the ends agree, losses are final.
        assert!(harness.answered.len() >= 960, "{}", harness.answered.len());
        let late = |harness: &Harness| harness.answered.iter().filter(|it| **it >= 200).count();
        assert_eq!(late(&harness), 800, "{:?}", harness.counters());
        let states = [0, 1].map(|node| harness.nodes[node].link_recovery(LINK));
        assert_eq!(states, [Agreement::Agreed; 2]);
    }
}

#[test]
fn auto_sends_few_offers_without_answer() {
    for face in [value, wire] {
        for ends in [["auto", "off"], ["off", "auto"], ["auto", "acked"]] {
            let mut harness = Harness::new(ends.map(face), 0.0);
            let count = if ends.contains(&"acked") { 200 } else { 20_000 };
            harness.answers_all(count, &ends);
            // Only Interests leave by the first node.
            let offers = if ends[0] == "auto" && ends[1] == "off" { 8 } else { 0 };
            assert!(ends.contains(&"acked") || harness.tagged == offers, "{}", harness.tagged);
            let auto = usize::from(ends[1] == "auto");
            let it = harness.counters()[auto];
            assert_eq!((it.labelled, it.control, it.held), (0, 0, 0), "{ends:?}");
            let state = harness.nodes[auto].link_recovery(LINK);
            assert!(ends.contains(&"acked") || state == Agreement::Off, "{ends:?}: {state}");
        }
    }
}
