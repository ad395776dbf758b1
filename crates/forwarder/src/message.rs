//! Inputs and outputs of a node, exchanged with its driver.
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{AppId, FaceAttributes, FaceId};
use crate::frame::Frame;
use crate::order::{FaceOrder, Notice};
use crate::packet::{Kind, Packet};
use crate::table::RouteChange;
use bytes::Bytes;
use recoup_transport::application::{AppInput, Report};
use recoup_transport::queue::Scheduling;
use recoup_transport::time::Instant;

/// Input of a node.
#[derive(Clone, Debug)]
pub enum Input {
    /// A face is up; or a face that is up has changed.
    FaceUp {
        /// The face.
        face: FaceId,
        /// Its attributes.
        attributes: FaceAttributes,
    },
    /// A face is down; it may come up again under the same number.
    FaceDown {
        /// The face.
        face: FaceId,
    },
    /// A frame arrived by a wire face.
    Frame {
        /// The face.
        face: FaceId,
        /// The whole frame: a bare packet or an LpPacket.
        frame: Bytes,
    },
    /// A frame arrived by a wire face with several senders.
    FrameFrom {
        /// The face.
        face: FaceId,
        /// Identifies the sender: only fragments of one sender belong together.
        sender: u64,
        /// The whole frame.
        frame: Bytes,
    },
    /// A packet arrived by a value face.
    Packet {
        /// The face.
        face: FaceId,
        /// The packet.
        packet: Packet,
    },
    /// A value face may send one more packet.
    Ready {
        /// The face.
        face: FaceId,
    },
    /// Time from which a value face takes the next packet at once, unless others are queued then. Without this input
    /// it sends `Ready` each time.
    Busy {
        /// The face.
        face: FaceId,
        /// End of the busy time.
        until: Instant,
    },
    /// The length of the driver's send queue of a wire face.
    Backlog {
        /// The face.
        face: FaceId,
        /// Queued bytes.
        bytes: u64,
    },
    /// A queue of this machine was full and dropped a frame of a wire face.
    Overflowed {
        /// The face.
        face: FaceId,
        /// The whole frame.
        frame: Bytes,
    },
    /// An input for an application from outside the network, such as `Consumed`.
    App {
        /// The application.
        app: AppId,
        /// The input.
        input: Box<AppInput>,
    },
    /// A route is added, changed or removed.
    Route(RouteChange),
    /// Sets the scheduler of a face, up or not.
    Schedule {
        /// The face.
        face: FaceId,
        /// The scheduler; queued packets keep their order if only the link has changed.
        scheduling: Box<Scheduling>,
    },
    /// A report to the management.
    Notice(Box<Notice>),
}

/// Output of a node.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a frame by a wire face.
    Send {
        /// The face.
        face: FaceId,
        /// The whole frame.
        frame: Frame,
    },
    /// Send a packet by a value face, which is not ready again before `Ready`.
    Transmit {
        /// The face.
        face: FaceId,
        /// The packet.
        packet: Packet,
    },
    /// A value face that is not ready has queued packets; expects one `Ready` later.
    Wants {
        /// The face.
        face: FaceId,
    },
    /// A report to the owner of the application: content, an event, the end.
    App {
        /// The application.
        app: AppId,
        /// The report.
        report: Report,
    },
    /// A packet was dropped.
    Dropped {
        /// The ingress or egress face, if there is one.
        face: Option<FaceId>,
        /// Kind of the packet, if known.
        kind: Option<Kind>,
        /// The reason.
        reason: DropReason,
    },
    /// An event for records; only with a recording observer.
    Event(NodeEvent),
    /// An order of the management to the owner of the faces; expects a [`Notice`].
    Order(Box<FaceOrder>),
}

impl From<Notice> for Input {
    fn from(notice: Notice) -> Self {
        Self::Notice(Box::new(notice))
    }
}
