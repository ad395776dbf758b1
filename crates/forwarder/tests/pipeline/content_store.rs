//! What the content store answers, and what enters it.
use crate::bench::{Bench, answer_fresh_for, cached, question, special, token};
use bytes::Bytes;
use recoup_forwarder::options::{NodeOptions, Unsolicited};
use recoup_forwarder::packet::Packet;
use recoup_packet::lp::field;

/// The content store was filled by an Interest from face 1.
fn filled(uri: &str) -> Bench {
    let mut bench = Bench::new(3, cached(10));
    bench.interest(1, uri, 1);
    bench.data(2, uri);
    bench
}

#[test]
fn what_was_answered_once_is_answered_from_the_store() {
    let mut bench = filled("/a/b");
    assert_eq!(bench.node.cs_len(), 1);
    assert_eq!(bench.interest(3, "/a/b", 2), ["3 < data /a/b"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn an_answer_from_the_store_brings_the_token_back() {
    let mut bench = filled("/a/b");
    let lines = bench.ask(3, question("/a/b", 2), |extra| extra.pit_token = token("t"));
    assert_eq!(lines, ["3 < data /a/b token=t"]);
}

#[test]
fn a_prefix_is_answered_from_the_store() {
    let mut bench = filled("/a/b/c");
    let interest = special("/a/b", 2, |it| it.can_be_prefix = true);
    assert_eq!(bench.ask(3, interest, |_| {}), ["3 < data /a/b/c"]);
}

#[test]
fn stored_data_gets_too_old_for_those_who_want_it_fresh() {
    let mut bench = Bench::new(3, cached(10));
    bench.interest(1, "/a/b", 1);
    let packet = Packet::data(answer_fresh_for("/a/b", 100), &bench.hasher());
    bench.packet(2, packet);
    let fresh = |nonce| special("/a/b", nonce, |it| it.must_be_fresh = true);
    bench.pass(99);
    assert_eq!(bench.ask(3, fresh(2), |_| {}), ["3 < data /a/b"]);
    bench.pass(100);
    assert_eq!(bench.ask(3, fresh(3), |_| {}), ["2 < interest /a/b #3"]);
}

#[test]
fn neither_marks_nor_link_fields_enter_the_store() {
    let mut bench = Bench::new(3, cached(10));
    bench.interest(1, "/a/b", 1);
    let mut packet = Packet::data(answer_fresh_for("/a/b", 0), &bench.hasher());
    packet.hop.congestion_mark = 1;
    packet.hop.extra_mut().carried.set(field::PROVIDER_ID, Bytes::from_static(b"p"));
    assert_eq!(bench.packet(2, packet), ["1 < data /a/b mark=1 field=916"]);
    assert_eq!(bench.interest(3, "/a/b", 2), ["3 < data /a/b"]);
}

#[test]
fn data_that_is_not_to_be_kept_is_not_kept_here_and_the_next_node_is_not_told() {
    let mut bench = Bench::new(3, cached(10));
    bench.interest(1, "/a/b", 1);
    let mut packet = Packet::data(answer_fresh_for("/a/b", 0), &bench.hasher());
    packet.hop.extra_mut().no_cache = true;
    assert_eq!(bench.packet(2, packet), ["1 < data /a/b"]);
    assert_eq!(bench.node.cs_len(), 0);
}

#[test]
fn what_nobody_waits_for_is_dropped_and_kept_only_if_wanted() {
    for (unsolicited, kept) in [(Unsolicited::DropAll, 0), (Unsolicited::AdmitNetwork, 1)] {
        let mut bench = Bench::new(3, NodeOptions { unsolicited, ..cached(10) });
        assert_eq!(bench.data(2, "/a/b"), ["drop at 2: unsolicited"]);
        assert_eq!(bench.node.cs_len(), kept);
    }
}

#[test]
fn the_store_tells_of_hits_misses_and_evictions() {
    let mut bench = Bench::recording(3, cached(1));
    let hash = bench.hasher().hash(question("/a/1", 1).name.value());
    let lines = bench.interest(1, "/a/1", 1);
    assert_eq!(lines[0], format!("CsMiss {{ hash: {hash} }}"));
    bench.data(2, "/a/1");
    assert_eq!(bench.interest(1, "/a/1", 2)[0], format!("CsHit {{ hash: {hash} }}"));
    bench.interest(1, "/a/2", 3);
    assert!(bench.data(2, "/a/2").contains(&"CsEvicted { packets: 1 }".to_owned()));
}
