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

/// An axis that stands in a file of its study, with each value and the fields that it sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    text: &'static str,
    /// Its name.
    pub(crate) name: &'static str,
}

impl Axis {
    /// The axis of that name in the text of an `axes.toml`.
    pub(crate) const fn new(text: &'static str, name: &'static str) -> Self {
        Self { text, name }
    }

    /// Its values in their order, each with the fields that it sets.
    pub(crate) fn values(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let sections = self.text.split("[sweep.").skip(1);
        sections.filter_map(move |section| {
            let (value, fields) =
                section.strip_prefix(self.name)?.strip_prefix(".\"")?.split_once("\"]\n")?;
            // A comment is about the section behind it.
            Some((value, fields.split("\n#").next()?.trim_end()))
        })
    }

    /// The fields of a value, a line each.
    ///
    /// # Panics
    /// If there is no such value, which the tests of each study exclude.
    pub(crate) fn fields(self, value: &str) -> String {
        let found = self.values().find(|(own, _)| *own == value);
        lines(found.unwrap_or_else(|| panic!("{value} is no value of {}", self.name)).1)
    }

    /// The axis as it stands in a scenario.
    pub(crate) fn text(self) -> String {
        self.text_of(|_| true)
    }

    fn text_of(self, chosen: impl Fn(&str) -> bool) -> String {
        let chosen = self.values().filter(|(value, _)| chosen(value));
        axis(self.name, chosen.map(|(value, fields)| (value, lines(fields))))
    }

    /// This axis with some of its values.
    pub(crate) fn only(self, chosen: &[&str]) -> String {
        self.text_of(|value| chosen.contains(&value))
    }

    /// This axis without one of its values.
    pub(crate) fn without(self, left_out: &str) -> String {
        self.text_of(|value| value != left_out)
    }

    /// Its values, in their order.
    pub(crate) fn names(self) -> Vec<&'static str> {
        self.values().map(|(value, _)| value).collect()
    }
}

fn lines(fields: &str) -> String {
    fields.lines().map(|line| format!("{line}\n")).collect()
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
