//! Content store: hits, and admission.
use crate::bench::{Bench, answer_fresh_for, cached, question, special, token};
use bytes::Bytes;
use recoup_forwarder::options::Unsolicited;
use recoup_forwarder::packet::Packet;
use recoup_packet::lp::field;

/// A node whose content store was filled by an Interest from face 1.
fn filled(uri: &str) -> Bench {
    let mut bench = Bench::new(3, cached(10));
    bench.interest(1, uri, 1);
    bench.data(2, uri);
    bench
}

#[test]
fn second_interest_is_answered_from_the_store() {
    let mut bench = filled("/a/b");
    assert_eq!(bench.node.cs_len(), 1);
    assert_eq!(bench.interest(3, "/a/b", 2), ["3 < data /a/b"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn answer_from_the_store_has_the_token() {
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
fn stale_data_does_not_answer_must_be_fresh() {
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
fn no_cache_policy_is_obeyed_and_not_forwarded() {
    let mut bench = Bench::new(3, cached(10));
    bench.interest(1, "/a/b", 1);
    let mut packet = Packet::data(answer_fresh_for("/a/b", 0), &bench.hasher());
    packet.hop.extra_mut().no_cache = true;
    assert_eq!(bench.packet(2, packet), ["1 < data /a/b"]);
    assert_eq!(bench.node.cs_len(), 0);
}

#[test]
fn unsolicited_data_is_stored_only_by_policy() {
    for (unsolicited, kept) in [(Unsolicited::DropAll, 0), (Unsolicited::AdmitNetwork, 1)] {
        let mut bench = Bench::new(3, cached(10).with(|it| it.unsolicited = unsolicited));
        assert_eq!(bench.data(2, "/a/b"), ["drop at 2: unsolicited"]);
        assert_eq!(bench.node.cs_len(), kept);
    }
}

#[test]
fn hits_misses_and_evictions_are_events() {
    let mut bench = Bench::recording(3, cached(1));
    let hash = bench.hasher().hash(question("/a/1", 1).name.value());
    let lines = bench.interest(1, "/a/1", 1);
    assert_eq!(lines[0], format!("CsMiss {{ hash: {hash} }}"));
    bench.data(2, "/a/1");
    assert_eq!(bench.interest(1, "/a/1", 2)[0], format!("CsHit {{ hash: {hash} }}"));
    bench.interest(1, "/a/2", 3);
    assert!(bench.data(2, "/a/2").contains(&"CsEvicted { packets: 1 }".to_owned()));
}
