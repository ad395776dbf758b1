//! Gain of loss detectors: completion times against timers alone, over losses and reordering.
//!
//! `cargo run --release -p recoup-sim --example recovery [seeds [windows…]]`
//!
//! One consumer, three links, the middle one of 10 or 100 Mbit/s; Data is lost there, or overtakes other Data. Each
//! line compares runs that differ only in the detector, seed by seed. It shows geometric means with 95 % intervals: the
//! ratio of completion times, and that of the 99th percentile of the delay of a segment. Means of retransmissions and
//! of known false alarms follow.
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::metric::{Detail, Metrics, Summary};
use recoup_sim::simulation::Simulation;
use recoup_sim::statistic::moments::Moments;
use recoup_sim::statistic::student;

const SCENARIO: &str = r#"
stop = "1 h"
topology = { kind = "line", nodes = 4, names = ["c", "r1", "r2", "p"] }
link = { rate = "1 Gbit/s", delay = "5 ms", queue = "1000 packets", overhead = "46 B" }
[applications.fetch]
kind = "fetch"
node = "c"
object = "/p/file"
rto = "jacobson"
[applications.serve]
kind = "serve"
node = "p"
prefix = "/p/file"
"#;

/// The middle link: its rate, the content of a segment, and the length of the object.
const PATHS: [(&str, &str, &str); 3] = [
    ("10 Mbit/s", "1000 B", "4 MB"),
    ("10 Mbit/s", "8 kB", "10 MB"),
    ("100 Mbit/s", "8 kB", "40 MB"),
];

/// Disturbances of Data.
const TROUBLES: [(&str, &str); 7] = [
    ("nothing", ""),
    ("0.1 % lost", r#"loss = "bernoulli(p=0.001)""#),
    ("0.5 % lost", r#"loss = "bernoulli(p=0.005)""#),
    ("2 % lost", r#"loss = "bernoulli(p=0.02)""#),
    ("1 % in bursts", r#"loss = "gilbert-elliott(p=0.003,r=0.3)""#),
    ("order changes", r#"jitter = "exponential(mean=2ms)", reorder = true"#),
    ("both", r#"loss = "bernoulli(p=0.005)", jitter = "exponential(mean=2ms)", reorder = true"#),
];

/// Windows that are tried unless others are given.
const WINDOWS: [&str; 2] = ["cubic", "newreno"];

const DETECTORS: [&str; 8] = [
    "rack",
    "out-of-order",
    "out-of-order(rescan=true)",
    "time-threshold",
    "time-threshold(share=1/4)",
    "pre-recovery",
    "pre-recovery(rescan=true)",
    "pre-recovery(rescan=true,learn=true,decay=0.1,cap=0.5)",
];

fn run(
    window: &str,
    detector: &str,
    path: (&str, &str, &str),
    trouble: &str,
    seed: u64,
) -> Summary {
    let (rate, segment, size) = path;
    let comma = if trouble.is_empty() { "" } else { ", " };
    let settings = [
        format!("fetch.congestion={window}"),
        format!("fetch.loss={detector}"),
        format!("serve.segment={segment}"),
        format!("serve.size={size}"),
    ];
    let link = format!(
        "\n[links.r1-r2]\nrate = \"{rate}\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"\n\
         back = {{ {trouble}{comma}queue = \"100 packets\" }}\n"
    );
    let file = ScenarioFile::parse(&format!("{SCENARIO}{link}"), &settings)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let none = |_: &str| Err("there are no files".to_owned());
    let scenario = file.scenario(&file.points()[0], &none).expect("a scenario");
    let network = scenario.network(seed).expect("a network");
    let mut metrics = Metrics::new(&network, Detail::default());
    let mut simulation = Simulation::new(network, seed).expect("a simulation");
    let ended = simulation.run(&mut [&mut metrics]);
    let summary = metrics.finish(ended.at);
    assert_eq!(summary.get("fetch.completed"), Some(1.0), "{window} {detector} {trouble} {seed}");
    summary
}

/// Geometric mean and half of its 95 % interval, in percent of it.
fn ratio(ours: &[Summary], theirs: &[Summary], metric: &str) -> (f64, f64) {
    let mut logs = Moments::default();
    for (our, their) in ours.iter().zip(theirs) {
        if let (Some(our), Some(their)) = (our.get(metric), their.get(metric)) {
            logs.add(libm::log(our / their));
        }
    }
    let count = logs.count() as f64;
    let error = logs.sd().unwrap_or(0.0) / libm::sqrt(count);
    let half = student::quantile(0.975, count - 1.0) * error;
    (libm::exp(logs.mean().unwrap_or(f64::NAN)), 100.0 * half)
}

fn mean(runs: &[Summary], metric: &str) -> f64 {
    runs.iter().filter_map(|run| run.get(metric)).sum::<f64>() / runs.len() as f64
}

fn main() {
    let mut given = std::env::args().skip(1);
    let seeds = given.next().and_then(|text| text.parse().ok()).unwrap_or(10);
    let mut windows: Vec<_> = given.collect();
    if windows.is_empty() {
        windows = WINDOWS.map(str::to_owned).to_vec();
    }
    for path in PATHS {
        for window in &windows {
            println!("\n{window}, {}, segments of {}, {}", path.0, path.1, path.2);
            for (name, trouble) in TROUBLES {
                let all = |detector| -> Vec<_> {
                    (1..=seeds).map(|seed| run(window, detector, path, trouble, seed)).collect()
                };
                let timers = all("timeout");
                let (time, again) =
                    (mean(&timers, "fetch.time_s"), mean(&timers, "fetch.retransmissions"));
                println!("  {name}: timeout {time:.2} s, {again:.0} retransmitted");
                for detector in DETECTORS {
                    let runs = all(detector);
                    let (time, spread) = ratio(&runs, &timers, "fetch.time_s");
                    let (delay, _) = ratio(&runs, &timers, "fetch.delay_p99_s");
                    println!(
                        "    {detector:55} time {time:.3} ± {spread:4.1} %, delay {delay:.2}, \
                         {:.0} retransmitted, {:.1} false alarms",
                        mean(&runs, "fetch.retransmissions"),
                        mean(&runs, "fetch.false_alarms"),
                    );
                }
            }
        }
    }
}
