//! Figures of what the paper leaves open: the number that each section is about, over the values tried.
use crate::figure::{Axis, Figure, Series, Style};
use crate::result::Results;
use crate::rule::scaled;
use crate::udugama2013::open::{OPEN, Open};
use crate::udugama2013::runs::Runs;
use crate::udugama2013::scenario::Section;
use crate::udugama2013::{burst, growth, near, share, single};
use recoup_sim::statistic::Seeded;

pub(super) fn figures(results: &Results) -> impl Iterator<Item = Figure> {
    OPEN.iter().filter(|open| tried(open, results)).map(move |open| figure(open, results))
}

/// Some other value than the assumed one has results.
fn tried(open: &Open, results: &Results) -> bool {
    let rows = results.experiments.get(open.experiment);
    let curves = results.curves.keys().any(|(experiment, _)| experiment == open.experiment);
    curves || rows.is_some_and(|rows| !rows.is_empty())
}

fn figure(open: &Open, results: &Results) -> Figure {
    let values = open.axis.names();
    let setups = || {
        let runs = |value: &&'static str| Runs { results, place: open.place(value) };
        values.iter().map(runs)
    };
    let line = |name: &str, of: &dyn Fn(&Runs<'_>) -> Vec<Seeded>| {
        Series::means(name, Style::Line, setups().map(|runs| of(&runs)))
    };
    let (y, caption, series) = drawn(open.section, &line, values.len());
    Figure {
        id: open.experiment.into(),
        title: format!("What the paper leaves open: {}", open.parameter),
        caption: format!("{caption} Assumed elsewhere: {}.", open.assumed),
        x: Axis::places(open.parameter, &values),
        y,
        series,
    }
}

type Line<'a> = dyn Fn(&str, &dyn Fn(&Runs<'_>) -> Vec<Seeded>) -> Series + 'a;

/// The axis, its label, and the lines of a section.
fn drawn(section: Section, line: &Line<'_>, count: usize) -> (Axis, &'static str, Vec<Series>) {
    match section {
        Section::Single => {
            let gain = |flavour: &'static str| {
                line(flavour, &move |runs| single::gain(runs, flavour, "0.2 %"))
            };
            let series = vec![gain("NewReno"), gain("Cubic"), Series::level("no gain", 1.0, count)];
            let caption = "Time of Simple1 over time of Smart with 0.2 % single losses, mean over paired seeds.";
            (Axis::quantity("Simple1 / Smart", ""), caption, series)
        }
        Section::Growth => {
            let at = |loss: &'static str| line(loss, &move |runs| growth::first_growth(runs, loss));
            let series = vec![
                at("0.1 %"),
                at("0.2 %"),
                at("0.5 %"),
                Series::level("a third", 1.0 / 3.0, count),
            ];
            let caption = "Cubic's growth in the first five rounds after a loss, by rate of loss.";
            (Axis::quantity("segments per round trip", ""), caption, series)
        }
        Section::Burst => {
            let time = |version: &'static str, losses: usize| {
                let name = format!("{version}, {losses}");
                line(&name, &move |runs| {
                    let times = burst::after(runs, "NewReno", version, losses, burst::duration);
                    scaled(times, 1e3)
                })
            };
            let series =
                vec![time("Simple2", 1), time("Simple2", 4), time("Smart", 1), time("Smart", 4)];
            let caption = "Time in fast recovery after one and after four losses, NewReno.";
            (Axis::quantity("time in fast recovery", "ms"), caption, series)
        }
        Section::Caching | Section::Sources => {
            let entries =
                |version: &'static str| line(version, &move |runs| near::entries(runs, version));
            let caption = "False entries into fast recovery of a fetch whose latter part is near.";
            let series = vec![entries("Simple3"), entries("Smart")];
            (Axis::quantity("entries into fast recovery", ""), caption, series)
        }
        Section::Fairness | Section::Unloaded => {
            let load = if section == Section::Fairness { "80 %" } else { "0 %" };
            let time = |name: &str, client: &'static str, fairness: &'static str| {
                line(name, &move |runs| share::of(runs, client, (fairness, load), "time_s"))
            };
            let series = vec![
                time("Client 1, without", "c1", "off"),
                time("Client 1, max-min", "c1", "max-min"),
                time("Client 2, without", "c2", "off"),
                time("Client 2, max-min", "c2", "max-min"),
            ];
            (
                Axis::quantity("time", "s"),
                match section {
                    Section::Fairness => "Time to fetch 20 MB at a background load of 80 %.",
                    _ => "Time to fetch 20 MB without background traffic.",
                },
                series,
            )
        }
    }
}
