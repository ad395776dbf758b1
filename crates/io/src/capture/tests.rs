//! Captures, read back by a reader that is not ours.
use super::*;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::{Block, PcapNgReader};
use recoup_forwarder::face::FaceAttributes;
use recoup_forwarder::node::RouteChange;
use recoup_packet::interest::Interest;

const CONSUMER: FaceId = FaceId(300);
const PRODUCER: FaceId = FaceId(301);

/// A node between two faces.
fn capturer() -> Capturer {
    let mut capturer = Capturer::new(Node::deterministic(0));
    for face in [CONSUMER, PRODUCER] {
        let attributes = FaceAttributes::wire(8_000);
        capturer.handle(Instant::ZERO, Input::FaceUp { face, attributes });
    }
    let change = RouteChange { prefix: "/a".parse().unwrap(), face: PRODUCER, cost: Some(0) };
    capturer.handle(Instant::ZERO, Input::Route(change));
    while capturer.poll(Instant::ZERO).is_some() {}
    capturer
}

/// An Interest arrives and is sent on.
fn ask(capturer: &mut Capturer, millis: u64, number: u32) {
    let now = Instant::from_millis(millis);
    let mut interest = Interest::new(format!("/a/{number}").parse().unwrap());
    interest.nonce = Some(number);
    let frame = interest.to_bytes();
    capturer.handle(now, Input::Frame { face: CONSUMER, frame });
    let mut sent = 0;
    while let Some(output) = capturer.poll(now) {
        sent += usize::from(matches!(output, Output::Send { face: PRODUCER, .. }));
    }
    assert_eq!(sent, 1);
}

fn wish(all: &Path) -> CaptureWish {
    CaptureWish { all: Some(all.into()), file_bytes: 1 << 20, ..CaptureWish::default() }
}

fn blocks(path: &Path) -> Vec<Block<'static>> {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_block() {
        blocks.push(block.unwrap().into_owned());
    }
    blocks
}

fn packets(path: &Path) -> Vec<EnhancedPacketBlock<'static>> {
    blocks(path).into_iter().filter_map(Block::into_enhanced_packet).collect()
}

fn flush(capturer: &mut Capturer) {
    capturer.flush(Instant::from_millis(3_600_000));
}

#[test]
fn frames_are_captured_with_face_direction_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.pcapng");
    let mut capturer = capturer();
    ask(&mut capturer, 1, 1);
    capturer.capture(wish(&path), Duration::from_secs(1_700_000_000));
    ask(&mut capturer, 2, 2);
    flush(&mut capturer);
    let interfaces = blocks(&path).into_iter().filter_map(Block::into_interface_description);
    assert_eq!(interfaces.count(), 2);
    let packets = packets(&path);
    let [arrived, left] = packets.as_slice() else { panic!("{packets:?}") };
    assert_eq!(arrived.data[..14], ethernet(OURS, CONSUMER.0));
    assert_eq!(left.data[..14], ethernet(PRODUCER.0, OURS));
    for (packet, way) in [(arrived, 1), (left, 2)] {
        assert_eq!(packet.timestamp, Duration::from_nanos(1_700_000_000_002_000_000));
        assert_eq!(packet.options, [EnhancedPacketOption::Flags(way)]);
        let interest = Interest::decode(Bytes::copy_from_slice(&packet.data[14..])).unwrap();
        assert_eq!(interest.name, "/a/2".parse().unwrap());
    }
    assert_eq!(capturer.counters(), CaptureCounters { frames: 2, failures: 0 });
}

#[test]
fn face_has_its_own_file_of_truncated_frames() {
    let folder = tempfile::tempdir().unwrap();
    let (own, all) = (folder.path().join("own"), folder.path().join("all"));
    let mut capturer = capturer();
    let faces = BTreeMap::from([(PRODUCER, own.clone())]);
    let wish = CaptureWish { faces, frame_bytes: Some(20), ..wish(&all) };
    capturer.capture(wish.clone(), Duration::ZERO);
    ask(&mut capturer, 1, 1);
    flush(&mut capturer);
    assert_eq!((packets(&own).len(), packets(&all).len()), (1, 2));
    let packet = &packets(&own)[0];
    assert!(packet.data.len() == 20 && packet.original_len > 20);
    // With one file for node and face, each frame is written once.
    let both = CaptureWish { faces: BTreeMap::from([(PRODUCER, all.clone())]), ..wish };
    capturer.capture(both, Duration::ZERO);
    ask(&mut capturer, 2, 2);
    flush(&mut capturer);
    assert_eq!(packets(&all).len(), 4);
}

#[test]
fn full_capture_file_is_rotated_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring");
    let mut capturer = capturer();
    let wish = CaptureWish { file_bytes: 1_000, ..wish(&path) };
    capturer.capture(wish.clone(), Duration::ZERO);
    for number in 0..100 {
        ask(&mut capturer, 1, number);
    }
    flush(&mut capturer);
    let (last, before) = (packets(&path), packets(&older(&path)));
    assert!((1..20).contains(&last.len()) && (5..20).contains(&before.len()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    for path in [&path, &older(&path)] {
        assert!(std::fs::metadata(path).unwrap().len() < 1_300);
    }
}

#[test]
fn restarted_capture_keeps_the_last_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again");
    let mut capturer = capturer();
    capturer.capture(wish(&path), Duration::ZERO);
    ask(&mut capturer, 1, 1);
    // As before: it goes on.
    capturer.capture(wish(&path), Duration::ZERO);
    ask(&mut capturer, 2, 2);
    capturer.capture(CaptureWish::default(), Duration::ZERO);
    ask(&mut capturer, 3, 3);
    assert_eq!(packets(&path).len(), 4);
    capturer.capture(wish(&path), Duration::ZERO);
    flush(&mut capturer);
    assert_eq!((packets(&path).len(), packets(&older(&path)).len()), (0, 4));
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_ends_only_the_capture() {
    let folder = tempfile::tempdir().unwrap();
    let mut capturer = capturer();
    let path = folder.path().join("good");
    let faces = BTreeMap::from([(PRODUCER, "/dev/full".into())]);
    capturer.capture(CaptureWish { faces, ..wish(&path) }, Duration::ZERO);
    for number in 0..5_000 {
        ask(&mut capturer, 1, number);
    }
    let failure = capturer.next_failure().unwrap();
    assert_eq!(failure.path, Path::new("/dev/full"));
    assert_eq!(failure.error.kind(), io::ErrorKind::StorageFull);
    assert!(capturer.next_failure().is_none());
    assert_eq!(capturer.counters().failures, 1);
    flush(&mut capturer);
    assert!(capturer.next_failure().is_none());
    assert_eq!(packets(&path).len(), 10_000);
}

#[test]
fn capture_that_cannot_open_its_file_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mut capturer = capturer();
    capturer.capture(wish(&folder.path().join("none/all")), Duration::ZERO);
    let failure = capturer.next_failure().unwrap();
    assert_eq!(failure.error.kind(), io::ErrorKind::NotFound);
    assert!(capturer.desk.is_none());
    ask(&mut capturer, 1, 1);
    assert_eq!(capturer.counters(), CaptureCounters { frames: 0, failures: 1 });
}
