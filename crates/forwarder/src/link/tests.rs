//! Links alone, from packets to the node's outputs.
use super::recovery::POOL_BYTES;
use super::*;
use crate::face::FaceAttributes;
use crate::face::QueueLimit;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::signature::DigestSigner;
use recoup_transport::link::Recovery;
use recoup_transport::queue::{Capacity, Discipline, Scheduling};
use std::sync::Arc;

const FACE: FaceId = FaceId(1);
const OTHER: FaceId = FaceId(2);

struct Bench {
    links: Links,
    out: Outbox<()>,
    now: Instant,
}

fn packet(number: u8) -> Packet {
    let name = format!("/{number}").parse().unwrap();
    Packet::interest(Arc::new(Interest::new(name)), &NameHasher::new(1))
}

fn queue(packets: u64) -> FaceAttributes {
    FaceAttributes::value(QueueLimit { packets: Some(packets), bytes: None })
}

impl Bench {
    fn new() -> Self {
        Self::with_seed(1)
    }

    fn with_seed(seed: u64) -> Self {
        let links = Links::new(NameHasher::new(1), Rng::from_seed(seed), None);
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

    fn ready(&mut self) -> Vec<String> {
        self.links.ready(self.now, FACE, &mut self.out);
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

    /// The frames that leave.
    fn frames(&mut self) -> Vec<Bytes> {
        let frame = |output| match output {
            Output::Send { frame, .. } => frame.into_bytes(),
            other => panic!("{other:?}"),
        };
        self.out.outputs.drain(..).map(frame).collect()
    }
}

#[test]
fn value_link_queues_packets_until_ready() {
    let mut bench = Bench::new();
    bench.up(FACE, &queue(2));
    assert_eq!(bench.send(FACE, packet(1)), ["/1"]);
    assert_eq!(bench.send(FACE, packet(2)), ["wants"]);
    assert_eq!(bench.send(FACE, packet(3)), [""; 0]);
    assert_eq!(bench.links.queue(FACE).unwrap().packets, 2);
    assert_eq!(bench.send(FACE, packet(4)), ["queue-full"]);
    assert_eq!(bench.ready(), ["/2", "wants"]);
    assert_eq!(bench.ready(), ["/3"]);
    assert_eq!(bench.ready(), [""; 0]);
    assert_eq!(bench.links.queue(FACE), Some(QueueState::default()));
    assert_eq!(bench.send(FACE, packet(5)), ["/5"]);
}

#[test]
fn value_link_is_ready_when_no_longer_busy() {
    let mut bench = Bench::new();
    bench.up(FACE, &queue(2));
    assert_eq!(bench.send(FACE, packet(1)), ["/1"]);
    bench.links.busy(FACE, Instant::from_millis(10));
    bench.now = Instant::from_millis(9);
    assert_eq!(bench.send(FACE, packet(2)), ["wants"]);
    bench.now = Instant::from_millis(10);
    assert_eq!(bench.send(FACE, packet(3)), [""; 0], "one is queued since 9");
    assert_eq!(
        (bench.ready(), bench.ready()),
        (vec!["/2".into(), "wants".into()], vec!["/3".into()])
    );
    bench.links.busy(FACE, Instant::from_millis(30));
    bench.now = Instant::from_millis(30);
    assert_eq!(bench.send(FACE, packet(4)), ["/4"]);
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

#[test]
fn packets_for_a_missing_face_are_dropped() {
    let mut bench = Bench::new();
    assert_eq!(bench.send(FACE, packet(1)), ["no-face"]);
    assert_eq!(bench.links.arrives(FACE, &Bytes::new()), Err(DropReason::NoFace));
    bench.up(FACE, &queue(1));
    assert_eq!(bench.links.arrives(FACE, &Bytes::new()), Err(DropReason::Malformed));
}

#[test]
fn fragments_are_put_together_and_expire() {
    let mut bench = Bench::new();
    bench.up(FACE, &FaceAttributes::wire(300));
    let long = Interest::new(format!("/{}", "a".repeat(700)).parse().unwrap());
    let packet = Packet::interest(Arc::new(long), &NameHasher::new(1));
    bench.links.transmit(bench.now, FACE, packet, &mut bench.out);
    let frames = bench.frames();
    assert!(frames.len() > 2 && frames.iter().all(|frame| frame.len() <= 300));
    let (last, first) = frames.split_last().unwrap();
    for frame in first {
        assert_eq!(bench.links.arrives(FACE, frame), Ok(false));
        let Received { whole, .. } = bench.links.receive(bench.now, FACE, 0, frame.clone());
        assert!(matches!(whole, Ok(None)), "{whole:?}");
        bench.links.settle_fragments(FACE, &mut bench.out);
    }
    let due = bench.links.deadline().unwrap();
    let whole = bench.links.receive(bench.now, FACE, 0, last.clone()).whole.unwrap().unwrap();
    assert_eq!(Interest::decode(whole.packet).unwrap().name.to_string().len(), 701);
    bench.links.settle_fragments(FACE, &mut bench.out);
    assert_eq!(bench.links.deadline(), None);
    // Once more without the last one.
    for frame in first {
        assert!(matches!(bench.links.receive(bench.now, FACE, 0, frame.clone()).whole, Ok(None)));
    }
    bench.links.settle_fragments(FACE, &mut bench.out);
    bench.now = due;
    assert_eq!(bench.links.fire(bench.now, &mut bench.out), Some(None));
    assert_eq!(bench.lines(), vec!["fragment"; first.len()]);
    assert_eq!(bench.links.fire(bench.now, &mut bench.out), None);
}

#[test]
fn scheduler_paces_interests_by_their_data() {
    let mut bench = Bench::new();
    let discipline: Discipline = "drr(load=1)".parse().unwrap();
    let capacity = Capacity::symmetric(1_000_000);
    bench.links.plan(bench.now, FACE, Scheduling { discipline, capacity }, &mut bench.out);
    bench.up(FACE, &FaceAttributes::wire(1_500));
    assert!(bench.links.schedules());
    let bytes = packet(1).bytes();
    for number in [1, 2] {
        let flow = (OTHER, 7);
        bench.links.schedule(bench.now, FACE, flow, packet(number), &mut bench.out);
    }
    assert_eq!(bench.lines(), [format!("{bytes} bytes")], "the second waits for its time");
    assert_eq!(bench.links.queue(FACE).unwrap().packets, 1);
    bench.now = bench.links.deadline().unwrap();
    assert_eq!(bench.links.fire(bench.now, &mut bench.out), Some(None));
    assert_eq!(bench.lines(), [format!("{bytes} bytes")]);
    let sent = bench.links.down(bench.now, FACE, true, &mut bench.out).unwrap();
    assert_eq!(sent.out_interests, 2);
    assert!(!bench.links.schedules());
}

#[test]
fn recovery_resends_lost_frames_alone() {
    let recovery: Recovery = "wldr".parse().unwrap();
    let attributes = FaceAttributes { recovery, permanent: true, ..FaceAttributes::wire(1_500) };
    let mut ends = [1, 2].map(Bench::with_seed);
    for end in &mut ends {
        end.up(FACE, &attributes);
        assert!(end.links.recovers(FACE));
    }
    let mut arrived = Vec::new();
    let mut lose = 0;
    for round in 0..200_u64 {
        let now = Instant::from_millis(round);
        for at in [0, 1] {
            let end = &mut ends[at];
            end.now = now;
            while let Some(fired) = end.links.fire(now, &mut end.out) {
                if let Some(face) = fired {
                    end.links.drain(now, face, &mut end.out);
                    end.links.settle(now, face, &mut end.out);
                }
            }
            end.links.drain(now, FACE, &mut end.out);
            end.links.settle(now, FACE, &mut end.out);
            if at == 0 && (20..30).contains(&round) {
                end.links.transmit(now, FACE, packet(round as u8), &mut end.out);
            }
            for frame in ends[at].frames() {
                // The frame of one packet is lost at its first transmission.
                if lose == 0 && frame.windows(2).any(|bytes| bytes == b"25") {
                    lose += 1;
                    continue;
                }
                let far = &mut ends[1 - at];
                let whole = far.links.receive(now, FACE, 0, frame).whole;
                if let Ok(Some(Whole { packet, .. })) = whole {
                    arrived.push(Interest::decode(packet).unwrap().name.to_string());
                }
            }
        }
    }
    arrived.sort_unstable();
    let all: Vec<String> = (20..30).map(|number| format!("/{number}")).collect();
    let counters = ends.map(|end| (end.links.recovery(FACE), end.links.agreement(FACE)));
    assert_eq!((lose, arrived), (1, all), "{counters:?}");
    assert_eq!(counters[0].0.unwrap().resent, 1);
    assert_eq!(counters[0].1, Agreement::Agreed);
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
