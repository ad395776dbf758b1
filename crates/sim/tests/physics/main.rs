//! The simulator against closed forms: what queueing theory, probability and arithmetic say must come
//! out, within stated tolerances; and that a seed decides everything.
//!
//! Every run is deterministic: a test that passes once passes always. Where chance is involved, a
//! tolerance is a number of standard deviations of the exact law, or the figure that the simulator
//! promises (goodput 0.5 %, waiting time 2 %, overload loss 1 %, hit ratios 0.01, chi-square p > 0.01).
//! Debug builds run fewer packets where the tolerance lets them ([`significance::scaled`]).
mod cache;
mod carry;
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
