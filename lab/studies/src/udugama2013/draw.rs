//! The paper's figures, and ours, from results.
mod open;

use super::axis::{COMPOUND, FLAVOURS, LOADS, LOSSES};
use super::runs::Runs;
use super::{beside, burst, compound, growth, share, single, switch};
use crate::figure::{Figure, Series, Style, Words, bar};
use crate::result::Results;
use crate::rule::scaled;

/// Most points of a curve.
const SLICES: usize = 600;

/// Words of the figures.
pub(super) const WORDS: Words = Words(include_str!("figures.toml"));

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut figures = vec![times(results), gains(results)];
    figures.extend(["NewReno", "Compound", "Cubic"].map(|flavour| windows(results, flavour)));
    figures.extend([delay_windows(results), growths(results), compounds(results)]);
    figures.extend([recoveries(results), bursts(results, "Simple2"), bursts(results, "Smart")]);
    figures.extend(["Simple3", "Smart"].map(|version| switch::window(results, version)));
    figures.extend([sources(results), fairness(results), losses(results)]);
    figures.push(switch::map(results));
    figures.extend(open::figures(results));
    figures.extend(beside::figures(results));
    figures.retain(Figure::shows_ours);
    figures
}

/// Figure 4.
fn times(results: &Results) -> Figure {
    let runs = Runs::of(results, "single");
    let points = || FLAVOURS.into_iter().flat_map(|it| LOSSES.map(|loss| (it, loss)));
    let series = |version| {
        let all = points().map(|(flavour, loss)| single::time(&runs, flavour, version, loss));
        Series::means(version, Style::Bars, all)
    };
    let name = |(flavour, loss): (&str, &str)| format!("{flavour} {}", loss.trim_end_matches(" %"));
    WORDS.figure("time", &[], vec![series("Simple1"), series("Smart")]).over(points().map(name))
}

/// The gains of Figure 4.
fn gains(results: &Results) -> Figure {
    let runs = Runs::of(results, "single");
    let line = |flavour| {
        Series::means(flavour, Style::Line, LOSSES.map(|loss| single::gain(&runs, flavour, loss)))
    };
    let mut series: Vec<_> = FLAVOURS.map(line).into();
    series.push(Series::level("no gain", 1.0, LOSSES.len()));
    WORDS.figure("gain", &[], series).over(LOSSES)
}

/// The change of a column over time, from a run with records.
fn steps(runs: &Runs<'_>, at: &[(&str, &str)], name: &str, (column, from): (&str, f64)) -> Series {
    let mut steps = Series::new(name, Style::Steps);
    if let Some(table) = runs.table(at, "c1", "window") {
        let points = table.points("time_s", column).into_iter();
        steps.points = points.map(|(time, height)| (time - from, height)).collect();
    }
    steps.thinned(SLICES)
}

/// Figure 3.
fn windows(results: &Results, flavour: &str) -> Figure {
    let runs = Runs::of(results, "window");
    let series = |version| {
        let at = [("flavour", flavour), ("version", version), ("loss", "0.1 %")];
        steps(&runs, &at, version, ("window", 0.0))
    };
    let letter = match flavour {
        "NewReno" => "3a",
        "Cubic" => "3b",
        _ => "3c",
    };
    Figure {
        id: format!("window-{}", flavour.to_lowercase()),
        ..WORDS.figure(
            "windows",
            &[("flavour", &flavour), ("letter", &letter)],
            vec![series("Simple1"), series("Smart")],
        )
    }
}

/// Section 4.1 on Compound's second window.
fn delay_windows(results: &Results) -> Figure {
    let runs = Runs::of(results, "window");
    let series = |version| {
        let at = [("flavour", "Compound"), ("version", version), ("loss", "0.1 %")];
        steps(&runs, &at, version, ("delay_window", 0.0))
    };
    WORDS.figure("window-delay", &[], vec![series("Simple1"), series("Smart")])
}

/// Stretches of congestion avoidance, laid upon each other.
fn growths(results: &Results) -> Figure {
    const ROUNDS: f64 = 30.0;
    let runs = Runs::of(results, "shape");
    let dots = |flavour| {
        let at = [("flavour", flavour), ("version", "Smart"), ("loss", "0.2 %")];
        let mut dots = Series::new(flavour, Style::Dots);
        let tables = (runs.table(&at, "c1", "window"), runs.table(&at, "c1", "rto"));
        if let (Some(window), Some(rto)) = tables {
            let all = growth::stretches(window, rto, runs.table(&at, "c1", "recoveries"));
            let since = |stretch: growth::Stretch| {
                let first = stretch.first().map_or(0.0, |first| first.1);
                stretch.into_iter().map(move |(round, window)| (round, window - first))
            };
            let all = all.into_iter().flat_map(since);
            dots.points = all.filter(|(round, _)| *round <= ROUNDS).collect();
            dots.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        dots.thinned(SLICES)
    };
    let line = |name, slope| {
        let mut line = Series::new(name, Style::Reference);
        line.points = vec![(0.0, 0.0), (ROUNDS, slope * ROUNDS)];
        line
    };
    WORDS.figure(
        "growth",
        &[],
        vec![
            dots("NewReno"),
            dots("Cubic"),
            line("one per round", 1.0),
            line("a third per round", 1.0 / 3.0),
        ],
    )
}

/// The paper's surprise, with every reading of Compound.
fn compounds(results: &Results) -> Figure {
    let runs = Runs::of(results, "compound");
    let bars = |mode| {
        let gains = LOSSES.map(|loss| compound::gain(&runs, (COMPOUND.name, mode), loss));
        Series::means(mode, Style::Bars, gains)
    };
    let mut series: Vec<_> = COMPOUND.names().into_iter().map(bars).collect();
    series.push(Series::level("no gain", 1.0, LOSSES.len()));
    WORDS.figure("compound", &[], series).over(LOSSES)
}

/// Figure 5.
fn recoveries(results: &Results) -> Figure {
    let runs = Runs::of(results, "burst");
    let line = |(version, flavour): (&str, &str)| {
        let all = (1..=4).map(|losses| {
            let times = burst::after(&runs, flavour, version, losses, burst::duration);
            scaled(times, 1e3)
        });
        Series::means(&format!("{version}, {flavour}"), Style::Line, all)
    };
    let pairs = ["Simple2", "Smart"].into_iter().flat_map(|it| FLAVOURS.map(|other| (it, other)));
    WORDS.figure("recovery", &[], pairs.map(line).collect()).over(1..=4)
}

/// Figure 6.
fn bursts(results: &Results, version: &str) -> Figure {
    let runs = Runs::of(results, "burst-window");
    let windows = ["NewReno", "Cubic"].map(|flavour| {
        let at = [("flavour", flavour), ("version", version)];
        let mut window = Series::new(flavour, Style::Steps);
        if let Some(table) = runs.table(&at, "c1", "window") {
            let all = table.points("time_s", "window").into_iter();
            window.points = all.filter(|(time, _)| (303.0..=323.0).contains(time)).collect();
        }
        window.thinned(SLICES)
    });
    let letter = if version == "Simple2" { "6a" } else { "6b" };
    Figure {
        id: format!("burst-{}", version.to_lowercase()),
        ..WORDS.figure("bursts", &[("version", &version), ("letter", &letter)], windows.into())
    }
}

/// Effect of two servers at different distances on each version.
fn sources(results: &Results) -> Figure {
    let runs = Runs::of(results, "sources");
    let bars = |version| {
        let of = |flavour| runs.values(&[("flavour", flavour), ("version", version)], "c1.time_s");
        Series::means(version, Style::Bars, FLAVOURS.map(of))
    };
    WORDS
        .figure("sources", &[], vec![bars("Simple1"), bars("Simple3"), bars("Smart")])
        .over(FLAVOURS)
}

/// Bars of both clients at each load, with each scheduler.
fn by_client(results: &Results, metric: &str) -> Vec<Series> {
    let runs = Runs::of(results, "fairness");
    let bars = |(name, fairness)| {
        let of = |client| LOADS.map(|load| share::of(&runs, client, (fairness, load), metric));
        Series::means(name, Style::Bars, ["c1", "c2"].into_iter().flat_map(of))
    };
    [("without", "off"), ("max-min", "max-min"), ("deficit round robin", "drr")].map(bars).into()
}

fn clients() -> impl Iterator<Item = String> {
    let at = ["Client 1", "Client 2"].into_iter();
    at.flat_map(|client| LOADS.map(|load| format!("{client}, {load}")))
}

/// The paper's values without and with fairness, each on its bars: of Client 1 at no load and at 80 %, then of Client 2.
fn paper(without: [f64; 4], with: [f64; 4]) -> [Series; 2] {
    let crosses = |ours, before, values: [f64; 4]| {
        let places = [0, 3, 4, 7].map(|place| bar(place, before, 3));
        let points = places.into_iter().zip(values).collect();
        Series { points, ..Series::paper_of(ours) }
    };
    [crosses("without", 0, without), crosses("max-min", 1, with)]
}

/// Table 3.
fn fairness(results: &Results) -> Figure {
    let mut series = by_client(results, "time_s");
    series.extend(paper([24.19, 230.13, 23.43, 208.44], [24.19, 180.5, 23.43, 209.44]));
    WORDS.figure("fairness", &[], series).over(clients())
}

/// Table 3's last column.
fn losses(results: &Results) -> Figure {
    let mut series = by_client(results, share::LOSSES);
    series.extend(paper([0.0, 26.0, 0.0, 0.0], [0.0; 4]));
    WORDS.figure("fairness-loss", &[], series).over(clients())
}
