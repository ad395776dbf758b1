//! Studies at smoke scale: everything runs, is kept, judged and drawn.
use crate::place::Place;
use serde_json::Value;

#[test]
fn studies_are_listed_with_their_questions() {
    let ended = Place::new().run("study list").succeeds();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(text.contains("yang2016") && text.contains("23 claims"), "{text}");
    assert!(text.contains("udugama2013") && text.contains("31 claims"), "{text}");
    assert!(text.contains("nikzad2022") && text.contains("41 claims"), "{text}");
    assert!(text.contains("vonrotz2015") && text.contains("57 claims"), "{text}");
    assert!(text.contains("carofiglio2016") && text.contains("30 claims"), "{text}");
}

#[test]
fn study_runs_once_and_uses_kept_results() {
    let place = Place::new();
    // Two seeds decide nothing, as the exit code shows.
    let words = "study report yang2016 --scale smoke";
    let none = place.run(words).fails(2, &["runs are missing", "--run makes them, in about"]);
    assert!(none.stdout.is_empty() && !place.exists(".cache/recoup/studies"));
    let first = place.run("study check yang2016 --scale smoke --json").fails(2, &["undecided"]);
    let document: Value = first.document();
    assert_eq!((&document["study"], &document["seeds"]), (&"yang2016".into(), &2.into()));
    let claims = document["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 23);
    for claim in claims {
        let ours = claim["ours"].as_str().unwrap();
        assert!(!ours.is_empty() && !ours.contains("no results"), "{claim}");
        assert_eq!(claim["verdict"], "reported", "{claim}");
    }
    assert!(place.exists(".cache/recoup/studies/yang2016/smoke/linear/runs.csv"));

    let again = place.run("study report yang2016 --scale smoke --out page").succeeds();
    assert!(again.stderr.contains("there already"), "{}", again.stderr);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), "page/claims.md\n");
    let page = String::from_utf8(place.read("page/claims.md")).unwrap();
    for id in ["linear", "dumbbell", "window", "rto-2", "rto-3", "sharing", "linear-floor"] {
        let picture = format!("{id}.svg");
        assert!(page.contains(&picture) && place.exists(&format!("page/{picture}")), "{id}");
    }
}

#[test]
fn kept_runs_are_drawn_and_compared() {
    let place = Place::new();
    place.run("study report yang2016 --run --scale smoke --out kept -q").succeeds();
    let ended = place.run("study verify yang2016 --kept kept --runs 3 --draw 5").succeeds();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("same ")).count(), 3, "{text}");
    assert!(text.contains("drawn with --draw 5"), "{text}");

    let digests = String::from_utf8(place.read("kept/digests.csv")).unwrap();
    let (head, rest) = digests.split_once('\n').unwrap();
    let changed = |line: &str| {
        let cells: Vec<_> = line.splitn(4, ',').collect();
        format!("{},{},{},{}\n", cells[0], cells[1], cells[2].replace('1', "2"), cells[3])
    };
    let other: String = rest.lines().map(changed).collect();
    place.write("kept/digests.csv", format!("{head}\n{other}").as_bytes());
    let words = "study verify yang2016 --kept kept --runs 30 --draw 5 --json";
    let document = place.run(words).fails(1, &["as kept", "differ"]).document();
    assert_eq!((&document["study"], &document["draw"]), (&"yang2016".into(), &5.into()));
    let runs = document["runs"].as_array().unwrap();
    let same = runs.iter().filter(|run| run["kept"] == run["today"]).count();
    assert!(runs.len() > 10 && document["same"] == same && same < 30, "{document}");

    std::fs::remove_file(place.path("kept/digests.csv")).unwrap();
    place.run("study verify yang2016 --kept kept").fails(4, &["stale", "study report yang2016"]);
}

#[test]
fn a_figure_needs_only_its_own_experiment() {
    let place = Place::new();
    place.run("study run yang2016 --scale smoke --figure window --out here").succeeds();
    assert!(place.exists("here/figures/window.svg") && !place.exists("here/smoke/dumbbell"));
    place
        .run("study run yang2016 --scale smoke --figure windows --out here")
        .fails_as_usage(&["window"]);
    place.run("study run yang2017").fails_as_usage(&["yang2017", "yang2016"]);
}

#[test]
fn study_runs_on_processes_beside_simulation() {
    let place = Place::new();
    let words =
        "study run yang2016 --scale smoke --backend sockets --figure linear --out here --json";
    // So short a fetch on a busy machine may differ; that it is compared is what counts here.
    let ended = place.run(words);
    let document: Value = ended.document();
    let lines = document["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 4, "{document}");
    for line in lines {
        for backend in ["simulated", "sockets"] {
            let seconds = line["metrics"]["time_s"][backend]["mean"].as_f64();
            assert!(seconds.is_some_and(|it| it > 0.5), "{backend}: {line}");
        }
        assert!(line["paper"].as_str().is_some_and(|it| it.ends_with(" s")), "{line}");
    }
}

#[test]
fn repairs_are_compared_on_processes() {
    let place = Place::new();
    let words = "study run udugama2013 --scale smoke --backend sockets --figure repair-sources --out here --jobs 4";
    // A single run decides nothing; the test needs both means and their quotient.
    let ended = place.run(&format!("{words} --json")).fails(1, &["undecided"]);
    let document: Value = ended.document();
    let contests = document["contests"].as_array().unwrap();
    assert_eq!(contests.len(), 10, "{document}");
    for contest in contests {
        for backend in ["simulated", "sockets"] {
            let (smart, simple3) = (&contest[backend]["Smart"], &contest[backend]["Simple3"]);
            assert!(smart.is_number() && simple3.as_f64().is_some_and(|it| it > 0.0), "{contest}");
        }
    }
    assert!(place.exists("here/smoke/sockets/repair-sources/runs.csv"));
}

#[test]
fn every_study_runs_at_smoke_scale() {
    for (key, claims, figures) in [
        ("udugama2013", 31, ["time", "window-cubic", "compound", "caching-smart", "single-floor"]),
        ("vonrotz2015", 57, ["time-1", "interests-3", "trace-2-wma", "variants", "open"]),
        ("carofiglio2016", 30, ["5a", "7c", "9b", "residual", "open-mobile"]),
        ("nikzad2022", 41, ["floor-b", "rtt-100", "estimators-b", "frontier", "open-map"]),
    ] {
        let place = Place::new();
        let words = format!("study check {key} --scale smoke --json");
        let document: Value = place.run(&words).fails(2, &["undecided"]).document();
        let all = document["claims"].as_array().unwrap();
        assert!(all.len() == claims && all.iter().all(|it| it["ours"] != ""), "{document}");
        place.run(&format!("study report {key} --run --scale smoke --out page")).succeeds();
        for id in figures {
            assert!(place.exists(&format!("page/{id}.svg")), "{id}");
        }
    }
}
