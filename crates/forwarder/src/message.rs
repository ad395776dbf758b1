//! Inputs and outputs of a node, exchanged with its driver.
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{AppId, FaceAttributes, FaceId};
use crate::frame::Frame;
use crate::order::{FaceOrder, Notice};
use crate::packet::{Kind, Packet};
use crate::shard::{Worker, WorkerMessage};
use crate::table::RouteChange;
use bytes::Bytes;
use recoup_transport::application::{AppInput, Report};
use recoup_transport::queue::Scheduling;
use recoup_transport::time::Instant;

/// One thing that happened to the node.
#[derive(Clone, Debug)]
pub enum Input {
    /// A face is usable; or a usable face has only changed.
    FaceUp {
        /// The face.
        face: FaceId,
        /// What it can do.
        attributes: FaceAttributes,
    },
    /// A face is gone for now; it may come up again under the same number.
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
    /// A frame arrived by a wire face where several send.
    FrameFrom {
        /// The face.
        face: FaceId,
        /// A number for who sent it: fragments belong together only if it is the same.
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
    /// A value face that was given a packet takes the next one from that instant on without being asked,
    /// unless others wait then. Who does not say so is asked each time.
    Busy {
        /// The face.
        face: FaceId,
        /// Until when it is occupied.
        until: Instant,
    },
    /// The length of the driver's send queue of a wire face.
    Backlog {
        /// The face.
        face: FaceId,
        /// Queued bytes.
        bytes: u64,
    },
    /// A frame that left by a wire face found a queue of this machine full, and did not get beyond it.
    Overflowed {
        /// The face.
        face: FaceId,
        /// The whole frame.
        frame: Bytes,
    },
    /// Something for an application from outside the network, such as `Consumed`.
    App {
        /// The application.
        app: AppId,
        /// The input.
        input: Box<AppInput>,
    },
    /// A route comes, changes or goes.
    Route(RouteChange),
    /// What leaves by a face is scheduled like this from now on, whether the face is up or comes up later.
    Schedule {
        /// The face.
        face: FaceId,
        /// How; what waits already keeps its place if only the link has changed.
        scheduling: Box<Scheduling>,
    },
    /// Something that the management has to know.
    Notice(Box<Notice>),
    /// A message from another worker of the same forwarder.
    Worker(WorkerMessage),
}

/// One consequence.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a frame by a wire face.
    Send {
        /// The face.
        face: FaceId,
        /// The whole frame.
        frame: Frame,
    },
    /// Send a packet by a value face, which is not ready for another until `Ready` says so.
    Transmit {
        /// The face.
        face: FaceId,
        /// The packet.
        packet: Packet,
    },
    /// A value face that is not ready has something to send; to be answered by one `Ready`, in time.
    Wants {
        /// The face.
        face: FaceId,
    },
    /// Something for the application's owner: content, an event, the end.
    App {
        /// The application.
        app: AppId,
        /// What it says.
        report: Report,
    },
    /// A packet went no further.
    Dropped {
        /// The face that it came from or was to leave by, where there is one.
        face: Option<FaceId>,
        /// What it was, where that is known.
        kind: Option<Kind>,
        /// The reason.
        reason: DropReason,
    },
    /// Something worth recording; only if the node observes itself.
    Event(NodeEvent),
    /// Something that the management wants done with faces; to be answered by a [`Notice`].
    Order(Box<FaceOrder>),
    /// Send a message to another worker of the same forwarder, whose input is [`Input::Worker`].
    Worker {
        /// The receiver.
        worker: Worker,
        /// The message.
        message: WorkerMessage,
    },
}

impl From<Notice> for Input {
    fn from(notice: Notice) -> Self {
        Self::Notice(Box::new(notice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_small() {
        // The largest is a report with an event of the fetch loop.
        assert!(size_of::<Output>() <= 88, "{}", size_of::<Output>());
    }
}
