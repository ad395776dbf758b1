//! Frames and packets that arrive: from the links to the pipelines, and what links lost.
use super::Node;
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::link::{Lost, Received, Whole};
use crate::observer::Observer;
use crate::packet::{Body, Kind, Packet};
use bytes::Bytes;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpHeader;
use recoup_packet::tlv::typ;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<O: Observer> Node<O> {
    /// Handles an arriving frame.
    #[inline]
    pub(super) fn on_frame(&mut self, now: Instant, id: FaceId, sender: u64, frame: Bytes) {
        if !self.held.is_empty()
            && let Err(reason) = self.pass_held(now, id, &frame)
        {
            return self.out().dropped(id, None, reason);
        }
        match self.forwarder.edge.links.arrives(id, &frame) {
            Ok(true) => self.read(now, id, None, frame),
            Ok(false) => self.on_framed(now, id, sender, frame),
            Err(reason) => self.out().dropped(id, None, reason),
        }
    }

    /// Handles an arriving frame with more than a bare packet, or on a link with recovery.
    pub(super) fn on_framed(&mut self, now: Instant, id: FaceId, sender: u64, mut frame: Bytes) {
        // While no frame is lost, a frame of a link with recovery is a number and a packet.
        let Some(lean) = self.forwarder.edge.links.receive_lean(now, id, &mut frame) else {
            return self.on_headed(now, id, sender, frame);
        };
        if lean.drains {
            self.drain(now, id);
        }
        match lean.is_duplicate {
            true => self.out().dropped(id, None, DropReason::Repeated),
            false => self.read(now, id, None, frame),
        }
    }

    /// Handles an arriving frame with a link header.
    #[inline(never)]
    fn on_headed(&mut self, now: Instant, id: FaceId, sender: u64, frame: Bytes) {
        let received = self.forwarder.edge.links.receive(now, id, sender, frame);
        let Received { whole, drains, replaced } = received;
        if drains {
            self.drain(now, id);
        }
        if let Some(by) = replaced {
            self.on_neighbour_replaced(now, id, by);
        }
        let (links, out) = self.links_and_out();
        links.settle_fragments(id, out);
        match whole {
            Ok(None) => {}
            Ok(Some(Whole { header, packet })) => self.read(now, id, Some(&header), packet),
            Err(reason) => self.out().dropped(id, None, reason),
        }
    }

    /// Decodes a whole network packet that came behind `header`, or bare.
    // Inlined: the parts of a packet stay in registers without a call in between.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        now: Instant,
        id: FaceId,
        header: Option<&LpHeader>,
        packet: Bytes,
    ) {
        match self.forwarder.decode(header, &packet) {
            Ok(read) => {
                let may_leave = read.kind() == Kind::Interest;
                if may_leave {
                    self.forwarder.edge.links.wire_buffers().came = read.leaves_as(packet);
                }
                self.forwarder.receive(now, id, read);
                if may_leave {
                    self.forwarder.edge.links.wire_buffers().came = None;
                }
            }
            Err(reason) => self.out().dropped(id, None, reason),
        }
    }

    /// Handles an arriving packet of a value face.
    #[inline]
    pub(super) fn on_packet(&mut self, now: Instant, id: FaceId, packet: Packet) {
        if !self.links().any_recovers() {
            return self.forwarder.receive(now, id, packet);
        }
        self.on_packet_recovering(now, id, packet);
    }

    pub(super) fn on_packet_recovering(&mut self, now: Instant, id: FaceId, packet: Packet) {
        let mut drains = false;
        let received = self.forwarder.edge.links.receive_value(now, id, packet, &mut drains);
        if drains {
            self.drain(now, id);
        }
        match received {
            Ok(Some(packet)) => self.forwarder.receive(now, id, packet),
            Ok(None) => {}
            Err(duplicate) => self.out().drop_packet(id, &duplicate, DropReason::Repeated),
        }
    }

    /// Sends the frames of a link's recovery, and reports its losses.
    pub(super) fn drain(&mut self, now: Instant, id: FaceId) {
        let (links, out) = self.links_and_out();
        for lost in links.drain(now, id, out) {
            self.on_lost(now, id, lost);
        }
        let (links, out) = self.links_and_out();
        links.settle(now, id, out);
    }

    /// Handles a packet that a link lost and does not resend.
    pub(super) fn on_lost(&mut self, now: Instant, id: FaceId, lost: Lost) {
        let (kind, body) = match lost {
            // Its traces ended with the lost frame.
            Lost::Packet(packet) => (Some(packet.kind()), Some(packet.body)),
            Lost::Bytes(packet) => {
                let body = body(packet);
                let kind = body.as_ref().map(|body| match body {
                    Body::Interest(_) => Kind::Interest,
                    _ => Kind::Data,
                });
                (kind, body)
            }
            Lost::Fragment => (None, None),
        };
        self.out().dropped(id, kind, DropReason::LinkLoss);
        if let Some(body) = body {
            self.forwarder.packet_lost(now, id, &body);
        }
    }
}

/// The network packet that these bytes are, if it is an Interest or Data.
fn body(packet: Bytes) -> Option<Body> {
    match u64::from(*packet.first()?) {
        typ::INTEREST => Interest::decode(packet).ok().map(|it| Body::Interest(Arc::new(it))),
        typ::DATA => Data::decode(packet).ok().map(Body::Data),
        _ => None,
    }
}
