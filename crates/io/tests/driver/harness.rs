//! A machine that records its inputs, and drivers for it.
use bytes::Bytes;
use recoup_forwarder::face::{FaceForm, FaceId, FaceUse};
use recoup_forwarder::frame::Frame;
use recoup_forwarder::node::{Input, Machine, Output};
use recoup_io::driver::{Driver, DriverOptions, ListenerHandle};
use recoup_io::face::{FaceChange, FaceUri};
use recoup_packet::tlv;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Records its inputs and returns every frame if requested.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) echo: bool,
    pub(crate) ups: Vec<(FaceId, usize, bool, Option<u64>)>,
    pub(crate) downs: Vec<FaceId>,
    pub(crate) frames: Vec<(FaceId, Bytes)>,
    pub(crate) outputs: VecDeque<Output>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) fired: Vec<Instant>,
    /// How faces are used, where that matters.
    pub(crate) uses: BTreeMap<FaceId, FaceUse>,
}

impl Recorder {
    pub(crate) fn send(&mut self, face: FaceId, frame: impl Into<Bytes>) {
        self.outputs.push_back(Output::Send { face, frame: Frame::from(frame.into()) });
    }

    /// Answers an Interest that came by a face.
    pub(crate) fn answer(&mut self, face: FaceId) {
        self.uses.entry(face).or_default().answered = true;
        self.send(face, frame(20));
    }
}

impl Machine for Recorder {
    fn handle(&mut self, _now: Instant, input: Input) {
        match input {
            Input::FaceUp { face, attributes } => {
                let FaceForm::Wire { mtu } = attributes.form else {
                    panic!("{attributes:?}");
                };
                self.ups.push((face, mtu, attributes.upstream, attributes.receive_budget));
            }
            Input::FaceDown { face } => self.downs.push(face),
            Input::Frame { face, frame } if self.echo => self.send(face, frame),
            Input::Frame { face, frame } | Input::FrameFrom { face, frame, .. } => {
                self.frames.push((face, frame));
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output> {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.fired.push(now);
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn face_use(&self, face: FaceId) -> FaceUse {
        self.uses.get(&face).copied().unwrap_or_default()
    }
}

pub(crate) fn uri(text: &str) -> FaceUri {
    text.parse().unwrap()
}

/// A Data-shaped frame of `length` bytes in all.
pub(crate) fn frame(length: usize) -> Vec<u8> {
    let header = if length < 255 { 2 } else { 4 };
    let mut bytes = Vec::new();
    tlv::put_tlv(&mut bytes, tlv::typ::DATA, &vec![0x5A; length - header]);
    bytes
}

/// An Interest-shaped frame: what opens an on-demand UDP face.
pub(crate) fn interest(length: u8) -> Vec<u8> {
    let mut bytes = vec![5, length - 2];
    bytes.resize(usize::from(length), 1);
    bytes
}

pub(crate) fn impatient() -> DriverOptions {
    DriverOptions {
        connect_timeout: Duration::from_secs(2),
        reconnect_after: Duration::from_millis(10),
        ..DriverOptions::default()
    }
}

pub(crate) fn driver() -> Driver {
    bounded(Driver::with_options(impatient()).unwrap())
}

pub(crate) fn bounded(mut driver: Driver) -> Driver {
    driver.set_longest_wait(Some(Duration::from_millis(20)));
    driver
}

/// Turns until `done`, and fails after a minute in which the driver had at least so many turns: a busy machine has few.
pub(crate) fn turn_until<M: Machine>(
    driver: &mut Driver,
    machine: &mut M,
    done: impl Fn(&M, &Driver) -> bool,
) {
    let mut patience = Patience::new(driver);
    while !done(machine, driver) {
        patience.look(driver);
        driver.turn(machine, &mut |_, _, _| {}).unwrap();
    }
}

/// How long a test waits for progress.
pub(crate) struct Patience {
    end: Instant,
    turns: u32,
}

impl Patience {
    pub(crate) fn new(driver: &Driver) -> Self {
        Self { end: driver.now() + Duration::from_secs(60), turns: 3_000 }
    }

    pub(crate) fn look(&mut self, driver: &Driver) {
        self.turns = self.turns.saturating_sub(1);
        assert!(self.turns > 0 || driver.now() < self.end, "it did not happen in time");
    }
}

pub(crate) fn changes(driver: &mut Driver) -> Vec<FaceChange> {
    std::iter::from_fn(|| driver.next_event()).map(|event| event.change).collect()
}

/// A driver in a thread of its own that sends everything back.
pub(crate) struct Echo {
    pub(crate) handle: ListenerHandle,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) waker: recoup_io::waker::Waker,
    pub(crate) thread: Option<JoinHandle<Driver>>,
}

impl Echo {
    pub(crate) fn listen(at: &str) -> Self {
        let mut driver = Driver::with_options(impatient()).unwrap();
        let handle = driver.listen(&uri(at)).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (waker, stopped) = (driver.waker(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let mut machine = Recorder { echo: true, ..Recorder::default() };
            while !stopped.load(Ordering::Relaxed) {
                driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
            }
            driver
        });
        Self { handle, stop, waker, thread: Some(thread) }
    }

    pub(crate) fn stop(mut self) -> Driver {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        self.thread.take().unwrap().join().unwrap()
    }
}
