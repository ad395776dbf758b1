//! The producer loop: answers, by name, and its tables.
use recoup_packet::data::{ContentType, Data, DataBuilder, SignatureShape};
use recoup_packet::interest::Interest;
use recoup_packet::manifest;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::convention::Convention;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{
    DigestSigner, DigestVerifier, HmacSigner, KeyLocator, PublicKey, SignatureType, Signer,
    Verdict, Verifier,
};
use recoup_transport::application::{AppInput, AppOutput, Application, Report, ReturnPath};
use recoup_transport::event::Event;
use recoup_transport::serve::{
    DENIAL_DELAY, Form, Identified, Library, Opened, Serve, ServeConfig, Source, SourceError,
    Unknown,
};
use recoup_transport::time::{Duration, Instant};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A file in memory, of version 1.
#[derive(Debug, Default)]
struct Paper {
    content: Vec<u8>,
    /// A read at this offset finds it changed.
    torn_at: Option<u64>,
}

#[derive(Debug)]
struct Reading {
    paper: Rc<RefCell<Paper>>,
    length: u64,
}

impl Source for Reading {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&mut self, _: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let paper = self.paper.borrow();
        if paper.torn_at == Some(offset) {
            return Err(SourceError::Changed);
        }
        let offset = offset as usize;
        into.copy_from_slice(&paper.content[offset..offset + into.len()]);
        Ok(())
    }

    fn identify(&mut self, _: Instant) -> Result<Identified, SourceError> {
        Ok(Identified::No)
    }
}

#[derive(Debug)]
struct Desk(Rc<RefCell<Paper>>);

impl Library for Desk {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        let length = self.0.borrow().content.len() as u64;
        path.is_empty().then(|| Opened {
            source: Box::new(Reading { paper: Rc::clone(&self.0), length }),
            version: Some(1),
            suffix: None,
            mtime_ns: None,
            mode: None,
        })
    }
}

struct Harness {
    serve: Serve,
    paper: Rc<RefCell<Paper>>,
    now: Instant,
    events: Vec<Event>,
}

impl Harness {
    fn new(bytes: usize, unknown: Unknown) -> Self {
        Self::with_form(bytes, unknown, Form::Encoded)
    }

    fn with_form(bytes: usize, unknown: Unknown, form: Form) -> Self {
        Self::called("/p", bytes, 100, unknown, form)
    }

    fn called(
        prefix: &str,
        bytes: usize,
        segment_bytes: usize,
        unknown: Unknown,
        form: Form,
    ) -> Self {
        Self::signing_lists(prefix, bytes, (segment_bytes, unknown, form), None)
    }

    fn signing_lists(
        prefix: &str,
        bytes: usize,
        (segment_bytes, unknown, form): (usize, Unknown, Form),
        signer_of_lists: Option<Box<dyn Signer>>,
    ) -> Self {
        let content = (0..bytes).map(|i| i as u8).collect();
        let paper = Rc::new(RefCell::new(Paper { content, torn_at: None }));
        let config = ServeConfig {
            prefix: name(prefix),
            convention: Convention::Typed,
            segment_bytes,
            freshness: Duration::from_secs(10),
            metadata_freshness: Duration::from_millis(10),
            unknown,
            form,
            signer: Box::new(DigestSigner),
            manifest_signer: signer_of_lists,
            encrypter: None,
            epoch_micros: 1_000_000,
        };
        let serve = Serve::new(config, Box::new(Desk(Rc::clone(&paper))));
        Self { serve, paper, now: Instant::ZERO, events: Vec::new() }
    }

    fn ask(&mut self, interest: Interest) -> Option<Data> {
        let input = AppInput::Interest { interest: Arc::new(interest), path: ReturnPath(9) };
        self.serve.handle(self.now, input);
        let mut answer = None;
        while let Some(output) = self.next_output() {
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
        if let Some(data) = answer.as_ref().filter(|it| !lacks_digest(it)) {
            assert_eq!(DigestVerifier.verify(data), Verdict::Verified);
        }
        answer
    }

    /// The next output, also an application Nack that is due later.
    fn next_output(&mut self) -> Option<AppOutput> {
        let output = self.serve.poll(self.now);
        if output.is_some() || self.serve.deadline() != Some(self.now + DENIAL_DELAY) {
            return output;
        }
        self.serve.poll(self.now + DENIAL_DELAY)
    }

    /// All outputs for simultaneous Interests, as text.
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
}

/// Whether the packet has no digest: a described one, or one of an author.
fn lacks_digest(data: &Data) -> bool {
    let typ = data.signature_info().typ;
    data.is_described() && typ == SignatureType::Null || typ == SignatureType::HmacWithSha256
}

/// An output as unique text: of packets, all bytes.
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
fn published_certificates_are_answered_by_name_and_prefix() {
    let key: Name = name("/q/KEY/1/i/v=1");
    let builder = DataBuilder::new(&key).content_type(ContentType::Key);
    let certificate = builder.build(b"key", &DigestSigner);
    let mut harness = Harness::new(250, Unknown::Silence);
    assert!(harness.exact("/q/KEY/1/i/v=1").is_none());
    harness.serve.publish(vec![certificate.clone()]);
    assert_eq!(harness.exact("/q/KEY/1/i/v=1").as_ref(), Some(&certificate));
    assert_eq!(harness.prefix("/q/KEY/1").as_ref(), Some(&certificate));
    assert!(harness.prefix("/q/KEY/2").is_none() && harness.exact("/q/KEY/1").is_none());
    assert!(harness.exact("/p/v=1/seg=0").is_some(), "the content is served as before");
}

#[test]
fn manifest_lists_the_digests_of_its_segments() {
    let author = || HmacSigner::new(b"secret", KeyLocator::Digest(&[1; 32]));
    let form = (10, Unknown::Silence, Form::Encoded);
    let mut harness = Harness::signing_lists("/p", 25_025, form, Some(Box::new(author())));
    let key = PublicKey::from_hmac_secret(b"secret");
    let mut first = None;
    for number in 0..=10_u64 {
        let list = harness.exact(&format!("/p/v=1/32=manifest/seg={number}")).expect("a list");
        assert_eq!(list.content_type(), ContentType::Manifest);
        let segments = 250 * number..(250 * (number + 1)).min(2_503);
        let others = if number % 8 == 0 { 10.min(number + 7) - number } else { 0 };
        let entries = segments.end - segments.start + others;
        assert_eq!(list.content().len() as u64, 32 * entries, "{number}");
        for segment in [segments.start, segments.end - 1] {
            let data = harness.exact(&format!("/p/v=1/seg={segment}")).expect("a segment");
            assert_eq!(manifest::digest(list.content(), segment), Some(data.signature_value()));
        }
        if number % 8 == 0 {
            assert!(key.verify(list.signed_portion(), list.signature_value()));
            first = Some(list);
        } else {
            let first = first.as_ref().expect("the first of the group");
            let digest = manifest::digest_in_group(first.content(), number);
            assert_eq!(digest, Some(list.signature_value()));
            assert_eq!(DigestVerifier.verify(&list), Verdict::Verified);
        }
    }
    assert!(harness.exact("/p/v=1/32=manifest/seg=11").is_none());
    // Such a name leaves no space for the digests of a group.
    let long = format!("/{}", "p".repeat(600));
    let mut long_named = Harness::signing_lists(&long, 2_525, form, Some(Box::new(author())));
    let list = long_named.exact(&format!("{long}/v=1/32=manifest/seg=1")).expect("a list");
    assert!(key.verify(list.signed_portion(), list.signature_value()));
    let mut without = Harness::new(250, Unknown::Silence);
    assert!(without.exact("/p/v=1/32=manifest/seg=0").is_none());
}

#[test]
fn long_name_leaves_less_space_for_content() {
    for (name_length, segment_bytes) in [(5_000, 8_000), (300, 8_600)] {
        let prefix = format!("/{}", "a".repeat(name_length));
        let mut harness =
            Harness::called(&prefix, 20_000, segment_bytes, Unknown::Silence, Form::Encoded);
        let base = harness.serve.resolve(&Name::root()).unwrap();
        let mut content = Vec::new();
        for number in 0.. {
            let asked = Interest::new(base.append(Component::segment(number)));
            let Some(data) = harness.ask(asked) else { break };
            assert!(data.wire().len() <= 8_800, "{}", data.wire().len());
            content.extend_from_slice(data.content());
        }
        assert_eq!(content, harness.paper.borrow().content);
        let least = 20_000_usize.div_ceil(8_800 - name_length);
        assert!(harness.events.len() <= least + 2, "{} packets for {least}", harness.events.len());
    }
    let prefix = format!("/{}", "a".repeat(8_750));
    let mut harness = Harness::called(&prefix, 20_000, 8_000, Unknown::Silence, Form::Encoded);
    assert!(harness.serve.resolve(&Name::root()).is_err());
}

#[test]
fn segments_carry_content_and_final_block_id() {
    let mut harness = Harness::new(250, Unknown::Silence);
    let data = harness.exact("/p/v=1/seg=2").expect("the last segment");
    assert_eq!(data.content(), (200..250u16).map(|i| i as u8).collect::<Vec<_>>());
    let block = data.final_block().expect("FinalBlockId");
    assert_eq!(Convention::Typed.parse_segment(&block), Some(2));
    assert_eq!(data.freshness(), Duration::from_secs(10));
    assert!(harness.exact("/p/v=1/seg=3").is_none());
}

#[test]
fn a_segment_is_found_by_its_full_name() {
    let mut harness = Harness::new(250, Unknown::Silence);
    let data = harness.exact("/p/v=1/seg=2").expect("the last segment");
    let full = data.name().append(Component::implicit_digest(&data.implicit_digest()));
    assert_eq!(harness.ask(Interest::new(full)), Some(data));
    assert_eq!(harness.exact(&format!("/p/v=1/seg=3/sha256digest={}", "00".repeat(32))), None);
}

#[test]
fn an_empty_object_is_one_empty_segment() {
    let mut harness = Harness::new(0, Unknown::Silence);
    let data = harness.exact("/p/v=1/seg=0").expect("segment 0");
    assert!(data.content().is_empty());
    let block = data.final_block().expect("FinalBlockId");
    assert_eq!(Convention::Typed.parse_segment(&block), Some(0));
}

#[test]
fn metadata_names_the_latest_version_and_its_size() {
    let mut harness = Harness::new(250, Unknown::Silence);
    assert!(harness.exact("/p/32=metadata").is_none(), "metadata needs CanBePrefix");
    let data = harness.prefix("/p/32=metadata").expect("metadata");
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
    let mut harness = Harness::new(250, Unknown::Silence);
    for uri in ["/p", "/p/v=1"] {
        let data = harness.prefix(uri).expect("segment 0");
        assert_eq!(*data.name(), name("/p/v=1/seg=0"));
        assert!(harness.exact(uri).is_none(), "without CanBePrefix it would not satisfy {uri}");
    }
}

#[test]
fn signature_is_made_once() {
    let mut harness = Harness::new(250, Unknown::Silence);
    let first = harness.exact("/p/v=1/seg=1").expect("segment 1");
    let second = harness.exact("/p/v=1/seg=1").expect("segment 1");
    assert_eq!(first.wire(), second.wire());
    let signed: Vec<_> = harness
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
fn unknown_names_are_answered_as_configured() {
    let strange = ["/p/v=1/seg=99", "/p/v=2/seg=0", "/p/x/v=1/seg=0", "/p/x", "/p/seg=0"];
    let mut silent = Harness::new(250, Unknown::Silence);
    let mut clear = Harness::new(250, Unknown::Nack);
    for uri in strange {
        assert!(silent.exact(uri).is_none(), "{uri}");
        let data = clear.exact(uri).expect("an application Nack");
        assert_eq!((data.content_type(), data.name()), (ContentType::Nack, &name(uri)));
    }
    assert_eq!(silent.events, [Event::Unknown; 5]);
}

#[test]
fn metadata_is_signed_once_per_freshness_period() {
    let mut harness = Harness::new(250, Unknown::Silence);
    let first = harness.prefix("/p/32=metadata").expect("metadata");
    harness.now = Instant::from_millis(5);
    assert_eq!(harness.prefix("/p/32=metadata").expect("metadata").name(), first.name());
    harness.now = Instant::from_millis(11);
    assert_ne!(harness.prefix("/p/32=metadata").expect("metadata").name(), first.name());
}

/// Interests of all kinds for an object of 300 segments, no segment twice.
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
fn simultaneous_interests_are_answered_like_single_ones() {
    for torn_at in [None, Some(0), Some(2_000), Some(6_400), Some(29_900)] {
        for unknown in [Unknown::Nack, Unknown::Silence] {
            let mut together = Harness::new(30_000, unknown);
            let mut single = Harness::new(30_000, unknown);
            for harness in [&together, &single] {
                harness.paper.borrow_mut().torn_at = torn_at;
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
fn duplicate_interests_get_the_same_packet() {
    let mut harness = Harness::new(250, Unknown::Silence);
    let question = Interest::new(name("/p/v=1/seg=1"));
    let outputs = harness.ask_together(&[question.clone(), question]);
    let packets: Vec<_> = outputs
        .iter()
        .filter_map(|it| it.strip_prefix("Data").map(|it| it.split("path").next()))
        .collect();
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[0], packets[1]);
}

/// A harness that reads and signs, and one that describes; in the second, reading fails.
fn harnesses(shape: SignatureShape) -> (Harness, Harness) {
    let encoded = Harness::new(30_050, Unknown::Nack);
    let described = Harness::with_form(30_050, Unknown::Nack, Form::Described(shape));
    described.paper.borrow_mut().torn_at = Some(0);
    (encoded, described)
}

#[test]
fn described_segments_equal_encoded_ones() {
    let (mut encoded, mut described) = harnesses(SignatureShape::of(&DigestSigner));
    let mut segments = 0;
    for question in questions() {
        let is_ours = question.name != name("/q");
        let (expected, answer) = (encoded.ask(question.clone()), described.ask(question));
        assert_eq!((expected.is_some(), answer.is_some()), (is_ours, is_ours));
        let (Some(expected), Some(answer)) = (expected, answer) else { continue };
        let fields = |data: &Data| {
            let parts = (data.name().clone(), data.content_type(), data.freshness());
            (parts, data.content().len(), data.encoded_len(), format!("{:?}", data.final_block()))
        };
        assert_eq!(fields(&answer), fields(&expected));
        let is_segment = !expected.content().is_empty() && expected.name().len() == 3;
        assert_eq!(answer.is_described(), is_segment, "{answer:?}");
        segments += usize::from(is_segment);
    }
    assert_eq!(segments, 301);
    let served = |harness: &Harness| {
        let bytes = harness.events.iter().filter_map(|event| match event {
            Event::Served { content_bytes, .. } => Some(u64::from(*content_bytes)),
            _ => None,
        });
        (bytes.sum::<u64>(), harness.events.len())
    };
    assert_eq!(served(&described), (30_050, served(&encoded).1));
}

#[test]
fn described_segments_are_found_by_prefix_like_others() {
    let (mut encoded, mut described) = harnesses(SignatureShape::Digest);
    for uri in ["/p", "/p/v=1"] {
        let answer = described.prefix(uri).expect("segment 0");
        assert!(answer.is_described());
        assert_eq!(answer.name(), encoded.prefix(uri).expect("segment 0").name());
    }
}

#[test]
fn packets_have_the_given_total_length() {
    let shape = SignatureShape::Total { packet_bytes: 1_100 };
    let (_, mut described) = harnesses(shape);
    for segment in [0, 255, 256, 300] {
        let data = described.exact(&format!("/p/v=1/seg={segment}")).expect("a segment");
        assert_eq!((data.encoded_len(), data.wire().len()), (1_100, 1_100));
    }
    let (_, mut described) = harnesses(SignatureShape::Total { packet_bytes: 90 });
    let data = described.exact("/p/v=1/seg=0").expect("a Nack: 100 bytes do not fit into 90");
    assert_eq!(data.content_type(), ContentType::Nack);
}
