//! Local failures of a library: the reason for the producer loop, and messages for the operator.
//!
//! A file that exists and cannot be read is no absent one. Consumers choose the names, so messages are limited: each once in
//! [`INTERVAL`], and [`MOST`] in all.
use crate::source::{FileSource, SourceError};
use recoup_packet::denial::Denial;
use recoup_transport::serve::{Identified, Identity, Source, SourceError as Ended};
use recoup_transport::time::{Duration, Instant};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant as Clock;

/// Least time between two equal messages.
const INTERVAL: Duration = Duration::from_secs(60);
/// Most messages in this time.
const MOST: usize = 16;

/// Receives the message of a failure.
type Report = Box<dyn FnMut(&SourceError) + Send>;

/// Failures of one library. Its sources share them.
#[derive(Clone, Default)]
pub(super) struct Failures(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    last: Option<Denial>,
    report: Option<Report>,
    /// Messages of the last interval.
    reported: Vec<(Clock, String)>,
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failures").finish_non_exhaustive()
    }
}

impl Failures {
    pub(super) fn set_report(&self, report: Report) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).report = Some(report);
    }

    /// Why the last attempt failed, if there is something at that path.
    pub(super) fn last(&self) -> Option<Denial> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last
    }

    /// The value of an attempt to open something.
    pub(super) fn opened<T>(&self, attempt: Result<T, SourceError>) -> Option<T> {
        let error = attempt.as_ref().err();
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.last = error.and_then(SourceError::denial);
        if let Some(error) = error.filter(|_| state.last.is_some()) {
            state.report(error);
        }
        attempt.ok()
    }

    fn report(&self, error: &SourceError) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).report(error);
    }
}

impl State {
    fn report(&mut self, error: &SourceError) {
        let (now, message) = (Clock::now(), error.to_string());
        self.reported.retain(|(at, _)| now.duration_since(*at) < INTERVAL);
        let is_known = self.reported.iter().any(|(_, known)| *known == message);
        if is_known || self.reported.len() >= MOST {
            return;
        }
        self.reported.push((now, message));
        if let Some(report) = &mut self.report {
            report(error);
        }
    }
}

/// A file whose failures are reported.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) file: FileSource,
    pub(super) failures: Failures,
}

impl Watched {
    fn ended(&self, now: Instant, result: Result<(), SourceError>) -> Result<(), Ended> {
        result.map_err(|error| {
            if matches!(error, SourceError::Io { .. }) {
                self.failures.report(&error);
            }
            error.ended(now)
        })
    }
}

impl Source for Watched {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), Ended> {
        let read = self.file.read_at(offset, into);
        self.ended(now, read)
    }

    fn check(&mut self, now: Instant) -> Result<(), Ended> {
        let checked = self.file.check(now);
        self.ended(now, checked)
    }

    fn identity(&self) -> Identity {
        self.file.identity()
    }

    fn identify(&mut self, now: Instant) -> Result<Identified, Ended> {
        self.file.identify(now)
    }
}
