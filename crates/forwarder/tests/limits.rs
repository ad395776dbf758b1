//! A face that floods a node: the tables stay within their limits, and other faces are served as before.
use bytes::Bytes;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{FaceAttributes, FaceId, FaceUse};
use recoup_forwarder::limits::FaceLimits;
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::DigestSigner;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

const PIT: usize = 1 << 12;
/// Names of the flood; both numbers take about equally long.
const NAMES: u64 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
const FLOOD: FaceId = FaceId(1);
const HONEST: FaceId = FaceId(2);
const PRODUCER: FaceId = FaceId(3);

struct Harness {
    node: Node,
    now: Instant,
    drops: BTreeMap<(FaceId, DropReason), u64>,
}

fn name(prefix: &str, number: u64) -> Name {
    let number = number.to_be_bytes();
    [Component::generic(prefix.as_bytes()), Component::generic(&number)].into_iter().collect()
}

fn interest(name: Name, nonce: u64) -> Interest {
    let mut interest = Interest::new(name);
    interest.nonce = Some(nonce as u32);
    interest
}

impl Harness {
    /// Two on-demand faces with consumers, and one with a producer of the names below "/served".
    fn new(limits: FaceLimits) -> Self {
        let options = NodeConfig { pit_limit: PIT, limits, ..NodeConfig::deterministic(0) };
        let mut node = Node::new(options);
        for face in [FLOOD, HONEST, PRODUCER] {
            let attributes =
                FaceAttributes { permanent: face == PRODUCER, ..FaceAttributes::wire(8_800) };
            node.handle(Instant::ZERO, Input::FaceUp { face, attributes });
        }
        let route = RouteChange { prefix: Name::root(), face: PRODUCER, cost: Some(0) };
        node.handle(Instant::ZERO, Input::Route(route));
        Self { node, now: Instant::from_millis(1), drops: BTreeMap::new() }
    }

    /// Receives a frame; returns the frames sent by each face.
    fn send(&mut self, face: FaceId, frame: Bytes) -> Vec<(FaceId, Bytes)> {
        self.node.handle(self.now, Input::Frame { face, frame });
        self.settle()
    }

    fn settle(&mut self) -> Vec<(FaceId, Bytes)> {
        let mut sent = Vec::new();
        while let Some(output) = self.node.poll(self.now) {
            match output {
                Output::Send { face, frame } => sent.push((face, frame.into_bytes())),
                Output::Dropped { face, reason, .. } => {
                    *self.drops.entry((face.unwrap(), reason)).or_default() += 1;
                }
                _ => {}
            }
        }
        sent
    }

    fn ask(&mut self, face: FaceId, name: Name, nonce: u64) -> Vec<(FaceId, Bytes)> {
        self.send(face, interest(name, nonce).to_bytes())
    }

    /// Requests an existing content; returns whether the Data arrived.
    fn exchange(&mut self, face: FaceId, number: u64) -> bool {
        let wanted = name("served", number);
        let asked = self.ask(face, wanted.clone(), number);
        if asked.first().is_none_or(|(to, _)| *to != PRODUCER) {
            return false;
        }
        let data = DataBuilder::new(&wanted).build(b"here", &DigestSigner).wire();
        self.send(PRODUCER, data.clone()) == [(face, data)]
    }

    fn dropped(&self, face: FaceId, reason: DropReason) -> u64 {
        self.drops.get(&(face, reason)).copied().unwrap_or_default()
    }

    fn wait(&mut self, duration: Duration) {
        let until = self.now + duration;
        while let Some(at) = self.node.deadline().filter(|at| *at <= until) {
            self.now = at;
            self.settle();
        }
        self.now = until;
    }
}

const FAIR: FaceLimits = FaceLimits { pending: None, fair: true, rate: None };

#[test]
fn flood_of_names_does_not_harm_other_faces() {
    let mut harness = Harness::new(FAIR);
    let (mut nacked, mut forwarded, mut served) = (0, 0, 0);
    for number in 0..NAMES {
        let nonce = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17;
        match harness.ask(FLOOD, name("flood", nonce), number).as_slice() {
            [(FLOOD, frame)] => {
                let header = LpPacket::decode(frame.clone()).unwrap().header;
                assert_eq!(header.nack, Some(NackReason::Congestion));
                nacked += 1;
            }
            [(PRODUCER, _)] => forwarded += 1,
            other => panic!("{other:?}"),
        }
        assert!(harness.node.slots(FLOOD) <= PIT / 2 && harness.node.pit_len() <= PIT / 2 + 1);
        if number % 100 == 0 {
            served += u64::from(harness.exchange(HONEST, number));
            harness.wait(Duration::from_millis(1));
        }
    }
    assert_eq!(served, NAMES / 100, "everybody else is served");
    assert_eq!(nacked, harness.dropped(FLOOD, DropReason::TooManyPending));
    assert_eq!(nacked + forwarded, NAMES);
    assert!(forwarded >= PIT as u64 / 4);
    harness.wait(Duration::from_secs(10));
    assert_eq!((harness.node.pit_len(), harness.node.slots(FLOOD)), (0, 0));
}

#[test]
fn without_limits_the_flood_takes_everything() {
    let mut harness = Harness::new(FaceLimits::default());
    (0..PIT as u64).for_each(|it| drop(harness.ask(FLOOD, name("flood", it), it)));
    assert!(!harness.exchange(HONEST, 1));
    assert_eq!(harness.dropped(HONEST, DropReason::PitFull), 1);
}

#[test]
fn long_interests_count_for_what_they_hold() {
    let mut harness = Harness::new(FAIR);
    let long = |number: u64| name(&"x".repeat(8_000), number);
    (0..1_000).for_each(|it| drop(harness.ask(FLOOD, long(it), it)));
    assert!(harness.node.slots(FLOOD) <= PIT / 2);
    assert_eq!(harness.node.pit_len(), harness.node.slots(FLOOD) / 16);
    assert_eq!(
        harness.dropped(FLOOD, DropReason::TooManyPending) as usize,
        1_000 - harness.node.pit_len()
    );
}

#[test]
fn retransmission_takes_no_further_slot() {
    let limits = FaceLimits { pending: Some(1), ..FaceLimits::default() };
    let mut harness = Harness::new(limits);
    for nonce in 0..5 {
        harness.ask(FLOOD, name("a", 1), nonce);
        harness.wait(Duration::from_millis(500));
    }
    assert_eq!(
        (harness.node.slots(FLOOD), harness.dropped(FLOOD, DropReason::TooManyPending)),
        (1, 0)
    );
    harness.ask(FLOOD, name("a", 2), 7);
    assert_eq!(harness.dropped(FLOOD, DropReason::TooManyPending), 1);
    assert!(harness.exchange(HONEST, 1), "each face has its own limit");
}

#[test]
fn interests_above_the_rate_get_a_nack() {
    let limits = FaceLimits { rate: Some(1_000), ..FaceLimits::default() };
    let mut harness = Harness::new(limits);
    (0..10_000).for_each(|it| drop(harness.ask(FLOOD, name("flood", it), it)));
    assert_eq!(harness.dropped(FLOOD, DropReason::TooFast), 10_000 - 101);
    assert!(harness.exchange(HONEST, 1));
    harness.wait(Duration::from_millis(50));
    (0..100).for_each(|it| drop(harness.ask(FLOOD, name("again", it), it)));
    assert_eq!(harness.dropped(FLOOD, DropReason::TooFast), 10_000 - 101 + 50);
}

#[test]
fn limits_of_a_face_override_the_defaults() {
    let mut harness = Harness::new(FAIR);
    let of = |pending, rate| Some(FaceLimits { pending, rate, ..FAIR });
    let limit = |harness: &mut Harness, limits| {
        let attributes = FaceAttributes { limits, ..FaceAttributes::wire(8_800) };
        harness.node.handle(harness.now, Input::FaceUp { face: FLOOD, attributes });
    };
    limit(&mut harness, of(Some(7), None));
    (0..100).for_each(|it| drop(harness.ask(FLOOD, name("flood", it), it)));
    assert_eq!(harness.node.slots(FLOOD), 7);
    (0..100).for_each(|it| drop(harness.ask(HONEST, name("other", it), it)));
    assert_eq!(harness.node.slots(HONEST), 100);
    limit(&mut harness, of(None, Some(1_000)));
    (100..400).for_each(|it| drop(harness.ask(FLOOD, name("flood", it), it)));
    assert_eq!(harness.dropped(FLOOD, DropReason::TooFast), 300 - 101);
    (0..300).for_each(|it| drop(harness.ask(HONEST, name("more", it), it)));
    assert_eq!(harness.dropped(HONEST, DropReason::TooFast), 0);
    limit(&mut harness, None);
    (400..800).for_each(|it| drop(harness.ask(FLOOD, name("flood", it), it)));
    assert_eq!(harness.dropped(FLOOD, DropReason::TooFast), 300 - 101, "limits can be taken away");
}

#[test]
fn slots_are_freed_however_an_interest_ends() {
    let mut harness = Harness::new(FAIR);
    // With a Nack of the producer, at the end of its lifetime, with its face, and with Data.
    let asked = harness.ask(HONEST, name("a", 1), 1);
    let interest = Interest::decode(asked[0].1.clone()).unwrap();
    let mut nack = LpPacket { fragment: Some(interest.to_bytes()), ..LpPacket::default() };
    nack.header.nack = Some(NackReason::NoRoute);
    let mut frame = bytes::BytesMut::new();
    nack.encode(&mut frame);
    harness.send(PRODUCER, frame.freeze());
    assert_eq!((harness.node.slots(HONEST), harness.node.pit_len()), (0, 0));
    harness.ask(HONEST, name("b", 1), 2);
    harness.ask(FLOOD, name("b", 1), 3);
    assert_eq!((harness.node.slots(HONEST), harness.node.slots(FLOOD)), (1, 1));
    harness.node.handle(harness.now, Input::FaceDown { face: FLOOD });
    harness.settle();
    assert_eq!(harness.dropped(FLOOD, DropReason::NoFace), 1);
    assert_eq!((harness.node.slots(HONEST), harness.node.pit_len()), (1, 1));
    harness.wait(Duration::from_secs(5));
    assert_eq!((harness.node.slots(HONEST), harness.node.pit_len()), (0, 0));
    assert!(harness.exchange(HONEST, 9));
    assert_eq!(harness.node.slots(HONEST), 0);
}

/// Provisional faces without answers, each with the allowed number of pending Interests.
fn newcomers(harness: &mut Harness, faces: std::ops::Range<u32>) {
    for face in faces {
        let attributes = FaceAttributes { provisional: true, ..FaceAttributes::wire(8_800) };
        harness.node.handle(harness.now, Input::FaceUp { face: FaceId(face), attributes });
        for number in 0..200 {
            harness.ask(FaceId(face), name("flood", u64::from(face) << 32 | number), number);
        }
    }
}

#[test]
fn provisional_faces_share_an_eighth_of_the_table() {
    let mut harness = Harness::new(FAIR);
    newcomers(&mut harness, 10..1_010);
    let taken: usize = (10..1_010).map(|face| harness.node.slots(FaceId(face))).sum();
    assert!(taken > PIT / 16 && taken <= PIT / 4, "{taken} of {PIT}");
    (0..1_000).for_each(|it| drop(harness.ask(HONEST, name("other", it), it)));
    assert_eq!(harness.node.slots(HONEST), 1_000);
}

#[test]
fn promoted_face_no_longer_counts_as_provisional() {
    let mut harness = Harness::new(FAIR);
    newcomers(&mut harness, 10..12);
    let before = harness.node.slots(FaceId(10));
    let attributes = FaceAttributes::wire(8_800);
    harness.node.handle(harness.now, Input::FaceUp { face: FaceId(10), attributes });
    (0..500).for_each(|it| drop(harness.ask(FaceId(10), name("more", it), it)));
    assert_eq!(harness.node.slots(FaceId(10)), before + 500);
    // Its slots are free for others, and freed slots are not counted twice.
    newcomers(&mut harness, 12..13);
    assert!(harness.node.slots(FaceId(12)) > 100, "{}", harness.node.slots(FaceId(12)));
    for face in 10..13 {
        harness.node.handle(harness.now, Input::FaceDown { face: FaceId(face) });
        harness.settle();
    }
    assert_eq!(harness.node.pit_len(), 0);
    newcomers(&mut harness, 13..14);
    assert!(harness.node.slots(FaceId(13)) > 150, "{}", harness.node.slots(FaceId(13)));
}

#[test]
fn provisional_face_may_have_one_incomplete_packet() {
    let mut harness = Harness::new(FAIR);
    let attributes = FaceAttributes { provisional: true, ..FaceAttributes::wire(8_800) };
    let face = FaceId(10);
    harness.node.handle(harness.now, Input::FaceUp { face, attributes });
    let first_fragment = |sequence: u64| {
        let mut packet = LpPacket { fragment: Some(vec![7; 100].into()), ..LpPacket::default() };
        packet.header.sequence = Some(sequence);
        (packet.header.frag_index, packet.header.frag_count) = (Some(0), Some(2));
        let mut frame = bytes::BytesMut::new();
        packet.encode(&mut frame);
        frame.freeze()
    };
    (0..10).for_each(|number| drop(harness.send(face, first_fragment(2 * number))));
    assert_eq!(harness.dropped(face, DropReason::Fragment), 9);
    harness
        .node
        .handle(harness.now, Input::FaceUp { face, attributes: FaceAttributes::wire(8_800) });
    (10..17).for_each(|number| drop(harness.send(face, first_fragment(2 * number))));
    assert_eq!(
        harness.dropped(face, DropReason::Fragment),
        9,
        "an answered one has space for eight"
    );
}

#[test]
fn node_knows_how_a_face_is_used() {
    let mut harness = Harness::new(FAIR);
    let used = |harness: &Harness, face| {
        let FaceUse { routes, pending, answered } = harness.node.face_use(face);
        [routes, pending, answered]
    };
    assert_eq!(used(&harness, HONEST), [false; 3]);
    harness.ask(HONEST, name("slow", 1), 1);
    assert_eq!(used(&harness, HONEST), [false, true, false]);
    assert!(harness.exchange(HONEST, 1));
    assert_eq!(used(&harness, HONEST), [false, true, true]);
    harness.wait(Duration::from_secs(10));
    assert_eq!(used(&harness, HONEST), [false, false, true]);
    assert_eq!(used(&harness, PRODUCER), [true, false, false]);
    assert_eq!(used(&harness, FaceId(77)), [false; 3]);
}
