//! The tracks of a consumer: its segments, its curves, and what it noticed.
//!
//! | track | content |
//! |---|---|
//! | the consumer | instants: timeouts, losses, reductions of the window, marks, Nacks |
//! | `window`, `RTO`, `RTT` | curves |
//! | `segments` | a slice for each segment, from its first Interest to its Data |
use crate::writer::{Lane, Lanes, Track, Writer, number};
use recoup_transport::event::{Event, Span};
use recoup_transport::time::Instant;
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

/// A consumer's tracks.
#[derive(Debug)]
pub struct Consumer {
    track: Track,
    window: Track,
    rto: Track,
    rtt: Track,
    segments: Lanes,
    /// Segments on their way.
    open: HashMap<u64, Lane>,
}

impl Consumer {
    /// Tracks of a consumer, below `parent`.
    pub fn new<W: Write>(writer: &mut Writer<W>, name: &str, parent: Option<Track>) -> Self {
        let track = writer.track(name, parent, None);
        let mut curve = |name, unit| writer.track(name, Some(track), Some(unit));
        let (window, rto, rtt) =
            (curve("window", "segments"), curve("RTO", "ms"), curve("RTT", "ms"));
        Self {
            track,
            window,
            rto,
            rtt,
            segments: Lanes::new(track, "segments"),
            open: HashMap::new(),
        }
    }

    /// The first Interest for a segment is sent. Slices with the same flow are joined by arrows.
    pub fn begin<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        now: Instant,
        segment: u64,
        flow: Option<u64>,
    ) {
        let lane = self.segments.take(writer, now);
        writer.begin(now, lane, format!("segment {segment}"), flow, Vec::new());
        if let Some(before) = self.open.insert(segment, lane) {
            self.segments.end(writer, now, before);
        }
    }

    /// Notes an event, other than Interests that are sent.
    pub fn on<W: Write>(&mut self, writer: &mut Writer<W>, now: Instant, event: &Event) {
        let mark = match *event {
            Event::Received { segment, .. } => return self.end(writer, now, segment),
            Event::Sampled { rtt, rto, .. } => {
                writer.value(now, self.rtt, millis(rtt));
                return writer.value(now, self.rto, millis(rto));
            }
            Event::Window { window, .. } => return writer.value(now, self.window, window),
            Event::LeftOut { segment } => {
                self.end(writer, now, segment);
                format!("segment {segment} left out")
            }
            Event::TimedOut { segment } => format!("timeout of segment {segment}"),
            Event::Lost { segment } => format!("segment {segment} declared lost"),
            Event::Spurious { segment, .. } => format!("spurious loss of segment {segment}"),
            Event::Reduced { cause } => format!("window reduced: {}", cause.word()),
            Event::Marked { segment } => format!("segment {segment} marked"),
            Event::Nacked { segment: Some(segment), reason } => {
                format!("Nack for segment {segment}: {reason}")
            }
            _ => return,
        };
        writer.instant(now, self.track, mark, None);
    }

    fn end<W: Write>(&mut self, writer: &mut Writer<W>, now: Instant, segment: u64) {
        if let Some(lane) = self.open.remove(&segment) {
            self.segments.end(writer, now, lane);
        }
    }
}

/// The trace of a transfer, seen by its consumer alone.
#[derive(Debug)]
pub struct Transfer<W> {
    writer: Writer<W>,
    consumer: Consumer,
}

impl<W: Write> Transfer<W> {
    /// Begins the trace of a transfer of this name.
    pub fn new(name: &str, out: W) -> Self {
        let mut writer = Writer::new(out);
        let consumer = Consumer::new(&mut writer, name, None);
        Self { writer, consumer }
    }

    /// Notes an event.
    pub fn on(&mut self, now: Instant, event: &Event) {
        let Self { writer, consumer } = self;
        match *event {
            Event::Sent { segment, transmissions: 1, .. } => {
                consumer.begin(writer, now, segment, None)
            }
            Event::Sent { segment, transmissions, .. } => {
                let name = format!("segment {segment} sent again");
                let notes = vec![number("transmissions", transmissions.into())];
                writer.annotated(now, consumer.track, name, notes);
            }
            Event::Connected => writer.instant(now, consumer.track, "connected".into(), None),
            Event::Disconnected => writer.instant(now, consumer.track, "no route".into(), None),
            _ => consumer.on(writer, now, event),
        }
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of the file, after which nothing was written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }
}

fn millis(span: Span) -> f64 {
    Duration::from(span).as_secs_f64() * 1e3
}
