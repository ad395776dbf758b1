//! Cost of one exchange of an Interest and its Data in a node without sockets: decoding, tables, content store,
//! encoding.
//!
//! `cargo bench -p recoup-forwarder --bench exchange -- EXCHANGES`
//!
//! Frames arrive in batches of 256, as from a driver that finds many in a buffer. Data have 100 bytes of content and
//! are stored in a content store of 65,536 packets, which is full when counting begins. `cargo xtask bench instructions`
//! counts the instructions of `measured`; `units` are exchanges.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures time")]
use bytes::{Bytes, BytesMut};
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::limits::FaceLimits;
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::table::CsCapacity;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::DigestSigner;
use recoup_transport::time::{Duration, Instant};
use std::hint::black_box;

const BATCH: u64 = 256;
const STORE: u64 = 65_536;
const CONSUMER: FaceId = FaceId(1);
const PRODUCER: FaceId = FaceId(2);

fn node() -> Node {
    let limits = FaceLimits { fair: true, ..FaceLimits::default() };
    let options = NodeConfig { pit_limit: 1 << 20, limits, ..NodeConfig::deterministic(0) }
        .with(|it| it.cache = CsCapacity::Packets(STORE));
    let mut node = Node::new(options);
    for face in [CONSUMER, PRODUCER] {
        let attributes = FaceAttributes {
            permanent: face == PRODUCER,
            local: true,
            ..FaceAttributes::wire(8_800)
        };
        node.handle(Instant::ZERO, Input::FaceUp { face, attributes });
    }
    let prefix = "/bench".parse().expect("a name");
    let route = RouteChange { prefix, face: PRODUCER, cost: Some(1) };
    node.handle(Instant::ZERO, Input::Route(route));
    node
}

fn name(number: u64) -> Name {
    let components =
        [Component::generic(b"bench"), Component::generic(b"some"), Component::generic(b"name")];
    let number = number.to_be_bytes();
    components.into_iter().chain([Component::generic(&number)]).collect()
}

/// Frames of a batch in one buffer, as sockets deliver them.
fn frames(write: impl Fn(u64) -> Bytes, first: u64) -> Vec<Bytes> {
    let mut buffer = BytesMut::new();
    let ends: Vec<usize> = (first..first + BATCH)
        .map(|number| {
            buffer.extend_from_slice(&write(number));
            buffer.len()
        })
        .collect();
    let chunk = buffer.freeze();
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, end)| chunk.slice(start..*end)).collect()
}

fn interest(number: u64) -> Bytes {
    let mut interest = Interest::new(name(number));
    interest.nonce = Some(number as u32);
    interest.lifetime = Some(Duration::from_secs(4));
    interest.to_bytes()
}

fn data(number: u64) -> Bytes {
    DataBuilder::new(&name(number)).build(&[0; 100], &DigestSigner).wire()
}

/// As [`exchange`], where it counts.
#[inline(never)]
fn measured(node: &mut Node, now: Instant, face: FaceId, frames: Vec<Bytes>) -> u64 {
    exchange(node, now, face, frames)
}

/// Hands in a batch, takes out what follows.
fn exchange(node: &mut Node, now: Instant, face: FaceId, frames: Vec<Bytes>) -> u64 {
    for frame in frames {
        node.handle(now, Input::Frame { face, frame });
    }
    let mut sent = 0;
    while let Some(output) = node.poll(now) {
        sent += u64::from(matches!(black_box(output), Output::Send { .. }));
    }
    sent
}

/// Processor time of this thread, in nanoseconds.
fn cpu_nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("Linux counts it")
}

fn main() {
    let exchanges =
        std::env::args().skip(1).find_map(|it| it.parse().ok()).unwrap_or(1_000_000_u64);
    let (mut node, mut now) = (node(), Instant::from_millis(1));
    let (mut nanos, mut sent, mut counted) = (0, 0, 0);
    for first in (0..STORE + exchanges).step_by(BATCH as usize) {
        let (asked, answers) = (frames(interest, first), frames(data, first));
        let before = cpu_nanos();
        for (face, frames) in [(CONSUMER, asked), (PRODUCER, answers)] {
            let hand_in = if first < STORE { exchange } else { measured };
            sent += hand_in(&mut node, now, face, frames);
            now += Duration::from_micros(50);
        }
        if first >= STORE {
            nanos += cpu_nanos() - before;
            counted += BATCH;
        }
    }
    assert_eq!(sent, 2 * (counted + STORE), "every frame goes on");
    println!("{:.0} ns for each exchange", nanos as f64 / counted as f64);
    println!("units {counted}");
}
