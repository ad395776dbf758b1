//! Waiting for a forwarder or a producer that is not there yet.
use crate::error::{Error, Result};
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::time::Duration;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The peer that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// The peer at a face.
    Peer(FaceUri),
    /// A producer on this machine, where there is no forwarder.
    Producer(Name),
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Peer(uri) => uri.fmt(f),
            Self::Producer(name) => write!(f, "a producer of {name} on this machine"),
        }
    }
}

/// Called with a peer that is waited for.
type Report = Box<dyn FnMut(&Absent) + Send>;

/// How long an absent peer is waited for; a flag ends the wait early.
///
/// ```no_run
/// use recoup::patience::Patience;
/// use std::time::Duration;
/// let patience = Patience::new(Duration::from_secs(60)).reporting(|it| eprintln!("waiting for {it}"));
/// let client = recoup::Client::builder().patience(patience).connect()?;
/// # Ok::<(), recoup::Error>(())
/// ```
#[derive(Default)]
pub struct Patience {
    within: Duration,
    report: Option<Report>,
    stop: Option<Arc<AtomicBool>>,
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("within", &self.within).finish_non_exhaustive()
    }
}

impl Patience {
    /// Waits for at most `within`.
    #[must_use]
    pub fn new(within: Duration) -> Self {
        Self { within, ..Self::default() }
    }

    /// Calls `report` once when a wait begins.
    #[must_use]
    pub fn reporting(self, report: impl FnMut(&Absent) + Send + 'static) -> Self {
        Self { report: Some(Box::new(report)), ..self }
    }

    /// A wait ends as soon as the flag is set, with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    #[must_use]
    pub fn stopped_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { stop: Some(flag), ..self }
    }

    pub(crate) fn within(&self) -> Duration {
        self.within
    }

    /// Sleeps before the next attempt, unless the wait since `begun` is over: `false` then.
    ///
    /// # Errors
    /// The flag is set.
    pub(crate) fn pause(
        &mut self,
        begun: Instant,
        every: Duration,
        absent: &Absent,
    ) -> Result<bool> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Error::cancelled());
        }
        if begun.elapsed() >= self.within {
            return Ok(false);
        }
        if let Some(mut report) = self.report.take() {
            report(absent);
        }
        std::thread::sleep(every);
        Ok(true)
    }
}
