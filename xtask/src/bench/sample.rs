//! Samples, and the figure that they make.

use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// One measurement, in bits per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Over the whole run: for a transfer from starting the consumer to its end.
    pub(crate) whole: f64,
    /// Goodput as the consumer reports it: without its start and discovery.
    pub(crate) transfer: Option<f64>,
}

impl Sample {
    /// So many bytes in so much time.
    pub(crate) fn of(bytes: u64, took: Duration) -> Self {
        Self { whole: bytes as f64 * 8.0 / took.as_secs_f64(), transfer: None }
    }
}

/// The samples of one case.
pub(crate) struct Figure {
    pub(crate) name: String,
    samples: Vec<Sample>,
}

impl Figure {
    /// A figure without samples.
    pub(crate) fn of(name: &str) -> Self {
        Self { name: name.to_string(), samples: Vec::new() }
    }

    /// Adds a sample.
    pub(crate) fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// Rates of whole runs, in bits per second, in their order.
    pub(crate) fn rates(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.whole).collect()
    }

    fn whole(&self) -> Option<Spread> {
        Spread::of(self.rates())
    }

    fn transfer(&self) -> Option<Spread> {
        Spread::of(self.samples.iter().filter_map(|sample| sample.transfer).collect())
    }

    /// For programs; rates in bits per second.
    pub(crate) fn to_json(&self) -> Value {
        let spread = |spread: Option<Spread>| {
            spread.map(
                |Spread { median, min, max }| json!({ "median": median, "min": min, "max": max }),
            )
        };
        json!({ "case": self.name, "samples": self.samples.len(),
            "whole_bps": spread(self.whole()), "transfer_bps": spread(self.transfer()) })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = |spread: Option<Spread>| spread.map_or("–".into(), |it| it.to_string());
        let (whole, transfer) = (spelled(self.whole()), spelled(self.transfer()));
        write!(f, "{:<52} {whole:>22} {transfer:>22}", self.name)
    }
}

/// Median, smallest and largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of some values; `None` of none.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => f64::midpoint(values[middle - 1], values[middle]),
        };
        Some(Self { median, min, max })
    }

    /// In multiples of `unit`, with that many digits behind the point.
    pub(crate) fn in_units(&self, unit: f64, digits: usize) -> String {
        let [median, min, max] = [self.median, self.min, self.max].map(|value| value / unit);
        format!("{median:.digits$} [{min:.digits$}–{max:.digits$}]")
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_units(1e9, 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_number_is_in_between() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!(spread, Some(Spread { median: 2.5, min: 1.0, max: 4.0 }));
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
