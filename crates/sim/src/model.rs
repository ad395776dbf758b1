//! What chance and time do to frames: each model in a file of its own, named as it is written.
pub mod law;
pub mod loss;
pub mod marking;
pub mod rate;
