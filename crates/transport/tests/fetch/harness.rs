//! A fetch, a link, and producers that answer it.
use bytes::Bytes;
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::lp::anticipation::{self, Record};
use recoup_packet::lp::{Ignorable, field};
use recoup_packet::metadata;
use recoup_packet::metadata::Metadata;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, AppOutput, Application, Asked, Beside, Report};
use recoup_transport::event::Event;
use recoup_transport::fetch::FetchStats;
use recoup_transport::fetch::{Fetch, FetchConfig, FetchError, FetchOptions};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const DELAY: Duration = Duration::from_millis(20);

/// An answer to an Interest, and its delay.
pub(crate) enum Answer {
    Data(Data),
    Marked(Data),
    /// Data that reports how much its round trip was lengthened.
    Prolonged(Data, Duration),
    /// Data with the record of a node about the announced names.
    Recorded(Data, Record),
    Nack(NackReason),
}

pub(crate) type Answers = Vec<(Duration, Answer)>;

/// A fetch, a producer, and the traffic between them.
pub(crate) struct Harness {
    pub(crate) now: Instant,
    pub(crate) fetch: Fetch,
    pub(crate) agenda: BTreeMap<(Instant, u64), AppInput>,
    pub(crate) sequence: u64,
    pub(crate) content: BTreeMap<u64, Bytes>,
    pub(crate) order: Vec<u64>,
    pub(crate) resolved: Option<Name>,
    pub(crate) identified: Option<ObjectId>,
    pub(crate) is_kept: bool,
    pub(crate) summary: FetchStats,
    pub(crate) events: Vec<(Instant, Event)>,
    pub(crate) asked: Vec<Interest>,
    /// Announced names, by the name of the Interest.
    pub(crate) announced: Vec<(Name, Vec<Name>)>,
    /// Content is reported as consumed when it is delivered.
    pub(crate) reads: bool,
}

impl Harness {
    pub(crate) fn new(config: FetchConfig) -> Self {
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
            identified: None,
            is_kept: false,
            summary: FetchStats::default(),
            events: Vec::new(),
            asked: Vec::new(),
            announced: Vec::new(),
            reads: true,
        }
    }

    pub(crate) fn at(&mut self, at: Instant, input: AppInput) {
        self.sequence += 1;
        self.agenda.insert((at, self.sequence), input);
    }

    /// Polls all outputs of the instant; returns the result, if there is one.
    pub(crate) fn drain(
        &mut self,
        producer: &mut dyn FnMut(Instant, &Interest) -> Answers,
    ) -> Option<Result<(), FetchError>> {
        while let Some(output) = self.fetch.poll(self.now) {
            let (output, announced) = match output {
                AppOutput::InterestWith { interest, fields } => {
                    let value = fields.get(field::ANTICIPATED).cloned().expect("an announcement");
                    let names = anticipation::decode_names(&value).expect("names");
                    self.announced.push((interest.name.clone(), names));
                    (AppOutput::Interest(interest), value)
                }
                output => (output, Bytes::new()),
            };
            match output {
                AppOutput::Interest(interest) => {
                    let satisfied = Some(Asked::of(&interest));
                    for (delay, answer) in producer(self.now, &interest) {
                        let input = match answer {
                            Answer::Data(data) => AppInput::Data {
                                data,
                                congestion_mark: 0,
                                beside: Beside { asked: satisfied, ..Beside::default() },
                            },
                            Answer::Marked(data) => AppInput::Data {
                                data,
                                congestion_mark: 1,
                                beside: Beside { asked: satisfied, ..Beside::default() },
                            },
                            Answer::Prolonged(data, by) => {
                                let mut fields = Ignorable::default();
                                field::set_time(&mut fields, field::RTT_REDUCTION, by);
                                let fields = Some(Box::new(fields));
                                let beside = Beside { fields, asked: satisfied, provider: None };
                                AppInput::Data { data, congestion_mark: 0, beside }
                            }
                            Answer::Recorded(data, record) => {
                                let mut fields = Ignorable::default();
                                fields.set(field::ANTICIPATED, announced.clone());
                                fields.set(field::RECORDS, anticipation::with_record(&[], record));
                                let fields = Some(Box::new(fields));
                                let beside = Beside { fields, asked: satisfied, provider: None };
                                AppInput::Data { data, congestion_mark: 0, beside }
                            }
                            Answer::Nack(reason) => {
                                AppInput::Nack { interest: Arc::clone(&interest), reason }
                            }
                        };
                        self.at(self.now + delay, input);
                    }
                    self.asked.push(Arc::unwrap_or_clone(interest));
                }
                AppOutput::Report(Report::Content { segment, content }) => {
                    if self.reads {
                        let bytes = content.len() as u64;
                        self.fetch.handle(self.now, AppInput::Consumed { bytes });
                    }
                    assert!(self.content.insert(segment, content).is_none(), "handed out twice");
                    self.order.push(segment);
                }
                AppOutput::Report(Report::Resolved { object, .. }) => self.resolved = Some(*object),
                AppOutput::Report(Report::Identified(id)) => self.identified = Some(id),
                AppOutput::Report(Report::Kept) => self.is_kept = true,
                AppOutput::Report(Report::Event(event)) => {
                    self.summary.on_event(self.now, &event);
                    self.events.push((self.now, event));
                }
                AppOutput::Report(Report::Done(result)) => {
                    return Some(result.map_err(|error| *error));
                }
                AppOutput::InterestWith { .. }
                | AppOutput::Data { .. }
                | AppOutput::Nack { .. }
                | AppOutput::KeepAlive
                | AppOutput::Report(Report::Registered { .. } | Report::Managed(_)) => {
                    unreachable!("not a producer")
                }
            }
        }
        let deadline = self.fetch.deadline();
        assert!(deadline.is_none_or(|at| at > self.now), "the law of the deadline");
        None
    }

    /// Runs until the fetch ends or `limit` has passed.
    pub(crate) fn run_until(
        &mut self,
        limit: Instant,
        mut producer: impl FnMut(&Interest) -> Answers,
    ) -> Option<Result<(), FetchError>> {
        self.run_timed_until(limit, &mut |_, interest| producer(interest))
    }

    fn run_timed_until(
        &mut self,
        limit: Instant,
        producer: &mut dyn FnMut(Instant, &Interest) -> Answers,
    ) -> Option<Result<(), FetchError>> {
        loop {
            if let Some(result) = self.drain(producer) {
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

    pub(crate) fn run(
        &mut self,
        mut producer: impl FnMut(&Interest) -> Answers,
    ) -> Result<(), FetchError> {
        self.run_timed(|_, interest| producer(interest))
    }

    /// As [`run`](Self::run), with a producer that knows the time.
    pub(crate) fn run_timed(
        &mut self,
        mut producer: impl FnMut(Instant, &Interest) -> Answers,
    ) -> Result<(), FetchError> {
        let limit = Instant::from_millis(600_000);
        let ended = self.run_timed_until(limit, &mut producer);
        ended.expect("the fetch ends within ten minutes")
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.content.values().flatten().copied().collect()
    }
}

pub(crate) fn name(uri: &str) -> Name {
    uri.parse().expect("a valid name")
}

/// A fetch with CUBIC and the timer of RFC 6298, whose losses are declared by timers, exactly when they expire.
pub(crate) fn config(uri: &str) -> FetchConfig {
    with_options(uri, |_| {})
}

/// A configuration with changed options.
pub(crate) fn with_options(uri: &str, change: impl FnOnce(&mut FetchOptions)) -> FetchConfig {
    let mut options = FetchOptions {
        rto: "jacobson".parse().expect("an estimator"),
        congestion: "cubic".parse().expect("a window"),
        loss: "timeout".parse().expect("a detector"),
        rto_check: Duration::ZERO,
        ..FetchOptions::default()
    };
    change(&mut options);
    FetchConfig::new(name(uri), options, Rng::from_seed(1))
}

pub(crate) fn file(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 7 + i / 251) as u8).collect()
}

pub(crate) const SEGMENT: usize = 100;

/// An application Nack for `name`, as producers of earlier versions make it.
pub(crate) fn denial(name: &Name) -> Data {
    let builder = DataBuilder::new(name).content_type(ContentType::Nack);
    builder.freshness(Duration::from_millis(10)).build(b"", &DigestSigner)
}

/// The last segment of `file`.
pub(crate) fn last(file: &[u8]) -> u64 {
    (file.len().saturating_sub(1) / SEGMENT) as u64
}

pub(crate) fn segment_of(interest: &Interest) -> Option<u64> {
    Convention::Typed.parse_segment(&interest.name.last()?)
}

/// The genuine Data for a segment Interest.
pub(crate) fn cut(file: &[u8], interest: &Interest) -> Option<Data> {
    let segment = segment_of(interest)? as usize;
    if segment as u64 > last(file) {
        return None;
    }
    let content = &file[segment * SEGMENT..file.len().min((segment + 1) * SEGMENT)];
    let builder =
        DataBuilder::new(&interest.name).final_block(Convention::Typed.segment(last(file)));
    Some(builder.build(content, &DigestSigner))
}

/// A correct producer: metadata and segments of version 7.
pub(crate) fn honest(file: &[u8]) -> impl Fn(&Interest) -> Answers + '_ {
    |interest| {
        let data = match segment_of(interest) {
            Some(_) => cut(file, interest),
            None => Some(metadata_of(interest, 7, Some(last(file)))),
        };
        data.into_iter().map(|data| (DELAY, Answer::Data(data))).collect()
    }
}

pub(crate) fn metadata_of(interest: &Interest, version: u64, final_block: Option<u64>) -> Data {
    let object = interest.name.prefix(interest.name.len() - 1);
    let versioned = object.append(Convention::Typed.version(version));
    let content = Metadata { final_block, ..Metadata::new(versioned) }.to_bytes();
    DataBuilder::new(&metadata::packet_name(&object, 1)).build(&content, &DigestSigner)
}

/// Data like `data` with one bit of its content flipped.
pub(crate) fn forged(data: &Data) -> Data {
    let mut wire = data.wire().to_vec();
    let content = data.content();
    let at = wire.windows(content.len()).position(|window| window == content).expect("content");
    wire[at] ^= 1;
    Data::decode(Bytes::from(wire)).expect("still a packet")
}
