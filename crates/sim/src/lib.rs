//! The simulated world: the same nodes that run on sockets, on channels that are machines too, in an
//! order of events that the seed alone decides.
//!
//! A [`network::Network`] says what there is: nodes, links, applications, what fails when. A world is
//! built from it and a seed, runs, and reports everything that happens to its observers
//! ([`observe::Observer`]), from which every record is made. Nothing here opens a file, starts a thread or
//! reads a clock.
pub mod channel;
pub mod metric;
pub mod model;
pub mod network;
mod number;
pub mod observe;
pub mod oracle;
pub mod pcap;
pub mod record;
pub mod route;
pub mod statistic;
pub mod timeline;
pub mod topology;
pub mod workload;
pub mod world;
