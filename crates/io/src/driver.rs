//! The event loop over sockets: one thread, every socket non-blocking.
//!
//! A turn waits until a socket is ready, the machine's deadline has passed, or a [`Waker`] fires.
//! The turn reads a few buffers from each ready socket, hands every frame to the machine and
//! carries out the machine's outputs. Frames are batched per peer and sent in as few system calls
//! as possible. A slow peer cannot block the loop: frames for it are queued up to a limit, then
//! dropped with a reason.

mod busy_poll;
mod coalesce;
mod dial;
mod face_entry;
mod ground;
mod half_closed;
mod idle;
mod listener;
mod newcomer;
mod open;
mod options;
mod order;
mod receive;
mod room;
mod roster;
mod segment;
mod send;
mod sockets;
mod timing;
mod wait;
#[cfg_attr(not(any(target_os = "linux", target_os = "android")), path = "driver/watch_poll.rs")]
mod watch;

pub use listener::{ListenerHandle, ListenerId};
pub use options::DriverOptions;

use crate::face::{Counters, FaceEvent, FaceId};
use crate::udp::UdpPort;
use crate::waker::Waker;
use bytes::Bytes;
use face_entry::{Conduit, Face};
use receive::Inbox;
use recoup_forwarder::drop;
use recoup_forwarder::face::{AppId, FaceAttributes, FaceUse, Recovery};
use recoup_forwarder::management::Notice;
use recoup_forwarder::node::{Input, Machine, Output};
use recoup_transport::application::Report;
use recoup_transport::time::{Duration, Instant, TimeOfDay};
use room::Quotas;
use send::Outbox;
use sockets::Sockets;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use timing::Timing;

/// Reads per wake-up if only one stream is ready.
const READS: usize = 4;

/// By so much the time of day of the machine may be wrong. A clock that is slewed by 500 ppm gets there in 2 s.
const CALENDAR_DRIFT: Duration = Duration::from_millis(1);

/// The driver cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// Waiting for sockets failed.
    #[error("cannot wait for sockets: {0}")]
    Wait(io::Error),
    /// The system denied a resource that the driver needs.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

/// Outcome of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Frames handed to the machine.
    pub frames: usize,
    /// A [`Waker`] fired or a signal arrived.
    pub woken: bool,
}

/// Reports the machine's use of a face.
type Uses<'a> = &'a dyn Fn(FaceId) -> FaceUse;

/// How peers were admitted, counted since the driver was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// Newcomers over UDP that were evicted for others before an Interest of theirs was answered.
    pub newcomers_evicted: u64,
    /// Faces of peers, silent and not in use, that were closed for others.
    pub evicted: u64,
    /// Connections that found no descriptor, or only those that are kept for local ones.
    pub shortages: u64,
}

/// An event of a socket, for the machine.
#[derive(Debug)]
enum Arrival {
    /// The system received the frames that follow at this time.
    ReceivedAt(Instant),
    Backlog(FaceId, u64),
    Overflowed(FaceId, Bytes),
    Up(FaceId),
    Down(FaceId),
    Frame(FaceId, Bytes),
    /// With the sender, on a face shared by several.
    FrameFrom(FaceId, u64, Bytes),
    /// The description of a face has changed.
    Known(FaceId),
    Notice(Box<Notice>),
}

/// Owner of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Alarm,
    Port(usize),
    Listener(ListenerId),
    Face(FaceId),
    Interfaces,
}

/// Drives one machine over real sockets.
///
/// Open faces with [`connect`](Self::connect) and [`listen`](Self::listen), then call
/// [`turn`](Self::turn) in a loop. The driver and its machine belong to one thread; a [`Waker`] is the
/// only thing that others hold.
#[derive(Debug)]
pub struct Driver {
    options: DriverOptions,
    timing: Timing,
    sockets: Sockets,
    quotas: Quotas,
    inbox: Inbox,
    outbox: Outbox,
    events: VecDeque<FaceEvent>,
    next_sweep: Instant,
    /// Counters of closed faces, and of frames without a face.
    past: Counters,
    node_drops: BTreeMap<drop::DropReason, u64>,
}

impl Driver {
    /// A driver without faces, with the default bounds.
    ///
    /// # Errors
    /// If the process has no file descriptor left.
    pub fn new() -> Result<Self, DriverError> {
        Self::with_options(DriverOptions::default())
    }

    /// A driver without faces.
    ///
    /// # Errors
    /// If the process has no file descriptor left.
    pub fn with_options(options: DriverOptions) -> Result<Self, DriverError> {
        Ok(Self {
            timing: Timing::new(&options),
            sockets: Sockets::new().map_err(DriverError::Start)?,
            quotas: Quotas::new(&options),
            inbox: Inbox::new(),
            outbox: Outbox::default(),
            events: VecDeque::new(),
            next_sweep: Instant::ZERO,
            past: Counters::default(),
            node_drops: BTreeMap::new(),
            options,
        })
    }

    /// Time since the driver was made: the machine's clock.
    pub fn now(&self) -> Instant {
        self.timing.clock.now()
    }

    /// The time of day, as the calendar clock shows it now.
    pub fn time_of_day(&self) -> TimeOfDay {
        self.timing.clock.time_of_day()
    }

    /// Interrupts a turn from other threads.
    pub fn waker(&self) -> Waker {
        self.sockets.alarm.waker()
    }

    /// A turn returns after this time even if nothing happens; `None` takes the bound away.
    pub fn set_longest_wait(&mut self, longest: Option<Duration>) {
        self.timing.longest_wait = longest;
    }

    /// Counters of a face, if it exists.
    pub fn counters(&self, face: FaceId) -> Option<Counters> {
        self.sockets.faces.get(&face).map(|face| face.counters)
    }

    /// Counters of all faces, closed ones included.
    pub fn totals(&self) -> Counters {
        let mut totals = self.past;
        self.sockets.faces.values().for_each(|face| totals.add(&face.counters));
        totals
    }

    /// Packets that the machine let go no further, by reason.
    pub fn node_drops(&self) -> &BTreeMap<drop::DropReason, u64> {
        &self.node_drops
    }

    /// Descriptors that the process might have when the driver was made.
    pub fn descriptors(&self) -> usize {
        self.quotas.descriptors
    }

    /// How peers were admitted.
    pub fn admission(&self) -> Admission {
        self.quotas.counts
    }

    /// Attributes of a face, if it exists.
    pub fn attributes(&self, id: FaceId) -> Option<FaceAttributes> {
        let face = self.sockets.faces.get(&id)?;
        let receive_budget = match &face.conduit {
            Conduit::Udp(peer) => self.sockets.port(peer.port).and_then(UdpPort::receive_budget),
            Conduit::Link { .. } if face.uri.is_medium() => None,
            // A stream holds what the far end keeps for a slow reader, and ours keeps as much.
            Conduit::Link { .. } => Some(self.options.backlog_bytes as u64),
            Conduit::Down { .. } => None,
        };
        Some(FaceAttributes {
            receive_budget,
            upstream: face.upstream,
            permanent: face.permanent,
            provisional: self.quotas.newcomers.contains(id),
            local: face.is_local(),
            local_fields: face.local_fields,
            link_type: face.link_type(),
            marking: face.marking.map(Into::into),
            limits: face.limits,
            recovery: self.recovery_of(id, face),
            ..FaceAttributes::wire(face.mtu)
        })
    }

    fn recovery_of(&self, id: FaceId, face: &Face) -> Recovery {
        if face.uri.is_shared() || self.quotas.newcomers.lacks_recovery(id) {
            // Neighbours that share a link have no numbers in common.
            return Recovery::Off;
        }
        let wanted = match face.permanent || face.is_local() {
            true => face.recovery,
            false => self.options.on_demand_recovery,
        };
        // What is below a stream recovers already.
        let recovers = wanted.is_auto() && !matches!(face.uri, crate::face::FaceUri::Udp(_));
        if recovers { Recovery::Off } else { wanted }
    }

    /// Whether a face is usable now.
    pub fn is_up(&self, face: FaceId) -> bool {
        let face = self.sockets.faces.get(&face);
        face.is_some_and(|face| !matches!(face.conduit, Conduit::Down { .. }))
    }

    /// Every face there is, in no particular order.
    pub fn faces(&self) -> impl Iterator<Item = FaceId> + '_ {
        self.sockets.faces.keys().copied()
    }

    /// The next thing that happened to a face, oldest first.
    pub fn next_event(&mut self) -> Option<FaceEvent> {
        self.events.pop_front()
    }

    /// One wake-up: waits until there is something to do, and does it.
    ///
    /// Reports of applications are passed to `on_app`, at the latest before the turn returns.
    ///
    /// # Errors
    /// If waiting for sockets fails. [`next_event`](Self::next_event) reports events of single
    /// faces.
    pub fn turn<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        on_app: &mut dyn FnMut(Instant, AppId, Report),
    ) -> Result<Turn, DriverError> {
        self.timing.tune(self.options.timer_slack);
        self.timing.see();
        let mut turn = Turn { frames: self.settle(machine, on_app), woken: false };
        self.timing.coalesce(machine.deadline());
        turn.woken = self.wait(machine.deadline())?;
        self.follow_calendar(machine);
        let mut ready = std::mem::take(&mut self.sockets.ready);
        // If several are ready, each gets a short share.
        self.inbox.intake.reads = if ready.len() > 1 { 1 } else { READS };
        for (token, writable) in ready.drain(..) {
            self.serve(token, writable, &|face| machine.face_use(face));
            turn.frames += self.deliver(machine, on_app);
        }
        self.sockets.ready = ready;
        self.timing.coalesce.note(self.timing.clock.now(), turn.frames);
        self.timing.busy_poll.note_turn(turn.frames);
        self.expire(&|face| machine.face_use(face));
        turn.frames += self.settle(machine, on_app);
        Ok(turn)
    }

    /// Sends what waits, but takes no longer than `timeout`; for the end of a run.
    pub fn finish(&mut self, timeout: Duration) {
        let end = self.timing.clock.now() + timeout;
        loop {
            self.flush();
            let blocked = self.sockets.faces.iter().filter(|(_, face)| face.waits_to_write());
            let faces: Vec<_> = blocked.map(|(id, _)| *id).collect();
            let ports = self.sockets.ports.iter().flatten().find(|port| port.socket.is_waiting());
            let fd = match (faces.first().and_then(|id| self.sockets.faces.get(id)), ports) {
                (Some(Face { conduit: Conduit::Link { link, .. }, .. }), _) => link.fd(),
                (_, Some(port)) => port.socket.fd(),
                _ => return,
            };
            let left = end.since(self.timing.clock.now()).min(Duration::from_millis(50));
            if left.is_zero() || crate::stream::wait(fd, true, left).is_err() {
                return;
            }
            self.outbox.dirty.extend(faces);
            (0..self.sockets.ports.len()).for_each(|port| self.send_waiting(port));
        }
    }
}

impl Driver {
    /// Passes the time of day to the machine if the calendar clock was set, or ran on while the
    /// system was suspended.
    fn follow_calendar<M: Machine + ?Sized>(&mut self, machine: &mut M) {
        let (now, calendar) = (self.timing.see(), self.time_of_day());
        if calendar.distance(self.timing.calendar) > CALENDAR_DRIFT {
            (self.timing.calendar, self.timing.machine_time) = (calendar, now);
            machine.handle(now, Notice::TimeOfDay { micros: calendar.micros(now) }.into());
        }
    }

    /// Until nothing is left to be done without waiting.
    fn settle<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        on_app: &mut dyn FnMut(Instant, AppId, Report),
    ) -> usize {
        let mut frames = 0;
        loop {
            frames += self.deliver(machine, on_app);
            self.drain(machine, on_app);
            self.flush();
            if self.inbox.arrivals.is_empty() {
                return frames;
            }
        }
    }

    /// Passes arrivals to the machine and carries out its outputs.
    fn deliver<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        on_app: &mut dyn FnMut(Instant, AppId, Report),
    ) -> usize {
        if self.inbox.arrivals.is_empty() {
            return 0;
        }
        let now = self.timing.see();
        let (mut frames, mut at) = (0, now);
        while let Some(arrival) = self.inbox.arrivals.pop_front() {
            let input = match arrival {
                Arrival::ReceivedAt(received) => {
                    at = received.max(self.timing.machine_time).min(now);
                    continue;
                }
                Arrival::Frame(face, frame) => {
                    frames += 1;
                    Input::Frame { face, frame }
                }
                Arrival::FrameFrom(face, sender, frame) => {
                    frames += 1;
                    Input::FrameFrom { face, sender, frame }
                }
                Arrival::Backlog(face, bytes) => Input::Backlog { face, bytes },
                Arrival::Overflowed(face, frame) => Input::Overflowed { face, frame },
                Arrival::Down(face) => Input::FaceDown { face },
                Arrival::Notice(notice) => Input::Notice(notice),
                Arrival::Known(face) => match self.describe(face) {
                    Some(description) => Notice::FaceKnown { face, description }.into(),
                    None => continue,
                },
                Arrival::Up(face) => match self.attributes(face) {
                    Some(attributes) => Input::FaceUp { face, attributes },
                    None => continue,
                },
            };
            self.timing.machine_time = at;
            machine.handle(at, input);
        }
        self.drain(machine, on_app);
        frames
    }

    fn drain<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        on_app: &mut dyn FnMut(Instant, AppId, Report),
    ) {
        let now = self.timing.see();
        self.timing.machine_time = now;
        while let Some(output) = machine.poll(now) {
            match output {
                Output::Send { face, frame } => {
                    self.send(face, frame);
                    if self.quotas.newcomers.contains(face) && machine.face_use(face).answered {
                        self.promote(face, &|face| machine.face_use(face));
                    }
                }
                Output::App { app, report } => on_app(now, app, report),
                Output::Dropped { reason, .. } => *self.node_drops.entry(reason).or_default() += 1,
                Output::Event(_) => {}
                Output::Order(order) => self.obey(*order),
                // Only faces for values have these, and a socket is none.
                Output::Transmit { .. } | Output::Wants { .. } => {}
            }
        }
        debug_assert!(machine.deadline().is_none_or(|deadline| deadline > now));
    }
}
