//! `recoup arena`: cases listed, transports judged, results gone on with.
use crate::place::Place;
use serde_json::Value;

/// 84 segments over 10 Mbit/s and 40 ms: the ideal is 3 round trips and 51 packets of 1.04 ms.
const CASE: &str = r#"
title = "a short fetch"
seeds = "1..2"
stop = "60 s"

[arena]
situation = "short"

[topology]
links = ["c-p"]

[link]
rate = "10 Mbit/s"
delay = "20 ms"

[serve]
size = "100 kB"
segment = "1200 B"
packet = "1300 B"

[applications.c1]
kind = "fetch"
node = "c"
object = "/f"

[applications.p1]
kind = "serve"
node = "p"
prefix = "/f"

[record]
links = true
timeouts = true
"#;

/// Two consumers for three seconds on 2 Mbit/s.
const SHARED: &str = r#"
title = "two at once"
stop = "3 s"
when-done = false

[arena]
situation = "sharing"
since = "1 s"

[topology]
links = ["a-r", "b-r", "r-p"]

[link]
delay = "1 ms"

[links.r-p]
rate = "2 Mbit/s"
delay = "9 ms"
queue = "20 packets"

[serve]
size = "10 MB"
segment = "1200 B"
packet = "1300 B"

[applications.c1]
kind = "fetch"
node = "a"
object = "/1"

[applications.c2]
kind = "fetch"
node = "b"
object = "/2"

[applications.p1]
kind = "serve"
node = "p"
prefix = "/1"

[applications.p2]
kind = "serve"
node = "p"
prefix = "/2"

[record]
tables = ["goodput(bin=1s)"]
"#;

fn with_cases() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("mine")).expect("a folder");
    place.write("mine/brief.toml", CASE.as_bytes());
    place.write("mine/pair.toml", SHARED.as_bytes());
    place
}

#[test]
fn cases_are_listed_with_their_ideals() {
    let text = String::from_utf8(Place::new().run("arena --list").succeeds().stdout).unwrap();
    for piece in
        ["random-loss\n", "loss-1 ", "4.519 s  sockets", "crowd", "equal", "beside-cubic", "50 %"]
    {
        assert!(text.contains(piece), "{piece}: {text}");
    }
    let list: Value = Place::new().run("arena --list --json sharing fat").succeeds().document();
    let list = list.as_array().unwrap();
    assert!(
        list.iter().any(|it| it["case"] == "twins" && it["why_not"] == "it has several consumers")
    );
    let fat = list.iter().find(|it| it["case"] == "fat").unwrap();
    assert_eq!((&fat["sockets"], &fat["situation"]), (&false.into(), &"clean".into()));
    assert!(list.iter().all(|it| it["case"] == "fat" || it["situation"] == "sharing"));
}

#[test]
fn transports_are_scored_and_results_gone_on_with() {
    let place = with_cases();
    let words = "arena --cases mine brief pair --transport fixed(window=4) --transport cubic,loss=timeout --out r";
    let document: Value = place.run(&format!("{words} --json")).succeeds().document();
    let brief =
        document["cases"].as_array().unwrap().iter().find(|it| it["case"] == "brief").unwrap();
    let ideal = brief["ideal_s"].as_f64().unwrap();
    assert!((ideal - (3.0 * 0.04 + 51.0 * 0.00104)).abs() < 1e-9, "{ideal}");
    let results = brief["results"].as_array().unwrap();
    assert_eq!((&results[0]["runs"], &results[0]["completed"]), (&2.into(), &2.into()));
    // 21 round trips of four segments each.
    let time = results[0]["figures"]["time"]["mean"].as_f64().unwrap();
    assert!((0.84..1.0).contains(&time), "{time}");
    let factor = results[0]["figures"]["factor"]["mean"].as_f64().unwrap();
    assert!((factor - time / ideal).abs() < 1e-9, "{factor}");
    let pair =
        document["cases"].as_array().unwrap().iter().find(|it| it["case"] == "pair").unwrap();
    let figures = &pair["results"][0]["figures"];
    assert!(figures["jain"]["mean"].as_f64().unwrap() > 0.9, "{figures}");
    assert!(figures["utilisation"]["mean"].as_f64().unwrap() > 0.5, "{figures}");
    assert_eq!(document["transports"][0]["sharing"]["cases"], 1);

    // All runs are kept: the same command makes none, and a further transport needs only its own.
    let again = place.run(words).succeeds();
    assert!(again.stderr.contains("0 of 6 runs were made now"), "{}", again.stderr);
    let text = String::from_utf8(again.stdout).unwrap();
    for piece in ["brief: a short fetch", "fixed(window=4)", "geometric mean", "Jain", "(sharing)"]
    {
        assert!(text.contains(piece), "{piece}: {text}");
    }
    let more = place.run(&format!("{words} --transport newreno")).succeeds();
    assert!(more.stderr.contains("3 of 9 runs were made now"), "{}", more.stderr);
    assert!(place.exists("r/brief/runs.csv"));
}

#[test]
fn random_networks_run_by_kind_and_number() {
    let place = Place::new();
    let words = "arena --random policers=3..5 --random own=2";
    let list: Value = place.run(&format!("{words} --list --json")).succeeds().document();
    let names: Vec<&str> =
        list.as_array().unwrap().iter().filter_map(|it| it["case"].as_str()).collect();
    assert_eq!(names, ["policers-3", "policers-4", "policers-5", "own-2"]);
    let again: Value = place.run("arena --random policers=4 --list --json").succeeds().document();
    assert_eq!(again[0], list[1]);
    // The table names the file of the worst.
    let ran = place.run("arena --random outages=1..2 --transport cubic --out r").succeeds();
    let text = String::from_utf8(ran.stdout).unwrap();
    let file = text.lines().last().unwrap();
    assert!(file.starts_with("r/outages-") && place.exists(file), "{text}");
    assert!(text.contains("95 %"), "{text}");
}

#[test]
fn case_runs_on_sockets() {
    let place = with_cases();
    let words =
        "arena --cases mine brief --transport cubic --seeds 1 --backend sockets --json --out r";
    let document: Value = place.run(words).succeeds().document();
    assert_eq!(document["backend"], "sockets");
    let result = &document["cases"][0]["results"][0];
    assert_eq!(result["completed"], 1, "{document}");
    // Three round trips at least.
    assert!(result["figures"]["time"]["mean"].as_f64().unwrap() > 0.12, "{document}");
    place
        .run("arena twins --backend sockets")
        .fails_as_usage(&["twins cannot run on sockets", "several consumers"]);
}

#[test]
fn wrong_words_are_explained() {
    let place = with_cases();
    for (words, pieces) in [
        ("arena loss-1x", &["no case `loss-1x`", "did you mean `loss-1`"] as &[&str]),
        ("arena plain --transport cubik", &["--transport 'cubik'", "cubic"]),
        ("arena plain --transport speed=3", &["congestion, loss and rto", "speed"]),
        ("arena --random paths=0..99999", &["10000 networks"]),
        ("arena --random policer", &["no kind `policer`", "policers (one fetch"]),
    ] {
        place.run(words).fails_as_usage(pieces);
    }
    place.write("mine/plain.toml", CASE.as_bytes());
    place
        .run("arena brief --cases mine")
        .fails_as_usage(&["mine/plain.toml", "a case `plain` already"]);
    place.write("mine/plain.toml", CASE.replace("[arena]", "[arana]").as_bytes());
    place.run("arena brief --cases mine").fails_as_usage(&["mine/plain.toml:", "arana"]);
    place.run("arena brief --cases none").fails(4, &["none"]);
}
