//! Runs one workload of `cargo xtask bench sim` and says what it moved, as `key value` lines.
//!
//! It reads no clock: whoever starts it takes the time.
use recoup_sim::observe::{Observation, Observer};
use recoup_sim::scenario::ScenarioFile;
use recoup_sim::world::World;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::Instant;

/// The workloads: name and scenario.
const WORKLOADS: [(&str, &str); 10] = [
    ("line-10MB", LINE),
    ("line-100MB", LINE),
    ("fat-line", FAT_LINE),
    ("sprint-100", SPRINT),
    ("sprint-500", SPRINT),
    ("sprint-10000", SPRINT),
    ("line-1000-nodes", LONG_LINE),
    ("cache-1000000", BIG_CACHE),
    ("cached-data", BIG_CACHE),
    ("pending-interests", PENDING),
];

/// Three links, the middle one narrow: what ndnSIM was measured with.
const LINE: &str = r#"
stop = "100000 s"
topology = { kind = "line", nodes = 4, names = ["c", "r1", "r2", "p"] }
link = { rate = "10 Mbit/s", delay = "10 ms", queue = "32 packets" }
links."r1-r2" = { rate = "5 Mbit/s" }
node = { cache = "1000 packets" }
[applications.fetch]
kind = "fetch"
node = "c"
object = "/p/file"
discover = false
congestion = "aimd"
[applications.serve]
kind = "serve"
node = "p"
prefix = "/p/file"
size = "SIZE"
segment = "1040 B"
"#;

/// The same at a rate and with queues that keep thousands of packets under way.
const FAT_LINE: &str = r#"
stop = "100000 s"
topology = { kind = "line", nodes = 4, names = ["c", "r1", "r2", "p"] }
link = { rate = "1000 Mbit/s", delay = "10 ms", queue = "4000 packets" }
links."r1-r2" = { rate = "500 Mbit/s" }
node = { cache = "1000 packets" }
[applications.fetch]
kind = "fetch"
node = "c"
object = "/p/file"
discover = false
congestion = "aimd"
[applications.serve]
kind = "serve"
node = "p"
prefix = "/p/file"
size = "1000 MB"
segment = "1040 B"
"#;

/// The Sprint network: 20 consumers ask for 10,000 contents of 4 producers, open loop.
const SPRINT: &str = r#"
stop = "100000 s"
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

/// A thousand nodes in a row.
const LONG_LINE: &str = r#"
stop = "100000 s"
topology = { kind = "line", nodes = 1000 }
link = { rate = "100 Mbit/s", delay = "0.1 ms", queue = "1000 packets" }
node = { cache = "1000 packets" }
[applications.fetch]
kind = "fetch"
node = "n1"
object = "/p/file"
discover = false
congestion = "fixed(window=500)"
rto = "constant(rto=4s)"
[applications.serve]
kind = "serve"
node = "n1000"
prefix = "/p/file"
size = "4 MB"
segment = "1040 B"
"#;

/// Content stores that keep everything: a million Data and more.
const BIG_CACHE: &str = r#"
stop = "100000 s"
topology = { kind = "line", nodes = 3, names = ["c", "r", "p"] }
link = { rate = "1000 Mbit/s", delay = "1 ms", queue = "4000 packets" }
nodes.r = { cache = "CACHE packets" }
[applications.fetch]
kind = "fetch"
node = "c"
object = "/p/file"
discover = false
congestion = "fixed(window=300)"
[applications.serve]
kind = "serve"
node = "p"
prefix = "/p/file"
size = "SIZE"
segment = "1040 B"
"#;

/// Questions that nobody answers: a million of them pending at one node.
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

fn main() -> Result<(), String> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some((_, text)) = WORKLOADS.iter().find(|(known, _)| *known == name) else {
        let known = WORKLOADS.map(|(known, _)| known).join(", ");
        return Err(format!("say which workload; there are {known}"));
    };
    let size = match name.as_str() {
        "line-10MB" => "10 MB",
        "line-100MB" => "100 MB",
        "cached-data" => "1040 MB",
        _ => "2080 MB",
    };
    let cache = name.rsplit('-').next().filter(|it| it.parse::<u64>().is_ok());
    let text = text.replace("SIZE", size).replace("CACHE", cache.unwrap_or("1000000"));
    let file = ScenarioFile::parse(&text, &[]).map_err(|wrong| format!("{wrong:?}"))?;
    let none = |_: &str| Err("no files here".to_owned());
    let scenario = file.scenario(&file.points()[0], &none).map_err(|wrong| format!("{wrong:?}"))?;
    let network = scenario.network(1).map_err(|wrong| format!("{wrong:?}"))?;
    let mut world = World::with_silent_nodes(network, 1).map_err(|wrong| wrong.to_string())?;
    let mut count = Count::default();
    let ended = world.run(&mut [&mut count]);
    println!("hops {}", count.hops);
    println!("requests {}", count.requests);
    println!("received {}", count.received);
    println!("events {}", ended.events);
    println!("simulated_s {:.3}", ended.at.as_secs_f64());
    let (pending, cached) = (0..world.network().nodes.len() as u32)
        .filter_map(|number| world.node(recoup_sim::network::NodeId(number)))
        .fold((0, 0), |(pending, cached), node| (pending + node.pit_len(), cached + node.cs_len()));
    println!("pending {pending}");
    println!("cached {cached}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("peak_kib {}", peak.and_then(|it| it.split_whitespace().next()).unwrap_or("0"));
    Ok(())
}
