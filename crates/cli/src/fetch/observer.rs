//! The observers of a fetch: tables, traces, the progress line, and the lines of -vv.
use super::args::FetchArgs;
use super::is_dash;
use super::traced::TraceFile;
use crate::error::Failure;
use crate::format;
use crate::output;
use crate::progress::{Extent, Progress, State};
use crate::statistic::Statistics;
use recoup::Files;
use recoup_transport::event::{Cause, Event, Signal, Span};
use recoup_transport::loss::Phase;
use recoup_transport::time::Instant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything that is made from the events of one fetch, and its progress line.
#[derive(Debug)]
pub(super) struct Observer {
    record: Arc<Mutex<Record>>,
    /// Events are recorded or printed.
    is_recording: bool,
    line: Line,
}

/// Tables, traces and lines, made from events.
#[derive(Debug)]
struct Record {
    statistics: Option<Statistics>,
    trace_files: Vec<TraceFile>,
    /// A line for each event is written.
    prints: bool,
    /// The first failure of a table.
    failure: Option<Failure>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer {
    /// The observer that the options want.
    pub(super) fn new(args: &FetchArgs) -> Result<Self, Failure> {
        let statistics = args.statistics.as_deref().map(Statistics::create).transpose()?;
        let traces = args.trace.iter().map(|path| TraceFile::create(path, &args.name));
        let trace_files = traces.collect::<Result<Vec<_>, _>>()?;
        let prints = args.traces();
        let is_recording = statistics.is_some() || !trace_files.is_empty() || prints;
        let record = Record { statistics, trace_files, prints, failure: None };
        let record = Arc::new(Mutex::new(record));
        Ok(Self { record, is_recording, line: Line::new(args) })
    }

    /// The progress line.
    pub(super) fn line(&self) -> Line {
        self.line.clone()
    }

    /// Takes events, if they are recorded or printed.
    pub(super) fn recorder(&self) -> Option<impl FnMut(Instant, &Event) + Send + use<>> {
        let record = self.is_recording.then(|| Arc::clone(&self.record))?;
        Some(move |now, event: &Event| lock(&record).on_event(now, event))
    }

    /// Whether a table cannot be written.
    pub(super) fn has_failed(&self) -> bool {
        lock(&self.record).failure.is_some()
    }

    /// Why a table cannot be written.
    pub(super) fn take_failure(&self) -> Option<Failure> {
        lock(&self.record).failure.take()
    }

    /// Shows the progress of an object, or of a folder with these files.
    pub(super) fn show(&self, files: Option<Files>, progress: &recoup::Progress) {
        self.line.show(files, progress);
    }

    /// The fetch is over: nothing stays buffered, the bar disappears.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        self.line.finish();
        let mut record = lock(&self.record);
        let traced = std::mem::take(&mut record.trace_files).into_iter().map(TraceFile::finish);
        let traced = traced.fold(Ok(()), Result::and);
        record.statistics.as_mut().map_or(Ok(()), Statistics::finish).and(traced)
    }
}

impl Record {
    fn on_event(&mut self, now: Instant, event: &Event) {
        if let Some(Err(failure)) = self.statistics.as_mut().map(|it| it.record(now, event)) {
            self.failure.get_or_insert(failure);
        }
        self.trace_files.iter_mut().for_each(|trace| trace.record(now, event));
        if self.prints {
            output::eprint(&line(now, event));
        }
    }
}

/// The progress line of a fetch, if there is one.
#[derive(Clone, Debug)]
pub(super) struct Line(Option<Arc<Mutex<Drawn>>>);

#[derive(Debug)]
struct Drawn {
    progress: Progress,
    begun: std::time::Instant,
    /// Content goes to standard output, and none has come yet.
    is_beside_content: bool,
    /// Segments and bytes of the last arrival, and its time.
    arrived: Option<(u64, u64, Instant)>,
}

impl Line {
    fn new(args: &FetchArgs) -> Self {
        let is_beside_content = args.output.as_deref().is_none_or(is_dash);
        let progress = Progress::new(!args.quiet && !args.traces());
        let progress = progress.map(|it| if args.live { it.with_live_view() } else { it });
        let progress = progress.map(|it| if is_beside_content { it.beside_content() } else { it });
        let begun = std::time::Instant::now();
        let drawn = |progress| Drawn { progress, begun, is_beside_content, arrived: None };
        Self(progress.map(|progress| Arc::new(Mutex::new(drawn(progress)))))
    }

    /// Writes a line to standard error, above the progress line if there is one.
    pub(super) fn eprint(&self, line: &str) {
        let line = line.replace('\n', " ");
        match &self.0 {
            Some(drawn) => lock(drawn).progress.above(|| output::eprint(&line)),
            None => output::eprint(&line),
        }
    }

    /// Content is about to be written to standard output.
    pub(super) fn make_way(&self) {
        let Some(mut drawn) = self.0.as_ref().map(|drawn| lock(drawn)) else {
            return;
        };
        if std::mem::take(&mut drawn.is_beside_content) {
            let now = drawn.now();
            drawn.progress.make_way(now);
        }
    }

    fn show(&self, files: Option<Files>, progress: &recoup::Progress) {
        let Some(mut drawn) = self.0.as_ref().map(|drawn| lock(drawn)) else {
            return;
        };
        let now = drawn.now();
        let last_arrival = drawn.last_arrival(now, progress);
        if !drawn.progress.is_due(now) {
            return;
        }
        let extent = match files {
            Some(files) => Extent::Files { done: files.fetched + files.before, of: files.listed },
            None => Extent::Segments { done: progress.segments, of: progress.total_segments },
        };
        let state = State {
            extent,
            held_bytes: progress.held_bytes,
            fetched_bytes: progress.bytes.saturating_sub(progress.held_bytes),
            lost: progress.lost,
            interests: progress.interests,
            last_arrival,
            srtt: progress.srtt,
            window: Some(progress.window).filter(|window| *window > 0.0),
            disconnected: progress.is_disconnected,
        };
        drawn.progress.show(now, &state);
    }

    fn finish(&self) {
        if let Some(drawn) = &self.0 {
            lock(drawn).progress.finish();
        }
    }
}

impl Drawn {
    fn now(&self) -> Instant {
        Instant::ZERO + self.begun.elapsed()
    }

    /// Time of the last arrival; `None` before the first Interest for a segment.
    fn last_arrival(&mut self, now: Instant, progress: &recoup::Progress) -> Option<Instant> {
        if progress.interests == 0 {
            return None;
        }
        let (segments, bytes) = (progress.segments, progress.bytes);
        let (_, _, at) = match self.arrived {
            Some(arrived) if (arrived.0, arrived.1) == (segments, bytes) => arrived,
            _ => *self.arrived.insert((segments, bytes, now)),
        };
        Some(at)
    }
}

/// An event as a line of -vv.
pub(crate) fn line(now: Instant, event: &Event) -> String {
    let ms = |span: Span| format::milliseconds(format::ms(span.into()));
    let what = match *event {
        Event::Probed => "sent a discovery Interest".into(),
        Event::Sent { segment, transmissions: 1, rto } => {
            format!("sent {segment} (rto {} ms)", ms(rto))
        }
        Event::Sent { segment, transmissions, rto } => {
            format!("sent {segment} again, time {transmissions} (rto {} ms)", ms(rto))
        }
        Event::Received { segment, content_bytes, rtt, .. } => {
            format!("received {segment}: {content_bytes} bytes, rtt {} ms", ms(rtt))
        }
        Event::Sampled { rtt, srtt, rttvar, rto, .. } => {
            let (rtt, srtt, rttvar, rto) = (ms(rtt), ms(srtt), ms(rttvar), ms(rto));
            format!("rtt {rtt} ms: srtt {srtt} ms, rttvar {rttvar} ms, rto {rto} ms")
        }
        Event::Window { window, ssthresh, delay_window: 0.0 } => {
            format!("window {window:.2}, ssthresh {ssthresh:.2}")
        }
        Event::Window { window, ssthresh, delay_window } => {
            format!(
                "window {window:.2}, of it delay window {delay_window:.2}, ssthresh {ssthresh:.2}"
            )
        }
        Event::TimedOut { segment } => format!("timed out {segment}"),
        Event::Reduced { cause } => format!("window reduced for {}", signal(cause)),
        Event::Lost { segment } => format!("lost {segment}, as later segments came before it"),
        Event::Repaired { segment } => format!("repaired {segment} before any timer"),
        Event::Phase { phase: Phase::Normal } => "nothing is suspected (normal)".into(),
        Event::Phase { phase: Phase::Pre } => "segments come out of order (pre-recovery)".into(),
        Event::Phase { phase: Phase::Fast } => "repairing losses (fast recovery)".into(),
        Event::Spurious { segment, .. } => format!("retransmission of {segment} was spurious"),
        Event::Explained { segment, cause: Cause::Wireless, .. } => {
            format!("{segment} was lost by a link, not by congestion")
        }
        Event::Explained { segment, cause: Cause::Mobility, .. } => {
            format!("{segment} was lost because a node moved")
        }
        Event::Explained { segment, cause, .. }
        | Event::Inferred { segment, cause, holds: true } => {
            format!("{segment} was lost, probably {}", probable(cause))
        }
        Event::Inferred { segment, holds: false, .. } => {
            format!("what was inferred of the loss of {segment} was wrong")
        }
        Event::Prolonged { segment, by } => {
            format!("nodes on the way took {} ms of the round trip of {segment}", ms(by))
        }
        Event::LeftOut { segment } => format!("{segment} is left out"),
        Event::Withdrawn { segment } => format!("{segment} came too late to be used"),
        Event::Marked { segment } => format!("congestion mark on {segment}"),
        Event::Nacked { segment: Some(segment), reason } => format!("Nack for {segment}: {reason}"),
        Event::Nacked { segment: None, reason } => format!("Nack for the version: {reason}"),
        Event::Duplicate => "received a duplicate".into(),
        Event::Rejected { segment: Some(segment), why } => format!("rejected {segment}: {why}"),
        Event::Rejected { segment: None, why } => format!("rejected the version: {why}"),
        Event::Unverified { segment } => format!("not verified: {segment}"),
        Event::EndKnown { last } => format!("last segment is {last}"),
        Event::Disconnected => "no route".into(),
        Event::Connected => "connected".into(),
        Event::Served { content_bytes, .. } => format!("served {content_bytes} bytes"),
        Event::ServedMetadata => "served metadata".into(),
        Event::Unknown => "received an Interest for an unknown name".into(),
        Event::SourceEnded => "the content changed: this version has ended".into(),
        Event::Undone => "the last window reduction is undone".into(),
    };
    format!("{:>12.6} {what}", now.as_secs_f64())
}

fn probable(cause: Cause) -> &'static str {
    match cause {
        Cause::Congestion => "by congestion",
        Cause::Random | Cause::Wireless => "at random: no queue was full",
        Cause::Mobility => "because a node moved",
    }
}

fn signal(cause: Signal) -> &'static str {
    match cause {
        Signal::Timeout => "a timeout",
        Signal::Nack => "a Nack",
        Signal::Mark => "a congestion mark",
        Signal::Order => "a loss",
    }
}
