//! Tables of a node.
//!
//! All are slabs of entries with an index of explicit hashes. An entry holds its hash and its name once; equality is
//! tested by hash, then by bytes. The size of a table is limited, and so is the work per packet, because remote nodes
//! choose names: at most one probe for each of a name's prefixes (no decoded name has more than 256 components).
mod cs;
mod dead_nonce;
mod fib;
mod lengths;
mod measurement;
mod pit;
pub mod policy;
mod prefix;
mod recency;
mod slab;
mod tickets;

pub use cs::{Cs, CsCapacity};
pub use dead_nonce::{DeadNonceOptions, DeadNonces};
pub use fib::{Fib, FibMatch, NextHop, RouteChange};
pub use measurement::{FaceMeasurement, MeasurementOptions, Measurements, Pin};
pub(crate) use pit::Backoff;
pub use pit::{Arrival, DuplicateNonce, InRecord, OutRecord, Pit, PitEntry, PitFull, PitId, Rare};
pub use prefix::PrefixTable;
pub(crate) use tickets::Tickets;
