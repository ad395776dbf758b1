//! A deterministic simulator of NDN networks: the same nodes that run on sockets, joined by simulated channels. The
//! seed alone decides the order of events.
//!
//! A [`network::Network`] describes nodes, links, applications and faults. A [`simulation::Simulation`] is built from
//! it and a seed, runs, and reports each event to its observers ([`observe::Observer`]), from which every record is
//! made. The crate opens no file, starts no thread and reads no clock.
pub mod film;
mod follow;
pub mod metric;
pub mod network;
mod number;
pub mod observe;
pub mod oracle;
pub mod pcap;
pub mod record;
pub mod route;
pub mod run;
pub mod simulation;
pub mod statistic;
pub mod timeline;
pub mod topology;
pub mod workload;

pub use recoup_channel::{channel, model};
