//! A list of named numbers.
use crate::record::table::{Cell, Table, Type};

/// A named number.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Place and metric, as listed in [`crate::metric`].
    pub name: String,
    /// Its unit; empty where there is none.
    pub unit: &'static str,
    /// The number; never NaN.
    pub value: f64,
}

/// The metrics of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    metrics: Vec<Metric>,
}

impl Summary {
    /// The number of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    }

    /// All numbers, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Metric> {
        self.metrics.iter()
    }

    /// Number of metrics.
    pub fn len(&self) -> usize {
        self.metrics.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.metrics.is_empty()
    }

    /// The numbers as a table: name, unit, value.
    pub fn table(&self) -> Table {
        let columns =
            [("name", "", Type::Text), ("unit", "", Type::Text), ("value", "", Type::F64)];
        let mut table = Table::new("summary", &columns);
        for metric in &self.metrics {
            table.push(&[
                Cell::Text(&metric.name),
                Cell::Text(metric.unit),
                Cell::F64(metric.value),
            ]);
        }
        table
    }

    /// Appends a number, unless it is none.
    pub(super) fn push(&mut self, place: &str, what: &str, unit: &'static str, value: f64) {
        if !value.is_nan() {
            let name = format!("{place}.{what}");
            self.metrics.push(Metric { name, unit, value });
        }
    }

    /// Appends a number if there is one.
    pub(super) fn option(
        &mut self,
        place: &str,
        what: &str,
        unit: &'static str,
        value: Option<f64>,
    ) {
        if let Some(value) = value {
            self.push(place, what, unit, value);
        }
    }

    /// Gives a number that is there another value.
    pub(super) fn set(&mut self, place: &str, what: &str, value: f64) {
        let name = format!("{place}.{what}");
        if let Some(metric) = self.metrics.iter_mut().find(|metric| metric.name == name) {
            metric.value = value;
        }
    }
}
