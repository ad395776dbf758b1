//! Cost of recovery for two nodes on a link without loss: frames of 1,200 bytes of content, Interests in one
//! direction, Data in the other, in batches of 32.
//!
//! `cargo bench -p recoup-forwarder --bench recovery -- [PACKETS] [off|wldr|acked]…`
//!
//! Each line is of one run, by the processor time of this thread (Linux), so that other load does not count.
//! `cargo xtask bench instructions` counts the instructions of `measured`; `units` are frames with a packet.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures time")]
use bytes::{Bytes, BytesMut};
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;

const EDGE: FaceId = FaceId(1);
const LINK: FaceId = FaceId(2);
const PACKETS: usize = 64_000;
const BATCH: usize = 32;
const WAYS: [&str; 3] = ["off", "wldr", "acked"];

fn node(seed: u64, recovery: &str, toward: FaceId) -> Node {
    let options = NodeConfig { rng: Rng::from_seed(seed), ..NodeConfig::deterministic(0) };
    let mut node = Node::new(options);
    for (face, recovery) in [(EDGE, "off"), (LINK, recovery)] {
        let recovery = recovery.parse().expect("a recovery");
        let attributes =
            FaceAttributes { recovery, permanent: true, ..FaceAttributes::wire(1_400) };
        node.handle(Instant::ZERO, Input::FaceUp { face, attributes });
    }
    let change = RouteChange { prefix: Name::root(), face: toward, cost: Some(0) };
    node.handle(Instant::ZERO, Input::Route(change));
    node
}

/// Frames one after the other in one buffer, as a socket takes and hands them out.
#[derive(Default)]
struct Batch {
    bytes: BytesMut,
    lengths: Vec<usize>,
}

impl Batch {
    fn of(frames: impl Iterator<Item = Bytes>) -> Self {
        let mut batch = Self::default();
        frames.for_each(|frame| batch.push(&[], &frame));
        batch
    }

    fn push(&mut self, head: &[u8], body: &[u8]) {
        if self.bytes.capacity() == 0 {
            self.bytes.reserve(65_536);
        }
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(body);
        self.lengths.push(head.len() + body.len());
    }

    /// The frames; they share the buffer.
    fn frames(self) -> impl Iterator<Item = Bytes> {
        let mut bytes = self.bytes.freeze();
        self.lengths.into_iter().map(move |length| bytes.split_to(length))
    }
}

/// Frames that leave a node, by either face.
#[derive(Default)]
struct Leaving {
    edge: Batch,
    link: Batch,
}

/// Passes frames of a face to a node, and collects its frames.
fn pass(node: &mut Node, now: Instant, by: FaceId, frames: Batch, out: &mut Leaving) {
    for frame in frames.frames() {
        node.handle(now, Input::Frame { face: by, frame });
        drain(node, now, out);
    }
    drain(node, now, out);
}

fn drain(node: &mut Node, now: Instant, out: &mut Leaving) {
    while let Some(output) = node.poll(now) {
        if let Output::Send { face, frame } = output {
            let batch = if face == LINK { &mut out.link } else { &mut out.edge };
            batch.push(frame.head(), frame.body());
        }
    }
}

/// Nanoseconds of processor time of this thread.
fn processor_nanos() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("a number")
}

/// Nanoseconds for each Interest and its Data, over both nodes and the link between.
#[inline(never)]
fn measured(recovery: &str, packets: &[(Bytes, Bytes)]) -> f64 {
    let (mut near, mut far) = (node(1, recovery, LINK), node(2, recovery, EDGE));
    let began = processor_nanos();
    let (mut delivered, mut toward_near) = (0, Batch::default());
    for (number, batch) in packets.chunks(BATCH).enumerate() {
        let now = Instant::from_nanos(number as u64 * 300_000);
        let [mut near_out, mut far_out] = [(); 2].map(|()| Leaving::default());
        far_out.link = std::mem::take(&mut toward_near);
        let interests = Batch::of(batch.iter().map(|(interest, _)| interest.clone()));
        pass(&mut near, now, EDGE, interests, &mut near_out);
        pass(&mut far, now, LINK, std::mem::take(&mut near_out.link), &mut far_out);
        let data = Batch::of(batch.iter().map(|(_, data)| data.clone()));
        pass(&mut far, now, EDGE, data, &mut far_out);
        pass(&mut near, now, LINK, std::mem::take(&mut far_out.link), &mut near_out);
        delivered += near_out.edge.lengths.len();
        pass(&mut far, now, LINK, near_out.link, &mut far_out);
        toward_near = far_out.link;
    }
    assert_eq!(delivered, packets.len());
    (processor_nanos() - began) / packets.len() as f64
}

fn main() {
    let content = vec![7; 1_200];
    let words: Vec<String> = std::env::args().skip(1).collect();
    let count = words.iter().find_map(|word| word.parse().ok()).unwrap_or(PACKETS);
    let named = |way: &&&str| words.iter().any(|word| word == **way);
    let is_named = WAYS.iter().any(|way| named(&way));
    let packets: Vec<_> = (0..count)
        .map(|number| {
            let name: Name = format!("/a/b/{number}").parse().expect("a name");
            let mut interest = Interest::new(name.clone());
            interest.nonce = Some(number as u32);
            let data = DataBuilder::new(&name).build(&content, &DigestSigner);
            (interest.to_bytes(), data.wire())
        })
        .collect();
    for way in WAYS.iter().filter(|way| !is_named || named(way)) {
        let nanos = measured(way, &packets);
        println!("{way:6} {nanos:8.0} ns for an Interest and its Data");
    }
    println!("units {}", 2 * count);
}
