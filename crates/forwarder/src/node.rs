//! The node: a forwarder with its applications, the only machine that a driver drives.
use bytes::Bytes;
use recoup_transport::application::{AppInput, AppOutput};
use recoup_transport::time::Instant;

/// Number of a face, unique in its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaceId(pub u32);

/// Number of an attached application, unique in its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppId(pub u32);

/// What a driver knows of a face when it comes up.
#[derive(Clone, Debug)]
pub struct FaceAttributes {
    /// Largest frame, in octets, that the face carries in one piece.
    pub mtu: usize,
    /// Octets that the receiving side of the face can hold before it loses frames, if known.
    pub receive_budget: Option<u64>,
    /// The face was opened by this side and leads toward producers: Interests may leave by it.
    pub upstream: bool,
}

/// One thing that happened to the node.
#[derive(Clone, Debug)]
pub enum Input {
    /// A face is usable.
    FaceUp {
        /// Which.
        face: FaceId,
        /// What it can do.
        attributes: FaceAttributes,
    },
    /// A face is gone for now; it may come up again under the same number.
    FaceDown {
        /// Which.
        face: FaceId,
    },
    /// A frame arrived.
    Frame {
        /// By which face.
        face: FaceId,
        /// The whole frame: a bare packet or an LpPacket.
        frame: Bytes,
    },
    /// Something for an application from outside the network, such as `Consumed`.
    App {
        /// Which.
        app: AppId,
        /// What.
        input: AppInput,
    },
}

/// One consequence.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a frame.
    Send {
        /// By which face.
        face: FaceId,
        /// The whole frame.
        frame: Bytes,
    },
    /// Something for the application's owner: content, an event, the end.
    App {
        /// Which.
        app: AppId,
        /// What.
        output: AppOutput,
    },
}

/// A node.
#[derive(Debug, Default)]
pub struct Node {}

impl Node {
    /// One thing happened.
    pub fn handle(&mut self, _now: Instant, _input: Input) {}

    /// Fires what is due and hands out one consequence; to be called until `None`.
    pub fn poll(&mut self, _now: Instant) -> Option<Output> {
        None
    }

    /// When to come back if nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// What a driver needs of the machine that it drives; [`Node`] is the one that counts.
///
/// A driver gives it everything that happens, hands out its consequences until there are none, and
/// comes back at the deadline at the latest.
pub trait Machine {
    /// One thing happened.
    fn handle(&mut self, now: Instant, input: Input);
    /// Fires what is due and hands out one consequence; to be called until `None`.
    fn poll(&mut self, now: Instant) -> Option<Output>;
    /// When to come back if nothing happens.
    fn deadline(&self) -> Option<Instant>;
}

impl Machine for Node {
    fn handle(&mut self, now: Instant, input: Input) {
        Self::handle(self, now, input);
    }

    fn poll(&mut self, now: Instant) -> Option<Output> {
        Self::poll(self, now)
    }

    fn deadline(&self) -> Option<Instant> {
        Self::deadline(self)
    }
}
