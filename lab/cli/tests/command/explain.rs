//! `recoup explain`: why a segment of a kept run was late.
use crate::place::Place;

/// One segment after the other over two links; the sixth Data is lost on the second.
const LINE: &str = r#"
seeds = "4..5"
stop = "60 s"

[topology]
links = ["c-r", "r-p"]

[link]
rate = "10 Mbit/s"
delay = "5 ms"

[links.r-p]
back = { loss = "trace(file=lift.txt)" }

[fetch]
congestion = "fixed(window=1)"
loss = "timeout"
rto = "constant(rto=300ms)"

[applications.c1]
kind = "fetch"
node = "c"
object = "/file"

[applications.p1]
kind = "serve"
node = "p"
prefix = "/file"
size = "20 kB"
segment = "1 kB"

[sweep]
link.delay = ["5 ms", "20 ms"]
"#;

fn ran(scenario: &str) -> Place {
    let place = Place::new();
    place.write("line.toml", scenario.as_bytes());
    place.write("lift.txt", b"6\n");
    place.run("sim line.toml -q").succeeds();
    place
}

#[test]
fn lost_segment_has_link_timer_and_delay() {
    let place = ran(LINE);
    let document = place.run("explain line-results 5 --json").succeeds().document();
    assert_eq!(document["cause"], "repair");
    assert_eq!((&document["late"], &document["transmissions"]), (&true.into(), &2.into()));
    assert_eq!((&document["seed"], &document["values"]["link.delay"]), (&4.into(), &"5 ms".into()));
    assert_eq!(document["source"], "p");
    let (delay, median) =
        (document["delay_ms"].as_f64().unwrap(), document["median_ms"].as_f64().unwrap());
    assert!((320.0..330.0).contains(&delay) && (20.0..25.0).contains(&median), "{document}");
    let verdict = document["verdict"].as_str().unwrap();
    for piece in
        ["Data from p to r was lost on r-p (model)", "a timer of 300.0 ms", "the producer at p"]
    {
        assert!(verdict.contains(piece), "{verdict}");
    }
    let text = place.run("explain line-results 5").succeeds().stdout;
    let text = String::from_utf8(text).unwrap();
    for piece in [
        "c1 at c, segment 5; seed 4",
        "Data to r is lost on r-p: model",
        "the retransmission timer expires",
        "sends Interest number 2",
    ] {
        assert!(text.contains(piece), "{text}");
    }
}

#[test]
fn slowest_segments_need_no_number() {
    let place = ran(LINE);
    let document = place.run("explain line-results --worst 3 --json").succeeds().document();
    let stories = document.as_array().unwrap();
    assert_eq!((stories.len(), &stories[0]["segment"]), (3, &5.into()));
    let delays: Vec<_> = stories.iter().map(|it| it["delay_ms"].as_f64().unwrap()).collect();
    assert!(delays[0] > 300.0 && delays.is_sorted_by(|a, b| a >= b), "{delays:?}");

    let text = place.run("explain line-results --worst 3").succeeds().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("segment  5  Late: "), "{text}");
    assert!(text.contains("recoup explain line-results 5"), "{text}");
    place.run("explain line-results").fails_as_usage(&["SEGMENT"]);
    place.run("explain line-results 5 --worst 3").fails_as_usage(&["--worst"]);
}

#[test]
fn run_is_chosen_by_seed_and_point() {
    let place = ran(LINE);
    let ended = place.run("explain line-results 4 --seed 5 --at link.delay=5ms");
    ended.fails(2, &["no point of the sweep has these values", "link.delay=5 ms"]);
    let mut command = place.command("explain line-results 4 --seed 5 --json --at");
    let ended =
        crate::place::Ended::of("explain", command.arg("link.delay=20 ms").output().unwrap());
    let document = ended.succeeds().document();
    assert_eq!((&document["seed"], &document["late"]), (&5.into(), &false.into()));
    assert!(document["verdict"].as_str().unwrap().starts_with("Not late: "));
    place.run("explain line-results 4 --seed 6").fails(2, &["no such run is kept"]);
}

#[test]
fn unexplainable_segment_is_one_line() {
    let place = ran(LINE);
    place.run("explain line-results 20").fails(2, &["c1 never requested 20", "from 0"]);
    place.run("explain line-results 1 -a c2").fails(2, &["no consumer is called c2", "c1"]);
    place.run("explain line-results /other/1").fails(2, &["no consumer requests it"]);
    place.run("explain line-results five").fails(2, &["neither the number of a segment"]);
    std::fs::create_dir(place.path("notes")).unwrap();
    place.write("notes/a.txt", b"mine");
    place.run("explain notes 1").fails(4, &["notes holds no results"]);
}

#[test]
fn irreproducible_results_are_not_explained() {
    let place = ran(LINE);
    let journal = String::from_utf8(place.read("line-results/journal.jsonl")).unwrap();
    let (first, rest) = journal.split_once("\"digest\":\"").unwrap();
    let forged = rest.split("\"digest\":\"").fold(first.to_owned(), |text, after| {
        text + "\"digest\":\"0123456789abcdef" + &after[16..]
    });
    place.write("line-results/journal.jsonl", forged.as_bytes());
    place.run("explain line-results 5").fails(4, &["does not reproduce the results"]);
    // Another list of losses makes another scenario, without kept runs.
    let place = ran(LINE);
    place.write("lift.txt", b"7\n");
    place.run("explain line-results 5").fails(2, &["no such run is kept"]);
    std::fs::create_dir(place.path("old")).unwrap();
    place.write("old/lift.txt", b"6\n");
    place.run("explain line-results 5 --files old").succeeds();
}

#[test]
fn run_of_a_study_is_explained() {
    let place = Place::new();
    place.run("study run yang2016 --scale smoke --figure window -q --out study").succeeds();
    let text = place.run("explain study/smoke/linear-curves 10 --at design=#2").succeeds().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("design=#2") && text.contains("Interest arrives from"), "{text}");
}

#[test]
fn page_shows_a_kept_run() {
    let place = ran(LINE);
    let printed = place.run("explain line-results --seed 5 --page run.html").succeeds().stdout;
    let printed = String::from_utf8(printed).unwrap();
    assert!(
        printed.starts_with("page: run.html; ") && printed.contains(" packets in "),
        "{printed}"
    );
    let page = String::from_utf8(place.read("run.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("seed 5"));
    assert!(page.contains("link.delay=5 ms"), "the point of the sweep");
    let shown = place.run("sim line.toml --page first.html").succeeds().stderr;
    assert!(shown.contains("page: first.html; "), "{shown}");
    assert!(place.exists("first.html") && !place.exists("first.html.part"));
    let missing = place.run("explain line-results --page missing/run.html");
    missing.fails(4, &["missing/run.html"]);
    place.run("sim line.toml -q --page missing/run.html").fails(4, &["missing/run.html"]);
    place.run("explain line-results 5 --page run.html").fails_as_usage(&["--page"]);
    place.run("explain line-results --worst 2 --page run.html").fails_as_usage(&["--page"]);
}
