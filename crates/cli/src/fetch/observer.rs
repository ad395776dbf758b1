//! The observers of a fetch: counters, tables, the progress line, and the lines of -vv.
use super::traced::TraceFile;
use crate::error::Failure;
use crate::format;
use crate::output;
use crate::picture::Point;
use crate::progress::{Extent, Progress, State};
use crate::statistic::Statistics;
use recoup::folder::Files;
use recoup::tally::Tally;
use recoup_forwarder::face::Agreement;
use recoup_transport::event::{Cause, Event, Signal, Span};
use recoup_transport::loss::Phase;
use recoup_transport::time::Instant;

/// Everything that is made from the events of one fetch.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    /// The counters of what is over.
    pub tally: Tally,
    statistics: Option<Statistics>,
    progress: Option<Progress>,
    /// Content goes to standard output, and none has come yet.
    is_beside_content: bool,
    /// A line for each event is written.
    traces: bool,
    trace_files: Vec<TraceFile>,
    track: Option<Track>,
    /// Segments that were there before.
    already: u64,
    /// Bytes of content that were there before.
    pub held_bytes: u64,
    /// Of these, bytes that nothing vouched for.
    pub held_not_verified: u64,
    /// The single file was there, and stays as it is.
    pub is_kept: bool,
    /// Segments wanted, if known.
    total: Option<u64>,
    /// Of a folder.
    pub files: Option<Files>,
    /// Whether the link toward the producer recovered losses at the end.
    pub link_recovery: Agreement,
    /// Content came encrypted, and was not decrypted.
    pub is_encrypted: bool,
}

/// One point per segment, for a picture.
#[derive(Debug, Default)]
struct Track {
    points: Vec<Point>,
}

impl Observer {
    /// An observer that counts, and what else is wanted.
    pub(crate) fn new(statistics: Option<Statistics>, progress: bool, traces: bool) -> Self {
        let progress = Progress::new(progress && !traces);
        Self { statistics, progress, traces, ..Self::default() }
    }

    /// The observer with traces that it writes.
    #[must_use]
    pub(crate) fn tracing_into(self, trace_files: Vec<TraceFile>) -> Self {
        Self { trace_files, ..self }
    }

    /// The observer with the live view below its progress line.
    #[must_use]
    pub(crate) fn with_live_view(self) -> Self {
        let progress = self.progress.map(Progress::with_live_view);
        Self { progress, ..self }
    }

    /// The observer of a fetch whose content goes to standard output.
    #[must_use]
    pub(crate) fn beside_content(self) -> Self {
        let progress = self.progress.map(Progress::beside_content);
        Self { progress, is_beside_content: true, ..self }
    }

    /// Content is about to be written.
    pub(crate) fn make_way(&mut self, now: Instant) {
        if std::mem::take(&mut self.is_beside_content) {
            self.progress.iter_mut().for_each(|progress| progress.make_way(now));
        }
    }

    /// An observer that counts and keeps a point per segment.
    pub(crate) fn tracking() -> Self {
        Self { track: Some(Track::default()), ..Self::default() }
    }

    /// The points that were kept.
    pub(crate) fn points(&self) -> &[Point] {
        self.track.as_ref().map_or(&[], |track| &track.points)
    }

    /// `already` segments are there from before.
    pub(crate) fn resume(&mut self, already: u64) {
        self.already = already;
    }

    /// The range wanted begins at `first` and has so many segments, now that the end is known.
    pub(crate) fn set_total(&mut self, total: u64) {
        self.total = Some(total);
    }

    /// Records one event of a transfer, whose first Interest was at `began`.
    pub(crate) fn record(
        &mut self,
        now: Instant,
        event: &Event,
        started: Option<Instant>,
    ) -> Result<(), Failure> {
        if let Some(track) = &mut self.track {
            track.record(now, started, event);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.record(now, event)?;
        }
        self.trace_files.iter_mut().for_each(|trace| trace.record(now, event));
        if self.traces {
            output::eprint(&line(now, event));
        }
        Ok(())
    }

    /// Writes a line to standard error, above the progress line if there is one.
    pub(crate) fn eprint(&self, line: &str) {
        let line = line.replace('\n', " ");
        match &self.progress {
            Some(progress) => progress.above(|| output::eprint(&line)),
            None => output::eprint(&line),
        }
    }

    /// Ends a wake-up; these are the counters of the transfers in progress.
    pub(crate) fn show<'a>(&mut self, now: Instant, active: impl Iterator<Item = &'a Tally>) {
        let Some(progress) = self.progress.as_mut().filter(|progress| progress.is_due(now)) else {
            return;
        };
        let mut tally = self.tally.clone();
        active.for_each(|other| tally.add(other));
        let extent = match self.files {
            Some(files) => Extent::Files { done: files.fetched + files.before, of: files.listed },
            None => Extent::Segments { done: self.already + tally.segments, of: self.total },
        };
        let state = State {
            extent,
            held_bytes: self.held_bytes,
            fetched_bytes: tally.content_bytes,
            // Duplicate Data answered both transmissions.
            lost: tally.lost().saturating_sub(tally.duplicates),
            interests: tally.interests,
            last_arrival: tally.ended.max(tally.started),
            srtt: tally.srtt,
            window: tally.window,
            disconnected: tally.disconnected,
        };
        progress.show(now, &state);
    }

    /// The fetch is over: nothing stays buffered, the bar disappears.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        if let Some(progress) = &self.progress {
            progress.finish();
        }
        let traced = std::mem::take(&mut self.trace_files).into_iter().map(TraceFile::finish);
        let traced = traced.fold(Ok(()), Result::and);
        self.statistics.as_mut().map_or(Ok(()), Statistics::finish).and(traced)
    }
}

impl Track {
    fn record(&mut self, now: Instant, started: Option<Instant>, event: &Event) {
        match *event {
            Event::Received { content_bytes, delay, transmissions, .. } => {
                self.points.push(Point {
                    delay_ms: format::ms(delay.into()),
                    arrived_s: now.since(started.unwrap_or(now)).as_secs_f64(),
                    transmissions,
                    bytes: content_bytes,
                });
            }
            _ => {}
        }
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
