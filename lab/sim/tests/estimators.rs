//! Estimators of the timeout in networks with caches: their inputs, and their estimates.
#[path = "simulation/build.rs"]
mod build;

use build::{applications, line, link, produce, request};
use recoup_sim::metric::{Detail, Metrics, Summary};
use recoup_sim::network::{
    Anticipation, ApplicationKind, Arrival, CsCapacity, Network, Popularity, Stop,
};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::simulation::Simulation;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::rto;
use recoup_transport::time::{Duration, Instant};

/// The timeouts of first transmissions, and what was smoothed, by request.
#[derive(Default)]
struct Seen {
    timeouts: Vec<Duration>,
    smoothed: Vec<Duration>,
}

impl Observer for Seen {
    fn on(&mut self, _: Instant, observation: &Observation<'_>) {
        let Observation::Application { report: Report::Event(event), .. } = observation else {
            return;
        };
        match event {
            Event::Sent { transmissions: 1, rto, .. } => self.timeouts.push(rto.duration()),
            Event::Sampled { srtt, .. } => self.smoothed.push(srtt.duration()),
            _ => {}
        }
    }
}

/// A consumer, a router with a cache 10 ms from it, and a producer 40 ms further on. The consumer requests contents in
/// turn, in rounds of `contents`.
fn setup(rto: &str, contents: u64, requests: u64) -> Network {
    let mut network = line(3, &link(0, 5));
    network.links[1].forth = link(0, 20);
    network.links[1].back = link(0, 20);
    network.nodes[1].options.cache = CsCapacity::Packets(1_000);
    for node in &mut network.nodes {
        (node.options.provider_ids, node.options.anticipation) = (true, Anticipation::All);
    }
    applications(
        &mut network,
        [produce(2, "/d", 100), request(0, "/d", Arrival::Constant(10.0), requests)],
    );
    if let ApplicationKind::Request(plan) = &mut network.applications[1].kind {
        plan.contents = contents;
        (plan.popularity, plan.rto) = (Popularity::Sequential, rto.parse().ok());
    }
    network.follow_transmissions = true;
    network.stop = Stop { at: Instant::from_millis(1_000_000), when_done: true };
    network
}

fn run(network: Network) -> (Summary, Seen) {
    let mut metrics = Metrics::new(&network, Detail::default());
    let mut seen = Seen::default();
    let ended = Simulation::new(network, 1).unwrap().run(&mut [&mut metrics, &mut seen]);
    (metrics.finish(ended.at), seen)
}

const MS: fn(u64) -> Duration = Duration::from_millis;

const PREDICTIVE: &str = "predictive(names=5,ttl=10s,beta=1/80,k=1)";

/// The mean of some timeouts.
fn mean(timeouts: &[Duration]) -> Duration {
    timeouts.iter().sum::<Duration>() / timeouts.len() as u32
}

#[test]
fn prediction_waits_no_longer_than_the_cache_takes() {
    // The first 50 requests go to the producer (50 ms), the next 50 to the router (10 ms).
    let (_, Seen { timeouts, .. }) = run(setup(PREDICTIVE, 50, 100));
    let (far, near) = (mean(&timeouts[40..50]), mean(&timeouts[90..]));
    assert!(far > MS(50) && far < MS(75), "{far:?}");
    assert!(near > MS(10) && near < MS(15), "{near:?}");
}

#[test]
fn first_request_for_cached_content_is_predicted() {
    // At request 51 an estimator of all round trips still expects the producer.
    let (_, Seen { timeouts, .. }) = run(setup(PREDICTIVE, 50, 60));
    assert!(timeouts[50] < MS(15), "{:?}", timeouts[50]);
    let (_, Seen { timeouts, .. }) = run(setup("nikzad2022(beta=1/80,k=1)", 50, 60));
    assert!(timeouts[50] > MS(50), "{:?}", timeouts[50]);
}

#[test]
fn estimates_by_provider_are_weighed_by_their_answers() {
    let (_, Seen { smoothed, .. }) = run(setup("per-provider(min=1s)", 50, 100));
    let last = smoothed[99].as_secs_f64();
    assert!((last - 0.03).abs() < 1e-6, "half of the answers took 50 ms, half 10 ms: {last}");
    let fresh = "per-provider(weight=freshness,tau=100ms,min=1s)";
    let (_, Seen { smoothed, .. }) = run(setup(fresh, 50, 100));
    assert!(smoothed[99] < MS(11), "{:?}", smoothed[99]);
}

#[test]
fn without_provider_ids_all_answers_are_one_providers() {
    let mut network = setup("per-provider(min=1s,alpha=1)", 50, 100);
    for node in &mut network.nodes {
        (node.options.provider_ids, node.options.anticipation) = (false, Anticipation::Off);
    }
    let (_, Seen { smoothed, .. }) = run(network);
    assert_eq!(smoothed[99], MS(10), "the last sample counts alone");
}

#[test]
fn near_content_gets_a_short_timeout() {
    let mut network = setup("nearness(beta=1/80,k=1,trust=8)", 1_000, 400);
    if let ApplicationKind::Request(plan) = &mut network.applications[1].kind {
        plan.popularity = Popularity::ZipfMandelbrot { q: 0.0, s: 1.2 };
    }
    let (summary, Seen { timeouts, .. }) = run(network);
    let shortest = timeouts[200..].iter().min().unwrap();
    let longest = timeouts[200..].iter().max().unwrap();
    // Far shorter than a round trip to the producer, which takes 50 ms.
    assert!(*shortest < MS(25) && *longest > MS(50), "{shortest:?} {longest:?}");
    assert_eq!(summary.get("all.good_timeouts"), Some(0.0), "nothing is lost");
}

#[test]
fn every_estimator_completes_a_lossy_catalogue() {
    // Those that set the lifetime have tests of their own, and a constant learns nothing.
    let learns = |name: &&str| *name != "constant" && !rto::parse(name).unwrap().sets_lifetime();
    let more = ["nikzad2022(gains=very-slow,min=100ms)", "reconsidered(min=adaptive)"];
    for rto in rto::names().filter(learns).chain(more) {
        let mut network = setup(rto, 200, 1_000);
        network.links[1].back.loss = "bernoulli(p=0.1)".parse().unwrap();
        if let ApplicationKind::Request(plan) = &mut network.applications[1].kind {
            plan.popularity = Popularity::ZipfMandelbrot { q: 16.0, s: 1.0 };
            plan.arrival = Arrival::Window(Box::new("nikzad2022".parse().unwrap()));
        }
        let (summary, _) = run(network);
        assert_eq!(summary.get("all.segments"), Some(1_000.0), "{rto}");
        let judged =
            ["all.b", "all.w"].map(|it| summary.get(it).unwrap_or_else(|| panic!("{rto}: {it}")));
        let [b, w] = judged;
        assert!((0.0..1.0).contains(&b) && w > 0.1 && w < 100.0, "{rto}: B {b}, W {w}");
        assert!(summary.get("request-1.window_max").is_some_and(|most| most > 3.0), "{rto}");
    }
}
