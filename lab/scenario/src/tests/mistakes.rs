//! Messages about wrong scenarios; no scenario makes the reader panic.
use super::*;
use proptest::prelude::*;

#[test]
fn every_mistake_is_reported_with_its_place() {
    for (old, new, error) in [
        (
            "rate = \"10 M",
            "rat = \"10 M",
            "10:1: link.rat: is not known here; did you mean `rate`?",
        ),
        ("\"10 Mbit/s\"", "\"10 Mbits\"", "10:8: link.rate: `10 Mbits` is not a rate"),
        ("\"10 ms\"", "10", "11:9: link.delay: 10 has no unit"),
        (
            "\"consumer\"",
            "\"consumr\"",
            "28:8: applications.c1.node: no node is called `consumr`; did you mean `consumer`?",
        ),
        (
            "\"jacobson(min",
            "\"jacobsen(min",
            "24:7: fetch.rto: no RTO estimator is called `jacobsen` (did you mean `jacobson`?)",
        ),
        ("node = \"consumer\"", "", "26:15: applications.c1.node: is missing"),
        ("size = \"10 MiB\"", "", "31:15: applications.p1.size: is missing; write it like"),
        (
            "\"1000 packets\"",
            "1000",
            "21:9: nodes.\"r*\".cache: 1000 has no unit; write a number of packets or bytes like",
        ),
        ("seeds = \"1..3\"", "seeds = \"3..1\"", "3:9: seeds: `3..1` is empty"),
    ] {
        let text = LINE.replacen(old, new, 1);
        assert_ne!(text, LINE, "{old}");
        let message = wrong(&text);
        assert!(message.lines().any(|line| line.starts_with(error)), "{error}\n{message}");
    }
}

#[test]
fn invalid_media_are_named_with_valid_ones() {
    for (given, error) in [
        ("spacing = \"1 km\"", "wifi.spacing: `1 km` is no distance; write it like \"150 m\""),
        ("power = \"1 W\"", "wifi.power: `1 W` is no power; write it like \"16 dBm\""),
        ("defer = \"5 ms\"", "wifi.defer: needs `broadcast`"),
        ("handoff = { beacon = \"1 s\" }", "wifi.handoff: needs `points` and `clients`"),
        ("data = \"voice\"", "wifi.data: needs standard = \"n\""),
        ("standard = \"n\"\nampdu = \"64 KiB\"", "wifi.ampdu: `64 KiB` is more than the 65535 B"),
        (
            "points = \"r1\"\nclients = \"consumer\"",
            "wifi.clients: makes a link `consumer-r1`, which the topology has, too",
        ),
        (
            "points = \"r1\"\nclients = \"r2\"\nhandoff = { smoothing = 2 }",
            "wifi.handoff.smoothing: `2` is no share; write a number from 0.001 to 1",
        ),
    ] {
        let message = wrong(&with(&format!("[wifi]\n{given}\n[nodes.\"*\"]\nposition = [0, 0]\n")));
        assert!(message.contains(error) && message.lines().count() == 1, "{error}\n{message}");
    }
    // What a sweep gives the use of is none.
    let swept = "[wifi]\nspacing = 0\nampdu = \"3000 B\"\n[sweep]\nwifi.standard = [\"n\"]\n";
    let file = ScenarioFile::parse(&with(swept), &[]).unwrap_or_else(|it| panic!("{it}"));
    assert!(file.to_toml().contains("ampdu = \"3000 B\""), "{}", file.to_toml());
    let right = with("[wifi]\nspacing = 0\npower = \"-3 dBm\"\ncapture = \"5dB\"\n");
    assert_eq!(network(&right).wifi[0].medium.power_dbm, -3.0);
}

#[test]
fn a_record_is_kept_once() {
    let message = wrong(&with("[record]\ntables = [\"goodput(bin=1s)\", \"goodput(bin=2s)\"]\n"));
    assert!(message.contains("record.tables: `goodput` is there twice"), "{message}");
    let message = wrong(&with("[record]\ncapture-bytes = \"64 B\"\n"));
    assert!(message.contains("record.capture-bytes: needs `capture`"), "{message}");
}

#[test]
fn a_queue_has_one_limit_of_each_kind() {
    for queue in [r#"["3 packets", "5 packets"]"#, r#"["3 packets", "unlimited"]"#] {
        let message = wrong(&LINE.replace("\"32 packets\"", queue));
        assert!(message.contains("links.r1-r2.queue: a queue has one limit"), "{message}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text =
        LINE.replace("\"10 Mbit/s\"", "1").replace("\"10 ms\"", "2").replace("[fetch]", "[fetsh]");
    assert_eq!(wrong(&text).lines().count(), 3, "{}", wrong(&text));
}

#[test]
fn missing_table_is_named_with_its_form() {
    let topology = "[topology]\nlinks = [\"a-b\"]\n";
    for (text, line) in [
        ("topology = \"line\"".to_owned(), "1:12: topology: is no table; write [topology]"),
        (format!("{topology}[links]\nx = 1"), "4:5: links.x: is no table; write [links.x]"),
        (
            format!("event = [7]\n{topology}"),
            "1:10: event.1: `7` is no table; write [[event]] above each, and its keys below",
        ),
        (
            format!("{topology}[event]\nat = \"1 s\""),
            "3:1: event: is one table; write [[event]], with two brackets, above each",
        ),
    ] {
        let problems = ScenarioFile::parse(&text, &[]).unwrap_err().to_string();
        assert_eq!(problems.lines().next().unwrap(), line, "{text}: {problems}");
    }
}

#[test]
fn unreachable_producer_is_named() {
    let text = LINE.replace("\"r1-r2\", ", "").replace("[links.r1-r2]", "[links.consumer-r1]");
    assert!(wrong(&text).contains("consumer cannot reach producer"), "{}", wrong(&text));
}

#[test]
fn request_without_a_producer_is_a_warning() {
    let file = ScenarioFile::parse(&LINE.replace("object = \"/file\"", "object = \"/flie\""), &[])
        .unwrap();
    let scenario = file.scenario(&file.point(0).unwrap(), &no_files).unwrap();
    let warnings = scenario.warnings(&scenario.network(1).unwrap());
    assert_eq!(warnings, ["c1 requests /flie, which no producer serves; did you mean `/file`?"]);
}

#[test]
fn consumer_without_a_route_is_a_warning() {
    let warnings = |text: &str| {
        let file = ScenarioFile::parse(text, &[]).unwrap();
        let scenario = file.scenario(&file.point(0).unwrap(), &no_files).unwrap();
        scenario.warnings(&scenario.network(1).unwrap())
    };
    let beside = LINE.replace("node = \"consumer\"", "node = \"producer\"");
    assert_eq!(warnings(&beside), [""; 0], "it asks the producer beside it");
    let other = beside.replace("object = \"/file\"", "object = \"/flie\"");
    assert_eq!(
        warnings(&other).last().unwrap(),
        "c1 asks in vain: no route leads away from its node"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_a_scenario_panic(text: String, setting: String) {
        let _ = networks(&text, &[&setting], 1);
    }

    /// Lines are doubled, dropped, moved and given each other's values.
    #[test]
    fn no_disorder_makes_a_scenario_panic(
        steps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8), 1..12),
        pairs: bool,
    ) {
        let mut lines: Vec<String> =
            if pairs { PAIRS } else { LINE }.lines().map(str::to_owned).collect();
        for (one, other, what) in steps {
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            let line = lines[one].clone();
            match (what, line.split_once('='), lines[other].clone().split_once('=')) {
                (0, ..) => lines.insert(other, line),
                (1, ..) if lines.len() > 2 => drop(lines.remove(one)),
                (2, Some((key, _)), Some((_, value))) => lines[other] = format!("{key}={value}"),
                _ => lines.swap(one, other),
            }
        }
        let text = lines.join("\n");
        if let Ok(file) = ScenarioFile::parse(&text, &[]) {
            prop_assert!(ScenarioFile::parse(&file.to_toml(), &[]).is_ok(), "{}", file.to_toml());
        }
        let _ = networks(&text, &[], 1);
    }

    #[test]
    fn no_value_makes_a_setting_panic(
        at in any::<prop::sample::Index>(),
        value in "\\PC{0,12}|[0-9]{1,20} ?(ms|s|B|packets)|(zipf|poisson|aimd)\\([a-z=0-9.,]{0,12}\\)|\\{[a-z0-9.,{}]{0,9}\\}",
    ) {
        let paths = [
            "link.rate", "link.queue", "link.loss", "nodes.\"r*\".cache", "applications.c1.node",
            "applications.c1.object", "applications.c1.rto", "applications.c1.rto.k", "seeds", "stop",
            "applications.p1.size", "topology.links", "sweep.a", "event", "event.1.at", "routing.paths",
        ];
        let setting = format!("{}={value}", at.get(&paths));
        let _ = networks(LINE, &[&setting], 1);
    }
}
