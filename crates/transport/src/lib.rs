//! Moving: everything that decides *when* to ask, *what* to ask for again and *how much* to ask for,
//! as machines without a clock.
//!
//! A machine has three verbs: `handle` (one thing happened), `poll` (hand out one consequence; drain
//! until `None`) and `deadline` (when to come back if nothing happens). `now` never decreases; equal
//! instants are normal. After a full drain `deadline()` is later than `now`, or `None`.
pub mod application;
pub mod congestion;
pub mod event;
pub mod fetch;
pub mod link;
pub mod loss;
pub mod management;
pub mod queue;
pub mod registration;
pub mod resolve;
pub mod rto;
pub mod serve;
pub mod timer;

pub use recoup_core::{random, spec, time, unit};
