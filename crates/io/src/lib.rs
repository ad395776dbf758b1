//! The real world: clock, sockets, files, configuration, key store and forwarder management.
pub mod config;
pub mod emulate;
pub mod key;
pub mod part;
pub mod source;
