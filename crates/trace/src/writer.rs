//! Tracks and events, written as they come.
pub use crate::proto::DebugAnnotation as Note;
use crate::proto::{CounterDescriptor, Trace, TracePacket, TrackDescriptor, TrackEvent, Type};
use prost::Message;
use recoup_transport::time::Instant;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Packets that are encoded together.
const BATCH: usize = 256;
/// The only writer of the file.
const SEQUENCE: u32 = 1;

/// A track: a row of the viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Track(u64);

/// A place for slices on a track: slices of one lane must not overlap.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    track: Track,
    number: usize,
}

/// Lanes of a track. All lanes have one name: viewers show them as one row of the needed height.
#[derive(Debug)]
pub struct Lanes {
    parent: Track,
    name: &'static str,
    lanes: Vec<Track>,
    /// Ends of the last slices, by lane.
    ends: Vec<Instant>,
    free: BTreeSet<usize>,
}

impl Lanes {
    /// Lanes of this name below `parent`.
    pub fn new(parent: Track, name: &'static str) -> Self {
        let (lanes, ends, free) = Default::default();
        Self { parent, name, lanes, ends, free }
    }

    /// Takes a lane that is free from `at` on.
    pub fn take<W: Write>(&mut self, writer: &mut Writer<W>, at: Instant) -> Lane {
        let first = self.free.iter().copied().find(|number| self.ends[*number] <= at);
        let number = first.unwrap_or_else(|| {
            self.lanes.push(writer.track(self.name, Some(self.parent), None));
            self.ends.push(at);
            self.lanes.len() - 1
        });
        self.free.remove(&number);
        Lane { track: self.lanes[number], number }
    }

    /// Frees a lane at the end of its slice.
    pub fn end<W: Write>(&mut self, writer: &mut Writer<W>, at: Instant, lane: Lane) {
        self.ends[lane.number] = at;
        self.free.insert(lane.number);
        writer.event(at, lane.track, Type::SliceEnd, TrackEvent::default());
    }
}

/// Writes a trace. After an error of `out` nothing more is written.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    tracks: u64,
    batch: Trace,
    buffer: Vec<u8>,
    failed: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    /// A trace that begins.
    pub fn new(out: W) -> Self {
        let (batch, buffer) = Default::default();
        Self { out, tracks: 0, batch, buffer, failed: None }
    }

    /// A new track; with a unit it is a curve.
    pub fn track(&mut self, name: &str, parent: Option<Track>, unit: Option<&str>) -> Track {
        self.tracks += 1;
        let track = Track(self.tracks);
        let counter = unit.map(|unit| CounterDescriptor { unit: Some(unit.to_string()) });
        self.describe(track, name, parent, counter);
        track
    }

    /// Another name for a track without a unit; viewers show the last one.
    pub fn rename(&mut self, track: Track, name: &str, parent: Option<Track>) {
        self.describe(track, name, parent, None);
    }

    fn describe(
        &mut self,
        track: Track,
        name: &str,
        parent: Option<Track>,
        counter: Option<CounterDescriptor>,
    ) {
        let track = TrackDescriptor {
            uuid: Some(track.0),
            name: Some(name.to_string()),
            parent: parent.map(|track| track.0),
            counter,
        };
        self.push(TracePacket { track: Some(track), ..TracePacket::default() });
    }

    /// Begins a slice. Slices with the same flow are joined by arrows.
    pub fn begin(
        &mut self,
        at: Instant,
        lane: Lane,
        name: String,
        flow: Option<u64>,
        annotations: Vec<Note>,
    ) {
        let flows = flow.into_iter().collect();
        let event = TrackEvent { name: Some(name), flows, annotations, ..TrackEvent::default() };
        self.event(at, lane.track, Type::SliceBegin, event);
    }

    /// A mark at one time.
    pub fn instant(&mut self, at: Instant, track: Track, name: String, flow: Option<u64>) {
        let flows = flow.into_iter().collect();
        let event = TrackEvent { name: Some(name), flows, ..TrackEvent::default() };
        self.event(at, track, Type::Instant, event);
    }

    /// A mark with notes.
    pub fn annotated(&mut self, at: Instant, track: Track, name: String, notes: Vec<Note>) {
        let event = TrackEvent { name: Some(name), annotations: notes, ..TrackEvent::default() };
        self.event(at, track, Type::Instant, event);
    }

    /// A point of a curve.
    pub fn value(&mut self, at: Instant, curve: Track, value: f64) {
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

    /// Writes what waits to be written.
    pub fn flush(&mut self) {
        self.write_batch();
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
    }

    /// The first error of `out`, once.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The first error of `out`.
    pub fn finish(mut self) -> io::Result<W> {
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
pub fn number(name: &str, number: u64) -> Note {
    Note { name: Some(name.to_string()), number: Some(number), text: None }
}

/// A text shown with a slice.
pub fn text(name: &str, text: &str) -> Note {
    Note { name: Some(name.to_string()), text: Some(text.to_string()), number: None }
}
