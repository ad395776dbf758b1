//! Networks on real processes: they come about, carry content as their links let them, and leave nothing behind.
use crate::place::{Place, kill, until};
use crate::processes::processes;
use std::process::Child;

/// Three links in a line, a fetch that takes about half a second, and its producer.
const LINE: &str = r#"
[topology]
links = ["consumer-r1", "r1-r2", "r2-producer"]
[link]
rate = "10 Mbit/s"
delay = "5 ms"
queue = "200 packets"
[applications.c1]
kind = "fetch"
node = "consumer"
object = "/file"
discover = false
congestion = "fixed(window=64)"
[applications.p1]
kind = "serve"
node = "producer"
prefix = "/file"
size = "600 kB"
segment = "1000 B"
packet = "1250 B"
"#;

#[test]
fn processes_are_no_faster_than_their_links() {
    let place = Place::new();
    place.write("line.toml", LINE.as_bytes());
    // How much slower it is than in simulation is up to whatever else the machine does.
    let ended = place.run("emulate line.toml --within 1000 --json").succeeds();
    let document = ended.document();
    let metric = |name: &str, backend: &str| {
        let found = &document["lines"][0]["metrics"][name][backend]["mean"];
        found.as_f64().unwrap_or_else(|| panic!("{name}, {backend}: {document}"))
    };
    assert_eq!((&document["agrees"], &document["lines"][0]["place"]), (&true.into(), &"c1".into()));
    // 600 packets charged with 1250 bytes at 10 Mbit/s are 0.6 s, whatever their real length.
    assert!((0.6..0.7).contains(&metric("time_s", "simulated")), "{document}");
    assert!(metric("time_s", "sockets") > 0.6, "{document}");
    assert!(place.exists("line-emulated/sockets/runs.csv"));
    // What is there is not run again.
    place.run("emulate line.toml --within 0").fails(1, &["simulation and processes differ"]);
}

#[test]
fn unfinished_fetch_is_incomplete_on_both_backends() {
    let place = Place::new();
    place
        .write("line.toml", format!("stop = \"3 s\"\n{LINE}").replace("600 kB", "6 MB").as_bytes());
    let document = place.run("emulate line.toml --within 1000 --json").succeeds().document();
    let metrics = &document["lines"][0]["metrics"];
    for backend in ["simulated", "sockets"] {
        assert_eq!(metrics["completed"][backend]["mean"], 0.0, "{document}");
        assert!(metrics["goodput_bps"][backend]["mean"].as_f64() > Some(1.0), "{document}");
        assert!(metrics["time_s"][backend].is_null(), "{document}");
    }
}

/// Two clients behind a router, one with a window of 500 whatever happens: 1.5 MB each, over 4 Mbit/s.
fn shared_link() -> String {
    let example = include_str!("../../../../examples/shared-link.toml");
    let text = example.replace("4 MB", "1500 kB").replace("10 Mbit/s", "4 Mbit/s");
    assert!(text.contains("1500 kB") && text.contains("4 Mbit/s"));
    // The scheduler is tested: this window fills whatever share it is given.
    let modest = "[applications.modest]\n";
    assert!(text.contains(modest));
    text.replace(modest, &format!("{modest}congestion = \"cubic\"\nloss = \"timeout\"\n"))
}

/// The greedy client's part of what both are given.
fn greedy_part(place: &Place, scheduler: &str) -> f64 {
    let words = format!("--fresh --within 1000 --json --set nodes.router.scheduler={scheduler}");
    let document = place.run(&format!("emulate shared.toml {words}")).succeeds().document();
    let goodput = |name: &str| {
        let lines = document["lines"].as_array().expect("lines");
        let line = lines.iter().find(|line| line["place"] == name).expect("the client's line");
        line["metrics"]["goodput_bps"]["sockets"]["mean"].as_f64().expect("a goodput")
    };
    goodput("greedy") / (goodput("greedy") + goodput("modest"))
}

#[test]
fn router_shares_its_link_nearly_max_min() {
    let place = Place::new();
    place.write("shared.toml", shared_link().as_bytes());
    let takes_more = greedy_part(&place, "none");
    assert!(takes_more > 0.6, "without a scheduler: {takes_more}");
    for scheduler in ["max-min", "drr"] {
        // Max-min fair is a half each. On a busy machine one of them may stall for a while.
        let parts: Vec<f64> = std::iter::repeat_with(|| greedy_part(&place, scheduler))
            .take(3)
            .scan(false, |done, part| {
                let is_last = (part - 0.5).abs() <= 0.05;
                (!std::mem::replace(done, is_last)).then_some(part)
            })
            .collect();
        let last = parts.last().copied().unwrap_or_default();
        assert!((last - 0.5).abs() <= 0.05, "{scheduler}: {parts:?}");
    }
}

#[test]
fn unsupported_property_is_one_line() {
    let place = Place::new();
    place.write("line.toml", LINE.as_bytes());
    let rejects = |setting: &str, piece: &str| {
        place.run(&format!("emulate line.toml --fresh --set {setting}")).fails(2, &[piece]);
    };
    rejects("node.processing=constant(time=1ms)", "processing");
    rejects("link.marking=codel()", "marking");
    rejects("applications.c1.stop=1s", "c1 must end by itself");
    place.run("emulate line.toml --within often").fails_as_usage(&["per cent"]);
}

/// A long run, with its temporary files in `place`, until all its processes are there.
fn long_run(place: &Place) -> (Child, String) {
    place.write("line.toml", LINE.replace("600 kB", "40 MB").as_bytes());
    let temporary = place.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = place.command("emulate line.toml --quiet");
    let child = command.env("TMPDIR", &temporary).spawn().expect("the command runs");
    let mark = temporary.display().to_string();
    until("four forwarders, three links, a server and a fetch", || processes(&mark) == 9);
    (child, mark)
}

#[test]
fn interrupted_run_leaves_no_processes_or_files() {
    let place = Place::new();
    let (child, mark) = long_run(&place);
    kill(&child, "INT");
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(processes(&mark), 0);
    assert_eq!(std::fs::read_dir(&mark).unwrap().count(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn processes_end_with_their_parent() {
    let place = Place::new();
    let (mut child, mark) = long_run(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the end of all processes", || processes(&mark) == 0);
}
