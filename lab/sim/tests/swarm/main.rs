//! The swarm: random simulations, one for each seed, and invariants that hold in all of them.
//!
//! A seed decides topology, channels, losses, faults, content stores, strategies, suppression, schedulers, processing
//! times, routes (sometimes wrong ones) and applications. The [`checker`] tests the invariants: packets are conserved
//! and
//! nothing stalls; every Interest ends with Data, a timeout or a Nack; windows are at least 1; time never goes
//! backwards;
//! and a second run is equal.
//!
//! ```sh
//! cargo test -p recoup-sim --test swarm                                  # 2,000 seeds
//! RECOUP_SWARM_SEEDS=1000..20000 cargo test --release -p recoup-sim --test swarm
//! RECOUP_SWARM_SEED=1234 cargo test -p recoup-sim --test swarm -- --nocapture   # replays one, and prints it
//! ```
mod channel;
mod checker;
mod consumer;
mod dice;
mod explain;
mod plan;
mod run;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Seeds without `RECOUP_SWARM_SEEDS`.
const SEEDS: Range<u64> = 1..2_001;

#[expect(clippy::disallowed_methods, reason = "the user chooses the seeds")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[test]
fn invariants_hold_in_every_simulation() {
    if let Some(seed) = setting("RECOUP_SWARM_SEED") {
        return explain::replay(seed.trim().parse().expect("RECOUP_SWARM_SEED is a number"));
    }
    let seeds = setting("RECOUP_SWARM_SEEDS").map_or(SEEDS, |text| range(&text));
    let failures = failures(seeds.clone());
    for (seed, what) in failures.iter().take(10) {
        println!("seed {seed}: {what}");
    }
    if let Some((seed, _)) = failures.first() {
        explain::print(*seed);
        panic!(
            "{} of {seeds:?} failed; RECOUP_SWARM_SEED={seed} replays the first",
            failures.len()
        );
    }
}

fn range(text: &str) -> Range<u64> {
    let ends = text.split_once("..").expect("RECOUP_SWARM_SEEDS is a range such as 1000..2000");
    let number = |text: &str| text.trim().parse().expect("the ends of a range are numbers");
    number(ends.0)..number(ends.1)
}

/// Runs all seeds on as many threads as there are processors; the seeds that failed, in order.
fn failures(seeds: Range<u64>) -> Vec<(u64, String)> {
    let next = AtomicU64::new(seeds.start);
    let (failures, facts) = (Mutex::new(Vec::new()), Mutex::new(run::Facts::default()));
    let worker = || {
        let mut sum = run::Facts::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                break;
            }
            match explain::caught(|| run::check(seed)) {
                Ok(run) => sum.add(&run),
                Err(what) => failures.lock().unwrap().push((seed, what)),
            }
        }
        facts.lock().unwrap().add(&sum);
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            scope.spawn(worker);
        }
    });
    println!("{:#?}", facts.into_inner().unwrap());
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    failures
}
