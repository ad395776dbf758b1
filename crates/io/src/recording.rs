//! Recordings: everything that a machine was told, so that what it did can be done again.
//!
//! A machine decides from its inputs and their instants alone. [`Recorder`] stands between a driver and its machine
//! and writes down both, with digests of what the machine wanted; [`replay`] tells another machine the same and
//! compares. A recording begins with its [`Heading`], from which its reader makes a machine like the one that was
//! recorded.
//!
//! The file: the octets `RECOUPRC`, the version, the heading, then blocks of records. Each block has its length and its
//! CRC-32 in front and ends with the digest of all outputs so far, so a file that was cut off is good up to there.
//! Records are in the format of `postcard`.
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
/// Most octets of the heading's text.
const MAX_TEXT: usize = 1 << 20;
/// Most octets of a block.
const MAX_BLOCK: usize = 1 << 18;

/// What a recording is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// From which the machine's chance came.
    pub seed: u64,
    /// How the machine was set up.
    pub text: String,
}

/// What a machine wanted so far: how much, and the digest of all of it.
#[derive(Clone, Debug, Default)]
struct Wanted {
    outputs: u64,
    digest: [u8; 32],
    /// Since the last digest.
    octets: Vec<u8>,
}

impl Wanted {
    fn add(&mut self, output: &Output) {
        if matches!(output, Output::Event(_)) {
            return;
        }
        self.outputs += 1;
        let octets = &mut self.octets;
        match output {
            Output::Send { face, frame } => {
                octets.push(1);
                octets.extend(face.0.to_le_bytes());
                octets.extend((frame.len() as u64).to_le_bytes());
                octets.extend(frame.head());
                octets.extend(frame.body());
            }
            Output::Dropped { face, kind, reason } => {
                octets.push(2);
                octets.extend(face.map_or(u32::MAX, |face| face.0).to_le_bytes());
                octets.extend(format!("{kind:?} {reason}\n").as_bytes());
            }
            other => octets.extend(format!("{other:?}\n").as_bytes()),
        }
    }

    /// The digest of everything so far.
    fn digest(&mut self) -> [u8; 32] {
        let mut all = self.digest.to_vec();
        all.append(&mut self.octets);
        self.digest = sha256(&all);
        self.digest
    }
}

#[cfg(test)]
mod tests;
