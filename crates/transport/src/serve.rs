//! The producer loop: a library of objects under one prefix, as an application of a node.
//!
//! Segments are cut when they are asked for: content is read at its offset straight into the packet,
//! signed, and forgotten; only the signature is kept, in a bounded table, for the next time. The
//! names that are answered, below the prefix and an object's path:
//!
//! | Interest | answer |
//! |---|---|
//! | `…/32=metadata` with CanBePrefix | RDR metadata of the latest version |
//! | `…/54=<version>/50=<segment>` | that segment |
//! | `…/54=<version>` or `…`, with CanBePrefix | segment 0 |
//! | anything else | an application Nack, or silence |
//!
//! Questions that came together are answered together: their packets are laid out, then signed in one
//! go, which is faster, then sent in the order of the questions.
//!
//! Every segment carries the FinalBlockId. A source that changes under a version ends that version:
//! from then on its segments are unknown, and the next question for metadata opens a new one.
mod object;
mod packet;
mod signature;

use crate::application::{AppInput, AppOutput, Application, Report, ReturnPath};
use crate::event::Event;
use crate::time::{Duration, Instant};
use bytes::BytesMut;
use object::{Object, Shelf};
use packet::Packet;
use recoup_packet::data::{ContentType, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::Signer;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Why a source cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It is not what it was when it was opened.
    #[error("it changed while it was served")]
    Changed,
    /// The operating system refused.
    #[error("it can no longer be read")]
    Unreadable,
}

/// Content of one version of one object.
pub trait Source: fmt::Debug {
    /// Its length in octets; never changes.
    fn len(&self) -> u64;

    /// There is no content.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `into` with the content from `offset` on.
    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError>;
}

/// An object that was opened.
#[derive(Debug)]
pub struct Opened {
    /// Its content.
    pub source: Box<dyn Source>,
    /// Its version, or `None` where objects have no versions.
    pub version: Option<u64>,
    /// What stands between the object's path and its version, such as `32=ls` for a listing.
    pub suffix: Option<Name>,
    /// Time of its last change, in nanoseconds since 1970, for the metadata.
    pub mtime_ns: Option<u64>,
    /// File type and permissions as in `stat(2)`, for the metadata.
    pub mode: Option<u64>,
}

/// What there is to serve. A path is what follows the prefix: empty for a single file.
pub trait Library: fmt::Debug {
    /// Opens the latest version of the object at `path`, or `None` if there is no such object.
    fn open(&mut self, path: &Name) -> Option<Opened>;
}

/// How a producer answers names that it does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// With Data of content type Nack.
    Nack,
    /// Not at all.
    Silence,
}

/// What to serve and how.
pub struct ServeConfig {
    /// Prefix of every name.
    pub prefix: Name,
    /// How segment numbers and versions are written.
    pub convention: Convention,
    /// Most octets of content in a segment.
    pub segment_bytes: usize,
    /// Freshness of segments.
    pub freshness: Duration,
    /// Freshness of metadata.
    pub metadata_freshness: Duration,
    /// What becomes of unknown names.
    pub unknown: Unknown,
    /// Signer of every packet.
    pub signer: Box<dyn Signer>,
    /// Microseconds from 1970 to the beginning of the run, from which metadata takes its version.
    pub epoch_micros: u64,
}

/// Octets asked from the allocator at a time for outgoing packets.
const POOL_BYTES: usize = 256 * 1024;

/// Questions answered together; at most that many packets wait to be signed.
const BATCH: usize = 64;

/// What is to be put out once the packets before it are signed.
#[derive(Debug)]
enum Draft {
    Report(Event),
    Answer(Packet, ReturnPath),
}

/// A producer.
pub struct Serve {
    config: ServeConfig,
    library: Box<dyn Library>,
    shelf: Shelf,
    pool: BytesMut,
    questions: VecDeque<(Arc<Interest>, ReturnPath)>,
    drafts: Vec<Draft>,
    outputs: VecDeque<AppOutput>,
}

/// What an Interest asks for.
#[derive(Debug, PartialEq, Eq)]
enum Question {
    Metadata { path: Name },
    Segment { path: Name, version: Option<u64>, segment: u64 },
    Latest { path: Name },
    Version { path: Name, version: u64 },
}

impl Serve {
    /// A producer of what is in `library`.
    pub fn new(config: ServeConfig, library: Box<dyn Library>) -> Self {
        Self {
            config,
            library,
            shelf: Shelf::default(),
            pool: BytesMut::new(),
            questions: VecDeque::new(),
            drafts: Vec::new(),
            outputs: VecDeque::new(),
        }
    }

    /// Opens the object at `path` and returns its name, version included.
    pub fn resolve(&mut self, path: &Name) -> Option<Name> {
        let object = self.shelf.latest(&self.config, self.library.as_mut(), path, Instant::ZERO)?;
        Some(object.name.clone())
    }

    fn answer(&mut self, now: Instant, interest: &Interest, path: ReturnPath) {
        self.reserve();
        let answer = match self.question(interest) {
            None => None,
            Some(Question::Metadata { path }) => self.metadata(now, &path),
            Some(Question::Latest { path }) => self.segment(now, &path, None, 0),
            Some(Question::Version { path, version }) => self.segment(now, &path, Some(version), 0),
            Some(Question::Segment { path, version, segment }) => {
                self.exact_segment(now, &path, version, segment)
            }
        };
        let packet = match answer {
            Some(packet) => packet,
            None => {
                self.drafts.push(Draft::Report(Event::Unknown));
                match self.config.unknown {
                    Unknown::Silence => return,
                    Unknown::Nack => self.refusal(&interest.name),
                }
            }
        };
        self.drafts.push(Draft::Answer(packet, path));
    }

    /// Signs what was laid out and puts everything out, in order.
    fn complete(&mut self) {
        let portions: Vec<&[u8]> = (self.drafts.iter())
            .filter_map(|draft| match draft {
                Draft::Answer(packet, _) => packet.signed_portion(),
                Draft::Report(_) => None,
            })
            .collect();
        let mut signatures = self.config.signer.sign_many(&portions).into_iter();
        for draft in self.drafts.drain(..) {
            let output = match draft {
                Draft::Report(event) => AppOutput::Report(Report::Event(event)),
                Draft::Answer(Packet::Whole(data), path) => AppOutput::Data { data, path },
                Draft::Answer(Packet::Unsigned(unsigned, origin), path) => {
                    let signature = signatures.next().unwrap_or_default();
                    if let Some(origin) = origin {
                        self.shelf.keep_signature(origin, &signature);
                    }
                    AppOutput::Data { data: unsigned.finish(&signature), path }
                }
            };
            self.outputs.push_back(output);
        }
    }

    fn reserve(&mut self) {
        if self.pool.capacity() < self.config.segment_bytes + 1_024 {
            self.pool.reserve(POOL_BYTES);
        }
    }

    /// Reads the name of an Interest from its end.
    fn question(&self, interest: &Interest) -> Option<Question> {
        let (name, config) = (&interest.name, &self.config);
        if !config.prefix.is_prefix_of(name) {
            return None;
        }
        let path = |count: usize| name.suffix(config.prefix.len()).prefix(count);
        let rest = name.len() - config.prefix.len();
        let last = if rest > 0 { name.last() } else { None };
        let Some(last) = last else {
            return interest.can_be_prefix.then(|| Question::Latest { path: path(rest) });
        };
        if last.is_keyword(b"metadata") {
            return interest.can_be_prefix.then(|| Question::Metadata { path: path(rest - 1) });
        }
        if let Some(segment) = config.convention.parse_segment(&last) {
            let version = if rest > 1 { name.get(name.len() - 2) } else { None };
            let version = version.and_then(|c| config.convention.parse_version(&c));
            let path = path(rest - 1 - usize::from(version.is_some()));
            return Some(Question::Segment { path, version, segment });
        }
        if !interest.can_be_prefix {
            return None;
        }
        match config.convention.parse_version(&last) {
            Some(version) => Some(Question::Version { path: path(rest - 1), version }),
            None => Some(Question::Latest { path: path(rest) }),
        }
    }

    fn metadata(&mut self, now: Instant, path: &Name) -> Option<Packet> {
        let object = self.shelf.latest(&self.config, self.library.as_mut(), path, now)?;
        let data = object.metadata(&self.config, now);
        self.drafts.push(Draft::Report(Event::ServedMetadata));
        Some(Packet::Whole(data))
    }

    fn segment(
        &mut self,
        now: Instant,
        path: &Name,
        version: Option<u64>,
        segment: u64,
    ) -> Option<Packet> {
        let object = self.shelf.latest(&self.config, self.library.as_mut(), path, now)?;
        if version.is_some() && object.version != version {
            return None;
        }
        Self::cut(object, &self.config, now, segment, &mut self.pool, &mut self.drafts)
    }

    /// A segment whose name is complete: only the version that it names will do.
    fn exact_segment(
        &mut self,
        now: Instant,
        path: &Name,
        version: Option<u64>,
        segment: u64,
    ) -> Option<Packet> {
        let object = match self.shelf.find(path, version) {
            Some(object) => object,
            None => self.shelf.latest(&self.config, self.library.as_mut(), path, now)?,
        };
        if object.version != version {
            return None;
        }
        Self::cut(object, &self.config, now, segment, &mut self.pool, &mut self.drafts)
    }

    fn cut(
        object: &mut Object,
        config: &ServeConfig,
        now: Instant,
        segment: u64,
        pool: &mut BytesMut,
        drafts: &mut Vec<Draft>,
    ) -> Option<Packet> {
        match object.segment(config, now, segment, pool) {
            Ok(cut) => {
                let cut = cut?;
                let event = Event::Served { content_bytes: cut.content_bytes, signed: cut.signed };
                drafts.push(Draft::Report(event));
                Some(cut.packet)
            }
            Err(_) => {
                object.end();
                drafts.push(Draft::Report(Event::SourceEnded));
                None
            }
        }
    }

    /// The application Nack for `name`.
    fn refusal(&mut self, name: &Name) -> Packet {
        let laid_out: Result<_, std::convert::Infallible> = DataBuilder::new(name)
            .content_type(ContentType::Nack)
            .freshness(Duration::from_millis(10))
            .lay_out(&mut self.pool, 0, |_| Ok(()), self.config.signer.as_ref());
        match laid_out {
            Ok(unsigned) => Packet::Unsigned(unsigned, None),
            Err(never) => match never {},
        }
    }
}

impl Application for Serve {
    fn handle(&mut self, _now: Instant, input: AppInput) {
        if let AppInput::Interest { interest, path } = input {
            self.questions.push_back((interest, path));
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        while self.outputs.is_empty() && !self.questions.is_empty() {
            for _ in 0..BATCH {
                let Some((interest, path)) = self.questions.pop_front() else {
                    break;
                };
                self.answer(now, &interest, path);
            }
            self.complete();
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}
