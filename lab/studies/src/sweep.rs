//! Axes of sweeps as they stand in scenarios, and built-in scenarios with other values in some fields.
use recoup_config::print;
use recoup_config::tree::Table;
use std::fmt::Write;

/// An axis: its name, and each value with the fields that it sets.
pub(crate) fn axis<'a>(name: &str, values: impl IntoIterator<Item = (&'a str, String)>) -> String {
    values.into_iter().fold(String::new(), |mut text, (value, fields)| {
        let _ = writeln!(text, "[sweep.{name}.\"{value}\"]\n{fields}");
        text
    })
}

/// A built-in scenario with other values in some of its fields.
///
/// # Panics
/// If the text is no TOML, which the tests of each study exclude.
pub(crate) fn changed(text: &str, change: impl FnOnce(&mut Table)) -> String {
    let mut table = Table::parse(text).unwrap_or_else(|problem| panic!("{problem}: {text}"));
    change(&mut table);
    print::document(&table)
}

/// Sets the fields of a value of an axis in a scenario: lines of a quoted dotted path and a value.
///
/// # Panics
/// If a line is none, which the tests of each study exclude.
pub(crate) fn set_fields(scenario: &mut Table, fields: &str) {
    for line in fields.lines() {
        let (path, value) = line.split_once(" = ").unwrap_or_else(|| panic!("no field: {line}"));
        let path: Vec<_> = path.trim_matches('"').split('.').collect();
        let table = Table::parse(&format!("value = {value}"));
        let mut table = table.unwrap_or_else(|problem| panic!("{problem}: {line}"));
        let value = table.remove("value").unwrap_or_else(|| panic!("no value: {line}"));
        scenario.set(&path, value.value);
    }
}

/// Changes the fields that each value of each axis of a scenario sets.
pub(crate) fn change_variants(scenario: &mut Table, mut change: impl FnMut(&mut Table)) {
    for (_, axis) in scenario.table_mut("sweep").tables_mut() {
        axis.tables_mut().for_each(|(_, fields)| change(fields));
    }
}
