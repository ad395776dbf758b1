//! Faces and routes that come and go, and what applications are told of it: whether their Interests can leave.
use crate::drop::DropReason;
use crate::face::{FaceAttributes, FaceId};
use crate::guard::Lean;
use crate::link::Link;
use crate::node::{Node, Output, RouteChange};
use crate::packet::{Kind, Packet};
use crate::shard::{Handed, Worker};
use crate::table::{NextHop, PitEntry, PitId, Tickets};
use bytes::Bytes;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::name::Name;
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;

/// By what Interests of applications can leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WayOut {
    /// A face leads toward producers; of several the one with the lowest number.
    Upstream(FaceId),
    /// There are routes to other nodes, by whatever faces.
    Routed,
    /// Applications of the same node answer, and nobody else.
    Own,
}

impl Node {
    /// A face that is up already has only changed, as when its path takes shorter frames from now on.
    pub(crate) fn on_face_up(&mut self, now: Instant, id: FaceId, attributes: FaceAttributes) {
        if let Some(worker) = self.shard.as_ref().map(|shard| shard.worker()) {
            let attributes = || Box::new(attributes);
            self.hand_to_all(|| Handed::FaceUp { face: id, worker, attributes: attributes() });
        }
        self.face_up(now, id, attributes, None);
    }

    /// A face is up, here or `elsewhere`.
    pub(crate) fn face_up(
        &mut self,
        now: Instant,
        id: FaceId,
        mut attributes: FaceAttributes,
        elsewhere: Option<Worker>,
    ) {
        if let Some(shard) = &self.shard {
            attributes.limits = attributes.limits.map(|it| shard.options.share_of_face(it));
        }
        let (before, known) = (self.way_out, self.faces.get(id).is_some());
        self.faces.up(id, attributes, elsewhere);
        self.note_up(now, id);
        self.open_gate(now, id);
        match elsewhere {
            None => self.guard_up(now, id, &attributes),
            Some(_) => self.guards.note_elsewhere(id, &attributes),
        }
        if attributes.upstream && !self.is_next_hop(&Name::root(), id) {
            self.fib.insert(&Name::root(), id, u64::from(id.0));
        }
        self.face_found(now, id);
        self.way_out = self.find_way_out();
        if known && before == Some(WayOut::Upstream(id)) && self.way_out == before {
            if let Some(input) = self.way_out_input() {
                self.applications.tell_all(now, &input);
            }
            return;
        }
        self.tell_way_out(now, before);
    }

    /// A face of this node is gone.
    pub(crate) fn on_face_down(&mut self, now: Instant, id: FaceId) {
        self.hand_to_all(|| Handed::FaceDown { face: id });
        self.face_down(now, id);
    }

    /// What the face asked is forgotten; so are its routes, unless it may come up again.
    pub(crate) fn face_down(&mut self, now: Instant, id: FaceId) {
        let Some(mut face) = self.faces.down(id) else {
            return;
        };
        self.close_gate(id);
        let permanent = face.attributes.permanent;
        self.guard_down(now, id, permanent);
        self.note_down(now, id, &face.counters, permanent);
        let before = self.way_out;
        match &mut face.link {
            Link::Value(link) => {
                while let Some((packet, _)) = link.ready(now) {
                    self.discard_packet(id, packet, DropReason::NoFace);
                }
            }
            Link::Wire(link) => {
                for _ in 0..link.give_up() {
                    self.outbox.discard(id, None, DropReason::NoFace);
                }
            }
            Link::Elsewhere(_) => {}
        }
        let asked = face.counters.out_interests > 0;
        if !permanent {
            let is_elsewhere = matches!(face.link, Link::Elsewhere(_));
            // Looking through all measurements costs more than a face whose Interests are not answered may.
            let is_measured = asked || is_elsewhere || self.faces.has_routes_to(id);
            self.say_farewell(now, id);
            self.forget_routes(now, id);
            if is_measured {
                self.measurements.forget_face(id);
            }
        }
        if self.mobility.is_off() {
            let waits = (!permanent && self.faces.is_counting()).then_some(face.share.tickets);
            self.forget_face(id, waits, asked);
        } else {
            self.face_lost(now, id);
        }
        self.way_out = self.find_way_out();
        self.tell_way_out(now, before);
    }

    /// All routes to a face are about to go.
    fn say_farewell(&mut self, now: Instant, id: FaceId) {
        if self.mobility.is_off() {
            return;
        }
        let leads_there = |hops: &[NextHop]| hops.iter().any(|hop| hop.face == id);
        let prefixes = match self.faces.has_routes_to(id) {
            true => {
                let routes = self.fib.iter().filter(|(_, hops)| leads_there(hops));
                routes.map(|(prefix, _)| prefix.clone()).collect()
            }
            // What leads upstream stands at "/", without being counted.
            false if leads_there(self.fib.get(&Name::root())) => vec![Name::root()],
            false => Vec::new(),
        };
        prefixes.iter().for_each(|prefix| self.way_lost(now, prefix));
    }

    pub(crate) fn on_route(&mut self, now: Instant, change: &RouteChange) {
        self.lead(|| Handed::Route(Box::new(change.clone())));
        let RouteChange { prefix, face, cost } = change;
        let known = self.is_next_hop(prefix, *face);
        match cost {
            Some(cost) => self.fib.insert(prefix, *face, *cost),
            None => {
                if self.fib.remove(prefix, *face) {
                    self.way_lost(now, prefix);
                }
            }
        }
        if known != cost.is_some() && face.app().is_none() {
            self.faces.count_route(*face, cost.is_some());
        }
        if cost.is_some() && !known {
            self.face_found(now, *face);
        }
        let before = self.way_out;
        self.way_out = self.find_way_out();
        self.tell_way_out(now, before);
    }

    /// What an application is told of the way out that there is.
    pub(crate) fn way_out_input(&self) -> Option<AppInput> {
        let receive_budget = match self.way_out? {
            WayOut::Upstream(face) => self.faces.get(face)?.attributes.receive_budget,
            WayOut::Routed | WayOut::Own => None,
        };
        Some(AppInput::FaceUp { receive_budget })
    }

    /// Nobody waits at a network face any more, and no answer comes from there. Where it is known who `waits`, and that
    /// nothing was `asked` there, not all entries are looked at: anybody may open faces and close them again.
    fn forget_face(&mut self, face: FaceId, waits: Option<Tickets>, asked: bool) {
        let Some(waits) = waits else {
            return self.forget_records(face);
        };
        for id in waits.into_entries(&self.pit) {
            self.forget_asker(id, face);
        }
        if asked {
            self.pit.forget_asked(face);
        }
    }

    /// Nobody waits at that face any more, and no answer comes from there.
    pub(crate) fn forget_records(&mut self, face: FaceId) {
        let asked = |entry: &PitEntry| entry.in_record(face).is_some();
        let waiting: Vec<_> =
            self.pit.iter().filter(|(_, entry)| asked(entry)).map(|(id, _)| id).collect();
        for id in waiting {
            self.forget_asker(id, face);
        }
        self.pit.forget_asked(face);
    }

    /// Nobody waits at that face for one entry any more.
    pub(crate) fn forget_asker(&mut self, id: PitId, face: FaceId) {
        let Some(record) = self.pit.entry_mut(id).remove_in(face) else {
            return;
        };
        if self.faces.is_counting() {
            self.faces.give_back(face, record.places);
        }
        self.outbox.discard(face, Kind::Interest, DropReason::NoFace);
        self.trace_dies(&record.rare.unwrap_or_default().trace);
        if self.pit.entry(id).ins().is_empty() {
            self.interest_abandon(id);
        }
    }

    fn is_next_hop(&self, prefix: &Name, face: FaceId) -> bool {
        self.fib.get(prefix).iter().any(|hop| hop.face == face)
    }

    fn find_way_out(&self) -> Option<WayOut> {
        let upstream = self.faces.first_upstream().map(WayOut::Upstream);
        let routed = || self.faces.has_route().then_some(WayOut::Routed);
        upstream.or_else(routed).or(self.answers_itself.then_some(WayOut::Own))
    }

    /// Tells the applications if the way out is another one than before, or none: what they asked by
    /// the old one will not be answered by the new one.
    fn tell_way_out(&mut self, now: Instant, before: Option<WayOut>) {
        if before == self.way_out {
            return;
        }
        if before.is_some() {
            self.applications.tell_all(now, &AppInput::FaceDown);
        }
        if let Some(input) = self.way_out_input() {
            self.applications.tell_all(now, &input);
        }
    }

    // --- links ----------------------------------------------------------------------------------

    /// A frame came; where one end sends, `sender` is always the same.
    #[inline]
    pub(crate) fn on_frame(&mut self, now: Instant, id: FaceId, sender: u64, frame: Bytes) {
        let Some(face) = self.faces.get_mut(id) else {
            return self.outbox.discard(id, None, DropReason::NoFace);
        };
        let guarded = face.is_guarded();
        let Link::Wire(_) = &face.link else {
            return self.outbox.discard(id, None, DropReason::Malformed);
        };
        face.counters.in_octets += frame.len() as u64;
        if !guarded && LpPacket::is_bare(&frame) {
            self.read(now, id, None, frame);
        } else {
            self.on_framed(now, id, sender, guarded, frame);
        }
    }

    /// A frame came that is more than a packet, or that its link counts.
    fn on_framed(&mut self, now: Instant, id: FaceId, sender: u64, guarded: bool, frame: Bytes) {
        let whole = if guarded {
            if LpPacket::is_bare(&frame) {
                return match self.receive_bare(now, id) {
                    Ok(()) => self.read(now, id, None, frame),
                    Err(reason) => self.outbox.discard(id, None, reason),
                };
            }
            match self.receive_lean(now, id, frame) {
                Ok(packet) => return self.read(now, id, None, packet),
                Err(Lean::Dropped(reason)) => Err(reason),
                Err(Lean::Other(frame)) => self.receive_guarded(now, id, frame),
            }
        } else {
            match self.faces.get_mut(id).map(|face| &mut face.link) {
                Some(Link::Wire(link)) => link.receive(now, sender, frame),
                _ => Err(DropReason::NoFace),
            }
        };
        if self.faces.get(id).is_some_and(|face| !face.is_settled()) {
            self.settle_fragments(id);
        }
        match whole {
            Ok(None) => {}
            Ok(Some((header, packet))) => self.read(now, id, Some(&header), packet),
            Err(reason) => self.outbox.discard(id, None, reason),
        }
    }

    /// Takes a whole network packet that came behind `header`, or bare.
    // A packet in its parts stays in registers where nobody is called in between.
    #[inline(always)]
    fn read(&mut self, now: Instant, id: FaceId, header: Option<&LpHeader>, packet: Bytes) {
        if self.shard.is_some() {
            return self.read_as_worker(now, id, header, packet);
        }
        let will_stay = !self.cs.is_off();
        let read = Packet::from_wire(header, &packet, &self.hasher, &mut self.kept, will_stay);
        match read {
            Ok(read) => {
                let may_leave = read.kind() == Kind::Interest;
                if may_leave {
                    self.wires.came = read.leaves_as(packet);
                }
                self.receive(now, id, read);
                if may_leave {
                    self.wires.came = None;
                }
            }
            Err(reason) => self.outbox.discard(id, None, reason),
        }
    }

    pub(crate) fn on_incomplete(&mut self, now: Instant, id: FaceId) {
        if let Some(face) = self.faces.get_mut(id)
            && let Link::Wire(link) = &mut face.link
        {
            link.expire(now);
        }
        self.settle_fragments(id);
    }

    pub(crate) fn on_ready(&mut self, now: Instant, id: FaceId) {
        let led = self.guards.has(id) && self.lead_value(now, id);
        let Some(face) = self.faces.get_mut(id) else {
            return;
        };
        let Link::Value(link) = &mut face.link else {
            return;
        };
        if !led && let Some((packet, more)) = link.ready(now) {
            let packet = self.guards.tag(now, id, packet);
            self.outbox.outputs.push_back(Output::Transmit { face: id, packet });
            if more {
                self.outbox.outputs.push_back(Output::Wants { face: id });
            }
        }
        if !self.gates.are_none() {
            self.let_pass(now, id);
        }
    }

    pub(crate) fn on_busy(&mut self, id: FaceId, until: Instant) {
        if let Some(face) = self.faces.get_mut(id)
            && let Link::Value(link) = &mut face.link
        {
            link.set_busy(until);
        }
    }

    pub(crate) fn on_backlog(&mut self, id: FaceId, octets: u64) {
        if let Some(face) = self.faces.get_mut(id)
            && let Link::Wire(link) = &mut face.link
        {
            link.set_backlog(octets);
        }
    }

    /// Accounts for fragments that were discarded, and for when others will be.
    fn settle_fragments(&mut self, id: FaceId) {
        self.faces.note_incomplete(id);
        let discarded = match self.faces.get_mut(id).map(|face| &mut face.link) {
            Some(Link::Wire(link)) => link.take_discarded(),
            _ => 0,
        };
        for _ in 0..discarded {
            self.outbox.discard(id, None, DropReason::Fragment);
        }
    }
}
