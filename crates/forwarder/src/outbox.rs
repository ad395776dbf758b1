//! Outputs of a node in order, and its observer.
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{AppId, FaceId};
use crate::message::Output;
use crate::observer::Observer;
use crate::packet::{Hop, Kind, Packet};
use std::collections::VecDeque;

/// Outputs that the driver has not taken yet.
pub(crate) type Outputs = VecDeque<Output>;

/// The outputs of a node, and its observer.
#[derive(Debug)]
pub(crate) struct Outbox<O> {
    pub(crate) outputs: Outputs,
    pub(crate) observer: O,
}

impl<O: Observer> Outbox<O> {
    pub(crate) fn new(observer: O) -> Self {
        Self { outputs: Outputs::new(), observer }
    }

    #[inline]
    pub(crate) fn push(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    /// Reports a drop. The observer of a dropped packet has been notified before.
    pub(crate) fn dropped(
        &mut self,
        face: impl Into<Option<FaceId>>,
        kind: impl Into<Option<Kind>>,
        reason: DropReason,
    ) {
        let (face, kind) = (face.into(), kind.into());
        self.outputs.push_back(Output::Dropped { face, kind, reason });
    }

    /// Drops a packet.
    pub(crate) fn drop_packet(&mut self, face: FaceId, packet: &Packet, reason: DropReason) {
        self.observer.packet_dropped(&packet.hop, &mut self.outputs);
        self.dropped(face, packet.kind(), reason);
    }

    /// Drops a packet of which only the hop is left.
    pub(crate) fn drop_hop(&mut self, face: FaceId, kind: Kind, hop: &Hop, reason: DropReason) {
        self.observer.packet_dropped(hop, &mut self.outputs);
        self.dropped(face, kind, reason);
    }

    /// Ends a trace.
    #[inline]
    pub(crate) fn trace_dropped(&mut self, trace: O::Trace) {
        self.observer.trace_dropped(trace, &mut self.outputs);
    }

    /// Passes an event to the observer.
    #[inline]
    pub(crate) fn event(&mut self, event: NodeEvent) {
        self.observer.event(event, &mut self.outputs);
    }

    /// Withdraws the reports of an application that is gone.
    pub(crate) fn forget(&mut self, app: AppId) {
        self.outputs.retain(|output| !matches!(output, Output::App { app: of, .. } if *of == app));
    }
}
