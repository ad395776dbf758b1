//! A channel in its place: from which face of which node to which.
use super::aerial::Aerial;
use super::schedule::OtherLoad;
use crate::channel::{ChannelInput, ChannelModel, QueuedChannel};
use crate::network::{Direction, LinkId, LinkOptions, Order};
use recoup_forwarder::face::FaceId;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::queue::Load;
use recoup_transport::time::Instant;

/// Load of a channel: a packet, or a frame of another protocol.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) packet: Option<Packet>,
    /// Bytes that the rate is charged with.
    pub(super) bytes: u32,
}

impl Load for Frame {
    fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// A face of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) node: usize,
    pub(super) face: FaceId,
}

/// One direction of a link.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) channel: QueuedChannel<Frame>,
    pub(super) from: End,
    pub(super) to: End,
    /// Packets wait in the channel's queue, with other traffic, instead of in the node's.
    pub(super) is_shared: bool,
    /// Where it leads over a medium, in whose station packets wait.
    pub(super) aerial: Option<Aerial>,
    /// Load of the background traffic.
    pub(super) others: OtherLoad,
    overhead_bytes: u32,
    interest_bytes: Option<u32>,
}

impl Lane {
    pub(super) fn new(plan: &LinkOptions, model: ChannelModel, from: End, to: End) -> Self {
        Self {
            channel: QueuedChannel::new(model),
            from,
            to,
            is_shared: false,
            aerial: None,
            others: OtherLoad::default(),
            overhead_bytes: plan.overhead_bytes,
            interest_bytes: plan.interest_bytes,
        }
    }

    /// The plan has changed.
    pub(super) fn recharge(&mut self, plan: &LinkOptions) {
        self.overhead_bytes = plan.overhead_bytes;
        self.interest_bytes = plan.interest_bytes;
    }

    /// Bytes that a packet is charged with.
    pub(super) fn charge(&self, packet: &Packet) -> u32 {
        match self.interest_bytes {
            Some(bytes) if packet.kind() == Kind::Interest => bytes,
            _ => (packet.bytes() as u32).saturating_add(self.overhead_bytes),
        }
    }

    /// Whether packets wait here, and not in the node.
    pub(super) fn has_queue(&self) -> bool {
        self.is_shared || self.channel.channel().model().order == Order::DelayThenRate
    }

    /// Whether a packet that is offered now is taken, to be sent or to wait here.
    pub(super) fn takes(&self, now: Instant) -> bool {
        self.is_shared || self.aerial.is_some() || self.channel.channel().is_free(now)
    }

    /// Whether it is addressed to all nodes in range.
    pub(super) fn is_for_all(&self) -> bool {
        self.aerial.is_some_and(|aerial| aerial.is_for_all())
    }

    /// From when on packets are taken as they come.
    pub(super) fn takes_from(&self, now: Instant) -> Instant {
        if self.takes(now) { now } else { self.channel.channel().free_at() }
    }

    /// A frame is offered: what the node offers is sent at once, and the queue here stays empty.
    #[inline]
    pub(super) fn offer(&mut self, now: Instant, sequence: u64, frame: Frame) {
        if self.is_shared {
            self.channel.handle(now, ChannelInput::Frame { frame, sequence });
        } else {
            self.channel.channel_mut().offer(now, sequence, frame);
        }
    }

    /// Requests a notification of the node when the rate is free.
    pub(super) fn want(&mut self, now: Instant, sequence: u64) {
        self.channel.channel_mut().handle(now, ChannelInput::Wanted { sequence });
    }
}

/// Where the lane of a direction stands.
pub(super) fn place(link: LinkId, direction: Direction) -> usize {
    2 * link.0 as usize + usize::from(direction == Direction::Back)
}

/// The lane of a link that leads away from the node of that number, which is one of its ends.
pub(super) fn away(lanes: &[Lane], link: LinkId, node: usize) -> usize {
    let forth = place(link, Direction::Forth);
    if lanes[forth].from.node == node { forth } else { forth + 1 }
}

/// Link and direction of the lane at that index.
pub(super) fn name(place: usize) -> (LinkId, Direction) {
    let direction = if place.is_multiple_of(2) { Direction::Forth } else { Direction::Back };
    (LinkId((place / 2) as u32), direction)
}
