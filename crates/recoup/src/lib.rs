//! Fetch and serve named content over Named Data Networking (NDN) networks.
//!
//! ```no_run
//! let client = recoup::Client::connect()?;
//! let content = client.get("/site/greeting")?;
//! println!("{}", String::from_utf8_lossy(&content));
//! # Ok::<(), recoup::Error>(())
//! ```
//!
//! A [`Client`] is a cheap handle to one thread that owns the sockets. [`Client::fetch`] reads objects of any size: into
//! memory, into a file that an interrupted download continues, piece by piece, or at any offset with a [`Reader`].
//! [`Client::serve`] answers: with bytes, a file, a folder, or a function. All of it has the defaults of the command `recoup`:
//! its way to the forwarder, verification, congestion control, retransmission and recovery of link losses.
//!
//! Content is verified (`auto`) by default, and nonces and hash keys come from the operating system.
//! Each [`Error`] has a kind, which is the exit code of the command, and a remedy in words. Events go to `tracing`.
mod arrivals;
#[cfg(feature = "tokio")]
pub mod asynchronous;
mod client;
pub mod control;
mod engine;
mod error;
mod fetch;
mod flow;
mod info;
mod list;
mod macroflows;
mod mode;
pub mod name;
mod outlet;
mod packet;
pub mod patience;
mod reader;
#[cfg(feature = "object-store")]
pub mod store;
mod wait;

mod download;
pub mod folder;
pub mod local;
pub mod options;
pub mod ping;
pub mod serve;
pub mod session;
pub mod summary;
mod transfer;
pub mod trust;
pub mod uplink;

pub use arrivals::Arrivals;
pub use bytes::Bytes;
pub use client::{Builder, Client};
pub use download::Earlier;
pub use engine::LinkEvent;
pub use error::{Error, ErrorKind, Partial, Result, conclude, reason};
pub use fetch::{ActiveFetch, Chunks, FetchBuilder};
pub use flow::Progress;
pub use folder::{Files, FolderBuilder, FolderFetch, FolderProgress};
pub use info::ObjectInfo;
pub use list::{Entry, Listing};
#[cfg(feature = "tokio")]
pub use mode::Async;
pub use mode::Blocking;
pub use name::ToName;
pub use options::FetchOptions;
pub use reader::Reader;
pub use recoup_packet::interest::Interest;
pub use recoup_packet::name::Name;
pub use recoup_transport::event::Event;
pub use recoup_transport::fetch::FetchStats;
pub use serve::{ServeBuilder, ServeOptions, ServeSummary, Server};
pub use summary::FetchSummary;
pub use trust::Verify;
