//! Downloads that are cut short and go on.
use crate::place::{Ended, Place, Server, can_mount, kill, noise, recoup, until};
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
        let place = Place::new();
        place.write("data", &noise(BYTES));
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
fn an_interrupted_download_is_kept_and_goes_on() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &["interrupted", ".recoup-", "--resume"]);
    let again = slow.place.run(&slow.words(""));
    again.fails(4, &["copy-", "unfinished", "--resume"]);
    slow.resume();
}

#[test]
fn a_terminated_download_is_kept() {
    let slow = Slow::new();
    slow.interrupt("TERM").fails(143, &["terminated", ".recoup-", "--resume"]);
    slow.resume();
}

#[test]
fn a_killed_download_goes_on() {
    let slow = Slow::new();
    assert_eq!(slow.interrupt("KILL").code, None);
    slow.resume();
}

#[test]
fn hung_up_download_is_kept() {
    let slow = Slow::new();
    slow.interrupt("HUP").fails(129, &["the terminal is gone", ".recoup-", "--resume"]);
    slow.resume();
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
    let place = Place::new();
    place.write("data", b"content");
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
fn process_killed_each_second_makes_progress() {
    let slow = Slow::new();
    let ended = (0..300).any(|_| {
        let mut child = slow.place.command(&slow.words("--resume")).spawn().unwrap();
        // Sooner than a second after its begin, which was when the first journal came.
        std::thread::sleep(Duration::from_millis(950));
        let ended = child.try_wait().unwrap().is_some_and(|status| status.success());
        child.kill().unwrap();
        child.wait().unwrap();
        ended
    });
    assert!(ended, "{} bytes", slow.place.part_bytes("copy"));
    assert!(slow.place.read("copy") == slow.place.read("data"));
}

#[test]
fn complete_download_ends_without_its_producer() {
    for range in ["", "--range 0..150"] {
        let slow = Slow::new();
        let words = slow.words(range);
        let child = slow.place.command(&words).spawn().unwrap();
        until("a part", || slow.place.part_bytes("copy") > 400_000);
        // A folder cannot be replaced by a file.
        fs::create_dir(slow.place.path("copy")).unwrap();
        let ended = Ended::of(&words, child.wait_with_output().unwrap());
        ended.fails(4, &["cannot create copy: a folder has that name", ".recoup-", "--resume"]);
        fs::remove_dir(slow.place.path("copy")).unwrap();
        let Slow { place, link, server } = slow;
        drop(link);
        drop(server);
        let document = place.run(&format!("{words} --resume --json")).succeeds().document();
        assert_eq!(document["segments"], 0);
        let (copy, data) = (place.read("copy"), place.read("data"));
        assert!(copy == data[..if range.is_empty() { BYTES } else { 1_200_000 }]);
        assert!(!place.has_staging("copy"));
    }
}

#[test]
fn content_changed_on_the_disk_is_fetched_again() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &[]);
    let part = slow.place.part("copy");
    let mut content = fs::read(&part).unwrap();
    content[123_456] ^= 4;
    fs::write(&part, content).unwrap();
    let ended = slow.place.run(&slow.words("--resume")).succeeds();
    let lines = ended.stderr.lines().filter(|line| line.ends_with(" are fetched again"));
    assert_eq!(lines.count(), 1, "{}", ended.stderr);
    assert!(slow.place.read("copy") == slow.place.read("data"));
}

#[test]
fn a_part_of_something_else_is_not_continued() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &[]);
    let digest = slow.place.run(&slow.words("--resume --verify digest"));
    digest.fails(4, &["copy-", "auto", "digest"]);
    let face = slow.link.face().to_owned();
    let words = format!("fetch /data/v=1 -o copy --resume --face {face}");
    assert_ne!(slow.place.run(&words).code, Some(0));
    fs::write(slow.place.part("copy").with_extension("journal"), "not a journal").unwrap();
    assert_eq!(slow.place.run(&slow.words("--resume")).code, Some(4));
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

#[test]
fn full_disk_leaves_a_resumable_part() {
    let slow = Slow::new();
    let disk = slow.place.path("disk");
    fs::create_dir(&disk).unwrap();
    let words = slow.words("").replace("-o copy", "-o disk/copy");
    // A file system of one megabyte, which only this child sees.
    let script = format!(
        "mount -t tmpfs -o size=1m none {0} && {{ {1} {words}; code=$?; cp -r {0}/.recoup-0 {2}; exit $code; }}",
        disk.display(),
        recoup().display(),
        slow.place.part("copy").parent().unwrap().display(),
    );
    let script = script.replace("fixed(window=16)", "'fixed(window=16)'");
    let mut command = std::process::Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script]);
    command.current_dir(slow.place.path("")).env("HOME", slow.place.path(""));
    if !can_mount() {
        return;
    }
    let ended = Ended::of(&words, command.output().unwrap());
    ended.fails(4, &["disk is full", "--resume"]);
    slow.resume();
}
