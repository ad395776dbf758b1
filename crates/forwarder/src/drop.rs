//! Why packets go no further: whoever discards one says so.
use std::fmt;

/// Why a packet went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// It is not an NDN packet, or not a valid one.
    Malformed,
    /// It is a fragment that does not fit the others, or there are too many of them.
    Fragment,
    /// An Interest that no route leads on, or Interests of an application while there is no way out.
    NoRoute,
    /// An Interest whose way is down, or was lost a short while ago; who asked is told.
    WayLost,
    /// Its face is gone, or there never was one.
    NoFace,
    /// Its hop limit is used up.
    HopLimit,
    /// It is below /localhost and its face leads to another machine.
    Scope,
    /// It says by which face it is to leave, and its face has no local fields.
    LocalField,
    /// An Interest whose nonce was seen before: it goes round, or came by two ways.
    Loop,
    /// A repeated Interest that is not sent again so soon; Data will answer it, too.
    Suppressed,
    /// Data, or an application's answer, that nobody waits for (any more).
    Unsolicited,
    /// The queue of its face is full.
    QueueFull,
    /// The queue of its flow is full, at a face that shares its link among flows.
    FlowFull,
    /// As many flows wait at its face as may.
    TooManyFlows,
    /// It does not fit the frames of its face.
    TooLong,
    /// There are as many pending Interests as there may be.
    PitFull,
    /// An Interest whose face has as many pending as it may have.
    TooManyPending,
    /// An Interest that came faster than its face may ask.
    TooFast,
    /// A Nack for an Interest that was not sent there, or not with this nonce.
    NackUnmatched,
    /// Its frame came before: the link sent it again, or doubled it.
    Repeated,
    /// Its frame was lost, and the link does not send it again.
    LinkLoss,
    /// The worker of the forwarder that was to have it next has too much to do.
    WorkerBusy,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 22] = [
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
        Self::WorkerBusy,
    ];

    /// The reason in a word, as records and statistics spell it.
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
            Self::WorkerBusy => "worker-busy",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
