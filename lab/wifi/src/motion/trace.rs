//! Recorded motion: movement files of ns-2 and BonnMotion, and floating car data of SUMO.
//!
//! A line that is not understood is an error with its number.
mod bonnmotion;
mod ns2;
mod sumo;

pub use bonnmotion::bonnmotion;
pub use ns2::ns2;
pub use sumo::{Unit, sumo};

/// Error of a file. Prints as `LINE: problem`, to be put behind the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {problem}")]
pub struct TraceError {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub problem: String,
}

/// Most lines or elements of a file.
const MOST: usize = 10_000_000;
/// Times beyond a year are no times of a run, in seconds.
const MOST_SECONDS: f64 = 31_536_000.0;

/// A time in seconds, in ns.
fn seconds(text: &str) -> Option<u64> {
    let seconds: f64 = text.parse().ok()?;
    (0.0..=MOST_SECONDS).contains(&seconds).then_some((seconds * 1e9) as u64)
}

fn metres(text: &str) -> Option<f64> {
    text.parse().ok().filter(|metres: &f64| metres.abs() <= 1e9)
}
