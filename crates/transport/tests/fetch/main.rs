//! The fetch loop against producers that behave, misbehave and lie, in a world of one link whose
//! clock is a variable.
mod bottleneck;
mod discovery;
mod end;
mod loss;
mod order;
mod paper;
mod trust;
mod world;
