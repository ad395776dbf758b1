//! What a world tells of itself while it runs.
//!
//! Records, digests, traces, the check of conservation and the oracle of needless timeouts are all
//! observers: they see the same observations in the same order, and cannot change the run.
pub use crate::channel::LossReason;
use crate::network::{ApplicationId, Direction, LinkId, NodeId};
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::face::AppId;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::application::Report;
use recoup_transport::time::Instant;

/// One thing that happened in a world.
#[derive(Debug)]
pub enum Observation<'a> {
    /// An application started; said before anything else of it.
    Started {
        /// Which.
        application: ApplicationId,
        /// Its number in its node, by which the node's events name it; `None` where it is attached to
        /// no node.
        app: Option<AppId>,
    },
    /// An application reported something: an event, content, its end.
    Application {
        /// Which.
        application: ApplicationId,
        /// What.
        report: &'a Report,
    },
    /// A node's tables changed.
    Node {
        /// Which.
        node: NodeId,
        /// How.
        event: NodeEvent,
    },
    /// A node handed a packet to a channel.
    Sent {
        /// Over which link.
        link: LinkId,
        /// In which direction.
        direction: Direction,
        /// What.
        packet: &'a Packet,
    },
    /// A packet left a channel and was handed to a node: one packet-hop.
    Arrived {
        /// Over which link.
        link: LinkId,
        /// In which direction.
        direction: Direction,
        /// What.
        packet: &'a Packet,
    },
    /// A node discarded a packet.
    Dropped {
        /// Which node.
        node: NodeId,
        /// What it was, where that is known.
        kind: Option<Kind>,
        /// Why.
        reason: DropReason,
    },
    /// A channel discarded a packet.
    Lost {
        /// On which link.
        link: LinkId,
        /// In which direction.
        direction: Direction,
        /// What.
        packet: &'a Packet,
        /// Why.
        reason: LossReason,
    },
    /// A channel's packet was doubled on the way: one more of it will arrive, or be lost.
    Doubled {
        /// On which link.
        link: LinkId,
        /// In which direction.
        direction: Direction,
        /// What.
        packet: &'a Packet,
    },
    /// What waits in a channel's own queue may have changed: where the delay comes before the rate, or
    /// where other traffic shares the channel. Elsewhere packets wait in the node, which tells of it.
    Waiting {
        /// On which link.
        link: LinkId,
        /// In which direction.
        direction: Direction,
        /// How many wait, with those that are not NDN's.
        packets: u64,
        /// Octets that they are charged with.
        octets: u64,
    },
    /// A client belongs to an access point from now on. Their faces are up; where routes are computed anew they
    /// have been.
    Joined {
        /// Which.
        client: NodeId,
        /// To which one.
        point: NodeId,
        /// To which one it belonged last.
        before: Option<NodeId>,
    },
    /// A client has left an access point: its face is down.
    Left {
        /// Which.
        client: NodeId,
        /// Which one.
        point: NodeId,
    },
    /// A fault of the scenario took effect: its place in [`crate::network::Network::faults`].
    Fault {
        /// Which.
        number: usize,
    },
}

/// Sees what happens in a world.
pub trait Observer {
    /// `observation` was made at `now`.
    fn on(&mut self, now: Instant, observation: &Observation<'_>);
}
