//! Recordings of all inputs of a machine, for replay.
//!
//! A machine decides from its inputs and their times alone. [`Recorder`] stands between a driver
//! and its machine. It writes the inputs and digests of the outputs; [`replay`] feeds another
//! machine with the inputs and compares digests. A recording begins with its [`Heading`], from
//! which its reader makes an equal machine.
//!
//! The file: the bytes `RECOUPRC`, the version, the heading, then blocks of records. Each block
//! begins with its length and CRC-32 and ends with the digest of all outputs so far. A truncated
//! file is therefore valid up to the last whole block. Records are in the format of `postcard`.
mod read;
mod record;
mod write;

pub use read::{Reader, RecordingError, Replayed, Step, replay};
pub use record::Record;
pub use write::Recorder;

use recoup_forwarder::node::Output;
use recoup_packet::signature::sha256;

const MAGIC: &[u8; 8] = b"RECOUPRC";
const VERSION: u8 = 3;
/// Most bytes of the heading's text.
const MAX_TEXT: usize = 1 << 20;
/// Most bytes of a block.
const MAX_BLOCK: usize = 1 << 18;

/// Description of the recorded machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// From which the machine's chance came.
    pub seed: u64,
    /// How the machine was set up.
    pub text: String,
}

/// Number and digest of a machine's outputs so far.
#[derive(Clone, Debug, Default)]
struct Wanted {
    outputs: u64,
    digest: [u8; 32],
    /// Since the last digest.
    bytes: Vec<u8>,
}

impl Wanted {
    fn add(&mut self, output: &Output) {
        if matches!(output, Output::Event(_)) {
            return;
        }
        self.outputs += 1;
        let bytes = &mut self.bytes;
        match output {
            Output::Send { face, frame } => {
                bytes.push(1);
                bytes.extend(face.0.to_le_bytes());
                bytes.extend((frame.len() as u64).to_le_bytes());
                bytes.extend(frame.head());
                bytes.extend(frame.body());
            }
            Output::Dropped { face, kind, reason } => {
                bytes.push(2);
                bytes.extend(face.map_or(u32::MAX, |face| face.0).to_le_bytes());
                bytes.extend(format!("{kind:?} {reason}\n").as_bytes());
            }
            other => bytes.extend(format!("{other:?}\n").as_bytes()),
        }
    }

    /// The digest of everything so far.
    fn digest(&mut self) -> [u8; 32] {
        let mut all = self.digest.to_vec();
        all.append(&mut self.bytes);
        self.digest = sha256(&all);
        self.digest
    }
}

#[cfg(test)]
mod tests;
