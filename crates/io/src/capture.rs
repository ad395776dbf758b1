//! Captures: the frames that pass between a driver and its node, as pcapng files for Wireshark.
//!
//! [`Capturer`] is the node that a driver drives. What arrives is captured as the driver hands it over, what leaves as the
//! node hands it out, whatever the driver makes of it. In a file each face is an interface of its own, with Ethernet
//! frames in it: station 0 is this node, each peer has the number of its face. Where nothing is captured, a frame costs a
//! look at one option.
//!
//! A file that would exceed its limit is renamed to `….1`, replacing an older one, and a new file
//! begins. So is a file that exists when its capture begins. If a file cannot be written, its
//! capture ends and the node continues.
use crate::outlet::Outlet;
use bytes::Bytes;
use recoup_forwarder::face::{FaceId, FaceUse};
use recoup_forwarder::node::{Input, Machine, Node, Output};
use recoup_packet::pcapng::{CapturedFrame, Direction, Interface, Writer, ethernet};
use recoup_transport::time::{Duration, Instant};
use rustix::fs::OFlags;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The number of this node among stations.
const OURS: u32 = 0;
/// Bytes that are written together.
const BUFFER: usize = 64 << 10;
/// Longest time until a captured frame is in its file.
const FLUSH: Duration = Duration::from_secs(1);

/// Faces to capture, and the files for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureWish {
    /// The file for frames of all faces.
    pub all: Option<PathBuf>,
    /// Files for frames of these faces; several may have the same.
    pub faces: BTreeMap<FaceId, PathBuf>,
    /// Bytes of a file, from which on another begins.
    pub file_bytes: u64,
    /// Bytes of a frame that are kept; `None` means all.
    pub frame_bytes: Option<u32>,
}

/// A capture that was given up, or could not begin.
#[derive(Debug)]
pub struct CaptureFailure {
    /// Its file.
    pub path: PathBuf,
    /// Cause.
    pub error: io::Error,
}

/// Counters of all captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureCounters {
    /// Frames written, once for each file.
    pub frames: u64,
    /// Captures that were given up.
    pub failures: u64,
}

/// A node of which frames are captured, if anybody wants that.
pub struct Capturer {
    node: Node,
    desk: Option<Box<Desk>>,
    counters: CaptureCounters,
    failures: VecDeque<CaptureFailure>,
}

impl Capturer {
    /// A node of which nothing is captured yet.
    #[must_use]
    pub fn new(node: Node) -> Self {
        let (counters, failures) = Default::default();
        Self { node, desk: None, counters, failures }
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Captures this from here on. Files that are wanted as before stay open; those that were given up begin anew.
    /// `since_1970` is the time of day at [`Instant::ZERO`]. What cannot be opened is a failure.
    pub fn capture(&mut self, wish: CaptureWish, since_1970: Duration) {
        let mut before = self.desk.take().map_or_else(Vec::new, |desk| desk.sheets);
        let mut sheets: Vec<Sheet> = Vec::new();
        for path in wish.all.iter().chain(wish.faces.values()) {
            if sheets.iter().any(|sheet| sheet.path == *path) {
                continue;
            }
            let same = before.iter().position(|sheet| sheet.path == *path);
            let same = same.map(|place| before.swap_remove(place));
            match same
                .filter(|sheet| sheet.is_alike(&wish))
                .map_or_else(|| Sheet::new(path, &wish), Ok)
            {
                Ok(sheet) => sheets.push(sheet),
                Err(error) => self.give_up(path.clone(), error),
            }
        }
        let place = |path: &PathBuf| sheets.iter().position(|sheet| sheet.path == *path);
        let all = wish.all.as_ref().and_then(place);
        let faces = wish.faces.iter().filter_map(|(face, path)| Some((*face, place(path)?)));
        let faces = faces.collect();
        let desk = Desk { all, faces, sheets, since_1970, flushed: Instant::ZERO };
        self.desk = (!desk.sheets.is_empty()).then(|| Box::new(desk));
    }

    /// Writes what waits to be written, from time to time; to be called often.
    pub fn flush(&mut self, now: Instant) {
        let Some(desk) = self.desk.as_mut().filter(|desk| now.since(desk.flushed) >= FLUSH) else {
            return;
        };
        desk.flushed = now;
        for place in 0..desk.sheets.len() {
            self.on_sheet(place, |sheet| sheet.file.as_mut().map_or(Ok(()), PcapFile::flush));
        }
    }

    /// The next capture that failed; each failure is reported once.
    pub fn next_failure(&mut self) -> Option<CaptureFailure> {
        self.failures.pop_front()
    }

    /// Counters of all captures.
    #[must_use]
    pub fn counters(&self) -> CaptureCounters {
        self.counters
    }

    fn give_up(&mut self, path: PathBuf, error: io::Error) {
        self.counters.failures += 1;
        self.failures.push_back(CaptureFailure { path, error });
    }

    /// Does something to a file, which is given up if that fails.
    fn on_sheet(&mut self, place: usize, act: impl FnOnce(&mut Sheet) -> io::Result<()>) {
        let sheet = self.desk.as_mut().and_then(|desk| desk.sheets.get_mut(place));
        let Some(sheet) = sheet else { return };
        if let Err(error) = act(sheet) {
            sheet.file = None;
            let path = sheet.path.clone();
            self.give_up(path, error);
        }
    }

    fn note(
        &mut self,
        now: Instant,
        face: FaceId,
        direction: Direction,
        head: &[u8],
        body: &Bytes,
    ) {
        let Some(desk) = &self.desk else { return };
        let (from, to) = if direction == Direction::In { (face.0, OURS) } else { (OURS, face.0) };
        let header = ethernet(to, from);
        let pieces: [&[u8]; 3] = [&header, head, body];
        let nanos = (desk.since_1970 + now.since(Instant::ZERO)).as_nanos();
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        let (direction, comment) = (Some(direction), None);
        let passed = CapturedFrame {
            interface: 0,
            nanos,
            pieces: &pieces,
            kept: u32::MAX,
            direction,
            comment,
        };
        let own = desk.faces.get(&face).copied();
        let all = desk.all.filter(|all| Some(*all) != own);
        for place in [all, own].into_iter().flatten() {
            self.write(place, face, &passed);
        }
    }

    fn write(&mut self, place: usize, face: FaceId, passed: &CapturedFrame<'_>) {
        let Some(sheet) = self.desk.as_mut().and_then(|desk| desk.sheets.get_mut(place)) else {
            return;
        };
        if sheet.file.is_none() {
            return;
        }
        let uri = self.node.face_uri(face).unwrap_or_default();
        match sheet.frame(face, uri, passed) {
            Ok(()) => self.counters.frames += 1,
            Err(error) => self.on_sheet(place, |_| Err(error)),
        }
    }
}

impl Machine for Capturer {
    fn handle(&mut self, now: Instant, input: Input) {
        if self.desk.is_some()
            && let Input::Frame { face, frame } = &input
        {
            self.note(now, *face, Direction::In, &[], frame);
        }
        self.node.handle(now, input);
    }

    fn poll(&mut self, now: Instant) -> Option<Output> {
        let output = self.node.poll(now);
        if self.desk.is_some()
            && let Some(Output::Send { face, frame }) = &output
        {
            self.note(now, *face, Direction::Out, frame.head(), frame.body());
        }
        output
    }

    fn deadline(&self) -> Option<Instant> {
        self.node.deadline()
    }

    fn face_use(&self, face: FaceId) -> FaceUse {
        self.node.face_use(face)
    }
}

/// The files of a capture.
#[derive(Debug)]
struct Desk {
    sheets: Vec<Sheet>,
    /// The file for all faces, by its place.
    all: Option<usize>,
    /// Files of faces, by their places.
    faces: BTreeMap<FaceId, usize>,
    since_1970: Duration,
    flushed: Instant,
}

/// A capture file, and its successors of the same name.
#[derive(Debug)]
struct Sheet {
    path: PathBuf,
    limit_bytes: u64,
    frame_bytes: Option<u32>,
    /// None if it was given up.
    file: Option<PcapFile>,
}

impl Sheet {
    fn new(path: &Path, wish: &CaptureWish) -> io::Result<Self> {
        let CaptureWish { file_bytes: limit_bytes, frame_bytes, .. } = *wish;
        let file = Some(PcapFile::begin(path)?);
        Ok(Self { path: path.into(), limit_bytes, frame_bytes, file })
    }

    /// Whether the sheet writes, with the settings of `wish`.
    fn is_alike(&self, wish: &CaptureWish) -> bool {
        let wanted = (wish.file_bytes, wish.frame_bytes);
        self.file.is_some() && (self.limit_bytes, self.frame_bytes) == wanted
    }

    fn frame(&mut self, face: FaceId, uri: &str, passed: &CapturedFrame<'_>) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        if file.is_file && file.writer.bytes() >= self.limit_bytes {
            file.flush()?;
            *file = PcapFile::begin(&self.path)?;
        }
        let interface = file.interface(face, uri, self.frame_bytes)?;
        let kept = self.frame_bytes.unwrap_or(u32::MAX);
        file.writer.frame(&CapturedFrame { interface, kept, ..*passed })
    }
}

/// A file.
#[derive(Debug)]
struct PcapFile {
    writer: Writer<BufWriter<File>>,
    /// Not a pipe or a device, which have no length.
    is_file: bool,
    /// Faces that are described in it.
    interfaces: BTreeMap<FaceId, u32>,
}

impl PcapFile {
    fn begin(path: &Path) -> io::Result<Self> {
        // A link stays: what it leads to gets the other name.
        let outlet = Outlet::of(path);
        if let Outlet::Replaced(path) = &outlet
            && std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() > 0)
        {
            std::fs::rename(path, older(path))?;
        }
        let (Outlet::Replaced(path) | Outlet::Direct(path)) = &outlet;
        // A pipe without reader must not block; packets are private to the user.
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(path)?;
        let is_file = file.metadata()?.is_file();
        let writer = Writer::new(BufWriter::with_capacity(BUFFER, file), "recoup forward")?;
        Ok(Self { writer, is_file, interfaces: BTreeMap::new() })
    }

    /// The number of a face, which is described if it has none.
    fn interface(&mut self, face: FaceId, uri: &str, frame_bytes: Option<u32>) -> io::Result<u32> {
        if let Some(number) = self.interfaces.get(&face) {
            return Ok(*number);
        }
        let name = format!("face {}", face.0);
        let (name, description) = (name.as_str(), uri);
        let interface = Interface { name, description, rate_bits: 0, frame_bytes };
        let number = self.writer.interface(&interface)?;
        self.interfaces.insert(face, number);
        Ok(number)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Name of a file that is rotated.
fn older(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

#[cfg(test)]
mod tests;
