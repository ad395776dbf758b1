//! Transfer of one object from its name to a reader or a file.
use crate::download::Download;
use crate::engine::Task;
use crate::error::{Error, ErrorKind, Partial, Result};
use crate::flow::{Flow, Piece, Progress};
use crate::outlet::Outlet;
use crate::session::Session;
use crate::summary::FetchSummary;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::fetch::{FetchError, FetchOptions, FetchStats};
use recoup_transport::time::Instant;
use recoup_trust::access::{EncryptedContent, NO_AUTHOR, UNREADABLE};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Called in the driver thread with each event of a fetch.
pub(crate) type Observer = Box<dyn FnMut(Instant, &Event) + Send>;

/// Fails if the object that was found under `name` is the listing of a folder, which its producer serves in place of content.
///
/// # Errors
/// [`ErrorKind::Other`]: it is.
pub(crate) fn reject_folder(name: &Name, object: &Name) -> Result<()> {
    if !is_listing(name, object) {
        return Ok(());
    }
    let remedy = format!(
        "fetch it with all that is in it: recoup fetch -r {name} -o FOLDER; its listing alone is {name}/32=ls"
    );
    Err(Error::new(ErrorKind::Other, format!("{name} is a folder")).with_remedy(remedy))
}

/// Whether the object that was found under `name` is the listing of a folder.
pub(crate) fn is_listing(name: &Name, object: &Name) -> bool {
    let found = object.suffix(name.len());
    name.is_prefix_of(object) && found.components().any(|it| it.is_keyword(b"ls"))
}

/// The error of a fetch loop with these counters. Without any answer it names `face`, toward which Interests were sent.
fn fetch_error(error: &FetchError, stats: &FetchStats, face: Option<&str>) -> Error {
    use FetchError::{NoAnswer, NoFirstAnswer, NoProgress};
    let is_silence = matches!(error, NoAnswer { .. } | NoProgress(_) | NoFirstAnswer { .. });
    if is_silence && stats.disconnected {
        return Error::new(ErrorKind::Unreachable, format!("the connection was lost: {error}"))
            .with_remedy("check that the forwarder or server still runs");
    }
    let verified = stats.segments.saturating_sub(stats.unverified);
    let is_rejection = matches!(error, FetchError::Untrusted { why, .. } if !is_encryption(why));
    let has_answer = stats.segments > 0 || matches!(error, NoProgress(_));
    match Error::from(error) {
        silence if is_silence && !has_answer => match face {
            Some(face) => silence.at(face),
            None => silence,
        },
        error if is_rejection && verified > 0 => error.with_remedy(
            "segments before were verified: others are forged, damaged or stale; try again",
        ),
        error => error,
    }
}

/// Whether the reason of a rejection is that of content that cannot be decrypted.
fn is_encryption(why: &str) -> bool {
    [UNREADABLE, NO_AUTHOR].contains(&why)
}

/// How much content one fetch, or all fetches of a folder, may take.
#[derive(Debug)]
pub(crate) struct Budget {
    most: u64,
    taken: AtomicU64,
}

impl Budget {
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicU64::new(0) })
    }

    /// Takes so many bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Condition`]: there are not as many left.
    pub(crate) fn take(&self, bytes: u64) -> Result<()> {
        let before = self.taken.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) <= self.most {
            return Ok(());
        }
        let message = format!("the content is larger than {} bytes", self.most);
        Err(Error::new(ErrorKind::Condition, message)
            .with_remedy("permit more with max_size, or read it piece by piece")
            .permanent())
    }
}

/// Destination of the content.
#[derive(Debug)]
pub(crate) enum Sink {
    /// The reader of the flow.
    Flow,
    /// A file.
    File(Box<Download>),
    /// A writer, in order.
    Writer(Outlet),
}

impl Sink {
    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Download> {
        match self {
            Self::File(download) => Some(download),
            _ => None,
        }
    }

    fn file_mut(&mut self) -> Option<&mut Download> {
        match self {
            Self::File(download) => Some(download),
            _ => None,
        }
    }

    /// A wake-up is over. Returns the bytes that a writer took.
    fn flush(&mut self) -> Result<u64> {
        match self {
            Self::Flow => Ok(0),
            Self::File(download) => download.flush().map(|()| 0),
            Self::Writer(outlet) => outlet.flush(),
        }
    }
}

/// Settings of a transfer at its start.
pub(crate) struct Order {
    pub(crate) flow: Arc<Flow>,
    pub(crate) name: Name,
    pub(crate) range: (u64, Option<u64>),
    /// Segments that are there from an earlier run.
    pub(crate) held_segments: u64,
    pub(crate) sink: Sink,
    pub(crate) budget: Option<Arc<Budget>>,
    /// The listing of a folder is as good as content.
    pub(crate) takes_folders: bool,
    pub(crate) options: FetchOptions,
    pub(crate) observer: Option<Observer>,
}

impl Drop for Order {
    fn drop(&mut self) {
        self.flow.close();
    }
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Order").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Whether a report follows from Data or a Nack that arrived.
fn is_answer(report: &Report) -> bool {
    use Event::{Nacked, Received, Rejected};
    match report {
        Report::Event(event) => matches!(event, Received { .. } | Nacked { .. } | Rejected { .. }),
        Report::Resolved { metadata, .. } => metadata.is_some(),
        Report::Content { .. } | Report::Kept => true,
        _ => false,
    }
}

/// The owner of one fetch loop.
pub(crate) struct Transfer {
    order: Order,
    stats: FetchStats,
    object: Name,
    metadata: Option<Box<Metadata>>,
    /// Identifier of the content, once it is known.
    id: Option<ObjectId>,
    begun: bool,
    bytes: u64,
    total_segments: Option<u64>,
    last: Option<u64>,
    pieces: Vec<Piece>,
    is_changed: bool,
    started: Instant,
    now: Instant,
    result: Option<Result<()>>,
    is_over: bool,
    /// The face toward producers.
    face: Option<String>,
    /// Data or a Nack has arrived.
    is_answered: bool,
}

impl Transfer {
    pub(crate) fn new(order: Order, now: Instant, face: Option<String>) -> Self {
        let mut stats = FetchStats::default();
        stats.run.segments_before = order.held_segments;
        Self {
            object: order.name.clone(),
            order,
            stats,
            metadata: None,
            id: None,
            begun: false,
            bytes: 0,
            total_segments: None,
            last: None,
            pieces: Vec::new(),
            is_changed: false,
            started: now,
            now,
            result: None,
            is_over: false,
            face,
            is_answered: false,
        }
    }

    fn take(&mut self, now: Instant, report: Report) -> Result<()> {
        self.is_answered |= is_answer(&report);
        match report {
            Report::Resolved { object, metadata } => {
                if !self.order.takes_folders {
                    reject_folder(&self.order.name, &object)?;
                }
                (self.object, self.metadata) = (*object, metadata);
                self.begin()?;
                if let (Some(download), Some(metadata)) =
                    (self.order.sink.file_mut(), &self.metadata)
                {
                    download.describe(metadata);
                }
                Ok(())
            }
            Report::Content { segment, content } => {
                self.begin()?;
                self.count(content.len() as u64)?;
                if segment == self.order.range.0 {
                    self.stats.run.is_encrypted |= EncryptedContent::is_in(&content);
                }
                match &mut self.order.sink {
                    Sink::File(download) => download.content(segment, content)?,
                    Sink::Writer(outlet) => outlet.content(content),
                    Sink::Flow => self.pieces.push((segment, content)),
                }
                Ok(())
            }
            Report::Kept => {
                self.order.sink.file_mut().into_iter().for_each(Download::keep);
                Ok(())
            }
            Report::Identified(id) => {
                self.begin()?;
                self.id = Some(id);
                self.order.sink.file_mut().map_or(Ok(()), |download| download.identified(id))
            }
            Report::Event(event) => {
                self.stats.on_event(now, &event);
                if let Some(observer) = &mut self.order.observer {
                    observer(now, &event);
                }
                match event {
                    Event::EndKnown { last } => self.end_known(last),
                    Event::Unverified { .. } => {
                        self.begin()?;
                        self.order.sink.file_mut().into_iter().for_each(Download::unverified);
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            Report::Done(result) => {
                let face = self.face.as_deref();
                self.result = Some(result.map_err(|error| fetch_error(&error, &self.stats, face)));
                if let Sink::Writer(outlet) = &mut self.order.sink {
                    outlet.close();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        tracing::debug!(object = %self.object, "the object is known");
        let run = &mut self.stats.run;
        if let Some(download) = self.order.sink.file_mut() {
            download.begin(&self.object)?;
            (run.held_bytes, run.is_kept) = (download.held_bytes(), download.is_kept());
            if download.holds_unverified() {
                run.held_not_verified = run.held_bytes;
            }
        }
        let held = run.held_bytes;
        self.count(held)
    }

    fn count(&mut self, bytes: u64) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.order.budget.as_ref().map_or(Ok(()), |budget| budget.take(bytes))
    }

    fn end_known(&mut self, last: u64) -> Result<()> {
        self.begin()?;
        let (first, wanted) = self.order.range;
        self.last = Some(last);
        let until = wanted.map_or(last, |wanted| wanted.min(last));
        self.total_segments = Some(until.saturating_add(1).saturating_sub(first));
        match self.order.sink.file_mut() {
            // A range beyond the end is the fetch loop's to report.
            Some(download) if last >= first => download.end_known(last),
            _ => Ok(()),
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            segments: self.order.held_segments + self.stats.segments,
            total_segments: self.total_segments,
            bytes: self.bytes,
            held_bytes: self.stats.run.held_bytes,
            srtt: self.stats.srtt,
            window: self.stats.window.unwrap_or(0.0),
            interests: self.stats.interests,
            // Duplicate Data answered both transmissions.
            lost: self.stats.lost().saturating_sub(self.stats.duplicates),
            is_disconnected: self.stats.disconnected,
            unanswered_for: (!self.is_answered).then(|| self.now.since(self.started)),
        }
    }

    /// Whether the fetch loop has ended, and a writer takes the last content.
    fn is_draining(&self) -> bool {
        let is_writing = matches!(&self.order.sink, Sink::Writer(outlet) if !outlet.is_done());
        is_writing && matches!(self.result, Some(Ok(())))
    }

    /// Ends the file.
    fn conclude(&mut self, result: Result<()>) -> Result<()> {
        let finished = match (result, self.order.sink.file_mut()) {
            (Ok(()), Some(download)) => download.finish(),
            (result, _) => result,
        };
        self.stats.run.total = self.now.since(self.started);
        finished.map_err(|error| self.abandon(error))
    }

    fn abandon(&mut self, error: Error) -> Error {
        let Some(download) = self.order.sink.file_mut() else {
            return error;
        };
        match download.abandon() {
            0 => error,
            bytes => error.with_partial(Partial { path: download.part_path(), bytes }),
        }
    }

    fn publish(&mut self, outcome: Option<Result<()>>) -> u64 {
        let is_changed = std::mem::take(&mut self.is_changed) || outcome.is_some();
        let (progress, begun, last, id) = (self.progress(), self.begun, self.last, self.id);
        let summary = outcome.is_some().then(|| {
            Box::new(FetchSummary::new(std::mem::take(&mut self.stats), &self.order.options))
        });
        let Self { object, metadata, pieces, .. } = self;
        self.order.flow.update(|state| {
            if is_changed {
                state.pieces.extend(pieces.drain(..));
                state.progress = progress;
                state.last = last;
                state.id = id;
                if begun && state.object.is_none() {
                    state.object = Some(object.clone());
                    state.metadata = metadata.take();
                }
                state.outcome = outcome;
                state.summary = summary;
            }
            is_changed
        })
    }
}

impl Task for Transfer {
    fn report(&mut self, now: Instant, report: Report) {
        if self.result.is_some() {
            return;
        }
        (self.now, self.is_changed) = (now, true);
        if let Err(error) = self.take(now, report) {
            self.result = Some(Err(error));
        }
    }

    fn flush(&mut self, session: &Session) -> u64 {
        self.now = session.driver.now();
        self.stats.run.is_stream = session.is_over_stream();
        let mut written = 0;
        if !matches!(self.result, Some(Err(_))) {
            match self.order.sink.flush() {
                Ok(bytes) => written = bytes,
                Err(error) => self.result = Some(Err(error)),
            }
        }
        if self.is_draining() {
            return written + self.publish(None);
        }
        let outcome = self.result.take().map(|result| self.conclude(result));
        self.is_over = outcome.is_some();
        if let Some(Err(error)) = &outcome {
            tracing::warn!(name = %self.order.name, %error, "a fetch has failed");
        }
        written + self.publish(outcome)
    }

    fn has_ended(&self) -> bool {
        self.is_over
    }

    fn fail(&mut self, error: &Error) {
        if self.is_draining() {
            // The writer has content that has all arrived: it needs no peer.
            if error.is_unreachable() {
                return;
            }
            self.result = None;
        }
        self.result.get_or_insert(Err(error.clone()));
    }

    fn cancel(&mut self) {
        let outcome = self.conclude(Err(Error::cancelled()));
        self.publish(Some(outcome));
    }

    fn is_consumer(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::time::Duration;

    fn received() -> Event {
        let rtt = Duration::from_millis(1).into();
        Event::Received {
            segment: 0,
            content_bytes: 1,
            wire_bytes: 1,
            rtt,
            delay: rtt,
            transmissions: 1,
        }
    }

    #[test]
    fn only_an_unexpected_listing_is_rejected() {
        let rejected = |name: &str, object: &str| {
            reject_folder(&name.parse().unwrap(), &object.parse().unwrap()).is_err()
        };
        assert!(rejected("/photos", "/photos/32=ls/v=7"));
        assert!(!rejected("/photos/32=ls", "/photos/32=ls/v=7"));
        assert!(!rejected("/photos/ls", "/photos/ls/v=7"));
        assert!(!rejected("/movie", "/movie/v=7"));
    }

    #[test]
    fn key_that_has_verified_is_not_doubted() {
        let (name, signers) = (Name::root(), Box::default());
        let error = FetchError::Untrusted { name, why: "is not signed by the given key", signers };
        let mut stats = FetchStats::default();
        let remedy =
            |stats: &FetchStats| fetch_error(&error, stats, None).remedy().unwrap().to_owned();
        assert!(!remedy(&stats).contains("were verified"));
        stats.on_event(Instant::ZERO, &received());
        assert!(remedy(&stats).starts_with("segments before were verified"));
    }

    #[test]
    fn silence_names_the_face_until_an_answer() {
        let name: Name = "/a".parse().unwrap();
        let within = Duration::from_secs(8);
        let mut stats = FetchStats::default();
        for error in [
            FetchError::NoFirstAnswer { name: name.clone(), within },
            FetchError::NoAnswer { name: name.clone(), attempts: 3 },
        ] {
            let text = fetch_error(&error, &stats, Some("udp4://192.0.2.7:6363")).to_string();
            assert!(text.starts_with("no answer for /a "), "{text}");
            assert!(text.contains(" at udp4://192.0.2.7:6363; check the "), "{text}");
        }
        stats.on_event(Instant::ZERO, &received());
        let late = FetchError::NoAnswer { name, attempts: 3 };
        let text = fetch_error(&late, &stats, Some("udp4://192.0.2.7:6363")).to_string();
        assert!(!text.contains("udp4"), "{text}");
    }
}
