//! Incoming Data.
use crate::bench::{Bench, UNLIMITED, answer, question, special, token};
use recoup_forwarder::face::{FaceAttributes, LinkType};
use recoup_forwarder::node::{Input, Output};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::{Body, Packet};
use recoup_packet::name::Component;

fn bench() -> Bench {
    Bench::new(4, NodeConfig::deterministic(0))
}

#[test]
fn data_goes_downstream_with_each_token() {
    let mut bench = bench();
    bench.ask(1, question("/a/b", 1), |extra| extra.pit_token = token("one"));
    bench.ask(3, question("/a/b", 2), |extra| extra.pit_token = token("three"));
    bench.interest(4, "/a/b", 3);
    let lines = ["1 < data /a/b token=one", "3 < data /a/b token=three", "4 < data /a/b"];
    assert_eq!(bench.data(2, "/a/b"), lines);
    assert_eq!(bench.data(2, "/a/b"), ["drop at 2: unsolicited"]);
}

#[test]
fn data_does_not_return_by_its_ingress() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    bench.interest(3, "/a/b", 2);
    assert_eq!(bench.data(3, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn data_returns_by_its_ingress_only_ad_hoc() {
    for (link_type, lines) in
        [(LinkType::AdHoc, &["5 < data /a/b"][..]), (LinkType::MultiAccess, &[])]
    {
        let mut bench = bench();
        bench.up(5, FaceAttributes { link_type, ..FaceAttributes::value(UNLIMITED) });
        bench.interest(5, "/a/b", 1);
        assert_eq!(bench.data(5, "/a/b"), lines, "{link_type:?}");
    }
}

#[test]
fn data_answers_prefixes_digests_and_names() {
    let mut bench = bench();
    let data = answer("/a/b/c");
    let digest = data.name().append(Component::implicit_digest(&data.implicit_digest()));
    bench.interest(1, "/a/b/c", 1);
    bench.ask(3, special("/a/b", 2, |it| it.can_be_prefix = true), |_| {});
    bench.ask(4, special("/", 3, |it| it.name = digest), |_| {});
    bench.interest(1, "/a/b", 4);
    let mut lines = bench.data(2, "/a/b/c");
    lines.sort();
    assert_eq!(lines, ["1 < data /a/b/c", "3 < data /a/b/c", "4 < data /a/b/c"]);
    // The shorter name without CanBePrefix is still pending.
    assert_eq!(bench.node.pit_len(), 1);
}

#[test]
fn remote_data_below_localhost_is_dropped() {
    let mut bench = bench();
    assert_eq!(bench.data(2, "/localhost/x"), ["drop at 2: scope"]);
}

#[test]
fn a_mark_goes_on_with_the_data() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    let mut packet = Packet::data(answer("/a/b"), &bench.hasher());
    packet.hop.congestion_mark = 2;
    assert_eq!(bench.packet(2, packet), ["1 < data /a/b mark=2"]);
}

#[test]
fn the_packet_is_shared_not_copied() {
    let mut bench = bench();
    bench.interest(1, "/a/b", 1);
    let data = answer("/a/b");
    let packet = Packet::data(data.clone(), &bench.hasher());
    let face = recoup_forwarder::face::FaceId(2);
    bench.node.handle(bench.now, Input::Packet { face, packet });
    let Some(Output::Transmit { packet, .. }) = bench.node.poll(bench.now) else { panic!() };
    let Body::Data(sent) = &packet.body else { panic!() };
    assert_eq!(sent.content().as_ptr(), data.content().as_ptr());
}
