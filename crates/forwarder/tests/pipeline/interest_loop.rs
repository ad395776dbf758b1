//! Looping Interests.
use crate::bench::{Bench, UNLIMITED, answer, cached, question, special, strategy};
use crate::tester::{Probe, Tester};
use recoup_forwarder::face::{FaceAttributes, LinkType};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::Packet;
use recoup_forwarder::table::{CsCapacity, DeadNonceOptions};
use std::sync::Arc;

fn bench() -> Bench {
    Bench::new(3, NodeConfig::deterministic(0))
}

#[test]
fn duplicate_nonce_gets_a_nack() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 7);
    let received = ["3 < nack /a/b #7: duplicate nonce", "drop at 3: loop"];
    assert_eq!(bench.interest(3, "/a/b", 7), received);
    // The first downstream face still gets the Data.
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn returning_interest_is_a_loop() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 7);
    let received = ["2 < nack /a/b #7: duplicate nonce", "drop at 2: loop"];
    let mut lines = bench.interest(2, "/a/b", 7);
    lines.sort();
    assert_eq!(lines, received);
}

#[test]
fn multi_access_and_upstream_faces_get_no_nack() {
    let mut bench = bench();
    let value = FaceAttributes::value(UNLIMITED);
    bench.up(4, FaceAttributes { link_type: LinkType::MultiAccess, ..value });
    bench.up(5, value.toward_producers());
    bench.interest(1, "/a/b", 7);
    assert_eq!(bench.interest(4, "/a/b", 7), ["drop at 4: loop"]);
    assert_eq!(bench.interest(5, "/a/b", 7), ["drop at 5: loop"]);
}

#[test]
fn nonce_of_an_expired_interest_is_remembered() {
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
fn nonce_is_remembered_if_data_is_stale() {
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
fn node_without_store_remembers_answered_nonces() {
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
    let too_small = NodeConfig::deterministic(0).with(|it| it.cache = CsCapacity::Bytes(20));
    assert!(is_loop(&mut Bench::new(3, too_small)), "the Data is longer than the store");
    let no_cache = &mut Bench::new(3, cached(10));
    no_cache.ask(1, question("/a/b", 7), |_| {});
    let mut packet = Packet::data(answer("/a/b"), &no_cache.hasher());
    packet.hop.extra_mut().no_cache = true;
    no_cache.packet(2, packet);
    let lines = no_cache.interest(3, "/a/b", 7);
    assert!(lines.contains(&"drop at 3: loop".to_owned()), "{lines:?}");
}

#[test]
fn interest_answered_locally_may_arrive_again() {
    let mut tester = Tester::new(2, |_| NodeConfig::deterministic(0));
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
fn copy_does_not_loop_after_its_data() {
    let options = |_| strategy("multicast");
    let mut tester = Tester::new(4, options);
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        tester.link(from, to, 10);
        tester.route(from, "/a", to);
    }
    // The producer is near: its Data returns long before the looping copy.
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
    assert!(consumer.received().contains(&"2 ms: data /a/b".to_owned()));
    assert_eq!((0..4).map(|node| tester.node(node).pit_len()).sum::<usize>(), 0);
}

#[test]
fn interest_does_not_loop_in_a_ring() {
    let mut tester = Tester::new(3, |_| NodeConfig::deterministic(0));
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
    // The Interest returns after three hops; the Nack takes the same path back.
    assert_eq!(tester.log, ["30 ms, node 0: drop at 2: loop"]);
    let received = probe.received();
    assert_eq!(received.last().unwrap(), "60 ms: nack /a/b: duplicate nonce", "{received:?}");
    assert_eq!((0..3).map(|node| tester.node(node).pit_len()).sum::<usize>(), 0);
}

/// A consumer with one face thus needs no dead nonces.
#[test]
fn interest_never_leaves_by_its_only_face() {
    let dead_nonces = DeadNonceOptions { limit: 0, ..DeadNonceOptions::default() };
    let mut bench = Bench::new(0, NodeConfig { dead_nonces, ..NodeConfig::deterministic(0) });
    bench.up(2, FaceAttributes::value(UNLIMITED).toward_producers());
    for uri in ["/a/b", "/other"] {
        let lines = bench.interest(2, uri, 7);
        assert!(!lines.iter().any(|line| line.contains("< interest")), "{lines:?}");
    }
}
