//! Errors of a fetch.
use crate::time::Duration;
use recoup_packet::{nack::NackReason, name::Name};
use std::fmt;

/// Reason why a fetch ended without its object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The producer reports that the name does not exist.
    #[error("{0} does not exist: its producer answered with an application Nack")]
    NotFound(Name),
    /// The network answered with Nacks until the retry budget was spent.
    #[error("the network answered Interests for {name} with Nacks: {reason}, {attempts} times")]
    Nacked {
        /// The requested name.
        name: Name,
        /// Reason of the last Nack.
        reason: NackReason,
        /// Number of transmissions.
        attempts: u32,
    },
    /// No answer until the retry budget was spent.
    #[error("no answer for {name} after {attempts} Interests")]
    NoAnswer {
        /// The requested name.
        name: Name,
        /// Number of transmissions.
        attempts: u32,
    },
    /// Nothing new arrived within this time.
    #[error("nothing new arrived for {} s", .0.as_secs_f64())]
    NoProgress(Duration),
    /// No answer names a version that is new enough.
    #[error("{name} has no version newer than {than}: {}", Newest(*.newest))]
    Stale {
        /// The requested name.
        name: Name,
        /// The highest version named by an answer, if any.
        newest: Option<u64>,
        /// The version that the answer has to exceed.
        than: u64,
    },
    /// The metadata names an object that does not lie below the requested name.
    #[error("the metadata of {name} name another object, {named}")]
    OtherObject {
        /// The requested name.
        name: Name,
        /// The object that the metadata names.
        named: Name,
    },
    /// Answers arrived, and verification rejected each of them.
    #[error("Data for {name} cannot be trusted: {why}")]
    Untrusted {
        /// The requested name.
        name: Name,
        /// Reason of the last rejection.
        why: &'static str,
    },
    /// The range begins after the last segment.
    #[error("the range begins at segment {first}, but the last segment is {last}")]
    RangeBeyondEnd {
        /// First requested segment.
        first: u64,
        /// Last segment of the object.
        last: u64,
    },
    /// The last segment moved back before content that was delivered already.
    #[error("the last segment moved back to {last} after later segments had been received")]
    EndMovedBack {
        /// The last segment as announced now.
        last: u64,
    },
}

/// The newest version seen, as text.
struct Newest(Option<u64>);

impl fmt::Display for Newest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, "the newest one seen is {version}"),
            None => f.write_str("no answer names a version"),
        }
    }
}
