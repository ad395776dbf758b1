//! The axes of the sweeps: what the paper varies.
use crate::sweep::Axis;

/// The axis of that name.
pub(super) const fn named(name: &'static str) -> Axis {
    Axis::new(include_str!("axes.toml"), name)
}

/// The three windows.
pub(super) const FLAVOURS: [&str; 3] = ["NewReno", "Compound", "Cubic"];

pub(super) const FLAVOUR: Axis = named("flavour");

pub(super) const VERSION: Axis = named("version");

/// The loss rates of section 4.1.
pub(super) const LOSSES: [&str; 3] = ["0.1 %", "0.2 %", "0.5 %"];

/// Single losses on the link from Router 2 to Router 1, with at least 168 Data packets between two of them: more than
/// any window between such losses, and less than the mean distance at the highest rate.
pub(super) const LOSS: Axis = named("loss");

/// Modes and knobs of Compound: whose rule, how often it acts, which losses empty `dwnd`.
pub(super) const COMPOUND: Axis = named("compound");

/// Content of Router 1's cache when the client starts.
pub(super) const CACHED: Axis = named("cached");

/// Background traffic: that share of every link, in both directions, as equally spaced frames.
pub(super) const LOAD: Axis = named("load");

/// The loads of Table 3 and two between them.
pub(super) const LOADS: [&str; 4] = ["0 %", "40 %", "60 %", "80 %"];

/// Fair sharing of a link among flows, each scheduler alone as in the paper.
pub(super) const FAIRNESS: Axis = named("fairness");
