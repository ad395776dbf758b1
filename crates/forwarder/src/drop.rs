//! Reasons for which packets are dropped. Every drop is reported with one.
use std::fmt;

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// Not a valid NDN packet.
    Malformed,
    /// A fragment that does not fit the others, or more fragments than a face may hold.
    Fragment,
    /// An Interest without an eligible next hop.
    NoRoute,
    /// An Interest whose next hops are down, or were lost a short while ago; a Nack is sent.
    WayLost,
    /// The face does not exist.
    NoFace,
    /// The hop limit is exceeded.
    HopLimit,
    /// A packet below /localhost at a face that leads to another machine.
    Scope,
    /// A NextHopFaceId from a face without local fields.
    LocalField,
    /// An Interest whose nonce was seen before: it looped, or arrived by two paths.
    Loop,
    /// A retransmission that is suppressed; the Data of the pending Interest answers it, too.
    Suppressed,
    /// Data without a pending Interest.
    Unsolicited,
    /// The queue of the face is full.
    QueueFull,
    /// The queue of the flow is full, at a face with a scheduler.
    FlowFull,
    /// The scheduler of the face has the maximum number of flows.
    TooManyFlows,
    /// The packet needs more fragments than the face can send.
    TooLong,
    /// The table of pending Interests is full.
    PitFull,
    /// The face has its maximum of pending Interests.
    TooManyPending,
    /// An Interest beyond the rate limit of its face.
    TooFast,
    /// A Nack for an Interest that was not sent there, or not with this nonce.
    NackUnmatched,
    /// A duplicate: the link resent the frame, or duplicated it.
    Repeated,
    /// The frame was lost, and the link does not resend it.
    LinkLoss,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 21] = [
        Self::Malformed,
        Self::Fragment,
        Self::NoRoute,
        Self::WayLost,
        Self::NoFace,
        Self::HopLimit,
        Self::Scope,
        Self::LocalField,
        Self::Loop,
        Self::Suppressed,
        Self::Unsolicited,
        Self::QueueFull,
        Self::FlowFull,
        Self::TooManyFlows,
        Self::TooLong,
        Self::PitFull,
        Self::TooManyPending,
        Self::TooFast,
        Self::NackUnmatched,
        Self::Repeated,
        Self::LinkLoss,
    ];

    /// The reason as records and statistics spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Fragment => "fragment",
            Self::NoRoute => "no-route",
            Self::WayLost => "way-lost",
            Self::NoFace => "no-face",
            Self::HopLimit => "hop-limit",
            Self::Scope => "scope",
            Self::LocalField => "local-field",
            Self::Loop => "loop",
            Self::Suppressed => "suppressed",
            Self::Unsolicited => "unsolicited",
            Self::QueueFull => "queue-full",
            Self::FlowFull => "flow-full",
            Self::TooManyFlows => "too-many-flows",
            Self::TooLong => "too-long",
            Self::PitFull => "pit-full",
            Self::TooManyPending => "too-many-pending",
            Self::TooFast => "too-fast",
            Self::NackUnmatched => "nack-unmatched",
            Self::Repeated => "repeated",
            Self::LinkLoss => "link-loss",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
