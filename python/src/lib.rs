//! The extension module of the Python package `recoup`.
//!
//! Python code in `python/recoup` is the interface; this crate is what it stands on, and nothing else imports it. A native
//! object does one thing and converts values; defaults, documentation and conveniences are in Python.
//!
//! | concern | where |
//! |---|---|
//! | operations that wait without the interpreter lock | [`operation`] |
//! | fetching and serving | [`client`] |
//! | scenarios, runs, result folders | [`scenario`], [`runs`], [`sweep`] |
//! | tables as Arrow streams | [`arrow`] |
//! | algorithms that are Python classes; specs | [`algorithm`], [`spec`] |
//! | papers and their claims | [`study`] |

// An exception of a Python class unwinds through the machines, and a panic becomes an exception.
#[cfg(panic = "abort")]
compile_error!(
    "the extension module needs panic = \"unwind\": with \"abort\" each exception of a Python class ends the \
     interpreter; build it with `maturin build --release`, or with the profile `release` or `wheel` of Cargo.toml"
);

mod algorithm;
mod arrow;
mod client;
mod error;
mod operation;
mod runs;
mod scenario;
mod spec;
mod study;
mod sweep;

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::algorithm::{
        Arrival, CachedData, Delivered, LossEvent, Pending, Sample, Upstream, register,
    };
    #[pymodule_export]
    use super::client::{Client, Reader, Server, Stream, listing_of, name_of, read_listing};
    #[pymodule_export]
    use super::operation::Operation;
    #[pymodule_export]
    use super::runs::{Runs, Table};
    #[pymodule_export]
    use super::scenario::Scenario;
    #[pymodule_export]
    use super::spec::{full_spec, link_of, spec_names, unused_of_node};
    #[pymodule_export]
    use super::study::{check_study, studies, study_campaigns, study_figures};
    #[pymodule_export]
    use super::sweep::{Campaign, build, make_parcels};
    #[pymodule_export]
    use super::{main, set_program};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Runs the command `recoup` with these arguments, and returns its exit code. `program` is the script that runs it.
#[pyfunction]
fn main(py: Python<'_>, program: PathBuf, arguments: Vec<OsString>) -> u8 {
    algorithm::end_process_on_failure();
    py.detach(|| recoup_lab_cli::run_inside(program, arguments))
}

/// The file whose content identifies this build in result folders: the extension module.
#[pyfunction]
fn set_program(path: PathBuf) {
    recoup_lab::digest::set_program(path);
}
