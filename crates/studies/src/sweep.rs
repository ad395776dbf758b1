//! Axes of sweeps as they stand in scenarios.
use std::fmt::Write;

/// An axis: its name, and each value with the fields that it sets.
pub(crate) fn axis<'a>(name: &str, values: impl IntoIterator<Item = (&'a str, String)>) -> String {
    values.into_iter().fold(String::new(), |mut text, (value, fields)| {
        let _ = writeln!(text, "[sweep.{name}.\"{value}\"]\n{fields}");
        text
    })
}
