//! A forwarder of several workers behaves like one of a single worker.
use crate::several::{Several, data, interest};
use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{FaceAttributes, FaceId, Recovery};
use recoup_forwarder::limits::FaceLimits;
use recoup_forwarder::node::Input;
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::table::CsCapacity;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Component;
use recoup_transport::time::{Duration, Instant};

/// An event at a forwarder.
#[derive(Clone, Debug)]
enum Event {
    Ask { face: u32, name: usize, prefix: bool, fresh: bool, digest: bool, nonce: u32, token: bool },
    Answer { face: u32, name: usize },
    Nack { face: u32, name: usize, nonce: u32, reason: NackReason },
    Garbage { face: u32 },
    Down { face: u32 },
    Up { face: u32 },
    Pass { millis: u64 },
}

const FACES: std::ops::RangeInclusive<u32> = 1..=5;
const NAMES: [&str; 9] =
    ["/a", "/b", "/a/b", "/b/b", "/a/b/c", "/b/b/c", "/a/b/c/d", "/a/c", "/localhost/nfd/a"];

fn event() -> impl Strategy<Value = Event> {
    let reason = prop_oneof![Just(NackReason::Congestion), Just(NackReason::NoRoute)];
    let flags =
        (any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.2), any::<bool>());
    prop_oneof![
        8 => (FACES, 0..NAMES.len(), flags, 0..4_u32).prop_map(|(face, name, flags, nonce)| {
            let (prefix, fresh, digest, token) = flags;
            Event::Ask { face, name, prefix, fresh, digest, nonce, token }
        }),
        8 => (FACES, 0..NAMES.len()).prop_map(|(face, name)| Event::Answer { face, name }),
        3 => (FACES, 0..NAMES.len(), 0..4_u32, reason)
            .prop_map(|(face, name, nonce, reason)| Event::Nack { face, name, nonce, reason }),
        1 => FACES.prop_map(|face| Event::Garbage { face }),
        1 => FACES.prop_map(|face| Event::Down { face }),
        1 => FACES.prop_map(|face| Event::Up { face }),
        2 => (1..3_000_u64).prop_map(|millis| Event::Pass { millis }),
    ]
}

fn attributes(face: u32) -> FaceAttributes {
    // The first two are applications of this machine.
    FaceAttributes { local: face <= 2, permanent: face > 3, ..FaceAttributes::wire(8_800) }
}

fn in_frame(header: LpHeader, packet: Bytes) -> Bytes {
    let mut frame = BytesMut::new();
    LpPacket { header, fragment: Some(packet) }.encode(&mut frame);
    frame.freeze()
}

fn happen(to: &mut Several, event: &Event) -> Vec<(u32, Bytes)> {
    match *event {
        Event::Ask { face, name, prefix, fresh, digest, nonce, token } => {
            let mut asked = interest(NAMES[name], nonce);
            (asked.can_be_prefix, asked.must_be_fresh) = (prefix, fresh);
            if digest {
                let digest = data(NAMES[name]).implicit_digest();
                asked.name = asked.name.append(Component::new(1, &digest).unwrap());
            }
            let packet = asked.to_bytes();
            let pit_token = token.then(|| Bytes::from(vec![face as u8; 4]));
            match token {
                true => {
                    to.frame(face, in_frame(LpHeader { pit_token, ..Default::default() }, packet))
                }
                false => to.frame(face, packet),
            }
        }
        Event::Answer { face, name } => to.frame(face, data(NAMES[name]).wire()),
        Event::Nack { face, name, nonce, reason } => {
            let header = LpHeader { nack: Some(reason), ..Default::default() };
            to.frame(face, in_frame(header, interest(NAMES[name], nonce).to_bytes()))
        }
        Event::Garbage { face } => to.frame(face, Bytes::from_static(&[5, 3, 7, 1, 8])),
        Event::Down { face } => to.down(face),
        Event::Up { face } => to.up(face, attributes(face)),
        Event::Pass { millis } => {
            let end = to.now + Duration::from_millis(millis);
            to.pass(end)
        }
    }
}

fn forwarder(workers: u16, components: usize, seed: u64, strategy: &str) -> Several {
    let options = NodeConfig::deterministic(0).with(|it| it.strategy = strategy.parse().unwrap());
    let mut made = Several::new(workers, components, seed, &options);
    for face in FACES {
        made.up(face, attributes(face));
    }
    for (prefix, face, cost) in
        [("/", 4, 5), ("/", 5, 7), ("/a", 3, 1), ("/b", 2, 1), ("/a/b", 5, 0)]
    {
        made.route(prefix, face, cost);
    }
    made
}

proptest! {
    #[test]
    fn number_of_workers_is_not_observable(
        events in prop::collection::vec(event(), 1..60),
        (workers, components, seed) in (2..=4_u16, 1..=3_usize, any::<u64>()),
        strategy in prop_oneof![Just("best-route"), Just("multicast")],
    ) {
        let mut one = forwarder(1, components, seed, strategy);
        let mut several = forwarder(workers, components, seed, strategy);
        for (number, event) in events.iter().enumerate() {
            let (wanted, got) = (happen(&mut one, event), happen(&mut several, event));
            prop_assert_eq!(wanted, got, "what leaves after event {}: {:?}", number, event);
            prop_assert_eq!(one.dropped(), several.dropped(), "drops at event {}", number);
        }
        let mut all = recoup_forwarder::shard::Tally::default();
        several.nodes.iter().for_each(|node| all.add(&node.tally()));
        let alone = one.nodes[0].tally();
        prop_assert_eq!((all.pit, all.counters), (alone.pit, alone.counters));
        for face in FACES.filter(|face| one.nodes[0].tally().faces.contains_key(&FaceId(*face))) {
            let (got, wanted) = (&all.faces[&FaceId(face)], &alone.faces[&FaceId(face)]);
            if attributes(face).permanent {
                continue;
            }
            prop_assert_eq!(got.carried, wanted.carried, "what face {} carried", face);
        }
    }
}

#[test]
fn stored_data_answer_consumers_of_all_workers() {
    let config = NodeConfig::deterministic(0).with(|it| it.cache = CsCapacity::Packets(300));
    let mut several = Several::new(3, 2, 1, &config);
    for face in FACES {
        several.up(face, attributes(face));
    }
    several.route("/", 4, 0);
    let names: Vec<String> = (0..50).map(|number| format!("/a/{number}/c")).collect();
    for name in &names {
        assert_eq!(several.frame(1, interest(name, 1).to_bytes()).len(), 1);
        assert_eq!(several.frame(4, data(name).wire()), [(1, data(name).wire())]);
    }
    assert!(several.nodes.iter().all(|node| node.cs_len() > 5), "all have some");
    for (face, name) in
        [2, 3, 5].into_iter().flat_map(|face| names.iter().map(move |it| (face, it)))
    {
        let sent = several.frame(face, interest(name, 9 + face).to_bytes());
        assert_eq!(sent, [(face, data(name).wire())]);
    }
    // Data once requested by a short prefix is found by it again.
    for letter in 'p'..='w' {
        let mut short = interest(&format!("/{letter}"), 20);
        short.can_be_prefix = true;
        let answer = data(&format!("/{letter}/x/y")).wire();
        assert_eq!(several.frame(2, short.to_bytes()), [(4, short.to_bytes())]);
        assert_eq!(several.frame(4, answer.clone()), [(2, answer.clone())]);
        short.nonce = Some(21);
        assert_eq!(several.frame(2, short.to_bytes()), [(2, answer)]);
    }
    assert_eq!(several.dropped(), []);
}

#[test]
fn rate_limit_applies_at_the_faces_worker() {
    let limits = FaceLimits { rate: Some(1), ..FaceLimits::default() };
    for workers in [1, 3] {
        let mut several = Several::new(workers, 2, 1, &NodeConfig::deterministic(0));
        several.up(4, attributes(4));
        several.up(1, FaceAttributes { limits: Some(limits), ..attributes(1) });
        several.route("/", 4, 0);
        let mut left = 0;
        for nonce in 0..20 {
            let sent = several.frame(1, interest(&format!("/a/{nonce}"), nonce).to_bytes());
            left += sent.iter().filter(|(face, _)| *face == 4).count();
        }
        let fast = several.dropped().iter().filter(|it| **it == DropReason::TooFast).count();
        assert_eq!((left, fast), (2, 18), "{workers} workers");
    }
}

#[test]
fn slots_are_divided_among_workers() {
    let limits = FaceLimits { pending: Some(9), ..FaceLimits::default() };
    let mut several = Several::new(3, 2, 1, &NodeConfig { limits, ..NodeConfig::deterministic(0) });
    several.up(1, attributes(1));
    several.up(4, attributes(4));
    several.route("/", 4, 0);
    for nonce in 0..100 {
        several.frame(1, interest(&format!("/a/{nonce}"), nonce).to_bytes());
    }
    let slots: Vec<_> = several.nodes.iter().map(|node| node.slots(FaceId(1))).collect();
    assert_eq!(slots, [3, 3, 3]);
}

#[test]
fn interest_of_a_lost_face_is_rerouted() {
    let options = NodeConfig::deterministic(0).with(|it| it.mobility = "mldr".parse().unwrap());
    let mut several = Several::new(3, 2, 1, &options);
    for face in FACES {
        several.up(face, attributes(face));
    }
    several.route("/", 4, 0);
    several.route("/", 5, 1);
    let names: Vec<String> = (0..30).map(|number| format!("/a/{number}")).collect();
    for (nonce, name) in (1..).zip(&names) {
        let sent = several.frame(1, interest(name, nonce).to_bytes());
        assert_eq!(sent.iter().map(|(face, _)| *face).collect::<Vec<_>>(), [4]);
    }
    let sent = several.down(4);
    assert!(sent.len() == 30 && sent.iter().all(|(face, _)| *face == 5));
    for name in &names {
        let answered = several.frame(5, data(name).wire());
        assert_eq!(answered.iter().map(|(face, _)| *face).collect::<Vec<_>>(), [1]);
    }
}

#[test]
fn recovery_resends_packets_of_other_workers() {
    let recovery: Recovery = "acked".parse().unwrap();
    let mut several = Several::new(3, 2, 1, &NodeConfig::deterministic(0));
    several.up(1, attributes(1));
    several.up(4, FaceAttributes { recovery, ..attributes(4) });
    several.route("/", 4, 0);
    let mut sent = 0;
    for nonce in 0..20 {
        sent += several.frame(1, interest(&format!("/a/{nonce}"), nonce).to_bytes()).len();
    }
    // The frames are not acknowledged: each is resent once, by its own worker alone.
    let again = several.pass(Instant::from_millis(1_500)).len();
    assert!(sent >= 20 && again >= 20, "{sent} {again}");
    let home = several.home(4);
    let counters = several.nodes[home].recovery(FaceId(4)).unwrap();
    assert!(counters.labelled >= 40 && counters.resent >= 20, "{counters:?}");
}

#[test]
fn scheduler_serves_all_workers() {
    let options = NodeConfig {
        scheduling: Some(recoup_transport::queue::Scheduling {
            discipline: "max-min".parse().unwrap(),
            capacity: recoup_transport::queue::Capacity {
                sending_bits: Some(80_000),
                receiving_bits: Some(80_000),
                ..Default::default()
            },
        }),
        ..NodeConfig::deterministic(0)
    };
    let mut several = Several::new(3, 2, 1, &options);
    several.up(1, attributes(1));
    several.up(4, attributes(4));
    several.route("/", 1, 0);
    let mut left = 0;
    for nonce in 0..30 {
        let name = format!("/a/{nonce}");
        several.frame(4, interest(&name, nonce).to_bytes());
        left += several.frame(1, data(&name).wire()).len();
    }
    let home = several.home(4);
    let waiting = several.nodes[home].queue(FaceId(4)).unwrap().packets;
    assert!(left < 30 && left as u64 + waiting == 30, "{left} left, {waiting} wait");
    let end = several.now + Duration::from_secs(10);
    assert_eq!(several.pass(end).len() as u64, waiting);
    assert_eq!(several.feed(home, Input::FaceDown { face: FaceId(4) }), []);
}
