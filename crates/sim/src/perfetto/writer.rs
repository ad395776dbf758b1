//! Tracks and events, written as they come.
use super::proto::{
    CounterDescriptor, DebugAnnotation, Trace, TracePacket, TrackDescriptor, TrackEvent, Type,
};
use prost::Message;
use recoup_transport::time::Instant;
use std::io::{self, Write};

/// Packets that are encoded together.
const BATCH: usize = 256;
/// The only writer of the file.
const SEQUENCE: u32 = 1;

/// A track: a row of the viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Track(u64);

/// A place for slices on a track: slices of one lane must not overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    track: Track,
    number: usize,
}

/// Lanes of a track. All have one name, so that viewers show them as one row of the needed height.
#[derive(Debug)]
pub(super) struct Lanes {
    parent: Track,
    name: &'static str,
    lanes: Vec<(Track, Use)>,
}

/// Use of a lane.
#[derive(Clone, Copy, Debug)]
enum Use {
    Taken,
    FreeSince(Instant),
}

impl Lanes {
    pub(super) fn new(parent: Track, name: &'static str) -> Self {
        Self { parent, name, lanes: Vec::new() }
    }

    /// Takes a lane that is free from `at` on.
    pub(super) fn take<W: Write>(&mut self, writer: &mut Writer<W>, at: Instant) -> Lane {
        let is_free =
            |(_, used): &(Track, Use)| matches!(used, Use::FreeSince(since) if *since <= at);
        let number = self.lanes.iter().position(is_free).unwrap_or_else(|| {
            let track = writer.track(self.name, Some(self.parent), None);
            self.lanes.push((track, Use::Taken));
            self.lanes.len() - 1
        });
        self.lanes[number].1 = Use::Taken;
        Lane { track: self.lanes[number].0, number }
    }

    /// Frees a lane at the end of its slice.
    pub(super) fn end<W: Write>(&mut self, writer: &mut Writer<W>, at: Instant, lane: Lane) {
        self.lanes[lane.number].1 = Use::FreeSince(at);
        writer.event(at, lane.track, Type::SliceEnd, TrackEvent::default());
    }
}

/// Writes a trace. After an error of `out` nothing more is written.
#[derive(Debug)]
pub(super) struct Writer<W> {
    out: W,
    tracks: u64,
    batch: Trace,
    buffer: Vec<u8>,
    failed: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        let (batch, buffer) = Default::default();
        Self { out, tracks: 0, batch, buffer, failed: None }
    }

    /// A new track; with a unit it is a curve.
    pub(super) fn track(&mut self, name: &str, parent: Option<Track>, unit: Option<&str>) -> Track {
        self.tracks += 1;
        let counter = unit.map(|unit| CounterDescriptor { unit: Some(unit.to_string()) });
        let track = TrackDescriptor {
            uuid: Some(self.tracks),
            name: Some(name.to_string()),
            parent: parent.map(|track| track.0),
            counter,
        };
        self.push(TracePacket { track: Some(track), ..TracePacket::default() });
        Track(self.tracks)
    }

    /// Begins a slice. Slices with the same flow are joined by arrows.
    pub(super) fn begin(
        &mut self,
        at: Instant,
        lane: Lane,
        name: String,
        flow: Option<u64>,
        annotations: Vec<DebugAnnotation>,
    ) {
        let flows = flow.into_iter().collect();
        let event = TrackEvent { name: Some(name), flows, annotations, ..TrackEvent::default() };
        self.event(at, lane.track, Type::SliceBegin, event);
    }

    /// A mark at one time.
    pub(super) fn instant(&mut self, at: Instant, track: Track, name: String, flow: Option<u64>) {
        let flows = flow.into_iter().collect();
        let event = TrackEvent { name: Some(name), flows, ..TrackEvent::default() };
        self.event(at, track, Type::Instant, event);
    }

    /// A point of a curve.
    pub(super) fn value(&mut self, at: Instant, curve: Track, value: f64) {
        let event = TrackEvent { value: Some(value), ..TrackEvent::default() };
        self.event(at, curve, Type::Counter, event);
    }

    fn event(&mut self, at: Instant, track: Track, typ: Type, event: TrackEvent) {
        let event = TrackEvent { typ: Some(typ as i32), track: Some(track.0), ..event };
        let timestamp = Some(at.as_nanos());
        self.push(TracePacket { timestamp, event: Some(event), ..TracePacket::default() });
    }

    fn push(&mut self, packet: TracePacket) {
        self.batch.packets.push(TracePacket { sequence: Some(SEQUENCE), ..packet });
        if self.batch.packets.len() >= BATCH {
            self.write_batch();
        }
    }

    fn write_batch(&mut self) {
        self.buffer.clear();
        // The buffer grows as needed.
        let _ = self.batch.encode(&mut self.buffer);
        self.batch.packets.clear();
        if self.failed.is_none() {
            self.failed = self.out.write_all(&self.buffer).err();
        }
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.write_batch();
        match self.failed {
            Some(error) => Err(error),
            None => {
                self.out.flush()?;
                Ok(self.out)
            }
        }
    }
}

/// A number shown with a slice.
pub(super) fn number(name: &str, number: u64) -> DebugAnnotation {
    DebugAnnotation { name: Some(name.to_string()), number: Some(number), text: None }
}

/// A text shown with a slice.
pub(super) fn text(name: &str, text: &str) -> DebugAnnotation {
    DebugAnnotation { name: Some(name.to_string()), text: Some(text.to_string()), number: None }
}
