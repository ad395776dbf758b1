//! Reports of nodes to consumers: the provider of Data, and the holders of announced names.
use crate::bench::{cached, question};
use crate::tester::{Mode, Probe, Tester};
use recoup_forwarder::options::{Anticipation, NodeConfig};
use recoup_packet::lp::anticipation::{Record, encode_names, records};
use recoup_packet::lp::{Ignorable, field};
use recoup_packet::name::Name;
use recoup_transport::application::{AppOutput, Beside};
use std::sync::Arc;

/// A row of three nodes, 10 and 30 ms apart, and a producer behind the last one. Node `n` has identifier `n + 1`.
fn row(anticipation: Anticipation, has_identifier: impl Fn(u32) -> bool) -> (Tester, Probe) {
    let mut tester = Tester::new(3, |node| {
        let plain = if node == 1 { cached(10) } else { NodeConfig::deterministic(0) };
        let provider_id = has_identifier(node).then_some(u64::from(node) + 1);
        NodeConfig { provider_id, ..plain }.with(|it| it.anticipation = anticipation)
    });
    for (near, far, delay_ms) in [(0, 1, 10), (1, 2, 30)] {
        tester.link(near, far, delay_ms);
        tester.route(near, "/", far);
    }
    let (consumer, producer) = (Probe::default(), Probe::new(Mode::Answer));
    tester.attach(0, &consumer, &[]);
    tester.attach(2, &producer, &["/p"]);
    (tester, consumer)
}

fn announce(consumer: &Probe, uri: &str, nonce: u32, announced: &[&str]) {
    let names: Vec<Name> = announced.iter().map(|uri| uri.parse().unwrap()).collect();
    let mut fields = Ignorable::default();
    fields.set(field::ANTICIPATED, encode_names(&names));
    let interest = Arc::new(question(uri, nonce));
    consumer.put(AppOutput::InterestWith { interest, fields: Box::new(fields) });
}

fn records_of(beside: &Beside) -> Vec<Record> {
    let fields = beside.fields.as_ref();
    let value = fields.and_then(|fields| fields.get(field::RECORDS));
    value.map(|value| records(value).collect()).unwrap_or_default()
}

const fn millis(node: u64, holds: u16, millis: u64) -> Record {
    Record { node, holds, is_origin: false, time_nanos: millis * 1_000_000 }
}

#[test]
fn data_carries_the_provider() {
    let (mut tester, consumer) = row(Anticipation::Off, |_| true);
    consumer.ask("/p/a", 1);
    tester.run(100);
    consumer.ask("/p/a", 2);
    tester.run(200);
    let providers: Vec<_> = consumer.beside().iter().map(|beside| beside.provider).collect();
    assert_eq!(providers, [Some(3), Some(2)], "the producer's node, then the cache");
}

#[test]
fn provider_is_unknown_without_identifier() {
    let (mut tester, consumer) = row(Anticipation::All, |node| node != 2);
    announce(&consumer, "/p/a", 1, &["/p/b"]);
    tester.run(100);
    let beside = consumer.beside();
    assert_eq!(beside[0].provider, None);
    let nodes: Vec<_> = records_of(&beside[0]).iter().map(|record| record.node).collect();
    assert_eq!(nodes, [1, 2]);
}

#[test]
fn records_carry_holders_and_their_round_trips() {
    let (mut tester, consumer) = row(Anticipation::Holders, |_| true);
    consumer.ask("/p/b", 1);
    tester.run(100);
    announce(&consumer, "/p/a", 2, &["/p/c", "/p/b"]);
    tester.run(200);
    let found = records_of(&consumer.beside()[1]);
    // Node 2 has the second name, and waited 60 ms for the answer; the producer of node 3 answered.
    let origin = Record { is_origin: true, ..millis(3, 0, 0) };
    assert_eq!(found, [millis(2, 0b10, 60), origin]);
}

#[test]
fn answer_from_a_cache_has_its_record() {
    let (mut tester, consumer) = row(Anticipation::All, |_| true);
    consumer.ask("/p/b", 1);
    tester.run(100);
    announce(&consumer, "/p/b", 2, &["/p/b", "/p/z"]);
    tester.run(200);
    let found = records_of(&consumer.beside()[1]);
    assert_eq!(found, [millis(1, 0, 20), millis(2, 0b01, 0)]);
}

#[test]
fn without_an_announcement_nothing_is_recorded() {
    let (mut tester, consumer) = row(Anticipation::All, |_| true);
    consumer.ask("/p/a", 1);
    tester.run(100);
    assert_eq!(consumer.beside(), [Beside { provider: Some(3), ..Beside::default() }]);
}

#[test]
fn malformed_announcement_is_ignored() {
    let (mut tester, consumer) = row(Anticipation::All, |_| true);
    let mut fields = Ignorable::default();
    fields.set(field::ANTICIPATED, bytes::Bytes::from_static(&[1, 2, 3]));
    fields.set(field::RECORDS, bytes::Bytes::from_static(&[9; 21]));
    let interest = Arc::new(question("/p/a", 1));
    consumer.put(AppOutput::InterestWith { interest, fields: Box::new(fields) });
    tester.run(100);
    let found = records_of(&consumer.beside()[0]);
    assert_eq!(found.len(), 4, "a foreign record, and the three nodes'");
    assert!(found[1..].iter().all(|record| record.holds == 0));
}
