//! `recoup sim`: scenarios run, results kept, campaigns gone on with.
use crate::place::{Ended, Place, kill, until};
use std::path::Path;
use std::process::Child;

const LINE: &str = r#"
title = "A short line"
seeds = "1..3"
stop = "60 s"

[topology]
links = ["c-r", "r-p"]

[link]
rate = "10 Mbit/s"
delay = "5 ms"
loss = "bernoulli(p=0.02)"

[applications.c1]
kind = "fetch"
node = "c"
object = "/file"

[applications.p1]
kind = "serve"
node = "p"
prefix = "/file"
size = "200 kB"
segment = "1 kB"

[record]
tables = ["window"]

[sweep]
fetch.congestion = ["aimd", "cubic"]
"#;

fn with_line() -> Place {
    let place = Place::new();
    place.write("line.toml", LINE.as_bytes());
    place
}

fn lines(place: &Place, name: &str) -> Vec<String> {
    String::from_utf8(place.read(name)).unwrap().lines().map(str::to_owned).collect()
}

/// Rows of runs without the time that they took, which is no result.
fn results(place: &Place, folder: &str) -> Vec<String> {
    let rows = lines(place, &format!("{folder}/runs.csv"));
    let column = rows[0].split(',').position(|name| name == "elapsed_s").unwrap();
    let without = |row: &String| {
        let cells = row.split(',').enumerate().filter(|(place, _)| *place != column);
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
    };
    rows.iter().map(without).collect()
}

#[test]
fn sweep_is_drawn() {
    let place = with_line();
    let ended = place.run("sim line.toml --show c1.time_s,c1.goodput_bps").succeeds();
    assert!(ended.stderr.contains("figures: line-results/figures.html"), "{}", ended.stderr);
    let text = |name: &str| String::from_utf8(place.read(name)).unwrap();
    let page = text("line-results/figures.html");
    for piece in ["c1.time_s over fetch.congestion", "Mbit/s", "aimd", "<svg"] {
        assert!(page.contains(piece), "no {piece}: {page}");
    }
    assert!(text("line-results/c1.goodput_bps.svg").contains("cubic"));
    // One point has nothing to draw.
    place.run("sim line.toml --set sweep.fetch.congestion=[\"cubic\"] --out one -q").succeeds();
    assert!(!place.exists("one/figures.html"));
}

#[test]
fn losses_are_read_and_captures_written() {
    let place = Place::new();
    let lossy = LINE
        .replace("bernoulli(p=0.02)", "trace(file=lift.txt)")
        .replace("tables = [\"window\"]", "capture = \"c-r\"");
    place.write("line.toml", lossy.as_bytes());
    place.run("sim line.toml").fails(2, &["line.toml:12:8: link.loss: lift.txt: "]);
    place.write("lift.txt", b"3\n5-7  # in the lift\n");
    place.run("sim line.toml --seeds 1 --out results").succeeds();
    let captures: Vec<_> = std::fs::read_dir(place.path("results/captures")).unwrap().collect();
    assert_eq!(captures.len(), 2, "one for each point, and no unfinished ones");
    let lost = captures.into_iter().map(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(4).filter(|bytes| bytes == b"lost").count()
    });
    assert_eq!(lost.collect::<Vec<_>>(), [8, 8], "four on each of the two ways");
    // Another list makes other results.
    place.write("lift.txt", b"3\n");
    let again = place.run("sim line.toml --seeds 1 --out results");
    again.fails(4, &["a file that it names"]);
}

#[test]
fn sweep_leaves_a_row_per_run() {
    let place = with_line();
    let ended = place.run("sim line.toml --json --format csv").succeeds();
    let document = ended.document();
    assert_eq!(document["runs"]["made"], 6);
    assert_eq!(document["points"][0]["values"]["fetch.congestion"], "aimd");
    assert_eq!(document["points"][1]["seeds"], 3);
    let time = &document["points"][1]["metrics"]["c1.time_s"];
    assert_eq!((&time["unit"], &time["count"]), (&"s".into(), &3.into()));
    let (mean, ci) = (time["mean"].as_f64().unwrap(), &time["ci95"]);
    assert!(ci[0].as_f64().unwrap() < mean && mean < ci[1].as_f64().unwrap(), "{time}");
    // 200 kB at 10 Mbit/s take 0.16 s at the very least.
    assert!((0.16..30.0).contains(&mean), "{mean}");
    let rows = lines(&place, "line-results/runs.csv");
    assert_eq!(rows.len(), 7);
    assert!(rows[0].starts_with("fetch.congestion,point,seed,digest,"), "{}", rows[0]);
    let tables = std::fs::read_dir(place.path("line-results/tables/window")).unwrap();
    assert_eq!(tables.count(), 6);
}

#[test]
fn digest_does_not_depend_on_concurrency() {
    let place = with_line();
    place.run("sim line.toml -q --out one --jobs 1 --format csv").succeeds();
    place.run("sim line.toml -q --out two --jobs 2 --format csv").succeeds();
    assert_eq!(results(&place, "one"), results(&place, "two"));
    let digests: Vec<_> = results(&place, "one")
        .iter()
        .map(|row| row.split(',').nth(3).unwrap().to_owned())
        .collect();
    let different: std::collections::BTreeSet<_> = digests.iter().collect();
    assert_eq!(different.len(), digests.len(), "every seed and point runs differently");
}

#[test]
fn later_command_resumes_but_only_the_scenario() {
    let place = with_line();
    place.run("sim line.toml -q --seeds 1").succeeds();
    let document = place.run("sim line.toml --json --seeds 1..2").succeeds().document();
    assert_eq!((&document["runs"]["all"], &document["runs"]["made"]), (&4.into(), &2.into()));
    place
        .run("sim line.toml --set link.delay=9ms")
        .fails(4, &["link.delay is `5 ms` there and `9 ms` here", "--fresh", "--out"]);
    let fresh = place.run("sim line.toml --set link.delay=9ms --fresh --json").succeeds();
    assert_eq!(fresh.document()["runs"]["made"], 6);
    let text = String::from_utf8(place.read("line-results/scenario.toml")).unwrap();
    assert!(text.contains("delay = \"9 ms\"") && text.contains("retries = 15"), "{text}");
}

#[test]
fn kept_scenario_gives_the_same_results() {
    let place = with_line();
    place.run("sim line.toml -q --seeds 1 --set applications.c1.retries=99").succeeds();
    place.run("sim line-results/scenario.toml -q --seeds 1 --out again").succeeds();
    assert_eq!(results(&place, "line-results"), results(&place, "again"));
}

#[test]
fn mistakes_are_reported_with_their_places() {
    let place = with_line();
    place.write("wrong.toml", LINE.replace("delay =", "dealy =").as_bytes());
    place
        .run("sim wrong.toml")
        .fails(2, &["wrong.toml:11:1: link.dealy: is not known here; did you mean `delay`?"]);
    let two = LINE.replace("delay =", "dealy =").replace("\"10 Mbit/s\"", "10");
    place.write("two.toml", two.as_bytes());
    let ended = place.run("sim two.toml");
    assert!(ended.stderr.contains("two.toml:10:8: link.rate: 10 has no unit"), "{}", ended.stderr);
    ended.fails(2, &["two.toml has 2 mistakes"]);
    place.run("sim line.toml --set link.dealy=1ms").fails(2, &["--set link.dealy=1ms", "delay"]);
    place.run("sim line.toml --seeds 5..1").fails_as_usage(&["1 to 20"]);
    place.run("sim none.toml").fails(4, &["none.toml", "check the path"]);
    place.write("loss.toml", LINE.replace("p=0.02", "p=2").as_bytes());
    place.run("sim loss.toml").fails(2, &["loss.toml:12:8: link.loss", "p=2"]);
}

#[test]
fn a_sweep_that_changes_nothing_is_noticed() {
    let place = with_line();
    let idle =
        LINE.replace("fetch.congestion = [\"aimd\", \"cubic\"]", "node.cache = [\"0\", \"0 B\"]");
    place.write("idle.toml", idle.as_bytes());
    let document = place.run("sim idle.toml --seeds 1 --json").succeeds().document();
    let note = document["notes"][0].as_str().unwrap_or_default();
    assert!(note.contains("ran alike: the sweep changes nothing"), "{document}");
}

#[test]
fn other_files_are_not_touched() {
    let place = with_line();
    std::fs::create_dir(place.path("thesis")).unwrap();
    place.write("thesis/chapter.tex", b"mine");
    place.run("sim line.toml --out thesis --fresh").fails(4, &["thesis", "--out"]);
    assert!(place.exists("thesis/chapter.tex"));
}

#[test]
fn explain_shows_what_would_run_and_runs_nothing() {
    let place = with_line();
    let ended = place.run("sim line.toml --explain").succeeds();
    let text = String::from_utf8(ended.stdout).unwrap();
    for piece in [
        "A short line",
        "c-r: 10.0 Mbit/s, 5.000 ms, queue of 100 packets, loss bernoulli(p=0.02)",
        "c: /file to r",
        "c1 at c: fetches /file with aimd and jacobson",
        "fetch.congestion=cubic",
        "6 runs (2 points x 3 seeds)",
        "800 packet-hops each",
    ] {
        assert!(text.contains(piece), "no {piece:?} in {text}");
    }
    assert!(!place.exists("line-results"));
    let document = place.run("sim line.toml --explain --json").succeeds().document();
    assert_eq!((&document["runs"], &document["nodes"]), (&6.into(), &3.into()));
}

#[test]
fn every_example_of_the_repository_is_a_scenario() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let ended = Place::new().run(&format!("sim {} --explain", path.display())).succeeds();
            assert!(!ended.stderr.contains("warning"), "{}: {}", path.display(), ended.stderr);
            found += 1;
        }
    }
    assert!(found >= 5, "{found}");
}

/// A campaign that takes its time, begun and interrupted after its first runs.
fn interrupted(place: &Place, signal: &str) -> Ended {
    let mut command = place.command("sim line.toml --seeds 1..200 --jobs 1 --format csv");
    let child: Child = command.spawn().expect("the command runs");
    until("a run", || {
        let path = place.path("line-results/journal.jsonl");
        std::fs::read_to_string(path).is_ok_and(|text| text.matches("\"made\"").count() >= 2)
    });
    kill(&child, signal);
    let output = child.wait_with_output().expect("it ends");
    Ended::of("sim", output)
}

fn goes_on(place: &Place, signal: &str) {
    let kept = lines(place, "line-results/journal.jsonl");
    let kept: Vec<_> = kept.iter().filter(|line| line.contains("\"made\"")).collect();
    let kept = kept.len() as u64;
    assert!(kept < 400, "it was over before the signal");
    let document =
        place.run("sim line.toml --seeds 1..2 --json --format csv").succeeds().document();
    assert!(document["runs"]["made"].as_u64().unwrap() <= 4 - kept.min(4), "{signal}: {document}");
    place.run("sim line.toml -q --seeds 1..2 --out whole --format csv").succeeds();
    let rest: Vec<_> = results(place, "line-results");
    for row in results(place, "whole") {
        assert!(rest.contains(&row), "{signal}: {row}");
    }
}

#[test]
fn interrupted_campaign_keeps_its_runs() {
    let place = with_line();
    let ended = interrupted(&place, "INT");
    ended.fails(130, &["interrupted", "goes on"]);
    assert!(place.exists("line-results/runs.csv"));
    goes_on(&place, "INT");
}

#[test]
fn killed_campaign_keeps_its_runs() {
    let place = with_line();
    let ended = interrupted(&place, "KILL");
    assert_eq!(ended.code, None);
    goes_on(&place, "KILL");
}
