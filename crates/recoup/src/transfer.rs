//! Transfer of one object from its name to a reader or a file.
use crate::download::Download;
use crate::engine::Task;
use crate::error::{Error, ErrorKind, Result};
use crate::flow::{Flow, Piece, Progress};
use crate::session::Session;
use crate::summary::{Algorithms, FetchSummary};
use crate::tally::Tally;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::fetch::FetchError;
use recoup_transport::time::{Duration, Instant};
use recoup_trust::access::{NO_AUTHOR, UNREADABLE};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Called in the driver thread with each event of a fetch.
pub(crate) type Observer = Box<dyn FnMut(Instant, &Event) + Send>;

/// Fails if the object that was found under `name` is the listing of a folder, which its producer serves in place of content.
///
/// # Errors
/// [`ErrorKind::Other`]: it is.
pub fn reject_folder(name: &Name, object: &Name) -> Result<()> {
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

/// The error of a fetch loop that has counted `tally`. Without any answer it names `face`, toward which Interests were sent.
pub fn fetch_error(error: &FetchError, tally: &Tally, face: Option<&str>) -> Error {
    use FetchError::{NoAnswer, NoFirstAnswer, NoProgress};
    let is_silence = matches!(error, NoAnswer { .. } | NoProgress(_) | NoFirstAnswer { .. });
    if is_silence && tally.disconnected {
        return Error::new(ErrorKind::Unreachable, format!("the connection was lost: {error}"))
            .with_remedy("check that the forwarder or server still runs");
    }
    let verified = tally.segments.saturating_sub(tally.unverified);
    let is_rejection = matches!(error, FetchError::Untrusted { why, .. } if !is_encryption(why));
    let has_answer = tally.segments > 0 || matches!(error, NoProgress(_));
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

/// Settings of a transfer at its start.
pub(crate) struct Order {
    pub(crate) flow: Arc<Flow>,
    pub(crate) name: Name,
    pub(crate) range: (u64, Option<u64>),
    /// Segments that are there from an earlier run.
    pub(crate) held_segments: u64,
    pub(crate) download: Option<Download>,
    pub(crate) budget: Option<Arc<Budget>>,
    /// The listing of a folder is as good as content.
    pub(crate) takes_folders: bool,
    pub(crate) algorithms: Algorithms,
    pub(crate) policy: String,
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
    tally: Tally,
    object: Name,
    metadata: Option<Box<Metadata>>,
    /// Identifier of the content, once it is known.
    id: Option<ObjectId>,
    /// Content of an earlier run was not verified.
    holds_unverified: bool,
    begun: bool,
    bytes: u64,
    held_bytes: u64,
    total_segments: Option<u64>,
    last: Option<u64>,
    pieces: Vec<Piece>,
    is_changed: bool,
    started: Option<Instant>,
    now: Instant,
    result: Option<Result<()>>,
    is_over: bool,
    /// The face is a stream.
    is_over_stream: bool,
    /// The face toward producers.
    face: Option<String>,
    /// Data or a Nack has arrived.
    is_answered: bool,
}

impl Transfer {
    pub(crate) fn new(order: Order, now: Instant, face: Option<String>) -> Self {
        Self {
            object: order.name.clone(),
            order,
            tally: Tally::default(),
            metadata: None,
            id: None,
            holds_unverified: false,
            begun: false,
            bytes: 0,
            held_bytes: 0,
            total_segments: None,
            last: None,
            pieces: Vec::new(),
            is_changed: false,
            started: Some(now),
            now,
            result: None,
            is_over: false,
            is_over_stream: false,
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
                if let (Some(download), Some(metadata)) = (&mut self.order.download, &self.metadata)
                {
                    download.describe(metadata);
                }
                Ok(())
            }
            Report::Content { segment, content } => {
                self.begin()?;
                self.count(content.len() as u64)?;
                match &mut self.order.download {
                    Some(download) => download.content(segment, content),
                    None => {
                        self.pieces.push((segment, content));
                        Ok(())
                    }
                }
            }
            Report::Kept => {
                self.order.download.iter_mut().for_each(Download::keep);
                Ok(())
            }
            Report::Identified(id) => {
                self.begin()?;
                self.id = Some(id);
                self.order.download.as_mut().map_or(Ok(()), |download| download.identified(id))
            }
            Report::Event(event) => {
                self.tally.record(now, &event);
                if let Some(observer) = &mut self.order.observer {
                    observer(now, &event);
                }
                match event {
                    Event::EndKnown { last } => self.end_known(last),
                    Event::Unverified { .. } => {
                        self.begin()?;
                        self.order.download.iter_mut().for_each(Download::unverified);
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            Report::Done(result) => {
                let face = self.face.as_deref();
                self.result = Some(result.map_err(|error| fetch_error(&error, &self.tally, face)));
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
        if let Some(download) = &mut self.order.download {
            download.begin(&self.object)?;
            self.held_bytes = download.held_bytes();
            self.holds_unverified = download.holds_unverified();
        }
        self.count(self.held_bytes)
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
        match &mut self.order.download {
            // A range beyond the end is the fetch loop's to report.
            Some(download) if last >= first => download.end_known(last),
            _ => Ok(()),
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            segments: self.order.held_segments + self.tally.segments,
            total_segments: self.total_segments,
            bytes: self.bytes,
            srtt: self.tally.srtt,
            window: self.tally.window.unwrap_or(0.0),
            lost: self.tally.lost(),
            is_disconnected: self.tally.disconnected,
            unanswered_for: self
                .started
                .filter(|_| !self.is_answered)
                .map(|started| self.now.since(started)),
        }
    }

    /// Ends the file. Returns the figures, or the error with what is kept.
    fn conclude(&mut self, result: Result<()>) -> Result<FetchSummary> {
        let finished = match (result, &mut self.order.download) {
            (Ok(()), Some(download)) => download.finish(),
            (result, _) => result,
        };
        match finished {
            Ok(()) => Ok(self.summary()),
            Err(error) => Err(self.abandon(error)),
        }
    }

    fn abandon(&mut self, error: Error) -> Error {
        let Some(download) = &mut self.order.download else {
            return error;
        };
        let kept = download.abandon();
        if kept == 0 || error.is_permanent() {
            return error;
        }
        let kept =
            format!("{kept} bytes are kept in {}: resume goes on", download.part_path().display());
        let remedy =
            error.remedy().map_or_else(|| kept.clone(), |remedy| format!("{remedy}; {kept}"));
        error.with_remedy(remedy)
    }

    fn summary(&self) -> FetchSummary {
        let total = self.started.map_or(Duration::ZERO, |started| self.now.since(started));
        let Order { algorithms, policy, .. } = &self.order;
        let mut summary = FetchSummary::new(&self.tally, algorithms, policy, total);
        summary.segments_before = self.order.held_segments;
        summary.held_bytes = self.held_bytes;
        summary.kept = self.order.download.as_ref().is_some_and(Download::is_kept);
        if self.holds_unverified {
            summary.verification.held_not_verified = self.held_bytes;
        }
        if self.is_over_stream { summary.over_stream() } else { summary }
    }

    fn publish(&mut self, outcome: Option<Result<FetchSummary>>) -> u64 {
        let is_changed = std::mem::take(&mut self.is_changed) || outcome.is_some();
        let (progress, begun, last, id) = (self.progress(), self.begun, self.last, self.id);
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
        (self.now, self.is_over_stream) = (session.driver.now(), session.is_over_stream());
        if self.result.is_none()
            && let Some(Err(error)) = self.order.download.as_mut().map(Download::flush)
        {
            self.result = Some(Err(error));
        }
        let outcome = self.result.take().map(|result| self.conclude(result));
        self.is_over = outcome.is_some();
        if let Some(Err(error)) = &outcome {
            tracing::warn!(name = %self.order.name, %error, "a fetch has failed");
        }
        self.publish(outcome)
    }

    fn has_ended(&self) -> bool {
        self.is_over
    }

    fn fail(&mut self, error: &Error) {
        self.result.get_or_insert(Err(error.clone()));
    }

    fn cancel(&mut self) {
        let error = self.abandon(Error::cancelled());
        self.publish(Some(Err(error)));
    }

    fn is_consumer(&self) -> bool {
        true
    }

    fn srtt(&self) -> Option<Duration> {
        self.tally.srtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut tally = Tally::default();
        let remedy = |tally: &Tally| fetch_error(&error, tally, None).remedy().unwrap().to_owned();
        assert!(!remedy(&tally).contains("were verified"));
        tally.record(Instant::ZERO, &received());
        assert!(remedy(&tally).starts_with("segments before were verified"));
    }

    #[test]
    fn silence_names_the_face_until_an_answer() {
        let name: Name = "/a".parse().unwrap();
        let within = Duration::from_secs(8);
        let mut tally = Tally::default();
        for error in [
            FetchError::NoFirstAnswer { name: name.clone(), within },
            FetchError::NoAnswer { name: name.clone(), attempts: 3 },
        ] {
            let text = fetch_error(&error, &tally, Some("udp4://192.0.2.7:6363")).to_string();
            assert!(text.starts_with("no answer for /a "), "{text}");
            assert!(text.contains(" at udp4://192.0.2.7:6363; check the "), "{text}");
        }
        tally.record(Instant::ZERO, &received());
        let late = FetchError::NoAnswer { name, attempts: 3 };
        let text = fetch_error(&late, &tally, Some("udp4://192.0.2.7:6363")).to_string();
        assert!(!text.contains("udp4"), "{text}");
    }
}
