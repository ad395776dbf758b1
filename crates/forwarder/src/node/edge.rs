//! The machines behind the edge of a node's tables: links, applications, outputs.
use crate::application::Applications;
use crate::face::{AppId, FaceId};
use crate::forwarding::{Edge, FlowPart};
use crate::link::Links;
use crate::observer::Observer;
use crate::order::ManagementRequest;
use crate::outbox::Outbox;
use crate::packet::{Hop, Packet};
use recoup_packet::data::Data;
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;
use std::collections::VecDeque;

/// The machines that receive packets from the tables.
pub(super) struct Surroundings<O> {
    pub(super) links: Links,
    pub(super) applications: Applications,
    /// Interests for the management.
    pub(super) requests: VecDeque<ManagementRequest>,
    pub(super) out: Outbox<O>,
}

impl<O: Observer> Surroundings<O> {
    pub(super) fn new(links: Links, observer: O) -> Self {
        let (applications, requests) = Default::default();
        Self { links, applications, requests, out: Outbox::new(observer) }
    }
}

impl<O: Observer> Edge for Surroundings<O> {
    type Observer = O;

    #[inline]
    fn out(&mut self) -> &mut Outbox<O> {
        &mut self.out
    }

    #[inline]
    fn schedules(&self) -> bool {
        self.links.schedules()
    }

    #[inline]
    fn recovers(&self, face: FaceId) -> bool {
        self.links.recovers(face)
    }

    #[inline]
    fn transmit(&mut self, now: Instant, face: FaceId, packet: Packet) {
        self.links.transmit(now, face, packet, &mut self.out);
    }

    fn schedule(&mut self, now: Instant, face: FaceId, flow: FlowPart, packet: Packet) {
        let FlowPart { neighbour, content } = flow;
        self.links.schedule(now, face, (neighbour, content), packet, &mut self.out);
    }

    fn answered(&mut self, ingress: FaceId, flow: FlowPart, nonce: Option<u64>, came: &Hop) {
        let FlowPart { neighbour, content } = flow;
        self.links.charge(ingress, (neighbour, content), nonce, came);
    }

    #[inline]
    fn deliver(&mut self, now: Instant, app: AppId, input: AppInput) -> bool {
        self.applications.deliver(now, app, input)
    }

    fn deliver_to_all(&mut self, now: Instant, input: &AppInput) {
        self.applications.deliver_to_all(now, input);
    }

    fn awaiting(&self, from: AppId, data: &Data) -> Option<AppId> {
        self.applications.awaiting(from, data)
    }

    fn manage(&mut self, request: ManagementRequest) {
        self.requests.push_back(request);
    }
}
