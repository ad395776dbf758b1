//! The real world: clock, sockets, files, configuration, key store and forwarder management.
mod buffer;
pub mod clock;
pub mod config;
pub mod driver;
pub mod emulate;
pub mod entropy;
pub mod face;
pub mod key;
mod link;
pub mod memory;
pub mod part;
pub mod source;
mod stream;
mod tcp;
mod udp;
mod unix;
pub mod waker;
mod websocket;
