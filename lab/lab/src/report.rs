//! Results of a campaign: means with confidence intervals, as a table and as a document.
mod figures;
mod swept;

pub use swept::{Swept, SweptPoint};

use crate::campaign::Campaign;
use crate::folder::ResultFolder;
use figures::Figures;
use recoup_core::figure;
use recoup_sim::statistic::Estimate;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// Confidence of the intervals.
const LEVEL: f64 = 0.95;
/// More metrics than that are not printed beside each other.
const ACROSS: usize = 5;
/// More consumers than that are only shown together.
const CONSUMERS: usize = 3;

/// The report.
#[derive(Debug, Serialize)]
pub struct Report {
    command: &'static str,
    scenario: String,
    title: String,
    out: String,
    runs: Runs,
    points: Vec<PointReport>,
    /// Notes for the reader of the figures.
    notes: Vec<String>,
    #[serde(skip)]
    shown: Vec<String>,
}

/// Numbers of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Runs {
    /// In the scenario.
    pub all: usize,
    /// Made by this command.
    pub made: usize,
}

#[derive(Debug, Serialize)]
struct PointReport {
    values: BTreeMap<String, String>,
    seeds: usize,
    metrics: Figures,
    #[serde(skip)]
    axes: Vec<(String, String)>,
}

/// A metric over the seeds of a point.
#[derive(Debug, Serialize)]
struct Figure {
    unit: String,
    /// Runs that have it.
    count: usize,
    mean: f64,
    /// Interval that holds the mean with a confidence of 95 %; none of a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    ci95: Option<[f64; 2]>,
    sd: f64,
    min: f64,
    max: f64,
}

impl Report {
    /// The report of the runs in a folder; `show` chooses the printed metrics.
    pub fn new(
        scenario: &str,
        title: &str,
        campaign: &Campaign,
        folder: &ResultFolder,
        made: usize,
        show: &[String],
    ) -> Self {
        let units = Arc::new(folder.journal.units.clone());
        let points = campaign.points.iter().map(|stage| {
            let rows = campaign.rows(folder, stage);
            PointReport {
                values: stage.point.values.iter().cloned().collect(),
                seeds: rows.len(),
                metrics: Figures::of(rows.iter().map(|row| row.metrics.clone()), &units),
                axes: stage.point.values.clone(),
            }
        });
        let points: Vec<_> = points.collect();
        let shown = shown(&points, show);
        let mut notes: Vec<_> = points.iter().flat_map(incomplete).collect();
        notes.extend(alike(campaign, folder));
        notes.extend(unknown(&points, show));
        Self {
            command: "sim",
            scenario: scenario.to_owned(),
            title: title.to_owned(),
            out: folder.path().display().to_string(),
            runs: Runs { all: campaign.runs(), made },
            points,
            notes,
            shown,
        }
    }
}

/// Metrics of runs in which a consumer did not complete, as the end of a sentence with their number.
const REASONS: [(&str, &str); 4] = [
    ("stopped", "stopped before it was complete"),
    ("no_progress", "without progress for too long"),
    ("no_answer", "without an answer to all retransmissions"),
    ("failed", "with another error"),
];

/// Consumers that did not complete in each run: a mean time is then one of the lucky runs only.
fn incomplete(point: &PointReport) -> Vec<String> {
    let label: Vec<_> = point.axes.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    let at = if label.is_empty() { String::new() } else { format!(" at {}", label.join(", ")) };
    let of = |name: &str| {
        let consumer = name.strip_suffix(".completed").filter(|place| *place != "all")?;
        let figure = point.metrics.get(name)?;
        let failed = ((1.0 - figure.mean) * figure.count as f64).round() as u64;
        let count = figure.count;
        let reasons = REASONS.iter().filter_map(|(metric, text)| {
            let runs = point.metrics.get(&format!("{consumer}.{metric}"))?.count;
            Some(format!("{runs} {text}"))
        });
        let why = reasons.collect::<Vec<_>>().join(", ");
        let why = if why.is_empty() { why } else { format!(": {why}") };
        let text = format!("{consumer} did not complete in {failed} of {count} runs{at}{why}");
        (failed > 0).then_some(text)
    };
    names(std::slice::from_ref(point)).into_iter().filter_map(of).collect()
}

/// Points that ran alike with every seed: what the sweep varies between them changes nothing.
fn alike(campaign: &Campaign, folder: &ResultFolder) -> Option<String> {
    let mut seen: BTreeMap<Vec<&str>, String> = BTreeMap::new();
    for stage in &campaign.points {
        let digests: Vec<_> =
            campaign.rows(folder, stage).iter().map(|row| row.digest.as_str()).collect();
        let label = stage.point.label();
        if let Some(other) = seen.insert(digests, label.clone()) {
            return Some(format!("{other} and {label} ran alike: the sweep changes nothing there"));
        }
    }
    None
}

impl Figure {
    fn new(values: &[f64], unit: String) -> Option<Self> {
        let Estimate { count, mean, sd, .. } = Estimate::of(values, LEVEL)?;
        let estimate = Estimate::of(values, LEVEL)?;
        let ci95 = (count > 1).then(|| [estimate.low(), estimate.high()]);
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { unit, count, mean, ci95, sd, min, max })
    }

    /// `24.8 ± 0.3 s`.
    fn text(&self) -> String {
        let (scale, unit) = scale(self.mean, &self.unit);
        let half =
            self.ci95.map(|[low, high]| (high - low) / 2.0 / scale).filter(|half| *half > 0.0);
        let mean = self.mean / scale;
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let digits =
            half.map_or_else(|| digits(mean), |half| digits_of(half).min(digits(mean).max(2)));
        match half {
            Some(half) => format!("{mean:.digits$} ± {half:.digits$}{unit}"),
            None => format!("{mean:.digits$}{unit}"),
        }
    }
}

/// Divisor of a number for the reader, with the resulting unit.
fn scale(value: f64, unit: &str) -> (f64, String) {
    let size = value.abs();
    let thousands = || match size {
        v if v >= 1e9 => (1e9, "G"),
        v if v >= 1e6 => (1e6, "M"),
        v if v >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    match unit {
        "s" if size < 1e-3 && size > 0.0 => (1e-6, "us".into()),
        "s" if size < 1.0 && size > 0.0 => (1e-3, "ms".into()),
        "bit/s" | "bytes" => {
            let (scale, prefix) = thousands();
            let unit = if unit == "bytes" { "B" } else { unit };
            (scale, format!("{prefix}{unit}"))
        }
        "segments" | "packets" => (1.0, String::new()),
        unit => (1.0, unit.to_owned()),
    }
}

/// Decimals with which a number has four digits.
fn digits(value: f64) -> usize {
    match value.abs() {
        v if v == v.trunc() && v < 1e15 => 0,
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        v if v >= 1.0 => 3,
        _ => 4,
    }
}

/// Decimals with which half an interval has two digits.
fn digits_of(half: f64) -> usize {
    match half {
        v if v >= 10.0 => 0,
        v if v >= 1.0 => 1,
        v if v >= 0.1 => 2,
        v if v >= 0.01 => 3,
        _ => 4,
    }
}

fn names(points: &[PointReport]) -> BTreeSet<&str> {
    Figures::names(points.iter().map(|point| &point.metrics))
}

/// Requested metrics that do not exist.
fn unknown(points: &[PointReport], show: &[String]) -> Vec<String> {
    let names = names(points);
    let is_there = |pattern: &&String| {
        names.is_empty() || names.iter().any(|name| crate::scenario::fits(pattern, name))
    };
    let missing = show.iter().filter(|pattern| !is_there(pattern));
    let note = |pattern: &String| {
        let near = recoup_config::problem::hint(pattern, names.iter().copied());
        format!("no metric is called `{pattern}`{near}")
    };
    missing.map(note).collect()
}

/// Names of the printed metrics: the requested ones, or the most important.
fn shown(points: &[PointReport], show: &[String]) -> Vec<String> {
    let names = names(points);
    let fitting = |pattern: &str| {
        let fits = |name: &&&str| crate::scenario::fits(pattern, name);
        names.iter().filter(fits).map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    if !show.is_empty() {
        return show.iter().flat_map(|pattern| fitting(pattern)).collect();
    }
    let consumers: Vec<&str> = names
        .iter()
        .filter_map(|name| name.strip_suffix(".completed"))
        .filter(|place| *place != "all")
        .collect();
    let mut wanted: Vec<String> = Vec::new();
    if consumers.len() <= CONSUMERS {
        for consumer in &consumers {
            for what in
                ["time_s", "goodput_bps", "loss_event_percent", "timeouts", "retransmissions"]
            {
                wanted.push(format!("{consumer}.{what}"));
            }
        }
    } else {
        let of_all =
            ["completed", "delay_mean_s", "goodput_mean_bps", "timeouts", "retransmissions"];
        wanted.extend(of_all.map(|what| format!("all.{what}")));
    }
    if consumers.len() > 1 {
        wanted.push("all.jain".into());
    }
    let nonzero = |name: &&&str| {
        points.iter().any(|point| point.metrics.get(name).is_some_and(|figure| figure.max > 0.0))
    };
    let if_any = ["all.cs_hit_ratio", "all.drops", "all.lost"];
    wanted.extend(if_any.iter().filter(nonzero).map(|name| (*name).to_owned()));
    wanted.retain(|name| names.contains(name.as_str()));
    wanted
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = match self.points.as_slice() {
            [one] => self.list(one),
            _ => self
                .shown
                .chunks(ACROSS)
                .map(|names| self.block(names))
                .collect::<Vec<_>>()
                .join("\n\n"),
        };
        if !lines.is_empty() {
            writeln!(f, "{lines}\n")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))?;
        let seeds = self.points.iter().map(|point| point.seeds).max().unwrap_or_default();
        let points = self.points.len();
        let mut what = match (points, seeds) {
            (1, 1) => "one run".to_owned(),
            (1, seeds) => format!("{seeds} seeds, means with 95 % confidence intervals"),
            (points, 1) => format!("{points} points with one seed each"),
            (points, seeds) => {
                format!(
                    "{points} points with {seeds} seeds each, means with 95 % confidence intervals"
                )
            }
        };
        if self.runs.made < self.runs.all {
            let _ = write!(
                what,
                "; {} of {} runs were there",
                self.runs.all - self.runs.made,
                self.runs.all
            );
        }
        write!(f, "{what}; results in {}", self.out)
    }
}

impl Report {
    /// A line for each metric of a single point.
    fn list(&self, point: &PointReport) -> String {
        let rows = self
            .shown
            .iter()
            .filter_map(|name| Some(vec![name.clone(), point.metrics.get(name)?.text()]));
        aligned(rows.collect())
    }

    /// A line for each point, with a column for each of these metrics.
    fn block(&self, names: &[String]) -> String {
        let axes = self.points.first().map_or(&[][..], |point| &point.axes);
        let heads = axes.iter().map(|(axis, _)| axis.clone()).chain(names.iter().cloned());
        let mut rows = vec![heads.collect::<Vec<_>>()];
        for point in &self.points {
            let values = point.axes.iter().map(|(_, value)| value.clone());
            let absent = || "-".to_owned();
            let figures = names.iter().map(|name| {
                let figure = point.metrics.get(name);
                figure.map_or_else(absent, |figure| figure.text())
            });
            rows.push(values.chain(figures).collect());
        }
        aligned(rows)
    }
}

/// Aligned columns, with two blanks in between.
fn aligned(rows: Vec<Vec<String>>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Speed: `12.3 s, 3.1 million packet-hops per second and core`.
pub fn speed(elapsed: std::time::Duration, hops: f64, busy_s: f64) -> String {
    let time = figure::seconds(elapsed);
    if busy_s <= 0.0 || hops <= 0.0 {
        return time;
    }
    format!("{time}, {:.2} million packet-hops per second and core", hops / busy_s / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(values: &[f64], unit: &str) -> String {
        Figure::new(values, unit.into()).unwrap().text()
    }

    #[test]
    fn figure_has_the_justified_digits() {
        assert_eq!(figure(&[24.5, 25.0, 25.0], "s"), "24.83 ± 0.72 s");
        assert_eq!(
            figure(&[4_986_000.0, 4_984_000.0, 4_969_000.0], "bit/s"),
            "4.980 ± 0.023 Mbit/s"
        );
        assert_eq!(figure(&[0.0612], "s"), "61.20 ms");
        assert_eq!(figure(&[7.0], ""), "7");
        assert_eq!(figure(&[7.0, 7.0], ""), "7");
        assert_eq!(figure(&[1.0, 2.0], "segments"), "1.5 ± 6.4");
        assert_eq!(figure(&[0.0, 0.0], "%"), "0 %");
    }

    fn point(metrics: &[(&str, f64)]) -> PointReport {
        runs(&[metrics])
    }

    fn runs(runs: &[&[(&str, f64)]]) -> PointReport {
        let named = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
        let runs = runs.iter().map(|run| run.iter().map(named).collect());
        PointReport {
            values: BTreeMap::new(),
            seeds: 1,
            metrics: Figures::of(runs, &Arc::default()),
            axes: vec![("design".into(), "#0".into())],
        }
    }

    #[test]
    fn few_consumers_are_shown_each_and_many_together() {
        let one = point(&[
            ("c1.completed", 1.0),
            ("c1.goodput_bps", 1.0),
            ("c1.time_s", 2.0),
            ("all.drops", 0.0),
            ("all.goodput_bps", 1.0),
        ]);
        assert_eq!(shown(&[one], &[]), ["c1.time_s", "c1.goodput_bps"]);
        let many: Vec<_> =
            (0..9).flat_map(|k| [format!("c{k}.completed"), format!("c{k}.goodput_bps")]).collect();
        let mut metrics: Vec<_> = many.iter().map(|name| (name.as_str(), 1.0)).collect();
        metrics.extend([("all.goodput_mean_bps", 1.0), ("all.jain", 1.0), ("all.lost", 3.0)]);
        assert_eq!(
            shown(&[point(&metrics)], &[]),
            ["all.goodput_mean_bps", "all.jain", "all.lost"]
        );
        let asked = shown(&[point(&metrics)], &["c1.good*".into(), "*.jain".into()]);
        assert_eq!(asked, ["c1.goodput_bps", "all.jain"]);
    }

    #[test]
    fn unknown_metric_is_named_with_the_nearest() {
        let points = [point(&[("c1.time_s", 1.0), ("c1.goodput_bps", 1.0)])];
        let asked = ["c1.tim_s".to_owned(), "c1.*".into(), "*.jain".into()];
        let messages = [
            "no metric is called `c1.tim_s`; did you mean `c1.time_s`?",
            "no metric is called `*.jain`",
        ];
        assert_eq!(unknown(&points, &asked), messages);
        assert!(unknown(&[], &asked).is_empty());
    }

    #[test]
    fn incomplete_consumers_are_named() {
        let run = |completed: f64| {
            [("all.completed", 0.5), ("c1.completed", 1.0), ("c2.completed", completed)]
        };
        let (whole, part) = (run(1.0), run(0.0));
        let all = runs(&[&whole, &part, &part, &whole]);
        assert_eq!(incomplete(&all), ["c2 did not complete in 2 of 4 runs at design=#0"]);
        let why = |reason| [&part[..], &[(reason, 1.0)]].concat();
        let [stopped, idle] = ["c2.stopped", "c2.no_progress"].map(why);
        let notes = incomplete(&runs(&[&whole, &stopped, &idle, &whole]));
        let why = ": 1 stopped before it was complete, 1 without progress for too long";
        assert!(notes[0].ends_with(why), "{notes:?}");
    }

    #[test]
    fn consumer_without_a_rate_is_shown() {
        let at_once = point(&[("c1.completed", 1.0), ("c1.time_s", 0.0), ("c1.timeouts", 0.0)]);
        assert_eq!(shown(&[at_once], &[]), ["c1.time_s", "c1.timeouts"]);
    }

    #[test]
    fn points_stand_below_each_other() {
        let report = Report {
            command: "sim",
            scenario: "a.toml".into(),
            title: String::new(),
            out: "a-results".into(),
            runs: Runs { all: 2, made: 1 },
            points: vec![point(&[("c.time_s", 2.0)]), point(&[])],
            notes: Vec::new(),
            shown: vec!["c.time_s".into()],
        };
        assert_eq!(
            report.to_string(),
            "design  c.time_s\n#0      2\n#0      -\n\n\
             2 points with one seed each; 1 of 2 runs were there; results in a-results"
        );
    }
}
