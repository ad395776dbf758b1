//! Downloads that are cut short and go on.
use crate::place::{Ended, Place, Server, kill, noise, until};
use std::fs;
use std::time::Duration;

const BYTES: usize = 2_000_000;

/// A server behind a link of 8 Mbit/s, so that there is time to interfere.
struct Slow {
    place: Place,
    link: Server,
    server: Server,
}

impl Slow {
    fn new() -> Self {
        let place = Place::with("data", &noise(BYTES));
        let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
        let far = server.face().replace("udp4", "udp");
        let link = place.serve(&format!(
            "link --between udp://127.0.0.1:0 {far} --rate 8Mbit/s --delay 2ms --queue 1MiB"
        ));
        Self { place, link, server }
    }

    fn words(&self, more: &str) -> String {
        let face = self.link.face();
        format!("fetch /data -o copy --congestion fixed(window=16) --face {face} {more}")
    }

    /// Fetches until some of the file is there, then sends a signal.
    fn interrupt(&self, signal: &str) -> Ended {
        let words = self.words("");
        let child = self.place.command(&words).spawn().unwrap();
        until("a part", || self.place.part_bytes("copy") > 400_000);
        kill(&child, signal);
        Ended::of(&words, child.wait_with_output().unwrap())
    }

    fn resume(&self) {
        let document = self.place.run(&self.words("--resume --json")).succeeds().document();
        assert!(self.place.read("copy") == self.place.read("data"));
        assert!(!self.place.has_staging("copy"));
        let before = document["segments_before"].as_u64().unwrap();
        assert_eq!(before + document["segments"].as_u64().unwrap(), 250, "{document}");
    }
}

#[test]
fn ended_download_is_kept_and_goes_on() {
    for (signal, code, word) in [
        ("INT", Some(130), "interrupted"),
        ("TERM", Some(143), "terminated"),
        ("HUP", Some(129), "the terminal is gone"),
        ("KILL", None, ""),
    ] {
        let slow = Slow::new();
        let ended = slow.interrupt(signal);
        slow.place.run(&slow.words("")).fails(4, &["copy-", "unfinished", "--resume"]);
        match code {
            Some(code) => drop(ended.fails(code, &[word, ".recoup-", "--resume"])),
            None => assert_eq!(ended.code, None),
        }
        slow.resume();
    }
}

#[test]
fn ignored_hangup_stays_ignored() {
    let slow = Slow::new();
    let script = r#"trap '' HUP; exec "$0" "$@""#;
    let fetch = slow.place.command(&slow.words(""));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(fetch.get_program()).args(fetch.get_args());
    shell.current_dir(slow.place.path(""));
    let mut child = shell.spawn().unwrap();
    until("a part", || slow.place.part_bytes("copy") > 400_000);
    kill(&child, "HUP");
    assert!(child.wait().unwrap().success());
    assert!(slow.place.read("copy") == slow.place.read("data"));
}

#[test]
fn hangup_ends_daemons_as_termination_does() {
    let place = Place::with("data", b"content");
    let serve = "serve data --name /data --listen udp://127.0.0.1:0";
    let link = "link --between udp://127.0.0.1:0 udp://127.0.0.1:9";
    for words in [serve, link] {
        let [ended, hung_up] = ["TERM", "HUP"].map(|signal| place.serve(words).stop(signal));
        assert_eq!(hung_up.0, ended.0, "{words}");
        let keys = |it: &serde_json::Value| it.as_object().map(|it| it.len());
        assert_eq!(keys(&hung_up.1), keys(&ended.1), "{words}");
    }
}

#[test]
fn stopped_download_goes_on() {
    let slow = Slow::new();
    let words = slow.words("--no-progress-timeout 2s");
    let child = slow.place.command(&words).spawn().unwrap();
    until("a part", || slow.place.part_bytes("copy") > 400_000);
    kill(&child, "STOP");
    // Longer than the fetch waits for content; what is in flight arrives meanwhile.
    std::thread::sleep(Duration::from_secs(4));
    kill(&child, "CONT");
    Ended::of(&words, child.wait_with_output().unwrap()).succeeds();
    assert!(slow.place.read("copy") == slow.place.read("data"));
}

#[test]
fn download_of_another_process_is_left_to_it() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &[]);
    let other = fs::File::open(slow.place.part("copy")).unwrap();
    other.lock().unwrap();
    for more in ["", "--resume"] {
        let ended = slow.place.run(&slow.words(more));
        let ended = ended.fails(4, &["copy-", "is being written by another process"]);
        let is_advised = ended.stderr.contains("remove") || ended.stderr.contains("--resume");
        assert!(!is_advised, "{}", ended.stderr);
    }
}

#[test]
fn advice_to_resume_is_for_the_same_download() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &[]);
    for more in ["--verify digest", "--range 0..3"] {
        let ended = slow.place.run(&slow.words(more));
        let ended = ended.fails(4, &["copy-", "another download", "--restart"]);
        assert!(!ended.stderr.contains("--resume"), "{}", ended.stderr);
    }
}

#[test]
fn vanished_version_is_reported() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &[]);
    slow.place.write("data", b"something new");
    let old = slow.server.listening["name"].as_str().unwrap();
    let words = format!("fetch {old} -q --range 0..1 --face {}", slow.server.face());
    until("the end of the version", || slow.place.run(&words).code == Some(3));
    let ended = slow.place.run(&slow.words("--resume"));
    let ended = ended.fails(3, &["was replaced or ended", "copy-", "--restart"]);
    assert!(!ended.stderr.contains("--resume"), "{}", ended.stderr);
    drop(slow.server);
}

#[test]
fn a_server_that_goes_away_leaves_a_part() {
    let Slow { place, link, server } = Slow::new();
    let face = link.face().to_owned();
    let words = format!("fetch /data -o copy --no-progress-timeout 1s --face {face}");
    let child = place.command(&words).spawn().unwrap();
    until("a part", || place.part_bytes("copy") > 400_000);
    drop(server);
    let ended = Ended::of(&words, child.wait_with_output().unwrap());
    ended.fails(7, &["nothing new arrived", "had arrived before", "copy-", "--resume"]);
}
