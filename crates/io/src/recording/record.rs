//! One record: what it reports, and its bytes in the format of `postcard`.
//!
//! Source: the postcard wire format, version 1. Times are nanoseconds since the record before.
use bytes::Bytes;
use recoup_forwarder::face::{AppId, FaceAttributes, FaceForm, FaceId};
use recoup_forwarder::management::Notice;
use recoup_forwarder::node::{Input, RouteChange};
use recoup_transport::application::AppInput;
use recoup_transport::queue::Scheduling;
use recoup_transport::time::Instant;
use serde::{Deserialize, Serialize};

/// A record.
#[derive(Clone, Debug)]
pub enum Record {
    /// An input of the machine.
    Input {
        /// Time of the input.
        now: Instant,
        /// The input.
        input: Input,
    },
    /// The machine was asked what it wants, until that was nothing.
    Poll {
        /// Time of the poll.
        now: Instant,
    },
    /// The machine's outputs so far.
    Check {
        /// Number of outputs.
        outputs: u64,
        /// The digest of all of them.
        digest: [u8; 32],
        /// The recording ends here.
        end: bool,
    },
}

/// A record as it is stored.
#[derive(Debug, Serialize, Deserialize)]
enum Entry {
    Input { nanos: u64, input: RecordedInput },
    Poll { nanos: u64 },
    Check { outputs: u64, digest: [u8; 32], end: bool },
}

/// The inputs of a machine on sockets.
#[derive(Debug, Serialize, Deserialize)]
enum RecordedInput {
    FaceUp { face: FaceId, attributes: FaceAttributes },
    FaceDown { face: FaceId },
    Frame { face: FaceId, frame: Bytes },
    FrameFrom { face: FaceId, sender: u64, frame: Bytes },
    Backlog { face: FaceId, bytes: u64 },
    Overflowed { face: FaceId, frame: Bytes },
    Consumed { app: AppId, bytes: u64 },
    Route(RouteChange),
    Schedule { face: FaceId, scheduling: Box<Scheduling> },
    Notice(Box<Notice>),
}

impl Record {
    /// Reads the first record of `block` and removes it from there. `last` is the time of the record before; it becomes
    /// the time of this one.
    pub(super) fn take(block: &mut Bytes, last: &mut Instant) -> Option<Self> {
        let (entry, rest) = postcard::take_from_bytes::<Entry>(block).ok()?;
        let taken = block.len() - rest.len();
        let record = match entry {
            Entry::Input { nanos, input } => {
                Self::Input { now: advance(last, nanos)?, input: input.into() }
            }
            Entry::Poll { nanos } => Self::Poll { now: advance(last, nanos)? },
            Entry::Check { outputs, digest, end } => Self::Check { outputs, digest, end },
        };
        drop(block.split_to(taken));
        Some(record)
    }

    /// Appends the record to `block`; the inverse of [`take`](Self::take). Returns `false` for inputs of a simulated
    /// machine, which no recording holds.
    pub(super) fn put(&self, block: &mut Vec<u8>, last: &mut Instant) -> bool {
        let entry = match self {
            Self::Input { now, input } => {
                let Some(input) = RecordedInput::of(input) else { return false };
                Entry::Input { nanos: elapsed(last, *now), input }
            }
            Self::Poll { now } => Entry::Poll { nanos: elapsed(last, *now) },
            Self::Check { outputs, digest, end } => {
                Entry::Check { outputs: *outputs, digest: *digest, end: *end }
            }
        };
        // A vector takes whatever is appended, and no entry lacks a length: writing cannot fail.
        match postcard::to_extend(&entry, std::mem::take(block)) {
            Ok(longer) => *block = longer,
            Err(_) => return false,
        }
        true
    }
}

fn advance(last: &mut Instant, nanos: u64) -> Option<Instant> {
    *last = Instant::from_nanos(last.as_nanos().checked_add(nanos)?);
    Some(*last)
}

fn elapsed(last: &mut Instant, now: Instant) -> u64 {
    let nanos = now.as_nanos().saturating_sub(last.as_nanos());
    *last = now;
    nanos
}

impl RecordedInput {
    fn of(input: &Input) -> Option<Self> {
        Some(match input.clone() {
            Input::FaceUp { face, attributes } => {
                let FaceForm::Wire { .. } = attributes.form else { return None };
                Self::FaceUp { face, attributes }
            }
            Input::FaceDown { face } => Self::FaceDown { face },
            Input::Frame { face, frame } => Self::Frame { face, frame },
            Input::FrameFrom { face, sender, frame } => Self::FrameFrom { face, sender, frame },
            Input::Backlog { face, bytes } => Self::Backlog { face, bytes },
            Input::Overflowed { face, frame } => Self::Overflowed { face, frame },
            Input::Route(change) => Self::Route(change),
            Input::Schedule { face, scheduling } => Self::Schedule { face, scheduling },
            Input::Notice(notice) => Self::Notice(notice),
            Input::App { app, input } => {
                let AppInput::Consumed { bytes } = *input else { return None };
                Self::Consumed { app, bytes }
            }
            Input::Packet { .. } | Input::Ready { .. } | Input::Busy { .. } => return None,
        })
    }
}

impl From<RecordedInput> for Input {
    fn from(recorded: RecordedInput) -> Self {
        use RecordedInput as R;
        match recorded {
            R::FaceUp { face, attributes } => Self::FaceUp { face, attributes },
            R::FaceDown { face } => Self::FaceDown { face },
            R::Frame { face, frame } => Self::Frame { face, frame },
            R::FrameFrom { face, sender, frame } => Self::FrameFrom { face, sender, frame },
            R::Backlog { face, bytes } => Self::Backlog { face, bytes },
            R::Overflowed { face, frame } => Self::Overflowed { face, frame },
            R::Consumed { app, bytes } => {
                Self::App { app, input: Box::new(AppInput::Consumed { bytes }) }
            }
            R::Route(change) => Self::Route(change),
            R::Schedule { face, scheduling } => Self::Schedule { face, scheduling },
            R::Notice(notice) => Self::Notice(notice),
        }
    }
}
