//! The simulator against closed forms: results of queueing theory, probability and arithmetic, within stated
//! tolerances; and runs repeat with their seed.
//!
//! Every run is deterministic: a test that passes once passes always. If chance is involved, a tolerance is a number of
//! standard deviations of the exact distribution, or the accuracy that the simulator promises: goodput 0.5 %, waiting
//! time 2 %, overload loss 1 %, hit ratios 0.01, chi-square p > 0.01. Debug builds run fewer packets if the tolerance
//! permits it ([`significance::scaled`]).
mod cache;
mod carry;
mod default;
mod determinism;
mod discover;
mod goodput;
mod line;
mod loss;
mod marking;
mod node;
mod order;
mod overrun;
mod popularity;
mod queueing;
mod recovery;
mod share;
mod significance;
