//! Common base of the crates, for NDN and 802.11 alike: points in time, named random streams, the list of pending
//! events, and parameters as text.
//!
//! | item | module |
//! |---|---|
//! | [`Instant`](time::Instant): nanoseconds since a run began | [`time`] |
//! | [`Rng`](random::Rng): one seed, independent named streams | [`random`] |
//! | pending events of a simulation | [`agenda`] |
//! | load of a queue or a link | [`load`] |
//! | quantities with their units, for files, options and parameters | [`mod@unit`] |
//! | figures for people | [`figure`] |
//! | `name(key=value,…)`, numbers, durations, the nearest spelling of a word | [`spec`] |
//!
//! The crate reads no clock, draws no entropy and calls no operating system.
pub mod agenda;
pub mod figure;
pub mod load;
pub mod random;
pub mod spec;
pub mod time;
pub mod unit;
