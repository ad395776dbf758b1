//! What a node and the applications attached to it say to each other.
//!
//! An application is a machine like any other. The fetch loop and the producer loop are
//! applications; a node carries them, on sockets and in the simulator alike.
use crate::event::Event;
use crate::fetch::FetchError;
use crate::management::{Managed, ManagementError};
use crate::time::{Instant, TimeOfDay};
use bytes::Bytes;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::Ignorable;
use recoup_packet::metadata::Metadata;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use std::sync::Arc;

/// Where an answer to an Interest goes: chosen by the node, opaque to the application, handed back
/// with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReturnPath(pub u64);

/// What happened, as an application is told.
#[derive(Clone, Debug)]
pub enum AppInput {
    /// An Interest for one of the application's prefixes.
    Interest {
        /// The Interest.
        interest: Arc<Interest>,
        /// Where the answer goes.
        path: ReturnPath,
    },
    /// Data that arrived.
    Data {
        /// The Data.
        data: Data,
        /// Congestion mark of the frame that brought it; 0 means none.
        congestion_mark: u64,
        /// What nodes on the way said of it.
        beside: Beside,
    },
    /// A network Nack for an Interest that the application expressed.
    Nack {
        /// The Interest that was refused.
        interest: Arc<Interest>,
        /// Why.
        reason: NackReason,
    },
    /// The face by which an Interest of the application left is gone. The node keeps it and sends it on as soon as it can, for
    /// as long as it lives.
    Held {
        /// The Interest.
        interest: Arc<Interest>,
    },
    /// The reader of the application's content took this many octets.
    Consumed {
        /// Octets taken since the last such report.
        bytes: u64,
    },
    /// So many applications, this one included, share what the receiving side of the face can hold.
    Shared {
        /// How many; at least 1.
        among: u64,
    },
    /// A face that the application's Interests may leave by is there.
    FaceUp {
        /// Octets that the receiving side of the face can hold before it loses frames, if known.
        receive_budget: Option<u64>,
    },
    /// The last face that the application's Interests could leave by is gone.
    FaceDown,
    /// The calendar clock was set, or the machine was suspended.
    TimeOfDay(TimeOfDay),
}

/// What came with Data in its link header (`docs/wire.md`); nothing of it is signed by anybody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Which node answered, if it said so.
    pub provider: Option<u64>,
    /// Further fields that nodes carried over.
    pub fields: Option<Box<Ignorable>>,
}

/// What an application wants done; small, because there are several for each packet.
#[derive(Clone, Debug)]
pub enum AppOutput {
    /// Express an Interest.
    Interest(Arc<Interest>),
    /// Express an Interest with link fields that nodes carry over.
    InterestWith {
        /// The Interest.
        interest: Arc<Interest>,
        /// The fields; those that are not carried over are left out.
        fields: Box<Ignorable>,
    },
    /// Answer with Data.
    Data {
        /// The packet.
        data: Data,
        /// From the Interest that it answers.
        path: ReturnPath,
    },
    /// Answer with a network Nack.
    Nack {
        /// Why.
        reason: NackReason,
        /// From the Interest that is refused.
        path: ReturnPath,
    },
    /// Something for the application's owner.
    Report(Report),
}

/// What the owner of an application hears of it.
#[derive(Clone, Debug)]
pub enum Report {
    /// Verified content of one segment, for the reader of the application's content.
    Content {
        /// Number of the segment.
        segment: u64,
        /// The content.
        content: Bytes,
    },
    /// Something worth recording.
    Event(Event),
    /// The object that content is of is known from here on; no content comes before this.
    Resolved {
        /// Name of the object, version included if it has one.
        object: Box<Name>,
        /// What the producer says of the object, if it was discovered by metadata.
        metadata: Option<Box<Metadata>>,
    },
    /// A forwarder took, or refused, a prefix; said when that is first known and when it changes.
    Registered {
        /// The prefix.
        prefix: Box<Name>,
        /// Why not, if it refused.
        outcome: Result<(), Box<ManagementError>>,
    },
    /// A forwarder answered what it was asked, or nobody did.
    Managed(Result<Box<Managed>, Box<ManagementError>>),
    /// The application has ended.
    Done(Result<(), Box<FetchError>>),
}

/// A machine attached to a node: consumer, producer, or both.
pub trait Application {
    /// One thing happened.
    fn handle(&mut self, now: Instant, input: AppInput);
    /// Fires what is due and hands out one consequence; to be called until `None`.
    fn poll(&mut self, now: Instant) -> Option<AppOutput>;
    /// When to come back if nothing happens.
    fn deadline(&self) -> Option<Instant>;

    /// Whether Data would answer an Interest of the application whose answers so far are forged, or not verified yet. The node
    /// asks this of Data for which it has no pending Interest: a forged copy may have taken that. `false` where nothing is
    /// verified.
    fn awaits(&self, _data: &Data) -> bool {
        false
    }

    /// What its Interests carry so that routers tell its flow from those of others who ask for the same content; asked
    /// for once, when it is attached. `None`: nothing.
    fn flow_nonce(&self) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_application_says_is_six_words() {
        let sizes = [size_of::<Report>(), size_of::<AppOutput>()];
        assert!(sizes.into_iter().max() <= Some(48), "{sizes:?}");
    }
}
