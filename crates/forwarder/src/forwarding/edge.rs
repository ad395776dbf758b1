//! Interface between the tables and the machines behind them: links, applications, management.
use crate::face::{AppId, FaceId};
use crate::observer::Observer;
use crate::order::ManagementRequest;
use crate::outbox::Outbox;
use crate::packet::{Hop, Packet};
use recoup_packet::data::Data;
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;

/// The part of a flow that the tables know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowPart {
    /// The neighbour for which a packet is forwarded.
    pub(crate) neighbour: FaceId,
    /// Hash of the content that the packet is part of.
    pub(crate) content: u64,
}

/// The edge of the tables: links and applications behind it.
pub(crate) trait Edge {
    type Observer: Observer;

    /// The node's outputs, and its observer.
    fn out(&mut self) -> &mut Outbox<Self::Observer>;

    /// Whether packets of any face are scheduled, which requires flows.
    fn schedules(&self) -> bool;

    /// Whether the link of a face recovers losses.
    fn recovers(&self, face: FaceId) -> bool;

    /// Sends a packet by a network face, past its scheduler.
    fn transmit(&mut self, now: Instant, face: FaceId, packet: Packet);

    /// Sends an Interest or Data by a network face, through its scheduler if it has one.
    fn schedule(&mut self, now: Instant, face: FaceId, flow: FlowPart, packet: Packet);

    /// Charges the scheduler of `ingress` for Data that answers an Interest of this flow.
    fn answered(&mut self, ingress: FaceId, flow: FlowPart, nonce: Option<u64>, came: &Hop);

    /// Delivers an input to an application; `false` if it is gone.
    fn deliver(&mut self, now: Instant, app: AppId, input: AppInput) -> bool;

    /// Delivers an input to all applications.
    fn deliver_to_all(&mut self, now: Instant, input: &AppInput);

    /// The application with the lowest number, from `from` on, that still waits for Data.
    fn awaiting(&self, from: AppId, data: &Data) -> Option<AppId>;

    /// Passes an Interest to the management.
    fn manage(&mut self, request: ManagementRequest);
}
