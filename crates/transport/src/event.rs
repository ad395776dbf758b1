//! Everything that happens in a loop and is worth recording, as one type.
//!
//! Algorithms neither log nor count: the loop that calls them emits events, from which every
//! summary, statistics file, progress bar and plot is made. The instant of an event is the `now` at
//! which it is handed out. Events are small ([`Span`] is for that) and hold no names: a simulated world
//! makes several for each packet.
use crate::congestion::{LossCause, LossKind};
use crate::loss::Phase;
use crate::time::Duration;
use recoup_packet::nack::NackReason;
use std::fmt;

/// One thing worth recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// An Interest left to find out the object's version.
    Probed,
    /// An Interest for a segment left.
    Sent {
        /// Number of the segment.
        segment: u64,
        /// How often the segment has been asked for, this time included.
        transmissions: u32,
        /// Retransmission timeout in force for this transmission.
        rto: Span,
    },
    /// Data of a segment arrived, was accepted and was new.
    Received {
        /// Number of the segment.
        segment: u64,
        /// Octets of content.
        content_bytes: u32,
        /// Octets of the whole Data packet, without any link header.
        wire_octets: u32,
        /// Time since the last transmission.
        rtt: Span,
        /// Time since the first transmission.
        delay: Span,
        /// How often the segment had been asked for.
        transmissions: u32,
    },
    /// The estimator took a sample.
    Sampled {
        /// Number of the segment.
        segment: u64,
        /// The sample.
        rtt: Span,
        /// Smoothed round-trip time after it.
        srtt: Span,
        /// Variation after it.
        rttvar: Span,
        /// Timeout after it.
        rto: Span,
    },
    /// The window changed.
    Window {
        /// Window in segments.
        window: f64,
        /// Slow-start threshold in segments; may be infinite.
        ssthresh: f64,
        /// The part of the window that is Compound's delay window.
        delay_window: f64,
    },
    /// A segment's retransmission timeout expired.
    TimedOut {
        /// Number of the segment.
        segment: u64,
    },
    /// A segment counts as lost, because of the order in which others arrived; no timer has expired for
    /// this transmission.
    Lost {
        /// Number of the segment.
        segment: u64,
    },
    /// Data of a segment that had been judged lost by the order of arrivals came after it was asked for
    /// again, and none of its timers had expired.
    Repaired {
        /// Number of the segment.
        segment: u64,
    },
    /// The flow is in another phase of detecting losses by the order of arrivals.
    Phase {
        /// Which.
        phase: Phase,
    },
    /// A loss or a mark was taken for a new loss event: the window was reduced, if it ever is.
    Reduced {
        /// What told of it.
        cause: Signal,
    },
    /// A segment had wrongly been taken for lost: Data came for the transmission before. That is known
    /// where Data comes before the segment was asked for again, or sooner after it than half of the least
    /// round trip; a false alarm whose Data comes later looks like a repair.
    Spurious {
        /// Number of the segment.
        segment: u64,
        /// What had told of a loss.
        cause: Signal,
    },
    /// It became known why a segment stayed away: nobody's window is to blame.
    Explained {
        /// Number of the segment.
        segment: u64,
        /// Why.
        cause: Cause,
        /// It had counted as lost.
        judged: bool,
    },
    /// Data of a segment says that nodes on its way lengthened its round trip: a link sent something again, or an Interest
    /// was sent on to where somebody had moved. Comes before [`Received`](Self::Received).
    Prolonged {
        /// Number of the segment.
        segment: u64,
        /// By how much.
        by: Span,
    },
    /// A segment was asked for as often as is permitted, and is left out.
    LeftOut {
        /// Number of the segment.
        segment: u64,
    },
    /// Data arrived after its segment's timeout and before the segment was asked for again, and was not
    /// used, because a timeout withdraws its Interest.
    Withdrawn {
        /// Number of the segment.
        segment: u64,
    },
    /// Data carried a congestion mark.
    Marked {
        /// Number of the segment.
        segment: u64,
    },
    /// The network refused an Interest, or a producer has no such content and says so in a Data packet (an application Nack).
    Nacked {
        /// Number of the segment; `None` while the version was being found out.
        segment: Option<u64>,
        /// Why; a producer gives no reason.
        reason: NackReason,
    },
    /// Data arrived that had already been received or that nobody asked for.
    Duplicate,
    /// Data arrived whose signature or digest was wrong.
    Rejected {
        /// Number of the segment; `None` while the version was being found out.
        segment: Option<u64>,
        /// What was wrong.
        why: &'static str,
    },
    /// Data was accepted although nothing could vouch for it (a signature by an unknown key).
    Unverified {
        /// Number of the segment.
        segment: u64,
    },
    /// The last segment became known, or moved.
    EndKnown {
        /// Number of the last segment.
        last: u64,
    },
    /// The way out is gone; nothing can be sent.
    Disconnected,
    /// There is a way out again.
    Connected,
    /// A producer answered with a segment.
    Served {
        /// Octets of content.
        content_bytes: u32,
        /// The signature was made for this answer, not taken from the table.
        signed: bool,
    },
    /// A producer answered a question for the version, or for a listing's.
    ServedMetadata,
    /// A producer was asked for a name that it does not have.
    Unknown,
    /// The file behind a version changed or can no longer be read; that version has ended.
    SourceEnded,
    /// The congestion control inferred the cause of a loss that was reported by [`TimedOut`](Self::TimedOut) or
    /// [`Lost`](Self::Lost), or such an inference proved to be wrong: the loss was none, or a link reported it.
    Inferred {
        /// Number of the segment.
        segment: u64,
        /// The cause.
        cause: Cause,
        /// False if the inference is taken back.
        holds: bool,
    },
    /// No loss of the last loss event was one, or none was due to congestion: the window is as before that event.
    Undone,
}

/// The cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A queue was full: too much was asked for. Only inferred; what reports it explicitly is a Nack or a mark.
    Congestion,
    /// A link lost it, and no node reported that. Only inferred.
    Random,
    /// A link lost it: it says so, or the link has sent it again.
    Wireless,
    /// Somebody moved: its face went down, here or further on.
    Mobility,
}

impl Cause {
    /// One word for it.
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

    /// Fails if nothing was lost.
    fn try_from(cause: LossCause) -> Result<Self, ()> {
        match cause {
            LossCause::Congestion(_) => Ok(Self::Congestion),
            LossCause::Random => Ok(Self::Random),
            LossCause::Mobility => Ok(Self::Mobility),
            LossCause::Spurious => Err(()),
        }
    }
}

/// What a window reduction was due to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A retransmission timeout.
    Timeout,
    /// A Nack with reason Congestion.
    Nack,
    /// A congestion mark.
    Mark,
    /// The order in which Data arrived.
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
    /// One word for it: `timeout`, `nack`, `mark` or `order`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Nack => "nack",
            Self::Mark => "mark",
            Self::Order => "order",
        }
    }
}

/// A duration as events hold it: nanoseconds in seven octets, so that an event with four of them
/// stays small. What is longer than 2.28 years becomes as long as that.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span([u8; 7]);

impl Span {
    const LONGEST_NANOS: u64 = (1 << 56) - 1;

    /// So many nanoseconds, or the longest span.
    pub fn from_nanos(nanos: u64) -> Self {
        let [a, b, c, d, e, f, g, _] = nanos.min(Self::LONGEST_NANOS).to_le_bytes();
        Self([a, b, c, d, e, f, g])
    }

    /// Its length in nanoseconds.
    pub fn as_nanos(self) -> u64 {
        let [a, b, c, d, e, f, g] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, 0])
    }

    /// Its length.
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
    fn an_event_is_five_words() {
        assert!(size_of::<Event>() <= 40, "{}", size_of::<Event>());
    }

    #[test]
    fn a_span_is_exact_up_to_years() {
        for nanos in [0, 1, 255, 256, 20_000_000_001, Span::LONGEST_NANOS] {
            assert_eq!(Span::from_nanos(nanos).as_nanos(), nanos);
        }
        assert_eq!(Span::from(Duration::MAX).as_nanos(), Span::LONGEST_NANOS);
        assert_eq!(format!("{:?}", Span::from(Duration::from_millis(1500))), "1.5s");
    }
}
