//! Faces and routes that come and go, and the uplink of applications.
use super::{Edge, Forwarder};
use crate::drop::DropReason;
use crate::face::{AppId, FaceAttributes, FaceId};
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Kind, Packet};
use crate::table::{NextHop, PitEntry, PitId, RouteChange, Tickets};
use recoup_packet::name::Name;
use recoup_transport::application::AppInput;
use recoup_transport::link::recovery::Replaced;
use recoup_transport::time::Instant;

/// Uplink of applications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uplink {
    /// This upstream face.
    Upstream(FaceId),
    /// Faces with routes.
    Routed,
    /// None: applications of the node answer.
    Own,
}

/// A face that is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaceLoss {
    pub(crate) face: FaceId,
    /// Interests were sent to the face.
    pub(crate) asked: bool,
}

impl<E: Edge> Forwarder<E> {
    /// Adds or updates a face that is up. If its link `stays`, so do its slots.
    pub(crate) fn face_up(&mut self, id: FaceId, attributes: FaceAttributes, stays: bool) {
        self.faces.up(id, attributes, stays);
    }

    /// The link of a face that is up is ready: routes lead there, and waiting Interests are forwarded. `known` if the
    /// face was up before.
    pub(crate) fn face_ready(&mut self, now: Instant, id: FaceId, is_upstream: bool, known: bool) {
        if is_upstream && !self.is_next_hop(&Name::root(), id) {
            self.fib.insert(&Name::root(), id, u64::from(id.0));
        }
        let before = self.uplink;
        self.face_found(now, id);
        self.uplink = self.find_uplink();
        if known && before == Some(Uplink::Upstream(id)) && self.uplink == before {
            // The uplink is the same, perhaps with another buffer size.
            if let Some(input) = self.uplink_input() {
                self.edge.deliver_to_all(now, &input);
            }
            return;
        }
        self.announce_uplink(now, before);
    }

    /// Records the loss of next hops by a face that does not come up again, if mobility is on.
    pub(crate) fn record_losses(&mut self, now: Instant, id: FaceId) {
        if self.mobility.is_off() {
            return;
        }
        let leads_there = |hops: &[NextHop]| hops.iter().any(|hop| hop.face == id);
        let prefixes = match self.faces.has_routes_to(id) {
            true => {
                let routes = self.fib.iter().filter(|(_, hops)| leads_there(hops));
                routes.map(|(prefix, _)| prefix.clone()).collect()
            }
            // The upstream route is at "/", and is not counted.
            false if leads_there(self.fib.get(&Name::root())) => vec![Name::root()],
            false => Vec::new(),
        };
        prefixes.iter().for_each(|prefix| self.route_lost(now, prefix));
    }

    /// Handles a face that is down; `tickets` are those of its pending Interests, if they are counted and the face
    /// does not come up again.
    pub(crate) fn face_down(&mut self, now: Instant, loss: FaceLoss, tickets: Option<Tickets>) {
        let before = self.uplink;
        if self.mobility.is_off() {
            self.forget_face(loss, tickets);
        } else {
            self.face_lost(now, loss.face);
        }
        self.uplink = self.find_uplink();
        self.announce_uplink(now, before);
    }

    /// Handles another neighbour of a face that stays up. Packets in flight to another node are lost; applications
    /// register with each neighbour, because the face is down for an instant to them.
    pub(crate) fn neighbour_replaced(&mut self, now: Instant, face: FaceId, by: Replaced) {
        if by == Replaced::Node {
            self.lose_in_flight(now, face);
        }
        if self.uplink == Some(Uplink::Upstream(face))
            && let Some(input) = self.uplink_input()
        {
            self.edge.deliver_to_all(now, &AppInput::FaceDown);
            self.edge.deliver_to_all(now, &input);
        }
    }

    /// Adds, changes or removes a next hop.
    pub(crate) fn change_route(&mut self, now: Instant, change: &RouteChange) {
        let RouteChange { prefix, face, cost } = change;
        let known = self.is_next_hop(prefix, *face);
        match cost {
            Some(cost) => self.fib.insert(prefix, *face, *cost),
            None => {
                if self.fib.remove(prefix, *face) {
                    self.route_lost(now, prefix);
                }
            }
        }
        if known != cost.is_some() && face.app().is_none() {
            self.faces.count_route(*face, cost.is_some());
        }
        if cost.is_some() && !known {
            self.face_found(now, *face);
        }
        let before = self.uplink;
        self.uplink = self.find_uplink();
        self.announce_uplink(now, before);
    }

    /// Removes the routes of a face: those of these prefixes, and next hops of no routing table, if there are any.
    pub(crate) fn remove_routes(&mut self, face: FaceId, prefixes: &[Name]) {
        for prefix in prefixes {
            if self.fib.remove(prefix, face) {
                self.faces.count_route(face, false);
            }
        }
        if self.faces.has_routes_to(face) {
            self.fib.remove_face(face);
            self.faces.forget_routes(face);
        }
    }

    /// Adds the prefixes of an application.
    pub(crate) fn add_application(&mut self, app: AppId, prefixes: &[Name]) {
        for prefix in prefixes {
            self.fib.insert(prefix, FaceId::of_app(app), 0);
        }
    }

    /// Removes an application.
    pub(crate) fn remove_application(&mut self, app: AppId, prefixes: &[Name]) {
        let face = FaceId::of_app(app);
        for prefix in prefixes {
            self.fib.remove(prefix, face);
        }
        self.forget_records(face);
        self.measurements.forget_face(face);
    }

    /// Notification of the current uplink, if there is one.
    pub(crate) fn uplink_input(&self) -> Option<AppInput> {
        let receive_budget = match self.uplink? {
            Uplink::Upstream(face) => self.faces.get(face)?.attributes.receive_budget,
            Uplink::Routed | Uplink::Own => None,
        };
        Some(AppInput::FaceUp { receive_budget })
    }

    /// Removes the records of a face.
    fn forget_face(&mut self, FaceLoss { face, asked }: FaceLoss, tickets: Option<Tickets>) {
        let Some(tickets) = tickets else {
            return self.forget_records(face);
        };
        for id in tickets.into_entries(&self.pit) {
            self.forget_downstream(id, face);
        }
        if asked {
            self.pit.forget_asked(face);
        }
    }

    /// As [`forget_face`](Self::forget_face), if the entries with records of the face are not known.
    fn forget_records(&mut self, face: FaceId) {
        let has_record = |entry: &PitEntry| entry.in_record(face).is_some();
        let waiting: Vec<_> =
            self.pit.iter().filter(|(_, entry)| has_record(entry)).map(|(id, _)| id).collect();
        for id in waiting {
            self.forget_downstream(id, face);
        }
        self.pit.forget_asked(face);
    }

    /// Removes the in-record of a face that is gone.
    pub(super) fn forget_downstream(&mut self, id: PitId, face: FaceId) {
        let Some(record) = self.pit.entry_mut(id).remove_in(face) else {
            return;
        };
        if self.faces.is_counting() {
            self.faces.release_slots(face, record.slots);
        }
        let out = self.edge.out();
        out.dropped(face, Kind::Interest, DropReason::NoFace);
        let Outbox { observer, outputs } = out;
        observer.waiting_ended(id, face, outputs);
        if self.pit.entry(id).ins().is_empty() {
            self.interest_abandon(id);
        }
    }

    fn is_next_hop(&self, prefix: &Name, face: FaceId) -> bool {
        self.fib.get(prefix).iter().any(|hop| hop.face == face)
    }

    /// Sends a frame without packet to the uplink.
    pub(crate) fn keep_alive(&mut self, now: Instant) {
        if let Some(Uplink::Upstream(face)) = self.uplink {
            self.edge.transmit(now, face, Packet::keep_alive());
        }
    }

    /// Upstream faces first, then faces with routes.
    fn find_uplink(&self) -> Option<Uplink> {
        let upstream = self.faces.first_upstream().map(Uplink::Upstream);
        let routed = || self.faces.has_route().then_some(Uplink::Routed);
        upstream.or_else(routed).or(self.answers_itself.then_some(Uplink::Own))
    }

    /// Notifies the applications, if the uplink differs from `before`.
    fn announce_uplink(&mut self, now: Instant, before: Option<Uplink>) {
        if before == self.uplink {
            return;
        }
        if before.is_some() {
            self.edge.deliver_to_all(now, &AppInput::FaceDown);
        }
        if let Some(input) = self.uplink_input() {
            self.edge.deliver_to_all(now, &input);
        }
    }
}
