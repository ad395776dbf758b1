//! The producer loop: a library of objects under one prefix, as an application of a node.
//!
//! Segments are cut on request: content is read at its offset into the packet, signed, and dropped. Only the
//! signature is kept for the next time, in a limited table. The names that are answered, below the prefix and an
//! object's path:
//!
//! | Interest | answer |
//! |---|---|
//! | `…/32=metadata` with CanBePrefix | RDR metadata of the latest version |
//! | `…/54=<version>/50=<segment>` | that segment |
//! | `…/54=<version>/32=manifest/50=<number>` | the digests of 250 segments, if there are manifests |
//! | a full name of a segment | that segment; the node compares the digest |
//! | `…/54=<version>` or `…`, with CanBePrefix | segment 0 |
//! | anything else | an application Nack, or silence |
//! | content that the library cannot read | an application Nack with this reason ([`Denial`]) |
//!
//! An application Nack leaves [`DENIAL_DELAY`] after its Interest. If another producer of the prefix has the content, and the
//! Interest reached both, that answer is first.
//!
//! Interests that arrive together are answered together: their packets are encoded, then signed in one batch, which
//! is faster, then sent in the order of the Interests.
//!
//! In described form ([`Form::Described`]) segments have no bytes: nothing is read and nothing is signed, and all
//! else is equal. Metadata and application Nacks have bytes in both forms.
//!
//! Every segment carries the FinalBlockId, and the identifier of its content if the source has one
//! ([`Source::identify`]). A version means one content:
//!
//! - Its number has bits of the identifier (`number`): content of equal time has another number, also after a restart
//!   and on another host.
//! - Before the packets of a batch leave, each source that was read is checked once
//!   ([`Source::check`]). If it changed, none of its packets leaves.
//! - A version whose source changed goes on if the content that took its place has the same version,
//!   time and length, and each segment that was served is the same in it (`renewal`). Otherwise the
//!   version ends: its segments are unknown, and the next Interest for metadata finds a new version.
//! - If the number of a version was nevertheless used for other content, the new content gets the next free
//!   number, or is not served if the number is fixed ([`Library::may_renumber`]).
//! - An Interest whose source cannot be read yet waits ([`SourceError::Unsettled`]).
mod number;
mod object;
mod options;
mod outbox;
mod packet;
mod question;
mod renewal;
mod shelf;
mod signature;
mod source;
mod waiting;

pub use number::version_number;
pub use options::{ServeOptions, Version};
pub use source::{Identified, Identity, Library, Opened, Source, SourceError, Zeros};

use crate::application::{AppInput, AppOutput, Application};
use crate::event::Event;
use crate::time::{Duration, Instant};
use object::Object;
use outbox::{Answer, Outbox};
use packet::Packet;
use question::Question;
use recoup_packet::data::{ContentType, Data, DataBuilder, SignatureShape};
use recoup_packet::denial::Denial;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::{Encrypter, Signer};
use shelf::Shelf;
use std::collections::VecDeque;
use std::sync::Arc;
use waiting::{Pending, Waiting};

/// Answer to Interests for unknown names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// An application Nack: Data of content type Nack.
    Nack,
    /// No answer.
    Silence,
}

/// Encoding of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Segments have bytes: content is read and signed.
    Encoded,
    /// Segments are described packets of this shape; only the length of a source is read. A segment that no packet of
    /// this shape can be ([`SignatureShape::Total`]) is unknown.
    Described(SignatureShape),
}

/// Configuration of a producer.
pub struct ServeConfig {
    /// Prefix of every name.
    pub prefix: Name,
    /// Naming convention of segment numbers and versions.
    pub convention: Convention,
    /// Most bytes of content in a segment.
    pub segment_bytes: usize,
    /// Freshness of segments.
    pub freshness: Duration,
    /// Freshness of metadata.
    pub metadata_freshness: Duration,
    /// Answer to Interests for unknown names.
    pub unknown: Unknown,
    /// Encoding of segments.
    pub form: Form,
    /// Signer of every packet that has bytes.
    pub signer: Box<dyn Signer>,
    /// Signer of everything but segments, which `signer` signs with digests: one manifest lists the digests of 250 segments.
    pub manifest_signer: Option<Box<dyn Signer>>,
    /// Encrypts the content of segments, before they are signed; not in described form.
    pub encrypter: Option<Arc<dyn Encrypter>>,
    /// Microseconds from 1970 to the beginning of the run, from which metadata takes its version.
    pub epoch_micros: u64,
}

impl ServeConfig {
    /// Signer of what is no segment.
    fn author(&self) -> &dyn Signer {
        self.manifest_signer.as_ref().unwrap_or(&self.signer).as_ref()
    }
}

/// Time from an Interest for an unknown name to the application Nack: longer than a consumer waits before it repeats
/// the pending Interest, so that forwarders can try another producer.
pub const DENIAL_DELAY: Duration = Duration::from_millis(40);
/// As [`DENIAL_DELAY`], for content that exists and cannot be read: earlier than a producer that lacks it.
pub const FAILURE_DELAY: Duration = Duration::from_millis(10);
/// Freshness of an application Nack, which caches should not keep; 0 would not satisfy an Interest with MustBeFresh.
pub const DENIAL_FRESHNESS: Duration = Duration::from_millis(1);

/// Questions answered together; at most that many packets wait to be signed.
const BATCH: usize = 64;

/// Reason why there is no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// The content does not exist.
    Unknown,
    /// The content may exist, and the library cannot read it.
    Unreadable(Denial),
    /// The content is not known yet; retry at that time.
    Until(Instant),
}

/// Reason why an object has no name yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// The object cannot be served.
    Unknown,
    /// The name is not known yet: the object changed a moment ago, or is being read. The next useful attempt is after
    /// this time.
    Later(Duration),
}

/// Parameters of an object that answers.
struct Context<'a> {
    config: &'a ServeConfig,
    library: &'a mut dyn Library,
    outbox: &'a mut Outbox,
    now: Instant,
}

impl Context<'_> {
    /// Opens the latest version of the object at `path`.
    fn open(&mut self, path: &Name) -> Result<Opened, Missing> {
        let why =
            |library: &dyn Library| library.failure().map_or(Missing::Unknown, Missing::Unreadable);
        self.library.open(path).ok_or_else(|| why(self.library))
    }
}

/// A producer.
pub struct Serve {
    config: ServeConfig,
    library: Box<dyn Library>,
    shelf: Shelf,
    questions: VecDeque<Pending>,
    waiting: Waiting,
    outbox: Outbox,
    /// Certificates that are answered under their own names.
    published: Vec<Data>,
}

impl Serve {
    /// A producer of the objects in `library`.
    pub fn new(config: ServeConfig, library: Box<dyn Library>) -> Self {
        Self {
            config,
            library,
            shelf: Shelf::default(),
            questions: VecDeque::new(),
            waiting: Waiting::default(),
            outbox: Outbox::default(),
            published: Vec::new(),
        }
    }

    /// Answers Interests for these certificates, too, so that consumers can verify what the producer signs. Their names need
    /// not lie below the prefix.
    pub fn publish(&mut self, certificates: Vec<Data>) {
        self.published = certificates;
    }

    /// Opens the object at `path` before any Interest arrives, and returns its name, version included.
    ///
    /// # Errors
    /// [`Unresolved`].
    pub fn resolve(&mut self, path: &Name) -> Result<Name, Unresolved> {
        let (shelf, mut context) = self.parts(Instant::ZERO);
        let id = shelf.latest(&mut context, path).map_err(|missing| match missing {
            Missing::Unknown | Missing::Unreadable(_) => Unresolved::Unknown,
            Missing::Until(until) => Unresolved::Later(until.since(Instant::ZERO)),
        })?;
        shelf.object(id).map(|object| object.name.clone()).ok_or(Unresolved::Unknown)
    }

    fn parts(&mut self, now: Instant) -> (&mut Shelf, Context<'_>) {
        let Self { config, library, outbox, .. } = self;
        (&mut self.shelf, Context { config, library: library.as_mut(), outbox, now })
    }

    fn answer(&mut self, now: Instant, pending: Pending) {
        if let Some(why) = pending.denied {
            let packet = self.nack(&pending.interest.name, why);
            return self.outbox.nack(packet, pending.path);
        }
        match self.packet(now, &pending.interest) {
            Ok(answer) => self.outbox.answer(answer, pending),
            Err(Missing::Until(until)) => self.postpone(now, until, pending),
            Err(Missing::Unknown) => self.deny(now, pending, Denial::Absent),
            Err(Missing::Unreadable(why)) => self.deny(now, pending, why),
        }
    }

    /// Answers an Interest for content that the library does not have, or cannot read: with a certificate, later with an application Nack,
    /// or not at all.
    fn deny(&mut self, now: Instant, mut pending: Pending, why: Denial) {
        let certificate = self.published.iter().find(|it| pending.interest.is_satisfied_by(it));
        if let Some(certificate) = certificate {
            self.outbox.report(Event::ServedMetadata);
            return self.outbox.nack(Packet::Whole(certificate.clone()), pending.path);
        }
        if why == Denial::Absent {
            self.outbox.report(Event::Unknown);
        }
        // Others may have what lies beside the prefix.
        let is_below = self.config.prefix.is_prefix_of(&pending.interest.name);
        if is_below && self.config.unknown == Unknown::Nack {
            // If too many wait, the consumer retransmits.
            pending.denied = Some(why);
            let delay = if why == Denial::Absent { DENIAL_DELAY } else { FAILURE_DELAY };
            self.waiting.push(now, now + delay, pending);
        }
    }

    fn packet(&mut self, now: Instant, interest: &Interest) -> Result<Answer, Missing> {
        // The usual case: an Interest for a segment of an open object.
        if let Some((id, segment)) = self.shelf.named(&self.config, &interest.name) {
            return self.cut(now, id, segment, Some(&interest.name));
        }
        if let Some(undigested) = question::without_digest(interest) {
            return self.packet(now, &undigested);
        }
        match Question::read(&self.config, interest).ok_or(Missing::Unknown)? {
            Question::Metadata { path } => self.metadata(now, &path),
            Question::Latest { path } => self.first_segment(now, &path, None),
            Question::Version { path, version } => self.first_segment(now, &path, Some(version)),
            Question::Segment { path, version, segment } => {
                self.exact_segment(now, &path, version, segment)
            }
            Question::Manifest { path, version, number } => {
                self.manifest(now, &path, version, number)
            }
        }
    }

    /// The digests of segments of the version that its name has.
    fn manifest(
        &mut self,
        now: Instant,
        path: &Name,
        version: Option<u64>,
        number: u64,
    ) -> Result<Answer, Missing> {
        let (shelf, mut context) = self.parts(now);
        let id = match shelf.find(path, version) {
            Some(id) => id,
            None => shelf.latest(&mut context, path)?,
        };
        let object = shelf.object(id).ok_or(Missing::Unknown)?;
        if object.version != version || context.config.manifest_signer.is_none() {
            return Err(Missing::Unknown);
        }
        object.decide(&mut context)?;
        match object.manifest(&mut context, number) {
            Ok(answer) => answer.ok_or(Missing::Unknown),
            Err(error) => Err(failed(object, &mut context, error)),
        }
    }

    fn metadata(&mut self, now: Instant, path: &Name) -> Result<Answer, Missing> {
        let (shelf, mut context) = self.parts(now);
        let id = shelf.latest(&mut context, path)?;
        let object = shelf.object(id).ok_or(Missing::Unknown)?;
        let packet = Packet::Whole(object.metadata(context.config, now));
        Ok(Answer { object: None, packet, event: Event::ServedMetadata })
    }

    fn first_segment(
        &mut self,
        now: Instant,
        path: &Name,
        version: Option<u64>,
    ) -> Result<Answer, Missing> {
        let (shelf, mut context) = self.parts(now);
        let id = shelf.latest(&mut context, path)?;
        let object = shelf.object(id).ok_or(Missing::Unknown)?;
        if version.is_some() && object.version != version {
            return Err(Missing::Unknown);
        }
        self.cut(now, id, 0, None)
    }

    /// A segment with a complete name: only the version in that name may answer.
    fn exact_segment(
        &mut self,
        now: Instant,
        path: &Name,
        version: Option<u64>,
        segment: u64,
    ) -> Result<Answer, Missing> {
        let (shelf, mut context) = self.parts(now);
        let id = match shelf.find(path, version) {
            Some(id) => id,
            None => shelf.latest(&mut context, path)?,
        };
        let object = shelf.object(id).ok_or(Missing::Unknown)?;
        if object.version != version {
            return Err(Missing::Unknown);
        }
        self.cut(now, id, segment, None)
    }

    /// The packet of a segment; its `name`, if known, is used.
    fn cut(
        &mut self,
        now: Instant,
        id: u64,
        segment: u64,
        name: Option<&Name>,
    ) -> Result<Answer, Missing> {
        let (shelf, mut context) = self.parts(now);
        let object = shelf.object(id).ok_or(Missing::Unknown)?;
        object.decide(&mut context)?;
        match object.segment(&mut context, segment, name) {
            Ok(answer) => answer.ok_or(Missing::Unknown),
            Err(error) => Err(failed(object, &mut context, error)),
        }
    }

    /// The application Nack for `name`, with its reason.
    fn nack(&mut self, name: &Name, why: Denial) -> Packet {
        let content = why.to_content();
        if let Some(signer) = &self.config.manifest_signer {
            let nack = DataBuilder::new(name).content_type(ContentType::Nack);
            let nack = nack.freshness(DENIAL_FRESHNESS);
            return Packet::Whole(nack.build(&content, signer.as_ref()));
        }
        let signer = self.config.signer.as_ref();
        let fill = |into: &mut [u8]| {
            into.copy_from_slice(&content);
            Ok::<_, std::convert::Infallible>(())
        };
        let laid_out = DataBuilder::new(name)
            .content_type(ContentType::Nack)
            .freshness(DENIAL_FRESHNESS)
            .lay_out(self.outbox.buffer(content.len()), content.len(), fill, signer);
        match laid_out {
            Ok(unsigned) => Packet::Unsigned(unsigned, None),
            Err(never) => match never {},
        }
    }

    fn answer_batch(&mut self, now: Instant) {
        for _ in 0..BATCH {
            let Some(pending) = self.questions.pop_front() else {
                break;
            };
            self.answer(now, pending);
        }
        self.withdraw_changed(now);
        self.outbox.complete(self.config.signer.as_ref(), &mut self.shelf);
    }

    /// Checks the sources read for this batch. If a source has changed, its Interests are answered later.
    fn withdraw_changed(&mut self, now: Instant) {
        let shelf = &mut self.shelf;
        let has_changed = |id: &u64| shelf.object(*id).is_none_or(|object| !object.check(now));
        let changed: Vec<u64> = self.outbox.take_touched().filter(has_changed).collect();
        if changed.is_empty() {
            return;
        }
        for pending in self.outbox.withdraw(&changed) {
            self.postpone(now, now + renewal::PACE, pending);
        }
    }

    fn postpone(&mut self, now: Instant, until: Instant, pending: Pending) {
        // If too many wait, the consumer retransmits.
        if !self.waiting.push(now, until, pending) {
            self.outbox.report(Event::Unknown);
        }
    }
}

/// Why an object whose source failed has no packet.
fn failed(object: &mut Object, context: &mut Context<'_>, error: SourceError) -> Missing {
    match error {
        SourceError::Unsettled { until } => Missing::Until(until),
        SourceError::Changed => {
            object.mark_changed();
            let until = Missing::Until(context.now + renewal::PACE);
            object.decide(context).err().unwrap_or(until)
        }
        SourceError::Unreadable => {
            object.end(context);
            Missing::Unreadable(Denial::Unavailable)
        }
    }
}

impl Application for Serve {
    fn handle(&mut self, _now: Instant, input: AppInput) {
        if let AppInput::Interest { interest, path } = input {
            self.questions.push_back(Pending::new(interest, path));
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        if self.outbox.is_empty() {
            self.waiting.release(now, &mut self.questions);
        }
        while self.outbox.is_empty() && !self.questions.is_empty() {
            self.answer_batch(now);
        }
        self.outbox.take()
    }

    fn deadline(&self) -> Option<Instant> {
        self.waiting.deadline()
    }
}
