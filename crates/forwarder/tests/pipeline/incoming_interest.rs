//! Incoming Interests.
use crate::bench::{Bench, UNLIMITED, question, special};
use crate::tester::{Mode, Probe};
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Output};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::{Body, Packet};
use recoup_packet::interest::Interest;
use std::sync::Arc;

fn bench() -> Bench {
    Bench::new(3, NodeConfig::deterministic(0))
}

#[test]
fn interest_is_forwarded_and_data_returns() {
    let mut bench = bench();
    assert_eq!(bench.interest(1, "/a/b", 1), ["2 < interest /a/b #1"]);
    assert_eq!(bench.node.pit_len(), 1);
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn interest_does_not_return_by_its_ingress() {
    let mut bench = bench();
    let nacked = ["2 < nack /a/b #1: no route", "drop at 2: no-route"];
    assert_eq!(bench.interest(2, "/a/b", 1), nacked);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn remote_interest_below_localhost_is_dropped() {
    let mut bench = bench();
    bench.route("/localhost", 2, 1);
    assert_eq!(bench.interest(1, "/localhost/x", 1), ["drop at 1: scope"]);
}

#[test]
fn localhost_scope_is_local_faces_only() {
    let mut bench = bench();
    let local = FaceAttributes { local: true, ..FaceAttributes::value(UNLIMITED) };
    bench.up(4, local);
    bench.up(5, local);
    bench.route("/localhost", 2, 1);
    bench.route("/localhost", 5, 2);
    assert_eq!(bench.interest(4, "/localhost/x", 1), ["5 < interest /localhost/x #1"]);
}

#[test]
fn hop_limit_decreases_at_each_node() {
    let mut bench = bench();
    let mut interest = question("/a/b", 1);
    interest.hop_limit = Some(2);
    let interest = Arc::new(interest);
    let packet = Packet::interest(Arc::clone(&interest), &bench.hasher());
    bench.node.handle(bench.now, Input::Packet { face: FaceId(1), packet });
    let Some(Output::Transmit { packet, .. }) = bench.node.poll(bench.now) else { panic!() };
    assert_eq!(packet.hop.hop_limit, Some(1));
    assert!(matches!(&packet.body, Body::Interest(same) if Arc::ptr_eq(same, &interest)));
}

#[test]
fn interest_beyond_its_hop_limit_is_dropped() {
    let mut bench = bench();
    let limited = |uri, limit| special(uri, 1, |it| it.hop_limit = Some(limit));
    assert_eq!(bench.ask(1, limited("/a/b", 0), |_| {}), ["drop at 1: hop-limit"]);
    // With one hop left it may still reach an application here, but no other node.
    let probe = Probe::new(Mode::Silence);
    bench.node.attach(bench.now, Box::new(probe.clone()), vec!["/here".parse().unwrap()]);
    assert_eq!(bench.ask(1, limited("/a/b", 1), |_| {}), ["drop at 2: hop-limit"]);
    assert_eq!(bench.ask(1, limited("/here", 1), |_| {}), [""; 0]);
    assert_eq!(probe.asked().len(), 1);
}

#[test]
fn an_interest_without_a_nonce_gets_one() {
    let mut bench = bench();
    let lines = bench.ask(1, Interest::new("/a/b".parse().unwrap()), |_| {});
    assert!(lines.len() == 1 && lines[0].starts_with("2 < interest /a/b #"), "{lines:?}");
}

#[test]
fn packet_of_a_removed_face_is_dropped() {
    let mut bench = bench();
    bench.feed(Input::FaceDown { face: FaceId(1) });
    assert_eq!(bench.interest(1, "/a/b", 1), ["drop at 1: no-face"]);
}
