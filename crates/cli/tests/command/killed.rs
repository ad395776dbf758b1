//! Fetches that are killed at any moment, the last ones included, and go on.
//!
//! `RECOUP_KILL_RUNS` sets the number of runs, `RECOUP_KILL_SEED` the seed of the moments.
use crate::place::{Ended, Place, noise};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// How many fetches are killed, unless the environment sets a number.
const RUNS: u64 = 12;
/// Bytes a second of the path: a fetch takes long enough for journals.
const RATE: u64 = 12_000_000;
/// The last part of a fetch, of which half of the moments are.
const END: Duration = Duration::from_millis(50);

/// A fetch, and the content that it brings.
struct Case {
    words: String,
    content: BTreeMap<PathBuf, Vec<u8>>,
    /// How long it takes.
    time: Duration,
}

/// When a fetch is killed.
enum Moment {
    /// So long after its begin.
    AfterBegin(Duration),
    /// So long after all of its content but that of the last 50 ms has arrived.
    NearEnd(Duration),
}

/// Effects of the kills.
#[derive(Debug, Default)]
struct Count {
    kills: u64,
    /// Kills within the last 50 ms, or after the last segment.
    near_end: u64,
    /// Runs after a kill that went to their end.
    resumed: u64,
    /// Those of them that had content of the runs before.
    with_content: u64,
    /// Those of them that lacked nothing.
    complete: u64,
}

impl Case {
    fn new(place: &Place, words: &str, content: &[(&str, Vec<u8>)]) -> Self {
        let path = |name: &str| Path::new("out").join(name);
        let content = content.iter().map(|(name, content)| (path(name), content.clone()));
        let mut case =
            Self { words: words.to_owned(), content: content.collect(), time: Duration::ZERO };
        let begin = Instant::now();
        place.run(words).succeeds();
        case.time = begin.elapsed();
        case.is_right(place);
        case
    }

    fn bytes(&self) -> u64 {
        self.content.values().map(|content| content.len() as u64).sum()
    }

    /// Everything is there as it was served, and nothing else.
    fn is_right(&self, place: &Place) {
        for (path, content) in &self.content {
            let found = fs::read(place.path("").join(path)).unwrap();
            assert!(found == *content, "{}: {}", self.words, path.display());
        }
        assert_eq!(place.listed("out"), self.content.len(), "{}", self.words);
        fs::remove_dir_all(place.path("out")).unwrap();
        fs::create_dir(place.path("out")).unwrap();
    }

    /// Kills it at that moment; true if it had ended before.
    fn kill(&self, place: &Place, moment: &Moment, more: &str) -> bool {
        let words = format!("{} {more}", self.words);
        let mut child = place.command(&words).spawn().unwrap();
        match moment {
            Moment::AfterBegin(time) => std::thread::sleep(*time),
            Moment::NearEnd(time) => {
                let last = u64::try_from(END.as_millis()).unwrap() * RATE / 1_000;
                wait_for(&mut child, &place.path("out"), self.bytes() - last);
                std::thread::sleep(*time);
            }
        }
        let _ = child.kill();
        let ended = Ended::of(&words, child.wait_with_output().unwrap());
        ended.code.is_some() && ended.succeeds().code == Some(0)
    }

    /// Runs it to its end after a kill.
    fn resume(&self, place: &Place, count: &mut Count) {
        let document = place.run(&format!("{} --resume --json", self.words)).succeeds().document();
        count.resumed += 1;
        let arrived = document["bytes"].as_u64().expect("a number");
        count.with_content += u64::from(arrived < self.bytes());
        count.complete += u64::from(arrived == 0);
    }
}

/// Bytes of all files below a folder, unfinished ones included.
fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// Waits until so many bytes are below the folder, or the process has ended.
fn wait_for(child: &mut Child, folder: &Path, bytes: u64) {
    while bytes_below(folder) < bytes && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Draws below `limit`, the same ones for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u128) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0 >> 33) * limit) >> 31) as u64
    }

    fn time(&mut self, below: Duration) -> Duration {
        Duration::from_nanos(self.below(below.as_nanos()))
    }

    /// A random moment of a fetch that takes `time`; half of the moments are near its end.
    fn moment(&mut self, time: Duration) -> Moment {
        match self.below(2) {
            0 => Moment::AfterBegin(self.time(time)),
            _ => Moment::NearEnd(self.time(END + END / 5)),
        }
    }
}

#[test]
fn killed_fetch_resumes_to_the_right_bytes() {
    let place = Place::new();
    fs::create_dir(place.path("tree")).unwrap();
    fs::create_dir(place.path("out")).unwrap();
    let files = [("movie", noise(6_000_000)), ("movie.part", noise(50_000)), ("empty", Vec::new())];
    for (name, content) in &files {
        place.write(&format!("tree/{name}"), content);
    }
    let server = place.serve("serve tree --name /tree --listen udp://127.0.0.1:0");
    let far = server.face().replace("udp4", "udp");
    let link = place.serve_with(
        &format!("link --between udp://127.0.0.1:0 {far} --delay 1ms --queue 4MiB"),
        &["--rate", &format!("{} Mbit/s", RATE * 8 / 1_000_000)],
    );
    let range = files[0].1[80_000..4_800_000].to_vec();
    let one = format!(
        "fetch /tree/movie -o out/movie --congestion fixed(window=32) --face {}",
        link.face()
    );
    let all = one.replace("/tree/movie -o out/movie", "/tree -r -o out");
    let cases = [
        Case::new(&place, &one, &files[..1]),
        Case::new(&place, &format!("{one} --range 10..600"), &[("movie", range)]),
        Case::new(&place, &all, &files),
    ];
    let runs = number("RECOUP_KILL_RUNS", RUNS);
    let mut draw = Draw(number("RECOUP_KILL_SEED", 20));
    let mut count = Count::default();
    for run in 0..runs {
        let case = &cases[run as usize % cases.len()];
        let mut more = "";
        // One kill, or several in a row.
        loop {
            let moment = draw.moment(case.time);
            if case.kill(&place, &moment, more) {
                break;
            }
            count.kills += 1;
            count.near_end += u64::from(matches!(moment, Moment::NearEnd(_)));
            more = "--resume";
            if draw.below(3) > 0 {
                case.resume(&place, &mut count);
                break;
            }
        }
        case.is_right(&place);
    }
    eprintln!("{runs} runs: {count:?}");
    // Otherwise the runs show little: kills before the first journal leave nothing to resume.
    assert!(3 * count.with_content >= count.resumed && count.near_end > 0, "{count:?}");
}
