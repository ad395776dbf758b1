//! Frames and packets that arrive.
use super::port::Link;
use super::timer::Duty;
use super::{Links, port};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Kind, Packet};
use bytes::Bytes;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_transport::link::recovery::Replaced;
use recoup_transport::time::Instant;

/// A whole network packet that arrived in frames, and its link header.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) header: LpHeader,
    pub(crate) packet: Bytes,
}

/// Result of a received frame.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) whole: Result<Option<Whole>, DropReason>,
    /// The link is to be [drained](Links::drain) first.
    pub(crate) drains: bool,
    /// The change, if another neighbour than before has answered.
    pub(crate) replaced: Option<Replaced>,
}

impl Received {
    /// Result of a frame that changes nothing about the link.
    pub(super) fn of(whole: Result<Option<Whole>, DropReason>) -> Self {
        Self { whole, drains: false, replaced: None }
    }
}

/// Result of a received packet that had a number at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lean {
    /// The packet arrived before.
    pub(crate) is_duplicate: bool,
    /// The link is to be [drained](Links::drain) first.
    pub(crate) drains: bool,
}

impl Links {
    /// Counts an arriving frame; returns whether it is a bare packet without further work.
    ///
    /// # Errors
    /// There is no such link.
    #[inline]
    pub(crate) fn arrives(&mut self, id: FaceId, frame: &Bytes) -> Result<bool, DropReason> {
        let port = port(&mut self.ports, id).ok_or(DropReason::NoFace)?;
        if !matches!(port.link, Link::Wire(_)) {
            return Err(DropReason::Malformed);
        }
        port.counters.in_bytes += frame.len() as u64;
        Ok(!port.recovers && LpPacket::is_bare(frame))
    }

    /// Receives a packet with a number at most, on a link with recovery; leaves the packet in `frame`. `None` for any other
    /// frame.
    #[inline]
    pub(crate) fn receive_lean(
        &mut self,
        now: Instant,
        id: FaceId,
        frame: &mut Bytes,
    ) -> Option<Lean> {
        match port(&mut self.ports, id).map(|port| &mut port.link) {
            Some(Link::Wire(link)) => link.receive_lean(now, id, frame, &mut self.shared.timers),
            _ => None,
        }
    }

    /// The network packet that a frame with a link header completes.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        id: FaceId,
        sender: u64,
        frame: Bytes,
    ) -> Received {
        match port(&mut self.ports, id).map(|port| &mut port.link) {
            Some(Link::Wire(link)) => link.receive(now, id, sender, frame, &mut self.shared.timers),
            _ => Received::of(Err(DropReason::NoFace)),
        }
    }

    /// Reports dropped fragments, and sets the timer of the next ones.
    #[inline]
    pub(crate) fn settle_fragments<O: Observer>(&mut self, id: FaceId, out: &mut Outbox<O>) {
        let Some(port) = port(&mut self.ports, id) else {
            return;
        };
        let Link::Wire(link) = &mut port.link else {
            return;
        };
        let due = link.medium.deadline();
        self.shared.timers.set(&mut port.fragments_due, Duty::Fragments, id, due);
        for _ in 0..link.medium.take_discarded() {
            out.dropped(id, None, DropReason::Fragment);
        }
    }

    /// Handles an arriving packet of a value face, which may have recovery; `None` if it is not delivered. `drains`
    /// is set if the link is to be [drained](Self::drain) first.
    pub(crate) fn receive_value(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: Packet,
        drains: &mut bool,
    ) -> Result<Option<Packet>, Packet> {
        let Self { ports, shared, .. } = self;
        match port(ports, id).map(|port| &mut port.link) {
            Some(Link::Value(link)) => link.receive(now, id, packet, &mut shared.timers, drains),
            _ => Ok((packet.kind() != Kind::Idle).then_some(packet)),
        }
    }
}
