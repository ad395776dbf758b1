//! The tracks of a forwarder on sockets, from what its node takes in and hands out.
//!
//! | track | below | content |
//! |---|---|---|
//! | the forwarder | | instants: packets that it dropped without a face, with the reason |
//! | `pending answers` | the forwarder | a curve: Interests of all faces that wait for an answer |
//! | a face | the forwarder | instants: up, down, drops, overflows; Nacks |
//! | `asked here` | the face | a slice for each Interest that came, until its answer leaves |
//! | `asked there` | the face | a slice for each Interest that left, until its answer comes |
//! | `send queue` | the face | a curve: bytes in the driver's queue |
//!
//! Arrows join slices of one name. A slice without an answer ends with the lifetime of its Interest. Packets that are
//! carried in fragments are not shown.
//!
//! Memory is bounded: at most [`MOST_PENDING`] slices are open, of more the oldest end. Only the first [`MOST_FACES`] faces have
//! tracks; packets of later faces are not shown.
use crate::writer::{Lane, Lanes, Track, Writer, number, text};
use bytes::Bytes;
use recoup_forwarder::face::FaceId;
use recoup_forwarder::hash::NameHasher;
use recoup_forwarder::management::Notice;
use recoup_forwarder::node::{Input, Output};
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::tlv::typ;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Most slices that are open at a time.
pub const MOST_PENDING: usize = 1 << 16;
/// Most faces with tracks of their own; peers may make many.
pub const MOST_FACES: usize = 1 << 12;

/// Writes the trace of a forwarder.
#[derive(Debug)]
pub struct Forwarder<W> {
    writer: Writer<W>,
    node: Track,
    pending: Track,
    faces: HashMap<FaceId, Face>,
    open: HashMap<Key, Open>,
    /// Ends of lifetimes of open slices.
    deadlines: BTreeMap<(Instant, u64), Key>,
    /// Slices so far.
    slices: u64,
    hasher: NameHasher,
}

#[derive(Debug)]
struct Face {
    track: Track,
    queue: Track,
    /// By [`Side`].
    lanes: [Lanes; 2],
}

/// Where the Interest of a slice came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    /// From the peer of the face.
    Here,
    /// From this forwarder, by the face.
    There,
}

type Key = (FaceId, Side, u64);

#[derive(Debug)]
struct Open {
    lane: Lane,
    deadline: (Instant, u64),
}

/// A packet that passes a face.
enum Passing {
    Interest(Interest),
    Data(Data),
    Nack(Interest, NackReason),
}

impl<W: Write> Forwarder<W> {
    /// Begins the trace of a forwarder of this name. `seed` is that of its hashes of names, which peers must not know.
    pub fn new(name: &str, seed: u64, out: W) -> Self {
        let mut writer = Writer::new(out);
        let node = writer.track(name, None, None);
        let pending = writer.track("pending answers", Some(node), Some("Interests"));
        let hasher = NameHasher::new(seed);
        let (faces, open, deadlines, slices) = Default::default();
        Self { writer, node, pending, faces, open, deadlines, slices, hasher }
    }

    /// Notes an input of the node.
    pub fn input(&mut self, now: Instant, input: &Input) {
        self.expire(now);
        match input {
            Input::FaceUp { face, .. } => self.mark(now, *face, "up".into()),
            Input::FaceDown { face } => self.mark(now, *face, "down".into()),
            Input::Frame { face, frame } | Input::FrameFrom { face, frame, .. } => {
                self.passes(now, *face, Side::Here, frame.clone());
            }
            Input::Backlog { face, bytes } => {
                if let Some(queue) = self.face(*face).map(|face| face.queue) {
                    self.writer.value(now, queue, *bytes as f64);
                }
            }
            Input::Overflowed { face, frame } => {
                let name = passing(frame.clone()).map(|packet| label(&packet));
                self.mark(now, *face, format!("overflowed: {}", name.unwrap_or_default()));
            }
            Input::Notice(notice) => {
                if let Notice::FaceKnown { face, description } = &**notice
                    && let Some(track) = self.face(*face).map(|face| face.track)
                {
                    let name = format!("face {} {}", face.0, description.uri);
                    self.writer.rename(track, &name, Some(self.node));
                }
            }
            _ => {}
        }
    }

    /// Notes an output of the node.
    pub fn output(&mut self, now: Instant, output: &Output) {
        match output {
            Output::Send { face, frame } => {
                self.passes(now, *face, Side::There, frame.clone().into_bytes());
            }
            Output::Dropped { face: Some(face), reason, .. } => {
                self.mark(now, *face, format!("dropped: {reason}"));
            }
            Output::Dropped { face: None, reason, .. } => {
                self.writer.instant(now, self.node, format!("dropped: {reason}"), None);
            }
            _ => {}
        }
    }

    /// Writes what is known so far.
    pub fn flush(&mut self) {
        self.writer.flush();
    }

    /// Ends the trace if it could not be written, and returns why.
    pub fn give_up(&mut self) -> Option<io::Error> {
        self.writer.take_failure()
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of the file, after which nothing was written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }

    /// A packet comes by the face from its peer ([`Side::Here`]), or leaves by it.
    fn passes(&mut self, now: Instant, face: FaceId, from: Side, frame: Bytes) {
        let bytes = frame.len() as u64;
        let Some(packet) = passing(frame) else { return };
        let asked_by = match from {
            Side::Here => Side::There,
            Side::There => Side::Here,
        };
        match &packet {
            Passing::Interest(interest) => {
                let lifetime = interest.lifetime_or_default();
                self.begin(now, (face, from, self.hash(&interest.name)), &packet, bytes, lifetime);
            }
            Passing::Data(data) => {
                let name = data.name();
                // An Interest may have requested less of the name.
                let mut found = false;
                for length in (0..=name.len()).rev() {
                    let key = (face, asked_by, self.hash(&name.prefix(length)));
                    found |= self.end(now, key);
                    if found {
                        break;
                    }
                }
                if !found {
                    self.mark(now, face, format!("unsolicited {}", label(&packet)));
                }
            }
            Passing::Nack(interest, _) => {
                self.end(now, (face, asked_by, self.hash(&interest.name)));
                self.mark(now, face, label(&packet));
            }
        }
        self.writer.value(now, self.pending, self.open.len() as f64);
    }

    fn begin(&mut self, now: Instant, key: Key, packet: &Passing, bytes: u64, lifetime: Duration) {
        let (face, side, hash) = key;
        self.end(now, key);
        if self.face(face).is_none() {
            return;
        }
        if self.open.len() >= MOST_PENDING
            && let Some((_, oldest)) = self.deadlines.first_key_value().map(|(at, key)| (*at, *key))
        {
            self.end(now, oldest);
        }
        let Some(tracks) = self.faces.get_mut(&face) else { return };
        let lanes = &mut tracks.lanes[side as usize];
        let lane = lanes.take(&mut self.writer, now);
        let name = packet.name().to_string();
        let notes = vec![text("name", &name), number("bytes", bytes)];
        self.writer.begin(now, lane, label(packet), Some(hash), notes);
        self.slices += 1;
        let deadline = (now + lifetime, self.slices);
        self.deadlines.insert(deadline, key);
        self.open.insert(key, Open { lane, deadline });
    }

    /// Ends a slice; false if there is none.
    fn end(&mut self, at: Instant, key: Key) -> bool {
        let Some(open) = self.open.remove(&key) else { return false };
        self.deadlines.remove(&open.deadline);
        if let Some(tracks) = self.faces.get_mut(&key.0) {
            tracks.lanes[key.1 as usize].end(&mut self.writer, at, open.lane);
        }
        true
    }

    /// Ends slices whose Interests have expired.
    fn expire(&mut self, now: Instant) {
        while let Some((&(at, _), &key)) = self.deadlines.first_key_value()
            && at <= now
        {
            self.end(at, key);
            self.writer.value(at, self.pending, self.open.len() as f64);
        }
    }

    fn mark(&mut self, now: Instant, face: FaceId, name: String) {
        if let Some(track) = self.face(face).map(|face| face.track) {
            self.writer.instant(now, track, name, None);
        }
    }

    fn face(&mut self, face: FaceId) -> Option<&Face> {
        self.known(face);
        self.faces.get(&face)
    }

    /// Gives a face its tracks, unless there are too many.
    fn known(&mut self, face: FaceId) {
        if self.faces.contains_key(&face) || self.faces.len() >= MOST_FACES {
            return;
        }
        let writer = &mut self.writer;
        let track = writer.track(&format!("face {}", face.0), Some(self.node), None);
        let queue = writer.track("send queue", Some(track), Some("bytes"));
        let lanes = [Lanes::new(track, "asked here"), Lanes::new(track, "asked there")];
        self.faces.insert(face, Face { track, queue, lanes });
    }

    fn hash(&self, name: &Name) -> u64 {
        self.hasher.hash(name.value())
    }
}

impl Passing {
    fn name(&self) -> &Name {
        match self {
            Self::Interest(interest) | Self::Nack(interest, _) => &interest.name,
            Self::Data(data) => data.name(),
        }
    }
}

/// The whole packet in a frame, if it holds one.
fn passing(frame: Bytes) -> Option<Passing> {
    let LpPacket { header, fragment } = LpPacket::decode(frame).ok()?;
    let packet = fragment.filter(|_| header.frag_count.is_none_or(|count| count <= 1))?;
    match (header.nack, packet.first().copied().map(u64::from)?) {
        (Some(reason), _) => Some(Passing::Nack(Interest::decode(packet).ok()?, reason)),
        (None, typ::INTEREST) => Interest::decode(packet).ok().map(Passing::Interest),
        (None, typ::DATA) => Data::decode(packet).ok().map(Passing::Data),
        _ => None,
    }
}

/// Kind and last component of a packet's name.
fn label(packet: &Passing) -> String {
    let last = packet.name().last().map(|component| component.to_string());
    let last = last.unwrap_or_default();
    match packet {
        Passing::Interest(_) => format!("Interest {last}"),
        Passing::Data(_) => format!("Data {last}"),
        Passing::Nack(_, reason) => format!("Nack {last}: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_forwarder::frame::Frame;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::signature::DigestSigner;

    fn interest(name: &str, lifetime_ms: u64) -> Bytes {
        let mut interest = Interest::new(name.parse().unwrap());
        interest.lifetime = Some(Duration::from_millis(lifetime_ms));
        interest.to_bytes()
    }

    fn data(name: &str) -> Bytes {
        DataBuilder::new(&name.parse().unwrap()).build(b"content", &DigestSigner).wire()
    }

    fn comes(trace: &mut Forwarder<Vec<u8>>, millis: u64, face: u32, frame: Bytes) {
        trace.input(Instant::from_millis(millis), &Input::Frame { face: FaceId(face), frame });
    }

    fn leaves(trace: &mut Forwarder<Vec<u8>>, millis: u64, face: u32, frame: Bytes) {
        let (face, frame) = (FaceId(face), Frame::from(frame));
        trace.output(Instant::from_millis(millis), &Output::Send { face, frame });
    }

    fn forwarder() -> Forwarder<Vec<u8>> {
        Forwarder::new("forwarder", 1, Vec::new())
    }

    fn open(trace: &Forwarder<Vec<u8>>) -> Vec<(u32, Side)> {
        let mut open: Vec<_> = trace.open.keys().map(|(face, side, _)| (face.0, *side)).collect();
        open.sort_by_key(|(face, _)| *face);
        open
    }

    #[test]
    fn answers_end_the_slices_of_their_faces() {
        let mut trace = forwarder();
        comes(&mut trace, 1, 1, interest("/a/b", 4_000));
        leaves(&mut trace, 2, 2, interest("/a/b", 4_000));
        assert_eq!(open(&trace), [(1, Side::Here), (2, Side::There)]);
        // Longer names answer, too.
        comes(&mut trace, 3, 2, data("/a/b/c"));
        assert_eq!(open(&trace), [(1, Side::Here)]);
        leaves(&mut trace, 4, 1, data("/a/b/c"));
        assert_eq!(open(&trace), []);
        // The peer's own Interests are others.
        comes(&mut trace, 5, 1, interest("/x", 4_000));
        comes(&mut trace, 6, 1, data("/x"));
        assert_eq!(open(&trace), [(1, Side::Here)]);
        let written = trace.finish().unwrap();
        assert!(written.windows(18).any(|it| it == b"unsolicited Data x"));
    }

    #[test]
    fn slices_end_with_lifetimes_and_limits() {
        let mut trace = forwarder();
        comes(&mut trace, 0, 1, interest("/short", 10));
        comes(&mut trace, 0, 1, interest("/long", 1_000));
        comes(&mut trace, 10, 1, Bytes::from_static(b"no packet"));
        assert_eq!(trace.open.len(), 1);
        for number in 0..MOST_PENDING + 5 {
            comes(&mut trace, 20, 1, interest(&format!("/many/{number}"), 4_000));
        }
        assert_eq!((trace.open.len(), trace.deadlines.len()), (MOST_PENDING, MOST_PENDING));
        for face in 0..2 * MOST_FACES as u32 {
            comes(&mut trace, 30, face, interest("/face", 4_000));
        }
        assert_eq!((trace.faces.len(), trace.open.len()), (MOST_FACES, MOST_PENDING));
    }
}
