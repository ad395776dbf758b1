//! Why a fetch ended without its object.
use crate::time::Duration;
use recoup_packet::{nack::NackReason, name::Name};

/// Why a fetch ended without its object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The producer says that the name does not exist.
    #[error("{0} does not exist: its producer answered with an application Nack")]
    NotFound(Name),
    /// The network refused the Interest until the retry budget was spent.
    #[error("the network refused Interests for {name}: {reason}, {attempts} times")]
    Refused {
        /// The name asked for.
        name: Name,
        /// The last reason given.
        reason: NackReason,
        /// How often it was asked for.
        attempts: u32,
    },
    /// No answer until the retry budget was spent.
    #[error("no answer for {name} after {attempts} Interests")]
    NoAnswer {
        /// The name asked for.
        name: Name,
        /// How often it was asked for.
        attempts: u32,
    },
    /// Nothing new arrived for too long.
    #[error("nothing new arrived for {} s", .0.as_secs_f64())]
    NoProgress(Duration),
    /// Answers came, and each of them was wrong.
    #[error("Data for {name} cannot be trusted: {why}")]
    Untrusted {
        /// The name asked for.
        name: Name,
        /// What was wrong with the last answer.
        why: &'static str,
    },
    /// The range begins beyond the last segment.
    #[error("the range begins at segment {first}, but the last segment is {last}")]
    RangeBeyondEnd {
        /// First segment asked for.
        first: u64,
        /// Last segment of the object.
        last: u64,
    },
    /// The end moved to before content that was handed out already.
    #[error("the last segment moved back to {last} after later segments had been received")]
    EndMovedBack {
        /// The last segment as announced now.
        last: u64,
    },
}
