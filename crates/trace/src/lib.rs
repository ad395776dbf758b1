//! Trace files for standard viewers: Perfetto (<https://ui.perfetto.dev>), and qlog for QUIC tools.
//!
//! | file | content |
//! |---|---|
//! | [`writer`] | tracks, slices, curves and marks of a Perfetto trace, written as they come |
//! | [`consumer`] | the tracks of a consumer, of events of [`recoup_transport::event`] |
//! | [`forwarder`] | the tracks of a forwarder, of what its node takes in and hands out |
//! | [`qlog`] | a consumer in the events of QUIC |
//!
//! Nothing here reads a clock: each event comes with its time.
pub mod consumer;
pub mod forwarder;
mod proto;
pub mod qlog;
pub mod writer;
