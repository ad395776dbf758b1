//! Errors of a fetch.
use super::belonging::OTHER_CONTENT;
use crate::rejection::Rejection;
use crate::time::Duration;
use recoup_packet::{data::Data, denial::Denial, manifest, nack::NackReason, name::Name};
use std::fmt;

/// Reason why a fetch ended without its object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The producer reports that the name does not exist.
    #[error("{0} does not exist: its producer answered with an application Nack")]
    NotFound(Name),
    /// The producer no longer has an object of which it has answered a part: it was replaced, or its producer was.
    #[error("{0} was replaced or ended while it was fetched: its producer no longer has it")]
    Ended(Name),
    /// The producer reports that it cannot read the content.
    #[error("the producer of {name} cannot read it: {why}")]
    Unreadable {
        /// The requested name.
        name: Name,
        /// Reason that the producer states.
        why: &'static str,
    },
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
    /// The whole has not arrived within this time.
    #[error("not complete within {} s", .0.as_secs_f64())]
    TooSlow(Duration),
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
    #[error("Data for {name} cannot be trusted: the packet {why}{signers}")]
    Untrusted {
        /// The requested name.
        name: Name,
        /// Reason of the last rejection, as the end of "the packet …".
        why: &'static str,
        /// The signer that the packet names, and the wanted one.
        signers: Box<Signers>,
    },
    /// Answers arrived that belong to other content of the same name than the metadata, or the segments before.
    #[error(
        "two contents have the name of {0}: a cache keeps the older one, or two producers differ"
    )]
    OtherContent(Name),
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
    /// No Data and no Nack arrived within the time for the first answer.
    #[error("no answer for {name} within {} s", .within.as_secs_f64())]
    NoFirstAnswer {
        /// The requested name.
        name: Name,
        /// The time.
        within: Duration,
    },
}

impl FetchError {
    /// The error after all answers for `name` were rejected, the last one so.
    #[must_use]
    pub fn rejected(name: Name, rejection: &Rejection) -> Self {
        // The signer of a packet is no reason if its signature was accepted, or its certificate is what is wrong.
        let found = rejection.signer.clone().filter(|_| !rejection.is_invalid);
        match rejection.why {
            OTHER_CONTENT | manifest::OTHER_CONTENT => Self::OtherContent(name),
            why => {
                Self::Untrusted { name, why, signers: Box::new(Signers { found, wanted: None }) }
            }
        }
    }

    /// The error of a segment whose object a producer had before.
    pub(super) fn of_begun(self) -> Self {
        match self {
            Self::NotFound(segment) => Self::Ended(segment.parent()),
            other => other,
        }
    }

    /// The error of a packet that cannot be used for this reason, whatever its signer is.
    pub(super) fn untrusted(name: Name, why: &'static str) -> Self {
        Self::Untrusted { name, why, signers: Box::default() }
    }

    /// The error of a fetch that accepts the signatures of this key only.
    pub(super) fn wanting(mut self, key: Option<&str>) -> Self {
        if let Self::Untrusted { signers, .. } = &mut self
            && signers.found.is_some()
        {
            signers.wanted = key.map(str::to_owned);
        }
        self
    }

    /// The error that the application Nack `data` for `name` stands for.
    #[must_use]
    pub fn denied(name: Name, data: &Data) -> Self {
        match Denial::of(data) {
            Denial::Absent => Self::NotFound(name),
            Denial::Forbidden => Self::Unreadable { name, why: "it is not permitted to" },
            Denial::Unavailable => Self::Unreadable { name, why: "it has a local failure" },
        }
    }
}

/// The signer of a rejected packet and the wanted one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signers {
    /// The signer that the packet names. Its signature is not verified.
    pub found: Option<String>,
    /// The only accepted key, in the spelling of the user.
    pub wanted: Option<String>,
}

impl fmt::Display for Signers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.found, &self.wanted) {
            (Some(found), Some(wanted)) => write!(f, " (it names {found}, wanted is {wanted})"),
            (Some(found), None) => write!(f, " (it names {found})"),
            (None, _) => Ok(()),
        }
    }
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
