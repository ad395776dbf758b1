//! The paper's figures, and ours, from results.
mod open;

use super::axis::{CACHED, COMPOUND, FLAVOURS, LOADS, LOSSES};
use super::runs::World;
use super::{burst, compound, growth, share, single};
use crate::figure::{Axis, Figure, Series, Style};
use crate::result::Results;
use crate::rule::estimate;
use recoup_sim::statistic::Seeded;

/// No screen shows more of a curve.
const SLICES: usize = 600;

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut figures = vec![times(results), gains(results)];
    figures.extend(["NewReno", "Compound", "Cubic"].map(|flavour| windows(results, flavour)));
    figures.extend([delay_windows(results), growths(results), compounds(results)]);
    figures.extend([recoveries(results), bursts(results, "Simple2"), bursts(results, "Smart")]);
    figures.extend([caching(results, "Simple3"), caching(results, "Smart")]);
    figures.extend([sources(results), fairness(results), losses(results)]);
    figures.extend(open::figures(results));
    figures.retain(|figure| figure.series.iter().any(|it| is_ours(it) && !it.points.is_empty()));
    figures
}

fn is_ours(series: &Series) -> bool {
    !matches!(series.style, Style::Paper | Style::Reference)
}

fn names(values: &[&str]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

fn quantity(label: &str, unit: &str) -> Axis {
    Axis { label: label.into(), unit: unit.into(), ..Axis::default() }
}

fn places(label: &str, values: &[&str]) -> Axis {
    Axis { label: label.into(), categories: names(values), ..Axis::default() }
}

/// Puts the mean of some values, with its interval, at a place.
fn put(series: &mut Series, place: usize, values: &[Seeded]) {
    if let Some(estimate) = estimate(values) {
        series.points.push((place as f64, estimate.mean));
        series.errors.push(estimate.half_width);
    }
}

/// A series of means, one at each place.
fn means(name: &str, style: Style, all: impl IntoIterator<Item = Vec<Seeded>>) -> Series {
    let mut series = Series::new(name, style);
    all.into_iter().enumerate().for_each(|(place, values)| put(&mut series, place, &values));
    series
}

/// A line at one height over so many places.
fn level(name: &str, height: f64, places: usize) -> Series {
    let mut line = Series::new(name, Style::Reference);
    line.points = vec![(-0.5, height), (places as f64 - 0.5, height)];
    line
}

/// Figure 4.
fn times(results: &Results) -> Figure {
    let world = World::of(results, "single");
    let points = || FLAVOURS.into_iter().flat_map(|it| LOSSES.map(|loss| (it, loss)));
    let series = |version| {
        let all = points().map(|(flavour, loss)| single::time(&world, flavour, version, loss));
        means(version, Style::Bars, all)
    };
    let name = |(flavour, loss): (&str, &str)| format!("{flavour} {}", loss.trim_end_matches(" %"));
    let at: Vec<_> = points().map(name).collect();
    Figure {
        id: "time".into(),
        title: "Time to fetch 20 MB with single losses (Fig. 4)".into(),
        caption: "Bars: mean over seeds with its 95 % confidence interval. Simple1 learns of losses from timers \
                  alone, Smart from the order in which Data arrives."
            .into(),
        x: Axis { label: "window and rate of loss in %".into(), categories: at, ..Axis::default() },
        y: quantity("time", "s"),
        series: vec![series("Simple1"), series("Smart")],
    }
}

/// What Figure 4 says of the gain.
fn gains(results: &Results) -> Figure {
    let world = World::of(results, "single");
    let line = |flavour| {
        means(flavour, Style::Line, LOSSES.map(|loss| single::gain(&world, flavour, loss)))
    };
    let mut series: Vec<_> = FLAVOURS.map(line).into();
    series.push(level("no gain", 1.0, LOSSES.len()));
    Figure {
        id: "gain".into(),
        title: "How much longer timers alone take (Fig. 4)".into(),
        caption: "Time of Simple1 over time of Smart, mean over paired seeds. Below 1 fast recovery does harm."
            .into(),
        x: places("rate of loss", &LOSSES),
        y: quantity("Simple1 / Smart", ""),
        series,
    }
}

/// The change of a column over time, from a run with records.
fn steps(
    world: &World<'_>,
    at: &[(&str, &str)],
    name: &str,
    (column, from): (&str, f64),
) -> Series {
    let mut steps = Series::new(name, Style::Steps);
    if let Some(table) = world.table(at, "c1", "window") {
        let points = table.points("time_s", column).into_iter();
        steps.points = points.map(|(time, height)| (time - from, height)).collect();
    }
    steps.thinned(SLICES)
}

/// Figure 3.
fn windows(results: &Results, flavour: &str) -> Figure {
    let world = World::of(results, "window");
    let series = |version| {
        let at = [("flavour", flavour), ("version", version), ("loss", "0.1 %")];
        steps(&world, &at, version, ("window", 0.0))
    };
    let letter = match flavour {
        "NewReno" => "3a",
        "Cubic" => "3b",
        _ => "3c",
    };
    Figure {
        id: format!("window-{}", flavour.to_lowercase()),
        title: format!("Window of {flavour} with 0.1 % single losses (Fig. {letter})"),
        caption: "One run of each. Simple1 falls to 1 at each loss; Smart's peaks are its fast recovery, after \
                  which it goes on from the threshold."
            .into(),
        x: quantity("time", "s"),
        y: quantity("window", "segments"),
        series: vec![series("Simple1"), series("Smart")],
    }
}

/// Section 4.1 on Compound's second window.
fn delay_windows(results: &Results) -> Figure {
    let world = World::of(results, "window");
    let series = |version| {
        let at = [("flavour", "Compound"), ("version", version), ("loss", "0.1 %")];
        steps(&world, &at, version, ("delay_window", 0.0))
    };
    Figure {
        id: "window-delay".into(),
        title: "Delay window of Compound with 0.1 % single losses (section 4.1)".into(),
        caption:
            "One run of each: dwnd, the part of the window that grows while round trips stay short."
                .into(),
        x: quantity("time", "s"),
        y: quantity("delay window", "segments"),
        series: vec![series("Simple1"), series("Smart")],
    }
}

/// Stretches of congestion avoidance, laid upon each other.
fn growths(results: &Results) -> Figure {
    const ROUNDS: f64 = 30.0;
    let world = World::of(results, "shape");
    let dots = |flavour| {
        let at = [("flavour", flavour), ("version", "Smart"), ("loss", "0.2 %")];
        let mut dots = Series::new(flavour, Style::Dots);
        let tables = (world.table(&at, "c1", "window"), world.table(&at, "c1", "rto"));
        if let (Some(window), Some(rto)) = tables {
            let all = growth::stretches(window, rto, world.table(&at, "c1", "recoveries"));
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
    Figure {
        id: "growth".into(),
        title: "Growth in congestion avoidance, 0.2 % single losses (Figs. 3a, 3b)".into(),
        caption: "One run of each with Smart: every stretch between two losses, from its begin. The paper's \
                  growth is one segment per round for NewReno, a third at first for Cubic."
            .into(),
        x: quantity("round trips", ""),
        y: quantity("window since the stretch began", "segments"),
        series: vec![
            dots("NewReno"),
            dots("Cubic"),
            line("one per round", 1.0),
            line("a third per round", 1.0 / 3.0),
        ],
    }
}

/// The paper's surprise, with every reading of Compound.
fn compounds(results: &Results) -> Figure {
    let world = World::of(results, "compound");
    let bars = |mode| {
        let gains = LOSSES.map(|loss| compound::gain(&world, (COMPOUND.name, mode), loss));
        means(mode, Style::Bars, gains)
    };
    let mut series: Vec<_> = COMPOUND.names().into_iter().map(bars).collect();
    series.push(level("no gain", 1.0, LOSSES.len()));
    Figure {
        id: "compound".into(),
        title: "How much longer timers alone take, by reading of Compound".into(),
        caption:
            "Time of Simple1 over time of Smart, mean over paired seeds. The paper has it below 1."
                .into(),
        x: places("rate of loss", &LOSSES),
        y: quantity("Simple1 / Smart", ""),
        series,
    }
}

const COUNTS: [&str; 4] = ["1", "2", "3", "4"];

/// Figure 5.
fn recoveries(results: &Results) -> Figure {
    let world = World::of(results, "burst");
    let line = |(version, flavour): (&str, &str)| {
        let all = (1..=4).map(|losses| {
            let times = burst::after(&world, flavour, version, losses, burst::duration);
            times.into_iter().map(|(seed, time)| (seed, 1e3 * time)).collect()
        });
        means(&format!("{version}, {flavour}"), Style::Line, all)
    };
    let pairs = ["Simple2", "Smart"].into_iter().flat_map(|it| FLAVOURS.map(|other| (it, other)));
    Figure {
        id: "recovery".into(),
        title: "Time in fast recovery after a burst of losses (Fig. 5)".into(),
        caption: "Mean over seeds with its 95 % confidence interval. Simple2 repairs one hole in a round trip, \
                  Smart all of them at once."
            .into(),
        x: places("losses in the burst", &COUNTS),
        y: quantity("time in fast recovery", "ms"),
        series: pairs.map(line).collect(),
    }
}

/// Figure 6.
fn bursts(results: &Results, version: &str) -> Figure {
    let world = World::of(results, "burst-window");
    let at = [("flavour", "NewReno"), ("version", version)];
    let mut window = Series::new("NewReno", Style::Steps);
    if let Some(table) = world.table(&at, "c1", "window") {
        let all = table.points("time_s", "window").into_iter();
        window.points = all.filter(|(time, _)| (303.0..=323.0).contains(time)).collect();
    }
    let letter = if version == "Simple2" { "6a" } else { "6b" };
    Figure {
        id: format!("burst-{}", version.to_lowercase()),
        title: format!("Window around bursts of 1, 2, 3 and 4 losses, {version} (Fig. {letter})"),
        caption:
            "One run. The bursts begin at 305, 310, 315 and 320 s; the peaks are fast recovery."
                .into(),
        x: quantity("time", "s"),
        y: quantity("window", "segments"),
        series: vec![window.thinned(SLICES)],
    }
}

/// Figure 7.
fn caching(results: &Results, version: &str) -> Figure {
    let world = World::of(results, "caching");
    let series = |cached| {
        let at = [("flavour", "Cubic"), ("version", version), ("cached", cached)];
        steps(&world, &at, &format!("near: {cached}"), ("window", 30.0))
    };
    let letter = if version == "Simple3" { "7a" } else { "7b" };
    Figure {
        id: format!("caching-{}", version.to_lowercase()),
        title: format!("Window of Cubic with a part of the file near, {version} (Fig. {letter})"),
        caption: "One run of each, without loss. Where Data of the near part overtakes the rest, every fast \
                  recovery is a false one."
            .into(),
        x: quantity("time since the start", "s"),
        y: quantity("window", "segments"),
        series: CACHED.names().into_iter().map(series).collect(),
    }
}

/// What two servers at different distances do to each version.
fn sources(results: &Results) -> Figure {
    let world = World::of(results, "sources");
    let bars = |version| {
        let of = |flavour| world.values(&[("flavour", flavour), ("version", version)], "c1.time_s");
        means(version, Style::Bars, FLAVOURS.map(of))
    };
    Figure {
        id: "sources".into(),
        title: "Time to fetch 20 MB from two servers at once, without loss".into(),
        caption: "Mean over seeds with its 95 % confidence interval. Router 1 asks a server 40 ms away and one \
                  70 ms away in turn, so Data comes out of order all the time."
            .into(),
        x: places("window", &FLAVOURS),
        y: quantity("time", "s"),
        series: vec![bars("Simple1"), bars("Simple3"), bars("Smart")],
    }
}

/// Bars of both clients at each load, with each scheduler.
fn by_client(results: &Results, metric: &str) -> Vec<Series> {
    let world = World::of(results, "fairness");
    let bars = |(name, fairness)| {
        let of = |client| LOADS.map(|load| share::of(&world, client, (fairness, load), metric));
        means(name, Style::Bars, ["c1", "c2"].into_iter().flat_map(of))
    };
    [("without", "off"), ("max-min", "max-min"), ("deficit round robin", "drr")].map(bars).into()
}

fn clients() -> Axis {
    let at = ["Client 1", "Client 2"].into_iter();
    let at = at.flat_map(|client| LOADS.map(|load| format!("{client}, {load}")));
    Axis { label: "client and background load".into(), categories: at.collect(), ..Axis::default() }
}

/// The paper's values without and with fairness, on the bars that they belong to: of Client 1 at no load and at
/// 80 %, then of Client 2.
fn paper(values: [[f64; 2]; 4]) -> Series {
    let mut series = Series::new("the paper", Style::Paper);
    for (place, [without, with]) in [0.0, 3.0, 4.0, 7.0].into_iter().zip(values) {
        // Three bars take 0.7 of the room of a name.
        series.points.extend([(place - 0.7 / 3.0, without), (place, with)]);
    }
    series
}

/// Table 3.
fn fairness(results: &Results) -> Figure {
    let mut series = by_client(results, "time_s");
    series.push(paper([[24.19, 24.19], [230.13, 180.5], [23.43, 23.43], [208.44, 209.44]]));
    Figure {
        id: "fairness".into(),
        title: "Time to fetch 20 MB beside background traffic (Table 3)".into(),
        caption: "Bars: mean over seeds with its 95 % confidence interval; NewReno with Smart. Crosses: the \
                  paper's table, without and with fairness."
            .into(),
        x: clients(),
        y: quantity("time", "s"),
        series,
    }
}

/// Table 3's last column.
fn losses(results: &Results) -> Figure {
    let mut series = by_client(results, share::LOSSES);
    series.push(paper([[0.0; 2], [26.0, 0.0], [0.0; 2], [0.0; 2]]));
    Figure {
        id: "fairness-loss".into(),
        title: "Segments taken for lost beside background traffic (Table 3)".into(),
        caption: "Bars: mean over seeds with its 95 % confidence interval; NewReno with Smart. Crosses: the \
                  paper's table, without and with fairness."
            .into(),
        x: clients(),
        y: quantity("segments asked for again", ""),
        series,
    }
}
