//! Processor time of a packet-hop in the simulator (an Interest or Data that arrives at a node).
//!
//! `cargo bench -p recoup-sim --bench hop -- line|sprint FROM TO` runs until TO seconds of the simulation and counts from FROM on.
//! `cargo xtask bench instructions` counts the instructions of `measured`; `units` are packet-hops.
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::simulation::Simulation;
use recoup_transport::time::{Duration, Instant};

/// Three links, the middle one narrow: what ndnSIM was measured with. The first node fetches a file from the last.
const LINE: &str = r#"
stop = "100000 s"
topology = { kind = "line", nodes = 4 }
link = { rate = "10 Mbit/s", delay = "10 ms", queue = "32 packets" }
links."n2-n3" = { rate = "5 Mbit/s" }
node = { cache = "1000 packets" }
[applications.fetch]
kind = "fetch"
node = "n1"
object = "/p/file"
discover = false
congestion = "aimd"
loss = "timeout"
rto = "jacobson"
[applications.serve]
kind = "serve"
node = "n4"
prefix = "/p/file"
size = "100 MB"
segment = "1040 B"
"#;

/// The Sprint network: 20 consumers request 10,000 contents of 4 producers, open loop.
const SPRINT: &str = r#"
stop = "100000 s"
topology = { kind = "sprint" }
link = { rate = "1 Gbit/s", queue = "100 packets" }
node = { cache = "100 packets" }
routing = { metric = "delay" }
[request]
prefix = ["/Chicago", "/London", "/Tokyo", "/Dallas"]
contents = 10000
popularity = "zipf(q=0,s=1)"
arrival = "poisson(rate=1000)"
requests = 50000
rto = "none"
[applications.consumers]
kind = "request"
node = ["Reston", "Auckland", "Sydney", "WA", "Stockholm", "Seattle", "Cheyenne", "PrlHbr", "RC", "Boston", "PaloAlto", "Hamburg", "Hartford", "StLouis", "Miami", "Milan", "Singapore", "Orlando", "Tucson", "Dublin"]
[applications.chicago]
kind = "produce"
node = "Chicago"
prefix = "/Chicago"
content = "1024 B"
[applications.london]
kind = "produce"
node = "London"
prefix = "/London"
content = "1024 B"
[applications.tokyo]
kind = "produce"
node = "Tokyo"
prefix = "/Tokyo"
content = "1024 B"
[applications.dallas]
kind = "produce"
node = "Dallas"
prefix = "/Dallas"
content = "1024 B"
"#;

/// Runs the part that counts.
#[inline(never)]
fn measured(simulation: &mut Simulation, until: Instant) {
    simulation.run_until(until, &mut []);
}

/// Processor time of this thread, the only one, in nanoseconds.
fn cpu_nanos() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(f64::NAN)
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (text, usual) = match words.iter().any(|word| word == "sprint") {
        true => (SPRINT, (1, 3)),
        false => (LINE, (5, 100)),
    };
    let mut given = words.iter().filter_map(|word| word.parse().ok());
    let (from, to) = given.next().zip(given.next()).unwrap_or(usual);
    let file = ScenarioFile::parse(text, &[]).map_err(|wrong| format!("{wrong:?}"))?;
    let none = |_: &str| Err("no files here".to_owned());
    let scenario =
        file.scenario(&file.point(0).unwrap(), &none).map_err(|wrong| format!("{wrong:?}"))?;
    let network = scenario.network(1).map_err(|wrong| format!("{wrong:?}"))?;
    let mut simulation =
        Simulation::with_silent_nodes(network, 1).map_err(|wrong| wrong.to_string())?;
    let [from, to] = [from, to].map(|seconds| Instant::ZERO + Duration::from_secs(seconds));
    simulation.run_until(from, &mut []);
    let (before, began) = (simulation.balance().hops(), cpu_nanos());
    measured(&mut simulation, to);
    let hops = simulation.balance().hops() - before;
    println!("{:.0} ns for each packet-hop", (cpu_nanos() - began) / hops as f64);
    println!("units {hops}");
    Ok(())
}
