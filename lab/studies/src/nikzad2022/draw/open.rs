//! Figures of what the paper leaves open: the proposal against Basic with each value that was tried.
use crate::figure::{Figure, Series, Style};
use crate::nikzad2022::open::{OPEN, Open};
use crate::nikzad2022::runs::{B, Runs, W};
use crate::nikzad2022::timer::{BASIC, ENDS, RECONSIDERED};
use crate::result::Results;
use crate::rule::quotient;

pub(super) fn figures(results: &Results) -> impl Iterator<Item = Figure> {
    let tried = |open: &&Open| {
        results.experiments.get(open.experiment).is_some_and(|rows| !rows.is_empty())
    };
    OPEN.iter().filter(tried).map(|open| figure(open, results))
}

fn figure(open: &Open, results: &Results) -> Figure {
    let assumed = (open.assumed, Runs::assumed(results));
    let others = open.values();
    let others = others.map(|(value, _)| (value, Runs::with(results, open.experiment, value)));
    let setups: Vec<_> = std::iter::once(assumed).chain(others).collect();
    let bars = |(metric, name, s): (&str, &str, &str)| {
        let of = |runs: &Runs<'_>| {
            let of = |timer| runs.of(timer, s, metric);
            quotient(&of(RECONSIDERED.into()), &of(BASIC.into()))
        };
        let all = setups.iter().map(|(_, runs)| of(runs));
        Series::means(&format!("{name}, s = {s}"), Style::Bars, all)
    };
    let both = [(B, "B"), (W, "W")].into_iter();
    let both = both.flat_map(|(metric, name)| ENDS.map(|s| (metric, name, s)));
    let mut series: Vec<_> = both.map(bars).collect();
    series.push(Series::level("like Basic", 1.0, setups.len()));
    Figure {
        id: open.experiment.into(),
        ..super::WORDS
            .figure("figure-of", &[("parameter", &open.parameter)], series)
            .over(setups.iter().map(|(value, _)| value))
    }
}
