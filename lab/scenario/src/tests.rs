//! Scenarios as a whole: what they mean.
mod mistakes;
mod over_time;

use super::*;
use recoup_sim::network::{
    ApplicationKind, Arrival, CsCapacity, Direction, Fault, LinkId, NodeId, Order, PacketShape,
    Pending,
};
use recoup_transport::fetch::FetchOptions;
use recoup_transport::time::{Duration, Instant};

const LINE: &str = r#"
title = "Three links"
seeds = "1..3"
stop = "300 s"

[topology]
links = ["consumer-r1", "r1-r2", "r2-producer"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"

[links.r1-r2]
rate = "5 Mbit/s"
queue = "32 packets"

[links.r2-producer]
back = { loss = "bernoulli(p=0.01)" }

[nodes."r*"]
cache = "1000 packets"

[fetch]
rto = "jacobson(min=0ms)"

[applications.c1]
kind = "fetch"
node = "consumer"
object = "/file"

[applications.p1]
kind = "serve"
node = "producer"
prefix = "/file"
size = "10 MiB"
segment = "1024 B"
packet = "1448 B"
"#;

fn no_files(_: &str) -> Result<String, String> {
    Err("there are no files here".into())
}

fn networks(text: &str, settings: &[&str], seed: u64) -> Result<Vec<Network>, Problems> {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let file = ScenarioFile::parse(text, &settings)?;
    let network = |point| file.scenario(&point, &no_files)?.network(seed);
    file.points().map(network).collect()
}

#[track_caller]
fn network(text: &str) -> Network {
    let mut networks = networks(text, &[], 1).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(networks.len(), 1);
    networks.remove(0)
}

#[track_caller]
fn wrong(text: &str) -> String {
    networks(text, &[], 1).expect_err("something is wrong").to_string()
}

fn with(more: &str) -> String {
    format!("{LINE}\n{more}")
}

#[test]
fn line_has_the_written_fields() {
    let network = network(LINE);
    assert_eq!(network.nodes.len(), 4);
    assert_eq!(network.nodes[1].options.cache, CsCapacity::Packets(1000));
    assert_eq!(network.nodes[0].options.cache, CsCapacity::Packets(0));
    let middle = &network.links[1];
    assert_eq!((middle.forth.rate_bits, middle.forth.queue.packets), (5_000_000, Some(32)));
    assert_eq!(middle.back.delay, Duration::from_millis(10));
    assert_eq!(network.links[2].back.loss.text(), "bernoulli(p=0.01)");
    assert_eq!(network.links[2].forth.loss.text(), "none");
    let ApplicationKind::Fetch(fetch) = &network.applications[0].kind else { panic!() };
    let FetchOptions { rto, congestion, loss, .. } = &fetch.options;
    assert_eq!(
        (rto.text(), congestion.text(), loss.text()),
        ("jacobson(min=0ms)", "recoup", "rack")
    );
    let ApplicationKind::Serve(serve) = &network.applications[1].kind else { panic!() };
    assert_eq!((serve.size_bytes, serve.packet), (10 << 20, PacketShape::Total(1448)));
    assert_eq!(network.routes.len(), 3);
    assert_eq!(network.stop.at, Instant::from_millis(300_000));
}

#[test]
fn later_exceptions_stand_on_earlier_ones() {
    let network = network(
        &with("[links.\"*-r2\"]\nrate = \"1 Mbit/s\"\n[links.\"r?\"]\ncost = 3\n")
            .replace("[links.\"r?\"]", "[links.\"{r1-r2,r2-producer}\"]"),
    );
    assert_eq!(network.links[1].forth.rate_bits, 1_000_000);
    assert_eq!(network.links[1].forth.queue.packets, Some(32));
    assert_eq!((network.links[0].cost, network.links[2].cost), (1, 3));
}

#[test]
fn costs_apply_in_their_direction() {
    let file = "[nodes]\na:\nb:\nc:\n[links]\na:b\na:c\nb:c\n\
                [faces]\na:b cost=10\nb:a cost=1\na:c cost=2\nb:c cost=2\n";
    let mut text = "stop = \"1 s\"\n[topology]\nfile = \"net.conf\"\n\
                    [routing]\nmetric = \"cost\"\n"
        .to_owned();
    for (here, there) in [("a", "b"), ("b", "a")] {
        text += &format!("[applications.to-{there}]\nkind = \"fetch\"\nnode = \"{here}\"\n");
        text += &format!("object = \"/{there}\"\n[applications.from-{there}]\nkind = \"serve\"\n");
        text += &format!("node = \"{there}\"\nprefix = \"/{there}\"\nsize = \"1 MB\"\n");
    }
    let scenarios = ScenarioFile::parse(&text, &[]).unwrap();
    let scenario =
        scenarios.scenario(&scenarios.point(0).unwrap(), &|_| Ok(file.to_owned())).unwrap();
    let network = scenario.network(1).unwrap();
    let first_hop = |node, prefix: &str| {
        let mut routes = network.routes.iter().filter(|route| route.node == NodeId(node));
        let route = routes.find(|route| route.prefix.to_string() == prefix).unwrap();
        network.links[route.hops[0].0.0 as usize].name.as_str()
    };
    assert_eq!((first_hop(0, "/b"), first_hop(1, "/a")), ("a-c", "a-b"));
}

#[test]
fn topology_overrides_defaults_and_fields_override_both() {
    let sprint = "[topology]\nkind = \"sprint\"\n[link]\nqueue = \"100 packets\"\n";
    let network = network(sprint);
    assert_eq!((network.nodes.len(), network.links.len()), (52, 84));
    assert_eq!(network.links[80].forth.delay, Duration::from_micros(59_812));
    assert_eq!(network.links[80].forth.queue.packets, Some(100));
}

#[test]
fn mini_ndn_file_sets_the_order() {
    let text = "[topology]\nfile = \"line.conf\"\n";
    let file = ScenarioFile::parse(text, &[]).unwrap();
    let conf = "[nodes]\na: _\nb: _\n[links]\na:b delay=10ms bw=5 max_queue_size=32\n";
    let read = |name: &str| {
        assert_eq!(name, "line.conf");
        Ok(conf.to_owned())
    };
    let scenario = file.scenario(&file.point(0).unwrap(), &read).unwrap();
    let network = scenario.network(1).unwrap();
    assert_eq!(network.links[0].forth.order, Order::DelayThenRate);
    assert!(scenario.identity().contains("max_queue_size=32"));
    let error = file.scenario(&file.point(0).unwrap(), &no_files).unwrap_err().to_string();
    assert_eq!(error, "2:8: topology.file: line.conf: there are no files here");
}

#[test]
fn setting_replaces_the_value_of_the_file() {
    let changed = networks(LINE, &["link.delay=50ms", "applications.c1.rto.k=8"], 1).unwrap();
    assert_eq!(changed[0].links[0].forth.delay, Duration::from_millis(50));
    let ApplicationKind::Fetch(fetch) = &changed[0].applications[0].kind else { panic!() };
    assert_eq!(fetch.options.rto.text(), "jacobson(min=0ms,k=8)");
    for (setting, error) in [
        ("link.dealy=5ms", "link.dealy: is not known here; did you mean `delay`?"),
        ("link.delay=5", "setting 1: link.delay: 5 has no unit"),
        ("lonk.delay=5", "`lonk` is not known; did you mean `link`?"),
        (
            "congestion=cubic",
            "`congestion` is not known; a path begins with a table, such as `fetch.congestion`",
        ),
        (
            "applications.c2.rto=rfc6298",
            "nothing in `applications` is called `c2`; did you mean `c1`?",
        ),
        ("link.delay", "path=value"),
    ] {
        let message = networks(LINE, &[setting], 1).unwrap_err().to_string();
        assert!(message.contains(error), "{setting}: {message}");
    }
}

#[test]
fn a_sweep_makes_a_scenario_of_each_point() {
    let text = with(
        "[sweep]\n\"link.delay\" = [\"10 ms\", \"20 ms\"]\n\
         [sweep.design.plain]\n\"fetch.congestion\" = \"aimd\"\n\
         [sweep.design.none]\nfetch.congestion = \"fixed(window=32)\"\nfetch.rto.min = \"200 ms\"\n",
    );
    let networks = networks(&text, &[], 1).unwrap();
    let of = |network: &Network| match &network.applications[0].kind {
        ApplicationKind::Fetch(fetch) => {
            let FetchOptions { congestion, rto, .. } = &fetch.options;
            (network.links[0].forth.delay.as_millis(), congestion.to_string(), rto.to_string())
        }
        _ => panic!(),
    };
    assert_eq!(networks.len(), 4);
    assert_eq!(of(&networks[0]), (10, "aimd".into(), "jacobson(min=0ms)".into()));
    assert_eq!(of(&networks[3]), (20, "fixed(window=32)".into(), "jacobson(min=200ms)".into()));
}

#[test]
fn points_do_not_hold_the_sweep() {
    let values: Vec<_> = (1..=500).map(|delay| format!("\"{delay} ms\"")).collect();
    let text = with(&format!("[sweep]\n\"link.delay\" = [{}]\n", values.join(", ")));
    let file = ScenarioFile::parse(&text, &[]).unwrap();
    assert!(file.to_toml().contains("\"500 ms\"]"));
    let scenario = file.scenario(&file.point(0).unwrap(), &|_| Err("none".into())).unwrap();
    assert!(!scenario.text.contains("500 ms") && scenario.text.contains("1 ms"));
    assert!(scenario.content.normal.is_empty());
    assert!(file.given.get("sweep").is_none());
}

#[test]
fn wrong_value_of_a_sweep_is_located() {
    let message = wrong(&with("[sweep]\n\"link.delay\" = [\"10 ms\",\n \"20 m/s\"]\n"));
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains(":2: link.delay: `20 m/s` is not a duration"), "{message}");
    let message = wrong(&with("[sweep]\n\"applications.c9.rto\" = [\"rfc6298\"]\n"));
    assert!(message.contains("nothing in `applications` is called `c9`"), "{message}");
}

#[test]
fn what_a_sweep_adds_is_not_missed_before() {
    let text = LINE.replace("object = \"/file\"", "")
        + "[sweep]\n\"applications.c1.object\" = [\"/file\", \"/other\"]\n";
    assert_eq!(networks(&text, &[], 1).unwrap().len(), 2);
}

#[test]
fn printed_scenario_means_the_same() {
    // A length that the sweep gives meets the default signature, which the text writes out.
    let text = with(
        "[produce]\ncontent = \"1 kB\"\n[sweep.d.a]\n\"link.delay\" = \"1 ms\"\n\
         [sweep.d.b]\nnode.cache = \"unlimited\"\nproduce.packet = \"1448 B\"\n",
    );
    let file = ScenarioFile::parse(&text, &["stop=5 s".to_owned()]).unwrap();
    let again = ScenarioFile::parse(&file.to_toml(), &[])
        .unwrap_or_else(|e| panic!("{e}\n{}", file.to_toml()));
    assert_eq!(again.to_toml(), file.to_toml());
    assert_eq!((again.title(), again.seeds()), (file.title(), file.seeds()));
    for (one, other) in file.points().zip(again.points()) {
        let scenario = |file: &ScenarioFile, point| file.scenario(point, &no_files).unwrap();
        let (one, other) = (scenario(&file, &one), scenario(&again, &other));
        assert_eq!(one.identity(), other.identity());
        assert_eq!(one.network(1).unwrap(), other.network(1).unwrap());
    }
    assert!(file.to_toml().contains("congestion = \"recoup\""), "defaults are written out");
}

#[test]
fn packet_length_in_defaults_is_printed_readably() {
    let text = format!("{LINE}\n[serve]\npacket = \"1448 B\"\n");
    let file = ScenarioFile::parse(&text, &[]).unwrap();
    let again = ScenarioFile::parse(&file.to_toml(), &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.to_toml(), file.to_toml());
}

#[test]
fn titles_and_seeds_do_not_make_another_scenario() {
    let identity = |text: &str| {
        let file = ScenarioFile::parse(text, &[]).unwrap();
        file.scenario(&file.point(0).unwrap(), &no_files).unwrap().identity()
    };
    assert_eq!(identity(LINE), identity(&LINE.replace("1..3", "7").replace("Three", "3")));
    assert_ne!(identity(LINE), identity(&LINE.replace("10 ms", "11 ms")));
}

#[test]
fn every_key_of_a_fetch_reaches_its_plan() {
    let text = LINE.replace("[fetch]", "[fetch]\ncancel-on-timeout = true\nfirst = 3\nlast = 9");
    let ApplicationKind::Fetch(fetch) = &network(&text).applications[0].kind else { panic!() };
    assert!(fetch.options.cancel_on_timeout);
    assert_eq!((fetch.first, fetch.last), (3, Some(9)));
}

#[test]
fn a_medium_carries_the_links_that_it_names() {
    let text = LINE.replace(
        "[fetch]",
        "[wifi]\nrate = \"ofdm-24\"\nlinks = \"*r*\"\nspacing = \"150 m\"\n[fetch]",
    );
    let wifi = &network(&text).wifi[0];
    assert_eq!((wifi.links.len(), wifi.stations.len()), (3, 4));
    assert_eq!(
        wifi.medium.rate.to_owned(),
        recoup_wifi::plan::RateControl::Constant(recoup_wifi::rate::Rate::Ofdm(4))
    );
    let third = wifi.stations[2].motion.position(Instant::ZERO);
    assert_eq!((third.x, third.y), (300.0, 0.0));
    let file = ScenarioFile::parse(&text, &[]).unwrap();
    let again = ScenarioFile::parse(&file.to_toml(), &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.to_toml(), file.to_toml());
    let lost = wrong(&text.replace("spacing = \"150 m\"\n", ""));
    assert!(lost.contains("has no place"), "{lost}");
}

/// Every key that can be given, and every section, is explained.
#[test]
fn the_reference_names_every_key() {
    let reference = include_str!("../../../docs/scenario.md");
    let empty = ["topology", "link", "links", "nodes", "places", "applications", "event"];
    let all = file::SECTIONS.iter().filter(|key| !empty.contains(key)).map(|key| match *key {
        "title" | "seeds" | "stop" | "when-done" => String::new(),
        "route" | "strategy" => format!("[[{key}]]\n\"?\" = 1\n"),
        key => format!("[{key}]\n\"?\" = 1\n"),
    });
    let mut text: String = all.collect();
    text += "[link]\n\"?\" = 1\n[[event]]\n\"?\" = 1\n[places.x]\n\"?\" = 1\n";
    // What is not known is answered with what is.
    let message = ScenarioFile::parse(&text, &[]).unwrap_err().to_string();
    let lists = message.lines().filter_map(|line| line.split("there are: ").nth(1));
    let keys: std::collections::BTreeSet<&str> =
        lists.flat_map(|list| list.trim_end().split(", ")).collect();
    assert!(keys.len() > 60, "{keys:?}\n{message}");
    for key in keys.iter().chain(&file::SECTIONS) {
        let found = reference.contains(&format!("`{key}`"))
            || reference.contains(&format!("[{key}]"))
            || reference.contains(&format!("[{key}."));
        assert!(found, "`{key}` is not explained in docs/scenario.md");
    }
}

/// Every key of the reference exists: an unknown key is reported whatever its value.
#[test]
fn every_key_of_the_reference_is_known() {
    let reference = include_str!("../../../docs/scenario.md");
    let explained = explained(reference);
    assert!(explained.len() > 100, "{explained:?}");
    for (table, key) in explained {
        // Some keys are there for this kind, this standard and this event alone.
        let name = match table {
            "[applications.NAME]" if key != "kind" => {
                "[applications.x]\nkind = \"fetch\"".to_owned()
            }
            "[wifi]" if key != "standard" => "[wifi]\nstandard = \"n\"".to_owned(),
            "[[event]]" if key != "change" => "[[event]]\nchange = \"x\"".to_owned(),
            "[node]" => "[nodes.x]".to_owned(),
            table => table.replace("NAME", "x"),
        };
        let text = format!("{name}\n{key} = {{}}\n");
        let message =
            ScenarioFile::parse(&text, &[]).map_or_else(|e| e.to_string(), |_| String::new());
        let is_unknown = message.contains(&format!("{key}: is not known here"));
        assert!(!is_unknown, "docs/scenario.md explains `{key}` of {table}: {message}");
    }
}

/// The tables of the reference with the keys in the first columns of their lists.
fn explained(reference: &str) -> Vec<(&str, &str)> {
    let (mut table, mut is_list, mut found) = ("", false, Vec::new());
    for line in reference.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            let name = heading.split('`').nth(1).unwrap_or_default();
            table = if name.starts_with('[') || name.is_empty() { name } else { bracketed(name) };
        }
        let cell = line.strip_prefix("| ").and_then(|line| line.split(" |").next());
        is_list = cell == Some("key") || is_list && line.starts_with('|');
        let keys = cell
            .filter(|_| is_list)
            .into_iter()
            .flat_map(|cell| cell.split('`').skip(1).step_by(2));
        found.extend(keys.map(|key| (table, key)));
    }
    found
}

/// The table that holds the defaults of a kind of application.
fn bracketed(kind: &str) -> &'static str {
    let tables = ["[fetch]", "[serve]", "[produce]", "[request]", "[background]"];
    tables.into_iter().find(|table| table.contains(kind)).unwrap_or_default()
}

#[test]
fn an_application_at_several_nodes_is_several_applications() {
    let text = r#"
[topology]
kind = "star"
leaves = 3
[applications.c]
kind = "fetch"
node = ["n{2..3}", "last"]
object = "/files/{node}/{k}"
stagger = "1 s"
[applications.p]
kind = "serve"
node = "n1"
prefix = "/files"
size = "1 kB"
"#;
    let Ok(networks) = networks(text, &[], 1) else { panic!("{}", wrong(text)) };
    let names: Vec<_> = networks[0].applications.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["c1", "c2", "c3", "p"]);
    let ApplicationKind::Fetch(fetch) = &networks[0].applications[1].kind else { panic!() };
    assert_eq!(fetch.object.to_string(), "/files/n3/2");
    assert_eq!(networks[0].applications[2].start, Instant::from_millis(2000));
    let clash = format!(
        "{text}\n[applications.c1]\nkind = \"serve\"\nnode = \"n1\"\nprefix = \"/x\"\nsize = \"1 kB\"\n"
    );
    assert!(wrong(&clash).contains("applications.c1: is also the name"), "{}", wrong(&clash));
}

const PAIRS: &str = r#"
[topology]
kind = "sprint"
[places.consumer]
pick = 20
[places.producer]
pick = 20
from = "consumer"
hops = "4..10"
[applications.c]
kind = "request"
node = "consumer"
prefix = "/p{1..20}"
contents = 10000
popularity = "zipf(q=16,s=1)"
arrival = "poisson(rate=10)"
requests = 100
[applications.p]
kind = "produce"
node = "producer"
prefix = "/p{k}"
"#;

#[test]
fn places_are_drawn_per_seed_at_distance() {
    let drawn = |seed| networks(PAIRS, &[], seed).unwrap().remove(0);
    let (one, other) = (drawn(1), drawn(2));
    assert_eq!(one, drawn(1));
    let nodes =
        |network: &Network| -> Vec<_> { network.applications.iter().map(|a| a.node).collect() };
    assert_ne!(nodes(&one), nodes(&other));
    assert_eq!(one.applications.len(), 40);
    let graph = recoup_sim::route::Graph::of_plans(
        &one.nodes,
        &one.links,
        recoup_sim::route::Metric::Delay,
    )
    .unwrap();
    for k in 0..20 {
        let (consumer, producer) = (one.applications[k].node, one.applications[k + 20].node);
        let hops = graph.path(consumer, producer).unwrap().unwrap().length.hops;
        assert!((4..=10).contains(&hops), "{k}: {hops}");
    }
    let ApplicationKind::Request(request) = &one.applications[3].kind else { panic!() };
    assert_eq!(request.prefixes.len(), 20);
    let far = PAIRS.replace("4..10", "90..99");
    assert!(wrong(&far).contains("places.producer.pick: only 0 of 20"), "{}", wrong(&far));
}

#[test]
fn requests_scan_and_join_where_written() {
    let plan = |text: &str| {
        let network = networks(text, &[], 1).unwrap().remove(0);
        let ApplicationKind::Request(plan) = &network.applications[0].kind else { panic!() };
        (plan.scans(), plan.pending)
    };
    assert_eq!(plan(PAIRS), (false, None));
    let with =
        |lines: &str| PAIRS.replace("requests = 100\n", &format!("requests = 100\n{lines}\n"));
    let both = with("rto-scan = \"50 ms\"\npending = \"join\"");
    assert_eq!(plan(&both), (true, Some(Pending::Join)));
    assert_eq!(plan(&with("pending = \"ask\"")), (false, Some(Pending::Ask)));
    for interval in ["0", "\"1 us\""] {
        let short = wrong(&with(&format!("rto-scan = {interval}")));
        assert!(short.contains("applications.c.rto-scan"), "{short}");
    }
    let other = wrong(&with("pending = \"wait\""));
    assert!(other.contains("applications.c.pending: `wait` is none"), "{other}");
}

#[test]
fn nodes_of_a_place_differ_from_the_others() {
    let text = format!("{PAIRS}[node]\ncache = \"500 packets\"\n[nodes.consumer]\ncache = \"0\"\n");
    for seed in [1, 2] {
        let network = networks(&text, &[], seed).unwrap().remove(0);
        let drawn: Vec<_> = network.applications[..20].iter().map(|it| it.node).collect();
        for (number, node) in (0..).zip(&network.nodes) {
            let packets = if drawn.contains(&NodeId(number)) { 0 } else { 500 };
            assert_eq!(node.options.cache, CsCapacity::Packets(packets), "{}", node.name);
        }
    }
    let unknown = text.replace("[nodes.consumer]", "[nodes.consumers]");
    assert!(
        wrong(&unknown).contains("nodes.consumers: no node is called that"),
        "{}",
        wrong(&unknown)
    );
}

#[test]
fn events_become_faults_sorted_by_time() {
    let network = network(&with(
        r#"
[[event]]
at = "10 s"
outage = "r1-r2"
direction = "forth"
for = "200 ms"
every = "1 s"
times = 2
[[event]]
at = "5 s"
fail = ["r1", "consumer-r1"]
[[event]]
at = "6 s"
repair = "r1"
"#,
    ));
    let forth = |fault: fn(LinkId, Direction) -> Fault| fault(LinkId(1), Direction::Forth);
    let at = Instant::from_millis;
    assert_eq!(
        network.faults,
        [
            (at(5000), Fault::NodeDown(NodeId(1))),
            (at(5000), Fault::LinkDown(LinkId(0))),
            (at(6000), Fault::NodeUp(NodeId(1))),
            (at(10_000), forth(Fault::OutageBegins)),
            (at(10_200), forth(Fault::OutageEnds)),
            (at(11_000), forth(Fault::OutageBegins)),
            (at(11_200), forth(Fault::OutageEnds)),
        ]
    );
}

#[test]
fn ended_change_restores_the_link() {
    let network = network(&with(
        r#"
[[event]]
at = "10 s"
change = "r1-r2"
to = { rate = "1 Mbit/s" }
for = "10 s"
[[event]]
at = "15 s"
change = "r2-r1"
to = { forth = { delay = "90 ms" } }
"#,
    ));
    let mut forth = network.faults.iter().filter_map(|(at, fault)| match fault {
        Fault::Change(LinkId(1), Direction::Forth, plan) => {
            Some((at.as_secs_f64() as u64, plan.rate_bits / 1_000_000, plan.delay.as_millis()))
        }
        _ => None,
    });
    assert_eq!(forth.next(), Some((10, 1, 10)));
    assert_eq!(forth.next(), Some((15, 1, 90)));
    assert_eq!(forth.next(), Some((20, 5, 90)));
    let back =
        network.faults.iter().filter(|(_, f)| matches!(f, Fault::Change(_, Direction::Back, _)));
    assert_eq!(back.count(), 2);
}

#[test]
fn background_traffic_takes_its_share_of_a_link() {
    let text = with(
        "[applications.b]\nkind = \"background\"\nlink = \"r1-r2\"\nframe = \"1250 B\"\n\
         arrival = \"poisson(load=0.8)\"\n",
    );
    let network = network(&text);
    let [forth, back] = &network.applications[2..] else { panic!() };
    assert_eq!((forth.name.as_str(), forth.node, back.node), ("b1", NodeId(1), NodeId(2)));
    let ApplicationKind::Background(plan) = &back.kind else { panic!() };
    assert_eq!((plan.direction, &plan.arrival), (Direction::Back, &Arrival::Poisson(400.0)));
    let silent = text.replace("load=0.8", "load=0");
    assert_eq!(self::network(&silent).applications.len(), 2);
}

#[test]
fn manual_routes_replace_computed_ones() {
    let network =
        network(&with("[[route]]\nnode = \"r1\"\nprefix = \"/file\"\nvia = \"r2\"\ncost = 7\n"));
    let route = network.routes.iter().find(|route| route.node == NodeId(1)).unwrap();
    assert_eq!(route.hops, [(LinkId(1), 7)]);
    let message =
        wrong(&with("[[route]]\nnode = \"r1\"\nprefix = \"/file\"\nvia = \"producer\"\n"));
    assert!(message.contains("no link of `r1` is or leads to `producer`"), "{message}");
}
