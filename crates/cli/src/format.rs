//! Figures as people read them, and the width of a terminal.
use console::Term;
pub use recoup_core::figure::{
    brief, bytes, clock, hex, milliseconds, ms, of, rate, seconds, share, wrapped,
};

/// Columns of a terminal that does not report a width.
const COLUMNS: usize = 80;

/// Columns of a terminal.
pub fn columns(terminal: &Term) -> usize {
    let columns = terminal.size_checked().map(|(_, columns)| usize::from(columns));
    columns.filter(|columns| *columns > 0).unwrap_or(COLUMNS)
}
