//! Experiments in two executions, side by side: in simulation, and on real processes.
//!
//! The comparison is between means over runs. Simulated and real runs share no seeds, so nothing is paired. The study
//! states how far apart means may be.
use crate::contest::{self, Contest, Duel};
use crate::result::Results;
use crate::rule::estimate;
use crate::study::Experiment;
use recoup_sim::statistic::Estimate;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A compared quantity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// The metric without its place, for example `time_s`.
    pub metric: String,
    /// Label in tables.
    pub label: String,
    /// The unit in which it is shown.
    #[serde(default)]
    pub unit: String,
    /// Number of these units in the metric's own unit.
    #[serde(default = "one")]
    pub factor: f64,
}

const fn one() -> f64 {
    1.0
}

/// The part of a study that runs both in simulation and on processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sockets {
    /// The experiments for processes, with the number of seeds of real runs.
    pub experiments: Vec<Experiment>,
    /// Their scenarios for simulation.
    pub simulated: Vec<Experiment>,
    /// Terms of the comparison.
    pub terms: Terms,
}

impl Sockets {
    /// Experiments of processes that are simulated as they are, with the terms of a `terms.toml`.
    pub(crate) fn both(experiments: Vec<Experiment>, terms: &str) -> Self {
        Self { simulated: experiments.clone(), experiments, terms: Terms::read(terms) }
    }
}

/// Terms of a comparison: its quantities, and the tolerated difference.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The quantities; the first of them decides whether simulation and processes agree.
    pub quantities: Vec<Quantity>,
    /// Axis and value of the points that have to agree. At other points, random variation is too large. If the list is
    /// empty, all points have to agree.
    #[serde(default)]
    pub decisive: Vec<(String, String)>,
    /// Largest part by which the means may differ there.
    pub within: f64,
    /// The paper's values of the first quantity.
    #[serde(skip)]
    pub reported: Vec<Reported>,
    /// Contests within each kind of run.
    #[serde(default)]
    pub contests: Vec<Contest>,
}

impl Terms {
    /// The terms that a text has.
    ///
    /// # Panics
    /// If the text is wrong, which the tests of each study exclude.
    pub fn read(text: &str) -> Self {
        toml::from_str(text).unwrap_or_else(|problem| panic!("{problem}"))
    }
}

/// A value that the paper reports for one place in one experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The experiment.
    pub experiment: &'static str,
    /// Axis and value.
    pub point: (&'static str, &'static str),
    /// Place, such as `c1`.
    pub place: &'static str,
    /// The text.
    pub text: String,
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
    /// The paper's value; empty if the paper reports none.
    pub reported: String,
    /// A cell for each quantity.
    pub cells: Vec<Cell>,
    /// Whether simulation and processes agree here; `None` if this point does not decide, or data
    /// are missing.
    pub agrees: Option<bool>,
    /// Whether the point has to agree.
    pub is_decisive: bool,
}

/// Simulated and real runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The compared quantities.
    pub quantities: Vec<Quantity>,
    /// Largest part by which the first quantity may differ.
    pub within: f64,
    /// The places.
    pub lines: Vec<Line>,
    /// The contests at each of their points.
    pub duels: Vec<Duel>,
}

impl Comparison {
    /// Whether every contest ends as expected; `None` if any of them is undecided.
    pub fn holds(&self) -> Option<bool> {
        contest::hold(&self.duels)
    }

    /// Whether simulation and processes agree at all decisive points; `None` if any of them is undecided, or nothing
    /// was run.
    pub fn agrees(&self) -> Option<bool> {
        if !self.lines.is_empty() && !self.lines.iter().any(|line| line.is_decisive) {
            return Some(true);
        }
        let decisive = self.lines.iter().filter(|line| line.is_decisive);
        let mut verdicts: Vec<_> = decisive.map(|line| line.agrees).collect();
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
            let first = terms.quantities.first().map_or("", |it| it.metric.as_str());
            let places =
                row.metrics.keys().filter_map(|name| name.strip_suffix(first)?.strip_suffix('.'));
            for place in places {
                lines.push(line(terms, (experiment, &row.point, place), simulated, real));
            }
        }
    }
    let duels = terms.contests.iter().flat_map(|contest| contest.duels(simulated, real));
    let (quantities, within) = (terms.quantities.clone(), terms.within);
    Comparison { quantities, within, lines, duels: duels.collect() }
}

/// Experiment, point and place.
type Spot<'a> = (&'a str, &'a BTreeMap<String, String>, &'a str);

fn line(terms: &Terms, spot: Spot<'_>, simulated: &Results, real: &Results) -> Line {
    let (experiment, point, place) = spot;
    let is_at = |axis: &str, value: &str| point.get(axis).is_some_and(|it| it == value);
    let cell = |quantity: &Quantity| {
        let of = |results| mean(results, spot, quantity);
        Cell { simulated: of(simulated), real: of(real) }
    };
    let cells: Vec<_> = terms.quantities.iter().map(cell).collect();
    let is_decisive =
        terms.decisive.is_empty() || terms.decisive.iter().any(|(axis, value)| is_at(axis, value));
    let difference = cells.first().and_then(Cell::difference).filter(|_| is_decisive);
    let is_here = |it: &&Reported| {
        it.experiment == experiment && it.place == place && is_at(it.point.0, it.point.1)
    };
    Line {
        experiment: experiment.to_owned(),
        point: point.clone(),
        place: place.to_owned(),
        reported: terms
            .reported
            .iter()
            .find(is_here)
            .map_or_else(String::new, |it| it.text.clone()),
        cells,
        agrees: difference.map(|part| part.abs() <= terms.within),
        is_decisive,
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

    fn terms() -> Terms {
        let text = "1 s".to_owned();
        let reported = Reported { experiment: "line", point: ("design", "#0"), place: "c1", text };
        let terms = Terms::read(
            r##"within = 0.05
decisive = [["design", "#0"]]
quantities = [{ metric = "time_s", label = "time", unit = "ms", factor = 1e3 }]"##,
        );
        Terms { reported: vec![reported], ..terms }
    }

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
    fn means_are_paired_and_decisive_points_decide() {
        let simulated = results(&[("#0", 1, 1.0), ("#0", 2, 1.1), ("#1", 1, 2.0)]);
        let real = results(&[("#0", 1, 1.1), ("#1", 1, 4.0)]);
        let comparison = compare(&["line"], &terms(), &simulated, &real);
        assert_eq!(comparison.agrees(), Some(true));
        let [fixed, other] = comparison.lines.as_slice() else { panic!("{comparison:?}") };
        assert_eq!((fixed.place.as_str(), fixed.reported.as_str()), ("c1", "1 s"));
        assert_eq!(fixed.cells[0].real.unwrap().mean, 1100.0);
        assert!((fixed.cells[0].difference().unwrap() - 0.047_619).abs() < 1e-6);
        assert_eq!((other.agrees, other.is_decisive), (None, false));
        let late = results(&[("#0", 1, 1.2)]);
        assert_eq!(compare(&["line"], &terms(), &simulated, &late).agrees(), Some(false));
    }

    #[test]
    fn no_decisive_point_means_no_disagreement() {
        let terms = Terms { decisive: vec![("design".into(), "#7".into())], ..terms() };
        let apart =
            compare(&["line"], &terms, &results(&[("#0", 1, 1.0)]), &results(&[("#0", 1, 9.0)]));
        assert_eq!((apart.agrees(), apart.lines[0].agrees), (Some(true), None));
    }

    #[test]
    fn missing_runs_leave_agreement_open() {
        let real = results(&[("#0", 1, 1.1)]);
        assert_eq!(compare(&["line"], &terms(), &Results::default(), &real).agrees(), None);
        assert_eq!(compare(&["line"], &terms(), &real, &Results::default()).agrees(), None);
    }
}
