//! The paper's figures, and ours, from results.
use super::{DESIGNS, scenario};
use crate::figure::{Axis, Figure, Series, Style};
use crate::result::Results;
use crate::rule::Runs;

/// The paper's three runs of each design: seconds.
pub(super) const LINEAR_TIMES: [[f64; 3]; 4] =
    [[23.8, 23.8, 23.9], [39.0, 36.9, 34.0], [29.8, 30.4, 31.1], [24.5, 25.0, 25.0]];
/// Of both consumers: c1, then c2.
pub(super) const DUMBBELL_TIMES: [[f64; 6]; 4] = [
    [47.5, 47.8, 47.7, 47.5, 47.8, 47.7],
    [59.0, 57.0, 54.3, 56.7, 58.5, 48.4],
    [51.8, 52.9, 53.3, 50.7, 52.9, 51.5],
    [48.2, 47.7, 48.1, 46.4, 48.0, 45.4],
];

/// How much of the room of a name bars take, as they are drawn.
const BARS: f64 = 0.7;
/// No screen shows more of a curve.
const SLICES: usize = 600;

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut figures = vec![
        times(results, "linear", &["c1"], &LINEAR_TIMES.map(Vec::from)),
        times(results, "dumbbell", &["c1", "c2"], &DUMBBELL_TIMES.map(Vec::from)),
    ];
    figures.extend(windows(results, "linear", "c1", "window"));
    figures.extend(timers(results));
    figures.extend(windows(results, "dumbbell", "c1", "sharing"));
    figures.extend(scenario::open().map(|it| open(results, it.experiment, it.axis, &it.values)));
    figures.retain(|figure| figure.series.iter().any(|it| is_ours(it) && !it.points.is_empty()));
    figures
}

fn is_ours(series: &Series) -> bool {
    series.style != Style::Paper
}

fn names(values: &[&str]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

fn seconds(label: &str) -> Axis {
    Axis { label: label.into(), unit: "s".into(), ..Axis::default() }
}

/// The paper's table as bars.
fn times(results: &Results, network: &str, consumers: &[&str], paper: &[Vec<f64>; 4]) -> Figure {
    let mut series: Vec<_> = consumers
        .iter()
        .map(|consumer| {
            let mut bars = Series::new(&format!("ours, {consumer}"), Style::Bars);
            for (place, design) in DESIGNS.iter().enumerate() {
                let choice = [("design", *design)];
                let runs = Runs { results, experiment: network, choice: &choice };
                if let Some(estimate) = runs.estimate(&format!("{consumer}.time_s")) {
                    bars.points.push((place as f64, estimate.mean));
                    bars.errors.push(estimate.half_width);
                }
            }
            bars
        })
        .collect();
    let mut dots = Series::new("the paper's runs", Style::Paper);
    for (place, runs) in paper.iter().enumerate() {
        // The runs of each consumer stand on its bars.
        let each = runs.chunks(runs.len().div_ceil(consumers.len()).max(1));
        for (number, runs) in each.enumerate() {
            let shift = number as f64 - (consumers.len() as f64 - 1.0) / 2.0;
            let x = place as f64 + shift * BARS / consumers.len() as f64;
            dots.points.extend(runs.iter().map(|time| (x, *time)));
        }
    }
    series.push(dots);
    Figure {
        id: network.into(),
        title: format!("Time to fetch the file, {network} network"),
        caption: "Bars: mean over seeds with its 95 % confidence interval. Crosses: the runs of the paper's \
                  table, each of 10 MiB."
            .into(),
        x: Axis { label: "design".into(), categories: names(&DESIGNS), ..Axis::default() },
        y: seconds("time"),
        series,
    }
}

/// Windows of the adaptive designs over time.
fn windows(results: &Results, network: &str, consumer: &str, id: &str) -> Option<Figure> {
    let mut series = Vec::new();
    for design in &DESIGNS[1..] {
        let name = format!("design={design}/{consumer}/window");
        let curve = results.curve(network, &name)?;
        let mut steps = Series::new(&format!("design {design}"), Style::Steps);
        steps.points = curve.points("time_s", "window");
        series.push(steps.thinned(SLICES));
    }
    Some(Figure {
        id: id.into(),
        title: format!("Congestion window of {consumer}, {network} network"),
        caption: "One run of each design that adapts its window.".into(),
        x: seconds("time"),
        y: Axis { label: "window".into(), unit: "segments".into(), ..Axis::default() },
        series,
    })
}

/// Samples and timeouts of designs #2 and #3.
fn timers(results: &Results) -> Vec<Figure> {
    let draw = |design: &str| {
        let curve = results.curve("linear", &format!("design={design}/c1/rto"))?;
        let mut samples = Series::new("round-trip sample", Style::Dots);
        samples.points = curve.points("time_s", "rtt_s");
        let mut timeouts = Series::new("timeout in force", Style::Steps);
        timeouts.points = curve.points("time_s", "rto_s");
        Some(Figure {
            id: format!("rto-{}", design.trim_start_matches('#')),
            title: format!("Round trips and timeout, design {design}, linear network"),
            caption: "One run. Where the line meets the dots, timeouts are needless.".into(),
            x: seconds("time"),
            y: seconds("round trip"),
            series: vec![samples.thinned(SLICES), timeouts.thinned(SLICES)],
        })
    };
    ["#2", "#3"].into_iter().filter_map(draw).collect()
}

/// Time over something that the paper leaves open.
fn open(results: &Results, experiment: &str, axis: &'static str, values: &[&str]) -> Figure {
    let mut series = Vec::new();
    for design in &DESIGNS[1..] {
        let mut line = Series::new(&format!("design {design}"), Style::Line);
        for (place, value) in values.iter().enumerate() {
            let choice = [("design", *design), (axis, *value)];
            let runs = Runs { results, experiment, choice: &choice };
            if let Some(estimate) = runs.estimate("c1.time_s") {
                line.points.push((place as f64, estimate.mean));
                line.errors.push(estimate.half_width);
            }
        }
        series.push(line);
    }
    Figure {
        id: experiment.into(),
        title: format!("What the paper leaves open: {axis}"),
        caption: "Mean time over seeds in the linear network, with its 95 % confidence interval."
            .into(),
        x: Axis { label: axis.into(), categories: names(values), ..Axis::default() },
        y: seconds("time"),
        series,
    }
}
