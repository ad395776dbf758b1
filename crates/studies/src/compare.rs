//! Experiments in two executions, side by side: in simulation, and on real processes.
//!
//! The comparison is between means over runs. Simulated and real runs share no seeds, so nothing is paired. The command
//! names how far apart means may be.
use crate::result::Results;
use crate::rule::estimate;
use recoup_sim::statistic::Estimate;
use std::collections::{BTreeMap, BTreeSet};

/// A compared quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Its metric, without the place, such as `time_s`.
    pub metric: &'static str,
    /// Label in tables.
    pub label: &'static str,
    /// The unit in which it is shown.
    pub unit: &'static str,
    /// Number of these units in the metric's own unit.
    pub factor: f64,
}

/// Terms of a comparison: its quantities, and the tolerated difference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms {
    /// The quantities; the first of them decides whether simulation and processes agree.
    pub quantities: &'static [Quantity],
    /// Largest part by which the means may differ.
    pub within: f64,
}

/// A quantity, simulated and real.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Mean of the simulated runs.
    pub simulated: Option<Estimate>,
    /// Mean of the real runs.
    pub real: Option<Estimate>,
}

impl Cell {
    /// Relative difference of the real mean from the simulated one; `None` if either is missing.
    pub fn difference(&self) -> Option<f64> {
        let (simulated, real) = self.simulated.zip(self.real)?;
        (simulated.mean != 0.0).then(|| real.mean / simulated.mean - 1.0)
    }
}

/// A place at a point of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The experiment.
    pub experiment: String,
    /// Values of the sweep.
    pub point: BTreeMap<String, String>,
    /// Place of the figures, such as `c1`.
    pub place: String,
    /// A cell for each quantity.
    pub cells: Vec<Cell>,
    /// Whether simulation and processes agree here; `None` if data are missing.
    pub agrees: Option<bool>,
}

/// Simulated and real runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The compared quantities.
    pub quantities: &'static [Quantity],
    /// Largest part by which the first quantity may differ.
    pub within: f64,
    /// The places.
    pub lines: Vec<Line>,
}

impl Comparison {
    /// Whether simulation and processes agree at all points; `None` if any of them is undecided, or nothing was run.
    pub fn agrees(&self) -> Option<bool> {
        let mut verdicts: Vec<_> = self.lines.iter().map(|line| line.agrees).collect();
        verdicts.sort_by_key(|it| it.map_or(1, |agrees| if agrees { 2 } else { 0 }));
        verdicts.first().copied().flatten()
    }
}

/// Compares simulated and real results, in the order of the experiments and their points.
pub fn compare(
    experiments: &[&str],
    terms: &Terms,
    simulated: &Results,
    real: &Results,
) -> Comparison {
    let mut lines = Vec::new();
    for experiment in experiments {
        let mut seen = BTreeSet::new();
        for row in real.experiments.get(*experiment).into_iter().flatten() {
            if !seen.insert(&row.point) {
                continue;
            }
            let first = terms.quantities.first().map_or("", |it| it.metric);
            let places =
                row.metrics.keys().filter_map(|name| name.strip_suffix(first)?.strip_suffix('.'));
            for place in places {
                lines.push(line(terms, (experiment, &row.point, place), simulated, real));
            }
        }
    }
    Comparison { quantities: terms.quantities, within: terms.within, lines }
}

/// Experiment, point and place.
type Spot<'a> = (&'a str, &'a BTreeMap<String, String>, &'a str);

fn line(terms: &Terms, spot: Spot<'_>, simulated: &Results, real: &Results) -> Line {
    let (experiment, point, place) = spot;
    let cell = |quantity: &Quantity| {
        let of = |results| mean(results, spot, quantity);
        Cell { simulated: of(simulated), real: of(real) }
    };
    let cells: Vec<_> = terms.quantities.iter().map(cell).collect();
    let difference = cells.first().and_then(Cell::difference);
    Line {
        experiment: experiment.to_owned(),
        point: point.clone(),
        place: place.to_owned(),
        cells,
        agrees: difference.map(|part| part.abs() <= terms.within),
    }
}

fn mean(
    results: &Results,
    (experiment, point, place): Spot<'_>,
    quantity: &Quantity,
) -> Option<Estimate> {
    let choice: Vec<_> =
        point.iter().map(|(axis, value)| (axis.as_str(), value.as_str())).collect();
    let values = results.values(experiment, &choice, &format!("{place}.{}", quantity.metric));
    let scaled: Vec<_> =
        values.into_iter().map(|(seed, it)| (seed, it * quantity.factor)).collect();
    estimate(&scaled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Row;

    const TIME: Quantity = Quantity { metric: "time_s", label: "time", unit: "ms", factor: 1e3 };

    const TERMS: Terms = Terms { quantities: &[TIME], within: 0.05 };

    fn results(times: &[(&str, u64, f64)]) -> Results {
        let mut results = Results::default();
        let row = |(design, seed, time): &(&str, u64, f64)| Row {
            point: BTreeMap::from([("design".to_owned(), (*design).to_owned())]),
            seed: *seed,
            metrics: BTreeMap::from([("c1.time_s".to_owned(), *time)]),
        };
        results.experiments.insert("line".into(), times.iter().map(row).collect());
        results
    }

    #[test]
    fn means_within_the_bound_agree() {
        let simulated = results(&[("#0", 1, 1.0), ("#0", 2, 1.1), ("#1", 1, 2.0)]);
        let comparison = compare(&["line"], &TERMS, &simulated, &results(&[("#0", 1, 1.1)]));
        assert_eq!(comparison.agrees(), Some(true));
        let [line] = comparison.lines.as_slice() else { panic!("{comparison:?}") };
        assert_eq!((line.place.as_str(), line.cells[0].real.unwrap().mean), ("c1", 1100.0));
        assert!((line.cells[0].difference().unwrap() - 0.047_619).abs() < 1e-6);
        let late = results(&[("#0", 1, 1.1), ("#1", 1, 4.0)]);
        assert_eq!(compare(&["line"], &TERMS, &simulated, &late).agrees(), Some(false));
    }

    #[test]
    fn missing_runs_leave_agreement_open() {
        let real = results(&[("#0", 1, 1.1)]);
        assert_eq!(compare(&["line"], &TERMS, &Results::default(), &real).agrees(), None);
        assert_eq!(compare(&["line"], &TERMS, &real, &Results::default()).agrees(), None);
    }
}
