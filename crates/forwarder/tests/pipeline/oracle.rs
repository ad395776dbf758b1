//! First transmissions from which a packet descends, on its path through a node.
use crate::bench::{Bench, cached, strategy};
use crate::tester::{Mode, Probe, Tester};
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::options::NodeConfig;
use recoup_packet::nack::NackReason;
use std::collections::BTreeMap;

fn plain(_: u32) -> NodeConfig {
    NodeConfig::deterministic(0)
}

/// Consumers at nodes 0 and 1, the producer at node 3, node 2 between them.
fn star(options: impl Fn(u32) -> NodeConfig) -> (Tester, [Probe; 2], Probe) {
    let mut tester = Tester::traced(4, options);
    for (node, delay_ms) in [(0, 10), (1, 10), (3, 20)] {
        tester.link(node, 2, delay_ms);
    }
    for (node, to) in [(0, 2), (1, 2), (2, 3)] {
        tester.route(node, "/a", to);
    }
    let (consumers, producer) = ([Probe::default(), Probe::default()], Probe::default());
    tester.attach(0, &consumers[0], &[]);
    tester.attach(1, &consumers[1], &[]);
    tester.attach(3, &producer, &["/a"]);
    (tester, consumers, producer)
}

/// Ends of tokens: time and node.
fn fates(tester: &Tester) -> Vec<&str> {
    let about = |line: &&str| line.contains("Trace") && !line.contains("Born");
    tester.log.iter().map(String::as_str).filter(about).collect()
}

/// Copies of each token that are in flight.
fn copies(tester: &Tester) -> BTreeMap<u64, i64> {
    let mut copies = BTreeMap::new();
    for line in &tester.log {
        let number = |key: &str| -> Option<u64> {
            let rest = line.split_once(key)?.1;
            rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
        };
        let Some(id) = line.contains("Trace").then(|| number("id: ")).flatten() else { continue };
        *copies.entry(id).or_default() += match () {
            () if line.contains("Born") => 1,
            () if line.contains("Copied") => number("copies: ").unwrap() as i64,
            () => -1,
        };
    }
    copies
}

#[test]
fn an_answered_interest_is_delivered() {
    let (mut tester, [consumer, _], _) = star(plain);
    consumer.ask("/a/b", 1);
    tester.run(5_000);
    assert_eq!(fates(&tester), ["60 ms, node 0: TraceDelivered { id: 0, app: AppId(0) }"]);
}

#[test]
fn token_waits_where_its_interest_is_aggregated() {
    let (mut tester, consumers, _) = star(plain);
    consumers[0].ask("/a/b", 1);
    tester.run(30);
    consumers[1].ask("/a/b", 2);
    tester.run(5_000);
    let delivered = [
        "60 ms, node 0: TraceDelivered { id: 0, app: AppId(0) }",
        "60 ms, node 1: TraceDelivered { id: 1000, app: AppId(0) }",
    ];
    assert_eq!(fates(&tester), delivered);
}

#[test]
fn waiting_token_ends_with_its_entry() {
    let (mut tester, consumers, _) = star(plain);
    tester.cut(2, 3);
    consumers[0].ask("/a/b", 1);
    tester.run(30);
    consumers[1].ask("/a/b", 2);
    tester.run(10_000);
    // The first token ended on the link, which is not observed; the second where its Interest was aggregated.
    assert_eq!(fates(&tester), ["4040 ms, node 2: TraceDied { id: 1000 }"]);
}

#[test]
fn the_store_takes_a_token_over() {
    let (mut tester, consumers, _) = star(|_| cached(10));
    consumers[0].ask("/a/b", 1);
    tester.run(100);
    consumers[1].ask("/a/b", 2);
    tester.run(5_000);
    let last = "120 ms, node 1: TraceDelivered { id: 1000, app: AppId(0) }";
    assert_eq!(fates(&tester).last(), Some(&last));
}

#[test]
fn of_two_copies_the_later_is_superseded() {
    let mut tester = Tester::traced(4, |_| strategy("multicast"));
    for (a, b, delay_ms) in [(0, 1, 10), (0, 2, 20), (1, 3, 10), (2, 3, 20)] {
        tester.link(a, b, delay_ms);
    }
    for (node, to) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        tester.route(node, "/a", to);
    }
    let (consumer, producer) = (Probe::default(), Probe::default());
    tester.attach(0, &consumer, &[]);
    tester.attach(3, &producer, &["/a"]);
    consumer.ask("/a/b", 1);
    tester.run(10_000);
    let found = fates(&tester);
    assert!(found[0].starts_with("0 ms, node 0: TraceCopied { id: 0, copies: 1 }"), "{found:?}");
    assert!(found[1].starts_with("40 ms, node 0: TraceDelivered"), "{found:?}");
    assert!(found[2].starts_with("80 ms, node 0: TraceSuperseded"), "{found:?}");
    assert_eq!(copies(&tester), BTreeMap::from([(0, 0)]));
}

#[test]
fn answer_overtaking_a_spurious_retransmission_serves_both() {
    let (mut tester, [consumer, _], _) = star(plain);
    consumer.ask("/a/b", 1);
    tester.run(50);
    consumer.ask("/a/b", 2);
    tester.run(10_000);
    // The second transmission has its own token; its answer is unsolicited.
    let found = fates(&tester);
    assert_eq!(found[0], "60 ms, node 0: TraceDelivered { id: 0, app: AppId(0) }");
    assert!(found[1].ends_with("TraceSuperseded { id: 1 }"), "{found:?}");
    assert_eq!(copies(&tester), BTreeMap::from([(0, 0), (1, 0)]));
}

#[test]
fn token_ends_with_a_nack_or_drop() {
    let (mut tester, [consumer, _], _) = star(plain);
    consumer.ask("/b", 1);
    tester.run(10);
    assert_eq!(fates(&tester), ["0 ms, node 0: TraceDied { id: 0 }"]);
    let producer = Probe::new(Mode::Nack(NackReason::Congestion));
    tester.attach(3, &producer, &["/a/nacked"]);
    consumer.ask("/a/nacked", 2);
    tester.run(5_000);
    assert_eq!(fates(&tester)[1], "40 ms, node 3: TraceDied { id: 1 }");
    assert_eq!(copies(&tester), BTreeMap::from([(0, 0), (1, 0)]));
}

#[test]
fn token_ends_when_its_interest_expires() {
    let (mut tester, [consumer, _], _) = star(plain);
    tester.attach(3, &Probe::new(Mode::Silence), &["/a/silent"]);
    consumer.ask("/a/silent", 1);
    tester.run(10_000);
    assert_eq!(fates(&tester), ["4030 ms, node 3: TraceDied { id: 0 }"]);
}

#[test]
fn tokens_are_recorded_only_if_enabled() {
    let mut bench = Bench::recording(3, NodeConfig::deterministic(0));
    let consumer = Probe::default();
    bench.node.attach(bench.now, Box::new(consumer.clone()), Vec::new());
    consumer.ask("/a/b", 1);
    let mut lines = bench.drain();
    lines.extend(bench.data(2, "/a/b"));
    assert!(!lines.iter().any(|line| line.contains("Trace")), "{lines:?}");
    assert!(size_of::<NodeEvent>() <= 24);
}

#[test]
fn answer_after_a_nack_has_no_tokens() {
    let mut tester = Tester::traced(3, |_| strategy("multipath"));
    for (a, b) in [(0, 1), (1, 2)] {
        tester.link(a, b, 10);
        tester.route(a, "/a", b);
    }
    let (consumer, near) = (Probe::default(), Probe::default());
    tester.attach(0, &consumer, &[]);
    tester.attach(1, &near, &["/a"]);
    tester.attach(2, &Probe::new(Mode::Nack(NackReason::Congestion)), &["/a"]);
    consumer.ask("/a/b", 1);
    consumer.ask("/a/c", 2);
    tester.run(5_000);
    // Both are used in turn; after the Nack of the far one the Interest goes to the near one.
    assert_eq!(near.asked().len(), 2);
    assert!(fates(&tester).iter().any(|it| it.contains("node 2: TraceDied")), "{:?}", tester.log);
    assert_eq!(copies(&tester), BTreeMap::from([(0, 0), (1, 0)]));
}
