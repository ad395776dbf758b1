//! Waiting and overload as a whole network shows them: requests through nodes.
use crate::line::{Notes, PREFIX, add, channel, line, produce, request, run};
use crate::queueing::md1_wait;
use crate::significance::{assert_within, scaled};
use recoup_sim::network::{Arrival, LinkId, LinkOptions, Network, NodeId, Popularity, RoutePlan};
use recoup_sim::statistic::Estimate;
use recoup_transport::queue::QueueLimit;
use recoup_transport::time::Duration;

const MILLISECOND: f64 = 1e-3;

/// Interests take a millisecond each to a producer whose answers take no time.
fn requests(requests: u64, arrival: Arrival, queue_packets: Option<u64>) -> Network {
    let interest_bytes = Some(1_000);
    let queue = QueueLimit { packets: queue_packets, bytes: None };
    let forth = LinkOptions { interest_bytes, queue, ..channel(8_000_000, 0) };
    let mut network = line(&[(forth, channel(0, 0))]);
    add(&mut network, "producer", 1, produce());
    add(&mut network, "consumer", 0, request(requests, arrival, Popularity::Sequential, 1 << 40));
    network
}

fn waits(notes: &Notes) -> impl Iterator<Item = f64> {
    notes.got.iter().map(|got| (got.rtt.as_secs_f64() - MILLISECOND) / MILLISECOND)
}

#[test]
fn requests_wait_as_in_lindleys_equation() {
    for (utilisation, count) in [(0.5, scaled(400_000, 60_000)), (0.8, scaled(2_000_000, 60_000))] {
        let (notes, _) = run(&requests(count, Arrival::Poisson(utilisation * 1e3), None), 1);
        assert_eq!(notes.got.len() as u64, count);
        let mut free_at = 0.0_f64;
        for (got, wait) in notes.got.iter().zip(waits(&notes)) {
            let asked = got.at.as_secs_f64() - got.rtt.as_secs_f64();
            let expected = (free_at - asked).max(0.0);
            free_at = asked + expected + MILLISECOND;
            assert!((wait * MILLISECOND - expected).abs() < 1e-7, "{got:?}: {expected}");
        }
        let mean = waits(&notes).sum::<f64>() / count as f64;
        // In a debug build there are too few requests for 2 % where much waits.
        let share = if cfg!(debug_assertions) { 0.06 } else { 0.02 };
        assert_within(&format!("wait at {utilisation}"), mean, md1_wait(utilisation), share);
    }
}

#[test]
fn node_drops_beyond_the_rate_of_a_face() {
    for load in [1.2, 1.5, 2.0] {
        let count = scaled(200_000, 20_000);
        let (notes, _) = run(&requests(count, Arrival::Constant(load * 1e3), Some(20)), 1);
        assert_eq!(notes.dropped + notes.got.len() as u64, count);
        let loss = notes.dropped as f64 / count as f64;
        assert_within(&format!("loss at {load}"), loss, 1.0 - 1.0 / load, 0.01);
    }
}

#[test]
fn node_with_exponential_processing_is_mm1() {
    // Utilisation 1/2: the mean time in the system is 1/(1000 - 500) s.
    let runs: Vec<f64> = (1..=10)
        .map(|seed| {
            let mut network = line(&[(channel(0, 0), channel(0, 0))]);
            let count = scaled(100_000, 6_000);
            let arrival = Arrival::Poisson(500.0);
            add(
                &mut network,
                "consumer",
                0,
                request(count, arrival, Popularity::Sequential, 1 << 40),
            );
            add(&mut network, "producer", 1, produce());
            network.nodes[1].processing = "exponential(mean=1ms)".parse().unwrap();
            let (notes, _) = run(&network, seed);
            let total: f64 = notes.got.iter().map(|got| got.rtt.as_secs_f64()).sum();
            total / notes.got.len() as f64
        })
        .collect();
    let estimate = Estimate::of(&runs, 0.99).unwrap();
    println!("{estimate:?}");
    assert!(estimate.compare(0.002).is_none(), "{estimate:?}");
    assert_within("time in a node", estimate.mean, 0.002, scaled(10, 50) as f64 / 1e3);
}

#[test]
fn packets_and_background_share_a_fifo() {
    // One half NDN and one half background, both Poisson: together they are one Poisson stream, and each waits as in
    // M/D/1.
    use recoup_sim::network::{ApplicationKind, BackgroundPlan, Direction};
    let means: Vec<f64> = (1..=10)
        .map(|seed| {
            let count = scaled(100_000, 6_000);
            let mut network = requests(count, Arrival::Poisson(250.0), None);
            let background = BackgroundPlan {
                link: LinkId(0),
                direction: Direction::Forth,
                frame_bytes: 1_000,
                arrival: Arrival::Poisson(250.0),
            };
            add(&mut network, "background", 0, ApplicationKind::Background(background));
            let (notes, _) = run(&network, seed);
            waits(&notes).sum::<f64>() / count as f64
        })
        .collect();
    let estimate = Estimate::of(&means, 0.99).unwrap();
    assert!(estimate.compare(md1_wait(0.5)).is_none(), "{estimate:?}");
    assert_within("wait", estimate.mean, md1_wait(0.5), scaled(20, 60) as f64 / 1e3);
}

#[test]
fn equal_routes_share_requests_in_turn() {
    let mut network = line(&[(channel(0, 1), channel(0, 1)), (channel(0, 1), channel(0, 1))]);
    // The consumer in the middle, a producer at each end.
    network.routes.clear();
    let prefix = PREFIX.parse().unwrap();
    network.routes.push(RoutePlan {
        node: NodeId(1),
        prefix,
        hops: vec![(LinkId(0), 5), (LinkId(1), 5)],
    });
    network.nodes[1].options.strategy = "multipath".parse().unwrap();
    let arrival = Arrival::Constant(1_000.0);
    add(&mut network, "consumer", 1, request(1_000, arrival, Popularity::Sequential, 1 << 40));
    add(&mut network, "left", 0, produce());
    add(&mut network, "right", 2, produce());
    let (notes, ended) = run(&network, 1);
    assert_eq!((notes.got.len(), ended.balance.hops()), (1_000, 2_000));
    assert!(notes.got.iter().all(|got| got.rtt == Duration::from_millis(2)));
}
