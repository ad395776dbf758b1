//! What can happen to a segment.
use crate::network::NodeId;
use crate::observe::LossReason;
use crate::record::place::Channel;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::packet::Kind;
use recoup_packet::nack::NackReason;
use recoup_transport::event::{Cause, Signal};
use recoup_transport::time::{Duration, Instant};

/// One thing that happened to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// When.
    pub at: Instant,
    /// What.
    pub step: Step,
}

/// What happened to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The consumer asked for it.
    Asked {
        /// How often, this time included.
        transmissions: u32,
        /// Timeout in force for this transmission.
        rto: Duration,
    },
    /// A packet of it left a node.
    Left {
        /// Over which channel.
        channel: Channel,
        /// Which kind of packet.
        kind: Kind,
        /// Time since it, or what made it, came to the node.
        waited: Duration,
        /// It had left by this channel before, and came to the node only once: its link sends again what it lost.
        again: bool,
        /// It descends from an Interest of the consumer.
        own: bool,
    },
    /// A packet of it came to the node at the end of a channel.
    Came {
        /// Over which channel.
        channel: Channel,
        /// Which kind of packet.
        kind: Kind,
        /// Time since it left; `None` if that was before the consumer asked.
        travelled: Option<Duration>,
        /// What of that the channel's rate and delay do not explain: waiting inside, jitter, contention. `None` where
        /// the channel is a medium's, of which nobody can say what it takes.
        excess: Option<Duration>,
        /// It descends from an Interest of the consumer.
        own: bool,
    },
    /// A channel lost a packet of it.
    Lost {
        /// Which.
        channel: Channel,
        /// Which kind of packet.
        kind: Kind,
        /// Why.
        reason: LossReason,
        /// It descended from an Interest of the consumer.
        own: bool,
    },
    /// A node discarded what descended from an Interest of the consumer.
    Dropped {
        /// Which.
        node: NodeId,
        /// Which kind of packet, where that is known.
        kind: Option<Kind>,
        /// Why.
        reason: DropReason,
    },
    /// A content store answered.
    Cached {
        /// Of which node.
        node: NodeId,
    },
    /// An Interest joined one that was pending.
    Joined {
        /// In which node.
        node: NodeId,
    },
    /// An Interest for which another was pending was sent on nevertheless.
    SentOn {
        /// By which node.
        node: NodeId,
    },
    /// A repeated Interest was not sent on.
    Suppressed {
        /// By which node.
        node: NodeId,
    },
    /// Nothing came for a pending Interest.
    Expired {
        /// In which node.
        node: NodeId,
    },
    /// Its face was gone, and an Interest was sent on by another one.
    Redirected {
        /// By which node.
        node: NodeId,
    },
    /// Data came to a node after an earlier copy had answered everybody.
    Superseded {
        /// To which node.
        node: NodeId,
    },
    /// The timer of the latest transmission expired.
    TimedOut,
    /// The consumer took it for lost by the order in which others came.
    TakenForLost,
    /// The network refused the consumer's Interest.
    Refused {
        /// Why.
        reason: NackReason,
    },
    /// The consumer learnt why it stayed away.
    Explained {
        /// Why.
        cause: Cause,
    },
    /// The consumer learnt that it had been taken for lost wrongly.
    FalseAlarm {
        /// What had told of a loss.
        signal: Signal,
    },
    /// It came, and was new.
    Received {
        /// How often it had been asked for.
        transmissions: u32,
        /// Time since the first transmission.
        delay: Duration,
    },
    /// It was asked for as often as is permitted, and left out.
    LeftOut,
}
