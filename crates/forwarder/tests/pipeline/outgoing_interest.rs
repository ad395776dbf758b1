//! Outgoing Interests, and their faces.
use crate::bench::{Bench, UNLIMITED, question, special, token};
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId, LinkType};
use recoup_forwarder::node::Input;
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::Packet;
use recoup_forwarder::strategy::Strategy;
use recoup_packet::lp::field;
use std::sync::Arc;

fn bench() -> Bench {
    Bench::new(4, NodeConfig::deterministic(0))
}

#[test]
fn interest_of_a_second_face_is_aggregated() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    assert_eq!(bench.interest(3, "/a/b", 2), [""; 0]);
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b", "3 < data /a/b"]);
}

#[test]
fn retransmission_is_suppressed_for_10_then_20_ms() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    bench.pass(9);
    assert_eq!(bench.interest(1, "/a/b", 2), ["drop at 1: suppressed"]);
    bench.pass(10);
    assert_eq!(bench.interest(1, "/a/b", 3), ["2 < interest /a/b #3"]);
    bench.pass(29);
    assert_eq!(bench.interest(1, "/a/b", 4), ["drop at 1: suppressed"]);
    bench.pass(30);
    assert_eq!(bench.interest(1, "/a/b", 5), ["2 < interest /a/b #5"]);
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn retransmission_tries_another_next_hop() {
    let mut bench = bench();
    bench.route("/a", 4, 9);
    assert_eq!(bench.interest(1, "/a/b", 1), ["2 < interest /a/b #1"]);
    bench.pass(10);
    assert_eq!(bench.interest(1, "/a/b", 2), ["4 < interest /a/b #2"]);
}

#[test]
fn next_hop_that_is_down_is_skipped() {
    let mut bench = bench();
    bench.route("/a", 4, 9);
    bench.feed(Input::FaceDown { face: FaceId(2) });
    assert_eq!(bench.interest(1, "/a/1", 1), ["4 < interest /a/1 #1"]);
    bench.up(2, FaceAttributes::value(UNLIMITED));
    assert_eq!(bench.interest(1, "/a/2", 2), ["2 < interest /a/2 #2"]);
}

#[test]
fn marks_and_forwarded_fields_are_sent_on() {
    let mut bench = bench();
    let mut packet = Packet::interest(Arc::new(question("/a/b", 1)), &bench.hasher());
    packet.hop.congestion_mark = 1;
    let extra = packet.hop.extra_mut();
    extra.pit_token = token("t");
    extra.carried.set(field::FLOW_NONCE, Bytes::from_static(b"12345678"));
    extra.hop_local.set(field::WLDR_SEQUENCE, Bytes::from_static(b"1"));
    assert_eq!(bench.packet(1, packet), ["2 < interest /a/b #1 mark=1 field=900"]);
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b token=t field=900"]);
}

#[test]
fn next_hop_face_id_needs_local_fields() {
    let mut bench = bench();
    let local = FaceAttributes { local: true, ..FaceAttributes::value(UNLIMITED) };
    bench.up(5, local);
    bench.up(6, FaceAttributes { local_fields: true, ..local });
    let mut ask = |from, to: u32| {
        bench.ask(from, question("/a/b", to), |extra| extra.next_hop = Some(FaceId(to)))
    };
    assert_eq!(ask(1, 4), ["drop at 1: local-field"]);
    assert_eq!(ask(5, 4), ["drop at 5: local-field"]);
    assert_eq!(ask(6, 4), ["4 < interest /a/b #4"]);
    let nacked = ask(6, 99);
    assert!(nacked.contains(&"6 < nack /a/b #99: no route".to_owned()), "{nacked:?}");
}

#[test]
fn forwarding_hint_replaces_a_missing_route() {
    let mut bench = bench();
    bench.route("/region", 3, 1);
    bench.route("/", 4, 1);
    let hints = ["/elsewhere", "/region/x"].map(|uri| uri.parse().unwrap());
    let hinted = |uri| special(uri, 1, |it| it.forwarding_hint = hints.to_vec());
    assert_eq!(bench.ask(1, hinted("/b"), |_| {}), ["3 < interest /b #1"]);
    assert_eq!(bench.ask(1, hinted("/a/b"), |_| {}), ["2 < interest /a/b #1"]);
    assert_eq!(bench.interest(1, "/c", 1), ["4 < interest /c #1"]);
}

#[test]
fn interest_without_route_gets_a_nack() {
    let mut bench = bench();
    let lines = bench.ask(1, question("/b", 1), |extra| extra.pit_token = token("t"));
    assert_eq!(lines, ["1 < nack /b #1: no route token=t", "drop at 1: no-route"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn upstream_and_multi_access_faces_get_no_nack() {
    let mut bench = bench();
    let value = FaceAttributes::value(UNLIMITED);
    bench.up(5, FaceAttributes { link_type: LinkType::MultiAccess, ..value });
    assert_eq!(bench.interest(5, "/b", 1), ["drop at 5: no-route"]);
    bench.up(6, value.toward_producers());
    assert_eq!(bench.interest(6, "/b", 2), ["drop at 6: no-route"]);
}

#[test]
fn full_pit_sends_a_congestion_nack() {
    let mut bench = Bench::new(3, NodeConfig { pit_limit: 1, ..NodeConfig::deterministic(0) });
    bench.interest(1, "/a/1", 1);
    let nacked = ["1 < nack /a/2 #2: congestion", "drop at 1: pit-full"];
    assert_eq!(bench.interest(1, "/a/2", 2), nacked);
    assert_eq!(bench.data(2, "/a/1"), ["1 < data /a/1"]);
    assert_eq!(bench.interest(1, "/a/2", 3), ["2 < interest /a/2 #3"]);
}

#[test]
fn a_strategy_decides_below_its_prefix() {
    let mut bench = bench();
    bench.route("/a", 4, 9);
    bench.node.set_strategy(&"/a/all".parse().unwrap(), &"multicast".parse().unwrap());
    assert_eq!(bench.interest(1, "/a/one", 1), ["2 < interest /a/one #1"]);
    let both = ["2 < interest /a/all/x #2", "4 < interest /a/all/x #2"];
    let mut lines = bench.interest(1, "/a/all/x", 2);
    lines.sort();
    assert_eq!(lines, both);
    assert!("multicats".parse::<Strategy>().is_err());
}
