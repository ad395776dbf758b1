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
//! | the same and an implicit digest | that segment; the node compares the digest |
//! | `…/54=<version>` or `…`, with CanBePrefix | segment 0 |
//! | anything else | an application Nack, or silence |
//!
//! Questions that came together are answered together: their packets are laid out, then signed in one
//! go, which is faster, then sent in the order of the questions.
//!
//! In described form ([`Form::Described`]) segments have no octets: nothing is read and nothing is
//! signed, and all else is as it is with octets. Metadata and refusals have octets in both forms.
//!
//! Every segment carries the FinalBlockId. A source that changes under a version ends that version:
//! from then on its segments are unknown, and the next question for metadata opens a new one.
mod object;
mod outbox;
mod packet;
mod question;
mod signature;

use crate::application::{AppInput, AppOutput, Application, ReturnPath};
use crate::event::Event;
use crate::time::{Duration, Instant};
use object::{Object, Shelf};
use outbox::Outbox;
use packet::Packet;
use question::Question;
use recoup_packet::data::{ContentType, DataBuilder, SignatureShape};
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

/// Zeros: content of which only the length matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zeros {
    /// Its length in octets.
    pub octets: u64,
}

impl Source for Zeros {
    fn len(&self) -> u64 {
        self.octets
    }

    fn read_at(&mut self, _: Instant, _: u64, into: &mut [u8]) -> Result<(), SourceError> {
        into.fill(0);
        Ok(())
    }
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

/// Whether segments have octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Content is read and signed.
    Encoded,
    /// Segments are described packets of this shape; a source is asked for its length only. A segment
    /// that no packet of this shape can be ([`SignatureShape::Total`]) is unknown.
    Described(SignatureShape),
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
    /// Whether segments have octets.
    pub form: Form,
    /// Signer of every packet that has octets.
    pub signer: Box<dyn Signer>,
    /// Microseconds from 1970 to the beginning of the run, from which metadata takes its version.
    pub epoch_micros: u64,
}

/// Questions answered together; at most that many packets wait to be signed.
const BATCH: usize = 64;

/// A producer.
pub struct Serve {
    config: ServeConfig,
    library: Box<dyn Library>,
    shelf: Shelf,
    questions: VecDeque<(Arc<Interest>, ReturnPath)>,
    outbox: Outbox,
}

impl Serve {
    /// A producer of what is in `library`.
    pub fn new(config: ServeConfig, library: Box<dyn Library>) -> Self {
        Self {
            config,
            library,
            shelf: Shelf::default(),
            questions: VecDeque::new(),
            outbox: Outbox::default(),
        }
    }

    /// Opens the object at `path` and returns its name, version included.
    pub fn resolve(&mut self, path: &Name) -> Option<Name> {
        let object = self.shelf.latest(&self.config, self.library.as_mut(), path, Instant::ZERO)?;
        Some(object.name.clone())
    }

    fn answer(&mut self, now: Instant, interest: &Interest, path: ReturnPath) {
        let packet = match self.packet(now, interest) {
            Some(packet) => packet,
            None => {
                self.outbox.report(Event::Unknown);
                match self.config.unknown {
                    Unknown::Silence => return,
                    Unknown::Nack => self.refusal(&interest.name),
                }
            }
        };
        self.outbox.answer(packet, path);
    }

    fn packet(&mut self, now: Instant, interest: &Interest) -> Option<Packet> {
        let (config, outbox) = (&self.config, &mut self.outbox);
        // Nearly every question is for a segment of an object that is open.
        if let Some((object, segment)) = self.shelf.named(config, &interest.name) {
            return Self::cut(object, config, now, segment, Some(&interest.name), outbox);
        }
        if let Some(undigested) = question::without_digest(interest) {
            return self.packet(now, &undigested);
        }
        match Question::read(config, interest)? {
            Question::Metadata { path } => self.metadata(now, &path),
            Question::Latest { path } => self.first_segment(now, &path, None),
            Question::Version { path, version } => self.first_segment(now, &path, Some(version)),
            Question::Segment { path, version, segment } => {
                self.exact_segment(now, &path, version, segment)
            }
        }
    }

    fn metadata(&mut self, now: Instant, path: &Name) -> Option<Packet> {
        let object = self.shelf.latest(&self.config, self.library.as_mut(), path, now)?;
        let data = object.metadata(&self.config, now);
        self.outbox.report(Event::ServedMetadata);
        Some(Packet::Whole(data))
    }

    fn first_segment(&mut self, now: Instant, path: &Name, version: Option<u64>) -> Option<Packet> {
        let object = self.shelf.latest(&self.config, self.library.as_mut(), path, now)?;
        if version.is_some() && object.version != version {
            return None;
        }
        Self::cut(object, &self.config, now, 0, None, &mut self.outbox)
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
        Self::cut(object, &self.config, now, segment, None, &mut self.outbox)
    }

    /// The packet of a segment, whose `name` may be known already.
    fn cut(
        object: &mut Object,
        config: &ServeConfig,
        now: Instant,
        segment: u64,
        name: Option<&Name>,
        outbox: &mut Outbox,
    ) -> Option<Packet> {
        match object.segment(config, now, segment, name, outbox) {
            Ok(cut) => {
                let cut = cut?;
                let event = Event::Served { content_bytes: cut.content_bytes, signed: cut.signed };
                outbox.report(event);
                Some(cut.packet)
            }
            Err(_) => {
                object.end();
                outbox.report(Event::SourceEnded);
                None
            }
        }
    }

    /// The application Nack for `name`.
    fn refusal(&mut self, name: &Name) -> Packet {
        let signer = self.config.signer.as_ref();
        let laid_out: Result<_, std::convert::Infallible> = DataBuilder::new(name)
            .content_type(ContentType::Nack)
            .freshness(Duration::from_millis(10))
            .lay_out(self.outbox.room(0), 0, |_| Ok(()), signer);
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
        while self.outbox.is_empty() && !self.questions.is_empty() {
            for _ in 0..BATCH {
                let Some((interest, path)) = self.questions.pop_front() else {
                    break;
                };
                self.answer(now, &interest, path);
            }
            self.outbox.complete(self.config.signer.as_ref(), &mut self.shelf);
        }
        self.outbox.take()
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}
