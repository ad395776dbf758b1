//! The fetch loop with correct, faulty and hostile producers, on a simulated link.
mod announce;
mod belonging;
mod bottleneck;
mod burst_curves;
mod cause;
mod discovery;
#[path = "../draw/mod.rs"]
mod draw;
mod end;
mod harness;
mod history;
mod lifetime;
mod limit;
mod loss;
mod macroflow;
mod order;
mod paper;
mod pending;
mod share;
mod trust;
