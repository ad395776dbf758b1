//! The paper's figures, drawn from our runs, and one that shows the effect of open parameters.
use super::axis::{HOPS, Scenario, TIMERS, spec};
use super::open::OPEN;
use super::runs::{At, Runs, mean_of};
use super::scenario::VARIANTS;
use super::trace;
use super::{judge, one};
use crate::figure::{Figure, Series, Style, Words};
use crate::result::Results;
use crate::rule::quotient;
use recoup_sim::statistic::Seeded;
use std::fmt::Display;

/// Most points of a trace, divided by four.
const SLICES: usize = 1_000;

/// The figures of the traces: scenario and hops, and the paper's figure.
const TRACES: [(At, &str); 3] = [(trace::ONE, "2"), (trace::ROW, "5"), (trace::SIDES, "7")];

/// Ratios of the paper: hops, timer, and its value over that of CCNTimer.
type Ratios = &'static [(&'static str, &'static str, f64)];

/// Figure 3a; text IV-C.
const TIMES_1: Ratios = &[
    ("2", "constant", 4.2),
    ("3", "constant", 3.3),
    ("5", "constant", 2.76),
    ("3", "TCP RTO", 1.95),
    ("3", "Timeest", 1.45),
    ("3", "ICP", 1.0 / 1.06),
    ("3", "WMA", 1.0 / 1.103),
];
/// Figure 3b; text IV-C.
const INTERESTS_1: Ratios = &[("3", "constant", 1.0), ("3", "ICP", 1.01), ("3", "WMA", 1.04)];
/// Figure 4a; text IV-D.
const TIMES_2: Ratios = &[
    ("3", "ICP", 1.0),
    ("3", "Timeest", 1.21),
    ("3", "TCP RTO", 1.48),
    ("5", "ICP", 1.0 / 0.83),
    ("5", "Timeest", 1.0 / 0.89),
    ("5", "TCP RTO", 1.0 / 0.898),
    ("5", "WMA", 0.94),
    ("5", "constant", 1.369),
];
/// Figure 4b; text IV-D.
const INTERESTS_2: Ratios = &[
    ("3", "Timeest", 1.0 / 0.997),
    ("5", "Timeest", 1.0 / 1.019),
    ("5", "WMA", 1.0627),
    ("5", "constant", 0.94),
];
/// Figure 6a; text IV-E.
const TIMES_3: Ratios = &[("1", "ICP", 1.2936), ("2", "WMA", 0.94), ("5", "ICP", 1.0576)];
/// Figure 6b; text IV-E.
const INTERESTS_3: Ratios = &[
    ("1", "ICP", 1.2936),
    ("2", "ICP", 0.982),
    ("3", "ICP", 0.991),
    ("5", "ICP", 1.027),
    ("2", "WMA", 1.07),
    ("3", "WMA", 1.083),
    ("5", "WMA", 1.077),
];

/// Words of the figures.
const WORDS: Words = Words(include_str!("figures.toml"));

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let runs = Runs::assumed(results);
    let mut all = Vec::new();
    for (scenario, place, of_paper, times, interests) in [
        (Scenario::One, "1", "3", TIMES_1, INTERESTS_1),
        (Scenario::Row, "2", "4", TIMES_2, INTERESTS_2),
        (Scenario::Sides, "3", "6", TIMES_3, INTERESTS_3),
    ] {
        let time = |at, timer: &str| runs.time(at, timer);
        let sent = |at, timer: &str| runs.interests(at, timer);
        let of = (scenario, place, of_paper);
        all.push(by_hops(of, "time", times, time));
        all.push(by_hops(of, "interests", interests, sent));
    }
    for ((at, of_paper), number) in TRACES.into_iter().zip(1..) {
        for timer in TIMERS {
            let name = format!("trace-{number}-{}", spec(timer));
            all.extend(traced(&runs, at, of_paper, timer, &name));
        }
    }
    all.extend([variants(results), open(results)]);
    all.retain(Figure::shows_ours);
    all
}

/// A line for each timer over the number of hops, as ratio to CCNTimer, with the paper's ratios.
///
/// Interests are shown as by how much per cent a timer is above CCNTimer, in place of the ratio.
fn by_hops(
    (scenario, place, figure): (Scenario, &str, &str),
    what: &str,
    ratios: Ratios,
    of: impl Fn(At, &str) -> Vec<Seeded>,
) -> Figure {
    let scaled = |ratio: f64| if what == "interests" { (ratio - 1.0) * 100.0 } else { ratio };
    let own = HOPS.map(|hops| of((scenario, hops), CCNTIMER));
    let others = || TIMERS.iter().filter(|timer| **timer != CCNTIMER);
    let line = |timer: &&str| {
        let at = |(hops, own): (&&'static str, &Vec<Seeded>)| {
            let mut values = quotient(&of((scenario, hops), timer), own);
            values.iter_mut().for_each(|(_, value)| *value = scaled(*value));
            values
        };
        Series::means(timer, Style::Line, HOPS.iter().zip(&own).map(at))
    };
    let paper = |timer: &&str| {
        let mut paper = Series::paper_of(timer);
        let of_timer = ratios.iter().filter(|(_, of, _)| of == timer);
        paper.points.extend(of_timer.filter_map(|(hops, _, ratio)| {
            let place = HOPS.iter().position(|it| it == hops)?;
            Some((place as f64, scaled(*ratio)))
        }));
        paper
    };
    let paper = others().map(paper).filter(|it| !it.points.is_empty());
    let absolute = own.iter().filter_map(|own| Some(shown(mean_of(own)?)));
    let absolute = absolute.collect::<Vec<_>>().join(", ");
    let values: [(&str, &dyn Display); 3] =
        [("place", &place), ("figure", &figure), ("absolute", &absolute)];
    let series = others().map(line).chain(paper).collect();
    Figure { id: format!("{what}-{place}"), ..WORDS.figure(what, &values, series).over(HOPS) }
}

/// The timer that the others are compared with.
const CCNTIMER: &str = "CCNTimer";

/// A number with three digits or more.
fn shown(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
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
        ..WORDS.figure(
            "traced",
            &[
                ("timer", &timer),
                ("title", &judge::title(at)),
                ("of_paper", &of_paper),
                ("part", &part),
            ],
            vec![round_trips.thinned(SLICES), lifetimes.thinned(SLICES)],
        )
    })
}

/// Times of the variants.
fn variants(results: &Results) -> Figure {
    let bars = |(name, experiment): (&str, &str)| {
        let of = |variant| results.values(experiment, &[("timer", variant)], "c1.time_s");
        Series::means(name, Style::Bars, VARIANTS.iter().map(|(variant, _)| of(variant)))
    };
    let series = [("scenario 1, 3 hops", "variants-1"), ("scenario 2, 5 hops", "variants-2")];
    WORDS
        .figure("variants", &[], series.map(bars).into())
        .over(VARIANTS.iter().map(|(name, _)| name))
}

/// Times in scenario 1 at three hops, with one parameter changed at a time.
fn open(results: &Results) -> Figure {
    let labels: Vec<_> = OPEN.iter().map(super::open::Open::label).collect();
    let setups = || OPEN.iter().zip(&labels).map(|(open, label)| Runs::open(results, open, label));
    let dots = |timer: &str| {
        Series::means(timer, Style::Dots, setups().map(|runs| runs.time(one::THREE, timer)))
    };
    WORDS.figure("open", &[], TIMERS.map(dots).into()).over(&labels)
}
