//! Observations of a running simulation.
//!
//! Records, digests, traces, the check of conservation and the oracle of spurious timeouts are all observers. They see
//! the same observations in the same order, and cannot change the run.
pub use crate::channel::LossReason;
use crate::network::{ApplicationId, Direction, LinkId, NodeId};
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::face::AppId;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::application::Report;
use recoup_transport::time::Instant;

/// One event in a simulation.
#[derive(Debug)]
pub enum Observation<'a> {
    /// An application started; its first observation.
    Started {
        /// The application.
        application: ApplicationId,
        /// Number of the application in its node's events; `None` where it is attached to
        /// no node.
        app: Option<AppId>,
    },
    /// An application reported something: an event, content, its end.
    Application {
        /// The application.
        application: ApplicationId,
        /// The report.
        report: &'a Report,
    },
    /// A node's tables changed.
    Node {
        /// The node.
        node: NodeId,
        /// The event.
        event: NodeEvent,
    },
    /// A node handed a packet to a channel.
    Sent {
        /// Over which link.
        link: LinkId,
        /// The direction.
        direction: Direction,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet left a channel and was handed to a node: one packet-hop.
    Arrived {
        /// Over which link.
        link: LinkId,
        /// The direction.
        direction: Direction,
        /// The packet.
        packet: &'a Packet,
    },
    /// A node discarded a packet.
    Dropped {
        /// The node.
        node: NodeId,
        /// Kind of the packet, if known.
        kind: Option<Kind>,
        /// The reason.
        reason: DropReason,
    },
    /// A channel discarded a packet.
    Lost {
        /// The link.
        link: LinkId,
        /// The direction.
        direction: Direction,
        /// The packet.
        packet: &'a Packet,
        /// The reason.
        reason: LossReason,
    },
    /// A channel's packet was doubled on the way: one more of it will arrive, or be lost.
    Doubled {
        /// The link.
        link: LinkId,
        /// The direction.
        direction: Direction,
        /// The packet.
        packet: &'a Packet,
    },
    /// The queue inside a channel may have changed. A channel has one if its delay comes before its rate, or if other
    /// traffic shares it. Otherwise packets queue in the node, which reports them.
    Waiting {
        /// The link.
        link: LinkId,
        /// The direction.
        direction: Direction,
        /// Number of queued frames, with those of other protocols.
        packets: u64,
        /// Bytes that they are charged with.
        bytes: u64,
    },
    /// A client belongs to an access point from now on. Their faces are up; where routes are computed anew they
    /// have been.
    Joined {
        /// The client.
        client: NodeId,
        /// The access point.
        point: NodeId,
        /// Its last access point before.
        before: Option<NodeId>,
    },
    /// A client has left an access point: its face is down.
    Left {
        /// The client.
        client: NodeId,
        /// The access point.
        point: NodeId,
    },
    /// A fault of the scenario took effect: its place in [`crate::network::Network::faults`].
    Fault {
        /// The number of the fault.
        number: usize,
    },
}

/// Receives the observations of a simulation.
pub trait Observer {
    /// `observation` was made at `now`.
    fn on(&mut self, now: Instant, observation: &Observation<'_>);
}
