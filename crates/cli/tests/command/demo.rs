//! The demo, on a small scale.
use crate::place::Place;

#[test]
fn transports_are_compared_over_equal_losses() {
    let place = Place::new();
    let slow = "congestion=fixed(window=4),loss=timeout,rto=constant(rto=2s)";
    let words = format!(
        "demo --size 800kB --loss 4% --rate 10Mbit/s --transport {slow} --transport cubic,recovery=wldr --json --out pictures"
    );
    let document = place.run(&words).succeeds().document();
    let runs = document["runs"].as_array().unwrap();
    let seconds = |run: &serde_json::Value| run["elapsed_s"].as_f64().unwrap();
    assert!(runs.iter().all(|run| run["intact"] == true), "{document}");
    assert!(seconds(&runs[0]) > seconds(&runs[1]), "{document}");
    assert_eq!(runs[0]["transport"], slow);
    assert!(runs[1]["recovery"].as_str().unwrap().starts_with("wldr"), "{document}");
    let picture = String::from_utf8(place.read("pictures/recoup-demo.svg")).unwrap();
    assert!(picture.contains("constant(rto=2s)") && picture.contains("recovery=wldr"));
}

#[test]
fn table_fits_a_terminal() {
    let place = Place::new();
    let words = "demo --size 50kB --loss 0% --delay 1ms";
    let ended = place.run(words).succeeds();
    assert!(ended.stderr.lines().all(|line| line.chars().count() <= 78), "{}", ended.stderr);
    let table = String::from_utf8(ended.stdout).unwrap();
    for piece in ["\ncubic ", "\ncubic,recovery=wldr ", "\nrecoup fetch ", "recoup-demo.svg"] {
        assert!(table.contains(piece), "{piece}: {table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 78), "{table}");
    let long = "congestion=fixed(window=16),loss=timeout,rto=constant(rto=4s)";
    let ended = place.run(&format!("{words} --transport {long}")).succeeds();
    let table = String::from_utf8(ended.stdout).unwrap();
    assert!(table.contains(&format!("\n{long}\n")), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 78), "{table}");
}

#[test]
fn wrong_links_and_transports_are_rejected() {
    let place = Place::new();
    place.run("demo --rate 10").fails_as_usage(&["10 Mbit/s"]);
    place.run("demo --loss 100%").fails_as_usage(&["below 100%"]);
    place.run("demo --transport sundial").fails_as_usage(&["sundial", "cubic"]);
    place.run("demo --transport cubic,recovery=none").fails_as_usage(&["none", "wldr"]);
    place.write("file", b"x");
    place.run("demo --size 8kB --loss 0% --out file/x").fails(4, &["file/x"]);
}

#[test]
fn transport_of_fetch_stands_beside_cubic() {
    let place = Place::new();
    let document = place.run("demo --size 50kB --loss 0% --delay 1ms --json").succeeds().document();
    let runs = document["runs"].as_array().unwrap();
    let starts = |run: &serde_json::Value, key: &str, with: &str| {
        assert!(run[key].as_str().unwrap().starts_with(with), "{key}: {run}");
    };
    assert_eq!((runs.len(), &runs[2]["transport"]), (3, &"recoup fetch".into()));
    for (run, congestion, recovery) in
        [(0, "cubic(", "off"), (1, "cubic(", "wldr"), (2, "recoup(", "auto")]
    {
        starts(&runs[run], "congestion", congestion);
        starts(&runs[run], "recovery", recovery);
    }
    assert!(runs[0]["rto"].as_str().unwrap().contains("init=1s,min=1s"), "{document}");
    starts(&runs[2], "loss", "rack(");
    assert!(runs.iter().all(|run| run["intact"] == true), "{document}");
}
