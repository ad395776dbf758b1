//! Cost of the fetch loop for each segment: sending, timer, sample, window, events and content, with nothing around
//! it but a link with a delay.
//!
//! `cargo run --release -p recoup-transport --example fetch_cost`
//!
//! Each line is the fastest of several runs, less the cost of the loop without the fetch loop.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures time")]
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, AppOutput, Application, Beside};
use recoup_transport::fetch::{Delivery, Fetch, FetchConfig, FetchOptions};
use recoup_transport::random::Rng;
use recoup_transport::rto::Sampling;
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant as Clock;

const SEGMENTS: u64 = 100_000;
const RUNS: usize = 15;

/// One way of using the fetch loop.
struct Case {
    title: &'static str,
    congestion: &'static str,
    sampling: Sampling,
    /// One way, and the least time between two Data.
    delay: Duration,
    spacing: Duration,
    /// So many Data arrive in one wake-up.
    batch: usize,
    delivery: Delivery,
}

const CASES: &[Case] = &[
    Case {
        title: "window that grows from 64 to 450, one Data at a time",
        congestion: "aimd(init-ssthresh=64)",
        sampling: Sampling::Every,
        delay: Duration::from_millis(30),
        spacing: Duration::from_micros(100),
        batch: 1,
        delivery: Delivery::Unordered,
    },
    Case {
        title: "window 4,000, one Data at a time",
        congestion: "aimd(max-cwnd=4000)",
        sampling: Sampling::Every,
        delay: Duration::from_millis(30),
        spacing: Duration::from_micros(2),
        batch: 1,
        delivery: Delivery::Unordered,
    },
    Case {
        title: "window 256, 44 Data at a time",
        congestion: "cubic(max-cwnd=256)",
        sampling: Sampling::Rfc7323,
        delay: Duration::from_millis(1),
        spacing: Duration::ZERO,
        batch: 44,
        delivery: Delivery::Unordered,
    },
];

fn name() -> Name {
    "/edu/example/some/movie/v=1700000000".parse().unwrap_or_default()
}

fn packets() -> Vec<Data> {
    let last = Convention::Typed.segment(SEGMENTS - 1);
    let build = |segment| {
        let name = name().append(Convention::Typed.segment(segment));
        DataBuilder::new(&name).final_block(last).build(&[0; 32], &DigestSigner)
    };
    (0..SEGMENTS).map(build).collect()
}

fn fetch(case: &Case) -> Fetch {
    let options = FetchOptions {
        rto: "jacobson(min=0s,max=20s)".parse().expect("an estimator"),
        congestion: case.congestion.parse().expect("an algorithm"),
        loss: "timeout".parse().expect("a detector"),
        sampling: case.sampling,
        ..FetchOptions::default()
    };
    let config = FetchConfig::new(name(), options, Rng::from_seed(1));
    Fetch::new(FetchConfig { delivery: case.delivery, ..config })
}

/// Runs one fetch to its end; returns the number of outputs.
fn run(case: &Case, packets: &[Data]) -> u64 {
    let mut fetch = fetch(case);
    let (mut now, mut last, mut outputs, mut asked) = (Instant::ZERO, Instant::ZERO, 0, 0);
    let mut link: VecDeque<(Instant, usize)> = VecDeque::new();
    fetch.handle(now, AppInput::FaceUp { receive_budget: None });
    loop {
        while let Some(output) = fetch.poll(now) {
            outputs += 1;
            if let AppOutput::Interest(interest) = output {
                black_box(&interest);
                last = (now + 2 * case.delay).max(last + case.spacing);
                link.push_back((last, asked));
                asked += 1;
            }
        }
        black_box(fetch.deadline());
        let Some((at, _)) = link.front() else {
            return outputs;
        };
        now = *at;
        for _ in 0..case.batch {
            let Some((at, segment)) = link.pop_front() else { break };
            now = now.max(at);
            let data = packets[segment % packets.len()].clone();
            fetch.handle(
                now,
                AppInput::Data { data, congestion_mark: 0, beside: Beside::default() },
            );
        }
    }
}

/// Runs the loop without a fetch loop.
fn run_empty(case: &Case, packets: &[Data]) -> u64 {
    let (mut now, mut last, mut asked) = (Instant::ZERO, Instant::ZERO, 0);
    let mut link: VecDeque<(Instant, usize)> = VecDeque::new();
    while asked < packets.len() {
        last = (now + 2 * case.delay).max(last + case.spacing);
        link.push_back((last, asked));
        asked += 1;
        if link.len() >= 64 {
            let Some((at, segment)) = link.pop_front() else { break };
            now = now.max(at);
            black_box(packets[segment].clone());
        }
    }
    asked as u64
}

/// Nanoseconds per segment.
fn time(what: impl Fn() -> u64) -> (f64, u64) {
    let begun = Clock::now();
    let outputs = what();
    (begun.elapsed().as_nanos() as f64 / SEGMENTS as f64, outputs)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn main() {
    let packets = packets();
    for case in CASES {
        let (mut with, mut without, mut outputs) = (Vec::new(), Vec::new(), 0);
        for _ in 0..RUNS {
            let (nanos, count) = time(|| run(case, &packets));
            with.push(nanos);
            outputs = count;
            without.push(time(|| run_empty(case, &packets)).0);
        }
        let (with, without) = (least(&with), least(&without));
        println!(
            "{}: {:.0} ns per segment ({:.1} outputs; {with:.0} ns with the loop around it)",
            case.title,
            with - without,
            outputs as f64 / SEGMENTS as f64
        );
    }
}
