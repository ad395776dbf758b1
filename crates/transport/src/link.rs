//! Over one hop: frames that fit the link.
//!
//! [`Fragmenter`] cuts a network packet into frames of at most the link's MTU, [`Reassembler`] puts
//! them together again. One pair serves one adjacency: sequence numbers mean nothing elsewhere. A
//! [`Marker`] says which packets tell of a queue that stays long. A [`LinkRecovery`] sends again what the link lost.
pub mod acked;
pub mod auto;
mod fragment;
mod marking;
mod reassemble;
pub mod recovery;
pub mod wldr;

pub use fragment::{Fragmenter, MtuTooSmall};
pub use marking::{Marker, Marking};
pub use reassemble::{Discarded, Reassembler, ReassemblyLimits, Refused};
pub use recovery::{LinkRecovery, Recovery};

/// Most fragments of one packet, on both sides: what established forwarders accept.
pub const MAX_FRAGMENTS: u64 = 400;
