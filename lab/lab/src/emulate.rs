//! Networks on real processes of this machine: a [`plan::Plan`] describes the processes, a [`net::Net`] runs them, and
//! [`run::Processes`] runs the scenarios of a campaign on one.
//!
//! The processes are those of the command `recoup`, which the caller names: the library opens no socket for packets.
pub mod document;
mod length;
mod metric;
pub mod net;
pub mod plan;
pub mod process;
pub mod run;
pub mod text;
