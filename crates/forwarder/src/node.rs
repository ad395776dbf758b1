//! The node: a forwarder with its applications, the only machine that a driver drives.
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{AppId, FaceAttributes, FaceForm, FaceId};
use crate::packet::{Kind, Packet};
use crate::path::Paths;
use bytes::{Bytes, BytesMut};
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::tlv::{MAX_PACKET_SIZE, typ};
use recoup_transport::application::{AppInput, AppOutput, Application, Report, ReturnPath};
use recoup_transport::link::{Fragmenter, Reassembler, ReassemblyLimits};
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// First octet of an Interest.
const INTEREST: u8 = typ::INTEREST as u8;
/// First octet of a Data packet.
const DATA: u8 = typ::DATA as u8;

/// One thing that happened to the node.
#[derive(Clone, Debug)]
pub enum Input {
    /// A face is usable; or a usable face has only changed.
    FaceUp {
        /// Which.
        face: FaceId,
        /// What it can do.
        attributes: FaceAttributes,
    },
    /// A face is gone for now; it may come up again under the same number.
    FaceDown {
        /// Which.
        face: FaceId,
    },
    /// A frame arrived by a wire face.
    Frame {
        /// Which.
        face: FaceId,
        /// The whole frame: a bare packet or an LpPacket.
        frame: Bytes,
    },
    /// A packet arrived by a value face.
    Packet {
        /// Which.
        face: FaceId,
        /// The packet.
        packet: Packet,
    },
    /// A value face may send one more packet.
    Ready {
        /// Which.
        face: FaceId,
    },
    /// What waits in the driver to leave by a wire face.
    Backlog {
        /// Which.
        face: FaceId,
        /// Octets that wait.
        octets: u64,
    },
    /// Something for an application from outside the network, such as `Consumed`.
    App {
        /// Which.
        app: AppId,
        /// What.
        input: Box<AppInput>,
    },
    /// A route comes, changes or goes.
    Route(RouteChange),
}

/// A route comes, changes or goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteChange {
    /// Names below this one.
    pub prefix: Name,
    /// The face that leads to them.
    pub face: FaceId,
    /// How dear this way is, compared to others; `None` takes the route away.
    pub cost: Option<u64>,
}

/// One consequence.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a frame by a wire face.
    Send {
        /// Which.
        face: FaceId,
        /// The whole frame.
        frame: Bytes,
    },
    /// Send a packet by a value face, which is not ready for another until `Ready` says so.
    Transmit {
        /// Which.
        face: FaceId,
        /// The packet.
        packet: Packet,
    },
    /// A value face that is not ready has something to send; to be answered by one `Ready`.
    Wants {
        /// Which.
        face: FaceId,
    },
    /// Something for the application's owner: content, an event, the end.
    App {
        /// Which.
        app: AppId,
        /// What it says.
        report: Report,
    },
    /// A packet went no further.
    Dropped {
        /// The face that it came from or was to leave by, where there is one.
        face: Option<FaceId>,
        /// What it was, where that is known.
        kind: Option<Kind>,
        /// Why.
        reason: DropReason,
    },
    /// Something worth recording; only if the node observes itself.
    Event(NodeEvent),
}

/// An application in its place.
struct Attached {
    application: Box<dyn Application>,
    prefixes: Vec<Name>,
}

/// A face as the node sees it.
#[derive(Debug)]
struct Face {
    attributes: FaceAttributes,
    fragmenter: Fragmenter,
    reassembler: Reassembler,
}

/// A node.
///
/// Interests that arrive go to the application that answers for the longest matching prefix; what
/// applications ask leaves by the first face that leads upstream.
#[derive(Default)]
pub struct Node {
    faces: BTreeMap<FaceId, Face>,
    applications: Vec<Attached>,
    /// Places in `applications` that are free.
    free: Vec<usize>,
    paths: Paths,
    turn: usize,
    pool: BytesMut,
    outputs: VecDeque<Output>,
}

/// In the place of an application that was taken away.
struct Gone;

impl Application for Gone {
    fn handle(&mut self, _now: Instant, _input: AppInput) {}

    fn poll(&mut self, _now: Instant) -> Option<AppOutput> {
        None
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// Octets asked from the allocator at a time for outgoing Interests.
const POOL_BYTES: usize = 64 * 1024;

/// What incomplete packets may take on a face. Anybody may open a face toward us, a thousand of them,
/// and has only Interests to send.
fn reassembly(upstream: bool) -> ReassemblyLimits {
    let whole = ReassemblyLimits::default();
    if upstream {
        return whole;
    }
    ReassemblyLimits { packets: 8, bytes: 4 * MAX_PACKET_SIZE, ..whole }
}

impl Node {
    /// A node without faces and applications.
    pub fn new() -> Self {
        Self::default()
    }

    /// Attaches an application that answers Interests below `prefixes`.
    pub fn attach(
        &mut self,
        now: Instant,
        mut application: Box<dyn Application>,
        prefixes: Vec<Name>,
    ) -> AppId {
        if let Some(face) = self.upstream() {
            let receive_budget = self.faces[&face].attributes.receive_budget;
            application.handle(now, AppInput::FaceUp { receive_budget });
        }
        let attached = Attached { application, prefixes };
        let place = self.free.pop().unwrap_or(self.applications.len());
        match self.applications.get_mut(place) {
            Some(free) => *free = attached,
            None => self.applications.push(attached),
        }
        AppId(place as u32)
    }

    /// Takes an application away, with everything that it wanted and was not handed out. Its number may
    /// be given to another.
    pub fn detach(&mut self, app: AppId) {
        self.outputs.retain(|output| !matches!(output, Output::App { app: of, .. } if *of == app));
        let place = app.0 as usize;
        if let Some(attached) = self.applications.get_mut(place)
            && !self.free.contains(&place)
        {
            *attached = Attached { application: Box::new(Gone), prefixes: Vec::new() };
            self.free.push(place);
        }
    }

    /// One thing happened.
    pub fn handle(&mut self, now: Instant, input: Input) {
        match input {
            Input::FaceUp { face, attributes } => self.on_face_up(now, face, attributes),
            Input::FaceDown { face } => self.on_face_down(now, face),
            Input::Frame { face, frame } => {
                if let Err(reason) = self.on_frame(now, face, frame) {
                    self.discard(Some(face), None, reason);
                }
            }
            // No value face can have come up.
            Input::Packet { face, packet } => {
                self.discard(Some(face), Some(packet.kind()), DropReason::NoFace);
            }
            Input::Ready { .. } | Input::Backlog { .. } | Input::Route(_) => {}
            Input::App { app, input } => {
                if let Some(attached) = self.applications.get_mut(app.0 as usize) {
                    attached.application.handle(now, *input);
                }
            }
        }
    }

    /// Fires what is due and hands out one consequence; to be called until `None`.
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        let mut idle = 0;
        while self.outputs.is_empty() && idle < self.applications.len() {
            let app = self.turn;
            match self.applications.get_mut(app)?.application.poll(now) {
                Some(output) => {
                    idle = 0;
                    self.carry_out(AppId(app as u32), output);
                }
                None => {
                    idle += 1;
                    self.turn = (app + 1) % self.applications.len();
                }
            }
        }
        self.outputs.pop_front()
    }

    /// When to come back if nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        self.applications.iter().filter_map(|attached| attached.application.deadline()).min()
    }

    // --- faces ----------------------------------------------------------------------------------

    /// The face that Interests of applications leave by.
    fn upstream(&self) -> Option<FaceId> {
        self.faces.iter().find(|(_, face)| face.attributes.upstream).map(|(id, _)| *id)
    }

    fn tell_all(&mut self, now: Instant, input: &AppInput) {
        for attached in &mut self.applications {
            attached.application.handle(now, input.clone());
        }
    }

    /// A face that is up already has only changed, as when its path takes shorter frames from now on.
    fn on_face_up(&mut self, now: Instant, id: FaceId, attributes: FaceAttributes) {
        let FaceAttributes { form, receive_budget, upstream, .. } = attributes;
        let FaceForm::Wire { mtu } = form else {
            return;
        };
        let before = self.upstream();
        match self.faces.get_mut(&id) {
            Some(face) => {
                face.fragmenter.set_mtu(mtu);
                face.attributes = attributes;
            }
            None => {
                let fragmenter = Fragmenter::new(mtu, 0);
                let reassembler = Reassembler::new(reassembly(upstream));
                self.faces.insert(id, Face { attributes, fragmenter, reassembler });
            }
        }
        match self.upstream() {
            Some(same) if before == Some(same) && same == id => {
                self.tell_all(now, &AppInput::FaceUp { receive_budget });
            }
            _ => self.tell_way_out(now, before),
        }
    }

    fn on_face_down(&mut self, now: Instant, id: FaceId) {
        let before = self.upstream();
        self.faces.remove(&id);
        self.tell_way_out(now, before);
    }

    /// Tells the applications if the way out is another one than before, or none: what they asked by
    /// the old one will not be answered by the new one.
    fn tell_way_out(&mut self, now: Instant, before: Option<FaceId>) {
        let after = self.upstream();
        if before == after {
            return;
        }
        if before.is_some() {
            self.tell_all(now, &AppInput::FaceDown);
        }
        if let Some(face) = after.and_then(|id| self.faces.get(&id)) {
            let receive_budget = face.attributes.receive_budget;
            self.tell_all(now, &AppInput::FaceUp { receive_budget });
        }
    }

    // --- incoming -------------------------------------------------------------------------------

    fn on_frame(&mut self, now: Instant, id: FaceId, frame: Bytes) -> Result<(), DropReason> {
        let packet = LpPacket::decode(frame).map_err(|_| DropReason::Malformed)?;
        let Some(fragment) = packet.fragment else {
            return Ok(());
        };
        let whole = match packet.header.frag_count {
            None | Some(1) => Some((packet.header, fragment)),
            Some(_) => self.reassemble(now, id, packet.header, fragment)?,
        };
        let Some((header, fragment)) = whole else {
            return Ok(());
        };
        if let Some(reason) = header.nack {
            let interest = Interest::decode(fragment).map_err(|_| DropReason::Malformed)?;
            self.tell_all(now, &AppInput::Nack { interest: Arc::new(interest), reason });
            return Ok(());
        }
        match fragment.first() {
            Some(&INTEREST) => self.on_interest(now, id, header, fragment),
            Some(&DATA) => self.on_data(now, &header, fragment),
            _ => Err(DropReason::Malformed),
        }
    }

    fn reassemble(
        &mut self,
        now: Instant,
        id: FaceId,
        header: LpHeader,
        fragment: Bytes,
    ) -> Result<Option<(LpHeader, Bytes)>, DropReason> {
        let face = self.faces.get_mut(&id).ok_or(DropReason::NoFace)?;
        face.reassembler.expire(now);
        let whole = face.reassembler.accept(now, header, fragment);
        let discarded = face.reassembler.take_discarded();
        for _ in 0..discarded.expired + discarded.evicted {
            self.discard(Some(id), None, DropReason::Fragment);
        }
        whole.map_err(|_| DropReason::Fragment)
    }

    fn on_interest(
        &mut self,
        now: Instant,
        face: FaceId,
        header: LpHeader,
        fragment: Bytes,
    ) -> Result<(), DropReason> {
        let interest = Interest::decode(fragment).map_err(|_| DropReason::Malformed)?;
        if interest.hop_limit == Some(0) {
            return Err(DropReason::HopLimit);
        }
        let length = |attached: &Attached| {
            let matching = attached.prefixes.iter().filter(|p| p.is_prefix_of(&interest.name));
            matching.map(Name::len).max()
        };
        let producer = self
            .applications
            .iter()
            .enumerate()
            .filter_map(|(place, attached)| Some((length(attached)?, place)))
            .max_by_key(|(length, _)| *length);
        let Some((_, place)) = producer else {
            self.refuse(face, header.pit_token, &interest);
            return Err(DropReason::NoRoute);
        };
        let path = self.paths.note(face, header.pit_token);
        let interest = Arc::new(interest);
        self.applications[place].application.handle(now, AppInput::Interest { interest, path });
        Ok(())
    }

    /// Tells a consumer that its Interest leads nowhere, as forwarders do. A forwarder is not told: it
    /// has its own reasons for what it brings here.
    fn refuse(&mut self, face: FaceId, pit_token: Option<Bytes>, interest: &Interest) {
        if self.faces.get(&face).is_some_and(|face| face.attributes.upstream) {
            return;
        }
        let header = LpHeader { nack: Some(NackReason::NoRoute), pit_token, ..LpHeader::default() };
        self.send(face, header, interest.to_bytes());
    }

    fn on_data(
        &mut self,
        now: Instant,
        header: &LpHeader,
        fragment: Bytes,
    ) -> Result<(), DropReason> {
        let data = Data::decode(fragment).map_err(|_| DropReason::Malformed)?;
        let congestion_mark = header.congestion_mark.unwrap_or(0);
        match self.applications.as_mut_slice() {
            [only] => only.application.handle(now, AppInput::Data { data, congestion_mark }),
            _ => self.tell_all(now, &AppInput::Data { data, congestion_mark }),
        }
        Ok(())
    }

    // --- outgoing -------------------------------------------------------------------------------

    fn carry_out(&mut self, app: AppId, output: AppOutput) {
        match output {
            AppOutput::Interest(interest) => {
                // Without a way out it is lost here; the application was told that there is none.
                if let Some(face) = self.upstream() {
                    self.pool.reserve(interest.encoded_len().max(POOL_BYTES / 16));
                    interest.encode(&mut self.pool);
                    let wire = self.pool.split().freeze();
                    self.send(face, LpHeader::default(), wire);
                }
            }
            AppOutput::Data { data, path } => self.answer(path, LpHeader::default(), data.wire()),
            AppOutput::Nack { interest, reason, path } => {
                let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
                self.answer(path, header, interest.to_bytes());
            }
            AppOutput::Report(report) => self.outputs.push_back(Output::App { app, report }),
        }
    }

    fn answer(&mut self, path: ReturnPath, mut header: LpHeader, wire: Bytes) {
        let Some((face, pit_token)) = self.paths.take(path) else {
            return self.discard(None, None, DropReason::Unsolicited);
        };
        header.pit_token = pit_token;
        self.send(face, header, wire);
    }

    fn send(&mut self, id: FaceId, header: LpHeader, packet: Bytes) {
        let Self { faces, outputs, .. } = self;
        let Some(face) = faces.get_mut(&id) else {
            return self.discard(Some(id), None, DropReason::NoFace);
        };
        let push = |frame| outputs.push_back(Output::Send { face: id, frame });
        if face.fragmenter.fragment(header, packet, push).is_err() {
            self.discard(Some(id), None, DropReason::TooLong);
        }
    }

    fn discard(&mut self, face: Option<FaceId>, kind: Option<Kind>, reason: DropReason) {
        self.outputs.push_back(Output::Dropped { face, kind, reason });
    }
}

/// What a driver needs of the machine that it drives; [`Node`] is the one that counts.
///
/// A driver gives it everything that happens, hands out its consequences until there are none, and
/// comes back at the deadline at the latest.
pub trait Machine {
    /// One thing happened.
    fn handle(&mut self, now: Instant, input: Input);
    /// Fires what is due and hands out one consequence; to be called until `None`.
    fn poll(&mut self, now: Instant) -> Option<Output>;
    /// When to come back if nothing happens.
    fn deadline(&self) -> Option<Instant>;
}

impl Machine for Node {
    fn handle(&mut self, now: Instant, input: Input) {
        Self::handle(self, now, input);
    }

    fn poll(&mut self, now: Instant) -> Option<Output> {
        Self::poll(self, now)
    }

    fn deadline(&self) -> Option<Instant> {
        Self::deadline(self)
    }
}
