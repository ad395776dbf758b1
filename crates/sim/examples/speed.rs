//! Runs one workload of `cargo xtask bench sim` and prints its counts, as `key value` lines.
//!
//! The program reads no clock: its caller measures the time. `speed WORKLOAD FROM TO` runs until TO seconds of the
//! simulation and counts packet-hops from FROM on as `units`; what happens in between happens in `measured`.
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::metric::{Detail, Metrics};
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::simulation::{Digest, Simulation};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};

/// Names of the workloads; a number at the end is what varies.
const WORKLOADS: [&str; 12] = [
    "line-10MB",
    "line-100MB",
    "fat-line",
    "sprint-100",
    "sprint-500",
    "sprint-10000",
    "line-1000-nodes",
    "cache-1000000",
    "cached-data",
    "pending-interests",
    "catalogue-2000",
    "catalogue-100000",
];

/// The scenario of a workload.
fn scenario(name: &str) -> Option<String> {
    let network = match name {
        // Three links, the middle one narrow: what ndnSIM was measured with.
        "line-10MB" | "line-100MB" => line("10 Mbit/s", "5 Mbit/s", 32),
        // The same at a rate and with queues that keep thousands of packets in flight.
        "fat-line" => line("1000 Mbit/s", "500 Mbit/s", 4_000),
        "line-1000-nodes" => "topology = { kind = \"line\", nodes = 1000 }
             link = { rate = \"100 Mbit/s\", delay = \"0.1 ms\", queue = \"1000 packets\" }
             node = { cache = \"1000 packets\" }"
            .to_owned(),
        // Content stores for a million Data; requests are for two million names, or for one million.
        "cache-1000000" | "cached-data" => "topology = { kind = \"line\", nodes = 3 }
             link = { rate = \"1000 Mbit/s\", delay = \"1 ms\", queue = \"4000 packets\" }
             nodes.n2 = { cache = \"1000000 packets\" }"
            .to_owned(),
        "pending-interests" => return Some(PENDING.to_owned()),
        _ => {
            let catalogue = |requests| CATALOGUE.replace("REQUESTS", requests);
            let studied = name.strip_prefix("catalogue-").map(catalogue);
            return studied.or_else(|| name.strip_prefix("sprint-").map(sprint));
        }
    };
    let (nodes, congestion, size) = match name {
        "line-10MB" => (4, "aimd", "10 MB"),
        "line-100MB" => (4, "aimd", "100 MB"),
        "fat-line" => (4, "aimd", "1000 MB"),
        "line-1000-nodes" => (1_000, "fixed(window=500)", "4 MB"),
        "cached-data" => (3, "fixed(window=300)", "1040 MB"),
        _ => (3, "fixed(window=300)", "2080 MB"),
    };
    Some(format!("{END}{network}\n{}", transfer(nodes, congestion, size)))
}

/// No workload takes that long.
const END: &str = "stop = \"100000 s\"\n";

fn line(rate: &str, middle: &str, queue: u32) -> String {
    format!(
        r#"topology = {{ kind = "line", nodes = 4 }}
        link = {{ rate = "{rate}", delay = "10 ms", queue = "{queue} packets" }}
        links."n2-n3" = {{ rate = "{middle}" }}
        node = {{ cache = "1000 packets" }}"#
    )
}

/// The first node fetches a file from the last.
fn transfer(nodes: u32, congestion: &str, size: &str) -> String {
    format!(
        r#"[applications.fetch]
        kind = "fetch"
        node = "n1"
        object = "/p/file"
        discover = false
        congestion = "{congestion}"
        loss = "timeout"
        rto = "jacobson"
        [applications.serve]
        kind = "serve"
        node = "n{nodes}"
        prefix = "/p/file"
        size = "{size}"
        segment = "1040 B""#
    )
}

/// The Sprint network: 20 consumers request 10,000 contents of 4 producers, open loop.
fn sprint(cache: &str) -> String {
    let producer = |node: &str| {
        let lower = node.to_lowercase();
        format!(
            r#"[applications.{lower}]
            kind = "produce"
            node = "{node}"
            prefix = "/{node}"
            content = "1024 B"
            "#
        )
    };
    let producers: String = ["Chicago", "London", "Tokyo", "Dallas"].map(producer).concat();
    let network = SPRINT.replace("CACHE", cache);
    format!("{END}{network}{producers}")
}

const SPRINT: &str = r#"
topology = { kind = "sprint" }
link = { rate = "1 Gbit/s", queue = "100 packets" }
node = { cache = "CACHE packets" }
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
"#;

/// A point of the study of timers: 20 consumers with windows request 10,000 contents of 20 producers, packets are lost,
/// and the fate of each Interest is followed.
const CATALOGUE: &str = r#"
stop = "100 h"
topology = { kind = "sprint" }
routing = { metric = "delay", paths = "loop-free(3)" }
link = { rate = "1 Mbit/s", queue = "100 packets", loss = "bernoulli(p=0.01)" }
node = { cache = "500 packets", strategy = "best-face" }
nodes.consumer = { cache = "0" }
places.consumer = { pick = 20 }
places.producer = { pick = 20, from = "consumer", hops = "4..10" }
record = { timeouts = true }
[applications.p]
kind = "produce"
node = "producer"
prefix = "/part/{k}"
content = "1024 B"
[applications.c]
kind = "request"
node = "consumer"
prefix = "/part/{1..20}"
contents = 10000
popularity = "zipf(q=16,s=1)"
arrival = "window(congestion=nikzad2022)"
rto = "nikzad2022"
retries = "unlimited"
requests = REQUESTS
"#;

/// Unanswered Interests: a million of them pending at one node.
const PENDING: &str = r#"
stop = "4 s"
when-done = false
topology = { kind = "line", nodes = 2, names = ["c", "p"] }
link = { rate = "unlimited", delay = "10 s", queue = "unlimited" }
[applications.ask]
kind = "request"
node = "c"
prefix = ["/p"]
contents = 1000000000
popularity = "sequential"
arrival = "constant(rate=260000)"
rto = "none"
lifetime = "100 s"
[applications.answer]
kind = "produce"
node = "p"
prefix = "/p"
content = "1 B"
"#;

#[derive(Default)]
struct Count {
    hops: u64,
    requests: u64,
    received: u64,
}

impl Observer for Count {
    fn on(&mut self, _: Instant, observation: &Observation<'_>) {
        match observation {
            Observation::Arrived { .. } => self.hops += 1,
            Observation::Application { report: Report::Event(event), .. } => match event {
                Event::Sent { .. } => self.requests += 1,
                Event::Received { .. } => self.received += 1,
                _ => {}
            },
            _ => {}
        }
    }
}

/// A second of the simulation that the command line names.
fn seconds(place: usize) -> Option<Instant> {
    let seconds: u64 = std::env::args().nth(place)?.parse().ok()?;
    Some(Instant::ZERO + Duration::from_secs(seconds))
}

/// Runs the part that counts.
#[inline(never)]
fn measured(simulation: &mut Simulation, until: Instant) {
    simulation.run_until(until, &mut []);
}

fn main() -> Result<(), String> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(text) = scenario(&name) else {
        return Err(format!("name a workload: {}", WORKLOADS.join(", ")));
    };
    let file = ScenarioFile::parse(&text, &[]).map_err(|wrong| format!("{wrong:?}"))?;
    let none = |_: &str| Err("no files here".to_owned());
    let scenario = file.scenario(&file.points()[0], &none).map_err(|wrong| format!("{wrong:?}"))?;
    let network = scenario.network(1).map_err(|wrong| format!("{wrong:?}"))?;
    let mut count = Count::default();
    let (mut digest, mut metrics) = (Digest::new(), Metrics::new(&network, Detail::default()));
    // As in a campaign: nodes report their events, which become metrics.
    let is_studied = network.follow_transmissions;
    let make = if is_studied { Simulation::new } else { Simulation::with_silent_nodes };
    let mut simulation = make(network, 1).map_err(|wrong| wrong.to_string())?;
    if let (Some(from), Some(to)) = (seconds(2), seconds(3)) {
        simulation.run_until(from, &mut []);
        let before = simulation.balance().hops();
        measured(&mut simulation, to);
        println!("units {}", simulation.balance().hops() - before);
        return Ok(());
    }
    let mut observers: Vec<&mut dyn Observer> = vec![&mut count];
    if is_studied {
        observers.extend([&mut digest as &mut dyn Observer, &mut metrics]);
    }
    let ended = simulation.run(&mut observers);
    if is_studied {
        println!("digest {:016x}", digest.value());
        println!("metrics {}", metrics.finish(ended.at).len());
    }
    println!("hops {}", count.hops);
    println!("requests {}", count.requests);
    println!("received {}", count.received);
    println!("events {}", ended.events);
    println!("simulated_s {:.3}", ended.at.as_secs_f64());
    let (pending, cached) = (0..simulation.network().nodes.len() as u32)
        .filter_map(|number| simulation.node(recoup_sim::network::NodeId(number)))
        .fold((0, 0), |(pending, cached), node| (pending + node.pit_len(), cached + node.cs_len()));
    println!("pending {pending}");
    println!("cached {cached}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("peak_kib {}", peak.and_then(|it| it.split_whitespace().next()).unwrap_or("0"));
    // The first number is what this thread, the only one, has run on a processor.
    let ran = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    println!("cpu_nanos {}", ran.split_whitespace().next().unwrap_or("0"));
    Ok(())
}
