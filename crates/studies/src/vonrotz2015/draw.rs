//! The paper's figures, drawn from our runs, and two that show the effect of open parameters.
use super::axis::{HOPS, Scenario, TIMERS};
use super::open::{MAP, OPEN};
use super::runs::{At, Runs, mean_of};
use super::scenario::VARIANTS;
use super::setup::RADIOS;
use super::trace;
use super::{judge, one};
use crate::figure::{Axis, Figure, Series, Style};
use crate::result::Results;
use crate::rule::quotient;
use recoup_sim::statistic::Seeded;

/// Most points of a trace, divided by four.
const SLICES: usize = 1_000;

/// The figures of the traces: scenario and hops, the paper's figure, and their names by timer. The last are the figures
/// over all hops that the same runs serve.
pub(super) static TRACES: [(At, &str, [&str; 8]); 3] = [
    (
        trace::ONE,
        "2",
        [
            "trace-1-constant",
            "trace-1-tcp",
            "trace-1-timeest",
            "trace-1-ccntimer",
            "trace-1-wma",
            "trace-1-icp",
            "time-1",
            "interests-1",
        ],
    ),
    (
        trace::ROW,
        "5",
        [
            "trace-2-constant",
            "trace-2-tcp",
            "trace-2-timeest",
            "trace-2-ccntimer",
            "trace-2-wma",
            "trace-2-icp",
            "time-2",
            "interests-2",
        ],
    ),
    (
        trace::SIDES,
        "7",
        [
            "trace-3-constant",
            "trace-3-tcp",
            "trace-3-timeest",
            "trace-3-ccntimer",
            "trace-3-wma",
            "trace-3-icp",
            "time-3",
            "interests-3",
        ],
    ),
];

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let runs = Runs::assumed(results);
    let mut all = Vec::new();
    for (scenario, place, of_paper) in
        [(Scenario::One, "1", "3"), (Scenario::Row, "2", "4"), (Scenario::Sides, "3", "6")]
    {
        let time = |at, timer: &str| runs.time(at, timer);
        let sent = |at, timer: &str| runs.interests(at, timer);
        let title = |what: &str| format!("{what}, scenario {place}");
        let time = by_hops(scenario, "time", "s", time);
        all.push(Figure {
            id: format!("time-{place}"),
            title: title("Time to fetch the file"),
            caption: format!("Figure {of_paper}a. {MEANS}"),
            ..time
        });
        let sent = by_hops(scenario, "Interests", "", sent);
        all.push(Figure {
            id: format!("interests-{place}"),
            title: title("Interests that left the requester"),
            caption: format!("Figure {of_paper}b. {MEANS}"),
            ..sent
        });
    }
    for (at, of_paper, names) in TRACES {
        for (timer, name) in TIMERS.into_iter().zip(names) {
            all.extend(traced(&runs, at, of_paper, timer, name));
        }
    }
    all.extend([variants(results), open(results), map(results)]);
    all.retain(Figure::shows_ours);
    all
}

const MEANS: &str = "Means over seeds with 95 % confidence intervals.";

/// A line for each timer over the number of hops.
fn by_hops(
    scenario: Scenario,
    label: &str,
    unit: &str,
    of: impl Fn(At, &str) -> Vec<Seeded>,
) -> Figure {
    let line = |timer: &str| {
        Series::means(timer, Style::Line, HOPS.map(|hops| of((scenario, hops), timer)))
    };
    Figure {
        id: String::new(),
        title: String::new(),
        caption: String::new(),
        x: Axis::places("hops", HOPS),
        y: Axis::quantity(label, unit),
        series: TIMERS.map(line).into(),
    }
}

/// Round trips and lifetimes of one run, segment by segment.
fn traced(
    runs: &Runs<'_>,
    at: At,
    of_paper: &str,
    timer: &'static str,
    name: &str,
) -> Option<Figure> {
    let traces = trace::traces(runs, at, timer);
    let (_, trace) = traces.first()?;
    let numbered = |values: &[f64]| {
        values.iter().enumerate().map(|(number, value)| (number as f64, *value)).collect::<Vec<_>>()
    };
    let mut round_trips = Series::new("round trip", Style::Dots);
    round_trips.points = numbered(&trace.round_trip);
    let mut lifetimes = Series::new("lifetime in force", Style::Steps);
    lifetimes.points = numbered(&trace.lifetime);
    let number = TIMERS.iter().position(|it| *it == timer).unwrap_or_default();
    // The paper's order of timers.
    let part = ["a", "b", "c", "d", "e", "f"][number];
    Some(Figure {
        id: name.into(),
        title: format!("Round trips and lifetimes, {timer}, {}", judge::title(at)),
        caption: format!(
            "Figure {of_paper}{part}. One run; round trips count from the first transmission of a segment."
        ),
        x: Axis::quantity("segment", ""),
        y: Axis::quantity("time", "s"),
        series: vec![round_trips.thinned(SLICES), lifetimes.thinned(SLICES)],
    })
}

/// Times of the variants.
fn variants(results: &Results) -> Figure {
    let bars = |(name, experiment): (&str, &str)| {
        let of = |variant| results.values(experiment, &[("timer", variant)], "c1.time_s");
        Series::means(name, Style::Bars, VARIANTS.iter().map(|(variant, _)| of(variant)))
    };
    let series = [("scenario 1, 3 hops", "variants-1"), ("scenario 2, 5 hops", "variants-2")];
    Figure {
        id: "variants".into(),
        title: "Variants of the timers".into(),
        caption: format!("Variants that the paper's text mentions. {MEANS}"),
        x: Axis::places("timer", VARIANTS.iter().map(|(name, _)| name)),
        y: Axis { logarithmic: true, ..Axis::quantity("time", "s") },
        series: series.map(bars).into(),
    }
}

/// Times in scenario 1 at three hops, with one parameter changed at a time.
fn open(results: &Results) -> Figure {
    let labels: Vec<_> = OPEN.iter().map(super::open::Open::label).collect();
    let setups = || OPEN.iter().zip(&labels).map(|(open, label)| Runs::open(results, open, label));
    let dots = |timer: &str| {
        Series::means(timer, Style::Dots, setups().map(|runs| runs.time(one::THREE, timer)))
    };
    Figure {
        id: "open".into(),
        title: "What the paper leaves open, one thing at a time".into(),
        caption: format!("Scenario 1, three hops. {MEANS}"),
        x: Axis::places("different", &labels),
        y: Axis { logarithmic: true, ..Axis::quantity("time", "s") },
        series: TIMERS.map(dots).into(),
    }
}

/// Gain of CCNTimer at every point of the map, over its lifetimes.
fn map(results: &Results) -> Figure {
    let dots = |radio: &str| {
        let mut series = Series::new(radio, Style::Dots);
        for (label, _) in MAP.iter().filter(|(_, setup)| setup.radio == radio) {
            let runs = Runs::map(results, label);
            let time = |timer| runs.time(one::THREE, timer);
            let gain = quotient(&time("constant"), &time("CCNTimer"));
            let lifetime = mean_of(&runs.lifetime(one::THREE, "CCNTimer", "mean"));
            series.points.extend(lifetime.zip(mean_of(&gain)));
        }
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        series
    };
    Figure {
        id: "map".into(),
        title: "What CCNTimer gains on 4 s, with everything that is open".into(),
        caption: "Scenario 1, three hops; one point for each segment, pipeline and time of a node. Where lifetimes lie at \
                  0.1 s timers do not differ."
            .into(),
        x: Axis { logarithmic: true, ..Axis::quantity("mean lifetime of CCNTimer", "s") },
        y: Axis::quantity("time of constant 4 s over CCNTimer's", ""),
        series: RADIOS.map(dots).into(),
    }
}
