//! The paper's figures, and ours, from results.
use super::{DESIGNS, scenario};
use crate::beside::Beside;
use crate::figure::{Figure, Series, Style, Words, bar};
use crate::result::Results;
use crate::rule::joined;

/// The paper's three runs of each design: seconds.
pub(super) const LINEAR_TIMES: [[f64; 3]; 4] =
    [[23.8, 23.8, 23.9], [39.0, 36.9, 34.0], [29.8, 30.4, 31.1], [24.5, 25.0, 25.0]];
/// Times of both consumers: c1, then c2.
pub(super) const DUMBBELL_TIMES: [[f64; 6]; 4] = [
    [47.5, 47.8, 47.7, 47.5, 47.8, 47.7],
    [59.0, 57.0, 54.3, 56.7, 58.5, 48.4],
    [51.8, 52.9, 53.3, 50.7, 52.9, 51.5],
    [48.2, 47.7, 48.1, 46.4, 48.0, 45.4],
];

/// Most points of a curve.
const SLICES: usize = 600;

/// Words of the figures.
const WORDS: Words = Words(include_str!("figures.toml"));

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut figures = vec![
        times(results, "linear", &["c1"], &LINEAR_TIMES.map(Vec::from)),
        times(results, "dumbbell", &["c1", "c2"], &DUMBBELL_TIMES.map(Vec::from)),
    ];
    figures.extend(windows(results, "linear", "c1", "window"));
    figures.extend(timers(results));
    figures.extend(windows(results, "dumbbell", "c1", "sharing"));
    figures.extend(scenario::OPEN.iter().map(|it| open(results, it)));
    figures.extend(defaults(results));
    figures.retain(Figure::shows_ours);
    figures
}

/// The default beside the designs.
fn defaults(results: &Results) -> [Figure; 2] {
    let beside = |id, network, why| Beside {
        id,
        network,
        transports: DESIGNS.map(str::to_owned).into(),
        situations: ("network", vec!["as in the paper"]),
        why,
    };
    let values = |experiment, design: &str, metric| {
        results.values(experiment, &[("design", design)], metric)
    };
    let linear = beside(
        "default-linear",
        "linear network",
        "#0 is given the window of the path, from the first Interest on.",
    );
    let dumbbell = beside(
        "default-dumbbell",
        "dumbbell network, the later consumer",
        "#0 is given the window of the path. #3 keeps the queue full and loses packets of it; the default drains the \
         queue, and each drain leaves the bottleneck idle for a moment.",
    );
    let later = |design: &str, _: &str| {
        let [c1, c2] =
            ["c1.time_s", "c2.time_s"].map(|metric| values("default-dumbbell", design, metric));
        joined(&c1, &c2, f64::max)
    };
    [
        linear.figure(|design, _| values("default-linear", design, "c1.time_s")),
        dumbbell.figure(later),
    ]
}

/// The paper's table as bars.
fn times(results: &Results, network: &str, consumers: &[&str], paper: &[Vec<f64>; 4]) -> Figure {
    let mut series: Vec<_> = consumers
        .iter()
        .map(|consumer| {
            let metric = format!("{consumer}.time_s");
            let times = DESIGNS.map(|it| results.values(network, &[("design", it)], &metric));
            Series::means(&format!("ours, {consumer}"), Style::Bars, times)
        })
        .collect();
    let mut dots = Series::new("the paper's runs", Style::Paper);
    for (place, runs) in paper.iter().enumerate() {
        // The runs of each consumer stand on its bars.
        let each = runs.chunks(runs.len().div_ceil(consumers.len()).max(1));
        for (number, runs) in each.enumerate() {
            let x = bar(place, number, consumers.len());
            dots.points.extend(runs.iter().map(|time| (x, *time)));
        }
    }
    series.push(dots);
    Figure {
        id: network.into(),
        ..WORDS.figure("times", &[("network", &network)], series).over(DESIGNS)
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
        ..WORDS.figure("windows", &[("consumer", &consumer), ("network", &network)], series)
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
            ..WORDS.figure(
                "timers",
                &[("design", &design)],
                vec![samples.thinned(SLICES), timeouts.thinned(SLICES)],
            )
        })
    };
    ["#2", "#3"].into_iter().filter_map(draw).collect()
}

/// Time over something that the paper leaves open.
fn open(results: &Results, open: &scenario::Open) -> Figure {
    let axis = open.axis.name;
    let line = |design: &&str| {
        let of = |value| {
            results.values(open.experiment, &[("design", design), (axis, value)], "c1.time_s")
        };
        let times = open.axis.names().into_iter().map(of);
        Series::means(&format!("design {design}"), Style::Line, times)
    };
    let series = DESIGNS[1..].iter().map(line).collect();
    let figure = WORDS.figure("open", &[("axis", &axis)], series).over(open.axis.names());
    Figure { id: open.experiment.into(), ..figure }
}
