//! Interface between a node and the applications attached to it: consumers and producers.
//!
//! An application is a sans-I/O state machine. A node runs the fetch loop and the producer loop as applications, on
//! sockets and in the simulator alike.
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
use recoup_packet::object_id::ObjectId;
use std::sync::Arc;

/// Return path of an answer: chosen by the node, opaque to the application, passed back with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReturnPath(pub u64);

/// Input of an application.
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
        /// Unsigned fields of the link header.
        beside: Beside,
    },
    /// A network Nack for an Interest that the application expressed.
    Nack {
        /// The Interest.
        interest: Arc<Interest>,
        /// Reason of the Nack.
        reason: NackReason,
    },
    /// The face is gone that the Interest was sent on. The node keeps the Interest and sends it as soon as a face is
    /// up, within its lifetime.
    Held {
        /// The Interest.
        interest: Arc<Interest>,
    },
    /// The reader consumed this many bytes of content.
    Consumed {
        /// Bytes consumed since the last report.
        bytes: u64,
    },
    /// Number of applications that share the receive buffer of the face.
    Shared {
        /// Applications, this one included; at least 1.
        among: u64,
    },
    /// A face is up that the application's Interests may use.
    FaceUp {
        /// Bytes that the receiver of the face can buffer before it loses frames, if known.
        receive_budget: Option<u64>,
    },
    /// The last face that the application's Interests could use is down.
    FaceDown,
    /// The calendar clock was set, or the machine was suspended.
    TimeOfDay(TimeOfDay),
}

/// The pending Interest of an application that Data satisfied.
///
/// A name of this length that is a prefix of the name of the Data is that of the Interest. So an answer belongs to the
/// Interest that it satisfied, whatever its own name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Length of the name of the Interest, in bytes.
    name_bytes: u32,
}

impl Asked {
    /// The identification of `interest`.
    #[must_use]
    #[inline]
    pub fn of(interest: &Interest) -> Self {
        Self { name_bytes: interest.name.value().len() as u32 }
    }

    /// Whether `data`, which satisfied the Interest, answers an Interest for `name`.
    #[must_use]
    pub fn is_for(self, name: &Name, data: &Data) -> bool {
        self.name_bytes as usize == name.value().len() && name.is_prefix_of(data.name())
    }
}

/// Context of received Data: link header fields, which are not signed (`docs/wire.md`), and the satisfied Interest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// The pending Interest. `None`: no Interest was pending, and the application [awaits](Application::awaits) further
    /// copies.
    pub asked: Option<Asked>,
    /// Identifier of the node that answered, if present.
    pub provider: Option<u64>,
    /// Further fields that nodes forwarded.
    pub fields: Option<Box<Ignorable>>,
}

/// Output of an application. It is small, because there are several for each packet.
#[derive(Clone, Debug)]
pub enum AppOutput {
    /// Express an Interest.
    Interest(Arc<Interest>),
    /// Express an Interest with link fields that nodes forward.
    InterestWith {
        /// The Interest.
        interest: Arc<Interest>,
        /// The fields. Those that nodes do not forward are left out.
        fields: Box<Ignorable>,
    },
    /// Answer with Data.
    Data {
        /// The packet.
        data: Data,
        /// Return path of the Interest.
        path: ReturnPath,
    },
    /// Answer with a network Nack.
    Nack {
        /// Reason of the Nack.
        reason: NackReason,
        /// Return path of the Interest.
        path: ReturnPath,
    },
    /// Send a frame without packet to the uplink: translators of addresses on the path and the other end are to keep what
    /// they know of this machine.
    KeepAlive,
    /// Report to the owner of the application.
    Report(Report),
}

/// Report of an application to its owner.
#[derive(Clone, Debug)]
pub enum Report {
    /// Verified content of one segment.
    Content {
        /// Number of the segment.
        segment: u64,
        /// The content.
        content: Bytes,
    },
    /// Something worth recording.
    Event(Event),
    /// The object is known. Content follows this report.
    Resolved {
        /// Name of the object, version included if it has one.
        object: Box<Name>,
        /// Metadata of the object, if they were used to discover it.
        metadata: Option<Box<Metadata>>,
    },
    /// Outcome of a prefix registration: the first outcome, and each change.
    Registered {
        /// The prefix.
        prefix: Box<Name>,
        /// The error if the forwarder rejected the registration.
        outcome: Result<(), Box<ManagementError>>,
    },
    /// Answer to a management command, or the error.
    Managed(Result<Box<Managed>, Box<ManagementError>>),
    /// The application has ended.
    Done(Result<(), Box<FetchError>>),
    /// The identifier of the content, if its producer states one. Content follows this report.
    Identified(ObjectId),
    /// The latest version is the one that the owner has ([`FetchConfig::kept`](crate::fetch::FetchConfig::kept)): no content
    /// follows.
    Kept,
}

/// A state machine attached to a node: consumer, producer, or both.
pub trait Application {
    /// Handles one input.
    fn handle(&mut self, now: Instant, input: AppInput);
    /// Fires expired timers and returns one output. Call it until it returns `None`.
    fn poll(&mut self, now: Instant) -> Option<AppOutput>;
    /// Time of the next call of [`poll`](Self::poll) if no input comes.
    fn deadline(&self) -> Option<Instant>;

    /// Whether Data would answer an Interest of the application whose answers so far are forged or not verified. The
    /// node calls this for unsolicited Data, because a forged copy may have consumed the pending Interest. `false`
    /// where nothing is verified.
    fn awaits(&self, _data: &Data) -> bool {
        false
    }

    /// Nonce by which routers distinguish this flow from other flows for the same content. The node reads it once,
    /// when the application is attached. `None`: no nonce.
    fn flow_nonce(&self) -> Option<u64> {
        None
    }
}
