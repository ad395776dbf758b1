//! Stations of Ethernet that speak to us first: each gets a face, and all of an interface share one socket.
//!
//! Source: NFD, `daemon/face/ethernet-channel.cpp`. Differences: in `medium/ethernet.rs`; and a listener whose interface goes
//! ends the faces that it opened, and listens again when the interface comes back.
use super::face_entry::Face;
use super::listener::Listener;
use super::receive::starts_conversation;
use super::room::{Neighbour, PeerKind};
use super::{Arrival, Driver, DriverOptions, ListenerId, Sockets, Token, Uses};
use crate::face::{CloseReason, DropReason, FaceId, FaceUri, MediumOptions};
use crate::interface::Interfaces;
use crate::medium::{self, EtherAddress, StationReceiver};
use bytes::Bytes;
use hashbrown::HashMap;
use recoup_transport::time::{Duration, Instant};
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;

/// Most frames received per wake-up and listener.
const FRAMES: usize = 256;

/// Stations of one interface.
#[derive(Debug)]
pub(super) struct Segment {
    interface: String,
    /// None while the interface is missing or down.
    receiver: Option<StationReceiver>,
    /// Attempts to open it that failed, in a row.
    failures: u32,
    /// Faces of known stations.
    faces: HashMap<EtherAddress, FaceId>,
}

impl Segment {
    pub(super) fn new(interface: &str) -> Self {
        Self { interface: interface.to_owned(), receiver: None, failures: 0, faces: HashMap::new() }
    }

    /// Opens the receiving socket, or returns why that must wait.
    ///
    /// # Errors
    /// If it never can.
    pub(super) fn open(&mut self, options: &DriverOptions) -> io::Result<Option<String>> {
        match medium::listen(&self.interface, options) {
            Ok(receiver) => {
                (self.receiver, self.failures) = (Some(receiver), 0);
                Ok(None)
            }
            Err(error) if medium::may_pass(&error) => Ok(Some(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// How long to wait before the next attempt.
    fn back_off(&mut self, options: &DriverOptions) -> Duration {
        let pause = options.back_off(self.failures);
        self.failures = self.failures.saturating_add(1);
        pause
    }

    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.receiver.as_ref().map(StationReceiver::fd)
    }

    fn receive(&mut self) -> io::Result<Option<(EtherAddress, Bytes)>> {
        self.receiver
            .as_mut()
            .map_or_else(|| Err(ErrorKind::NotConnected.into()), StationReceiver::receive)
    }
}

impl Driver {
    /// Receives from the stations of an interface; `false` if the listener is of another kind.
    pub(super) fn receive_stations(&mut self, id: ListenerId, uses: Uses<'_>) -> bool {
        let now = self.timing.clock.now();
        for _ in 0..FRAMES {
            let Some(segment) = self.sockets.segment(id) else {
                return false;
            };
            match segment.receive() {
                Ok(Some((station, frame))) => self.take_word((id, station), frame, now, uses),
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.deafen(id);
                    return true;
                }
            }
        }
        true
    }

    fn take_word(
        &mut self,
        from: (ListenerId, EtherAddress),
        frame: Bytes,
        now: Instant,
        uses: Uses<'_>,
    ) {
        let face = match self.station(from, &frame, now, uses) {
            Ok(face) => face,
            Err(reason) => return self.past.drop_frames(reason, 1),
        };
        // A face that this side opened receives by a socket of its own.
        if let Some(known) = self.sockets.faces.get_mut(&face).filter(|face| face.is_send_only()) {
            known.mark_received(now);
            known.counters.received(frame.len());
            self.inbox.arrivals.push_back(Arrival::Frame(face, frame));
        }
    }

    /// The face of a station; another one if it is unknown and sent a packet.
    fn station(
        &mut self,
        (id, station): (ListenerId, EtherAddress),
        frame: &Bytes,
        now: Instant,
        uses: Uses<'_>,
    ) -> Result<FaceId, DropReason> {
        let segment = self.sockets.segment(id).ok_or(DropReason::NoFace)?;
        if let Some(face) = segment.faces.get(&station) {
            return Ok(*face);
        }
        if frame.is_empty() {
            return Err(DropReason::Empty);
        }
        if !starts_conversation(frame.first().copied()) {
            return Err(DropReason::Unsolicited);
        }
        let neighbour = Some(Neighbour::Stations(id));
        if !self.make_room(now, PeerKind::Station, neighbour, uses) {
            return Err(DropReason::NoRoom);
        }
        let segment = self.sockets.segment(id).ok_or(DropReason::NoFace)?;
        let link = segment.receiver.as_ref().ok_or(DropReason::NoFace)?.link_to(station);
        let mut opened = Face::over_link(FaceUri::Ether(station), link);
        let interface = Some(segment.interface.clone());
        opened.medium = MediumOptions { interface, ..Default::default() };
        opened.neighbour = neighbour;
        opened.limits = self.sockets.listener_limits.get(&id).copied();
        let face = self.add(opened);
        self.sockets.introduce(face);
        Ok(face)
    }

    /// Closes the socket of an interface until it can be opened again.
    fn deafen(&mut self, id: ListenerId) {
        self.end_stations(id, &CloseReason::NoInterface);
        self.sockets.ignore_listener(id);
        let until = self.timing.clock.now() + self.options.reconnect_after;
        if let Some(listener) = self.sockets.listeners.iter_mut().find(|listener| listener.id == id)
        {
            listener.paused_until = Some(until);
            if let Some(segment) = listener.segment() {
                segment.receiver = None;
            }
        }
    }

    /// Ends the faces that stations opened by way of a listener.
    pub(super) fn end_stations(&mut self, id: ListenerId, reason: &CloseReason) {
        let Some(segment) = self.sockets.segment(id) else {
            return;
        };
        let faces: Vec<_> = segment.faces.values().copied().collect();
        for face in faces {
            if self.sockets.faces.get(&face).is_some_and(Face::is_send_only) {
                self.end(face, reason.clone(), false);
            }
        }
    }

    /// Interfaces have changed: closes the sockets of those that are gone and retries those that
    /// may be back.
    pub(super) fn follow_segments(&mut self, present: &Interfaces) {
        let now = self.timing.clock.now();
        let mut lost = Vec::new();
        for listener in &mut self.sockets.listeners {
            let (id, due) = (listener.id, listener.paused_until);
            match listener.segment() {
                Some(segment) if segment.receiver.is_none() => {
                    listener.paused_until = due.map(|until| until.min(now));
                }
                Some(segment) if !present.is_up(&segment.interface) => lost.push(id),
                _ => {}
            }
        }
        lost.into_iter().for_each(|id| self.deafen(id));
    }
}

impl Sockets {
    fn segment(&mut self, id: ListenerId) -> Option<&mut Segment> {
        self.listeners.iter_mut().find(|listener| listener.id == id)?.segment()
    }

    /// The face that leads to a station on an interface.
    pub(super) fn face_toward(&self, interface: &str, station: EtherAddress) -> Option<FaceId> {
        let leads = |(_, face): &(&FaceId, &Face)| face.station() == Some((station, interface));
        self.faces.iter().find(leads).map(|(id, _)| *id)
    }

    /// Assigns the frames of a station to a face, on any interface of a listener.
    pub(super) fn introduce(&mut self, id: FaceId) {
        let Self { faces, listeners, .. } = self;
        let Some((station, interface)) = faces.get(&id).and_then(Face::station) else {
            return;
        };
        for segment in listeners.iter_mut().filter_map(Listener::segment) {
            if segment.interface == interface {
                segment.faces.insert(station, id);
            }
        }
    }

    /// A closed face: the next frame of its station opens another.
    pub(super) fn forget_station(&mut self, face: &Face) {
        let Some((station, interface)) = face.station() else {
            return;
        };
        for segment in self.listeners.iter_mut().filter_map(Listener::segment) {
            if segment.interface == interface {
                segment.faces.remove(&station);
            }
        }
        if !face.is_send_only()
            && let Some(other) = self.face_toward(interface, station)
        {
            self.introduce(other);
        }
    }

    /// Retries listeners that failed and watches for stations.
    pub(super) fn resume_listeners(&mut self, now: Instant, options: &DriverOptions) {
        for listener in &mut self.listeners {
            if listener.paused_until.is_none_or(|until| until > now) {
                continue;
            }
            listener.paused_until = None;
            if let Some(segment) = listener.segment().filter(|segment| segment.receiver.is_none())
                && !matches!(segment.open(options), Ok(None))
            {
                let pause = segment.back_off(options);
                listener.paused_until = Some(now + pause);
            }
            // The next event of another listener retries a failure.
            if let Some(fd) = listener.fd() {
                let _ = self.watch.add(fd, Token::Listener(listener.id), false);
            }
        }
    }

    /// Watches a listener no more.
    pub(super) fn ignore_listener(&mut self, id: ListenerId) {
        let listener = self.listeners.iter().find(|listener| listener.id == id);
        if let Some(fd) = listener.and_then(|listener| listener.fd()) {
            self.watch.remove(fd, Token::Listener(id));
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::medium::framed;
    use recoup_forwarder::face::FaceUse;
    use socket2::{Domain, Socket, Type};
    use std::io::{Read, Write};

    const US: EtherAddress = [2, 0, 0, 0, 0, 0];
    const INTEREST: [u8; 4] = [5, 2, 7, 0];
    const DATA: [u8; 4] = [6, 2, 7, 0];

    fn station(number: u8) -> EtherAddress {
        [2, 0, 0, 0, 0, number]
    }

    /// A driver that listens on a wire, and the other end of that.
    struct Wire {
        driver: Driver,
        listener: ListenerId,
        far: Socket,
    }

    impl Wire {
        fn new(options: DriverOptions) -> Self {
            Self::of(Driver::with_options(options).unwrap())
        }

        fn of(mut driver: Driver) -> Self {
            let handle = driver.listen(&FaceUri::Dev("no-such-if".into())).unwrap();
            assert!(handle.waits.unwrap().contains("no-such-if"));
            let (near, far) = Socket::pair(Domain::UNIX, Type::DGRAM, None).unwrap();
            far.set_nonblocking(true).unwrap();
            driver.sockets.segment(handle.id).unwrap().receiver =
                Some(StationReceiver::over(near, US));
            Self { driver, listener: handle.id, far }
        }

        /// Delivers a frame of a station; returns faces and bytes of the arrivals.
        fn send(&mut self, from: u8, to: EtherAddress, what: &[u8]) -> Vec<(FaceId, usize)> {
            self.far.write_all(&framed(to, station(from), what)).unwrap();
            assert!(self.driver.receive_stations(self.listener, &|_| FaceUse::default()));
            let frames = self.driver.inbox.arrivals.drain(..).filter_map(|arrival| match arrival {
                Arrival::Frame(face, frame) => Some((face, frame.len())),
                _ => None,
            });
            frames.collect()
        }
    }

    #[test]
    fn interest_of_a_station_opens_a_face() {
        let mut wire = Wire::new(DriverOptions::default());
        let first = wire.send(1, US, &INTEREST);
        let [(face, 4)] = first[..] else { panic!("{first:?}") };
        // A frame that was filled up, and one that was not.
        assert_eq!(wire.send(1, US, &[DATA.as_slice(), &[0; 200]].concat()), [(face, 4)]);
        let other = wire.send(2, US, &INTEREST);
        assert!(other.len() == 1 && other[0].0 != face, "{other:?}");
        let described = wire.driver.describe(face).unwrap();
        let uris = (described.uri.as_str(), described.local_uri.as_str());
        assert_eq!(uris, ("ether://[02:00:00:00:00:01]", "dev://no-such-if"));
        assert!(!described.local && described.mtu == 1_500);
        wire.driver.send(face, recoup_forwarder::frame::Frame::from(Bytes::from_static(&DATA)));
        let mut sent = [0; 100];
        let length = wire.far.read(&mut sent).unwrap();
        assert_eq!(&sent[..length], framed(station(1), US, &DATA));
        let counters = wire.driver.counters(face).unwrap();
        assert_eq!((counters.frames_in, counters.frames_out), (2, 1));
    }

    #[test]
    fn foreign_frames_open_no_face() {
        let mut wire = Wire::new(DriverOptions::default());
        for to in [[0xFF; 6], station(9), [1, 0, 0x5E, 0, 0x17, 0xAA]] {
            assert_eq!(wire.send(1, to, &INTEREST), []);
        }
        assert_eq!(wire.send(0, US, &INTEREST), [], "our own voice");
        assert_eq!(wire.driver.totals().dropped_total(), 0);
        assert_eq!(wire.send(1, US, &DATA), []);
        assert_eq!(wire.driver.totals().dropped(DropReason::Unsolicited), 1);
        assert_eq!(wire.driver.faces().count(), 0);
    }

    #[test]
    fn stations_share_the_limit_of_one_neighbour() {
        let options = DriverOptions { faces_per_address: 2, ..DriverOptions::default() };
        let mut wire = Wire::new(options);
        let arrivals = (1..=5).map(|number| wire.send(number, US, &INTEREST).len());
        assert_eq!(arrivals.collect::<Vec<_>>(), [1, 1, 0, 0, 0]);
        assert_eq!(wire.driver.totals().dropped(DropReason::NoRoom), 3);
        assert_eq!(wire.send(1, US, &DATA).len(), 1, "a known station still receives");
    }

    #[test]
    fn idle_station_loses_its_face_until_it_sends() {
        let mut wire = Wire::new(DriverOptions::default());
        let before = wire.send(1, US, &INTEREST);
        let idle = wire.driver.options.udp_idle;
        wire.driver.sweep(wire.driver.now() + idle / 2, &|_| FaceUse::default());
        assert_eq!(wire.send(1, US, &INTEREST), before);
        wire.driver.sweep(wire.driver.now() + idle * 2, &|_| FaceUse::default());
        assert_eq!(wire.driver.faces().count(), 0);
        let after = wire.send(1, US, &INTEREST);
        assert!(after.len() == 1 && after[0].0 != before[0].0, "{before:?} {after:?}");
    }

    #[test]
    fn own_face_receives_its_station() {
        let mut wire = Wire::new(DriverOptions::default());
        let uri = FaceUri::Ether(station(1));
        let medium = MediumOptions { interface: Some("no-such-if".into()), ..Default::default() };
        wire.send(1, US, &INTEREST);
        let ours = wire.driver.keep_medium(&uri, medium).unwrap();
        assert_eq!(wire.driver.faces().collect::<Vec<_>>(), [ours], "the other one gave way");
        assert_eq!(wire.send(1, US, &INTEREST), []);
        wire.driver.close(ours);
        assert_eq!(wire.send(1, US, &INTEREST).len(), 1);
    }

    #[test]
    fn face_opened_before_listening_receives_its_station() {
        let mut driver = Driver::with_options(DriverOptions::default()).unwrap();
        let toward = |driver: &mut Driver| {
            let interface = Some("no-such-if".into());
            let medium = MediumOptions { interface, ..Default::default() };
            driver.keep_medium(&FaceUri::Ether(station(1)), medium).unwrap()
        };
        let (ours, twin) = (toward(&mut driver), toward(&mut driver));
        let mut wire = Wire::of(driver);
        assert_eq!(wire.send(1, US, &INTEREST), []);
        wire.driver.close(ours);
        assert_eq!(wire.send(1, US, &INTEREST), [], "its own face receives it");
        wire.driver.close(twin);
        assert_eq!(wire.send(1, US, &INTEREST).len(), 1);
    }

    #[test]
    fn closed_listener_has_no_stations() {
        let mut wire = Wire::new(DriverOptions::default());
        wire.send(1, US, &INTEREST);
        wire.send(2, US, &INTEREST);
        wire.driver.close_listener(wire.listener);
        assert_eq!(wire.driver.faces().count(), 0);
        assert!(!wire.driver.receive_stations(wire.listener, &|_| FaceUse::default()));
    }
}
