//! Fetches that are killed at any moment, the last ones included, and go on.
use crate::place::{Ended, Place, noise};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many fetches are killed, unless RECOUP_KILL_RUNS says otherwise.
const RUNS: u64 = 12;

/// A fetch, and the content that it brings.
struct Case {
    words: String,
    content: BTreeMap<PathBuf, Vec<u8>>,
    /// How long it takes.
    time: Duration,
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

    /// Everything is there as it was served, and nothing else.
    fn is_right(&self, place: &Place) {
        for (path, content) in &self.content {
            let found = fs::read(place.path("").join(path)).unwrap();
            assert!(found == *content, "{}: {}", self.words, path.display());
        }
        let left: Vec<_> = fs::read_dir(place.path("out")).unwrap().collect();
        assert_eq!(left.len(), self.content.len(), "{}: {left:?}", self.words);
        fs::remove_dir_all(place.path("out")).unwrap();
        fs::create_dir(place.path("out")).unwrap();
    }

    /// Kills it after `moment`; true if it had ended before.
    fn kill(&self, place: &Place, moment: Duration, more: &str) -> bool {
        let words = format!("{} {more}", self.words);
        let mut child = place.command(&words).spawn().unwrap();
        std::thread::sleep(moment);
        let _ = child.kill();
        let ended = Ended::of(&words, child.wait_with_output().unwrap());
        ended.code.is_some() && ended.succeeds().code == Some(0)
    }
}

fn runs() -> u64 {
    std::env::var("RECOUP_KILL_RUNS").map_or(RUNS, |runs| runs.parse().expect("a number"))
}

/// Draws below `limit`, the same ones in each run of the test.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u128) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0 >> 33) * limit) >> 31) as u64
    }

    /// A moment of a fetch that takes so long: any one, or one of its last 50 ms.
    fn moment(&mut self, time: Duration) -> Duration {
        let last = Duration::from_millis(50).min(time);
        let from = if self.below(2) == 0 { Duration::ZERO } else { time - last };
        from + Duration::from_nanos(self.below((time - from).as_nanos()))
    }
}

#[test]
fn killed_fetch_resumes_to_the_right_bytes() {
    let place = Place::new();
    fs::create_dir(place.path("tree")).unwrap();
    fs::create_dir(place.path("out")).unwrap();
    let files =
        [("movie", noise(24_000_000)), ("movie.part", noise(50_000)), ("empty", Vec::new())];
    for (name, content) in &files {
        place.write(&format!("tree/{name}"), content);
    }
    let socket = format!("unix://{}", place.path("socket").display());
    let _server = place.serve(&format!("serve tree --name /tree --listen {socket}"));
    let range = files[0].1[80_000..16_000_000].to_vec();
    let one = format!("fetch /tree/movie -o out/movie --face {socket}");
    let cases = [
        Case::new(&place, &one, &files[..1]),
        Case::new(&place, &format!("{one} --range 10..2000"), &[("movie", range)]),
        Case::new(&place, &format!("fetch /tree -r -o out --face {socket}"), &files),
    ];
    let (mut draw, mut kills, mut resumed) = (Draw(20), 0, 0);
    for run in 0..runs() {
        let case = &cases[run as usize % cases.len()];
        let mut more = "";
        // One kill, or several in a row.
        while !case.kill(&place, draw.moment(case.time), more) {
            (kills, more) = (kills + 1, "--resume");
            if draw.below(3) > 0 {
                let document = place.run(&format!("{} --resume --json", case.words)).succeeds();
                resumed += u64::from(document.document()["segments_before"] != 0);
                break;
            }
        }
        case.is_right(&place);
    }
    eprintln!("{} runs, {kills} kills; {resumed} single files were resumed with content", runs());
    assert!(kills > 0);
}
