//! The producer loop with changing content: a version identifies one content.
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::Interest;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, AppOutput, Application, Report, ReturnPath};
use recoup_transport::event::Event;
use recoup_transport::serve::{
    Form, Identified, Identity, Library, Opened, Serve, ServeConfig, Source, SourceError, Unknown,
};
use recoup_transport::time::{Duration, Instant};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A file in memory, whose version does not change with its content.
#[derive(Debug)]
struct File {
    content: Vec<u8>,
    version: Option<u64>,
    /// Increases with each change.
    stamp: u64,
    settled: Instant,
    /// Sources keep the content of their opening.
    is_kept: bool,
    /// The content changes during a read at this offset.
    rewrite_at: Option<u64>,
}

#[derive(Debug)]
struct Reader {
    file: Rc<RefCell<File>>,
    stamp: u64,
    bytes: u64,
    kept: Option<Vec<u8>>,
}

impl Source for Reader {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let mut file = self.file.borrow_mut();
        if now < file.settled {
            return Err(SourceError::Unsettled { until: file.settled });
        }
        if file.rewrite_at == Some(offset) {
            file.rewrite_at = None;
            file.content.fill(0xAA);
            file.stamp += 1;
        }
        let begin = offset as usize;
        let content = self.kept.as_ref().unwrap_or(&file.content).get(begin..begin + into.len());
        into.copy_from_slice(content.ok_or(SourceError::Changed)?);
        Ok(())
    }

    fn identify(&mut self, _: Instant) -> Result<Identified, SourceError> {
        Ok(Identified::No)
    }

    fn check(&mut self, _: Instant) -> Result<(), SourceError> {
        let is_same = self.file.borrow().stamp == self.stamp;
        if is_same || self.kept.is_some() { Ok(()) } else { Err(SourceError::Changed) }
    }

    fn identity(&self) -> Identity {
        Identity([self.stamp; 4])
    }
}

/// One file at the prefix, and names below the prefix without limit.
#[derive(Debug)]
struct Folder {
    file: Rc<RefCell<File>>,
    may_renumber: bool,
}

impl Library for Folder {
    fn open(&mut self, _: &Name) -> Option<Opened> {
        let file = Rc::clone(&self.file);
        let (stamp, version) = (file.borrow().stamp, file.borrow().version);
        let bytes = file.borrow().content.len() as u64;
        let kept = file.borrow().is_kept.then(|| file.borrow().content.clone());
        let source = Box::new(Reader { file, stamp, bytes, kept });
        Some(Opened { source, version, suffix: None, mtime_ns: None, mode: None })
    }

    fn may_renumber(&self) -> bool {
        self.may_renumber
    }
}

struct Harness {
    serve: Serve,
    file: Rc<RefCell<File>>,
    now: Instant,
    events: Vec<Event>,
}

impl Harness {
    fn new(bytes: usize) -> Self {
        Self::with(bytes, Some(1), true)
    }

    fn with(bytes: usize, version: Option<u64>, may_renumber: bool) -> Self {
        let content = (0..bytes).map(|i| (i % 101) as u8).collect();
        let (settled, rewrite_at) = (Instant::ZERO, None);
        let (stamp, is_kept) = (1, false);
        let file = File { content, version, stamp, settled, is_kept, rewrite_at };
        let file = Rc::new(RefCell::new(file));
        let config = ServeConfig {
            prefix: name("/p"),
            convention: Convention::Typed,
            segment_bytes: 100,
            freshness: Duration::from_secs(10),
            metadata_freshness: Duration::from_millis(10),
            unknown: Unknown::Nack,
            form: Form::Encoded,
            signer: Box::new(DigestSigner),
            manifest_signer: None,
            encrypter: None,
            epoch_micros: 1,
        };
        let library = Folder { file: Rc::clone(&file), may_renumber };
        let serve = Serve::new(config, Box::new(library));
        Self { serve, file, now: Instant::ZERO, events: Vec::new() }
    }

    fn poll(&mut self) -> Vec<Data> {
        let mut answers = Vec::new();
        while let Some(output) = self.serve.poll(self.now) {
            match output {
                AppOutput::Data { data, .. } => answers.push(data),
                AppOutput::Report(Report::Event(event)) => self.events.push(event),
                other => panic!("unexpected {other:?}"),
            }
        }
        assert!(self.serve.deadline().is_none_or(|deadline| deadline > self.now));
        answers
    }

    fn ask_together(&mut self, uris: impl IntoIterator<Item = String>) -> Vec<Data> {
        for uri in uris {
            let mut interest = Interest::new(name(&uri));
            interest.can_be_prefix = uri.ends_with("metadata");
            let input = AppInput::Interest { interest: Arc::new(interest), path: ReturnPath(1) };
            self.serve.handle(self.now, input);
        }
        self.poll()
    }

    /// Sends an Interest, and advances the time until there is an answer.
    fn ask(&mut self, uri: &str) -> Data {
        let mut answers = self.ask_together([uri.to_owned()]);
        while answers.is_empty() {
            self.now = self.serve.deadline().expect("the Interest waits");
            answers = self.poll();
        }
        assert_eq!(answers.len(), 1, "one Interest, one answer");
        answers.remove(0)
    }

    fn is_nacked(&mut self, uri: &str) -> bool {
        self.ask(uri).content_type() == ContentType::Nack
    }

    /// The name of the latest version.
    fn latest(&mut self) -> Option<Name> {
        self.now += Duration::from_millis(200);
        let data = self.ask("/p/32=metadata");
        Metadata::decode(data.content_bytes()).ok().map(|metadata| metadata.versioned)
    }

    /// Changes the file; `change` changes the content.
    fn change(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut file = self.file.borrow_mut();
        change(&mut file.content);
        file.stamp += 1;
    }

    fn ended(&self) -> usize {
        self.events.iter().filter(|event| **event == Event::SourceEnded).count()
    }
}

fn name(uri: &str) -> Name {
    uri.parse().expect("a valid name")
}

fn segments(count: u64) -> impl Iterator<Item = String> {
    (0..count).map(|segment| format!("/p/v=1/seg={segment}"))
}

#[test]
fn changed_source_holds_back_its_whole_batch() {
    let mut harness = Harness::new(3_000);
    harness.file.borrow_mut().rewrite_at = Some(2_000);
    let answers = harness.ask_together(segments(30));
    assert_eq!(answers.len(), 0, "they wait");
    harness.now = harness.serve.deadline().expect("they wait");
    // No segment had been sent, so the version identifies the new content.
    let answers = harness.poll();
    assert_eq!(answers.len(), 30);
    assert!(answers.iter().all(|data| data.content() == [0xAA; 100]), "a mix left");
}

#[test]
fn rewrite_after_a_batch_ends_the_version() {
    let mut harness = Harness::new(3_000);
    assert_eq!(harness.ask_together(segments(20)).len(), 20);
    harness.file.borrow_mut().rewrite_at = Some(2_500);
    assert_eq!(harness.ask_together(segments(30)).len(), 0);
    harness.now = harness.serve.deadline().expect("they wait");
    assert_eq!(harness.poll().len(), 0);
    harness.now = harness.serve.deadline().expect("the application Nacks wait");
    let answers = harness.poll();
    let nacked = answers.iter().filter(|data| data.content_type() == ContentType::Nack);
    assert_eq!((nacked.count(), answers.len()), (30, 30));
    assert_eq!(harness.ended(), 1);
    assert_eq!(harness.latest(), Some(name("/p/v=2")), "the next free number");
    assert_eq!(harness.ask("/p/v=2/seg=0").content(), [0xAA; 100]);
    assert!(harness.is_nacked("/p/v=1/seg=0"));
}

#[test]
fn equal_content_in_another_state_keeps_its_version() {
    for served in [1, 127, 128, 129, 300] {
        let mut harness = Harness::new(30_000);
        assert_eq!(harness.ask_together(segments(served)).len(), served as usize);
        harness.change(|_| {});
        for segment in [0, 299] {
            let data = harness.ask(&format!("/p/v=1/seg={segment}"));
            assert_eq!(data.content(), &harness.file.borrow().content[segment * 100..][..100]);
        }
        assert_eq!((harness.latest(), harness.ended()), (Some(name("/p/v=1")), 0));
    }
}

#[test]
fn one_different_byte_ends_the_version() {
    for place in [0, 12_799, 12_800, 29_999] {
        let mut harness = Harness::new(30_000);
        assert_eq!(harness.ask_together(segments(300)).len(), 300);
        harness.change(|content| content[place] ^= 1);
        assert!(harness.is_nacked("/p/v=1/seg=7"), "{place}");
        assert_eq!((harness.latest(), harness.ended()), (Some(name("/p/v=2")), 1));
    }
}

#[test]
fn another_length_ends_the_version() {
    let mut harness = Harness::new(3_000);
    assert_eq!(harness.ask_together(segments(3)).len(), 3);
    harness.change(|content| content.truncate(2_000));
    assert!(harness.is_nacked("/p/v=1/seg=1"));
    assert_eq!(harness.latest(), Some(name("/p/v=2")));
}

#[test]
fn interests_wait_while_content_is_compared() {
    let mut harness = Harness::new(30_000);
    assert_eq!(harness.ask_together(segments(300)).len(), 300);
    harness.change(|_| {});
    assert_eq!(harness.ask_together(segments(5)).len(), 0, "300 segments are two steps and a rest");
    let begin = harness.now;
    let mut answers = Vec::new();
    while answers.is_empty() {
        harness.now = harness.serve.deadline().expect("they wait");
        answers = harness.poll();
    }
    assert_eq!(answers.len(), 5);
    assert!(harness.now.since(begin) <= Duration::from_millis(5), "{:?}", harness.now);
}

#[test]
fn fixed_number_never_stands_for_other_content() {
    for version in [None, Some(1)] {
        let mut harness = Harness::with(3_000, version, false);
        let uri = if version.is_some() { "/p/v=1/seg=0" } else { "/p/seg=0" };
        assert!(!harness.is_nacked(uri));
        harness.change(|content| *content = vec![7; 2_000]);
        assert!(harness.is_nacked(uri), "of another length, and no number is free");
        assert_eq!(harness.latest(), None);
    }
}

#[test]
fn kept_content_outlives_other_content_of_its_number() {
    let mut harness = Harness::new(3_000);
    harness.file.borrow_mut().is_kept = true;
    assert_eq!(harness.ask_together(segments(3)).len(), 3);
    harness.change(|content| content.fill(9));
    assert_eq!(harness.latest(), Some(name("/p/v=2")));
    assert_eq!(harness.ask("/p/v=2/seg=0").content(), [9; 100]);
    let old: Vec<u8> = (100..200u16).map(|i| (i % 101) as u8).collect();
    assert_eq!(harness.ask("/p/v=1/seg=1").content(), old);
    assert_eq!(harness.latest(), Some(name("/p/v=2")));
    assert_eq!(harness.ended(), 0);
}

#[test]
fn fixed_number_keeps_content_that_is_kept() {
    let mut harness = Harness::with(3_000, Some(1), false);
    harness.file.borrow_mut().is_kept = true;
    assert_eq!(harness.ask_together(segments(3)).len(), 3);
    harness.change(|content| *content = vec![9; 2_000]);
    assert_eq!(harness.latest(), Some(name("/p/v=1")));
    assert_eq!(harness.ask("/p/v=1/seg=29").content().len(), 100);
}

#[test]
fn unsettled_source_is_read_when_it_has_settled() {
    let mut harness = Harness::new(300);
    harness.file.borrow_mut().settled = Instant::from_millis(30);
    assert_eq!(harness.ask_together(segments(3)).len(), 0);
    assert_eq!(harness.serve.deadline(), Some(Instant::from_millis(30)));
    harness.now = Instant::from_millis(30);
    assert_eq!(harness.poll().len(), 3);
    assert_eq!(harness.serve.deadline(), None);
}

#[test]
fn source_that_never_settles_is_given_up() {
    let mut harness = Harness::new(300);
    assert_eq!(harness.ask_together(segments(1)).len(), 1);
    for _ in 0..10_000 {
        harness.change(|_| {});
        let settled = harness.now + Duration::from_millis(20);
        harness.file.borrow_mut().settled = settled;
        assert_eq!(harness.ask_together([]).len(), 0);
        if harness.now < Instant::from_millis(100) {
            assert_eq!(harness.ask_together(segments(2)).len(), 0);
        }
        match harness.serve.deadline() {
            Some(deadline) => harness.now = deadline,
            None => break,
        }
    }
    assert_eq!(harness.serve.deadline(), None, "the Interests have expired");
}

#[test]
fn evicted_version_keeps_its_meaning() {
    for changes in [false, true] {
        let mut harness = Harness::new(300);
        assert!(!harness.is_nacked("/p/v=1/seg=0"));
        for other in 0..64 {
            harness.ask(&format!("/p/{other}/32=metadata"));
        }
        if changes {
            harness.change(|content| content.fill(9));
        }
        assert_eq!(harness.is_nacked("/p/v=1/seg=1"), changes);
        let expected = if changes { "/p/v=2" } else { "/p/v=1" };
        assert_eq!(harness.latest(), Some(name(expected)));
        // The signature of segment 0 was forgotten, so the version cannot continue.
        harness.change(|content| content[0] ^= 1);
        assert!(harness.is_nacked("/p/v=1/seg=1"));
    }
}
