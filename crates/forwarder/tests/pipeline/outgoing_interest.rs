//! What leaves a node, and by which faces.
use crate::bench::{Bench, UNLIMITED, question, special, token};
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId, LinkType};
use recoup_forwarder::node::Input;
use recoup_forwarder::options::NodeOptions;
use recoup_forwarder::packet::Packet;
use recoup_packet::lp::field;
use std::sync::Arc;

fn bench() -> Bench {
    Bench::new(4, NodeOptions::deterministic(0))
}

#[test]
fn a_second_face_that_asks_waits_for_the_same_answer() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    assert_eq!(bench.interest(3, "/a/b", 2), [""; 0]);
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b", "3 < data /a/b"]);
}

#[test]
fn asking_again_is_suppressed_for_ten_milliseconds_then_for_twenty() {
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
fn who_asks_again_tries_another_next_hop() {
    let mut bench = bench();
    bench.route("/a", 4, 9);
    assert_eq!(bench.interest(1, "/a/b", 1), ["2 < interest /a/b #1"]);
    bench.pass(10);
    assert_eq!(bench.interest(1, "/a/b", 2), ["4 < interest /a/b #2"]);
}

#[test]
fn a_next_hop_that_is_down_is_skipped_and_kept() {
    let mut bench = bench();
    bench.route("/a", 4, 9);
    bench.tell(Input::FaceDown { face: FaceId(2) });
    assert_eq!(bench.interest(1, "/a/1", 1), ["4 < interest /a/1 #1"]);
    bench.up(2, FaceAttributes::value(UNLIMITED));
    assert_eq!(bench.interest(1, "/a/2", 2), ["2 < interest /a/2 #2"]);
}

#[test]
fn marks_and_fields_to_be_carried_over_go_on_and_others_do_not() {
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
fn only_a_face_with_local_fields_may_say_where_its_interest_goes() {
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
    let refused = ask(6, 99);
    assert!(refused.contains(&"6 < nack /a/b #99: no route".to_owned()), "{refused:?}");
}

#[test]
fn a_forwarding_hint_leads_where_the_name_has_no_route() {
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
fn an_interest_without_a_route_is_refused() {
    let mut bench = bench();
    let lines = bench.ask(1, question("/b", 1), |extra| extra.pit_token = token("t"));
    assert_eq!(lines, ["1 < nack /b #1: no route token=t", "drop at 1: no-route"]);
    assert_eq!(bench.node.pit_len(), 0);
}

#[test]
fn nobody_is_refused_who_leads_upstream_or_is_heard_by_many() {
    let mut bench = bench();
    let value = FaceAttributes::value(UNLIMITED);
    bench.up(5, FaceAttributes { link_type: LinkType::MultiAccess, ..value });
    assert_eq!(bench.interest(5, "/b", 1), ["drop at 5: no-route"]);
    bench.up(6, value.toward_producers());
    assert_eq!(bench.interest(6, "/b", 2), ["drop at 6: no-route"]);
}

#[test]
fn a_full_table_refuses_with_congestion() {
    let mut bench = Bench::new(3, NodeOptions { pit_limit: 1, ..NodeOptions::deterministic(0) });
    bench.interest(1, "/a/1", 1);
    let refused = ["1 < nack /a/2 #2: congestion", "drop at 1: pit-full"];
    assert_eq!(bench.interest(1, "/a/2", 2), refused);
    assert_eq!(bench.data(2, "/a/1"), ["1 < data /a/1"]);
    assert_eq!(bench.interest(1, "/a/2", 3), ["2 < interest /a/2 #3"]);
}

#[test]
fn a_strategy_decides_below_its_prefix() {
    let mut bench = bench();
    bench.route("/a", 4, 9);
    bench.node.set_strategy(&"/a/all".parse().unwrap(), "multicast").unwrap();
    assert_eq!(bench.interest(1, "/a/one", 1), ["2 < interest /a/one #1"]);
    let both = ["2 < interest /a/all/x #2", "4 < interest /a/all/x #2"];
    let mut lines = bench.interest(1, "/a/all/x", 2);
    lines.sort();
    assert_eq!(lines, both);
    assert!(bench.node.set_strategy(&"/a".parse().unwrap(), "multicats").is_err());
}
