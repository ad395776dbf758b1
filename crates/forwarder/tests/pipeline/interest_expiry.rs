//! Expiry of pending Interests.
use crate::bench::{Bench, question, special};
use recoup_forwarder::limits::MAX_LIFETIME;
use recoup_forwarder::options::NodeConfig;
use recoup_packet::interest::Interest;
use recoup_transport::time::{Duration, Instant};

fn lasting(millis: u64, nonce: u32) -> Interest {
    special("/a/b", nonce, |it| it.lifetime = Some(Duration::from_millis(millis)))
}

#[test]
fn a_pending_interest_ends_with_its_lifetime() {
    let mut bench = Bench::recording(3, NodeConfig::deterministic(0));
    let hash = bench.hasher().hash(question("/a/b", 1).name.value());
    bench.ask(1, lasting(300, 1), |_| {});
    assert_eq!(bench.node.deadline(), Some(Instant::from_millis(300)));
    assert_eq!(bench.pass(1_000), [format!("300 ms: PitExpired {{ hash: {hash} }}")]);
    assert_eq!((bench.node.pit_len(), bench.node.deadline()), (0, None));
    assert_eq!(bench.data(2, "/a/b"), ["drop at 2: unsolicited"]);
}

#[test]
fn entry_lasts_until_its_last_in_record_expires() {
    let mut bench = Bench::new(3, NodeConfig::deterministic(0));
    bench.ask(1, lasting(300, 1), |_| {});
    bench.pass(200);
    bench.ask(3, lasting(300, 2), |_| {});
    assert_eq!(bench.node.deadline(), Some(Instant::from_millis(500)));
    bench.pass(400);
    // The in-record of the first face has expired.
    assert_eq!(bench.data(2, "/a/b"), ["3 < data /a/b"]);
}

#[test]
fn retransmission_extends_the_entry() {
    let mut bench = Bench::new(3, NodeConfig::deterministic(0));
    bench.ask(1, lasting(300, 1), |_| {});
    bench.pass(200);
    bench.ask(1, lasting(300, 2), |_| {});
    bench.pass(499);
    assert_eq!(bench.data(2, "/a/b"), ["1 < data /a/b"]);
}

#[test]
fn lifetime_of_an_interest_is_limited() {
    let mut bench = Bench::new(3, NodeConfig::deterministic(0));
    bench.ask(1, lasting(u64::MAX / 1_000_000, 1), |_| {});
    assert_eq!(bench.node.deadline(), Some(Instant::ZERO + MAX_LIFETIME));
}

#[test]
fn an_interest_without_lifetime_lasts_four_seconds() {
    let mut bench = Bench::new(3, NodeConfig::deterministic(0));
    bench.ask(1, special("/a/b", 1, |it| it.lifetime = None), |_| {});
    assert_eq!(bench.node.deadline(), Some(Instant::from_millis(4_000)));
}
