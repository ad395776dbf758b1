//! Two nodes over a link that loses frames: with recovery at both ends, at one end, and at none.
use bytes::Bytes;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{Agreement, FaceAttributes, FaceId, QueueLimit};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeOptions;
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

/// Where the test asks and answers.
const EDGE: FaceId = FaceId(1);
/// The link between the nodes.
const LINK: FaceId = FaceId(2);
const DELAY: Duration = Duration::from_millis(5);
const UNLIMITED: QueueLimit = QueueLimit { packets: None, octets: None };

/// What is on its way to a node.
enum Load {
    Frame(Bytes),
    Packet(Packet),
    Ready,
    Ask(u64),
    Up(bool),
}

/// A consumer's node (0), a producer's node (1), and the link between them.
struct World {
    nodes: [Node; 2],
    agenda: BTreeMap<(Instant, u64), (usize, Load)>,
    scheduled: u64,
    now: Instant,
    loss: f64,
    rng: Rng,
    bytes: usize,
    answered: Vec<u64>,
    repeated: u64,
    /// Frames on the link that bore a field of recovery.
    tagged: u64,
    round_trips: BTreeMap<u64, Duration>,
    reductions: u64,
    /// Interests that came back because a link had lost them or their Data.
    lost: Vec<u64>,
}

fn route(face: FaceId) -> Input {
    Input::Route(RouteChange { prefix: Name::root(), face, cost: Some(0) })
}

fn number(name: &Name) -> u64 {
    name.to_string().trim_start_matches('/').parse().unwrap()
}

impl World {
    fn new(link: [FaceAttributes; 2], loss: f64) -> Self {
        let node = |seed| {
            let options =
                NodeOptions { rng: Rng::from_seed(seed), ..NodeOptions::deterministic(0) };
            Node::with_options(options).unwrap()
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

    /// Asks for so many Data packets, one every millisecond, and waits for what comes.
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

    /// Somebody at a node asks for a packet.
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
            Output::Event(_) | Output::App { .. } | Output::Order(_) | Output::Worker { .. } => {}
        }
    }

    fn cross(&mut self, from: usize, load: Load) {
        if self.rng.unit_f64() >= self.loss {
            self.at(self.now + DELAY, 1 - from, load);
        }
    }

    /// A packet leaves the network: an Interest to the producer, Data to the consumer.
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
            // No way out while the link is down.
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
            let mut world = World::new([face(recovery), face(recovery)], 0.1);
            world.ask(0, 1_000);
            world.run();
            assert_eq!(
                sorted(world.answered.clone()),
                (0..1_000).collect::<Vec<_>>(),
                "{recovery}"
            );
            let resent: u64 = world.counters().iter().map(|it| it.resent).sum();
            // A lost acknowledgement has its frame sent again, too.
            let most = if recovery == "wldr" { 320 } else { 640 };
            assert!((180..most).contains(&resent), "{recovery}: {resent} of 2,000 frames");
            assert!(world.counters().iter().all(|it| it.held == 0), "{:?}", world.counters());
            assert_eq!(world.nodes.each_ref().map(Node::pit_len), [0, 0]);
        }
    }
}

#[test]
fn with_eln_the_consumer_is_told_of_nearly_every_packet_that_a_link_lost() {
    for face in [value, wire] {
        let mut world = World::new([face("wldr(mode=eln)"), face("wldr(mode=eln)")], 0.1);
        world.ask(0, 1_000);
        world.run();
        let missing: Vec<_> = (0..1_000).filter(|it| !world.answered.contains(it)).collect();
        assert!((150..260).contains(&missing.len()), "{}", missing.len());
        let untold = missing.iter().filter(|it| !world.lost.contains(it)).count();
        // The notice that Data was lost may be lost, too.
        assert!(untold < 30, "{untold} of {}", missing.len());
        let wrong = world.lost.iter().filter(|it| world.answered.contains(it)).count();
        assert!(wrong < 5, "{wrong} came all the same");
    }
}

#[test]
fn packets_longer_than_frames_are_recovered_piece_by_piece() {
    for recovery in ["wldr", "acked"] {
        let mut world = World::new([wire(recovery), wire(recovery)], 0.05);
        world.bytes = 8_000;
        world.ask(0, 300);
        world.run();
        assert!(world.answered.len() >= 297, "{recovery}: {}", world.answered.len());
        let [_, producer] = world.counters();
        assert!(producer.labelled > 6 * 295 && producer.resent > 50, "{producer:?}");
    }
}

#[test]
fn without_recovery_a_fifth_is_lost_and_nothing_is_written_on_frames() {
    for face in [value, wire] {
        let mut world = World::new([face("off"), face("off")], 0.1);
        world.ask(0, 1_000);
        world.run();
        assert!((740..880).contains(&world.answered.len()), "{}", world.answered.len());
        assert_eq!(world.tagged, 0);
        assert!(world.nodes[0].recovery(LINK).is_none());
    }
}

#[test]
fn next_to_a_neighbour_without_recovery_everything_works_as_before() {
    for face in [value, wire] {
        for ends in [
            ["wldr", "off"],
            ["off", "wldr"],
            ["acked", "off"],
            ["off", "acked"],
            ["wldr", "acked"],
        ] {
            let mut world = World::new(ends.map(face), 0.0);
            let count = if ends.contains(&"acked") { 200 } else { 6_000 };
            world.ask(0, count);
            world.run();
            assert_eq!(sorted(world.answered.clone()), (0..count).collect::<Vec<_>>(), "{ends:?}");
            // Who greets in vain numbers no more after a few seconds, and holds nothing.
            let [one, other] = world.counters();
            let (numbered, held) = (one.labelled + other.labelled, one.held + other.held);
            assert!(ends.contains(&"acked") || numbered < 4_500, "{ends:?}: {numbered}");
            assert!(ends.contains(&"acked") || world.tagged < 4_520, "{ends:?}: {}", world.tagged);
            assert!(held == 0, "{ends:?}: {held} held");
        }
    }
}

#[test]
fn a_loss_takes_little_longer_than_a_round_trip_of_the_hop_and_says_by_how_much() {
    let mut world = World::new([value("wldr"), value("wldr")], 0.1);
    world.ask(0, 1_000);
    world.run();
    let slow = world.round_trips.values().filter(|it| **it > Duration::from_millis(40)).count();
    // Twice lost in a row, or an EWLN lost too.
    assert!(slow < 120, "{slow}");
    assert!(world.reductions > 50, "{}", world.reductions);
}

#[test]
fn a_question_leaves_behind_all_frames_of_its_instant() {
    let mut world = World::new([wire("wldr"), wire("wldr")], 0.0);
    world.ask(1, 3);
    world.run();
    world.now += Duration::from_millis(1);
    for number in 1_000..1_200 {
        let input = world.question(0, number);
        world.nodes[0].handle(world.now, input);
    }
    let mut lengths = Vec::new();
    while let Some(output) = world.nodes[0].poll(world.now) {
        if let Output::Send { face: LINK, frame } = output {
            lengths.push(frame.len());
        }
    }
    // Frames of one length are one batch of a socket.
    assert_eq!(lengths.len(), 201);
    assert!(lengths[..200].iter().all(|it| *it == lengths[0]) && lengths[200] != lengths[0]);
}

#[test]
fn what_a_queue_of_this_machine_dropped_is_left_to_the_consumer() {
    let mut world = World::new([wire("wldr"), wire("wldr")], 0.0);
    world.ask(1, 3);
    world.run();
    world.now += Duration::from_millis(1);
    for number in 1_000..1_004 {
        let input = world.question(0, number);
        world.nodes[0].handle(world.now, input);
        while let Some(output) = world.nodes[0].poll(world.now) {
            match (number, output) {
                (1_000, Output::Send { frame, .. }) => {
                    let frame = frame.into_bytes();
                    world.nodes[0].handle(world.now, Input::Overflowed { face: LINK, frame });
                }
                // This one the link loses.
                (1_001, Output::Send { .. }) => {}
                (_, output) => world.carry_out(0, output),
            }
        }
    }
    world.run();
    world.answered.retain(|number| *number >= 1_000);
    world.answered.sort();
    assert_eq!(world.answered, [1_001, 1_002, 1_003]);
    let Counters { resent, given_up, .. } = world.counters()[0];
    assert_eq!((resent, given_up), (1, 1));
}

#[test]
fn what_is_lost_while_a_face_is_down_is_sent_again_when_it_is_up() {
    let mut world = World::new([value("wldr"), value("wldr")], 0.0);
    world.ask(0, 300);
    // The consumer's face is down from 100 to 200 ms: what is on its way to it is lost.
    world.at(Instant::from_millis(100), 0, Load::Up(false));
    world.at(Instant::from_millis(200), 0, Load::Up(true));
    world.run();
    // Interests that had no way out are lost; those that were on their way, and their Data, are not.
    let lost: Vec<_> = (0..300).filter(|it| !world.answered.contains(it)).collect();
    assert!(lost.iter().all(|it| (100..=200).contains(it)), "{lost:?}");
    assert!(world.counters()[1].resent > 0);
}

#[test]
fn what_the_network_doubles_goes_no_further_than_the_link() {
    let mut world = World::new([wire("wldr"), wire("wldr")], 0.0);
    world.ask(0, 10);
    world.run();
    let before = world.repeated;
    // Frames that bear numbers, told twice.
    world.ask(1_000, 1);
    let mut seen = Vec::new();
    while let Some(((at, _), (node, load))) = world.agenda.pop_first() {
        world.now = at;
        if let Load::Frame(frame) = &load {
            seen.push((node, frame.clone()));
            world.nodes[node].handle(at, Input::Frame { face: LINK, frame: frame.clone() });
        }
        world.deliver(node, load);
        if seen.len() > 4 {
            break;
        }
    }
    assert!(world.repeated >= before + 2, "{}", world.repeated);
    assert_eq!(world.answered.iter().filter(|it| **it == 1_000).count(), 1);
}

#[test]
fn auto_repairs_a_link_once_both_ends_agree() {
    for face in [value, wire] {
        let mut world = World::new(["auto", "auto"].map(face), 0.1);
        world.ask(0, 1_000);
        world.run();
        // Until the ends agree, what is lost is lost.
        assert!(world.answered.len() >= 960, "{}", world.answered.len());
        let late = |world: &World| world.answered.iter().filter(|it| **it >= 200).count();
        assert_eq!(late(&world), 800, "{:?}", world.counters());
        let states = [0, 1].map(|node| world.nodes[node].link_recovery(LINK));
        assert_eq!(states, [Agreement::Agreed; 2]);
    }
}

#[test]
fn auto_next_to_a_peer_without_recovery_writes_a_few_offers() {
    for face in [value, wire] {
        for ends in [["auto", "off"], ["off", "auto"], ["auto", "acked"]] {
            let mut world = World::new(ends.map(face), 0.0);
            let count = if ends.contains(&"acked") { 200 } else { 20_000 };
            world.ask(0, count);
            world.run();
            assert_eq!(sorted(world.answered.clone()), (0..count).collect::<Vec<_>>(), "{ends:?}");
            // Only Interests leave by the first node.
            let offers = if ends[0] == "auto" && ends[1] == "off" { 8 } else { 0 };
            assert!(ends.contains(&"acked") || world.tagged == offers, "{}", world.tagged);
            let auto = usize::from(ends[1] == "auto");
            let it = world.counters()[auto];
            assert_eq!((it.labelled, it.control, it.held), (0, 0, 0), "{ends:?}");
            let state = world.nodes[auto].link_recovery(LINK);
            assert!(ends.contains(&"acked") || state == Agreement::Off, "{ends:?}: {state}");
        }
    }
}

#[test]
fn interest_that_fills_its_frame_carries_no_offer() {
    let mut world = World::new([wire("auto"), wire("auto")], 0.0);
    let name = format!("/{}", "a".repeat(1_400 - 40));
    let mut interest = Interest::new(name.parse().unwrap());
    interest.nonce = Some(1);
    let packet = Packet::interest(Arc::new(interest), world.nodes[0].hasher());
    world.nodes[0].handle(Instant::ZERO, Input::Packet { face: EDGE, packet });
    let mut frames = Vec::new();
    while let Some(output) = world.nodes[0].poll(Instant::ZERO) {
        if let Output::Send { face: LINK, frame } = output {
            frames.push(frame.into_bytes());
        }
    }
    let [frame] = &frames[..] else { panic!("it was cut: {}", frames.len()) };
    assert!(frame.len() > 1_340 && LpPacket::is_bare(frame), "{}", frame.len());
}
