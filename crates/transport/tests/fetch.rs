//! The fetch loop against producers that behave, misbehave and lie, in a world of one link whose
//! clock is a variable.
use bytes::Bytes;
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::metadata::{self, Metadata};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::{
    AutoVerifier, DigestSigner, HmacSigner, KeyLocator, KeyVerifier, PublicKey, SignatureInfo,
    Verdict, Verifier,
};
use recoup_transport::application::{AppInput, AppOutput, Application, Report};
use recoup_transport::fetch::summary::Summary;
use recoup_transport::fetch::{Delivery, Fetch, FetchConfig, FetchError};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use recoup_transport::{congestion, rto};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const DELAY: Duration = Duration::from_millis(20);

/// What comes back for an Interest, and when.
enum Answer {
    Data(Data),
    Marked(Data),
    Nack(NackReason),
}

type Answers = Vec<(Duration, Answer)>;

/// A fetch, a producer and what happens between them.
struct World {
    now: Instant,
    fetch: Fetch,
    agenda: BTreeMap<(Instant, u64), AppInput>,
    sequence: u64,
    content: BTreeMap<u64, Bytes>,
    order: Vec<u64>,
    resolved: Option<Name>,
    summary: Summary,
    asked: Vec<Interest>,
    /// Content is reported as taken as soon as it is handed out.
    reads: bool,
}

impl World {
    fn new(config: FetchConfig) -> Self {
        let mut fetch = Fetch::new(config);
        fetch.handle(Instant::ZERO, AppInput::FaceUp { receive_budget: None });
        Self {
            now: Instant::ZERO,
            fetch,
            agenda: BTreeMap::new(),
            sequence: 0,
            content: BTreeMap::new(),
            order: Vec::new(),
            resolved: None,
            summary: Summary::default(),
            asked: Vec::new(),
            reads: true,
        }
    }

    fn at(&mut self, at: Instant, input: AppInput) {
        self.sequence += 1;
        self.agenda.insert((at, self.sequence), input);
    }

    /// Hands out every consequence of the moment; the result, if there is one.
    fn drain(
        &mut self,
        producer: &mut dyn FnMut(&Interest) -> Answers,
    ) -> Option<Result<(), FetchError>> {
        while let Some(output) = self.fetch.poll(self.now) {
            match output {
                AppOutput::Interest(interest) => {
                    for (delay, answer) in producer(&interest) {
                        let input = match answer {
                            Answer::Data(data) => AppInput::Data { data, congestion_mark: 0 },
                            Answer::Marked(data) => AppInput::Data { data, congestion_mark: 1 },
                            Answer::Nack(reason) => {
                                AppInput::Nack { interest: Arc::new(interest.clone()), reason }
                            }
                        };
                        self.at(self.now + delay, input);
                    }
                    self.asked.push(interest);
                }
                AppOutput::Report(Report::Content { segment, content }) => {
                    if self.reads {
                        let bytes = content.len() as u64;
                        self.fetch.handle(self.now, AppInput::Consumed { bytes });
                    }
                    assert!(self.content.insert(segment, content).is_none(), "handed out twice");
                    self.order.push(segment);
                }
                AppOutput::Report(Report::Resolved { object, .. }) => self.resolved = Some(object),
                AppOutput::Report(Report::Event(event)) => {
                    self.summary.on_event(self.now, &event);
                }
                AppOutput::Report(Report::Done(result)) => return Some(result),
                AppOutput::Data { .. }
                | AppOutput::Nack { .. }
                | AppOutput::Report(Report::Registered { .. }) => {
                    unreachable!("not a producer")
                }
            }
        }
        let deadline = self.fetch.deadline();
        assert!(deadline.is_none_or(|at| at > self.now), "the law of the deadline");
        None
    }

    /// Runs until the fetch ends or `limit` has passed.
    fn run_until(
        &mut self,
        limit: Instant,
        mut producer: impl FnMut(&Interest) -> Answers,
    ) -> Option<Result<(), FetchError>> {
        loop {
            if let Some(result) = self.drain(&mut producer) {
                return Some(result);
            }
            let next = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let wake = [next, self.fetch.deadline()].into_iter().flatten().min()?;
            if wake > limit {
                return None;
            }
            self.now = wake;
            while let Some(entry) = self.agenda.first_entry().filter(|e| e.key().0 <= wake) {
                self.fetch.handle(wake, entry.remove());
            }
        }
    }

    fn run(&mut self, producer: impl FnMut(&Interest) -> Answers) -> Result<(), FetchError> {
        let limit = Instant::from_millis(600_000);
        self.run_until(limit, producer).expect("the fetch ends within ten minutes")
    }

    fn bytes(&self) -> Vec<u8> {
        self.content.values().flatten().copied().collect()
    }
}

fn name(uri: &str) -> Name {
    uri.parse().expect("a valid name")
}

fn config(uri: &str) -> FetchConfig {
    let rto = rto::parse("jacobson").expect("an estimator");
    let congestion = congestion::parse("cubic").expect("a window");
    let mut config = FetchConfig::new(name(uri), rto, congestion, Rng::from_seed(1));
    config.verifier = Box::new(AutoVerifier);
    config
}

fn file(octets: usize) -> Vec<u8> {
    (0..octets).map(|i| (i * 7 + i / 251) as u8).collect()
}

const SEGMENT: usize = 100;

/// The last segment of `file`.
fn last(file: &[u8]) -> u64 {
    (file.len().saturating_sub(1) / SEGMENT) as u64
}

fn segment_of(interest: &Interest) -> Option<u64> {
    Convention::Typed.parse_segment(&interest.name.last()?)
}

/// The right Data for a segment Interest.
fn cut(file: &[u8], interest: &Interest) -> Option<Data> {
    let segment = segment_of(interest)? as usize;
    if segment as u64 > last(file) {
        return None;
    }
    let content = &file[segment * SEGMENT..file.len().min((segment + 1) * SEGMENT)];
    let builder =
        DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(last(file)));
    Some(builder.build(content, &DigestSigner))
}

/// A producer without fault: metadata and segments of version 7.
fn honest(file: &[u8]) -> impl Fn(&Interest) -> Answers + '_ {
    |interest| {
        let data = match segment_of(interest) {
            Some(_) => cut(file, interest),
            None => Some(metadata_of(interest, 7, Some(last(file)))),
        };
        data.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    }
}

fn metadata_of(interest: &Interest, version: u64, final_block: Option<u64>) -> Data {
    let object = interest.name.prefix(interest.name.len() - 1);
    let versioned = object.append(Convention::Typed.version(version));
    let content = Metadata { final_block, ..Metadata::new(versioned) }.to_bytes();
    DataBuilder::new(&metadata::packet_name(&object, 1)).build(&content, &DigestSigner)
}

#[test]
fn a_file_arrives_whole_through_metadata() {
    for octets in [0, 1, SEGMENT, SEGMENT + 1, 40 * SEGMENT, 4_321] {
        let file = file(octets);
        let mut world = World::new(config("/a/file"));
        assert_eq!(world.run(honest(&file)), Ok(()));
        assert_eq!(world.bytes(), file);
        assert_eq!(world.resolved, Some(name("/a/file/v=7")));
        assert_eq!(world.summary.retransmissions, 0);
    }
}

#[test]
fn a_name_with_a_version_needs_no_discovery() {
    let file = file(950);
    let mut world = World::new(config("/a/file/v=7"));
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_eq!(world.bytes(), file);
    assert!(world.asked.iter().all(|interest| segment_of(interest).is_some()));
}

#[test]
fn a_producer_without_metadata_is_found_by_a_prefix_probe() {
    let file = file(950);
    let answer = |interest: &Interest| -> Answers {
        if let Some(data) = cut(&file, interest) {
            return vec![(DELAY, Answer::Data(data))];
        }
        if interest.name != name("/a/file") || !interest.can_be_prefix {
            return Vec::new();
        }
        let mut probed = interest.clone();
        probed.name = name("/a/file/v=9/seg=3");
        vec![(DELAY, Answer::Data(cut(&file, &probed).expect("segment 3")))]
    };
    let mut world = World::new(config("/a/file"));
    assert_eq!(world.run(answer), Ok(()));
    assert_eq!(world.bytes(), file);
    assert_eq!(world.resolved, Some(name("/a/file/v=9")));
}

#[test]
fn a_single_packet_without_segment_number_is_an_object_too() {
    let answer = |interest: &Interest| -> Answers {
        let exact = interest.name == name("/a/note");
        let data = exact.then(|| DataBuilder::new(&interest.name).build(b"hello", &DigestSigner));
        data.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    };
    let mut world = World::new(config("/a/note"));
    assert_eq!(world.run(answer), Ok(()));
    assert_eq!(world.bytes(), b"hello");
}

#[test]
fn losses_are_repaired_and_each_retransmission_has_a_nonce_of_its_own() {
    let file = file(20_000);
    let mut rng = Rng::from_seed(5);
    let answer = honest(&file);
    let mut world = World::new(config("/a/file"));
    let lossy = |interest: &Interest| {
        if rng.below(5) == 0 { Vec::new() } else { answer(interest) }
    };
    assert_eq!(world.run(lossy), Ok(()));
    assert_eq!(world.bytes(), file);
    assert!(world.summary.retransmissions > 10);
    let mut nonces: Vec<_> = world.asked.iter().map(|interest| interest.nonce).collect();
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), world.asked.len());
}

#[test]
fn duplicates_reordering_and_delays_do_no_harm() {
    let file = file(20_000);
    let mut rng = Rng::from_seed(9);
    let answer = honest(&file);
    let mut world = World::new(config("/a/file"));
    let chaos = |interest: &Interest| -> Answers {
        let mut answers = answer(interest);
        answers.extend(answer(interest));
        for (delay, _) in &mut answers {
            *delay += Duration::from_millis(rng.below(300));
        }
        answers
    };
    assert_eq!(world.run(chaos), Ok(()));
    assert_eq!(world.bytes(), file);
    assert!(world.summary.duplicates > 0);
}

/// Data like `data` with one bit of its content flipped.
fn forged(data: &Data) -> Data {
    let mut wire = data.wire().to_vec();
    let content = data.content();
    let at = wire.windows(content.len()).position(|window| window == content).expect("content");
    wire[at] ^= 1;
    Data::decode(Bytes::from(wire)).expect("still a packet")
}

#[test]
fn forged_data_is_rejected_and_asked_for_again() {
    let file = file(3_000);
    let answer = honest(&file);
    let mut world = World::new(config("/a/file"));
    let mut count = 0;
    let liar = |interest: &Interest| -> Answers {
        count += 1;
        let mut answers = answer(interest);
        if count % 3 == 0 {
            for (_, answer) in &mut answers {
                if let Answer::Data(data) = answer {
                    *data = forged(data);
                }
            }
        }
        answers
    };
    assert_eq!(world.run(liar), Ok(()));
    assert_eq!(world.bytes(), file);
    assert!(world.summary.rejected > 3);
}

/// Judges like [`AutoVerifier`] and counts what it judged.
struct Counting(Arc<AtomicUsize>);

impl Verifier for Counting {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        self.0.fetch_add(1, Ordering::Relaxed);
        AutoVerifier.judge(info, signed_portion, value)
    }
}

#[test]
fn of_answers_that_arrive_together_each_counts_for_what_it_is() {
    let file = file(64 * SEGMENT);
    let judged = Arc::new(AtomicUsize::new(0));
    let mut config = config("/a/file/v=7");
    config.verifier = Box::new(Counting(Arc::clone(&judged)));
    let mut world = World::new(config);
    // All at one instant: for every third segment a forged answer before two good ones, for the
    // others two good ones and a forged one, and Data that nobody asked for.
    let answer = |interest: &Interest| -> Answers {
        let good = cut(&file, interest).expect("a segment");
        let segment = segment_of(interest).expect("a number");
        let stranger = DataBuilder::new(&name("/b/v=7/seg=0")).build(b"", &DigestSigner);
        let mut batch = vec![good.clone(), good.clone(), forged(&good), stranger];
        if segment.is_multiple_of(3) {
            batch.rotate_right(2);
        }
        batch.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    };
    assert_eq!(world.run(answer), Ok(()));
    assert_eq!(world.bytes(), file);
    let summary = &world.summary;
    assert_eq!((summary.rejected, summary.retransmissions), (22, 0));
    assert_eq!(summary.duplicates, 64 * 4 - 64 - 22);
    assert_eq!(judged.load(Ordering::Relaxed), 64 + 22);
}

#[test]
fn data_that_is_always_forged_ends_in_a_clear_error() {
    let file = file(3_000);
    let answer = honest(&file);
    let mut world = World::new(config("/a/file/v=7"));
    let liar = |interest: &Interest| -> Answers {
        let mut answers = answer(interest);
        for (_, answer) in &mut answers {
            if let Answer::Data(data) = answer {
                *data = forged(data);
            }
        }
        answers
    };
    let result = world.run(liar);
    assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
    assert!(world.content.is_empty());
}

#[test]
fn with_a_key_nothing_else_is_ever_accepted() {
    let file = file(2_000);
    let key = |secret: &[u8]| HmacSigner::new(secret, KeyLocator::Name(name("/a/KEY/1").value()));
    let (right, wrong) = (key(b"the right secret"), key(b"another secret"));
    let mut count = 0;
    let crowd = |interest: &Interest| -> Answers {
        count += 1;
        let Some(segment) = segment_of(interest).map(|segment| segment as usize) else {
            return Vec::new();
        };
        let content = &file[segment * SEGMENT..(segment + 1) * SEGMENT];
        let builder =
            DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(last(&file)));
        let data = match count % 4 {
            0 => builder.build(content, &right),
            1 => builder.build(&[0x66; SEGMENT], &wrong),
            2 => builder.build(&[0x66; SEGMENT], &DigestSigner),
            _ => forged(&builder.build(content, &right)),
        };
        vec![(DELAY, Answer::Data(data))]
    };
    let mut keyed = config("/a/file/v=7");
    keyed.last = Some(19);
    keyed.verifier = Box::new(KeyVerifier(PublicKey::from_hmac_secret(b"the right secret")));
    let mut world = World::new(keyed);
    let result = world.run(crowd);
    assert_eq!(result, Ok(()));
    assert_eq!(world.bytes(), file);
    assert!(world.summary.rejected >= 20);
}

#[test]
fn metadata_by_a_wrong_key_ends_the_fetch_soon_even_if_it_answers_the_probe_too() {
    let file = file(950);
    let answer = |interest: &Interest| -> Answers {
        let mut asked = interest.clone();
        asked.name = name("/a/file/32=metadata");
        vec![(DELAY, Answer::Data(metadata_of(&asked, 7, Some(last(&file)))))]
    };
    let mut keyed = config("/a/file");
    keyed.verifier = Box::new(KeyVerifier(PublicKey::from_hmac_secret(b"another secret")));
    let mut world = World::new(keyed);
    let result = world.run(answer);
    assert!(matches!(result, Err(FetchError::Untrusted { .. })), "{result:?}");
    assert!(world.now < Instant::from_millis(20_000), "{:?}", world.now);
}

#[test]
fn the_discovered_name_shows_the_convention() {
    let file = file(950);
    let (object, marker) = (name("/a/file"), Convention::Marker);
    let versioned = object.append(marker.version(7));
    let segment = |number: u64| -> Data {
        let start = number as usize * SEGMENT;
        let content = &file[start..file.len().min(start + SEGMENT)];
        DataBuilder::new(&versioned.append(marker.segment(number)))
            .final_block(marker.segment(last(&file)))
            .build(content, &DigestSigner)
    };
    let said = Metadata::new(versioned.clone()).to_bytes();
    for (has_metadata, asked) in [(true, &object), (false, &object), (false, &versioned)] {
        let answer = |interest: &Interest| -> Answers {
            let number = interest.name.last().and_then(|c| marker.parse_segment(&c));
            let data = match number {
                Some(number) if number <= last(&file) => segment(number),
                None if interest.name == object => segment(2),
                None if has_metadata => {
                    DataBuilder::new(&metadata::packet_name(&object, 1)).build(&said, &DigestSigner)
                }
                _ => return Vec::new(),
            };
            vec![(DELAY, Answer::Data(data))]
        };
        let mut config = config("/a/file");
        config.name = asked.clone();
        let mut world = World::new(config);
        assert_eq!(world.run(answer), Ok(()));
        assert_eq!(world.bytes(), file);
    }
}

#[test]
fn answers_with_the_wrong_name_count_for_nothing() {
    let file = file(1_000);
    let answer = honest(&file);
    let mut world = World::new(config("/a/file/v=7"));
    let confused = |interest: &Interest| -> Answers {
        let mut other = interest.clone();
        other.name = name("/b/file/v=7/seg=0");
        let mut answers = answer(&other);
        other.name = name("/a/file/v=8/seg=0");
        answers.extend(answer(&other));
        other.name = name("/a/file/v=7/seg=0/seg=0");
        answers.extend(answer(&other));
        answers
    };
    let result = world.run(confused);
    assert!(matches!(result, Err(FetchError::NoProgress(_))), "{result:?}");
    assert!(world.content.is_empty());
}

#[test]
fn a_producer_that_never_answers_ends_in_a_clear_error() {
    let mut world = World::new(config("/a/file"));
    let result = world.run(|_| Vec::new());
    let ended = matches!(result, Err(FetchError::NoAnswer { .. } | FetchError::NoProgress(_)));
    assert!(ended, "{result:?}");
}

#[test]
fn no_progress_ends_even_unlimited_retries() {
    let file = file(3_000);
    let answer = honest(&file);
    let mut unlimited = config("/a/file");
    unlimited.retries = None;
    let mut world = World::new(unlimited);
    let result = world.run(|interest| match segment_of(interest) {
        Some(7) => Vec::new(),
        _ => answer(interest),
    });
    assert_eq!(result, Err(FetchError::NoProgress(Duration::from_secs(60))));
    assert_eq!(world.content.len(), 29, "what could arrive was handed out");
}

#[test]
fn a_retry_budget_of_zero_asks_once() {
    let mut once = config("/a/file/v=1");
    once.retries = Some(0);
    let mut world = World::new(once);
    let result = world.run(|_| Vec::new());
    let expected = FetchError::NoAnswer { name: name("/a/file/v=1/seg=0"), attempts: 1 };
    assert_eq!(result, Err(expected));
    assert_eq!(world.asked.iter().filter(|i| segment_of(i) == Some(0)).count(), 1);
}

#[test]
fn an_application_nack_says_not_found() {
    let mut world = World::new(config("/a/file"));
    let result = world.run(|interest| {
        let builder = DataBuilder::new(&interest.name).content_type(ContentType::Nack);
        vec![(DELAY, Answer::Data(builder.build(b"", &DigestSigner)))]
    });
    assert_eq!(result, Err(FetchError::NotFound(name("/a/file"))));
    assert!(world.now < Instant::from_millis(1_000), "without waiting for timeouts");
}

#[test]
fn no_route_is_an_error_after_the_retry_budget() {
    let mut few = config("/a/file/v=7");
    few.retries = Some(3);
    let mut world = World::new(few);
    let result = world.run(|_| vec![(DELAY, Answer::Nack(NackReason::NoRoute))]);
    assert!(
        matches!(result, Err(FetchError::Refused { reason: NackReason::NoRoute, attempts: 4, .. })),
        "{result:?}"
    );
}

#[test]
fn a_duplicate_nack_is_answered_at_once_and_a_congestion_nack_reduces_the_window() {
    let file = file(5_000);
    let answer = honest(&file);
    let mut world = World::new(config("/a/file"));
    let mut nacked = BTreeMap::new();
    let result = world.run(|interest| {
        let first = nacked.insert(interest.name.clone(), ()).is_none();
        match segment_of(interest) {
            Some(5) if first => vec![(DELAY, Answer::Nack(NackReason::Duplicate))],
            Some(20) if first => vec![(DELAY, Answer::Nack(NackReason::Congestion))],
            _ => answer(interest),
        }
    });
    assert_eq!(result, Ok(()));
    assert_eq!(world.bytes(), file);
    assert_eq!((world.summary.nacks, world.summary.reductions.nack), (2, 1));
    assert_eq!(world.summary.timeouts, 0);
}

#[test]
fn marks_reduce_the_window_once_a_flight_and_cost_no_retransmission() {
    let file = file(20_000);
    let answer = honest(&file);
    let mut world = World::new(config("/a/file"));
    let marking = |interest: &Interest| -> Answers {
        let mark = matches!(segment_of(interest), Some(50..55));
        let marked = |answer| match answer {
            Answer::Data(data) if mark => Answer::Marked(data),
            other => other,
        };
        answer(interest).into_iter().map(|(delay, answer)| (delay, marked(answer))).collect()
    };
    assert_eq!(world.run(marking), Ok(()));
    assert_eq!(world.bytes(), file);
    assert_eq!((world.summary.marks, world.summary.reductions.mark), (5, 1));
    assert_eq!(world.summary.retransmissions, 0);
}

#[test]
fn an_end_that_moves_forward_is_followed() {
    let file = file(2_000);
    let mut world = World::new(config("/a/file/v=7"));
    let moving = |interest: &Interest| -> Answers {
        let Some(segment) = segment_of(interest).filter(|segment| *segment < 20) else {
            return Vec::new();
        };
        let at = segment as usize * SEGMENT;
        let end = if segment < 5 { 5 } else { 19 };
        let builder = DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(end));
        vec![(DELAY, Answer::Data(builder.build(&file[at..at + SEGMENT], &DigestSigner)))]
    };
    assert_eq!(world.run(moving), Ok(()));
    assert_eq!(world.bytes(), file);
}

#[test]
fn an_end_that_moves_back_behind_what_arrived_is_an_error() {
    let file = file(2_000);
    let mut world = World::new(config("/a/file/v=7"));
    let result = world.run(|interest| {
        let Some(segment) = segment_of(interest).filter(|s| *s < 20) else {
            return Vec::new();
        };
        let at = segment as usize * SEGMENT;
        let end = if segment == 12 { 3 } else { 19 };
        let builder = DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(end));
        vec![(DELAY, Answer::Data(builder.build(&file[at..at + SEGMENT], &DigestSigner)))]
    });
    assert_eq!(result, Err(FetchError::EndMovedBack { last: 3 }));
}

#[test]
fn a_range_brings_its_segments_and_no_others() {
    let file = file(2_000);
    let mut range = config("/a/file");
    (range.first, range.last) = (3, Some(7));
    let mut world = World::new(range);
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_eq!(world.bytes(), file[300..800]);

    let mut beyond = config("/a/file");
    beyond.first = 50;
    let mut world = World::new(beyond);
    let result = world.run(honest(&file));
    assert_eq!(result, Err(FetchError::RangeBeyondEnd { first: 50, last: 19 }));
}

#[test]
fn segments_that_are_held_are_not_asked_for() {
    let file = file(2_000);
    let mut resumed = config("/a/file/v=7");
    resumed.held = vec![0..6, 8..19];
    let mut world = World::new(resumed);
    assert_eq!(world.run(honest(&file)), Ok(()));
    let mut asked: Vec<_> = world.asked.iter().filter_map(segment_of).collect();
    asked.sort_unstable();
    asked.retain(|segment| *segment < 20);
    assert_eq!(asked, [6, 7, 19]);
}

#[test]
fn ordered_delivery_is_in_order_and_a_reader_that_stops_stops_the_window() {
    let file = file(50_000);
    let mut ordered = config("/a/file");
    ordered.delivery = Delivery::Ordered { limit_bytes: 2_000 };
    let mut world = World::new(ordered);
    world.reads = false;
    assert_eq!(world.run_until(Instant::from_millis(20_000), honest(&file)), None);
    let handed: usize = world.content.values().map(Bytes::len).sum();
    assert!((1_500..=2_000).contains(&handed), "{handed} octets were handed out");
    world.reads = true;
    world.fetch.handle(world.now, AppInput::Consumed { bytes: handed as u64 });
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_eq!(world.bytes(), file);
    assert!(world.order.is_sorted());
}

#[test]
fn a_face_that_goes_and_comes_back_costs_no_window() {
    let file = file(30_000);
    let answer = honest(&file);
    let mut world = World::new(config("/a/file"));
    world.at(Instant::from_millis(150), AppInput::FaceDown);
    world.at(Instant::from_millis(9_150), AppInput::FaceUp { receive_budget: None });
    let before = world.run_until(Instant::from_millis(9_000), &answer);
    assert_eq!(before, None, "nothing ends it while there is no way out");
    let asked = world.asked.len();
    assert_eq!(world.run_until(Instant::from_millis(9_149), &answer), None);
    assert_eq!(world.asked.len(), asked, "and nothing is asked");
    assert_eq!(world.run(answer), Ok(()));
    assert_eq!(world.bytes(), file);
    assert_eq!(world.summary.timeouts, 0);
    assert_eq!(world.summary.reductions.timeout, 0);
    assert!(world.now > Instant::from_millis(9_150));
}

#[test]
fn an_unknown_end_is_found_where_the_producer_says_no() {
    let file = file(1_000);
    let mut world = World::new(config("/a/file/v=7"));
    let result = world.run(|interest| {
        let data = match segment_of(interest) {
            Some(segment) if segment < 10 => {
                let at = segment as usize * SEGMENT;
                DataBuilder::new(&interest.name).build(&file[at..at + SEGMENT], &DigestSigner)
            }
            _ => {
                let builder = DataBuilder::new(&interest.name).content_type(ContentType::Nack);
                builder.build(b"", &DigestSigner)
            }
        };
        vec![(DELAY, Answer::Data(data))]
    });
    // Without a FinalBlockId nobody can tell a whole object from a cut one: that is an error.
    assert_eq!(result, Err(FetchError::NotFound(name("/a/file/v=7/seg=10"))));
    assert_eq!(world.bytes(), file);
}

#[test]
fn timeouts_are_noticed_at_multiples_of_the_check_interval() {
    let mut checked = config("/a/file/v=7");
    checked.rto = rto::parse("constant(rto=33ms)").expect("an estimator");
    checked.rto_check = Duration::from_millis(10);
    checked.retries = Some(1);
    let mut world = World::new(checked);
    let result = world.run(|_| Vec::new());
    assert!(result.is_err());
    assert_eq!(world.now, Instant::from_millis(80));
}

/// Ten segments, of which only the last says that it is the last; the producer refuses what follows.
fn shy_end(interest: &Interest) -> Option<Data> {
    let segment = segment_of(interest)?;
    let mut builder = DataBuilder::new(&interest.name);
    match segment {
        0..9 => {}
        9 => builder = builder.final_block(Convention::Typed.segment(9)),
        _ => builder = builder.content_type(ContentType::Nack),
    }
    Some(builder.build(b"content", &DigestSigner))
}

#[test]
fn a_refusal_from_beyond_the_end_that_overtakes_the_end_does_no_harm() {
    let mut world = World::new(config("/a/file/v=7"));
    let result = world.run(|interest| {
        let late = if segment_of(interest) == Some(9) { DELAY * 2 } else { DELAY };
        shy_end(interest).into_iter().map(|data| (late, Answer::Data(data))).collect()
    });
    assert_eq!(result, Ok(()));
    assert_eq!(world.content.len(), 10);
}

#[test]
fn a_face_that_goes_makes_no_refusal_from_beyond_the_end_final() {
    let mut world = World::new(config("/a/file/v=7"));
    let answer = |interest: &Interest| -> Answers {
        shy_end(interest).into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    };
    let but_the_last = |interest: &Interest| match segment_of(interest) {
        Some(9) => Vec::new(),
        _ => answer(interest),
    };
    assert_eq!(world.run_until(Instant::from_millis(150), but_the_last), None);
    assert_eq!(world.content.len(), 9);
    world.at(Instant::from_millis(151), AppInput::FaceDown);
    world.at(Instant::from_millis(400), AppInput::FaceUp { receive_budget: None });
    assert_eq!(world.run(answer), Ok(()));
}

#[test]
fn an_end_that_moves_back_is_an_error_even_while_earlier_segments_are_missing() {
    let mut world = World::new(config("/a/file/v=7"));
    let result = world.run(|interest| {
        let Some(segment @ 1..20) = segment_of(interest) else {
            return Vec::new();
        };
        let end = if segment == 12 { 3 } else { 19 };
        let builder = DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(end));
        vec![(DELAY, Answer::Data(builder.build(b"content", &DigestSigner)))]
    });
    assert_eq!(result, Err(FetchError::EndMovedBack { last: 3 }));
}

#[test]
fn a_segment_that_the_probe_asked_for_does_not_end_sampling() {
    let file = file(950);
    let mut sampled = config("/a/file");
    sampled.sampling = recoup_transport::rto::Sampling::PerRtt;
    let mut world = World::new(sampled);
    let result = world.run(|interest| {
        let mut asked = interest.clone();
        if interest.name == name("/a/file") {
            asked.name = name("/a/file/v=9/seg=3");
        }
        cut(&file, &asked).into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    });
    assert_eq!(result, Ok(()));
    assert!(world.summary.srtt.is_some());
}

#[test]
fn a_flood_of_forged_answers_does_not_keep_a_segment_from_being_asked_for_again() {
    let file = file(100);
    let mut trusting = config("/a/file/v=7");
    trusting.verifier = Box::new(AutoVerifier);
    let mut world = World::new(trusting);
    let mut asked = 0;
    let result = world.run(|interest| {
        let Some(data) = cut(&file, interest) else {
            return Vec::new();
        };
        asked += 1;
        if asked > 1 {
            return vec![(DELAY, Answer::Data(data))];
        }
        (2..1_000).map(|n| (n * DELAY / 2, Answer::Data(forged(&data)))).collect()
    });
    assert_eq!(result, Ok(()));
    assert!(world.now < Instant::from_millis(500), "{}", world.now);
}

#[test]
fn the_greatest_segment_numbers_are_only_numbers() {
    let mut far = config("/a/file/v=7");
    far.first = u64::MAX - 2;
    let mut world = World::new(far);
    let result = world.run(|interest| {
        let last = Convention::Typed.segment(u64::MAX - 1);
        let builder = DataBuilder::new(&interest.name).final_block(last);
        vec![(DELAY, Answer::Data(builder.build(b"content", &DigestSigner)))]
    });
    assert_eq!((result, world.content.len()), (Ok(()), 2));

    let mut farthest = config("/a/file/v=7");
    farthest.first = u64::MAX;
    let result = World::new(farthest).run(|_| Vec::new());
    assert!(matches!(result, Err(FetchError::NoProgress(_))), "{result:?}");
}

#[test]
fn what_nobody_asked_for_does_not_decide_which_version_it_is() {
    let file = file(500);
    let mut world = World::new(config("/a/file"));
    let stray = Interest::new(name("/a/file/v=3/seg=0"));
    let data = cut(&file, &stray).expect("segment 0");
    world.at(Instant::from_millis(5), AppInput::Data { data, congestion_mark: 0 });
    assert_eq!(world.run(honest(&file)), Ok(()));
    assert_ne!(world.resolved, Some(name("/a/file/v=3")));
}

#[test]
fn a_flood_of_forged_metadata_does_not_keep_discovery_from_asking_again() {
    let file = file(100);
    let mut trusting = config("/a/file");
    trusting.verifier = Box::new(AutoVerifier);
    let mut world = World::new(trusting);
    let mut asked = 0;
    let result = world.run(|interest| {
        if segment_of(interest).is_some() {
            return honest(&file)(interest);
        }
        asked += 1;
        let data = metadata_of(interest, 7, Some(0));
        match asked {
            1 => (2..1_000).map(|n| (n * DELAY / 2, Answer::Data(forged(&data)))).collect(),
            _ => vec![(DELAY, Answer::Data(data))],
        }
    });
    assert_eq!(result, Ok(()));
    assert!(world.now < Instant::from_millis(500), "{}", world.now);
}
