//! A buffer that slow start overruns: completion times by timers alone, by a detector, and with the default transport.
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::metric::{Detail, Metrics, Summary};
use recoup_sim::simulation::Simulation;

/// A consumer behind a forwarder, and a link with space for 25 packets of a segment each, as in a UDP socket of 208
/// KiB.
const SCENARIO: &str = r#"
stop = "10 min"
topology = { kind = "line", nodes = 4, names = ["c", "r1", "r2", "p"] }
link = { rate = "10 Gbit/s", delay = "50 us", queue = "10000 packets" }
[links.r1-r2]
rate = "1 Gbit/s"
delay = "100 us"
queue = "25 packets"
[fetch]
congestion = "cubic"
[serve]
size = "8 MB"
segment = "8000 B"
[applications.fetch]
kind = "fetch"
node = "c"
object = "/p/file"
[applications.serve]
kind = "serve"
node = "p"
prefix = "/p/file"
"#;

const PROGRESS: &str = "jacobson(backoff-until=progress)";

fn fetched(rto: &str, loss: &str) -> Summary {
    completed(SCENARIO, &[&format!("fetch.rto={rto}"), &format!("fetch.loss={loss}")])
}

/// A fetch with the default transport.
fn fetched_by_default(settings: &[&str]) -> Summary {
    completed(&SCENARIO.replace("[fetch]\ncongestion = \"cubic\"\n", ""), settings)
}

fn completed(scenario: &str, settings: &[&str]) -> Summary {
    let settings: Vec<_> = settings.iter().map(|it| (*it).to_owned()).collect();
    let file = ScenarioFile::parse(scenario, &settings).unwrap_or_else(|it| panic!("{it}"));
    let none = |_: &str| Err("there are no files".to_owned());
    let network = file.scenario(&file.point(0).unwrap(), &none).unwrap().network(1).unwrap();
    let mut metrics = Metrics::new(&network, Detail::default());
    let ended = Simulation::new(network, 1).unwrap().run(&mut [&mut metrics]);
    let summary = metrics.finish(ended.at);
    assert_eq!(summary.get("fetch.completed"), Some(1.0), "{settings:?}");
    summary
}

fn time_s(rto: &str, loss: &str) -> f64 {
    fetched(rto, loss).get("fetch.time_s").unwrap()
}

#[test]
fn overrun_costs_timers_seconds() {
    let (sample, progress) = (time_s("jacobson", "timeout"), time_s(PROGRESS, "timeout"));
    assert!((3.0..3.2).contains(&sample), "200 + 400 + 800 + 1600 ms: {sample} s");
    assert!((0.9..1.2).contains(&progress), "{progress} s");
}

#[test]
fn overrun_costs_a_time_threshold_under_a_second() {
    let summary = fetched(PROGRESS, "time-threshold(share=1/4)");
    let [time, again] = ["fetch.time_s", "fetch.retransmissions"].map(|it| summary.get(it));
    assert!(time < Some(0.8), "{time:?} s");
    // By timers alone three of four segments are.
    assert!(again < Some(200.0), "{again:?} of 1,000 retransmitted");
}

#[test]
fn default_fills_the_link_through_a_short_buffer() {
    let summary = fetched_by_default(&[]);
    let [time, again] = ["fetch.time_s", "fetch.retransmissions"].map(|it| summary.get(it));
    // The link carries 8 MB in 0.065 s.
    assert!(time < Some(0.13), "{time:?} s");
    assert!(again < Some(100.0), "{again:?} of 1,000 retransmitted");
}

#[test]
fn default_completes_through_a_buffer_of_few_packets() {
    for (rate, delay, queue) in
        [("5740 kbit/s", "1930 us", "2 packets"), ("255 Mbit/s", "745 us", "2 packets")]
    {
        let path = [("rate", rate), ("delay", delay), ("queue", queue)];
        let [rate, delay, queue] = path.map(|(key, value)| format!("links.r1-r2.{key}={value}"));
        let summary = fetched_by_default(&[&rate, &delay, &queue, "serve.segment=1200 B"]);
        let again = summary.get("fetch.retransmissions");
        assert!(again < Some(1000.0), "{rate}, {queue}: {again:?} of 6,667 retransmitted");
    }
}
