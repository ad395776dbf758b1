//! A node with hostile neighbours: its own frames with bytes changed, odd link headers, malformed commands.
use bytes::{Bytes, BytesMut};
use recoup_forwarder::face::{FaceAttributes, FaceId, Recovery};
use recoup_forwarder::management::{ManagementOptions, Notice};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{ControlParameters, Scope, Verb, command_interest};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};

const FACES: u32 = 4;
const MTU: usize = 1_400;
/// Frames of the node that are kept and replayed.
const KEPT: usize = 64;
/// Fields of the link header that Recoup uses (`docs/wire.md`), and an unknown one.
const FIELDS: [u64; 9] = [900, 904, 908, 912, 916, 920, 928, 932, 936];

/// A node and its neighbours.
struct Crowd {
    node: Node,
    now: Instant,
    rng: Rng,
    sent: Vec<Bytes>,
}

impl Crowd {
    fn new(seed: u64) -> Self {
        let options = NodeConfig {
            management: Some(ManagementOptions::default()),
            rng: Rng::from_seed(seed),
            ..NodeConfig::deterministic(0)
        }
        .with(|it| it.mobility = "mldr".parse().unwrap());
        let mut node = Node::new(options);
        node.handle(Instant::ZERO, Notice::TimeOfDay { micros: 1_800_000_000_000_000 }.into());
        let rng = Rng::from_seed(seed).substream("crowd");
        let mut crowd = Self { node, now: Instant::ZERO, rng, sent: Vec::new() };
        for face in 1..=FACES {
            crowd.up(FaceId(face));
            let way = RouteChange { prefix: Name::root(), face: FaceId(face), cost: Some(0) };
            crowd.node.handle(Instant::ZERO, Input::Route(way));
        }
        crowd
    }

    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n as u64) as usize
    }

    fn up(&mut self, face: FaceId) {
        let recovery: Recovery =
            ["off", "wldr", "acked", "wldr(mode=eln)"][face.0 as usize % 4].parse().unwrap();
        let (local, permanent) = (face.0 == FACES, face.0 < 3);
        let attributes = FaceAttributes { local, permanent, recovery, ..FaceAttributes::wire(MTU) };
        self.node.handle(self.now, Input::FaceUp { face, attributes });
    }

    fn name(&mut self) -> Name {
        let words = ["/a", "/a/b", "/b/32=x/50=%01", "/localhost/nfd/faces/list", "/localhop/x"];
        words[self.below(words.len())].parse().unwrap()
    }

    fn command(&mut self) -> Bytes {
        let verbs = [Verb::RibRegister, Verb::FaceUpdate, Verb::StrategySet, Verb::CsErase];
        let some = |rng: &mut Rng| (rng.below(2) == 0).then(|| rng.below(6));
        let parameters = ControlParameters {
            name: Some(self.name()),
            face_id: some(&mut self.rng),
            cost: some(&mut self.rng),
            flags: some(&mut self.rng),
            mask: some(&mut self.rng),
            count: some(&mut self.rng),
            ..ControlParameters::default()
        };
        let nonce = self.rng.next_u64().to_be_bytes();
        let elapsed = u64::try_from(self.now.since(Instant::ZERO).as_millis()).ok();
        let time = elapsed.map(|it| 1_800_000_000_000 + it);
        let unique = Uniqueness { nonce: Some(&nonce), time, seq_num: None };
        let verb = verbs[self.below(verbs.len())];
        let mut interest =
            command_interest(Scope::Localhost, verb, &parameters, &DigestSigner, unique);
        interest.nonce = Some(self.rng.next_u32());
        interest.to_bytes()
    }

    fn packet(&mut self) -> Bytes {
        let name = self.name();
        match self.below(4) {
            0 => DataBuilder::new(&name).build(&vec![7; self.below(3_000)], &DigestSigner).wire(),
            1 => self.command(),
            _ => {
                let mut interest = Interest::new(name);
                interest.nonce = Some(self.rng.below(8) as u32);
                interest.can_be_prefix = self.rng.below(2) == 0;
                interest.to_bytes()
            }
        }
    }

    fn header(&mut self) -> LpHeader {
        let some = |rng: &mut Rng, n| (rng.below(3) == 0).then(|| rng.below(n));
        let reasons = [NackReason::Mobility, NackReason::Loss, NackReason::NoRoute];
        let mut header = LpHeader {
            sequence: some(&mut self.rng, 20),
            frag_index: some(&mut self.rng, 4),
            frag_count: some(&mut self.rng, 4),
            nack: some(&mut self.rng, 3).map(|it| reasons[it as usize]),
            next_hop_face_id: some(&mut self.rng, 6),
            congestion_mark: some(&mut self.rng, 2),
            acks: (0..self.rng.below(4)).map(|_| self.rng.below(40)).collect(),
            tx_sequence: some(&mut self.rng, 40),
            ..LpHeader::default()
        };
        for _ in 0..self.below(3) {
            let value = (0..self.below(30)).map(|_| self.rng.next_u32() as u8).collect();
            header.ignorable.set(FIELDS[self.below(FIELDS.len())], value);
        }
        header
    }

    fn frame(&mut self) -> Bytes {
        let kept = self.sent.len();
        let frame = match self.below(3) {
            0 if kept > 0 => {
                let at = self.below(kept);
                self.sent[at].clone()
            }
            1 => self.packet(),
            _ => {
                let fragment = (self.below(4) > 0).then(|| self.packet());
                let mut out = BytesMut::new();
                LpPacket { header: self.header(), fragment }.encode(&mut out);
                out.freeze()
            }
        };
        let mut bytes = frame.to_vec();
        for _ in 0..self.below(3).saturating_sub(1) {
            let at = self.below(bytes.len());
            bytes[at] ^= 1 << self.below(8);
        }
        if self.below(20) == 0 {
            bytes.truncate(self.below(bytes.len()));
        }
        bytes.into()
    }

    fn step(&mut self) {
        let face = FaceId(self.below(FACES as usize + 1) as u32);
        match self.below(60) {
            0 => self.node.handle(self.now, Input::FaceDown { face }),
            1 if face.0 > 0 => self.up(face),
            2 => self.now += Duration::from_secs(2),
            _ => {
                let frame = self.frame();
                self.node.handle(self.now, Input::Frame { face, frame });
            }
        }
        self.now += Duration::from_micros(self.rng.below(5_000));
        while let Some(output) = self.node.poll(self.now) {
            if let Output::Send { frame, .. } = output {
                self.check_sent(frame.into_bytes());
            }
        }
    }

    /// Checks that frames of the node are valid and fit.
    fn check_sent(&mut self, frame: Bytes) {
        assert!(frame.len() <= MTU, "{} bytes", frame.len());
        LpPacket::decode(frame.clone()).unwrap();
        if self.sent.len() < KEPT {
            self.sent.push(frame);
        } else {
            let at = self.below(KEPT);
            self.sent[at] = frame;
        }
    }
}

#[test]
fn hostile_input_yields_valid_frames_and_consistent_counters() {
    for seed in 0..200 {
        let mut crowd = Crowd::new(seed);
        for _ in 0..400 {
            crowd.step();
        }
        for sums in (1..=FACES).filter_map(|face| crowd.node.recovery(FaceId(face))) {
            let accounted = sums.resent + sums.settled + sums.given_up + sums.expired + sums.held;
            assert_eq!(sums.labelled, accounted, "seed {seed}: {sums:?}");
        }
        crowd.now += Duration::from_secs(120);
        while crowd.node.poll(crowd.now).is_some() {}
        assert_eq!(crowd.node.pit_len(), 0, "seed {seed}: an Interest outlives its lifetime");
    }
}
