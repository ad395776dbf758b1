//! Queues, marks, frames and fragments of faces.
use crate::bench::{Bench, answer, question, special, token};
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId, Marking, QueueLimit};
use recoup_forwarder::node::{Input, Output};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{LpHeader, LpPacket, field};
use recoup_packet::nack::NackReason;
use recoup_packet::signature::DigestSigner;
use recoup_transport::time::{Duration, Instant};

/// A node whose faces 1 and 2 are wire faces.
fn wired(mtu: usize, marking: Option<Marking>) -> Bench {
    let mut bench = Bench::new(0, NodeConfig::deterministic(0));
    for face in [1, 2] {
        bench.up(
            face,
            FaceAttributes { marking: marking.map(Into::into), ..FaceAttributes::wire(mtu) },
        );
    }
    bench
}

/// Receives a frame; returns the frames sent.
fn frames(bench: &mut Bench, face: u32, frame: Bytes) -> Vec<(u32, LpPacket)> {
    bench.node.handle(bench.now, Input::Frame { face: FaceId(face), frame });
    std::iter::from_fn(|| bench.node.poll(bench.now))
        .filter_map(|output| match output {
            Output::Send { face, frame } => {
                Some((face.0, LpPacket::decode(frame.into_bytes()).unwrap()))
            }
            _ => None,
        })
        .collect()
}

fn framed(header: LpHeader, packet: Bytes) -> Bytes {
    let mut out = bytes::BytesMut::new();
    LpPacket { header, fragment: Some(packet) }.encode(&mut out);
    out.freeze()
}

#[test]
fn frame_has_the_fields_of_the_next_hop() {
    let mut bench = wired(8_800, None);
    let mut header = LpHeader { pit_token: token("t"), ..LpHeader::default() };
    header.congestion_mark = Some(1);
    for typ in [field::FLOW_NONCE, field::WLDR_SEQUENCE, 956] {
        header.ignorable.set(typ, Bytes::from_static(b"1"));
    }
    let interest = special("/a/b", 1, |it| it.hop_limit = Some(9));
    let out = frames(&mut bench, 1, framed(header, interest.to_bytes()));
    let [(2, LpPacket { header, fragment: Some(packet) })] = out.as_slice() else {
        panic!("{out:?}")
    };
    let fields: Vec<_> = header.ignorable.iter().map(|(typ, _)| typ).collect();
    assert_eq!((&fields[..], header.congestion_mark), (&[field::FLOW_NONCE][..], Some(1)));
    assert_eq!(header.pit_token, None);
    let sent = Interest::decode(packet.clone()).unwrap();
    assert_eq!(sent, special("/a/b", 1, |it| it.hop_limit = Some(8)));
    let out = frames(&mut bench, 2, answer("/a/b").wire());
    let mut header = LpHeader { pit_token: token("t"), ..LpHeader::default() };
    field::set_flow_nonce(&mut header.ignorable, u64::from(b'1'));
    assert_eq!(out, [(1, LpPacket { header, fragment: Some(answer("/a/b").wire()) })]);
}

#[test]
fn nack_crosses_wires_with_its_token() {
    let mut bench = wired(8_800, None);
    let header = LpHeader { pit_token: token("t"), ..LpHeader::default() };
    frames(&mut bench, 1, framed(header.clone(), question("/a/b", 1).to_bytes()));
    let nack = LpHeader { nack: Some(NackReason::Congestion), ..LpHeader::default() };
    let out = frames(&mut bench, 2, framed(nack, question("/a/b", 1).to_bytes()));
    let header = LpHeader { nack: Some(NackReason::Congestion), ..header };
    assert_eq!(out, [(1, LpPacket { header, fragment: Some(question("/a/b", 1).to_bytes()) })]);
}

#[test]
fn malformed_packet_is_dropped() {
    let mut bench = wired(8_800, None);
    for bytes in [&b"\x05\x00"[..], b"", b"\x64\x02\x01\x00", b"\x64\x02\x50\x00"] {
        let frame = Bytes::copy_from_slice(bytes);
        let lines = bench.feed(Input::Frame { face: FaceId(1), frame });
        assert_eq!(lines, ["drop at 1: malformed"], "{bytes:?}");
    }
    let frame = question("/a", 1).to_bytes();
    assert_eq!(bench.feed(Input::Frame { face: FaceId(9), frame }), ["drop at 9: no-face"]);
}

#[test]
fn incomplete_packet_expires_after_500_ms() {
    let mut bench = wired(8_800, None);
    let (index, count) = (Some(0), Some(2));
    let header = LpHeader { frag_index: index, frag_count: count, ..LpHeader::default() };
    let header = LpHeader { sequence: Some(5), ..header };
    bench.feed(Input::Frame {
        face: FaceId(1),
        frame: framed(header, question("/a", 1).to_bytes()),
    });
    assert_eq!(bench.node.deadline(), Some(Instant::from_millis(500)));
    assert_eq!(bench.pass(1_000), ["500 ms: drop at 1: fragment"]);
    assert_eq!(bench.node.deadline(), None);
}

#[test]
fn an_incomplete_packet_goes_with_its_face() {
    let mut bench = wired(8_800, None);
    let header = LpHeader { frag_index: Some(1), frag_count: Some(3), ..LpHeader::default() };
    let header = LpHeader { sequence: Some(5), ..header };
    bench.feed(Input::Frame {
        face: FaceId(1),
        frame: framed(header, question("/a", 1).to_bytes()),
    });
    assert_eq!(bench.feed(Input::FaceDown { face: FaceId(1) }), ["drop at 1: no-face"]);
}

#[test]
fn lasting_backlog_marks_the_first_fragment() {
    let marking = Marking { threshold_bytes: 1_000, interval: Duration::from_millis(100) };
    let mut bench = wired(600, Some(marking));
    let marks = |bench: &mut Bench, nonce: u32| {
        let uri = format!("/a/{nonce}");
        frames(bench, 1, question(&uri, nonce).to_bytes());
        let name = uri.parse().unwrap();
        let data = DataBuilder::new(&name).build(&[7; 1_200], &DigestSigner);
        let out = frames(bench, 2, data.wire());
        assert_eq!(out.len(), 3);
        out.into_iter().map(|(_, frame)| frame.header.congestion_mark).collect::<Vec<_>>()
    };
    let backlog = |bytes| Input::Backlog { face: FaceId(1), bytes };
    bench.feed(backlog(2_000));
    assert_eq!(marks(&mut bench, 1), [None; 3]);
    bench.pass(99);
    assert_eq!(marks(&mut bench, 2), [None; 3]);
    bench.pass(100);
    assert_eq!(marks(&mut bench, 3), [Some(1), None, None]);
    // Bytes sent since count, too, until the driver reports a shorter queue.
    bench.pass(171);
    assert_eq!(marks(&mut bench, 4), [Some(1), None, None]);
    bench.feed(backlog(0));
    bench.pass(400);
    assert_eq!(marks(&mut bench, 5), [None; 3]);
}

/// A node whose face 2 has a queue of two packets and sends one at each `Ready`.
fn queued(marking: Option<Marking>) -> Bench {
    let mut bench = Bench::recording(1, NodeConfig::deterministic(0));
    let limit = QueueLimit { packets: Some(2), bytes: None };
    bench
        .up(2, FaceAttributes { marking: marking.map(Into::into), ..FaceAttributes::value(limit) });
    bench
}

/// Output for an Interest by face 1, without the events of tables.
fn ask(bench: &mut Bench, nonce: u32) -> Vec<String> {
    let packet = recoup_forwarder::packet::Packet::interest(
        std::sync::Arc::new(question(&format!("/a/{nonce}"), nonce)),
        &bench.hasher(),
    );
    bench.node.handle(bench.now, Input::Packet { face: FaceId(1), packet });
    outputs(bench)
}

fn outputs(bench: &mut Bench) -> Vec<String> {
    std::iter::from_fn(|| bench.node.poll(bench.now))
        .filter_map(|output| crate::bench::describe(&output))
        .filter(|line| !line.starts_with("Pit"))
        .collect()
}

#[test]
fn value_face_sends_one_packet_per_ready() {
    let mut bench = queued(None);
    let bytes = question("/a/2", 2).encoded_len();
    assert_eq!(ask(&mut bench, 1), ["2 < interest /a/1 #1"]);
    let queued = |packets: usize| {
        format!("Queued {{ face: FaceId(2), packets: {packets}, bytes: {} }}", packets * bytes)
    };
    assert_eq!(ask(&mut bench, 2), ["2 wants".to_owned(), queued(1)]);
    assert_eq!(ask(&mut bench, 3), [queued(2)]);
    assert_eq!(ask(&mut bench, 4), ["drop at 2: queue-full"]);
    assert_eq!(bench.node.queue(FaceId(2)).unwrap().packets, 2);
    let mut ready = || {
        bench.node.handle(bench.now, Input::Ready { face: FaceId(2) });
        outputs(&mut bench)
    };
    assert_eq!(ready(), ["2 < interest /a/2 #2", "2 wants"]);
    assert_eq!(ready(), ["2 < interest /a/3 #3"]);
    assert_eq!(ready(), [""; 0]);
    assert_eq!(ask(&mut bench, 5), ["2 < interest /a/5 #5"]);
}

#[test]
fn a_full_queue_marks_what_joins_it() {
    let marking = Marking { threshold_bytes: 0, interval: Duration::from_millis(100) };
    let mut bench = queued(Some(marking));
    ask(&mut bench, 1);
    ask(&mut bench, 2);
    ask(&mut bench, 3);
    bench.pass(100);
    bench.node.handle(bench.now, Input::Ready { face: FaceId(2) });
    outputs(&mut bench);
    let lines = ask(&mut bench, 4);
    assert!(lines.contains(&"Marked { face: FaceId(2) }".to_owned()), "{lines:?}");
}

#[test]
fn queue_of_a_face_going_down_is_dropped() {
    let mut bench = queued(None);
    ask(&mut bench, 1);
    ask(&mut bench, 2);
    bench.node.handle(bench.now, Input::FaceDown { face: FaceId(2) });
    assert_eq!(outputs(&mut bench), ["drop at 2: no-face"]);
}
