//! A file that changes while it is served: a consumer gets the content of one version, or an error.
//!
//! `RECOUP_REWRITE_RUNS` sets the number of random runs, `RECOUP_REWRITE_SEED` the first seed.
use crate::place::{Ended, Place, noise};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Runs where the environment sets no number.
const RUNS: u64 = 12;
/// Longest file, in bytes.
const MOST_BYTES: u64 = 12 << 20;
/// Longest time before the first change and between two changes, in microseconds: a transfer of the longest file.
const LONGEST_PAUSE_MICROS: u64 = 150_000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Draws that a seed repeats (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Content in which each byte has the number of the writing, and each 4 KiB begin with their offset.
fn content(writing: u64, bytes: u64) -> Vec<u8> {
    let mut content = vec![writing as u8; bytes as usize];
    for (block, into) in content.chunks_mut(4_096).enumerate() {
        let offset = (block as u64 * 4_096).to_le_bytes();
        into.iter_mut().zip(offset).for_each(|(byte, of)| *byte = of);
    }
    content
}

/// A served file, and each content that it has had.
struct Original {
    path: PathBuf,
    writing: u64,
    states: Vec<(u64, u64)>,
}

impl Original {
    fn new(path: PathBuf, bytes: u64) -> Self {
        fs::write(&path, content(0, bytes)).unwrap();
        Self { path, writing: 0, states: vec![(0, bytes)] }
    }

    fn now(&self) -> (u64, u64) {
        *self.states.last().unwrap()
    }

    fn open(&self) -> File {
        OpenOptions::new().write(true).open(&self.path).unwrap()
    }

    fn modified(&self) -> SystemTime {
        fs::metadata(&self.path).unwrap().modified().unwrap()
    }

    /// New content of `bytes` bytes at the same place, by one system call.
    fn rewrite(&mut self, bytes: u64) {
        self.writing += 1;
        let (content, file) = (content(self.writing, bytes), self.open());
        // A shorter file and a longer file are states of their own.
        let (writing, before) = self.now();
        if bytes < before {
            self.states.push((writing, bytes));
            file.set_len(bytes).unwrap();
        }
        self.states.push((self.writing, bytes));
        assert_eq!(file.write_at(&content, 0).unwrap(), content.len());
    }

    /// Another file with new or with the same content takes the name; its time may be the same.
    fn replace(&mut self, same_content: bool, same_time: bool) {
        let (mut writing, bytes) = self.now();
        if !same_content {
            self.writing += 1;
            writing = self.writing;
        }
        let beside = self.path.with_extension("new");
        fs::write(&beside, content(writing, bytes)).unwrap();
        if same_time {
            OpenOptions::new()
                .write(true)
                .open(&beside)
                .unwrap()
                .set_modified(self.modified())
                .unwrap();
        }
        self.states.push((writing, bytes));
        fs::rename(beside, &self.path).unwrap();
    }

    fn change(&mut self, draw: &mut Draw) -> &'static str {
        let (writing, bytes) = self.now();
        let modified = self.modified();
        match draw.below(9) {
            0 => {
                self.rewrite(bytes);
                "rewritten"
            }
            1 | 2 => {
                self.rewrite(bytes);
                self.open().set_modified(modified).unwrap();
                "rewritten, time put back"
            }
            3 => {
                self.rewrite(1 + draw.below(MOST_BYTES));
                self.open().set_modified(modified).unwrap();
                "rewritten with another length, time put back"
            }
            4 => {
                let bytes = draw.below(bytes + 1);
                self.states.push((writing, bytes));
                self.open().set_len(bytes).unwrap();
                "truncated"
            }
            5 => {
                self.replace(false, true);
                "replaced with equal time and length"
            }
            6 => {
                self.replace(true, true);
                "replaced by a copy"
            }
            7 => {
                self.open().set_modified(modified + Duration::from_millis(1)).unwrap();
                "touched"
            }
            _ => {
                fs::set_permissions(&self.path, fs::Permissions::from_mode(0o600)).unwrap();
                "permissions set"
            }
        }
    }

    fn has_been(&self, fetched: &[u8]) -> bool {
        let bytes = fetched.len() as u64;
        let states = self.states.iter().filter(|state| state.1 == bytes);
        let mut writings: Vec<_> = states.map(|state| state.0).collect();
        writings.dedup();
        writings.into_iter().any(|writing| fetched == content(writing, bytes))
    }
}

/// Changes a file up to three times while it is fetched. Returns how the fetch ended.
fn run(seed: u64) -> Option<i32> {
    let draw = &mut Draw(seed);
    let place = Place::new();
    let mut original =
        Original::new(place.path("data"), MOST_BYTES / 4 + draw.below(MOST_BYTES * 3 / 4));
    let snapshot = if draw.below(4) == 0 { " --snapshot" } else { "" };
    let words = format!("serve data --name /data --listen tcp://127.0.0.1:0{snapshot}");
    let server = place.serve(&words);
    let words = format!("fetch /data -q -o copy --face {}", server.face());
    let child = place.command(&words).spawn().unwrap();
    let mut acts = Vec::new();
    for _ in 0..=draw.below(3) {
        std::thread::sleep(Duration::from_micros(draw.below(LONGEST_PAUSE_MICROS)));
        acts.push(original.change(draw));
    }
    let ended = Ended::of(&words, child.wait_with_output().unwrap());
    if ended.code == Some(0) {
        let fetched = place.read("copy");
        assert!(original.has_been(&fetched), "seed {seed}: a mix with exit code 0 after {acts:?}");
    } else {
        let lines = ended.stderr.lines().filter(|line| line.starts_with("recoup: "));
        assert_eq!(
            lines.count(),
            1,
            "seed {seed}: no clear error after {acts:?}: {}",
            ended.stderr
        );
    }
    // A snapshot stays the latest version for 100 ms.
    std::thread::sleep(Duration::from_millis(if snapshot.is_empty() { 0 } else { 150 }));
    let (writing, bytes) = original.now();
    let again = format!("fetch /data -q -o again --face {}", server.face());
    place.run(&again).succeeds();
    assert!(place.read("again") == content(writing, bytes), "seed {seed}: stale after {acts:?}");
    ended.code
}

#[test]
fn changing_file_never_arrives_as_a_mix() {
    let (runs, first) = (number("RECOUP_REWRITE_RUNS", RUNS), number("RECOUP_REWRITE_SEED", 1));
    let codes: Vec<_> = (first..first + runs).map(run).collect();
    let whole = codes.iter().filter(|code| **code == Some(0)).count();
    eprintln!(
        "{runs} runs: {whole} fetched one version, {} ended with an error",
        runs as usize - whole
    );
}

#[test]
fn put_back_time_does_not_hide_a_rewrite() {
    let place = Place::new();
    let mut original = Original::new(place.path("data"), 2 << 20);
    let before = original.modified();
    let server = place.serve("serve data --name /data --listen tcp://127.0.0.1:0");
    let name = server.listening["name"].as_str().unwrap().to_owned();
    let first = format!("fetch {name} -q --range 0..2 -o first --face {}", server.face());
    place.run(&first).succeeds();
    original.rewrite(2 << 20);
    original.open().set_modified(before).unwrap();
    let rest = format!("fetch {name} -q --range 2.. -o rest --face {}", server.face());
    place.run(&rest).fails(3, &[]);
    place.run(&format!("fetch /data -q -o new --face {}", server.face())).succeeds();
    assert!(place.read("new") == content(1, 2 << 20));
}

#[test]
fn identical_copy_in_its_place_keeps_the_version() {
    let place = Place::new();
    place.write("data", &noise(300_000));
    let server = place.serve("serve data --name /data --listen tcp://127.0.0.1:0");
    let name = server.listening["name"].as_str().unwrap().to_owned();
    let fetch = |output: &str| {
        place.run(&format!("fetch {name} -q -o {output} --face {}", server.face())).succeeds();
        assert!(place.read(output) == place.read("data"));
    };
    fetch("before");
    // The producer looks at the name of a file at most each 100 ms.
    std::thread::sleep(Duration::from_millis(150));
    fs::copy(place.path("data"), place.path("copy")).unwrap();
    let modified = fs::metadata(place.path("data")).unwrap().modified().unwrap();
    File::options().write(true).open(place.path("copy")).unwrap().set_modified(modified).unwrap();
    fs::rename(place.path("copy"), place.path("data")).unwrap();
    fetch("after");
    fs::set_permissions(place.path("data"), fs::Permissions::from_mode(0o600)).unwrap();
    fetch("later");
}

#[test]
fn snapshot_is_fetched_although_its_file_changes() {
    let place = Place::new();
    let mut original = Original::new(place.path("data"), 2 << 20);
    let server = place.serve("serve data --name /data --listen tcp://127.0.0.1:0 --snapshot");
    let name = server.listening["name"].as_str().unwrap().to_owned();
    let fetch = |words: &str, output: &str| {
        place.run(&format!("fetch {words} -q -o {output} --face {}", server.face())).succeeds();
        place.read(output)
    };
    fetch(&format!("{name} --range 0..2"), "first");
    original.rewrite(1 << 20);
    assert!(fetch(&name, "old") == content(0, 2 << 20));
    std::thread::sleep(Duration::from_millis(150));
    assert!(fetch("/data", "new") == content(1, 1 << 20));
    assert!(fetch(&name, "again") == content(0, 2 << 20));
    let (_, document) = server.stop("INT");
    assert_eq!(document["versions_ended"], 0);
}
