//! The driver against real sockets: every kind of face, and peers that misbehave.
mod exchange;
mod harness;
mod medium;
mod namespace;
mod newcomer;
mod peer;
mod rude;
