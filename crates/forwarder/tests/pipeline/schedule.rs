//! Faces with schedulers: pacing, queueing, drops.
use crate::bench::{Bench, UNLIMITED, cached, question};
use recoup_forwarder::face::{FaceAttributes, FaceId, Marking};
use recoup_forwarder::node::{Input, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_packet::lp::field;
use recoup_transport::queue::{Capacity, Scheduling};
use recoup_transport::time::Duration;

/// Face 2, upstream, receives at 1 Mbit/s: an Interest that may request 1,024 bytes takes 8.192 ms of it.
fn bench(scheduler: &str, options: NodeConfig) -> Bench {
    let mut bench = Bench::new(3, options);
    let discipline = scheduler.parse().unwrap();
    let scheduling = Box::new(Scheduling { discipline, capacity: Capacity::symmetric(1_000_000) });
    bench.feed(Input::Schedule { face: FaceId(2), scheduling });
    bench
}

#[test]
fn interests_are_paced_by_their_data() {
    let mut bench = bench("drr(load=1)", NodeConfig::deterministic(0));
    assert_eq!(bench.interest(1, "/a/v=1/seg=0", 1), ["2 < interest /a/v=1/seg=0 #1"]);
    for (segment, nonce) in [(1, 2), (2, 3)] {
        assert_eq!(bench.interest(1, &format!("/a/v=1/seg={segment}"), nonce), [""; 0]);
    }
    assert_eq!(bench.node.queue(FaceId(2)).unwrap().packets, 2);
    assert_eq!(
        bench.pass(100),
        ["8 ms: 2 < interest /a/v=1/seg=1 #2", "16 ms: 2 < interest /a/v=1/seg=2 #3"]
    );
}

#[test]
fn neighbours_take_turns_without_delaying_data() {
    let mut bench = bench("max-min", NodeConfig::deterministic(0));
    for segment in 0..4 {
        bench.interest(1, &format!("/a/v=1/seg={segment}"), segment);
    }
    bench.interest(3, "/a/other/v=1/seg=0", 100);
    bench.interest(3, "/a/other/v=1/seg=1", 101);
    let left = bench.pass(200);
    let of = |what: &str| left.iter().position(|line| line.contains(what));
    assert!(of("/a/other/v=1/seg=1") < of("/a/v=1/seg=3"), "{left:?}");
    let data = bench.data(2, "/a/v=1/seg=0");
    assert_eq!(data, ["1 < data /a/v=1/seg=0"]);
}

#[test]
fn marks_count_what_waits_at_the_gate() {
    let mut bench = bench("drr(load=1)", NodeConfig::deterministic(0));
    let marking = Marking { threshold_bytes: 100, interval: Duration::from_millis(20) };
    let marking = Some(marking.into());
    bench.feed(Input::FaceDown { face: FaceId(2) });
    bench.up(2, FaceAttributes { marking, ..FaceAttributes::value(UNLIMITED) });
    bench.feed(Input::Route(RouteChange {
        prefix: "/a".parse().unwrap(),
        face: FaceId(2),
        cost: Some(1),
    }));
    for segment in 0..20 {
        bench.interest(1, &format!("/a/v=1/seg={segment}"), segment);
    }
    let left = bench.pass(300);
    let is_marked = |line: &String| line.contains("mark=");
    let marked: Vec<_> = left.iter().map(is_marked).collect();
    assert_eq!(left.len(), 19, "{left:?}");
    assert!(!marked[0] && !marked[1], "not at once: {left:?}");
    assert!(marked.iter().any(|it| *it) && !marked[18], "while many wait: {left:?}");
    let count = marked.iter().filter(|it| **it).count() as u64;
    assert_eq!(bench.node.counters().marked, count);
}

#[test]
fn queue_is_dropped_with_its_face() {
    let mut bench = bench("drr(flow-queue=1)", NodeConfig::deterministic(0));
    bench.interest(1, "/a/v=1/seg=0", 1);
    bench.interest(1, "/a/v=1/seg=1", 2);
    assert_eq!(bench.interest(1, "/a/v=1/seg=2", 3), ["drop at 2: flow-full"]);
    let lines = bench.feed(Input::FaceDown { face: FaceId(2) });
    assert!(lines.contains(&"drop at 2: no-face".to_owned()), "{lines:?}");
    bench.up(2, FaceAttributes::value(UNLIMITED));
    assert_eq!(bench.node.queue(FaceId(2)).unwrap().packets, 0, "the new gate is empty");
}

#[test]
fn flow_nonce_returns_to_each_consumer() {
    let mut bench = bench("max-min", cached(10));
    let nonce = |nonce: u64| {
        move |extra: &mut recoup_forwarder::packet::Extra| {
            field::set_flow_nonce(&mut extra.carried, nonce);
        }
    };
    let ask = question("/a/v=1/seg=0", 1);
    assert_eq!(bench.ask(1, ask, nonce(7)), ["2 < interest /a/v=1/seg=0 #1 field=900"]);
    bench.interest(3, "/a/v=1/seg=0", 2);
    let back = bench.data(2, "/a/v=1/seg=0");
    assert_eq!(back, ["1 < data /a/v=1/seg=0 field=900", "3 < data /a/v=1/seg=0"]);
    // Also from the store.
    let again = bench.ask(1, question("/a/v=1/seg=0", 3), nonce(8));
    assert_eq!(again, ["1 < data /a/v=1/seg=0 field=900"]);
}
