//! Experiments as a library: scenario files, campaigns on all cores, result folders, reports, and why a segment was late.
//!
//! | item | module |
//! |---|---|
//! | scenarios: networks, workloads and sweeps as text | [`scenario`] |
//! | input files of scenarios | [`source`] |
//! | every point of a sweep with every seed, resumed after an interruption | [`campaign`] |
//! | threads of this process, or an executor of yours, for the runs of a campaign | [`executor`] |
//! | one simulated run | [`simulate`] |
//! | results in a folder: journal, tables, captures | [`folder`], [`journal`], [`table`], [`curve`] |
//! | the point of a sweep that comes nearest to given values | [`calibrate`] |
//! | means with confidence intervals; preview of a campaign | [`report`], [`preview`] |
//! | the timeline of one segment | [`explain`] |
//! | a run as a page in which one watches it | [`page`] |
//! | networks on real processes of this machine | [`emulate`] |
pub mod calibrate;
pub mod campaign;
pub mod curve;
pub mod digest;
pub mod emulate;
pub mod executor;
pub mod explain;
pub mod folder;
pub mod journal;
pub mod page;
#[cfg(feature = "parquet")]
mod parquet;
pub mod preview;
pub mod pulse;
pub mod report;
pub mod simulate;
pub mod source;
pub mod table;

pub use recoup::{Error, ErrorKind, Result};
pub use recoup_scenario as scenario;
