//! Why a fetch ended without its object.
use crate::time::Duration;
use recoup_packet::{nack::NackReason, name::Name};
use std::fmt;

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
    /// No answer names a version that is new enough.
    #[error("{name} has no version newer than {than}: {}", Newest(*.newest))]
    Stale {
        /// The name asked for.
        name: Name,
        /// The highest version that an answer named, if one did.
        newest: Option<u64>,
        /// The version that a newer one was asked for.
        than: u64,
    },
    /// The metadata name an object that does not lie below the name asked for.
    #[error("the metadata of {name} name another object, {named}")]
    OtherObject {
        /// The name asked for.
        name: Name,
        /// The object that the metadata name.
        named: Name,
    },
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

/// The newest version seen, in words.
struct Newest(Option<u64>);

impl fmt::Display for Newest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, "the newest one seen is {version}"),
            None => f.write_str("no answer names a version"),
        }
    }
}
