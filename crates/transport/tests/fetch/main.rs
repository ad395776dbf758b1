//! The fetch loop against producers that behave, misbehave and lie, in a world of one link whose
//! clock is a variable.
mod announce;
mod bottleneck;
mod burst_curves;
mod cause;
mod discovery;
#[path = "../draw/mod.rs"]
mod draw;
mod end;
mod history;
mod lifetime;
mod loss;
mod order;
mod paper;
mod share;
mod trust;
mod world;
