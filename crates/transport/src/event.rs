//! Everything that happens in a loop and is worth recording, as one type.
//!
//! Algorithms neither log nor count: the loop that calls them emits events, from which every
//! summary, statistics file, progress bar and plot is made. The instant of an event is the `now` at
//! which it is handed out.
use crate::time::Duration;
use recoup_packet::nack::NackReason;

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
        rto: Duration,
    },
    /// Data of a segment arrived, was accepted and was new.
    Received {
        /// Number of the segment.
        segment: u64,
        /// Octets of content.
        content_bytes: u32,
        /// Time since the last transmission.
        rtt: Duration,
        /// Time since the first transmission.
        delay: Duration,
        /// How often the segment had been asked for.
        transmissions: u32,
    },
    /// The estimator took a sample.
    Sampled {
        /// Number of the segment.
        segment: u64,
        /// The sample.
        rtt: Duration,
        /// Smoothed round-trip time after it.
        srtt: Duration,
        /// Variation after it.
        rttvar: Duration,
        /// Timeout after it.
        rto: Duration,
    },
    /// The window changed.
    Window {
        /// Window in segments.
        window: f64,
        /// Slow-start threshold in segments; may be infinite.
        ssthresh: f64,
    },
    /// A segment's retransmission timeout expired.
    TimedOut {
        /// Number of the segment.
        segment: u64,
    },
    /// A loss (or mark) was taken as the first of its flight and reduced the window.
    Reduced {
        /// What told of it.
        cause: Signal,
    },
    /// A retransmission proved needless: the first copy's Data arrived after all.
    Spurious {
        /// Number of the segment.
        segment: u64,
    },
    /// Data carried a congestion mark.
    Marked {
        /// Number of the segment.
        segment: u64,
    },
    /// The network refused an Interest.
    Nacked {
        /// Number of the segment; `None` while the version was being found out.
        segment: Option<u64>,
        /// Why.
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
}
