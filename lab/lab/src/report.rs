//! Results of a campaign: means with confidence intervals, as a table and as a document.
mod figures;
mod overview;
mod swept;

pub use swept::{DRAWN, Swept, SweptPoint};

use crate::Error;
use crate::campaign::Campaign;
use crate::folder::ResultFolder;
use crate::source::Source;
use figures::Figures;
use overview::Overview;
use recoup_core::figure;
use recoup_sim::statistic::Estimate;
use serde::Serialize;
use serde::ser::{Error as _, SerializeSeq, Serializer};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// Confidence of the intervals.
const LEVEL: f64 = 0.95;
/// More metrics than that are not printed beside each other.
const ACROSS: usize = 5;
/// Most points that are printed; the table of runs has all of them.
const PRINTED: usize = 1_000;

/// The report. It reads the folder point by point: a sweep may have 100,000.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    command: &'static str,
    scenario: &'a str,
    title: &'a str,
    out: String,
    runs: Runs,
    points: Points<'a>,
    /// Notes for the reader of the figures.
    notes: Vec<String>,
    #[serde(skip)]
    shown: Vec<String>,
    /// The printed form.
    #[serde(skip)]
    text: String,
}

/// Numbers of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Runs {
    /// In the scenario.
    pub all: usize,
    /// Made by this command.
    pub made: usize,
}

/// The points of a campaign with their runs.
#[derive(Clone, Copy, Debug)]
struct Points<'a> {
    campaign: &'a Campaign,
    folder: &'a ResultFolder,
}

#[derive(Debug, Serialize)]
struct PointReport<'a> {
    values: BTreeMap<String, String>,
    seeds: usize,
    metrics: Figures<'a>,
    #[serde(skip)]
    axes: Vec<(String, String)>,
}

/// A metric over the seeds of a point.
#[derive(Debug, Serialize)]
struct Figure<'a> {
    unit: &'a str,
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

impl<'a> Points<'a> {
    fn iter(self) -> impl Iterator<Item = Result<PointReport<'a>, Error>> {
        let Self { campaign, folder } = self;
        campaign.points.iter().map(move |stage| {
            let rows = campaign.rows(folder, &stage)?;
            Ok(PointReport {
                values: stage.point.values.iter().cloned().collect(),
                seeds: rows.len(),
                metrics: Figures::of(rows, &folder.journal.rows.units),
                axes: stage.point.values,
            })
        })
    }
}

impl Serialize for Points<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut points = serializer.serialize_seq(Some(self.campaign.points.len()))?;
        for point in self.iter() {
            points.serialize_element(&point.map_err(S::Error::custom)?)?;
        }
        points.end()
    }
}

impl<'a> Report<'a> {
    /// The report of the runs in a folder; `show` chooses the printed metrics.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn new(
        source: &'a Source,
        campaign: &'a Campaign,
        folder: &'a ResultFolder,
        made: usize,
        show: &[String],
    ) -> Result<Self, Error> {
        let points = Points { campaign, folder };
        let mut overview = Overview::default();
        for point in points.iter() {
            overview.add(&point?);
        }
        let label =
            |place| campaign.points.get(place).map_or_else(String::new, |it| it.point.label());
        let (shown, notes) = (overview.shown(show), overview.notes(show, label));
        let printed = points.iter().take(PRINTED).collect::<Result<Vec<_>, _>>()?;
        let (out, runs) =
            (folder.path().display().to_string(), Runs { all: campaign.runs(), made });
        let mut text = table(&printed, &shown);
        if overview.points > PRINTED {
            let more = overview.points - PRINTED;
            let _ = write!(text, "\n… and {more} more points; runs.csv has all of them");
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        for note in &notes {
            let _ = writeln!(text, "note: {note}");
        }
        let _ = write!(text, "{}; results in {out}", overview.extent(runs));
        let (scenario, title) = (source.name.as_str(), source.file.title());
        Ok(Self { command: "sim", scenario, title, out, runs, points, notes, shown, text })
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<'a> Figure<'a> {
    fn new(values: &[f64], unit: &'a str) -> Option<Self> {
        let Estimate { count, mean, sd, .. } = Estimate::of(values, LEVEL)?;
        let estimate = Estimate::of(values, LEVEL)?;
        let ci95 = (count > 1).then(|| [estimate.low(), estimate.high()]);
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { unit, count, mean, ci95, sd, min, max })
    }

    /// `24.8 ± 0.3 s`.
    fn text(&self) -> String {
        let (scale, unit) = scale(self.mean, self.unit);
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

/// The metrics called `shown`: of a single point a line each, or else a line for each point.
fn table(points: &[PointReport<'_>], shown: &[String]) -> String {
    match points {
        [one] => {
            let row = |name: &String| Some(vec![name.clone(), one.metrics.get(name)?.text()]);
            aligned(shown.iter().filter_map(row).collect())
        }
        _ => {
            let blocks = shown.chunks(ACROSS).map(|names| block(points, names));
            blocks.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// A line for each point, with a column for each of these metrics.
fn block(points: &[PointReport<'_>], names: &[String]) -> String {
    let axes = points.first().map_or(&[][..], |point| &point.axes);
    let heads = axes.iter().map(|(axis, _)| axis.clone()).chain(names.iter().cloned());
    let mut rows = vec![heads.collect::<Vec<_>>()];
    for point in points {
        let values = point.axes.iter().map(|(_, value)| value.clone());
        let figures = names.iter().map(|name| {
            let figure = point.metrics.get(name);
            figure.map_or_else(|| "-".to_owned(), |figure| figure.text())
        });
        rows.push(values.chain(figures).collect());
    }
    aligned(rows)
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
    use crate::journal::Row;

    fn figure(values: &[f64], unit: &str) -> String {
        Figure::new(values, unit).unwrap().text()
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

    static NONE: BTreeMap<String, String> = BTreeMap::new();

    fn point(metrics: &[(&str, f64)]) -> PointReport<'static> {
        runs(&[metrics])
    }

    fn runs(runs: &[&[(&str, f64)]]) -> PointReport<'static> {
        let named = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
        let run = |run: &&[(&str, f64)]| Row {
            metrics: run.iter().map(named).collect(),
            ..crate::journal::tests::row("a", 1, 1.0)
        };
        PointReport {
            values: BTreeMap::new(),
            seeds: 1,
            metrics: Figures::of(runs.iter().map(run).collect(), &NONE),
            axes: vec![("design".into(), "#0".into())],
        }
    }

    fn overview(point: &PointReport<'_>) -> Overview {
        let mut overview = Overview::default();
        overview.add(point);
        overview
    }

    fn shown(metrics: &[(&str, f64)], show: &[String]) -> Vec<String> {
        overview(&point(metrics)).shown(show)
    }

    #[test]
    fn few_consumers_are_shown_each_and_many_together() {
        let one = [
            ("c1.completed", 1.0),
            ("c1.goodput_bps", 1.0),
            ("c1.time_s", 2.0),
            ("all.drops", 0.0),
            ("all.goodput_bps", 1.0),
        ];
        assert_eq!(shown(&one, &[]), ["c1.time_s", "c1.goodput_bps"]);
        let many: Vec<_> =
            (0..9).flat_map(|k| [format!("c{k}.completed"), format!("c{k}.goodput_bps")]).collect();
        let mut metrics: Vec<_> = many.iter().map(|name| (name.as_str(), 1.0)).collect();
        metrics.extend([("all.goodput_mean_bps", 1.0), ("all.jain", 1.0), ("all.lost", 3.0)]);
        assert_eq!(shown(&metrics, &[]), ["all.goodput_mean_bps", "all.jain", "all.lost"]);
        let asked = shown(&metrics, &["c1.good*".into(), "*.jain".into()]);
        assert_eq!(asked, ["c1.goodput_bps", "all.jain"]);
    }

    #[test]
    fn unknown_metric_is_named_with_the_nearest() {
        let points = overview(&point(&[("c1.time_s", 1.0), ("c1.goodput_bps", 1.0)]));
        let asked = ["c1.tim_s".to_owned(), "c1.*".into(), "*.jain".into()];
        let messages = [
            "no metric is called `c1.tim_s`; did you mean `c1.time_s`?",
            "no metric is called `*.jain`",
        ];
        let notes = |overview: &Overview| overview.notes(&asked, |_| String::new());
        assert_eq!(notes(&points), messages);
        assert!(notes(&Overview::default()).is_empty());
    }

    #[test]
    fn incomplete_consumers_are_named() {
        let run = |completed: f64| {
            [("all.completed", 0.5), ("c1.completed", 1.0), ("c2.completed", completed)]
        };
        let notes = |point: &PointReport<'_>| {
            let mut notes = overview(point).notes(&[], |_| String::new());
            notes.truncate(1);
            notes
        };
        let (whole, part) = (run(1.0), run(0.0));
        let all = runs(&[&whole, &part, &part, &whole]);
        assert_eq!(notes(&all), ["c2 did not complete in 2 of 4 runs at design=#0"]);
        let why = |reason| [&part[..], &[(reason, 1.0)]].concat();
        let [stopped, idle] = ["c2.stopped", "c2.no_progress"].map(why);
        let notes = notes(&runs(&[&whole, &stopped, &idle, &whole]));
        let why = ": 1 stopped before it was complete, 1 without progress for too long";
        assert!(notes[0].ends_with(why), "{notes:?}");
    }

    #[test]
    fn notes_of_many_points_are_counted() {
        let mut overview = Overview::default();
        for number in 0..100 {
            let mut point = point(&[("c1.completed", 0.0)]);
            point.metrics.runs[0].digest = number.to_string();
            overview.add(&point);
        }
        let notes = overview.notes(&[], |_| String::new());
        assert_eq!(notes.len(), 31);
        assert_eq!(notes[30], "consumers did not complete at 70 more points");
    }

    #[test]
    fn points_that_ran_alike_are_named() {
        let mut overview = Overview::default();
        for (design, digest) in [("a", "1"), ("b", "2"), ("c", "1"), ("d", "2")] {
            let mut point = point(&[]);
            point.axes[0].1 = design.into();
            point.metrics.runs[0].digest = digest.into();
            overview.add(&point);
        }
        let notes = overview.notes(&[], |place| format!("number {place}"));
        assert_eq!(notes, ["number 0 and number 2 ran alike: the sweep changes nothing there"]);
    }

    #[test]
    fn consumer_without_a_rate_is_shown() {
        let at_once = [("c1.completed", 1.0), ("c1.time_s", 0.0), ("c1.timeouts", 0.0)];
        assert_eq!(shown(&at_once, &[]), ["c1.time_s", "c1.timeouts"]);
    }

    #[test]
    fn points_stand_below_each_other() {
        let points = [point(&[("c.time_s", 2.0)]), point(&[])];
        let text = table(&points, &["c.time_s".into()]);
        assert_eq!(text, "design  c.time_s\n#0      2\n#0      -");
        let mut overview = Overview::default();
        points.iter().for_each(|point| overview.add(point));
        let extent = overview.extent(Runs { all: 2, made: 1 });
        assert_eq!(extent, "2 points with one seed each; 1 of 2 runs were there");
    }
}
