//! Folders and files that change between two fetches in any way: the second fetch has the right bytes and the right words.
//!
//! Each history serves some files through a forwarder with a content store, fetches them, changes them on either side,
//! and fetches again. `RECOUP_HISTORIES` sets the number of histories (40).
mod relay;

use recoup::folder::Files;
use recoup::{Client, FetchOptions, ServeOptions, Server, Verify};
use recoup_io::part::Records;
use recoup_transport::random::Rng;
use recoup_transport::serve::Version;
use relay::Forwarder;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Lengths of files: none, a part of a segment, whole segments, several segments.
const LENGTHS: [usize; 6] = [0, 1, 700, 8_000, 16_000, 40_001];
const NAMES: [&str; 3] = ["a", "b", "c"];

type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// The time that all files of some package systems have.
fn one() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1)
}

struct History {
    rng: Rng,
    place: tempfile::TempDir,
    prefix: String,
    version: Version,
    verify: Verify,
    /// One file is fetched by its own name.
    is_single: bool,
    records: Records,
    log: Vec<String>,
}

impl History {
    fn new(seed: u64, records: &Path) -> Self {
        let mut rng = Rng::from_seed(seed);
        let version =
            if rng.next_u32().is_multiple_of(5) { Version::Fixed(7) } else { Version::Modified };
        let verify = if rng.next_u32().is_multiple_of(2) { Verify::Auto } else { Verify::Digest };
        let is_single = rng.next_u32().is_multiple_of(3);
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("source")).unwrap();
        let log = vec![format!("seed {seed}, version {version}, single {is_single}")];
        let prefix = format!("/history/{seed}");
        let records = Records::open(records);
        Self { rng, place, prefix, version, verify, is_single, records, log }
    }

    fn pick(&mut self, below: usize) -> usize {
        self.rng.next_u32() as usize % below
    }

    fn source(&self, name: &str) -> PathBuf {
        self.place.path().join("source").join(name)
    }

    fn target(&self) -> PathBuf {
        self.place.path().join("target")
    }

    fn content(&mut self, length: usize) -> Vec<u8> {
        let mut byte = self.rng.next_u32() as u8;
        (0..length)
            .map(|_| {
                byte = byte.wrapping_mul(5).wrapping_add(3);
                byte
            })
            .collect()
    }

    /// Writes a file of the producer: in place or by a rename, with the time of all or the present one.
    fn write_source(&mut self, name: &str, length: usize) {
        let (content, path) = (self.content(length), self.source(name));
        let draft = self.place.path().join("draft");
        let (renames, has_time) = (self.pick(2) == 0, self.pick(3) > 0);
        let written = if renames { &draft } else { &path };
        fs::write(written, content).unwrap();
        if has_time {
            File::options().write(true).open(written).unwrap().set_modified(one()).unwrap();
        }
        if renames {
            fs::rename(&draft, &path).unwrap();
        }
        self.log.push(format!("{name}: {length} bytes, renamed {renames}, equal time {has_time}"));
    }

    /// A producer with a connection of its own, as another process has.
    fn serve(&self, forwarder: &Forwarder) -> (Server, Client) {
        let producer = forwarder.client();
        let options = ServeOptions {
            version: self.version,
            freshness: Duration::from_millis(20),
            ..ServeOptions::default()
        };
        let source = self.place.path().join("source");
        let server = producer.serve(self.prefix.as_str()).options(options).folder(source).unwrap();
        (server, producer)
    }

    fn fetch(&self, consumer: &Client, resume: bool) -> recoup::Result<Files> {
        let options = FetchOptions { verify: self.verify.clone(), ..FetchOptions::default() };
        if !self.is_single {
            let fetch = consumer.fetch_folder(self.prefix.as_str()).options(options);
            return fetch.resume(resume).to_folder(self.target());
        }
        fs::create_dir_all(self.target()).unwrap();
        let fetch = consumer.fetch(format!("{}/a", self.prefix)).options(options).resume(resume);
        let summary = fetch.to_file(self.target().join("a"))?;
        let mut files = Files { listed: 1, ..Files::default() };
        match summary.stats.run.is_kept {
            true => files.before = 1,
            false => files.fetched = 1,
        }
        Ok(files)
    }

    /// Changes the files of the producer. Returns whether any changed.
    fn change_source(&mut self) -> bool {
        let changes = self.pick(3);
        for _ in 0..changes {
            let name = NAMES[self.pick(NAMES.len())];
            let path = self.source(name);
            let length = fs::metadata(&path).map_or(0, |it| it.len() as usize);
            match self.pick(5) {
                0 if !self.is_single => {
                    let _ = fs::remove_file(path);
                    self.log.push(format!("{name}: removed"));
                }
                1 => {
                    let length = LENGTHS[self.pick(LENGTHS.len())];
                    self.write_source(name, length);
                }
                _ => self.write_source(name, length),
            }
        }
        changes > 0
    }

    /// Changes the files of the consumer, and their records. Returns whether any file changed.
    fn change_target(&mut self) -> bool {
        let changes = self.pick(3);
        for _ in 0..changes {
            let name = NAMES[self.pick(NAMES.len())];
            let path = self.target().join(name);
            let act = self.pick(9);
            self.log.push(format!("target {name}: act {act}"));
            let Ok(file) = File::options().read(true).write(true).open(&path) else { continue };
            let metadata = file.metadata().unwrap();
            let (length, modified) = (metadata.len(), metadata.modified().unwrap());
            let at = self.rng.next_u64() % length.max(1);
            let foreign = self.content(length as usize);
            match act {
                0 => file.set_len(length / 2).unwrap(),
                1 => file.set_len(length + 1).unwrap(),
                2 | 3 if length > 0 => {
                    let mut byte = [0];
                    file.read_exact_at(&mut byte, at).unwrap();
                    file.write_all_at(&[byte[0] ^ 1 << (at % 8)], at).unwrap();
                    if act == 3 {
                        file.set_modified(modified).unwrap();
                    }
                }
                4 => {
                    fs::write(self.place.path().join("foreign"), foreign).unwrap();
                    fs::rename(self.place.path().join("foreign"), &path).unwrap();
                }
                5 => fs::remove_file(&path).unwrap(),
                6 => file.set_modified(one()).unwrap(),
                _ => self.change_record(),
            }
        }
        changes > 0
    }

    /// Damages, removes or exchanges a record.
    fn change_record(&mut self) {
        let paths = NAMES.iter().filter_map(|name| self.records.path(&self.target().join(name)));
        let records: Vec<PathBuf> = paths.filter(|path| path.exists()).collect();
        let Some(record) = records.get(self.pick(records.len().max(1))).cloned() else { return };
        let mut text = fs::read(&record).unwrap();
        match self.pick(4) {
            0 => {
                let at = self.pick(text.len());
                text[at] ^= 1 << self.pick(8);
            }
            1 => text.truncate(self.pick(text.len())),
            2 => return fs::remove_file(&record).unwrap(),
            _ => text = fs::read(&records[self.pick(records.len())]).unwrap(),
        }
        fs::write(&record, text).unwrap();
    }

    fn files(folder: &Path) -> Contents {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        files.map(|entry| (entry.file_name().into(), fs::read(entry.path()).unwrap())).collect()
    }

    /// The content that the consumer wants: the files of the producer, or the single one.
    fn wanted(&self) -> Contents {
        let mut wanted = Self::files(&self.place.path().join("source"));
        if self.is_single {
            wanted.retain(|name, _| name == Path::new("a"));
        }
        wanted
    }

    fn run(mut self, forwarder: &Forwarder, consumer: &Client) {
        for name in NAMES {
            let length = LENGTHS[self.pick(LENGTHS.len())];
            self.write_source(name, length);
        }
        let mut server = Some(self.serve(forwarder));
        self.fetch(consumer, false).unwrap_or_else(|error| panic!("{:?}: {error}", self.log));
        assert!(Self::files(&self.target()) == self.wanted(), "{:?}", self.log);
        let changes_live = self.pick(2) == 0;
        if !changes_live {
            server = None;
        }
        let source_changed = self.change_source();
        let target_changed = self.change_target();
        self.log.push(format!("changed while served: {changes_live}"));
        let server = server.take().unwrap_or_else(|| self.serve(forwarder));
        // Metadata are fresh for 10 ms.
        std::thread::sleep(Duration::from_millis(15));
        let before = Self::files(&self.target());
        let resume = self.pick(4) > 0;
        let result = self.fetch(consumer, resume);
        drop(server);
        self.judge(&before, result, !source_changed && !target_changed && resume);
    }

    fn judge(&self, before: &Contents, result: recoup::Result<Files>, is_unchanged: bool) {
        let (after, wanted) = (Self::files(&self.target()), self.wanted());
        for (name, content) in &after {
            let is_whole = wanted.get(name) == Some(content) || before.get(name) == Some(content);
            assert!(is_whole, "{}: neither of two contents: {:?}", name.display(), self.log);
        }
        let Ok(files) = result else {
            assert!(!is_unchanged, "{:?}: {result:?}", self.log);
            return;
        };
        for (name, content) in &wanted {
            assert!(after.get(name) == Some(content), "{}: {:?}", name.display(), self.log);
        }
        assert_eq!(files.fetched + files.before, files.listed, "{:?}", self.log);
        let right = wanted.iter().filter(|(name, content)| before.get(*name) == Some(content));
        assert!(files.before <= right.count() as u64, "{files:?}: {:?}", self.log);
        assert!(!is_unchanged || files.fetched == 0, "{files:?}: {:?}", self.log);
    }
}

#[test]
fn second_fetch_has_right_bytes_and_words() {
    let histories = std::env::var("RECOUP_HISTORIES").ok();
    let histories = histories.and_then(|text| text.parse().ok()).unwrap_or(40);
    let forwarder = Forwarder::start();
    let consumer = forwarder.client();
    for seed in 0..histories {
        History::new(seed, &forwarder.records()).run(&forwarder, &consumer);
    }
}
