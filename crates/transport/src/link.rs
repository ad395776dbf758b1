//! Link layer of one hop: frames that fit the MTU.
//!
//! [`Fragmenter`] splits a network packet into frames of at most the link's MTU, [`Reassembler`] reassembles them.
//! One pair serves one adjacency, because sequence numbers are local to it. An [`AqmMarker`] decides which packets
//! carry a congestion mark. A [`LinkRecovery`] retransmits lost frames.
pub mod acked;
mod aqm;
pub mod auto;
mod fragment;
mod marking;
mod pie;
mod pool;
mod reassemble;
pub mod recovery;
mod red;
pub mod wldr;

pub use aqm::{Aqm, AqmMarker};
pub use fragment::{Fragmenter, MtuTooSmall};
pub use marking::{Marker, Marking};
pub use pie::{Pie, PieMarker};
pub use pool::Pool;
pub use reassemble::{Discarded, Reassembler, ReassemblyLimits, RejectedFragment};
pub use recovery::{LinkRecovery, Recovery};
pub use red::{Red, RedMarker};

/// Most fragments of one packet, on both sides: the limit of established forwarders.
pub const MAX_FRAGMENTS: u64 = 400;
