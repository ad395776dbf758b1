//! Everything that happens in a loop and is worth recording, as one type.
//!
//! Algorithms neither log nor count: the loop that calls them emits events, from which every
//! summary, statistics file, progress bar and plot is made.

/// One thing worth recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {}
