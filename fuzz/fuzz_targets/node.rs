//! A forwarder with hostile neighbours, applications and operators: it sends valid frames within the MTU, its tables keep
//! their limits, it becomes idle, and commands without a key change nothing.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use recoup_forwarder::face::{FaceAttributes, FaceId, LinkType};
use recoup_forwarder::management::{
    FaceDescription, FaceOrder, ManagementOptions, Notice, OrderError,
};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::table::CsCapacity;
use recoup_fuzz::Script;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::lp::LpPacket;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{DigestSigner, HmacSigner, KeyLocator, PublicKey, Signer};
use recoup_packet::tlv::{self, Reader};
use recoup_transport::management::{AuthorityOptions, Persistency};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};

/// Faces that exist from the start; the last one leads to an application.
const FACES: u32 = 5;
const MTU: usize = 1_400;
/// Microseconds since 1970.
const NOON: u64 = 1_800_000_000_000_000;
const PENDING: usize = 40;
const KEPT: usize = 32;
/// Type of ControlParameters.
const PARAMETERS: u64 = 104;
const COMMANDS: [&str; 13] = [
    "rib/register",
    "rib/unregister",
    "rib/announce",
    "fib/add-nexthop",
    "fib/remove-nexthop",
    "faces/create",
    "faces/update",
    "faces/destroy",
    "strategy-choice/set",
    "strategy-choice/unset",
    "cs/config",
    "cs/erase",
    "cs/nothing",
];
const ERRORS: [OrderError; 6] = [
    OrderError::Malformed,
    OrderError::Unsupported,
    OrderError::TooMany,
    OrderError::Unreachable,
    OrderError::Gone,
    OrderError::Fixed,
];
const DATASETS: [&str; 9] = [
    "rib/list",
    "fib/list",
    "faces/list",
    "faces/query",
    "faces/channels",
    "faces/events",
    "strategy-choice/list",
    "cs/info",
    "status/general",
];

struct Harness {
    node: Node,
    now: Instant,
    /// Commands need a key.
    locked: bool,
    nonce: u64,
    next_face: u32,
    orders: Vec<FaceOrder>,
    sent: Vec<Bytes>,
}

fuzz_target!(|bytes: &[u8]| {
    let mut script = Script::new(bytes);
    let mut harness = Harness::new(script.below(2) == 1);
    while !script.is_over() {
        harness.step(&mut script);
    }
    harness.now += Duration::from_secs(2 * 24 * 3_600);
    harness.drain();
    assert_eq!(harness.node.pit_len(), 0, "an Interest outlives its lifetime");
});

impl Harness {
    fn new(locked: bool) -> Self {
        let keys = if locked { vec![PublicKey::from_hmac_secret(b"right")] } else { Vec::new() };
        let authority = AuthorityOptions { keys, ..AuthorityOptions::default() };
        let management = ManagementOptions { authority, ..ManagementOptions::default() };
        let options = NodeConfig {
            management: Some(management),
            pit_limit: PENDING,
            rng: Rng::from_seed(1),
            ..NodeConfig::deterministic(0)
        }
        .with(|it| {
            it.mobility = "mldr".parse().expect("a valid option");
            it.cache = CsCapacity::Both { packets: 20, bytes: 20_000 };
        });
        let node = Node::new(options);
        let (orders, sent) = (Vec::new(), Vec::new());
        let now = Instant::ZERO;
        let mut harness = Self { node, now, locked, nonce: 0, next_face: FACES + 1, orders, sent };
        harness.notice(Notice::TimeOfDay { micros: NOON });
        for face in 1..=FACES {
            harness.up(FaceId(face));
            harness.node.handle(now, Input::Route(route("/", FaceId(face))));
        }
        harness.drain();
        harness
    }

    fn notice(&mut self, notice: Notice) {
        self.node.handle(self.now, notice.into());
    }

    fn up(&mut self, face: FaceId) {
        let description = FaceDescription {
            uri: format!("udp4://192.0.2.{}:6363", face.0 % 250),
            local_uri: "udp4://192.0.2.250:6363".into(),
            persistency: Persistency::Persistent,
            local: face.0 == FACES,
            mtu: MTU as u64,
            marking: None,
            reliable: false,
            local_fields: false,
            link_type: LinkType::PointToPoint,
        };
        self.notice(Notice::FaceKnown { face, description });
        let links = ["off", "wldr(ring=16)", "acked(frames=16)", "wldr(mode=eln)", "off"];
        let recovery = links[face.0 as usize % 5].parse().expect("a valid recovery");
        let (local, permanent) = (face.0 == FACES, face.0 < 3);
        let attributes = FaceAttributes { local, permanent, recovery, ..FaceAttributes::wire(MTU) };
        self.node.handle(self.now, Input::FaceUp { face, attributes });
    }

    fn step(&mut self, script: &mut Script<'_>) {
        let face = FaceId(1 + script.below(FACES as usize) as u32);
        match script.below(12) {
            0 | 1 => self.frame(face, Bytes::copy_from_slice(script.bytes())),
            2..5 => self.command(script, FaceId(FACES)),
            5 => self.command(script, face),
            6 => self.dataset(script),
            7 => self.wrapped(script, face),
            8 if !self.sent.is_empty() => {
                let frame = self.sent[script.below(self.sent.len())].clone();
                self.frame(face, frame);
            }
            9 => self.order(script),
            10 => match script.below(3) {
                0 => self.node.handle(self.now, Input::FaceDown { face }),
                1 => self.notice(Notice::FaceGone { face }),
                _ => self.up(face),
            },
            _ => self.now += Duration::from_millis(script.number()),
        }
        self.drain();
    }

    fn frame(&mut self, face: FaceId, frame: Bytes) {
        self.node.handle(self.now, Input::Frame { face, frame });
    }

    /// A command with a digest, a signature of the right key or one of a wrong key.
    fn command(&mut self, script: &mut Script<'_>, face: FaceId) {
        let name = name(script, &COMMANDS);
        let mut bytes = BytesMut::new();
        match script.below(4) {
            0 => bytes.extend(script.bytes()),
            _ => tlv::put_tlv(&mut bytes, PARAMETERS, script.bytes()),
        }
        let name = name.append(Component::generic(&bytes));
        self.nonce += 1;
        let nonce = self.nonce.to_be_bytes();
        let millis = NOON / 1_000 + self.now.as_nanos() / 1_000_000 + script.number() % 8;
        let unique = Uniqueness { nonce: Some(&nonce), time: Some(millis), seq_num: None };
        let locator = KeyLocator::Name(b"\x08\x01k");
        let (signer, may): (Box<dyn Signer>, bool) = match script.below(3) {
            0 => (Box::new(DigestSigner), !self.locked),
            1 => (Box::new(HmacSigner::new(b"right", locator)), true),
            _ => (Box::new(HmacSigner::new(b"wrong", locator)), !self.locked),
        };
        let mut interest = Interest::new(name).sign(Bytes::new(), &*signer, unique);
        interest.nonce = Some(self.nonce as u32);
        let before = (!may).then(|| self.state());
        self.frame(face, interest.to_bytes());
        self.drain();
        if let Some(before) = before {
            assert_eq!(self.state(), before, "changed by a command without the key");
        }
    }

    /// The state that commands can change.
    fn state(&self) -> (String, usize) {
        (format!("{:?}", self.node.routes().collect::<Vec<_>>()), self.orders.len())
    }

    /// An Interest of the application for a dataset.
    fn dataset(&mut self, script: &mut Script<'_>) {
        let mut name = name(script, &DATASETS);
        if script.below(2) == 1 {
            name = name.append(Component::generic(script.bytes()));
        }
        self.nonce += 1;
        let mut interest = Interest::new(name);
        interest.can_be_prefix = script.below(2) == 0;
        interest.nonce = Some(self.nonce as u32);
        self.frame(FaceId(FACES), interest.to_bytes());
    }

    /// A packet behind any link header that can be read.
    fn wrapped(&mut self, script: &mut Script<'_>, face: FaceId) {
        let header = LpPacket::decode(Bytes::copy_from_slice(script.bytes()));
        let header = header.map(|frame| frame.header).unwrap_or_default();
        let fragment = Some(Bytes::copy_from_slice(script.bytes()));
        let mut out = BytesMut::new();
        LpPacket { header, fragment }.encode(&mut out);
        self.frame(face, out.freeze());
    }

    /// The owner of the node carries out an order, or rejects it.
    fn order(&mut self, script: &mut Script<'_>) {
        let error = script.one(&ERRORS);
        let accepts = script.below(2) == 0;
        let Some(order) = self.orders.pop() else {
            return;
        };
        let (ticket, face) = match order {
            FaceOrder::Create { ticket, .. } => (ticket, FaceId(self.next_face)),
            FaceOrder::Update { ticket, face, .. } => (ticket, face),
            FaceOrder::Destroy { face } => {
                self.node.handle(self.now, Input::FaceDown { face });
                return self.notice(Notice::FaceGone { face });
            }
        };
        let outcome = if accepts { Ok(face) } else { Err(error) };
        if accepts {
            self.next_face = (self.next_face + 1).min(40);
            self.up(face);
        }
        self.notice(Notice::FaceMade { ticket, outcome });
    }

    fn drain(&mut self) {
        for outputs in 0.. {
            assert!(outputs < 100_000, "a node that never becomes idle");
            match self.node.poll(self.now) {
                Some(Output::Send { frame, .. }) => self.on_sent(frame.into_bytes()),
                Some(Output::Order(order)) if self.orders.len() < 100 => self.orders.push(*order),
                Some(_) => {}
                None => break,
            }
        }
        let due = self.node.deadline();
        assert!(due.is_none_or(|due| due > self.now), "due {due:?} at {}", self.now);
        assert!(self.node.pit_len() <= PENDING && self.node.cs_len() <= 20);
    }

    fn on_sent(&mut self, frame: Bytes) {
        assert!(frame.len() <= MTU, "{} bytes", frame.len());
        LpPacket::decode(frame.clone()).expect("a node sends valid frames");
        assert!(Reader::new(&frame).read().is_ok());
        if self.sent.len() < KEPT {
            self.sent.push(frame);
        }
    }
}

fn route(prefix: &str, face: FaceId) -> RouteChange {
    RouteChange { prefix: prefix.parse().expect("a name"), face, cost: Some(0) }
}

fn name(script: &mut Script<'_>, words: &[&str]) -> Name {
    let scope = script.one(&["/localhost/nfd/", "/localhost/nfd/", "/localhop/nfd/"]);
    format!("{scope}{}", script.one(words)).parse().expect("a name")
}
