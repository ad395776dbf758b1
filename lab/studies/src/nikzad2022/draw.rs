//! The paper's figures, and ours, from results.
mod distribution;
mod open;

use super::compare::figure_11;
use super::floor;
use super::gains::{self, TABLE_4};
use super::runs::{B, Runs, Timer, W, number};
use super::scenario::{FRONTIER, MANY_CLASSES, MANY_FLOORS_S, RATES};
use super::timer::{
    BASIC, BEYOND, FACTORS, FLOORS, Gains, Jacobson, OURS, PREDICTIVE, RECONSIDERED, S, STATIC,
    floored,
};
use crate::figure::{Axis, Figure, Series, Style, Words, bar};
use crate::result::Results;
use crate::rule::{LEVEL, estimate, scaled, text};
use recoup_sim::statistic::{Seeded, paired};

/// Words of the figures.
pub(super) const WORDS: Words = Words(include_str!("figures.toml"));

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let runs = Runs::paper(results);
    let mut figures = Vec::new();
    let [mut b, w] = both("floor", "RTO_min", "Fig. 2", |metric| floors(&runs, metric));
    // C-02: no bad timeouts from 200 ms on.
    let points = vec![(200.0, 0.0), (500.0, 0.0)];
    b.series.push(Series { points, ..Series::new("the paper, each s", Style::Paper) });
    figures.extend([b, w]);
    figures.extend(distribution::of_floor(results));
    figures.push(table_3(&runs));
    for (floor, place) in [(0, "Fig. 4"), (100, "Fig. 6")] {
        let id = format!("gains-{floor}");
        figures.extend(both(&id, "gains", place, |metric| classes(&runs, floor, metric)));
    }
    figures.extend(distribution::of_classes(results));
    figures.push(table_4(&runs));
    figures.extend(runs.has(MANY_CLASSES).then(|| rates(&runs)));
    for (number, base) in (7..).zip(BASES) {
        let (id, place) = (format!("factor-{number}"), format!("Fig. {number}"));
        figures.extend(both(&id, "k", &place, |metric| factors(&runs, base, metric)));
    }
    let [mut b, w] = both("estimators", "estimators", "Fig. 11", |metric| {
        let mut named: Vec<_> = figure_11().map(|timer| (name(timer), timer)).into();
        named.push(("Basic, 200 ms".into(), floored(200).into()));
        over_exponents(&runs, &named, metric)
    });
    b.caption += " Crosses: half of Basic's, which the paper states of Reconsidered (C-32).";
    let half = b.series.iter().find(|it| it.name == "Basic").map(|basic| Series {
        points: basic.points.iter().map(|(s, b)| (*s, b / 2.0)).collect(),
        ..Series::paper_of("Reconsidered")
    });
    b.series.extend(half);
    figures.extend([b, w]);
    figures.extend(both("beyond", "estimators beyond the paper", "section 6", |metric| {
        over_exponents(&runs, &beyond(), metric)
    }));
    figures.push(frontier(results));
    figures.push(single_way(results));
    figures.extend(open::figures(results));
    figures.retain(Figure::shows_ours);
    figures
}

/// Gains and floors of Figures 7 to 10.
const BASES: [(Gains, u32); 4] =
    [(Gains::Steady, 0), (Gains::Steady, 100), (Gains::VerySlow, 0), (Gains::VerySlow, 100)];

/// The paper's names of the timers that have one.
fn name(timer: Timer) -> String {
    match timer {
        Timer::Jacobson(timer) if timer == BASIC => "Basic".into(),
        Timer::Jacobson(timer) if timer == RECONSIDERED => "Reconsidered".into(),
        timer => timer.label(),
    }
}

/// A figure of the bad timeouts and one of the cost of the good ones.
fn both(
    id: &str,
    over: &str,
    place: &str,
    series: impl Fn(&str) -> (Axis, Vec<Series>),
) -> [Figure; 2] {
    let one = |metric: &str, letter: &str, label: &str, what: &str| {
        let (x, series) = series(metric);
        Figure {
            id: format!("{id}-{letter}"),
            title: format!("{what} over {over} ({place})"),
            caption: "Mean over consumers, then over seeds with its 95 % confidence interval."
                .into(),
            x,
            y: Axis::quantity(label, ""),
            series,
        }
    };
    [
        one(B, "b", "B: share of timeouts that were spurious", "Bad timeouts"),
        one(W, "w", "W: RTO over RTT", "Cost of good timeouts"),
    ]
}

/// A line for each exponent over the values of a parameter.
fn lines(x: Axis, values: &[f64], at: impl Fn(&str, usize) -> Vec<Seeded>) -> (Axis, Vec<Series>) {
    let line = |s: &&str| {
        let points = values.iter().enumerate().map(|(place, x)| (*x, at(s, place)));
        Series::means_at(&format!("s = {s}"), Style::Line, points)
    };
    (x, S.iter().map(line).collect())
}

fn floors(runs: &Runs<'_>, metric: &str) -> (Axis, Vec<Series>) {
    lines(Axis::quantity("RTO_min", "ms"), &FLOORS.map(f64::from), |s, place| {
        runs.of(floored(FLOORS[place]).into(), s, metric)
    })
}

fn classes(runs: &Runs<'_>, floor: u32, metric: &str) -> (Axis, Vec<Series>) {
    let names = Gains::ALL.map(Gains::name);
    lines(Axis::places("class", names), &[0.0, 1.0, 2.0, 3.0, 4.0], |s, place| {
        runs.of(gains::class(Gains::ALL[place], floor), s, metric)
    })
}

fn factors(runs: &Runs<'_>, base: (Gains, u32), metric: &str) -> (Axis, Vec<Series>) {
    let (gains, floor) = base;
    let label = format!("k ({}, {floor} ms)", gains.name());
    lines(Axis::quantity(&label, ""), &FACTORS.map(f64::from), |s, place| {
        runs.of(Jacobson { gains, k: FACTORS[place], floor }.into(), s, metric)
    })
}

/// A line for each timer over the exponents.
fn over_exponents(
    runs: &Runs<'_>,
    timers: &[(String, Timer)],
    metric: &str,
) -> (Axis, Vec<Series>) {
    let line = |(name, timer): &(String, Timer)| {
        let at = |s: &&str| (number(s), runs.of(*timer, s, metric));
        Series::means_at(name, Style::Line, S.iter().map(at))
    };
    (Axis::quantity("s", ""), timers.iter().map(line).collect())
}

/// The proposal, and what the paper does not have.
fn beyond() -> Vec<(String, Timer)> {
    let first: [Timer; 2] = [BASIC.into(), RECONSIDERED.into()];
    let all = first.into_iter().chain(BEYOND.map(Timer::from));
    all.map(|timer| (name(timer), timer)).collect()
}

/// Both faults of our estimator, the proposal and the constants, each a line through the exponents.
fn frontier(results: &Results) -> Figure {
    let runs = Runs::frontier(results);
    let timers = [RECONSIDERED.into(), OURS.into()].into_iter().chain(STATIC.map(Timer::from));
    let line = |timer: Timer| {
        let mean = |s: &str, metric| estimate(&runs.of(timer, s, metric)).map(|it| it.mean);
        let mut line = Series::new(&name(timer), Style::Line);
        line.points = S.iter().filter_map(|s| Some((mean(s, W)?, mean(s, B)?))).collect();
        line
    };
    let less = |s: &&str| {
        let of = |metric| {
            let [theirs, ours] =
                [RECONSIDERED.into(), OURS.into()].map(|it| runs.of(it, s, metric));
            Some(text(&paired(&theirs, &ours, LEVEL)?, ""))
        };
        Some(format!("s = {s}: B {}, W {}", of(B)?, of(W)?))
    };
    let less: Vec<_> = S.iter().filter_map(less).collect();
    Figure {
        id: FRONTIER.into(),
        ..WORDS.figure(
            "frontier",
            &[("name", &OURS.0), ("join", &less.join("; "))],
            timers.map(line).collect(),
        )
    }
}

/// The paper's table: growth in per cent with 100 and 200 ms.
const TABLE_3: [[f64; 2]; 5] =
    [[2.44, 16.83], [1.48, 5.44], [2.66, -73.63], [1.42, -87.42], [1.42, -85.55]];

fn table_3(runs: &Runs<'_>) -> Figure {
    let bars = |floor: u32| {
        Series::means(&format!("{floor} ms"), Style::Bars, S.map(|s| floor::growth(runs, floor, s)))
    };
    let mut paper = Series::new("the paper", Style::Paper);
    for (place, row) in TABLE_3.iter().enumerate() {
        paper.points.extend(beside(place, row));
    }
    WORDS.figure("table-3", &[], vec![bars(100), bars(200), paper]).over(S)
}

/// The paper's values of one place, each upon its bar.
fn beside(place: usize, row: &[f64]) -> Vec<(f64, f64)> {
    row.iter().enumerate().map(|(number, it)| (bar(place, number, row.len()), *it)).collect()
}

/// Growth in per cent of Very Slow, Slow, Fast and Very Fast.
const TABLE_4_VALUES: [[f64; 4]; 5] = [
    [8.38, 2.54, -6.68, -12.52],
    [1.90, 0.13, -8.21, -3.62],
    [0.80, 0.07, -1.66, -2.74],
    [0.21, 0.19, 0.25, 0.13],
    [-2.14, -1.53, -0.90, -0.41],
];

fn table_4(runs: &Runs<'_>) -> Figure {
    let bars = |gains: Gains| {
        Series::means(gains.name(), Style::Bars, S.map(|s| gains::benefit(runs, gains, s)))
    };
    let mut series: Vec<_> = TABLE_4.map(bars).into();
    let mut paper = Series::new("the paper", Style::Paper);
    for (place, row) in TABLE_4_VALUES.iter().enumerate() {
        paper.points.extend(beside(place, row));
    }
    series.push(paper);
    WORDS.figure("table-4", &[], series).over(S)
}

/// Rates of both tables with more seeds.
fn rates(runs: &Runs<'_>) -> Figure {
    let many = |name: &str, style, s: &[&str], of: fn(&Runs<'_>, &str) -> Vec<Seeded>| {
        Series::means_at(name, style, s.iter().map(|s| (number(s), of(runs, s))))
    };
    let slow = "Very Slow against Steady, 100 ms";
    let paper = TABLE_4_VALUES.iter().zip(S).map(|(row, s)| (number(s), row[0])).collect();
    Figure {
        id: RATES.into(),
        ..WORDS.figure(
            "rates",
            &[],
            vec![
                many("RTO_min of 200 against 100 ms", Style::Dots, &MANY_FLOORS_S, floor::doubled),
                many(slow, Style::Line, &S, gains::slowness),
                Series { points: paper, ..Series::paper_of(slow) },
            ],
        )
    }
}

/// Predictive beside Basic and Reconsidered under its own conditions.
fn single_way(results: &Results) -> Figure {
    let runs = Runs::single_way(results);
    let three: [Timer; 3] = [BASIC.into(), RECONSIDERED.into(), PREDICTIVE.into()];
    let mut series = Vec::new();
    for (metric, letter) in [(B, "B"), (W, "W/10")] {
        let scale = if metric == B { 1.0 } else { 0.1 };
        for timer in three {
            let at = |s: &&str| (number(s), scaled(runs.of(timer, s, metric), scale));
            let label = format!("{letter}, {}", name(timer));
            series.push(Series::means_at(&label, Style::Line, S.iter().map(at)));
        }
    }
    WORDS.figure("single-way", &[], series)
}
