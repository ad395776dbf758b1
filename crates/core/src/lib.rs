//! What every machine of this workspace is written with, whether it speaks NDN or 802.11: points in time, named
//! random streams, the list of pending events, and parameters as text.
//!
//! | what | where |
//! |---|---|
//! | [`Instant`](time::Instant): nanoseconds since a run began | [`time`] |
//! | [`Rng`](random::Rng): one seed, independent named streams | [`random`] |
//! | what happens when, in a simulation | [`agenda`] |
//! | packets as a queue and a link see them | [`load`] |
//! | quantities with their units, for files, options and parameters | [`mod@unit`] |
//! | figures as people read them | [`figure`] |
//! | `name(key=value,…)`, numbers, durations, the nearest spelling of a word | [`spec`] |
//!
//! Nothing here reads a clock, draws entropy or calls the operating system.
pub mod agenda;
pub mod figure;
pub mod load;
pub mod random;
pub mod spec;
pub mod time;
pub mod unit;
