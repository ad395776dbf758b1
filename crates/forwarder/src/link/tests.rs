//! Links alone, from packets to the node's outputs.
use super::recovery::POOL_BYTES;
use super::*;
use crate::face::{FaceAttributes, QueueLimit};
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::signature::DigestSigner;
use recoup_transport::link::Recovery;
use std::sync::Arc;

const FACE: FaceId = FaceId(1);

struct Bench {
    links: Links,
    out: Outbox<()>,
    now: Instant,
}

fn packet(number: u8) -> Packet {
    let name = format!("/{number}").parse().unwrap();
    Packet::interest(Arc::new(Interest::new(name)), &NameHasher::new(1))
}

impl Bench {
    fn new() -> Self {
        let links = Links::new(NameHasher::new(1), Rng::from_seed(1), None);
        Self { links, out: Outbox::new(()), now: Instant::ZERO }
    }

    fn up(&mut self, face: FaceId, attributes: &FaceAttributes) {
        self.links.up(face, attributes);
        self.links.open(self.now, face, attributes, &mut self.out);
    }

    fn send(&mut self, face: FaceId, packet: Packet) -> Vec<String> {
        self.links.transmit(self.now, face, packet, &mut self.out);
        self.lines()
    }

    fn lines(&mut self) -> Vec<String> {
        let line = |output| match output {
            Output::Transmit { packet, .. } => packet.name().to_string(),
            Output::Send { frame, .. } => format!("{} bytes", frame.len()),
            Output::Wants { .. } => "wants".to_owned(),
            Output::Dropped { reason, .. } => reason.to_string(),
            other => panic!("{other:?}"),
        };
        self.out.outputs.drain(..).map(line).collect()
    }
}

#[test]
fn queue_limit_in_bytes_counts_whole_packets() {
    let bytes = packet(1).bytes() as u64;
    let limit = QueueLimit { packets: None, bytes: Some(2 * bytes) };
    let mut bench = Bench::new();
    bench.up(FACE, &FaceAttributes::value(limit));
    let mut sent = |_| bench.send(FACE, packet(1)).last().cloned().unwrap_or_default();
    assert_eq!([0; 4].map(&mut sent), ["/1", "wants", "", "queue-full"]);
    assert_eq!(bench.links.queue(FACE).unwrap().bytes, 2 * bytes);
}

/// A bench whose peers 1 to `peers` opened faces, and the Data for them.
fn crowd(peers: u32) -> (Bench, Packet) {
    let recovery: Recovery = "acked".parse().unwrap();
    let attributes = FaceAttributes { recovery, ..FaceAttributes::wire(9_000) };
    let mut bench = Bench::new();
    (1..=peers).for_each(|peer| bench.up(FaceId(peer), &attributes));
    let data = DataBuilder::new(&"/data".parse().unwrap()).build(&[0; 8_000], &DigestSigner);
    (bench, Packet::data(data, &NameHasher::new(1)))
}

#[test]
fn peers_share_the_memory_of_held_frames() {
    let (mut bench, data) = crowd(500);
    for _ in 0..10 {
        for peer in 1..=500 {
            bench.send(FaceId(peer), data.clone());
            let held = bench.links.recovered().unwrap().held_bytes;
            assert!(held <= POOL_BYTES, "{held}");
        }
    }
    let all = bench.links.recovered().unwrap();
    assert!(all.held_bytes > POOL_BYTES / 2, "{all:?}");
    assert_eq!(all.labelled, all.expired + all.held);
    for peer in 1..=500 {
        bench.links.down(bench.now, FaceId(peer), false, &mut bench.out);
    }
    assert_eq!(bench.links.recovered().unwrap().held_bytes, 0);
    assert!(!bench.links.recoveries.are_full());
}

#[test]
fn greedy_peer_takes_no_memory_of_others() {
    let (mut bench, data) = crowd(20);
    for peer in 2..=20 {
        (0..4).for_each(|_| drop(bench.send(FaceId(peer), data.clone())));
    }
    for _ in 0..4_000 {
        bench.send(FACE, data.clone());
    }
    // The others have sent nothing meanwhile.
    let held = |peer| bench.links.recovery(FaceId(peer)).unwrap().held;
    assert!((2..=20).all(|peer| held(peer) == 4));
    assert!(held(1) > 300, "{}", held(1));
}

#[test]
fn single_peer_has_all_memory_of_held_frames() {
    let (mut bench, data) = crowd(2);
    for _ in 0..2_000 {
        bench.send(FACE, data.clone());
    }
    let held = bench.links.recovery(FACE).unwrap().held_bytes;
    assert!((POOL_BYTES / 3..=POOL_BYTES).contains(&held), "{held}");
}
