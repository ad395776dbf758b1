//! The demo, on a small scale.
use crate::place::Place;

#[test]
fn adaptive_timers_beat_the_constant_one() {
    let place = Place::new();
    let words =
        "demo --size 800kB --loss 4% --rto constant(rto=2s) --rto jacobson --json --out pictures";
    let document = place.run(words).succeeds().document();
    let runs = document["runs"].as_array().unwrap();
    let seconds = |run: &serde_json::Value| run["elapsed_s"].as_f64().unwrap();
    assert!(runs.iter().all(|run| run["intact"] == true), "{document}");
    assert!(seconds(&runs[0]) > seconds(&runs[1]), "{document}");
    let picture = String::from_utf8(place.read("pictures/recoup-demo.svg")).unwrap();
    assert!(picture.contains("constant(rto=2s)") && picture.contains("jacobson"));
}

#[test]
fn the_table_names_every_timer() {
    let place = Place::new();
    let words = "demo --size 50kB --loss 0% --rto rfc6298 --rto constant --delay 1ms";
    let table = String::from_utf8(place.run(words).succeeds().stdout).unwrap();
    for piece in ["rfc6298", "constant", "same", "recoup-demo.svg"] {
        assert!(table.contains(piece), "{piece}: {table}");
    }
}

#[test]
fn wrong_links_and_timers_are_rejected() {
    let place = Place::new();
    place.run("demo --rate 10").fails_as_usage(&["10 Mbit/s"]);
    place.run("demo --loss 100%").fails_as_usage(&["below 100%"]);
    place.run("demo --rto sundial").fails_as_usage(&["sundial", "constant"]);
    place.write("file", b"x");
    place.run("demo --size 8kB --loss 0% --out file/x").fails(4, &["file/x"]);
}

#[test]
fn transport_of_fetch_stands_beside_the_timers() {
    let place = Place::new();
    let document = place.run("demo --size 50kB --loss 0% --delay 1ms --json").succeeds().document();
    let runs = document["runs"].as_array().unwrap();
    let starts = |run: &serde_json::Value, key: &str, with: &str| {
        assert!(run[key].as_str().unwrap().starts_with(with), "{key}: {run}");
    };
    assert_eq!((runs.len(), &runs[3]["timer"]), (4, &"recoup fetch".into()));
    starts(&runs[2], "congestion", "fixed(window=16");
    starts(&runs[2], "loss", "timeout");
    starts(&runs[3], "congestion", "recoup(");
    starts(&runs[3], "loss", "rack(");
    assert!(runs.iter().all(|run| run["intact"] == true), "{document}");
}
