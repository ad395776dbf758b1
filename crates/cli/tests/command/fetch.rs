//! Fetching from a server of our own.
use crate::place::{Place, noise, recoup};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::Command;

const SERVE: &str = "serve data --name /data --listen unix://socket";

/// A place with a file, served.
fn served(bytes: usize) -> (Place, crate::place::Server) {
    let place = Place::new();
    place.write("data", &noise(bytes));
    let socket = place.path("socket");
    let server = place.serve(&SERVE.replace("socket", &socket.display().to_string()));
    (place, server)
}

#[test]
fn a_file_arrives_whatever_its_length() {
    for bytes in [0, 1, 7_999, 8_000, 8_001, 3_000_000] {
        let (place, server) = served(bytes);
        place.run(&format!("fetch /data -o copy --face {}", server.face())).succeeds();
        assert!(place.read("copy") == place.read("data"), "{bytes}");
        assert!(!place.has_staging("copy"));
        let ended = place.run(&format!("fetch /data --face {}", server.face())).succeeds();
        assert!(ended.stdout == place.read("data"), "{bytes}");
    }
}

#[test]
fn link_stays_and_its_target_is_replaced() {
    let (place, server) = served(20_000);
    let link = |name: &str, to: &str| symlink(to, place.path(name)).unwrap();
    fs::create_dir(place.path("inner")).unwrap();
    place.write("inner/old", b"old");
    link("link", "inner/old");
    link("device", "/dev/null");
    link("stray", "nowhere");
    let fetch = |to| place.run(&format!("fetch /data -o {to} --face {}", server.face()));
    fetch("link").succeeds();
    assert!(place.read("inner/old") == place.read("data"));
    fetch("device").succeeds();
    fetch("stray").fails(4, &["stray is a link that leads nowhere"]);
    for name in ["link", "device", "stray"] {
        assert!(place.path(name).is_symlink(), "{name}");
    }
    assert!(!place.exists("nowhere"));
}

#[test]
fn pipes_and_devices_are_written_to() {
    let (place, server) = served(100_000);
    let words = |to: &str| format!("fetch /data -o {to} --face {}", server.face());
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let mut fetch = place.command(&words("pipe")).spawn().unwrap();
    assert!(place.read("pipe") == place.read("data"));
    assert!(fetch.wait().unwrap().success());
    assert!(fs::symlink_metadata(place.path("pipe")).unwrap().file_type().is_fifo());
    place.run(&words("/dev/null")).succeeds();
    place.run(&words("/dev/full")).fails(4, &["cannot write /dev/full", "no space left"]);
    for words in [words("pipe --resume"), words("/dev/null -r")] {
        place.run(&words).fails(2, &["needs a place in the file system"]);
    }
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket2")).unwrap();
    place.run(&words("socket2")).fails(4, &["socket2 is no regular file"]);
    fs::create_dir(place.path("folder")).unwrap();
    place.run(&words("folder")).fails(4, &["folder is a folder"]);
}

#[test]
fn name_longer_than_a_packet_is_usage() {
    let place = Place::new();
    let name = "a".repeat(8_750);
    for words in ["fetch", "ping"] {
        // Nothing listens there.
        let words = format!("{words} /{name} --face udp://127.0.0.1:9");
        place.run(&words).fails(2, &["bytes long, and a packet has 8800 bytes", "shorter"]);
    }
}

#[test]
fn every_transport_carries_it() {
    let place = Place::new();
    place.write("data", &noise(300_000));
    let local = ["udp://127.0.0.1:0", "tcp://127.0.0.1:0", "ws://127.0.0.1:0", "udp://[::1]:0"];
    for uri in local {
        let server = place.serve(&format!("serve data --name /data --listen {uri}"));
        let ended = place.run(&format!("fetch /data --face {}", server.face())).succeeds();
        assert!(ended.stdout == place.read("data"), "{uri}");
    }
}

#[test]
fn a_range_is_just_those_segments() {
    let (place, server) = served(100_000);
    let face = server.face();
    let ended = place.run(&format!("fetch /data --range 2..4 --face {face}")).succeeds();
    assert!(ended.stdout == place.read("data")[16_000..32_000]);
    place.run(&format!("fetch /data --range 12.. -o tail --face {face}")).succeeds();
    assert!(place.read("tail") == place.read("data")[96_000..]);
    let beyond = place.run(&format!("fetch /data --range 90..95 -o x --face {face}"));
    beyond.fails(2, &["90", "the last segment is 12", "--range"]);
}

#[test]
fn document_and_details_agree() {
    let (place, server) = served(100_000);
    let words = format!("fetch /data -o copy --json --face {}", server.face());
    let document = place.run(&words).succeeds().document();
    assert_eq!(document["command"], "fetch");
    assert_eq!(document["name"], "/data");
    assert_eq!(document["object"], server.listening["name"]);
    assert_eq!(document["complete"], true);
    assert_eq!((&document["segments"], &document["bytes"]), (&13.into(), &100_000.into()));
    assert_eq!(document["interests"]["sent"], 13);
    assert_eq!(document["verification"]["verified"], 13);
    assert!(document["algorithms"]["congestion"].as_str().unwrap().starts_with("recoup("));
    assert!(document["rtt_ms"]["avg"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_document_leaves_standard_output_to_the_content() {
    let (place, server) = served(10_000);
    let ended = place.run(&format!("fetch /data --json --face {}", server.face())).succeeds();
    assert!(ended.stdout == place.read("data"));
    let document: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!(document["output"], "-");
}

#[test]
fn details_name_the_defaults_and_why() {
    let (place, server) = served(10_000);
    let ended = place.run(&format!("fetch /data -v -o copy --face {}", server.face())).succeeds();
    let defaults = ["recoup(", "jacobson(", "backoff-until=progress", "rack("];
    for piece in ["goodput", "RTT", "the default:", "verified"].iter().chain(&defaults) {
        assert!(ended.stderr.contains(piece), "{piece}: {}", ended.stderr);
    }
    let words = format!("fetch /data -o copy2 -q --face {}", server.face());
    assert_eq!(place.run(&words).succeeds().stderr, "");
}

#[test]
fn statistics_have_a_row_for_each_segment() {
    let (place, server) = served(100_000);
    place.run(&format!("fetch /data -o copy -q -s stats --face {}", server.face())).succeeds();
    let table = |name: &str| String::from_utf8(place.read(&format!("stats/{name}"))).unwrap();
    assert!(table("cwnd.tsv").starts_with("time\tcwndsize\n"));
    assert!(table("rtt.tsv").starts_with("segment\trtt\trttvar\tsrtt\trto\ttime\n"));
    assert_eq!(table("segments.tsv").lines().count(), 14);
}

#[test]
fn traces_show_each_segment() {
    let (place, server) = served(100_000);
    let words = "fetch /data -o copy -q --trace run.pftrace --face";
    place.run(&format!("{words} {}", server.face())).succeeds();
    let perfetto = place.read("run.pftrace");
    for piece in ["/data", "segment 0", "segment 12", "window", "RTO", "RTT"] {
        assert!(perfetto.windows(piece.len()).any(|it| it == piece.as_bytes()), "{piece}");
    }
    place.run("fetch /data --trace missing/x.pftrace").fails(4, &["missing/x.pftrace"]);
    place.run("fetch /data -r -j 2 --trace x -o y").fails_as_usage(&["--jobs", "--trace"]);
}

#[test]
fn algorithms_are_chosen_by_name_and_shortcut() {
    let (place, server) = served(50_000);
    let words = format!(
        "fetch /data -o copy --json --face {} --congestion aimd(beta=0.7) --init-cwnd 4 \
         --no-cwa --reset-cwnd-to-init --rto jacobson(k=8) --min-rto 50ms --sampling per-rtt \
         --rto-check 0 --ignore-marks --loss smart",
        server.face()
    );
    let document = place.run(&words).succeeds().document();
    let algorithms = &document["algorithms"];
    for (family, piece) in [
        ("congestion", "beta=0.7"),
        ("congestion", "init-cwnd=4"),
        ("congestion", "conservative=off"),
        ("congestion", "reset-to-init=true"),
        ("rto", "k=8"),
        ("rto", "min=50ms"),
        ("sampling", "per-rtt"),
        ("loss", "pre-recovery(frt=3,"),
    ] {
        let text = algorithms[family].as_str().unwrap();
        assert!(text.contains(piece), "{piece}: {text}");
    }
    for count in ["found_by_order", "repaired_before_timer", "false_alarms", "recoveries"] {
        assert!(document["losses"][count].is_u64(), "{count}");
    }
}

#[test]
fn both_naming_conventions_are_spoken() {
    let place = Place::new();
    place.write("data", &noise(20_000));
    let words = "serve data --name /data --listen tcp://127.0.0.1:0 --convention marker";
    let server = place.serve(words);
    let face = server.face();
    let ended = place.run(&format!("fetch /data --convention marker --face {face}")).succeeds();
    assert!(ended.stdout == place.read("data"));
}

#[test]
fn missing_name_is_reported_soon() {
    let (place, server) = served(10);
    let face = server.face();
    place.run(&format!("fetch /data/more -o x --face {face}")).fails(3, &["/data/more", "Nack"]);
    let words = format!("fetch /other -o x --retries 1 --face {face}");
    place.run(&words).fails(3, &["/other", "no route"]);
    assert!(!place.exists("x") && !place.has_staging("x"));
}

#[test]
fn a_failure_has_its_document_too() {
    let (place, server) = served(10);
    let ended = place.run(&format!("fetch /data/more -o x --json --face {}", server.face()));
    let document = ended.fails(3, &["Nack"]).document();
    assert_eq!(document["complete"], false);
    assert_eq!(document["error"]["kind"], "not-found");
    let ended = place.run(&format!("fetch /data/more --json --face {}", server.face()));
    assert_eq!(ended.code, Some(3));
    let document: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!(document["error"]["kind"], "not-found");
}

#[test]
fn silence_ends_by_timeout_or_retries() {
    let place = Place::new();
    place.write("data", b"x");
    let server = place.serve("serve data --name /data --listen tcp://127.0.0.1:0 --unknown silent");
    let words = format!("fetch /data/more -o x --no-progress-timeout 1s --face {}", server.face());
    place.run(&words).fails(7, &["no answer for /data/more within 1 s"]);
    let words =
        format!("fetch /data/v=1/seg=0 -o x --no-discovery --retries 0 --face {}", server.face());
    place.run(&words).fails(7, &["no answer", "1"]);
}

#[test]
fn unwritable_place_is_an_error_before_the_fetch() {
    let (place, server) = served(10);
    let fetch =
        |output: &str| place.run(&format!("fetch /data --face {} -o {output}", server.face()));
    fetch("no/where").fails(4, &["no", "no such file"]);
    fetch("data/x").fails(4, &["data", "not a folder"]);
    std::fs::create_dir(place.path("folder")).unwrap();
    fetch("folder").fails(4, &["is a folder", "-o"]);
    let words = format!("fetch /data -q -o x -s data/stats --face {}", server.face());
    place.run(&words).fails(4, &["data/stats"]);
}

#[test]
fn a_folder_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let (place, server) = served(10);
    std::fs::create_dir(place.path("locked")).unwrap();
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(place.path("locked"), mode(0o555)).unwrap();
    std::fs::set_permissions(place.path(""), mode(0o755)).unwrap();
    let socket = server.face().trim_start_matches("unix://").to_owned();
    std::fs::set_permissions(socket, mode(0o777)).unwrap();
    let words = format!("fetch /data -o locked/x --face {}", server.face());
    let mut command = place.command(&words);
    if is_root() {
        // Permissions do not bind root; an unprivileged user may lack access to programs below a home folder.
        let program = place.path("recoup");
        std::fs::copy(recoup(), &program).unwrap();
        let mut again = std::process::Command::new(program);
        again.args(command.get_args()).current_dir(place.path("")).env("HOME", place.path(""));
        again.uid(65_534).gid(65_534);
        command = again;
    }
    let ended = crate::place::Ended::of(&words, command.output().unwrap());
    ended.fails(4, &["locked/x", "permission denied"]);
}

fn is_root() -> bool {
    let id = std::process::Command::new("id").arg("-u").output().unwrap();
    id.stdout.starts_with(b"0")
}

#[test]
fn a_full_device_is_named() {
    let (place, server) = served(1_000_000);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let words = format!("fetch /data --face {}", server.face());
    let output = place.command(&words).stdout(full).output().unwrap();
    crate::place::Ended::of(&words, output).fails(4, &["standard output", "no space left"]);
}

#[test]
fn redirected_standard_output_is_not_replaced() {
    let place = Place::new();
    place.write("data", b"the content\n");
    let server = place.serve("serve data --name /data --listen tcp://127.0.0.1:0");
    for output in ["-", "/dev/stdout", "/proc/self/fd/1"] {
        let fetch = place.command(&format!("fetch /data -q -o {output} --face {}", server.face()));
        let script = r#"(echo before; "$0" "$@"; echo after) > log"#;
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script]).arg(fetch.get_program()).args(fetch.get_args());
        assert!(shell.current_dir(place.path("")).status().unwrap().success());
        assert_eq!(place.read("log"), b"before\nthe content\nafter\n", "{output}");
    }
}

#[test]
fn closed_pipe_ends_it_silently() {
    let (place, server) = served(3_000_000);
    let words = format!("fetch /data --face {}", server.face());
    let mut child = place.command(&words).spawn().unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let ended = crate::place::Ended::of(&words, child.wait_with_output().unwrap());
    // As a shell reports a command that SIGPIPE ends.
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(141), ""));
}
