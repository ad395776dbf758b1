//! The driver of the real world: one thread, one loop, every socket non-blocking.
//!
//! A turn waits until a socket is ready, the machine's deadline has come, or somebody wakes it; reads
//! a few buffers from each ready socket; hands every frame to the machine and carries out what the
//! machine wants. Frames to be sent are collected per peer and leave in as few system calls as
//! possible. No peer can make it wait: what a slow one does not take is kept up to a bound, and
//! dropped with a reason above it.
mod dial;
mod face_entry;
mod listener;
mod options;

pub use listener::{ListenerHandle, ListenerId};
pub use options::DriverOptions;

use crate::clock::Clock;
use crate::face::{
    CloseReason, Counters, DropReason, FaceChange, FaceError, FaceEvent, FaceId, FaceUri,
    LARGEST_FRAME_SENT, uri::Authority,
};
use crate::link::Intake;
use crate::memory::MemoryEnd;
use crate::udp::{self, Batch, Chunk, ReceiveBuffers, Sent, UdpPort};
use crate::waker::{Alarm, Waker};
use bytes::Bytes;
use face_entry::{Conduit, Face, Port, PortUse, UdpPeer};
use hashbrown::HashMap;
use listener::Listener;
use recoup_forwarder::node::{AppId, FaceAttributes, Input, Machine, Output};
use recoup_transport::application::AppOutput;
use recoup_transport::time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;

/// Connections accepted per wake-up and listener.
const ACCEPTS: usize = 64;
/// A listener that met a full system is asked again after this time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// An on-demand face that was heard more recently is not evicted for a newcomer.
const EVICTION_AGE: Duration = Duration::from_secs(1);
/// Events kept for whoever asks; the oldest go first.
const EVENTS: usize = 1_024;
/// Batch buffers kept for the next batch.
const SPARE_BUFFERS: usize = 16;

/// The driver cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// Waiting for sockets failed.
    #[error("cannot wait for sockets: {0}")]
    Wait(io::Error),
    /// A system resource that the driver itself needs was refused.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

/// What happened in a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// Frames handed to the machine.
    pub frames: usize,
    /// Somebody used a [`Waker`], or a signal arrived.
    pub woken: bool,
}

/// One thing that a socket has to tell the machine.
#[derive(Debug)]
enum Arrival {
    Up(FaceId),
    Down(FaceId),
    Frame(FaceId, Bytes),
}

/// What a descriptor belongs to.
#[derive(Clone, Copy, Debug)]
enum Token {
    Alarm,
    Port(usize),
    Listener(usize),
    Face(FaceId),
}

/// Drives one machine over real sockets.
///
/// Open faces with [`connect`](Self::connect) and [`listen`](Self::listen), then call
/// [`turn`](Self::turn) in a loop. The driver and its machine belong to one thread; a [`Waker`] is the
/// only thing that others hold.
#[derive(Debug)]
pub struct Driver {
    clock: Clock,
    options: DriverOptions,
    alarm: Alarm,
    faces: HashMap<FaceId, Face>,
    ports: Vec<Option<Port>>,
    listeners: Vec<Listener>,
    next_face: u32,
    next_listener: u32,
    on_demand: usize,
    arrivals: VecDeque<Arrival>,
    events: VecDeque<FaceEvent>,
    /// Faces with frames to be flushed.
    dirty: Vec<FaceId>,
    /// Faces that wait to be opened.
    timed: Vec<FaceId>,
    ready: Vec<(Token, bool)>,
    tokens: Vec<Token>,
    intake: Intake,
    buffers: ReceiveBuffers,
    chunks: Vec<Chunk>,
    spare: Vec<Vec<u8>>,
    /// Octets that wait for slow peers.
    waiting: usize,
    next_sweep: Instant,
    longest_wait: Option<Duration>,
    /// What faces that are gone have carried, and what belonged to no face.
    past: Counters,
    tuned: bool,
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
            clock: Clock::new(),
            options,
            alarm: Alarm::new().map_err(DriverError::Start)?,
            faces: HashMap::new(),
            ports: Vec::new(),
            listeners: Vec::new(),
            next_face: 1,
            next_listener: 1,
            on_demand: 0,
            arrivals: VecDeque::new(),
            events: VecDeque::new(),
            dirty: Vec::new(),
            timed: Vec::new(),
            ready: Vec::new(),
            tokens: Vec::new(),
            intake: Intake::default(),
            buffers: ReceiveBuffers::new(),
            chunks: Vec::new(),
            spare: Vec::new(),
            waiting: 0,
            next_sweep: Instant::ZERO,
            longest_wait: None,
            past: Counters::default(),
            tuned: false,
        })
    }

    /// Time since the driver was made, as the machine is told it.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The clock, for others who should show the same time.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Interrupts a turn from elsewhere.
    pub fn waker(&self) -> Waker {
        self.alarm.waker()
    }

    /// A turn returns after this time even if nothing happens; `None` takes the bound away.
    pub fn set_longest_wait(&mut self, longest: Option<Duration>) {
        self.longest_wait = longest;
    }

    /// Opens a face toward producers or a forwarder. Waits until it is usable, except for UDP, where
    /// nobody can tell; names are looked up meanwhile.
    ///
    /// # Errors
    /// If nobody answers there, with the likely reason.
    pub fn connect(&mut self, uri: &FaceUri) -> Result<FaceId, FaceError> {
        self.check_room(uri)?;
        if let FaceUri::Udp(to) = uri {
            return self.connect_udp(uri, to);
        }
        let dialed = dial::dial(uri, &self.options)?;
        let face = Face::over_link(uri.clone(), dialed.link);
        Ok(self.add(Face {
            addresses: dialed.addresses,
            upstream: true,
            ..face
        }))
    }

    fn connect_udp(&mut self, uri: &FaceUri, to: &Authority) -> Result<FaceId, FaceError> {
        let failed = |source| FaceError::Connect {
            uri: uri.clone(),
            source,
        };
        let remote = *to
            .resolve()?
            .first()
            .ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let DriverOptions {
            socket_buffer_octets,
            backlog_octets,
            ..
        } = self.options;
        let socket =
            UdpPort::connect(remote, socket_buffer_octets, backlog_octets).map_err(failed)?;
        let id = FaceId(self.next_face);
        let port = self.add_port(Port {
            socket,
            used: PortUse::Connected(id),
        });
        let peer = UdpPeer::new(port, remote, None, self.clock.now());
        Ok(self.add(Face {
            upstream: true,
            ..Face::over_udp(uri.clone(), peer, &self.options)
        }))
    }

    /// Opens a face over one end of an in-process pair.
    ///
    /// # Errors
    /// If too many faces are open.
    pub fn attach(&mut self, end: MemoryEnd, upstream: bool) -> Result<FaceId, FaceError> {
        let uri = FaceUri::Memory("pair".to_owned());
        self.check_room(&uri)?;
        Ok(self.add(Face {
            upstream,
            ..Face::over_link(uri, Box::new(end))
        }))
    }

    /// Lets peers open faces. Each becomes an on-demand face: it is not upstream, and ends with its
    /// peer or, over UDP, when the peer has been silent for long.
    ///
    /// # Errors
    /// If the address is taken or not ours.
    pub fn listen(&mut self, uri: &FaceUri) -> Result<ListenerHandle, FaceError> {
        let failed = |source| FaceError::Listen {
            uri: uri.clone(),
            source,
        };
        let local = match uri {
            FaceUri::Udp(at) | FaceUri::Tcp(at) | FaceUri::WebSocket(at, _) => {
                at.resolve()?.first().copied()
            }
            FaceUri::Unix(_) | FaceUri::Memory(_) => None,
        };
        let id = ListenerId(self.next_listener);
        self.next_listener += 1;
        if let (FaceUri::Udp(_), Some(local)) = (uri, local) {
            let DriverOptions {
                socket_buffer_octets,
                backlog_octets,
                ..
            } = self.options;
            let socket =
                UdpPort::bind(local, socket_buffer_octets, backlog_octets).map_err(failed)?;
            let bound = socket.local_address().map_err(failed)?;
            let wildcard = bound.ip().is_unspecified();
            let used = PortUse::Shared {
                listener: id,
                peers: HashMap::new(),
                wildcard,
            };
            self.add_port(Port { socket, used });
            let uri = FaceUri::Udp(Authority::from(bound));
            return Ok(ListenerHandle {
                id,
                uri,
                address: Some(bound),
            });
        }
        let (listener, handle) = Listener::bind(id, uri, local).map_err(failed)?;
        self.listeners.push(listener);
        Ok(handle)
    }

    /// Stops listening. Faces that peers opened over UDP end with their socket; others live on.
    pub fn close_listener(&mut self, id: ListenerId) {
        self.listeners.retain(|listener| listener.id != id);
        for index in 0..self.ports.len() {
            let Some(Some(Port { used, .. })) = self.ports.get(index) else {
                continue;
            };
            let PortUse::Shared {
                listener, peers, ..
            } = used
            else {
                continue;
            };
            if *listener == id {
                let faces: Vec<_> = peers.values().copied().collect();
                faces
                    .into_iter()
                    .for_each(|face| self.end(face, CloseReason::Closed, false));
                self.remove_port(index);
            }
        }
    }

    /// Closes a face for good, after sending what it can without waiting.
    pub fn close(&mut self, face: FaceId) {
        self.flush_face(face);
        self.end(face, CloseReason::Closed, false);
    }

    /// What a face has carried and dropped, if it is there.
    pub fn counters(&self, face: FaceId) -> Option<Counters> {
        self.faces.get(&face).map(|face| face.counters)
    }

    /// What all faces, past ones included, have carried and dropped.
    pub fn totals(&self) -> Counters {
        let mut totals = self.past;
        self.faces
            .values()
            .for_each(|face| totals.add(&face.counters));
        totals
    }

    /// Where a face leads, if it is there.
    pub fn uri(&self, face: FaceId) -> Option<&FaceUri> {
        self.faces.get(&face).map(|face| &face.uri)
    }

    /// What a face can do, if it is there.
    pub fn attributes(&self, face: FaceId) -> Option<FaceAttributes> {
        let face = self.faces.get(&face)?;
        let receive_budget = match &face.conduit {
            Conduit::Udp(peer) => self.port(peer.port).and_then(UdpPort::receive_budget),
            Conduit::Link { .. } | Conduit::Down { .. } => None,
        };
        Some(FaceAttributes {
            mtu: face.mtu,
            receive_budget,
            upstream: face.upstream,
        })
    }

    /// Every face there is, in no particular order.
    pub fn faces(&self) -> impl Iterator<Item = FaceId> + '_ {
        self.faces.keys().copied()
    }

    /// The next thing that happened to a face, oldest first.
    pub fn next_event(&mut self) -> Option<FaceEvent> {
        self.events.pop_front()
    }

    /// One wake-up: waits until there is something to do, and does it.
    ///
    /// What the machine wants from the world outside the network is handed to `on_app`, at the latest
    /// before the turn returns.
    ///
    /// # Errors
    /// If waiting for sockets fails; what happens to single faces is told by
    /// [`next_event`](Self::next_event) instead.
    pub fn turn<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        on_app: &mut dyn FnMut(Instant, AppId, AppOutput),
    ) -> Result<Turn, DriverError> {
        self.tune();
        let mut turn = Turn {
            frames: self.settle(machine, on_app),
            woken: false,
        };
        turn.woken = self.wait(machine.deadline())?;
        let mut ready = std::mem::take(&mut self.ready);
        for (token, writable) in ready.drain(..) {
            self.serve(token, writable);
            turn.frames += self.deliver(machine, on_app);
        }
        self.ready = ready;
        self.expire();
        turn.frames += self.settle(machine, on_app);
        Ok(turn)
    }

    /// Sends what waits, but takes no longer than `timeout`; for the end of a run.
    pub fn finish(&mut self, timeout: Duration) {
        let end = self.clock.now() + timeout;
        loop {
            self.flush();
            let blocked = self.faces.iter().filter(|(_, face)| face.waits_to_write());
            let faces: Vec<_> = blocked.map(|(id, _)| *id).collect();
            let ports = self
                .ports
                .iter()
                .flatten()
                .find(|port| port.socket.is_waiting());
            let fd = match (faces.first().and_then(|id| self.faces.get(id)), ports) {
                (
                    Some(Face {
                        conduit: Conduit::Link { link, .. },
                        ..
                    }),
                    _,
                ) => link.fd(),
                (_, Some(port)) => port.socket.fd(),
                _ => return,
            };
            let left = end.since(self.clock.now()).min(Duration::from_millis(50));
            if left.is_zero() || crate::stream::wait(fd, true, left).is_err() {
                return;
            }
            self.dirty.extend(faces);
            (0..self.ports.len()).for_each(|port| self.send_waiting(port));
        }
    }
}

/// The loop.
impl Driver {
    fn tune(&mut self) {
        if !std::mem::replace(&mut self.tuned, true) {
            #[cfg(target_os = "linux")]
            {
                let slack = u64::try_from(self.options.timer_slack.as_nanos()).unwrap_or(u64::MAX);
                // Without it timers are some 50 µs late, which is all that is lost.
                let _ = rustix::thread::set_current_timer_slack(slack.try_into().ok());
            }
        }
    }

    /// Until nothing is left to be done without waiting.
    fn settle<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        on_app: &mut dyn FnMut(Instant, AppId, AppOutput),
    ) -> usize {
        let mut frames = 0;
        loop {
            frames += self.deliver(machine, on_app);
            self.drain(machine, on_app);
            self.flush();
            if self.arrivals.is_empty() {
                return frames;
            }
        }
    }

    /// Tells the machine what arrived, and carries out what follows from it.
    fn deliver<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        on_app: &mut dyn FnMut(Instant, AppId, AppOutput),
    ) -> usize {
        if self.arrivals.is_empty() {
            return 0;
        }
        let (now, mut frames) = (self.clock.now(), 0);
        while let Some(arrival) = self.arrivals.pop_front() {
            let input = match arrival {
                Arrival::Frame(face, frame) => {
                    frames += 1;
                    Input::Frame { face, frame }
                }
                Arrival::Down(face) => Input::FaceDown { face },
                Arrival::Up(face) => match self.attributes(face) {
                    Some(attributes) => Input::FaceUp { face, attributes },
                    None => continue,
                },
            };
            machine.handle(now, input);
        }
        self.drain(machine, on_app);
        frames
    }

    fn drain<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        on_app: &mut dyn FnMut(Instant, AppId, AppOutput),
    ) {
        let now = self.clock.now();
        while let Some(output) = machine.poll(now) {
            match output {
                Output::Send { face, frame } => self.send(face, frame),
                Output::App { app, output } => on_app(now, app, output),
                #[allow(unreachable_patterns)]
                _ => {}
            }
        }
        debug_assert!(machine.deadline().is_none_or(|deadline| deadline > now));
    }

    /// Waits, and notes what is ready. Tells whether somebody interrupted.
    fn wait(&mut self, deadline: Option<Instant>) -> Result<bool, DriverError> {
        let timeout = self.timeout(deadline);
        let Self { tokens, ready, .. } = self;
        tokens.clear();
        ready.clear();
        let mut fds = Vec::with_capacity(4 + self.ports.len() + self.faces.len());
        let mut watch = |token, fd, write| {
            let flags = if write {
                PollFlags::IN | PollFlags::OUT
            } else {
                PollFlags::IN
            };
            tokens.push(token);
            fds.push(PollFd::from_borrowed_fd(fd, flags));
        };
        watch(
            Token::Alarm,
            std::os::fd::AsFd::as_fd(&self.alarm.stream),
            false,
        );
        for (index, port) in self.ports.iter().enumerate() {
            if let Some(Port { socket, .. }) = port {
                watch(Token::Port(index), socket.fd(), socket.is_waiting());
            }
        }
        for (index, listener) in self.listeners.iter().enumerate() {
            if listener.paused_until.is_none() {
                watch(Token::Listener(index), listener.fd(), false);
            }
        }
        let (mut more, mut busy) = (Vec::new(), false);
        for (id, face) in &self.faces {
            if let Conduit::Link { link, .. } = &face.conduit {
                watch(Token::Face(*id), link.fd(), link.wants_write());
                if link.has_more() {
                    busy = true;
                    more.push(*id);
                }
            }
        }
        let timeout = if busy {
            Some(Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            })
        } else {
            timeout
        };
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(DriverError::Wait(error.into())),
        }
        for (token, fd) in tokens.iter().zip(&fds) {
            let found = fd.revents();
            let also = matches!(token, Token::Face(face) if busy && more.contains(face));
            if !found.is_empty() || also {
                ready.push((*token, found.contains(PollFlags::OUT)));
            }
        }
        drop(fds);
        let woken = matches!(ready.first(), Some((Token::Alarm, _)));
        Ok(woken)
    }

    /// How long nothing needs to be done.
    fn timeout(&self, deadline: Option<Instant>) -> Option<Timespec> {
        let now = self.clock.now();
        let limit = self.longest_wait.map(|longest| now + longest);
        let sweep = (self.on_demand > 0).then_some(self.next_sweep);
        let faces = self
            .timed
            .iter()
            .filter_map(|id| self.faces.get(id)?.deadline());
        let listeners = self
            .listeners
            .iter()
            .filter_map(|listener| listener.paused_until);
        let first = [deadline, limit, sweep]
            .into_iter()
            .flatten()
            .chain(faces)
            .chain(listeners);
        let wait = first.min()?.since(now);
        Some(wait.try_into().unwrap_or(Timespec {
            tv_sec: 3_600,
            tv_nsec: 0,
        }))
    }

    fn serve(&mut self, token: Token, writable: bool) {
        match token {
            Token::Alarm => self.alarm.clear(),
            Token::Port(index) => {
                if writable {
                    self.send_waiting(index);
                }
                self.receive_datagrams(index);
            }
            Token::Listener(index) => self.accept(index),
            Token::Face(face) => self.receive_frames(face, writable),
        }
    }

    /// What is due without a socket being ready.
    fn expire(&mut self) {
        let now = self.clock.now();
        for listener in &mut self.listeners {
            listener.paused_until = listener.paused_until.filter(|until| *until > now);
        }
        for index in (0..self.timed.len()).rev() {
            let Some(&id) = self.timed.get(index) else {
                continue;
            };
            let Some(deadline) = self.faces.get(&id).and_then(Face::deadline) else {
                self.timed.swap_remove(index);
                continue;
            };
            if deadline <= now {
                self.timed.swap_remove(index);
                self.expire_face(id);
            }
        }
        if self.on_demand > 0 && self.next_sweep <= now {
            self.sweep(now);
        }
    }

    fn expire_face(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        if !matches!(face.conduit, Conduit::Down { .. }) {
            return self.end(id, CloseReason::TooSlow, true);
        }
        match dial::begin(&face.uri, face.next_address(), &self.options) {
            Err(error) => self.end(id, error.into(), true),
            Ok(link) => {
                let open = link.is_open();
                let until = self.clock.now() + self.options.connect_timeout;
                face.conduit = Conduit::Link {
                    link,
                    open_until: (!open).then_some(until),
                };
                match open {
                    true => self.up(id),
                    false => self.timed.push(id),
                }
            }
        }
    }

    /// Ends UDP faces that have been silent for too long.
    fn sweep(&mut self, now: Instant) {
        let idle = self.options.udp_idle;
        self.next_sweep = now + idle / 4;
        let silent = |face: &Face| {
            face.silent_since()
                .is_some_and(|since| now.since(since) > idle)
        };
        let faces: Vec<_> = self
            .faces
            .iter()
            .filter(|(_, face)| silent(face))
            .map(|(id, _)| *id)
            .collect();
        faces
            .into_iter()
            .for_each(|face| self.end(face, CloseReason::Idle(idle), false));
    }
}

/// Receiving.
impl Driver {
    fn receive_frames(&mut self, id: FaceId, writable: bool) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        let Conduit::Link { link, open_until } = &mut face.conduit else {
            return;
        };
        let was_open = link.is_open();
        let result = link.receive(&mut self.intake);
        let opened = link.is_open() && !was_open;
        if opened {
            *open_until = None;
            self.up(id);
        }
        self.take_frames(id);
        match result {
            Err(reason) => self.end(id, reason, true),
            Ok(()) if writable => self.soil(id),
            Ok(()) => {}
        }
    }

    fn take_frames(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        face.counters
            .add(&std::mem::take(&mut self.intake.counters));
        for frame in self.intake.frames.drain(..) {
            if frame.is_empty() {
                face.counters.drop_frames(DropReason::Empty, 1);
                continue;
            }
            face.heard();
            face.counters.received(frame.len());
            self.arrivals.push_back(Arrival::Frame(id, frame));
        }
    }

    fn receive_datagrams(&mut self, index: usize) {
        let Some(Some(port)) = self.ports.get(index) else {
            return;
        };
        let mut chunks = std::mem::take(&mut self.chunks);
        let result = port
            .socket
            .receive(&mut self.buffers, |chunk| chunks.push(chunk));
        if let (Err(error), PortUse::Connected(face)) = (result, &port.used) {
            self.unreachable(*face, error.kind());
        }
        let now = self.clock.now();
        for chunk in chunks.drain(..) {
            self.take_chunk(index, &chunk, now);
        }
        self.chunks = chunks;
    }

    fn take_chunk(&mut self, port: usize, chunk: &Chunk, now: Instant) {
        if chunk.is_empty() {
            return self.past.drop_frames(DropReason::Empty, 1);
        }
        let Some(id) = self.sender(port, chunk, now) else {
            let datagrams = chunk.datagrams().count() as u64;
            return self.past.drop_frames(DropReason::Unsolicited, datagrams);
        };
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        face.heard();
        if let Conduit::Udp(peer) = &mut face.conduit {
            peer.heard = now;
        }
        for frame in chunk.datagrams() {
            face.counters.received(frame.len());
            self.arrivals.push_back(Arrival::Frame(id, frame));
        }
    }

    /// The face of whoever sent a chunk; a new one if the sender is unknown and sent a packet.
    fn sender(&mut self, port: usize, chunk: &Chunk, now: Instant) -> Option<FaceId> {
        let (known, local) = match &self.ports.get(port)?.as_ref()?.used {
            PortUse::Connected(face) => return Some(*face),
            PortUse::Shared {
                peers, wildcard, ..
            } => (
                peers.get(&chunk.remote).copied(),
                chunk.local.filter(|_| *wildcard),
            ),
        };
        if known.is_some() {
            return known;
        }
        // Only Interests and link packets start a conversation.
        let speaks = matches!(chunk.first_octet(), Some(0x05 | 0x64));
        if !speaks || !self.make_room(now) {
            return None;
        }
        let id = FaceId(self.next_face);
        if let Some(Some(Port {
            used: PortUse::Shared { peers, .. },
            ..
        })) = self.ports.get_mut(port)
        {
            peers.insert(chunk.remote, id);
        }
        let uri = FaceUri::Udp(Authority::from(chunk.remote));
        let peer = UdpPeer::new(port, chunk.remote, local, now);
        Some(self.add(Face::over_udp(uri, peer, &self.options)))
    }

    /// Whether one more on-demand UDP face may be opened; the longest silent one may have to go.
    fn make_room(&mut self, now: Instant) -> bool {
        if self.on_demand < self.options.on_demand_faces && self.faces.len() < self.options.faces {
            return true;
        }
        let silent = |(id, face): (&FaceId, &Face)| Some((face.silent_since()?, *id));
        match self.faces.iter().filter_map(silent).min() {
            Some((since, id)) if now.since(since) > EVICTION_AGE => {
                self.end(id, CloseReason::Evicted, false);
                true
            }
            _ => false,
        }
    }

    fn accept(&mut self, index: usize) {
        for _ in 0..ACCEPTS {
            let Some(listener) = self.listeners.get_mut(index) else {
                return;
            };
            let (link, uri) = match listener.accept(&self.options) {
                Ok(Some(peer)) => peer,
                Ok(None) => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(_) => {
                    listener.paused_until = Some(self.clock.now() + ACCEPT_PAUSE);
                    return;
                }
            };
            let room = self.on_demand < self.options.on_demand_faces
                && self.faces.len() < self.options.faces;
            // Without room the connection is closed at once, so that the peer knows.
            if room {
                let mut face = Face::over_link(uri, link);
                face.open_by(self.clock.now() + self.options.connect_timeout);
                self.add(face);
            }
        }
    }
}

/// Sending.
impl Driver {
    fn send(&mut self, id: FaceId, frame: Bytes) {
        let Some(face) = self.faces.get_mut(&id) else {
            return self.past.drop_frames(DropReason::NoFace, 1);
        };
        let length = frame.len();
        if length == 0 || length > face.mtu {
            let reason = if length == 0 {
                DropReason::Empty
            } else {
                DropReason::TooLong
            };
            return face.counters.drop_frames(reason, 1);
        }
        let full = self.waiting > self.options.backlog_total_octets;
        let taken = match &mut face.conduit {
            Conduit::Link { link, .. } if !link.is_open() => Err(DropReason::Down),
            Conduit::Link { link, .. } if full && link.wants_write() => Err(DropReason::Backlog),
            Conduit::Link { link, .. } => link.push(frame),
            Conduit::Down { .. } => Err(DropReason::Down),
            Conduit::Udp(peer) => {
                let Some(Some(port)) = self.ports.get_mut(peer.port) else {
                    return;
                };
                let bounds = port.socket.bounds(peer.path);
                if !peer.batch.accepts(length, bounds) {
                    self.send_batch(id);
                }
                return self.collect(id, &frame);
            }
        };
        match taken {
            Err(reason) => face.counters.drop_frames(reason, 1),
            Ok(()) => {
                face.counters.sent(length);
                self.soil(id);
            }
        }
    }

    /// Adds a datagram to the batch of its face, and sends the batch if that completes it.
    fn collect(&mut self, id: FaceId, frame: &[u8]) {
        let Some(Face {
            conduit: Conduit::Udp(peer),
            counters,
            dirty,
            ..
        }) = self.faces.get_mut(&id)
        else {
            return;
        };
        let Some(Some(port)) = self.ports.get(peer.port) else {
            return;
        };
        if peer.batch.is_empty() {
            peer.batch = Batch::reusing(self.spare.pop().unwrap_or_default());
        }
        peer.batch.push(frame, port.socket.bounds(peer.path));
        counters.sent(frame.len());
        if peer.batch.is_complete() {
            self.send_batch(id);
        } else if !std::mem::replace(dirty, true) {
            self.dirty.push(id);
        }
    }

    fn send_batch(&mut self, id: FaceId) {
        let Some(Face {
            conduit: Conduit::Udp(peer),
            ..
        }) = self.faces.get_mut(&id)
        else {
            return;
        };
        let Some(Some(port)) = self.ports.get_mut(peer.port) else {
            return;
        };
        if peer.batch.is_empty() {
            return;
        }
        let (sent, memory) = port.socket.send(peer.route, peer.batch.take());
        self.spare
            .extend(memory.filter(|_| self.spare.len() < SPARE_BUFFERS));
        if sent != Sent::default() {
            self.account(id, sent);
        }
    }

    /// Sends what a UDP socket did not take before.
    fn send_waiting(&mut self, index: usize) {
        let Some(Some(port)) = self.ports.get_mut(index) else {
            return;
        };
        let mut results = Vec::new();
        port.socket
            .send_waiting(|route, sent| results.push((route, sent)));
        for (route, sent) in results
            .into_iter()
            .filter(|(_, sent)| *sent != Sent::default())
        {
            let face = match self.ports.get(index) {
                Some(Some(Port {
                    used: PortUse::Connected(face),
                    ..
                })) => Some(*face),
                Some(Some(Port {
                    used: PortUse::Shared { peers, .. },
                    ..
                })) => peers.get(&route.remote).copied(),
                _ => None,
            };
            if let Some(face) = face {
                self.account(face, sent);
            }
        }
    }

    /// Notes what went wrong with a batch.
    fn account(&mut self, id: FaceId, sent: Sent) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        face.counters
            .drop_frames(DropReason::TooLong, sent.too_long as u64);
        face.counters
            .drop_frames(DropReason::Unreachable, sent.unreachable as u64);
        face.counters
            .drop_frames(DropReason::Backlog, sent.backlog as u64);
        if sent.path_shrank && face.lower_path() {
            let mtu = face.mtu;
            self.arrivals.push_back(Arrival::Up(id));
            self.tell(id, FaceChange::MtuLowered(mtu));
        }
        if let Some(kind) = sent.error {
            self.unreachable(id, kind);
        }
    }

    fn soil(&mut self, id: FaceId) {
        if let Some(face) = self.faces.get_mut(&id)
            && !std::mem::replace(&mut face.dirty, true)
        {
            self.dirty.push(id);
        }
    }

    fn flush(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.drain(..).for_each(|id| self.flush_face(id));
        dirty.append(&mut self.dirty);
        self.dirty = dirty;
    }

    fn flush_face(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        face.dirty = false;
        match &mut face.conduit {
            Conduit::Udp(_) => self.send_batch(id),
            Conduit::Down { .. } => {}
            Conduit::Link { link, .. } if !link.is_open() => {}
            Conduit::Link { link, .. } => {
                let result = link.flush();
                let waiting = if link.wants_write() {
                    link.waiting_octets()
                } else {
                    0
                };
                self.waiting = self.waiting - face.waiting + waiting;
                face.waiting = waiting;
                if let Err(reason) = result {
                    self.end(id, reason, true);
                }
            }
        }
    }
}

/// Faces coming and going.
impl Driver {
    fn check_room(&self, uri: &FaceUri) -> Result<(), FaceError> {
        let limit = self.options.faces;
        match self.faces.len() < limit {
            true => Ok(()),
            false => Err(FaceError::TooMany {
                uri: uri.clone(),
                limit,
            }),
        }
    }

    fn add(&mut self, face: Face) -> FaceId {
        let id = FaceId(self.next_face);
        self.next_face += 1;
        if !face.upstream {
            if self.on_demand == 0 {
                self.next_sweep = self.clock.now() + self.options.udp_idle / 4;
            }
            self.on_demand += 1;
        }
        let usable = face.deadline().is_none();
        self.faces.insert(id, face);
        match usable {
            true => self.up(id),
            false => self.timed.push(id),
        }
        id
    }

    fn up(&mut self, id: FaceId) {
        if let Some(face) = self.faces.get_mut(&id) {
            face.is_up = true;
            self.arrivals.push_back(Arrival::Up(id));
            self.tell(id, FaceChange::Up);
        }
    }

    /// A face goes down: for good, or until it is opened again.
    fn end(&mut self, id: FaceId, reason: CloseReason, again: bool) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        self.waiting -= std::mem::take(&mut face.waiting);
        if std::mem::take(&mut face.is_up) {
            self.arrivals.push_back(Arrival::Down(id));
        }
        if again && face.upstream && self.options.reconnect && face.can_be_dialed() {
            let retry = face.back_off(&self.options);
            face.conduit = Conduit::Down {
                retry_at: self.clock.now() + retry,
            };
            self.timed.push(id);
            return self.tell(
                id,
                FaceChange::Down {
                    reason,
                    retry: Some(retry),
                },
            );
        }
        self.tell(
            id,
            FaceChange::Down {
                reason,
                retry: None,
            },
        );
        if let Some(face) = self.faces.remove(&id) {
            self.forget(&face);
        }
    }

    fn forget(&mut self, face: &Face) {
        self.past.add(&face.counters);
        self.on_demand -= usize::from(!face.upstream);
        let Conduit::Udp(peer) = &face.conduit else {
            return;
        };
        match self.ports.get_mut(peer.port) {
            Some(Some(Port {
                used: PortUse::Shared { peers, .. },
                ..
            })) => {
                peers.remove(&peer.route.remote);
            }
            _ => self.remove_port(peer.port),
        }
    }

    fn add_port(&mut self, port: Port) -> usize {
        let free = self
            .ports
            .iter()
            .position(Option::is_none)
            .unwrap_or(self.ports.len());
        self.ports
            .resize_with(self.ports.len().max(free + 1), || None);
        if let Some(slot) = self.ports.get_mut(free) {
            *slot = Some(port);
        }
        free
    }

    fn remove_port(&mut self, index: usize) {
        if let Some(slot) = self.ports.get_mut(index) {
            *slot = None;
        }
    }

    fn port(&self, index: usize) -> Option<&UdpPort> {
        Some(&self.ports.get(index)?.as_ref()?.socket)
    }

    fn unreachable(&mut self, id: FaceId, kind: io::ErrorKind) {
        if let Some(face) = self.faces.get_mut(&id)
            && !std::mem::replace(&mut face.unreachable_told, true)
        {
            self.tell(
                id,
                FaceChange::Unreachable(io::Error::from(kind).to_string()),
            );
        }
    }

    fn tell(&mut self, id: FaceId, change: FaceChange) {
        if self.events.len() >= EVENTS {
            self.events.pop_front();
        }
        if let Some(face) = self.faces.get(&id) {
            self.events.push_back(FaceEvent {
                face: id,
                uri: face.uri.clone(),
                change,
            });
        }
    }
}

/// Longest frame that a path of datagrams of up to `path` octets carries.
fn frame_limit(path: usize, options: &DriverOptions) -> usize {
    options.udp_mtu.unwrap_or(path).min(LARGEST_FRAME_SENT)
}

/// Longest unfragmented datagram toward a peer; a guess that fits everywhere if the system cannot say.
fn path_to(remote: std::net::SocketAddr) -> usize {
    udp::path_datagram(remote).unwrap_or(1_232)
}
