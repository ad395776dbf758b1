//! Transport: timers, loss detection, congestion control, link recovery and queues as sans-I/O state machines.
//!
//! A state machine has three methods: `handle` (one input), `poll` (returns one output; call it until `None`) and
//! `deadline` (time of the next call if no input comes). `now` never decreases; equal instants are normal. After
//! `poll` has returned `None`, `deadline()` is later than `now`, or `None`.
pub mod application;
pub mod congestion;
pub mod event;
pub mod fetch;
pub mod link;
pub mod loss;
pub mod management;
pub mod queue;
pub mod registration;
pub mod rejection;
pub mod resolve;
pub mod rto;
pub mod serve;
pub mod timer;
pub mod transport;

pub use recoup_core::{random, spec, time, unit};
