//! Topologies on real processes: commands on their nodes reach each other as the links let them, and nothing is left.
use crate::place::{Ended, Ends, Place, kill, noise, until};
use crate::processes::processes;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Mini-NDN's format: a triangle of which one side is slow, and a node behind it.
const NET: &str = "\
[nodes]
a: _ radius=0.5 angle=3.64159265
b: _
c: _
d: _ nfd-log-level=DEBUG
[links]
a:b delay=2ms bw=20
b:c delay=2ms bw=20 max_queue_size=100
a:c delay=50ms
c:d delay=1ms loss=2
";

fn place() -> Place {
    let place = Place::new();
    place.write("net.conf", NET.as_bytes());
    place
}

/// Runs `recoup emulate` on the topology; the last words may have spaces in them.
fn emulate(place: &Place, words: &str, more: &[&str]) -> Ended {
    let mut command = place.command(&format!("emulate net.conf {words}"));
    command.env("PATH", "/usr/bin:/bin").args(more);
    Ended::of(words, command.output().expect("the command runs"))
}

fn lines(ended: &Ended) -> Vec<Value> {
    let text = String::from_utf8_lossy(&ended.stdout);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn file_crosses_a_topology_by_the_short_path() {
    let place = place();
    place.write("film", &noise(100_000));
    let serve = ["--beside", "d", "exec recoup serve film --name /d/film --quiet"];
    let fetch = ["--on", "a", "exec recoup fetch /d/film -o copy --quiet"];
    let ended = emulate(&place, "--json --recovery wldr", &[serve, fetch].concat()).succeeds();
    assert_eq!(place.read("copy"), place.read("film"));
    let all = lines(&ended);
    let [standing, stopped] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(
        (&standing["event"], &standing["nodes"][3]["node"]),
        (&"standing".into(), &"d".into())
    );
    assert_eq!(standing["nodes"][3]["neighbours"], serde_json::json!(["c"]));
    let frames = |link: &str| stopped["links"][link]["forth"]["entered"].as_u64().unwrap();
    let lossy = &stopped["links"]["c-d"]["back"];
    // Some 14 packets and their acknowledgements: over b, and the last hop both ways.
    assert!(frames("a-b") >= 10 && frames("b-c") >= 10 && frames("c-d") >= 10, "{stopped}");
    // Neighbours that repair losses greet each other.
    assert!(frames("a-c") < 8, "{stopped}");
    assert!(lossy["entered"].as_u64().unwrap() >= 10, "{stopped}");
    assert!(stopped["nodes"]["d"]["recovery"].is_object(), "{stopped}");
    assert!(!place.exists(standing["folder"].as_str().unwrap()));
}

#[test]
fn interests_cross_a_link_in_both_directions() {
    let place = place();
    place.write("film", &noise(20_000));
    let words = [
        ["--beside", "a", "exec recoup serve film --name /a/film --quiet"],
        ["--beside", "b", "exec recoup serve film --name /b/film --quiet"],
        ["--on", "b", "recoup fetch /a/film -o 1 --quiet && recoup fetch /b/film -o 2 --quiet"],
        ["--on", "a", "exec recoup fetch /b/film -o 3 --quiet"],
    ];
    emulate(&place, "--quiet", &words.concat()).succeeds();
    for copy in ["1", "2", "3"] {
        assert_eq!(place.read(copy), place.read("film"));
    }
}

#[test]
fn exit_code_is_that_of_the_failing_command() {
    let place = place();
    let on = |text| ["--on", "b", text];
    let words = [on("echo first >> order"), on("exit 9"), on("echo third >> order")].concat();
    emulate(&place, "--quiet", &words).fails(9, &["`exit 9` on b", "exit code 9"]);
    assert_eq!(place.read("order"), b"first\n");
    let beside = ["--beside", "a", "exit 4", "--on", "b", "true"];
    emulate(&place, "--quiet", &beside).fails(4, &["`exit 4` on a"]);
    // No producer serves that.
    let fetch = ["--on", "a", "recoup fetch /d/none -o none --quiet 2> why"];
    emulate(&place, "--quiet", &fetch).fails(3, &["exit code 3"]);
    assert!(String::from_utf8(place.read("why")).unwrap().contains("no route"));
}

#[test]
fn scripts_find_nodes_and_settings_override_files() {
    let place = place();
    let script = "for n in a b c d; do \
        recoup ctl --face unix://$RECOUP_NODES/$n.sock cs info --json > $n.json; done; \
        test -z \"$NDN_CLIENT_TRANSPORT\"";
    emulate(&place, "--quiet --set nodes.b.cache='77packets' --", &["sh", "-c", script]).succeeds();
    let capacity = |node: &str| {
        let document: Value = serde_json::from_slice(&place.read(&format!("{node}.json"))).unwrap();
        document["capacity"].as_u64().unwrap()
    };
    assert_eq!((capacity("a"), capacity("b")), (65_536, 77));
}

#[test]
fn errors_are_one_line_before_any_start() {
    let place = place();
    let rejects = |words: &str, pieces: &[&str]| {
        place.run(&format!("emulate {words}")).fails(2, pieces);
    };
    rejects("net.conf --on router true", &["no node is called `router`", "a, b, c, d"]);
    rejects("net.conf --within 3", &["--within is for a scenario"]);
    rejects("net.conf --set link.recovery=some", &["link.recovery"]);
    rejects("net.conf --set node.processing=constant(time=1ms)", &["processing"]);
    place.write("bad.conf", NET.replace("delay=50ms", "delay=slow").as_bytes());
    rejects("bad.conf", &["recoup: bad.conf: line 9: ", "slow"]);
    place.write("line.toml", b"[topology]\nlinks = [\"a-b\"]\n");
    rejects("line.toml --on a true", &["--on is for a topology"]);
    place.run("emulate none.conf").fails(4, &["none.conf"]);
}

#[test]
#[cfg(target_os = "linux")]
fn no_process_outlives_a_killed_parent() {
    let place = place();
    let mark = place.path("mark").display().to_string();
    let mut command = place.command("emulate net.conf --quiet --beside a");
    command.env("PATH", "/usr/bin:/bin");
    // A child without notice of its grandparent's end, which ignores signals.
    let stubborn =
        format!("(trap '' TERM; while :; do sleep 1; done; : {mark}) & sleep 600; : {mark}");
    command.arg(stubborn).args(["--on", "b", &format!("sleep 600; : {mark}")]);
    let mut network = Ends(command.spawn().expect("the command runs"));
    // Two shells and their guards, and one that the first has made.
    until("everything runs", || processes(&mark) >= 5);
    kill(&network.0, "KILL");
    network.0.wait().unwrap();
    until("the end of all processes", || processes(&mark) == 0);
}

#[test]
fn a_command_that_is_not_there_is_named() {
    let place = place();
    emulate(&place, "--quiet --", &["no-such-program"]).fails(4, &["cannot run `no-such-program`"]);
}

#[test]
fn network_runs_until_terminated_and_leaves_nothing() {
    let place = place();
    let temporary = place.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let mark = temporary.display().to_string();
    let mut command = place.command("emulate net.conf --pages --beside a");
    command.env("TMPDIR", &temporary).env("PATH", "/usr/bin:/bin");
    // The sleeper survives its shell, and so gets another parent.
    let sleeper = format!("sh -c 'sleep 600; : {mark}' & sleep 600");
    command.arg(sleeper).stderr(Stdio::piped());
    let mut network = Ends(command.spawn().expect("the command runs"));
    let mut printed = BufReader::new(network.0.stderr.take().unwrap());
    let mut table = String::new();
    while table.lines().count() < 5 {
        assert!(printed.read_line(&mut table).unwrap() > 0, "{table}");
    }
    for piece in ["d     unix://", "/nodes/d.sock", "http://127.0.0.1:", "beside b, c"] {
        assert!(table.contains(piece), "{piece}: {table}");
    }
    // Four forwarders, four links, and what the command has started.
    until("everything runs", || processes(&mark) >= 9);
    kill(&network.0, "TERM");
    assert_eq!(network.0.wait().unwrap().code(), Some(0));
    until("the end of all processes", || processes(&mark) == 0);
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}
