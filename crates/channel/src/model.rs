//! Models of chance and time on frames: each in a file of its own, named as its specification.
pub mod law;
pub mod loss;
pub mod marking;
pub mod rate;
pub mod trace;
