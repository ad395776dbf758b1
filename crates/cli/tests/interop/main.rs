//! Other people's software on one side, ours on the other.
//!
//! These tests need python-ndn and NDNts, which `cargo xtask test interop` installs and names in the
//! environment; a plain `cargo test` leaves them out.

mod object;
mod peer;
mod recoup;

mod chain;
mod consume;
mod dav;
mod forward;
mod group;
mod manage;
mod packet;
mod produce;
mod register;
mod repo;
mod sign;

/// Where a test listens.
#[derive(Clone, Copy, Debug)]
enum Transport {
    Unix,
    Tcp,
    Udp,
    WebSocket,
}

impl Transport {
    /// A URI to listen at; `folder` is the test's own.
    fn listen_uri(self, folder: &std::path::Path) -> String {
        match self {
            Self::Unix => format!("unix://{}", folder.join("socket").display()),
            Self::Tcp => "tcp://127.0.0.1:0".into(),
            Self::Udp => "udp://127.0.0.1:0".into(),
            Self::WebSocket => "ws://127.0.0.1:0".into(),
        }
    }
}
