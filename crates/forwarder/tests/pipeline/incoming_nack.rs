//! Incoming Nacks.
use crate::bench::{Bench, UNLIMITED, special};
use crate::tester::{Mode, Probe, Tester};
use recoup_forwarder::face::{FaceAttributes, LinkType};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::Packet;
use recoup_packet::nack::NackReason;
use std::sync::Arc;

fn bench() -> Bench {
    Bench::new(4, NodeConfig::deterministic(0))
}

#[test]
fn nack_goes_downstream_with_each_nonce() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    bench.interest(3, "/a/b", 2);
    let lines = bench.nack(2, "/a/b", 1, NackReason::Congestion);
    assert_eq!(lines, ["1 < nack /a/b #1: congestion", "3 < nack /a/b #2: congestion"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn unmatched_nack_is_dropped() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    let unmatched = |face| [format!("drop at {face}: nack-unmatched")];
    for (face, uri, nonce) in [(2, "/a/b", 9), (2, "/a/c", 1), (3, "/a/b", 1)] {
        assert_eq!(bench.nack(face, uri, nonce, NackReason::NoRoute), unmatched(face));
    }
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn nack_of_an_earlier_transmission_is_ignored() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    bench.pass(10);
    bench.interest(1, "/a/b", 2);
    let lines = bench.nack(2, "/a/b", 1, NackReason::Duplicate);
    assert_eq!(lines, ["drop at 2: nack-unmatched"]);
}

#[test]
fn nack_on_a_multi_access_face_is_ignored() {
    let mut bench = bench();
    bench.up(
        5,
        FaceAttributes { link_type: LinkType::MultiAccess, ..FaceAttributes::value(UNLIMITED) },
    );
    bench.route("/m", 5, 1);
    bench.interest(1, "/m/x", 1);
    let lines = bench.nack(5, "/m/x", 1, NackReason::NoRoute);
    assert_eq!(lines, ["drop at 5: nack-unmatched"]);
}

#[test]
fn nack_of_one_upstream_keeps_the_entry() {
    let mut bench = bench();
    bench.route("/a", 4, 2);
    bench.node.set_strategy(&"/".parse().unwrap(), &"multicast".parse().unwrap());
    bench.interest(1, "/a/b", 1);
    assert_eq!(bench.nack(2, "/a/b", 1, NackReason::NoRoute), [""; 0]);
    assert_eq!(bench.data(4, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn retransmission_after_a_nack_is_not_suppressed() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    bench.nack(2, "/a/b", 1, NackReason::Congestion);
    assert_eq!(bench.interest(1, "/a/b", 2), ["2 < interest /a/b #2"]);
}

#[test]
fn alternative_next_hop_keeps_the_hop_limit() {
    for hop_limit in [1, 200] {
        let mut bench = bench();
        bench.route("/a", 4, 2);
        bench.node.set_strategy(&"/".parse().unwrap(), &"multipath".parse().unwrap());
        let limited = |limit| special("/a/b", 1, |it| it.hop_limit = Some(limit));
        assert_eq!(bench.ask(1, limited(2), |_| {}), ["2 < interest /a/b #1 hops=1"]);
        // The upstream returns the Interest with another hop limit.
        let interest = Arc::new(limited(hop_limit));
        let nack = Packet::nack(interest, NackReason::NoRoute, &bench.hasher());
        assert_eq!(bench.packet(2, nack), ["4 < interest /a/b #1 hops=1"]);
    }
}

#[test]
fn nack_returns_to_the_consumer() {
    let mut tester = Tester::new(3, |_| NodeConfig::deterministic(0));
    tester.link(0, 1, 10);
    tester.link(1, 2, 5);
    tester.route(0, "/a", 1);
    tester.route(1, "/a", 2);
    let (consumer, producer) = (Probe::default(), Probe::new(Mode::Nack(NackReason::Congestion)));
    tester.attach(0, &consumer, &[]);
    tester.attach(2, &producer, &["/a"]);
    consumer.ask("/a/b", 1);
    consumer.ask("/b", 2);
    tester.run(100);
    let received = ["0 ms: up", "0 ms: nack /b: no route", "30 ms: nack /a/b: congestion"];
    assert_eq!(consumer.received(), received);
}
