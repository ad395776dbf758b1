//! The producer loop: which names it answers, with what, and what it remembers.
use recoup_packet::data::{ContentType, Data, SignatureShape};
use recoup_packet::interest::Interest;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::convention::Convention;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{DigestSigner, DigestVerifier, SignatureType, Verdict, Verifier};
use recoup_transport::application::{AppInput, AppOutput, Application, Report, ReturnPath};
use recoup_transport::event::Event;
use recoup_transport::serve::{
    Form, Library, Opened, Serve, ServeConfig, Source, SourceError, Unknown,
};
use recoup_transport::time::{Duration, Instant};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A file in memory whose version is the number of times it was written.
#[derive(Debug, Default)]
struct Paper {
    content: Vec<u8>,
    version: u64,
    /// Whoever reads at this offset finds it changed.
    torn_at: Option<u64>,
}

#[derive(Debug)]
struct Reading {
    paper: Rc<RefCell<Paper>>,
    version: u64,
    length: u64,
}

impl Source for Reading {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&mut self, _: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let paper = self.paper.borrow();
        if paper.version != self.version || paper.torn_at == Some(offset) {
            return Err(SourceError::Changed);
        }
        let offset = offset as usize;
        into.copy_from_slice(&paper.content[offset..offset + into.len()]);
        Ok(())
    }
}

#[derive(Debug)]
struct Desk(Rc<RefCell<Paper>>);

impl Library for Desk {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        let paper = self.0.borrow();
        let (version, length) = (paper.version, paper.content.len() as u64);
        path.is_empty().then(|| Opened {
            source: Box::new(Reading { paper: Rc::clone(&self.0), version, length }),
            version: Some(version),
            suffix: None,
            mtime_ns: None,
            mode: None,
        })
    }
}

struct World {
    serve: Serve,
    paper: Rc<RefCell<Paper>>,
    now: Instant,
    events: Vec<Event>,
}

impl World {
    fn new(octets: usize, unknown: Unknown) -> Self {
        Self::with_form(octets, unknown, Form::Encoded)
    }

    fn with_form(octets: usize, unknown: Unknown, form: Form) -> Self {
        Self::called("/p", octets, 100, unknown, form)
    }

    fn called(
        prefix: &str,
        octets: usize,
        segment_bytes: usize,
        unknown: Unknown,
        form: Form,
    ) -> Self {
        let content = (0..octets).map(|i| i as u8).collect();
        let paper = Rc::new(RefCell::new(Paper { content, version: 1, torn_at: None }));
        let config = ServeConfig {
            prefix: name(prefix),
            convention: Convention::Typed,
            segment_bytes,
            freshness: Duration::from_secs(10),
            metadata_freshness: Duration::from_millis(10),
            unknown,
            form,
            signer: Box::new(DigestSigner),
            manifest_signer: None,
            epoch_micros: 1_000_000,
        };
        let serve = Serve::new(config, Box::new(Desk(Rc::clone(&paper))));
        Self { serve, paper, now: Instant::ZERO, events: Vec::new() }
    }

    fn ask(&mut self, interest: Interest) -> Option<Data> {
        let input = AppInput::Interest { interest: Arc::new(interest), path: ReturnPath(9) };
        self.serve.handle(self.now, input);
        let mut answer = None;
        while let Some(output) = self.serve.poll(self.now) {
            match output {
                AppOutput::Data { data, path } => {
                    assert_eq!(path, ReturnPath(9));
                    assert!(answer.is_none(), "one question, one answer");
                    assert_eq!(Data::decode(data.wire()).as_ref(), Ok(&data), "valid Data");
                    answer = Some(data);
                }
                AppOutput::Report(Report::Event(event)) => self.events.push(event),
                other => panic!("unexpected {other:?}"),
            }
        }
        if let Some(data) = answer.as_ref().filter(|it| !is_padded(it)) {
            assert_eq!(DigestVerifier.verify(data), Verdict::Verified);
        }
        answer
    }

    /// Everything put out for questions that come together, in words that can be compared.
    fn ask_together(&mut self, interests: &[Interest]) -> Vec<String> {
        for (number, interest) in interests.iter().enumerate() {
            let (interest, path) = (Arc::new(interest.clone()), ReturnPath(number as u64));
            let input = AppInput::Interest { interest, path };
            self.serve.handle(self.now, input);
        }
        std::iter::from_fn(|| self.serve.poll(self.now)).map(in_words).collect()
    }

    fn exact(&mut self, uri: &str) -> Option<Data> {
        self.ask(Interest::new(name(uri)))
    }

    fn prefix(&mut self, uri: &str) -> Option<Data> {
        let mut interest = Interest::new(name(uri));
        interest.can_be_prefix = true;
        self.ask(interest)
    }

    fn rewrite(&mut self, octets: usize) {
        let mut paper = self.paper.borrow_mut();
        paper.version += 1;
        paper.content = vec![0xAA; octets];
    }
}

fn is_padded(data: &Data) -> bool {
    data.is_described() && data.signature_info().typ == SignatureType::Null
}

/// An output in words that tell it from any other: of packets, all octets.
fn in_words(output: AppOutput) -> String {
    match output {
        AppOutput::Data { data, path } => format!("Data {:?} path {path:?}", data.wire()),
        other => format!("{other:?}"),
    }
}

fn name(uri: &str) -> Name {
    uri.parse().expect("a valid name")
}

#[test]
fn a_long_name_leaves_less_room_for_content_and_no_packet_is_too_long() {
    for (letters, segment_bytes) in [(5_000, 8_000), (300, 8_600)] {
        let prefix = format!("/{}", "a".repeat(letters));
        let mut world =
            World::called(&prefix, 20_000, segment_bytes, Unknown::Silence, Form::Encoded);
        let base = world.serve.resolve(&Name::root()).unwrap();
        let mut content = Vec::new();
        for number in 0.. {
            let asked = Interest::new(base.append(Component::segment(number)));
            let Some(data) = world.ask(asked) else { break };
            assert!(data.wire().len() <= 8_800, "{}", data.wire().len());
            content.extend_from_slice(data.content());
        }
        assert_eq!(content, world.paper.borrow().content);
        let least = 20_000_usize.div_ceil(8_800 - letters);
        assert!(world.events.len() <= least + 2, "{} packets for {least}", world.events.len());
    }
    let prefix = format!("/{}", "a".repeat(8_750));
    let mut world = World::called(&prefix, 20_000, 8_000, Unknown::Silence, Form::Encoded);
    assert!(world.serve.resolve(&Name::root()).is_none());
}

#[test]
fn segments_carry_their_octets_and_the_end() {
    let mut world = World::new(250, Unknown::Silence);
    let data = world.exact("/p/v=1/seg=2").expect("the last segment");
    assert_eq!(data.content(), (200..250u16).map(|i| i as u8).collect::<Vec<_>>());
    let block = data.final_block().expect("FinalBlockId");
    assert_eq!(Convention::Typed.parse_segment(&block), Some(2));
    assert_eq!(data.freshness(), Duration::from_secs(10));
    assert!(world.exact("/p/v=1/seg=3").is_none());
}

#[test]
fn a_segment_is_found_by_its_full_name() {
    let mut world = World::new(250, Unknown::Silence);
    let data = world.exact("/p/v=1/seg=2").expect("the last segment");
    let full = data.name().append(Component::implicit_digest(&data.implicit_digest()));
    assert_eq!(world.ask(Interest::new(full)), Some(data));
    assert_eq!(world.exact(&format!("/p/v=1/seg=3/sha256digest={}", "00".repeat(32))), None);
}

#[test]
fn an_empty_object_is_one_empty_segment() {
    let mut world = World::new(0, Unknown::Silence);
    let data = world.exact("/p/v=1/seg=0").expect("segment 0");
    assert!(data.content().is_empty());
    let block = data.final_block().expect("FinalBlockId");
    assert_eq!(Convention::Typed.parse_segment(&block), Some(0));
}

#[test]
fn metadata_names_the_latest_version_and_its_size() {
    let mut world = World::new(250, Unknown::Silence);
    assert!(world.exact("/p/32=metadata").is_none(), "CanBePrefix is part of the question");
    let data = world.prefix("/p/32=metadata").expect("metadata");
    assert!(name("/p/32=metadata").is_prefix_of(data.name()));
    assert_eq!(data.name().len(), 4);
    assert!(!data.freshness().is_zero());
    let metadata = Metadata::decode(data.content_bytes()).expect("valid metadata");
    assert_eq!(metadata.versioned, name("/p/v=1"));
    assert_eq!((metadata.final_block, metadata.size), (Some(2), Some(250)));
    assert_eq!(metadata.segment_size, Some(100));
}

#[test]
fn prefix_probes_bring_the_first_segment() {
    let mut world = World::new(250, Unknown::Silence);
    for uri in ["/p", "/p/v=1"] {
        let data = world.prefix(uri).expect("segment 0");
        assert_eq!(*data.name(), name("/p/v=1/seg=0"));
        assert!(world.exact(uri).is_none(), "without CanBePrefix it would not satisfy {uri}");
    }
}

#[test]
fn a_signature_is_made_once_and_the_packet_stays_the_same() {
    let mut world = World::new(250, Unknown::Silence);
    let first = world.exact("/p/v=1/seg=1").expect("segment 1");
    let second = world.exact("/p/v=1/seg=1").expect("segment 1");
    assert_eq!(first.wire(), second.wire());
    let signed: Vec<_> = world
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Served { signed, .. } => Some(*signed),
            _ => None,
        })
        .collect();
    assert_eq!(signed, [true, false]);
}

#[test]
fn unknown_names_are_refused_or_ignored_as_configured() {
    let strange = ["/p/v=1/seg=99", "/p/v=2/seg=0", "/p/x/v=1/seg=0", "/p/x", "/p/seg=0"];
    let mut silent = World::new(250, Unknown::Silence);
    let mut clear = World::new(250, Unknown::Nack);
    for uri in strange {
        assert!(silent.exact(uri).is_none(), "{uri}");
        let data = clear.exact(uri).expect("an application Nack");
        assert_eq!((data.content_type(), data.name()), (ContentType::Nack, &name(uri)));
    }
    assert_eq!(silent.events, [Event::Unknown; 5]);
}

#[test]
fn a_source_that_changes_ends_its_version_and_begins_a_new_one() {
    let mut world = World::new(250, Unknown::Silence);
    assert!(world.exact("/p/v=1/seg=0").is_some());
    world.rewrite(90);
    assert!(world.exact("/p/v=1/seg=1").is_none());
    assert!(world.events.contains(&Event::SourceEnded));
    assert!(world.exact("/p/v=1/seg=0").is_none(), "the old version has ended for good");
    world.now = Instant::from_millis(200);
    let metadata = world.prefix("/p/32=metadata").expect("metadata");
    let metadata = Metadata::decode(metadata.content_bytes()).expect("valid metadata");
    assert_eq!(metadata.versioned, name("/p/v=2"));
    let data = world.exact("/p/v=2/seg=0").expect("the new version");
    assert_eq!(data.content(), [0xAA; 90]);
}

#[test]
fn a_flood_of_questions_for_metadata_costs_one_signature_per_freshness() {
    let mut world = World::new(250, Unknown::Silence);
    let first = world.prefix("/p/32=metadata").expect("metadata");
    world.now = Instant::from_millis(5);
    assert_eq!(world.prefix("/p/32=metadata").expect("metadata").name(), first.name());
    world.now = Instant::from_millis(11);
    assert_ne!(world.prefix("/p/32=metadata").expect("metadata").name(), first.name());
}

/// Questions of all kinds for an object of 300 segments, no segment twice.
fn questions() -> Vec<Interest> {
    let mut questions: Vec<Interest> =
        (0..300).map(|segment| Interest::new(name(&format!("/p/v=1/seg={segment}")))).collect();
    for (place, uri) in [
        (250, "/p/v=1/seg=300"),
        (100, "/p/x"),
        (64, "/p/32=metadata"),
        (10, "/p/32=metadata"),
        (3, "/q"),
    ] {
        let mut question = Interest::new(name(uri));
        question.can_be_prefix = uri.ends_with("metadata");
        questions.insert(place, question);
    }
    questions
}

#[test]
fn questions_that_come_together_are_answered_as_if_one_by_one() {
    for torn_at in [None, Some(0), Some(2_000), Some(6_400), Some(29_900)] {
        for unknown in [Unknown::Nack, Unknown::Silence] {
            let mut together = World::new(30_000, unknown);
            let mut single = World::new(30_000, unknown);
            for world in [&together, &single] {
                world.paper.borrow_mut().torn_at = torn_at;
            }
            for _ in 0..2 {
                let each: Vec<String> = questions()
                    .iter()
                    .enumerate()
                    .flat_map(|(number, question)| {
                        let path = ReturnPath(number as u64);
                        let interest = Arc::new(question.clone());
                        let input = AppInput::Interest { interest, path };
                        single.serve.handle(single.now, input);
                        std::iter::from_fn(|| single.serve.poll(single.now))
                            .map(in_words)
                            .collect::<Vec<_>>()
                    })
                    .collect();
                assert!(each.len() > 300 || unknown == Unknown::Silence);
                assert_eq!(together.ask_together(&questions()), each);
            }
        }
    }
}

#[test]
fn a_segment_asked_for_twice_at_once_is_the_same_packet_twice() {
    let mut world = World::new(250, Unknown::Silence);
    let question = Interest::new(name("/p/v=1/seg=1"));
    let outputs = world.ask_together(&[question.clone(), question]);
    let packets: Vec<_> = outputs
        .iter()
        .filter_map(|it| it.strip_prefix("Data").map(|it| it.split("path").next()))
        .collect();
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[0], packets[1]);
}

/// One world that reads and signs, and one that describes; in the second, reading fails.
fn worlds(shape: SignatureShape) -> (World, World) {
    let encoded = World::new(30_050, Unknown::Nack);
    let described = World::with_form(30_050, Unknown::Nack, Form::Described(shape));
    described.paper.borrow_mut().torn_at = Some(0);
    (encoded, described)
}

#[test]
fn described_segments_say_what_encoded_ones_say_and_nothing_is_read_for_them() {
    let (mut encoded, mut described) = worlds(SignatureShape::of(&DigestSigner));
    let mut segments = 0;
    for question in questions() {
        let expected = encoded.ask(question.clone()).expect("an answer");
        let answer = described.ask(question).expect("an answer");
        let said = |data: &Data| {
            let parts = (data.name().clone(), data.content_type(), data.freshness());
            (parts, data.content().len(), data.encoded_len(), format!("{:?}", data.final_block()))
        };
        assert_eq!(said(&answer), said(&expected));
        let is_segment = !expected.content().is_empty() && expected.name().len() == 3;
        assert_eq!(answer.is_described(), is_segment, "{answer:?}");
        segments += usize::from(is_segment);
    }
    assert_eq!(segments, 301);
    let served = |world: &World| {
        let octets = world.events.iter().filter_map(|event| match event {
            Event::Served { content_bytes, .. } => Some(u64::from(*content_bytes)),
            _ => None,
        });
        (octets.sum::<u64>(), world.events.len())
    };
    assert_eq!(served(&described), (30_050, served(&encoded).1));
}

#[test]
fn described_segments_are_found_by_prefix_like_others() {
    let (mut encoded, mut described) = worlds(SignatureShape::Digest);
    for uri in ["/p", "/p/v=1"] {
        let answer = described.prefix(uri).expect("segment 0");
        assert!(answer.is_described());
        assert_eq!(answer.name(), encoded.prefix(uri).expect("segment 0").name());
    }
}

#[test]
fn packets_of_a_given_length_have_it_whatever_their_name_and_content() {
    let shape = SignatureShape::Total { packet_bytes: 1_100 };
    let (_, mut described) = worlds(shape);
    for segment in [0, 255, 256, 300] {
        let data = described.exact(&format!("/p/v=1/seg={segment}")).expect("a segment");
        assert_eq!((data.encoded_len(), data.wire().len()), (1_100, 1_100));
    }
    let (_, mut described) = worlds(SignatureShape::Total { packet_bytes: 90 });
    let data = described.exact("/p/v=1/seg=0").expect("a refusal: 100 octets do not fit into 90");
    assert_eq!(data.content_type(), ContentType::Nack);
}
