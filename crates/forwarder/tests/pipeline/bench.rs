//! One node for tests: inputs are calls, outputs are lines of text.
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId, QueueLimit};
use recoup_forwarder::hash::NameHasher;
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::observer::Recorder;
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::{Body, Extra, Packet};
use recoup_forwarder::table::CsCapacity;
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::signature::DigestSigner;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// A node with value faces 1, 2, … that are always ready.
pub(crate) struct Bench {
    pub(crate) node: Node<Recorder>,
    pub(crate) now: Instant,
}

pub(crate) const UNLIMITED: QueueLimit = QueueLimit { packets: None, bytes: None };

/// An Interest with a nonce and a lifetime of 4 s.
pub(crate) fn question(uri: &str, nonce: u32) -> Interest {
    let mut interest = Interest::new(uri.parse().unwrap());
    interest.nonce = Some(nonce);
    interest.lifetime = Some(Duration::from_secs(4));
    interest
}

/// An Interest with a change.
pub(crate) fn special(uri: &str, nonce: u32, change: impl FnOnce(&mut Interest)) -> Interest {
    let mut interest = question(uri, nonce);
    change(&mut interest);
    interest
}

pub(crate) fn answer(uri: &str) -> Data {
    answer_fresh_for(uri, 0)
}

pub(crate) fn answer_fresh_for(uri: &str, millis: u64) -> Data {
    let name = uri.parse().unwrap();
    DataBuilder::new(&name)
        .freshness(Duration::from_millis(millis))
        .build(b"content", &DigestSigner)
}

pub(crate) fn cached(packets: u64) -> NodeConfig {
    NodeConfig::deterministic(0).with(|it| it.cache = CsCapacity::Packets(packets))
}

/// Of a node with this strategy.
pub(crate) fn strategy(text: &str) -> NodeConfig {
    NodeConfig::deterministic(0).with(|it| it.strategy = text.parse().expect("a strategy"))
}

impl Bench {
    /// A node with faces 1 to `faces`, and a route of "/a" to face 2.
    pub(crate) fn new(faces: u32, options: NodeConfig) -> Self {
        Self::observed(faces, options, Recorder::default())
    }

    /// As [`new`](Self::new), with events among the lines.
    pub(crate) fn recording(faces: u32, options: NodeConfig) -> Self {
        Self::observed(faces, options, Recorder::new(true, None))
    }

    fn observed(faces: u32, options: NodeConfig, recorder: Recorder) -> Self {
        let node = Node::observed(options, recorder);
        let mut bench = Self { node, now: Instant::ZERO };
        for face in 1..=faces {
            bench.up(face, FaceAttributes::value(UNLIMITED));
        }
        bench.route("/a", 2, 1);
        bench
    }

    pub(crate) fn up(&mut self, face: u32, attributes: FaceAttributes) -> Vec<String> {
        self.feed(Input::FaceUp { face: FaceId(face), attributes })
    }

    pub(crate) fn route(&mut self, prefix: &str, face: u32, cost: u64) {
        let prefix = prefix.parse().unwrap();
        let change = RouteChange { prefix, face: FaceId(face), cost: Some(cost) };
        assert_eq!(self.feed(Input::Route(change)), [""; 0]);
    }

    /// Advances the time to `millis` after the start; returns the lines, with their time.
    pub(crate) fn pass(&mut self, millis: u64) -> Vec<String> {
        let (end, mut lines) = (Instant::from_millis(millis), Vec::new());
        while let Some(due) = self.node.deadline().filter(|due| *due <= end) {
            self.now = due;
            let at = due.as_nanos() / 1_000_000;
            lines.extend(self.drain().into_iter().map(|line| format!("{at} ms: {line}")));
        }
        self.now = end;
        lines
    }

    pub(crate) fn feed(&mut self, input: Input) -> Vec<String> {
        self.node.handle(self.now, input);
        self.drain()
    }

    pub(crate) fn interest(&mut self, face: u32, uri: &str, nonce: u32) -> Vec<String> {
        self.ask(face, question(uri, nonce), |_| {})
    }

    /// Receives an Interest by a face, with link fields.
    pub(crate) fn ask(
        &mut self,
        face: u32,
        interest: Interest,
        fields: impl FnOnce(&mut Extra),
    ) -> Vec<String> {
        let mut packet = Packet::interest(Arc::new(interest), self.node.hasher());
        fields(packet.hop.extra_mut());
        self.packet(face, packet)
    }

    pub(crate) fn data(&mut self, face: u32, uri: &str) -> Vec<String> {
        let packet = Packet::data(answer(uri), self.node.hasher());
        self.packet(face, packet)
    }

    pub(crate) fn nack(
        &mut self,
        face: u32,
        uri: &str,
        nonce: u32,
        reason: NackReason,
    ) -> Vec<String> {
        let interest = Arc::new(question(uri, nonce));
        let packet = Packet::nack(interest, reason, self.node.hasher());
        self.packet(face, packet)
    }

    pub(crate) fn packet(&mut self, face: u32, packet: Packet) -> Vec<String> {
        self.feed(Input::Packet { face: FaceId(face), packet })
    }

    pub(crate) fn hasher(&self) -> NameHasher {
        self.node.hasher().clone()
    }

    /// All outputs as lines; faces are always ready.
    pub(crate) fn drain(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(output) = self.node.poll(self.now) {
            match output {
                Output::Wants { face } => self.node.handle(self.now, Input::Ready { face }),
                output => lines.extend(describe(&output)),
            }
        }
        assert!(self.node.deadline().is_none_or(|deadline| deadline > self.now));
        lines
    }
}

/// An output as a line; nothing for reports of applications.
pub(crate) fn describe(output: &Output) -> Option<String> {
    Some(match output {
        Output::Transmit { face, packet } => format!("{} < {}", face.0, words(packet)),
        Output::Send { face, frame } => format!("{} < {} bytes", face.0, frame.len()),
        Output::Wants { face } => format!("{} wants", face.0),
        Output::Dropped { face, reason, .. } => match face.map(|face| (face.app(), face.0)) {
            Some((Some(app), _)) => format!("drop at app {}: {reason}", app.0),
            Some((None, face)) => format!("drop at {face}: {reason}"),
            None => format!("drop: {reason}"),
        },
        Output::Event(event) => format!("{event:?}"),
        Output::App { .. } | Output::Order(_) => return None,
    })
}

/// A packet as text: kind, name, and its fields of this hop.
fn words(packet: &Packet) -> String {
    let name = packet.name();
    let mut words = match &packet.body {
        Body::Interest(interest) => format!("interest {name} #{}", interest.nonce.unwrap()),
        Body::Data(_) => format!("data {name}"),
        Body::Nack(interest, reason) => {
            format!("nack {name} #{}: {reason}", interest.nonce.unwrap())
        }
        Body::Idle => "idle".to_owned(),
    };
    if let Some(limit) = packet.hop.hop_limit {
        words += &format!(" hops={limit}");
    }
    if packet.hop.congestion_mark > 0 {
        words += &format!(" mark={}", packet.hop.congestion_mark);
    }
    if let Some(extra) = &packet.hop.extra {
        if let Some(token) = &extra.pit_token {
            words += &format!(" token={}", String::from_utf8_lossy(token));
        }
        extra.carried.iter().for_each(|(typ, _)| words += &format!(" field={typ}"));
        extra.hop_local.iter().for_each(|(typ, _)| words += &format!(" hop-field={typ}"));
        if extra.no_cache {
            words += " no-cache";
        }
    }
    packet.trace().ids().iter().for_each(|id| words += &format!(" token-{id}"));
    words
}

pub(crate) fn token(text: &'static str) -> Option<Bytes> {
    Some(Bytes::from_static(text.as_bytes()))
}
