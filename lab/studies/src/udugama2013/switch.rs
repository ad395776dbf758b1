//! Section 4.3 as a map: where the near part begins, over rates and round trips.
//!
//! The paper does not state after how much of the file the near part begins. At that moment the window is a share of
//! what link and round trip hold (the bandwidth-delay product, BDP). Below one, the near Data comes in one run, ahead of
//! all that is in flight; far above, near and far Data alternate on the full link.
use super::axis::{CACHED, FLAVOUR, VERSION};
use super::near;
use super::open::Place;
use super::runs::Runs;
use super::scenario::{Section, sweep};
use crate::figure::{Figure, Series, Style};
use crate::result::Results;
use crate::rule::mean_of;
use crate::study::{Dependence, Experiment, Scale};
use crate::sweep::axis;
use recoup_sim::statistic::Seeded;
use std::sync::LazyLock;

const SWITCH: &str = "switch";
const REFERENCES: &str = "switch-references";
const PATH: &str = "path";

const RATES_MBIT: [u32; 3] = [10, 20, 50];
const FIRSTS: [u32; 5] = [100, 300, 1000, 3000, 10_000];
/// Delays of a link: a sixth of 60 and 150 ms.
const DELAYS_MS: [u32; 2] = [10, 25];

/// Records of the map: it has many runs.
const RECORDS: &[&str] = &["window(every=100ms)", "rto(every=100ms)", "recoveries"];

/// A path, and the first segment that is near.
struct Cell {
    label: String,
    path: String,
    rate_mbit: u32,
    delay_ms: u32,
    first: u32,
}

impl Cell {
    fn fields(&self) -> String {
        let Self { rate_mbit, delay_ms, .. } = self;
        let soft = 3 * delay_ms;
        format!(
            "\"link.rate\" = \"{rate_mbit} Mbit/s\"\n\"link.delay\" = \"{delay_ms} ms\"\n\
             \"node.suppression\" = \"soft-hard(soft={soft}ms)\"\n"
        )
    }

    /// Data packets of 1100 bytes that link and round trip hold.
    fn bdp(&self) -> f64 {
        f64::from(self.rate_mbit) * 1e6 * f64::from(6 * self.delay_ms) / 1e3 / 8800.0
    }
}

static CELLS: LazyLock<Vec<Cell>> = LazyLock::new(|| {
    let mut cells = Vec::new();
    for rate_mbit in RATES_MBIT {
        for delay_ms in DELAYS_MS {
            for first in FIRSTS {
                let path = format!("{rate_mbit} Mbit/s, {} ms", 6 * delay_ms);
                let label = format!("{path}, from {first}");
                cells.push(Cell { label, path, rate_mbit, delay_ms, first });
            }
        }
    }
    cells
});

/// The experiments: each cell, and each path with nothing and with everything near.
pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let is_small = scale == Scale::Smoke;
    let seeds = if is_small { 1 } else { 20 };
    // Small runs only show that everything works: the cell of Figure 7 does.
    let wanted = |cell: &&Cell| !is_small || cell.label == SHOWN;
    let cells = axis(
        SWITCH,
        CELLS.iter().filter(wanted).map(|cell| {
            let near = format!("\"applications.warm\" = {{ first = {} }}\n", cell.first);
            (cell.label.as_str(), cell.fields() + &near)
        }),
    );
    // The first of a path's cells stands for it.
    let of_path = |cell: &&Cell| if is_small { wanted(cell) } else { cell.first == FIRSTS[0] };
    let paths = CELLS.iter().filter(of_path);
    let paths = axis(PATH, paths.map(|cell| (cell.path.as_str(), cell.fields())));
    let experiment = |name, axes: [String; 4]| {
        let scenario = Section::Caching.scenario(scale) + &sweep(scale, &axes);
        Experiment { curves: Some((seeds, RECORDS)), ..Experiment::new(name, scenario, 0) }
    };
    let cubic = || FLAVOUR.only(&["Cubic"]);
    vec![
        experiment(
            SWITCH,
            [cubic(), VERSION.only(&["Simple3", "Smart"]), CACHED.only(&[near::PART]), cells],
        ),
        experiment(
            REFERENCES,
            [cubic(), VERSION.only(&["Smart"]), CACHED.only(&["nothing", "everything"]), paths],
        ),
    ]
}

/// The runs of a cell, and those of its path.
fn runs<'a>(results: &'a Results, cell: &'static Cell) -> [Runs<'a>; 2] {
    let place = |experiment, axis, value| Place { experiment, rest: Some((axis, value)) };
    [
        Runs { results, place: place(SWITCH, SWITCH, cell.label.as_str()) },
        Runs { results, place: place(REFERENCES, PATH, cell.path.as_str()) },
    ]
}

/// The cell of Figure 7: the assumed path, and the near part from this segment on.
const SHOWN: &str = "10 Mbit/s, 150 ms, from 1000";
/// Seconds before and after the switch that Figure 7 shows.
const AROUND_S: [f64; 2] = [-2.0, 8.0];

/// Figure 7: windows around the switch.
pub(super) fn window(results: &Results, version: &str) -> Figure {
    let mut series = Vec::new();
    if let Some(cell) = CELLS.iter().find(|cell| cell.label == SHOWN) {
        let [part, references] = runs(results, cell);
        // A small file ends before that segment.
        let at = near::switch_of_first_run(&part, version, f64::from(cell.first)).or_else(|| {
            let window = near::window_of_first_run(&part, version, near::PART);
            window.first().map(|(time, _)| *time)
        });
        let curve = |name: &str, runs: &Runs<'_>, version, cached| {
            let mut curve = Series::new(name, Style::Steps);
            let points = near::window_of_first_run(runs, version, cached).into_iter();
            let around = points.map(|(time, window)| (time - at.unwrap_or_default(), window));
            curve.points =
                around.filter(|(time, _)| (AROUND_S[0]..=AROUND_S[1]).contains(time)).collect();
            curve
        };
        series = vec![
            curve("from segment 1000 on", &part, version, near::PART),
            // Without overtaking Data, all versions have one window.
            curve("nothing", &references, "Smart", "nothing"),
            curve("everything", &references, "Smart", "everything"),
        ];
    }
    let letter = if version == "Simple3" { "7a" } else { "7b" };
    Figure {
        id: format!("caching-{}", version.to_lowercase()),
        ..super::draw::WORDS.figure("window", &[("version", &version), ("letter", &letter)], series)
    }
}

/// The window over the bandwidth-delay product when the first near Data comes.
fn filled(runs: &Runs<'_>, cell: &Cell, version: &str) -> Vec<Seeded> {
    let windows = near::windows_at_switch(runs, version, f64::from(cell.first));
    windows.into_iter().map(|(seed, window)| (seed, window / cell.bdp())).collect()
}

/// The findings of each cell, with its window over the bandwidth-delay product.
pub(super) fn dependences(results: &Results) -> Vec<Dependence> {
    let line = |cell: &'static Cell| {
        let [part, references] = runs(results, cell);
        let filled = mean_of(&filled(&part, cell, "Smart"));
        let filled = filled.map_or_else(String::new, |it| format!("; window/BDP {it:.2}"));
        let first = f64::from(cell.first);
        Dependence {
            parameter: "path, and the first near segment",
            value: format!("{}{filled}", cell.label).into(),
            is_assumed: false,
            findings: vec![
                ("D-19", near::simple3_falls_for_it(&part)),
                ("D-20", near::smart_falls_later(&part)),
                ("D-21", near::smart_changes_over(&part, &references, first)),
            ],
        }
    };
    CELLS.iter().map(line).collect()
}

/// The map as a figure.
pub(super) fn map(results: &Results) -> Figure {
    let dots = |version: &&str| {
        let mut series = Series::new(version, Style::Dots);
        for cell in CELLS.iter() {
            let [part, _] = runs(results, cell);
            let place = mean_of(&filled(&part, cell, version));
            series.points.extend(place.zip(mean_of(&near::entries(&part, version))));
        }
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        series
    };
    Figure {
        id: SWITCH.into(),
        ..super::draw::WORDS.figure("map", &[], ["Simple3", "Smart"].iter().map(dots).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Finding;

    #[test]
    fn cells_are_all_pairs_of_path_and_segment() {
        assert_eq!(CELLS.len(), RATES_MBIT.len() * DELAYS_MS.len() * FIRSTS.len());
        let cell = CELLS.iter().find(|it| it.label == "10 Mbit/s, 150 ms, from 1000").unwrap();
        assert!((cell.bdp() - 170.5).abs() < 0.1, "{}", cell.bdp());
    }

    #[test]
    fn findings_without_runs_are_open() {
        let all = dependences(&Results::default());
        assert_eq!(all.len(), CELLS.len());
        let is_open = |it: &Finding| it.outcome == crate::claim::Outcome::Open;
        assert!(all.iter().all(|line| line.findings.iter().all(|(_, it)| is_open(it))));
        assert!(!map(&Results::default()).shows_ours());
    }
}
