//! What recovery costs two nodes on a link that loses nothing: frames of 1,200 octets of content, Interest one way, Data
//! the other, in batches of 32.
//!
//! `cargo run --release -p recoup-forwarder --example recovery_cost`
//!
//! Each line is the quickest of several rounds, in which the ways take turns.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures time")]
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeOptions;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use std::time::Instant as Clock;

const EDGE: FaceId = FaceId(1);
const LINK: FaceId = FaceId(2);
const PACKETS: usize = 64_000;
const BATCH: usize = 32;
const ROUNDS: usize = 9;

fn node(seed: u64, recovery: &str, toward: FaceId) -> Node {
    let options = NodeOptions { rng: Rng::from_seed(seed), ..NodeOptions::default() };
    let mut node = Node::with_options(options).expect("options that can be read");
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

/// Frames that leave a node by a face.
fn drain(node: &mut Node, now: Instant, face: FaceId, out: &mut Vec<Bytes>) {
    while let Some(output) = node.poll(now) {
        if let Output::Send { face: by, frame } = output
            && by == face
        {
            out.push(frame);
        }
    }
}

fn pass(node: &mut Node, now: Instant, by: FaceId, frames: &[Bytes], to: FaceId) -> Vec<Bytes> {
    let mut out = Vec::with_capacity(frames.len());
    for frame in frames {
        node.handle(now, Input::Frame { face: by, frame: frame.clone() });
        drain(node, now, to, &mut out);
    }
    out
}

/// Nanoseconds for each Interest and its Data, over both nodes and the link between.
fn round(recovery: &str, packets: &[(Bytes, Bytes)]) -> f64 {
    let (mut near, mut far) = (node(1, recovery, LINK), node(2, recovery, EDGE));
    let began = Clock::now();
    let mut delivered = 0;
    for (number, batch) in packets.chunks(BATCH).enumerate() {
        let now = Instant::from_nanos(number as u64 * 300_000);
        let interests: Vec<_> = batch.iter().map(|(interest, _)| interest.clone()).collect();
        let data: Vec<_> = batch.iter().map(|(_, data)| data.clone()).collect();
        let asked = pass(&mut near, now, EDGE, &interests, LINK);
        let _asked = pass(&mut far, now, LINK, &asked, EDGE);
        let mut back = Vec::new();
        drain(&mut far, now, LINK, &mut back);
        back.extend(pass(&mut far, now, EDGE, &data, LINK));
        delivered += pass(&mut near, now, LINK, &back, EDGE).len();
        let mut control = Vec::new();
        drain(&mut near, now, LINK, &mut control);
        pass(&mut far, now, LINK, &control, EDGE);
    }
    assert_eq!(delivered, packets.len());
    began.elapsed().as_nanos() as f64 / packets.len() as f64
}

fn main() {
    let content = vec![7; 1_200];
    let packets: Vec<_> = (0..PACKETS)
        .map(|number| {
            let name: Name = format!("/a/b/{number}").parse().expect("a name");
            let mut interest = Interest::new(name.clone());
            interest.nonce = Some(number as u32);
            let data = DataBuilder::new(&name).build(&content, &DigestSigner);
            (interest.to_bytes(), data.wire())
        })
        .collect();
    let ways = ["off", "wldr", "acked"];
    let mut best = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        for (way, best) in ways.iter().zip(&mut best) {
            *best = best.min(round(way, &packets));
        }
    }
    for (way, nanos) in ways.iter().zip(best) {
        println!("{way:6} {nanos:8.0} ns for an Interest and its Data, {:.3}", nanos / best[0]);
    }
}
