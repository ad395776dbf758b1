//! Interests that go round in a circle.
use crate::bench::{Bench, UNLIMITED, answer, cached, question, special};
use crate::tester::{Probe, Tester};
use recoup_forwarder::face::{FaceAttributes, LinkType};
use recoup_forwarder::options::NodeOptions;
use recoup_forwarder::packet::Packet;
use recoup_forwarder::table::{CsCapacity, CsOptions, DeadNonceOptions};
use std::sync::Arc;

fn bench() -> Bench {
    Bench::new(3, NodeOptions::deterministic(0))
}

#[test]
fn a_nonce_that_comes_by_another_face_is_a_loop_and_its_sender_is_told() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 7);
    let told = ["3 < nack /a/b #7: duplicate nonce", "drop at 3: loop"];
    assert_eq!(bench.interest(3, "/a/b", 7), told);
    // It still waits for who asked first.
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn an_interest_that_comes_back_is_a_loop() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 7);
    let told = ["2 < nack /a/b #7: duplicate nonce", "drop at 2: loop"];
    let mut lines = bench.interest(2, "/a/b", 7);
    lines.sort();
    assert_eq!(lines, told);
}

#[test]
fn faces_with_many_listeners_and_forwarders_upstream_are_not_told() {
    let mut bench = bench();
    let value = FaceAttributes::value(UNLIMITED);
    bench.up(4, FaceAttributes { link_type: LinkType::MultiAccess, ..value });
    bench.up(5, value.toward_producers());
    bench.interest(1, "/a/b", 7);
    assert_eq!(bench.interest(4, "/a/b", 7), ["drop at 4: loop"]);
    assert_eq!(bench.interest(5, "/a/b", 7), ["drop at 5: loop"]);
}

#[test]
fn the_nonce_of_an_interest_that_was_not_answered_is_remembered_for_six_seconds() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 7);
    bench.pass(4_000);
    assert_eq!(bench.node.pit_len(), 0);
    bench.pass(9_999);
    assert!(bench.interest(3, "/a/b", 7).contains(&"drop at 3: loop".to_owned()));
    bench.pass(10_000);
    assert_eq!(bench.interest(3, "/a/b", 7), ["2 < interest /a/b #7"]);
}

#[test]
fn the_nonce_of_an_answered_interest_is_remembered_if_stored_data_would_be_too_old() {
    for (must_be_fresh, is_loop) in [(false, false), (true, true)] {
        let mut bench = Bench::new(3, cached(10));
        let interest = special("/a/b", 7, |it| it.must_be_fresh = must_be_fresh);
        bench.ask(1, interest.clone(), |_| {});
        bench.data(2, "/a/b");
        let lines = bench.ask(3, interest, |_| {});
        assert_eq!(lines.contains(&"drop at 3: loop".to_owned()), is_loop, "{lines:?}");
    }
}

#[test]
fn a_node_that_keeps_no_data_remembers_the_nonces_of_what_was_answered() {
    let is_loop = |bench: &mut Bench| {
        bench.interest(1, "/a/b", 7);
        bench.data(2, "/a/b");
        bench.interest(3, "/a/b", 7).contains(&"drop at 3: loop".to_owned())
    };
    let no_store = &mut bench();
    assert!(is_loop(no_store));
    no_store.pass(6_000);
    assert_eq!(no_store.interest(3, "/a/b", 7), ["2 < interest /a/b #7"]);
    assert!(!is_loop(&mut Bench::new(3, cached(10))), "the store answers");
    let cs = CsOptions { capacity: CsCapacity::Bytes(20) };
    let too_small = NodeOptions { cs, ..NodeOptions::deterministic(0) };
    assert!(is_loop(&mut Bench::new(3, too_small)), "the Data is longer than the store");
    let told_not_to = &mut Bench::new(3, cached(10));
    told_not_to.ask(1, question("/a/b", 7), |_| {});
    let mut packet = Packet::data(answer("/a/b"), &told_not_to.hasher());
    packet.hop.extra_mut().no_cache = true;
    told_not_to.packet(2, packet);
    let lines = told_not_to.interest(3, "/a/b", 7);
    assert!(lines.contains(&"drop at 3: loop".to_owned()), "{lines:?}");
}

#[test]
fn what_an_application_answered_may_come_again_by_another_way() {
    let mut tester = Tester::new(2, |_| NodeOptions::deterministic(0));
    tester.link(0, 1, 1);
    let producer = Probe::default();
    tester.attach(0, &producer, &["/a"]);
    for _ in 0..2 {
        let hasher = tester.node(0).hasher().clone();
        tester.forge(0, 1, Packet::interest(Arc::new(question("/a/b", 7)), &hasher));
        tester.run(10);
    }
    assert_eq!(producer.asked().len(), 2);
}

#[test]
fn an_interest_does_not_go_round_behind_its_data_where_no_node_has_a_store() {
    let options = |_| NodeOptions { strategy: "multicast".into(), ..NodeOptions::deterministic(0) };
    let mut tester = Tester::new(4, options);
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        tester.link(from, to, 10);
        tester.route(from, "/a", to);
    }
    // The producer is near: its Data is back long before what goes round.
    tester.link(0, 3, 1);
    tester.route(0, "/a", 3);
    let (consumer, producer) = (Probe::default(), Probe::default());
    tester.attach(3, &producer, &["/a"]);
    tester.attach(0, &consumer, &[]);
    consumer.ask("/a/b", 7);
    tester.run(1_000);
    assert_eq!(producer.asked().len(), 1, "asked once");
    assert_eq!(
        tester.log,
        ["30 ms, node 0: drop at 2: loop", "60 ms, node 0: drop at 1: nack-unmatched"]
    );
    assert!(consumer.told().contains(&"2 ms: data /a/b".to_owned()));
    assert_eq!((0..4).map(|node| tester.node(node).pit_len()).sum::<usize>(), 0);
}

#[test]
fn an_interest_does_not_go_round_in_a_ring() {
    let mut tester = Tester::new(3, |_| NodeOptions::deterministic(0));
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        tester.link(from, to, 10);
    }
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        tester.route(from, "/a", to);
    }
    let probe = Probe::default();
    tester.attach(0, &probe, &[]);
    probe.ask("/a/b", 7);
    tester.run(1_000);
    // It comes back after three hops; the refusal goes back the same way.
    assert_eq!(tester.log, ["30 ms, node 0: drop at 2: loop"]);
    let told = probe.told();
    assert_eq!(told.last().unwrap(), "60 ms: nack /a/b: duplicate nonce", "{told:?}");
    assert_eq!((0..3).map(|node| tester.node(node).pit_len()).sum::<usize>(), 0);
}

/// So a consumer with one face needs no dead nonces.
#[test]
fn interest_never_leaves_by_its_only_face() {
    let dead_nonces = DeadNonceOptions { limit: 0, ..DeadNonceOptions::default() };
    let mut bench = Bench::new(0, NodeOptions { dead_nonces, ..NodeOptions::deterministic(0) });
    bench.up(2, FaceAttributes::value(UNLIMITED).toward_producers());
    for uri in ["/a/b", "/other"] {
        let lines = bench.interest(2, uri, 7);
        assert!(!lines.iter().any(|line| line.contains("< interest")), "{lines:?}");
    }
}
