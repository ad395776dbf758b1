//! Sockets, files and the system: clock, faces, configuration, key store, downloads and served
//! files.
mod buffer;
pub mod capture;
pub mod clock;
pub mod config;
pub mod descriptor;
pub mod driver;
pub mod entropy;
pub mod face;
pub mod http;
#[cfg_attr(not(target_os = "linux"), path = "interface_unknown.rs")]
mod interface;
pub mod key;
pub mod library;
mod link;
pub mod locate;
#[cfg_attr(not(target_os = "linux"), path = "medium_unknown.rs")]
mod medium;
pub mod memory;
pub mod nonblocking;
mod origin;
pub mod outlet;
pub mod part;
pub mod port;
pub mod process;
pub mod relay;
pub mod source;
mod stream;
pub mod target;
mod tcp;
mod udp;
mod unix;
pub mod waker;
mod websocket;
