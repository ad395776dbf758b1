//! The fetch loop with correct, faulty and hostile producers, on a simulated link.
mod announce;
mod belonging;
mod burst;
mod cause;
mod discovery;
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
