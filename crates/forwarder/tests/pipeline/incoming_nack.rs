//! What becomes of Nacks that arrive.
use crate::bench::{Bench, UNLIMITED, special};
use crate::tester::{Manner, Probe, Tester};
use recoup_forwarder::face::{FaceAttributes, LinkType};
use recoup_forwarder::options::NodeOptions;
use recoup_forwarder::packet::Packet;
use recoup_packet::nack::NackReason;
use std::sync::Arc;

fn bench() -> Bench {
    Bench::new(4, NodeOptions::deterministic(0))
}

#[test]
fn a_refusal_goes_to_everybody_who_waits_with_the_nonce_of_their_own() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    bench.interest(3, "/a/b", 2);
    let lines = bench.nack(2, "/a/b", 1, NackReason::Congestion);
    assert_eq!(lines, ["1 < nack /a/b #1: congestion", "3 < nack /a/b #2: congestion"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn a_refusal_of_something_else_is_dropped() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    let unmatched = |face| [format!("drop at {face}: nack-unmatched")];
    for (face, uri, nonce) in [(2, "/a/b", 9), (2, "/a/c", 1), (3, "/a/b", 1)] {
        assert_eq!(bench.nack(face, uri, nonce, NackReason::NoRoute), unmatched(face));
    }
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn a_refusal_of_an_earlier_transmission_does_not_count() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    bench.pass(10);
    bench.interest(1, "/a/b", 2);
    let lines = bench.nack(2, "/a/b", 1, NackReason::Duplicate);
    assert_eq!(lines, ["drop at 2: nack-unmatched"]);
}

#[test]
fn a_refusal_is_not_believed_where_many_listen() {
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
fn one_of_two_upstreams_that_refuses_is_not_the_end() {
    let mut bench = bench();
    bench.route("/a", 4, 2);
    bench.node.set_strategy(&"/".parse().unwrap(), "multicast").unwrap();
    bench.interest(1, "/a/b", 1);
    assert_eq!(bench.nack(2, "/a/b", 1, NackReason::NoRoute), [""; 0]);
    assert_eq!(bench.data(4, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn what_was_refused_may_be_asked_again_at_once() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    bench.nack(2, "/a/b", 1, NackReason::Congestion);
    assert_eq!(bench.interest(1, "/a/b", 2), ["2 < interest /a/b #2"]);
}

#[test]
fn who_is_asked_instead_of_who_refused_is_as_many_hops_away() {
    for said in [1, 200] {
        let mut bench = bench();
        bench.route("/a", 4, 2);
        bench.node.set_strategy(&"/".parse().unwrap(), "multipath").unwrap();
        let limited = |limit| special("/a/b", 1, |it| it.hop_limit = Some(limit));
        assert_eq!(bench.ask(1, limited(2), |_| {}), ["2 < interest /a/b #1 hops=1"]);
        // It sends back what came to it, or should.
        let refused = Arc::new(limited(said));
        let refusal = Packet::nack(refused, NackReason::NoRoute, &bench.hasher());
        assert_eq!(bench.packet(2, refusal), ["4 < interest /a/b #1 hops=1"]);
    }
}

#[test]
fn a_refusal_goes_back_the_whole_way() {
    let mut tester = Tester::new(3, |_| NodeOptions::deterministic(0));
    tester.link(0, 1, 10);
    tester.link(1, 2, 5);
    tester.route(0, "/a", 1);
    tester.route(1, "/a", 2);
    let (consumer, producer) =
        (Probe::default(), Probe::new(Manner::Refuse(NackReason::Congestion)));
    tester.attach(0, &consumer, &[]);
    tester.attach(2, &producer, &["/a"]);
    consumer.ask("/a/b", 1);
    consumer.ask("/b", 2);
    tester.run(100);
    let told = ["0 ms: up", "0 ms: nack /b: no route", "30 ms: nack /a/b: congestion"];
    assert_eq!(consumer.told(), told);
}
