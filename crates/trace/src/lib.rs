//! Trace files for the Perfetto viewer (<https://ui.perfetto.dev>).
//!
//! | file | content |
//! |---|---|
//! | [`writer`] | tracks, slices, curves and marks of a Perfetto trace, written as they come |
//! | [`consumer`] | the tracks of a consumer, of events of [`recoup_transport::event`] |
//! | [`forwarder`] | the tracks of a forwarder, of what its node takes in and hands out |
//!
//! Nothing here reads a clock: each event comes with its time.
pub mod consumer;
pub mod forwarder;
mod proto;
pub mod writer;
