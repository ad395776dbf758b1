//! Events of a segment.
use crate::network::NodeId;
use crate::observe::LossReason;
use crate::record::place::Channel;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::packet::Kind;
use recoup_packet::nack::NackReason;
use recoup_transport::event::{Cause, Signal};
use recoup_transport::time::{Duration, Instant};

/// An event with its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The time.
    pub at: Instant,
    /// The event.
    pub step: Step,
}

/// An event of the segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The consumer sent an Interest.
    Asked {
        /// Number of transmissions, this one included.
        transmissions: u32,
        /// Timeout in force for this transmission.
        rto: Duration,
    },
    /// A packet of it left a node.
    Left {
        /// Over which channel.
        channel: Channel,
        /// Kind of the packet.
        kind: Kind,
        /// Time since it, or what made it, came to the node.
        waited: Duration,
        /// Whether the link retransmitted it: the packet was sent to this channel before, and has arrived once.
        again: bool,
        /// Whether it descends from an Interest of the consumer.
        own: bool,
    },
    /// A packet of it came to the node at the end of a channel.
    Came {
        /// Over which channel.
        channel: Channel,
        /// Kind of the packet.
        kind: Kind,
        /// Time since it left; `None` if that was before the consumer asked.
        travelled: Option<Duration>,
        /// Time beyond the channel's rate and delay: queueing inside, jitter, contention. `None` on a medium, whose
        /// time is not known.
        excess: Option<Duration>,
        /// Whether it descends from an Interest of the consumer.
        own: bool,
    },
    /// A channel lost a packet of it.
    Lost {
        /// The channel.
        channel: Channel,
        /// Kind of the packet.
        kind: Kind,
        /// The reason.
        reason: LossReason,
        /// Whether it descends from an Interest of the consumer.
        own: bool,
    },
    /// A node discarded what descended from an Interest of the consumer.
    Dropped {
        /// The node.
        node: NodeId,
        /// Kind of the packet, if known.
        kind: Option<Kind>,
        /// The reason.
        reason: DropReason,
    },
    /// A content store answered.
    Cached {
        /// The node.
        node: NodeId,
    },
    /// An Interest joined one that was pending.
    Joined {
        /// The node.
        node: NodeId,
    },
    /// An Interest for which another was pending was sent on nevertheless.
    SentOn {
        /// The node.
        node: NodeId,
    },
    /// A repeated Interest was not sent on.
    Suppressed {
        /// The node.
        node: NodeId,
    },
    /// A pending Interest expired.
    Expired {
        /// The node.
        node: NodeId,
    },
    /// Its face was gone, and an Interest was sent on by another one.
    Redirected {
        /// The node.
        node: NodeId,
    },
    /// Data came to a node after an earlier copy had answered everybody.
    Superseded {
        /// The node.
        node: NodeId,
    },
    /// The timer of the latest transmission expired.
    TimedOut,
    /// The consumer took it for lost by the order in which others came.
    TakenForLost,
    /// The network sent a Nack for the consumer's Interest.
    Nacked {
        /// The reason.
        reason: NackReason,
    },
    /// The consumer learnt why it stayed away.
    Explained {
        /// The cause.
        cause: Cause,
    },
    /// The consumer learnt that it had been taken for lost wrongly.
    FalseAlarm {
        /// The signal of the loss.
        signal: Signal,
    },
    /// The segment arrived for the first time.
    Received {
        /// Transmissions of its Interest so far.
        transmissions: u32,
        /// Time since the first transmission.
        delay: Duration,
    },
    /// The consumer gave up after the last permitted transmission.
    LeftOut,
}
