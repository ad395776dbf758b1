//! One face that floods a node: the tables stay within their bounds, and others are served as before.
use bytes::Bytes;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{FaceAttributes, FaceId, FaceUse};
use recoup_forwarder::limits::FaceLimits;
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeOptions;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::DigestSigner;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

const PIT: usize = 1 << 12;
/// Names of the flood; as many as take about as long with a compiler that optimises and without.
const NAMES: u64 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
const FLOOD: FaceId = FaceId(1);
const HONEST: FaceId = FaceId(2);
const PRODUCER: FaceId = FaceId(3);

struct World {
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

impl World {
    /// Two on-demand faces that ask, and one behind which a producer answers what is below "/served".
    fn new(limits: FaceLimits) -> Self {
        let options = NodeOptions { pit_limit: PIT, limits, ..NodeOptions::deterministic(0) };
        let mut node = Node::with_options(options).unwrap();
        for face in [FLOOD, HONEST, PRODUCER] {
            let attributes =
                FaceAttributes { permanent: face == PRODUCER, ..FaceAttributes::wire(8_800) };
            node.handle(Instant::ZERO, Input::FaceUp { face, attributes });
        }
        let route = RouteChange { prefix: Name::root(), face: PRODUCER, cost: Some(0) };
        node.handle(Instant::ZERO, Input::Route(route));
        Self { node, now: Instant::from_millis(1), drops: BTreeMap::new() }
    }

    /// Hands a frame in; what leaves by each face.
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

    /// Asks for something that is there; whether the Data came.
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
fn a_flood_of_random_names_leaves_others_their_exchanges_and_the_table_its_bounds() {
    let mut world = World::new(FAIR);
    let (mut refused, mut forwarded, mut served) = (0, 0, 0);
    for number in 0..NAMES {
        let nonce = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17;
        match world.ask(FLOOD, name("flood", nonce), number).as_slice() {
            [(FLOOD, frame)] => {
                let header = LpPacket::decode(frame.clone()).unwrap().header;
                assert_eq!(header.nack, Some(NackReason::Congestion));
                refused += 1;
            }
            [(PRODUCER, _)] => forwarded += 1,
            other => panic!("{other:?}"),
        }
        assert!(world.node.slots(FLOOD) <= PIT / 2 && world.node.pit_len() <= PIT / 2 + 1);
        if number % 100 == 0 {
            served += u64::from(world.exchange(HONEST, number));
            world.wait(Duration::from_millis(1));
        }
    }
    assert_eq!(served, NAMES / 100, "everybody else is served");
    assert_eq!(refused, world.dropped(FLOOD, DropReason::TooManyPending));
    assert_eq!(refused + forwarded, NAMES);
    assert!(forwarded >= PIT as u64 / 4);
    world.wait(Duration::from_secs(10));
    assert_eq!((world.node.pit_len(), world.node.slots(FLOOD)), (0, 0));
}

#[test]
fn without_limits_the_flood_takes_everything() {
    let mut world = World::new(FaceLimits::default());
    (0..PIT as u64).for_each(|it| drop(world.ask(FLOOD, name("flood", it), it)));
    assert!(!world.exchange(HONEST, 1));
    assert_eq!(world.dropped(HONEST, DropReason::PitFull), 1);
}

#[test]
fn many_faces_that_flood_leave_room_for_one_that_does_not() {
    let mut world = World::new(FAIR);
    for face in 10..110 {
        let attributes = FaceAttributes::wire(8_800);
        world.node.handle(world.now, Input::FaceUp { face: FaceId(face), attributes });
        for number in 0..200 {
            world.ask(FaceId(face), name("flood", u64::from(face) << 32 | number), number);
        }
    }
    assert!((0..20).all(|number| world.exchange(HONEST, number)));
}

#[test]
fn long_interests_count_for_what_they_hold() {
    let mut world = World::new(FAIR);
    let long = |number: u64| name(&"x".repeat(8_000), number);
    (0..1_000).for_each(|it| drop(world.ask(FLOOD, long(it), it)));
    assert!(world.node.slots(FLOOD) <= PIT / 2);
    assert_eq!(world.node.pit_len(), world.node.slots(FLOOD) / 16);
    assert_eq!(
        world.dropped(FLOOD, DropReason::TooManyPending) as usize,
        1_000 - world.node.pit_len()
    );
}

#[test]
fn an_interest_that_is_repeated_takes_no_place_more() {
    let limits = FaceLimits { pending: Some(1), ..FaceLimits::default() };
    let mut world = World::new(limits);
    for nonce in 0..5 {
        world.ask(FLOOD, name("a", 1), nonce);
        world.wait(Duration::from_millis(500));
    }
    assert_eq!((world.node.slots(FLOOD), world.dropped(FLOOD, DropReason::TooManyPending)), (1, 0));
    world.ask(FLOOD, name("a", 2), 7);
    assert_eq!(world.dropped(FLOOD, DropReason::TooManyPending), 1);
    assert!(world.exchange(HONEST, 1), "each face has its own limit");
}

#[test]
fn who_asks_too_fast_is_told_so_and_others_are_not_slowed() {
    let limits = FaceLimits { rate: Some(1_000), ..FaceLimits::default() };
    let mut world = World::new(limits);
    (0..10_000).for_each(|it| drop(world.ask(FLOOD, name("flood", it), it)));
    assert_eq!(world.dropped(FLOOD, DropReason::TooFast), 10_000 - 101);
    assert!(world.exchange(HONEST, 1));
    world.wait(Duration::from_millis(50));
    (0..100).for_each(|it| drop(world.ask(FLOOD, name("again", it), it)));
    assert_eq!(world.dropped(FLOOD, DropReason::TooFast), 10_000 - 101 + 50);
}

#[test]
fn a_face_with_limits_of_its_own_keeps_to_them_and_others_to_the_nodes() {
    let mut world = World::new(FAIR);
    let of = |pending, rate| Some(FaceLimits { pending, rate, ..FAIR });
    let limit = |world: &mut World, limits| {
        let attributes = FaceAttributes { limits, ..FaceAttributes::wire(8_800) };
        world.node.handle(world.now, Input::FaceUp { face: FLOOD, attributes });
    };
    limit(&mut world, of(Some(7), None));
    (0..100).for_each(|it| drop(world.ask(FLOOD, name("flood", it), it)));
    assert_eq!(world.node.slots(FLOOD), 7);
    (0..100).for_each(|it| drop(world.ask(HONEST, name("other", it), it)));
    assert_eq!(world.node.slots(HONEST), 100);
    limit(&mut world, of(None, Some(1_000)));
    (100..400).for_each(|it| drop(world.ask(FLOOD, name("flood", it), it)));
    assert_eq!(world.dropped(FLOOD, DropReason::TooFast), 300 - 101);
    (0..300).for_each(|it| drop(world.ask(HONEST, name("more", it), it)));
    assert_eq!(world.dropped(HONEST, DropReason::TooFast), 0);
    limit(&mut world, None);
    (400..800).for_each(|it| drop(world.ask(FLOOD, name("flood", it), it)));
    assert_eq!(world.dropped(FLOOD, DropReason::TooFast), 300 - 101, "limits can be taken away");
}

#[test]
fn places_are_given_back_however_an_interest_ends() {
    let mut world = World::new(FAIR);
    // Refused by the producer, at the end of its lifetime, with its face, and by Data.
    let asked = world.ask(HONEST, name("a", 1), 1);
    let interest = Interest::decode(asked[0].1.clone()).unwrap();
    let mut nack = LpPacket { fragment: Some(interest.to_bytes()), ..LpPacket::default() };
    nack.header.nack = Some(NackReason::NoRoute);
    let mut frame = bytes::BytesMut::new();
    nack.encode(&mut frame);
    world.send(PRODUCER, frame.freeze());
    assert_eq!((world.node.slots(HONEST), world.node.pit_len()), (0, 0));
    world.ask(HONEST, name("b", 1), 2);
    world.ask(FLOOD, name("b", 1), 3);
    assert_eq!((world.node.slots(HONEST), world.node.slots(FLOOD)), (1, 1));
    world.node.handle(world.now, Input::FaceDown { face: FLOOD });
    world.settle();
    assert_eq!(world.dropped(FLOOD, DropReason::NoFace), 1);
    assert_eq!((world.node.slots(HONEST), world.node.pit_len()), (1, 1));
    world.wait(Duration::from_secs(5));
    assert_eq!((world.node.slots(HONEST), world.node.pit_len()), (0, 0));
    assert!(world.exchange(HONEST, 9));
    assert_eq!(world.node.slots(HONEST), 0);
}

/// Faces of which none was answered, each with as many pending Interests as it may have.
fn newcomers(world: &mut World, faces: std::ops::Range<u32>) {
    for face in faces {
        let attributes = FaceAttributes { provisional: true, ..FaceAttributes::wire(8_800) };
        world.node.handle(world.now, Input::FaceUp { face: FaceId(face), attributes });
        for number in 0..200 {
            world.ask(FaceId(face), name("flood", u64::from(face) << 32 | number), number);
        }
    }
}

#[test]
fn provisional_faces_share_an_eighth_of_the_table() {
    let mut world = World::new(FAIR);
    newcomers(&mut world, 10..1_010);
    let taken: usize = (10..1_010).map(|face| world.node.slots(FaceId(face))).sum();
    assert!(taken > PIT / 16 && taken <= PIT / 4, "{taken} of {PIT}");
    (0..1_000).for_each(|it| drop(world.ask(HONEST, name("other", it), it)));
    assert_eq!(world.node.slots(HONEST), 1_000);
}

#[test]
fn promoted_face_no_longer_counts_as_provisional() {
    let mut world = World::new(FAIR);
    newcomers(&mut world, 10..12);
    let before = world.node.slots(FaceId(10));
    let attributes = FaceAttributes::wire(8_800);
    world.node.handle(world.now, Input::FaceUp { face: FaceId(10), attributes });
    (0..500).for_each(|it| drop(world.ask(FaceId(10), name("more", it), it)));
    assert_eq!(world.node.slots(FaceId(10)), before + 500);
    // Its slots are free for others, and what it gives back is not counted twice.
    newcomers(&mut world, 12..13);
    assert!(world.node.slots(FaceId(12)) > 100, "{}", world.node.slots(FaceId(12)));
    for face in 10..13 {
        world.node.handle(world.now, Input::FaceDown { face: FaceId(face) });
        world.settle();
    }
    assert_eq!(world.node.pit_len(), 0);
    newcomers(&mut world, 13..14);
    assert!(world.node.slots(FaceId(13)) > 150, "{}", world.node.slots(FaceId(13)));
}

#[test]
fn provisional_face_may_have_one_incomplete_packet() {
    let mut world = World::new(FAIR);
    let attributes = FaceAttributes { provisional: true, ..FaceAttributes::wire(8_800) };
    let face = FaceId(10);
    world.node.handle(world.now, Input::FaceUp { face, attributes });
    let first_fragment = |sequence: u64| {
        let mut packet = LpPacket { fragment: Some(vec![7; 100].into()), ..LpPacket::default() };
        packet.header.sequence = Some(sequence);
        (packet.header.frag_index, packet.header.frag_count) = (Some(0), Some(2));
        let mut frame = bytes::BytesMut::new();
        packet.encode(&mut frame);
        frame.freeze()
    };
    (0..10).for_each(|number| drop(world.send(face, first_fragment(2 * number))));
    assert_eq!(world.dropped(face, DropReason::Fragment), 9);
    world.node.handle(world.now, Input::FaceUp { face, attributes: FaceAttributes::wire(8_800) });
    (10..17).for_each(|number| drop(world.send(face, first_fragment(2 * number))));
    assert_eq!(world.dropped(face, DropReason::Fragment), 9, "an answered one has space for eight");
}

#[test]
fn node_knows_how_a_face_is_used() {
    let mut world = World::new(FAIR);
    let used = |world: &World, face| {
        let FaceUse { routes, pending, answered } = world.node.face_use(face);
        [routes, pending, answered]
    };
    assert_eq!(used(&world, HONEST), [false; 3]);
    world.ask(HONEST, name("slow", 1), 1);
    assert_eq!(used(&world, HONEST), [false, true, false]);
    assert!(world.exchange(HONEST, 1));
    assert_eq!(used(&world, HONEST), [false, true, true]);
    world.wait(Duration::from_secs(10));
    assert_eq!(used(&world, HONEST), [false, false, true]);
    assert_eq!(used(&world, PRODUCER), [true, false, false]);
    assert_eq!(used(&world, FaceId(77)), [false; 3]);
}
