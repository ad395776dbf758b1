//! Exchanges between a node and its applications.
use crate::bench::{Bench, UNLIMITED, answer};
use crate::tester::{Mode, Probe, Tester};
use recoup_forwarder::face::{AppId, FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_transport::application::{AppOutput, ReturnPath};

fn attach(bench: &mut Bench, probe: &Probe, prefixes: &[&str]) -> AppId {
    let prefixes = prefixes.iter().map(|uri| uri.parse().unwrap()).collect();
    bench.node.attach(bench.now, Box::new(probe.clone()), prefixes)
}

fn bench() -> Bench {
    Bench::new(2, NodeConfig::deterministic(0))
}

#[test]
fn consumer_and_producer_exchange_over_a_line() {
    let mut tester = Tester::new(3, |_| NodeConfig::deterministic(0));
    tester.link(0, 1, 10);
    tester.link(1, 2, 5);
    tester.route(0, "/a", 1);
    tester.route(1, "/a", 2);
    let (consumer, producer) = (Probe::default(), Probe::default());
    tester.attach(0, &consumer, &[]);
    tester.attach(2, &producer, &["/a"]);
    consumer.ask("/a/b", 1);
    tester.run(1_000);
    assert_eq!(producer.received(), ["15 ms: interest /a/b"]);
    assert_eq!(consumer.received(), ["0 ms: up", "30 ms: data /a/b"]);
    assert_eq!(tester.log, [""; 0]);
}

#[test]
fn applications_of_one_node_need_no_face() {
    let mut bench = bench();
    let (consumer, producer) = (Probe::default(), Probe::default());
    attach(&mut bench, &consumer, &[]);
    attach(&mut bench, &producer, &["/here"]);
    consumer.received();
    consumer.ask("/here/x", 1);
    assert_eq!(bench.drain(), [""; 0]);
    assert_eq!(consumer.received(), ["0 ms: data /here/x"]);
}

#[test]
fn longest_prefix_selects_the_application() {
    let mut bench = bench();
    let (short, long) = (Probe::default(), Probe::default());
    attach(&mut bench, &short, &["/a"]);
    attach(&mut bench, &long, &["/a/long"]);
    assert_eq!(bench.interest(1, "/a/long/x", 1), ["1 < data /a/long/x"]);
    assert_eq!((short.asked().len(), long.asked().len()), (0, 1));
}

#[test]
fn answer_returns_once_and_before_expiry() {
    let mut bench = bench();
    let producer = Probe::new(Mode::Silence);
    attach(&mut bench, &producer, &["/here"]);
    bench.interest(1, "/here/x", 1);
    let (_, path) = producer.asked()[0];
    let put = |uri, path| producer.put(AppOutput::Data { data: answer(uri), path });
    put("/here/other", path);
    assert_eq!(bench.drain(), ["drop at app 0: unsolicited"]);
    put("/here/x", path);
    put("/here/x", path);
    assert_eq!(bench.drain(), ["1 < data /here/x", "drop at app 0: unsolicited"]);
    // The entry is reused, but the return path differs.
    bench.interest(1, "/here/x", 2);
    put("/here/x", path);
    assert_eq!(bench.drain(), ["drop at app 0: unsolicited"]);
    let (_, path) = producer.asked()[0];
    bench.pass(5_000);
    put("/here/x", path);
    put("/here/x", ReturnPath(u64::MAX));
    assert_eq!(bench.drain(), ["drop at app 0: unsolicited", "drop at app 0: unsolicited"]);
}

#[test]
fn application_without_uplink_gets_no_nack() {
    let mut bench = Bench::new(0, NodeConfig::deterministic(0));
    let consumer = Probe::default();
    attach(&mut bench, &consumer, &[]);
    consumer.ask("/b", 1);
    assert_eq!(bench.drain(), ["drop at app 0: no-route"]);
    assert_eq!(consumer.received(), [""; 0]);
    // The route to face 2 is an uplink as soon as the face is up.
    bench.up(2, FaceAttributes::value(UNLIMITED));
    consumer.ask("/b", 2);
    assert_eq!(bench.drain(), ["drop at app 0: no-route"]);
    assert_eq!(consumer.received(), ["0 ms: up", "0 ms: nack /b: no route"]);
    let prefix = "/a".parse().unwrap();
    bench.feed(Input::Route(RouteChange { prefix, face: FaceId(2), cost: None }));
    assert_eq!(consumer.received(), ["0 ms: down"]);
}

#[test]
fn self_answering_node_needs_no_face() {
    let mut bench =
        Bench::new(0, NodeConfig { answers_itself: true, ..NodeConfig::deterministic(0) });
    let (consumer, producer) = (Probe::default(), Probe::default());
    attach(&mut bench, &producer, &["/a"]);
    attach(&mut bench, &consumer, &[]);
    consumer.ask("/a/1", 1);
    consumer.ask("/b", 2);
    bench.drain();
    assert_eq!(producer.asked().len(), 1);
    assert_eq!(consumer.received(), ["0 ms: up", "0 ms: nack /b: no route", "0 ms: data /a/1"]);
}

#[test]
fn upstream_face_is_the_default_route() {
    let mut bench = bench();
    let upstream = FaceAttributes::value(UNLIMITED).toward_producers();
    bench.up(7, upstream);
    bench.up(5, upstream);
    assert_eq!(bench.interest(1, "/b", 1), ["5 < interest /b #1"]);
    bench.feed(Input::FaceDown { face: FaceId(5) });
    assert_eq!(bench.interest(1, "/c", 2), ["7 < interest /c #2"]);
    bench.up(5, upstream);
    assert_eq!(bench.interest(1, "/d", 3), ["5 < interest /d #3"]);
}

#[test]
fn detached_application_leaves_nothing() {
    let mut bench = bench();
    let (consumer, producer) = (Probe::default(), Probe::new(Mode::Silence));
    let app = attach(&mut bench, &consumer, &[]);
    consumer.ask("/a/x", 1);
    bench.drain();
    bench.node.detach(app);
    assert_eq!(bench.drain(), ["drop at app 0: no-face"]);
    assert_eq!(bench.data(2, "/a/x"), ["drop at 2: unsolicited"]);
    let app = attach(&mut bench, &producer, &["/here"]);
    bench.interest(1, "/here/x", 2);
    bench.node.detach(app);
    bench.node.detach(app);
    assert!(bench.node.routes().all(|(prefix, _)| prefix.to_string() == "/a"));
    let nacked = ["1 < nack /here/y #3: no route", "drop at 1: no-route"];
    assert_eq!(bench.interest(1, "/here/y", 3), nacked);
}

#[test]
fn in_records_end_with_their_face() {
    let mut bench = Bench::new(3, NodeConfig::deterministic(0));
    bench.interest(1, "/a/x", 1);
    bench.interest(1, "/a/y", 2);
    bench.interest(3, "/a/y", 3);
    let lines = bench.feed(Input::FaceDown { face: FaceId(1) });
    assert_eq!(lines, ["drop at 1: no-face", "drop at 1: no-face"]);
    assert_eq!(bench.node.pit_len(), 1);
    assert_eq!(bench.data(2, "/a/y"), ["3 < data /a/y"]);
}

#[test]
fn routes_of_a_temporary_face_end_with_it() {
    let mut bench = bench();
    bench.up(5, FaceAttributes::wire(1_400));
    bench.route("/b", 5, 1);
    bench.feed(Input::FaceDown { face: FaceId(5) });
    bench.feed(Input::FaceDown { face: FaceId(2) });
    let prefixes: Vec<_> = bench.node.routes().map(|(prefix, _)| prefix.to_string()).collect();
    assert_eq!(prefixes, ["/a"]);
}
