//! Events of the fetch and producer loops.
//!
//! Algorithms neither log nor count. The loop that calls them emits events, from which summaries, statistics files,
//! progress bars and plots are made. The time of an event is the `now` at which it is returned. Events are small
//! ([`Span`] is for that) and hold no names: a simulation makes several for each packet.
use crate::congestion::{LossCause, LossKind};
use crate::loss::Phase;
use crate::time::Duration;
use recoup_packet::nack::NackReason;
use std::fmt;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// An Interest was sent that discovers the version of the object.
    Probed,
    /// An Interest for a segment was sent.
    Sent {
        /// Number of the segment.
        segment: u64,
        /// Transmissions of the segment, this one included.
        transmissions: u32,
        /// Retransmission timeout of this transmission.
        rto: Span,
    },
    /// New Data of a segment was accepted.
    Received {
        /// Number of the segment.
        segment: u64,
        /// Bytes of content.
        content_bytes: u32,
        /// Bytes of the Data packet, without any link header.
        wire_bytes: u32,
        /// Time since the last transmission.
        rtt: Span,
        /// Time since the first transmission.
        delay: Span,
        /// Transmissions of the segment.
        transmissions: u32,
    },
    /// The estimator received a sample.
    Sampled {
        /// Number of the segment.
        segment: u64,
        /// The sample.
        rtt: Span,
        /// Smoothed round-trip time after the sample.
        srtt: Span,
        /// Round-trip time variation after the sample.
        rttvar: Span,
        /// Retransmission timeout after the sample.
        rto: Span,
    },
    /// The window changed.
    Window {
        /// Window in segments.
        window: f64,
        /// Slow-start threshold in segments; may be infinite.
        ssthresh: f64,
        /// Compound's delay window, a part of the window, segments.
        delay_window: f64,
    },
    /// The retransmission timer of a segment expired.
    TimedOut {
        /// Number of the segment.
        segment: u64,
    },
    /// A segment was declared lost by reordering, before the timer of this transmission expired.
    Lost {
        /// Number of the segment.
        segment: u64,
    },
    /// Data of a segment arrived that had been declared lost by reordering, after its retransmission and before any
    /// of its timers expired.
    Repaired {
        /// Number of the segment.
        segment: u64,
    },
    /// The phase of reordering-based loss detection changed.
    Phase {
        /// The new phase.
        phase: Phase,
    },
    /// A loss or a mark began a new loss event. The window was reduced, if the algorithm ever does that.
    Reduced {
        /// Signal that indicated the loss event.
        cause: Signal,
    },
    /// A loss was spurious: Data came for the transmission before. This is known if Data comes before the
    /// retransmission, or sooner after it than half of the minimum round-trip time. A spurious loss whose Data comes
    /// later counts as repaired.
    Spurious {
        /// Number of the segment.
        segment: u64,
        /// Signal that had indicated the loss.
        cause: Signal,
    },
    /// The network reported a non-congestive cause of a missing segment. The window is not reduced.
    Explained {
        /// Number of the segment.
        segment: u64,
        /// The cause.
        cause: Cause,
        /// The segment had been declared lost.
        judged: bool,
    },
    /// Data reports that the network lengthened its round trip: a link retransmitted a packet, or the Interest was
    /// forwarded to a mobile node. Precedes [`Received`](Self::Received).
    Prolonged {
        /// Number of the segment.
        segment: u64,
        /// Time added to the round trip.
        by: Span,
    },
    /// The retries of a segment are spent, and the fetch continues without it.
    LeftOut {
        /// Number of the segment.
        segment: u64,
    },
    /// Data arrived after its segment's timeout and before the retransmission. It was not used, because a timeout
    /// withdraws its Interest.
    Withdrawn {
        /// Number of the segment.
        segment: u64,
    },
    /// Data carried a congestion mark.
    Marked {
        /// Number of the segment.
        segment: u64,
    },
    /// The network sent a Nack, or the producer an application Nack (a signed Data packet that reports missing
    /// content).
    Nacked {
        /// Number of the segment; `None` during version discovery.
        segment: Option<u64>,
        /// Reason of the Nack; none of an application Nack.
        reason: NackReason,
    },
    /// Data arrived that was unsolicited or a duplicate.
    Duplicate,
    /// Data arrived with a wrong signature or digest.
    Rejected {
        /// Number of the segment; `None` during version discovery.
        segment: Option<u64>,
        /// Reason of the rejection.
        why: &'static str,
    },
    /// Data was accepted without verification (a signature by an unknown key).
    Unverified {
        /// Number of the segment.
        segment: u64,
    },
    /// The number of the last segment became known, or changed.
    EndKnown {
        /// Number of the last segment.
        last: u64,
    },
    /// The last uplink is down; nothing can be sent.
    Disconnected,
    /// An uplink is up again.
    Connected,
    /// The producer answered with a segment.
    Served {
        /// Bytes of content.
        content_bytes: u32,
        /// The signature was made for this answer, not cached.
        signed: bool,
    },
    /// The producer answered an Interest for metadata or for a listing's version.
    ServedMetadata,
    /// The producer received an Interest for a name that it does not have.
    Unknown,
    /// The file of a version changed or can no longer be read; the version has ended.
    SourceEnded,
    /// The congestion control inferred the cause of a loss that was reported by [`TimedOut`](Self::TimedOut) or
    /// [`Lost`](Self::Lost), or such an inference proved wrong: the loss was spurious, or a link reported it.
    Inferred {
        /// Number of the segment.
        segment: u64,
        /// The cause.
        cause: Cause,
        /// False if the inference is withdrawn.
        holds: bool,
    },
    /// A reduction was undone: all losses of the last loss event were spurious or not due to congestion.
    Undone,
}

/// The cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A queue was full: the window was too large. This cause is only inferred; a Nack or a mark reports it
    /// explicitly.
    Congestion,
    /// A link lost the packet, and no node reported it. This cause is only inferred.
    Random,
    /// A link lost the packet and reported it, or repaired it.
    Wireless,
    /// A node moved: a face went down, here or at another node.
    Mobility,
}

impl Cause {
    /// Short name of the cause.
    pub fn word(self) -> &'static str {
        match self {
            Self::Congestion => "congestion",
            Self::Random => "random",
            Self::Wireless => "wireless",
            Self::Mobility => "mobility",
        }
    }
}

impl TryFrom<LossCause> for Cause {
    type Error = ();

    /// Fails for a spurious loss.
    fn try_from(cause: LossCause) -> Result<Self, ()> {
        match cause {
            LossCause::Congestion(_) => Ok(Self::Congestion),
            LossCause::Random => Ok(Self::Random),
            LossCause::Mobility => Ok(Self::Mobility),
            LossCause::Spurious => Err(()),
        }
    }
}

/// Signal that led to a window reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A retransmission timeout.
    Timeout,
    /// A Nack with reason Congestion.
    Nack,
    /// A congestion mark.
    Mark,
    /// Out-of-order arrival of Data.
    Order,
}

impl From<LossKind> for Signal {
    fn from(kind: LossKind) -> Self {
        match kind {
            LossKind::Timeout => Self::Timeout,
            LossKind::NackCongestion => Self::Nack,
            LossKind::Mark => Self::Mark,
            LossKind::Order => Self::Order,
        }
    }
}

impl Signal {
    /// Short name of the signal: `timeout`, `nack`, `mark` or `order`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Nack => "nack",
            Self::Mark => "mark",
            Self::Order => "order",
        }
    }
}

/// A duration in events: nanoseconds in seven bytes, so that an event with four of them stays small. Longer durations
/// are limited to 2.28 years.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span([u8; 7]);

impl Span {
    const LONGEST_NANOS: u64 = (1 << 56) - 1;

    /// A span of `nanos` nanoseconds, at most the longest one.
    pub fn from_nanos(nanos: u64) -> Self {
        let [a, b, c, d, e, f, g, _] = nanos.min(Self::LONGEST_NANOS).to_le_bytes();
        Self([a, b, c, d, e, f, g])
    }

    /// Length in nanoseconds.
    pub fn as_nanos(self) -> u64 {
        let [a, b, c, d, e, f, g] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, 0])
    }

    /// The span as a [`Duration`].
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.as_nanos())
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        let seconds = duration.as_secs().saturating_mul(1_000_000_000);
        Self::from_nanos(seconds.saturating_add(duration.subsec_nanos().into()))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        span.duration()
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.duration().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_exact_up_to_years() {
        for nanos in [0, 1, 255, 256, 20_000_000_001, Span::LONGEST_NANOS] {
            assert_eq!(Span::from_nanos(nanos).as_nanos(), nanos);
        }
        assert_eq!(Span::from(Duration::MAX).as_nanos(), Span::LONGEST_NANOS);
        assert_eq!(format!("{:?}", Span::from(Duration::from_millis(1500))), "1.5s");
    }
}
