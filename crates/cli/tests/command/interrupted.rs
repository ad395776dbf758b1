//! Downloads that are cut short and go on.
use crate::place::{Ended, Place, Server, can_mount, kill, noise, until};
use std::fs;
use std::time::Duration;

const OCTETS: usize = 2_000_000;

/// A server behind a link of 8 Mbit/s, so that there is time to interfere.
struct Slow {
    place: Place,
    link: Server,
    server: Server,
}

impl Slow {
    fn new() -> Self {
        let place = Place::new();
        place.write("data", &noise(OCTETS));
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
        until("a part", || {
            fs::metadata(self.place.path("copy.part")).is_ok_and(|part| part.len() > 400_000)
        });
        if signal == "KILL" {
            // The journal is replaced once a second at most.
            std::thread::sleep(Duration::from_millis(150));
        }
        kill(&child, signal);
        Ended::of(&words, child.wait_with_output().unwrap())
    }

    fn resume(&self) {
        let document = self.place.run(&self.words("--resume --json")).succeeds().document();
        assert!(self.place.read("copy") == self.place.read("data"));
        assert!(!self.place.exists("copy.part"));
        let before = document["segments_before"].as_u64().unwrap();
        assert_eq!(before + document["segments"].as_u64().unwrap(), 250, "{document}");
    }
}

#[test]
fn an_interrupted_download_is_kept_and_goes_on() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &["interrupted", "copy.part", "--resume"]);
    let again = slow.place.run(&slow.words(""));
    again.fails(4, &["copy.part", "unfinished", "--resume"]);
    slow.resume();
}

#[test]
fn a_terminated_download_is_kept() {
    let slow = Slow::new();
    slow.interrupt("TERM").fails(143, &["terminated", "copy.part", "--resume"]);
    slow.resume();
}

#[test]
fn a_killed_download_goes_on() {
    let slow = Slow::new();
    assert_eq!(slow.interrupt("KILL").code, None);
    slow.resume();
}

#[test]
fn a_part_of_something_else_is_not_continued() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &[]);
    let digest = slow.place.run(&slow.words("--resume --verify digest"));
    digest.fails(4, &["copy.part", "auto", "digest"]);
    let face = slow.link.face().to_owned();
    let words = format!("fetch /data/v=1 -o copy --resume --face {face}");
    assert_ne!(slow.place.run(&words).code, Some(0));
    slow.place.write("copy.part.journal", b"not a journal");
    assert_eq!(slow.place.run(&slow.words("--resume")).code, Some(4));
}

#[test]
fn nobody_is_told_to_remove_what_another_process_writes() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &[]);
    let other = fs::File::open(slow.place.path("copy.part")).unwrap();
    other.lock().unwrap();
    let ended = slow.place.run(&slow.words("--resume"));
    let ended = ended.fails(4, &["copy.part is being written by another process"]);
    assert!(!ended.stderr.contains("remove"), "{}", ended.stderr);
}

#[test]
fn a_version_that_is_gone_says_so() {
    let slow = Slow::new();
    slow.interrupt("INT").fails(130, &[]);
    slow.place.write("data", b"something new");
    let old = slow.server.listening["name"].as_str().unwrap();
    let words = format!("fetch {old} -q --range 0..1 --face {}", slow.server.face());
    until("the end of the version", || slow.place.run(&words).code == Some(3));
    slow.place.run(&slow.words("--resume")).fails(3, &["does not exist", "copy.part"]);
    drop(slow.server);
}

#[test]
fn a_server_that_goes_away_leaves_a_part() {
    let Slow { place, link, server } = Slow::new();
    let face = link.face().to_owned();
    let words = format!("fetch /data -o copy --no-progress-timeout 1s --face {face}");
    let child = place.command(&words).spawn().unwrap();
    until("a part", || {
        fs::metadata(place.path("copy.part")).is_ok_and(|part| part.len() > 400_000)
    });
    drop(server);
    let ended = Ended::of(&words, child.wait_with_output().unwrap());
    ended.fails(7, &["nothing new arrived", "had arrived before", "copy.part", "--resume"]);
}

#[test]
fn a_full_disk_leaves_a_part_that_goes_on() {
    let slow = Slow::new();
    let disk = slow.place.path("disk");
    fs::create_dir(&disk).unwrap();
    let words = slow.words("").replace("-o copy", "-o disk/copy");
    // A file system of one megabyte, which only this child sees.
    let script = format!(
        "mount -t tmpfs -o size=1m none {0} && {{ {1} {words}; code=$?; cp {0}/copy.part* {2}; exit $code; }}",
        disk.display(),
        env!("CARGO_BIN_EXE_recoup"),
        slow.place.path("").display(),
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
