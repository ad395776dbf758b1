//! What the paper leaves open: the map of set-ups, and single things that are different.
use super::axis::{Scenario, TIMERS, axis, hops, sides, timers};
use super::scenario::{Size, followed, scenario, seeds};
use super::setup::{NAMED, PIPELINES, PROCESSINGS, RADIOS, SEGMENTS, Setup};
use crate::study::{Experiment, Scale};
use std::sync::LazyLock;

/// One thing that is different.
#[derive(Debug)]
pub(super) struct Open {
    /// What is open.
    pub parameter: &'static str,
    /// How it is.
    pub value: &'static str,
    change: Change,
}

#[derive(Debug)]
enum Change {
    /// The set-up is that one.
    Setup(Setup),
    /// These fields are different, too.
    Fields(&'static str),
}

/// Every single thing that is tried.
pub(super) static OPEN: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let setup = |parameter, value, setup| Open { parameter, value, change: Change::Setup(setup) };
    let mut all = vec![setup("nothing", "everything as assumed", NAMED)];
    for radio in RADIOS.into_iter().filter(|it| *it != NAMED.radio) {
        all.push(setup("rate, and who senses whom", radio, Setup { radio, ..NAMED }));
    }
    for segment in SEGMENTS.into_iter().filter(|it| *it != NAMED.segment) {
        all.push(setup("content of a segment", segment, Setup { segment, ..NAMED }));
    }
    for pipeline in PIPELINES.into_iter().filter(|it| *it != NAMED.pipeline) {
        all.push(setup("pipeline", pipeline, Setup { pipeline, ..NAMED }));
    }
    for processing in PROCESSINGS.into_iter().filter(|it| *it != NAMED.processing) {
        all.push(setup(
            "time of a node for each packet",
            processing,
            Setup { processing, ..NAMED },
        ));
    }
    all.extend(FIELDS.into_iter().map(|(parameter, value, fields)| Open {
        parameter,
        value,
        change: Change::Fields(fields),
    }));
    all
});

/// What is not part of a set-up.
const FIELDS: [(&str, &str, &str); 8] = [
    (
        "what the pipeline counts",
        "Interests under way",
        r#""fetch.congestion.accounting" = "outstanding""#,
    ),
    ("RTS/CTS", "before every frame", r#""wifi.rts" = "1 B""#),
    ("slot", "9 µs", r#""wifi.standard" = "g-short""#),
    ("capture", "from 5 dB on", r#""wifi.capture" = "5 dB""#),
    ("error model", "NIST", r#""wifi.errors" = "nist""#),
    ("late Data", "is dropped", r#""node.unsolicited" = "drop""#),
    (
        "an Interest asked again",
        "waits 0.5 s at a node",
        r#""node.suppression" = "soft-hard(soft=500ms)""#,
    ),
    ("an Interest asked again", "waits as in NFD", r#""node.suppression" = "same-face-retx""#),
];

/// Scenario 1 at three hops, at every point of the map.
pub(super) static MAP: LazyLock<Vec<(String, Setup)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for radio in RADIOS {
        for segment in SEGMENTS {
            for pipeline in PIPELINES {
                for processing in PROCESSINGS {
                    let label = format!("{radio}, {segment}, pipeline {pipeline}, {processing}");
                    all.push((label, Setup { radio, segment, pipeline, processing }));
                }
            }
        }
    }
    all
});

impl Open {
    /// As the axis of set-ups calls it.
    pub(super) fn label(&self) -> String {
        format!("{}: {}", self.parameter, self.value)
    }

    /// Nothing is different.
    pub(super) fn is_assumed(&self) -> bool {
        matches!(self.change, Change::Setup(setup) if setup == NAMED)
    }

    fn fields(&self, scenario: Scenario) -> String {
        let (setup, more) = match &self.change {
            Change::Setup(setup) => (*setup, ""),
            Change::Fields(fields) => (NAMED, *fields),
        };
        let beside = if scenario == Scenario::Sides { sides(&setup, 1) } else { String::new() };
        setup.fields() + &beside + more
    }
}

/// Figures that need the map.
const OF_MAP: &[&str] = &["map"];
/// Figures that need single things to be different.
const OF_OPEN: &[&str] = &["open"];

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let experiment = |name, serves, scenario| Experiment {
        name,
        serves,
        scenario,
        files: &[],
        seeds: seeds(scale),
        curves: None,
    };
    let place = |place, chosen: &[&'static str]| {
        // Small runs only show that everything works: a few values do.
        let every = if scale == Scale::Smoke { 9 } else { 1 };
        let values = OPEN.iter().step_by(every).map(|it| (it.label(), it.fields(place)));
        let values: Vec<_> = values.collect();
        let values = axis("setup", values.iter().map(|(label, it)| (label.as_str(), it.clone())));
        let axes = [timers(&TIMERS), hops(place, &NAMED, chosen), values];
        scenario(&axes, Size::of_many(scale))
    };
    let every = if scale == Scale::Smoke { 35 } else { 1 };
    let map = MAP.iter().step_by(every).map(|(label, setup)| (label.as_str(), setup.fields()));
    let map = [timers(&TIMERS), hops(Scenario::One, &NAMED, &["3"]), axis("setup", map)];
    vec![
        experiment("open-one", OF_OPEN, place(Scenario::One, &["2", "3", "5"])),
        experiment("open-row", OF_OPEN, place(Scenario::Row, &["5"])),
        experiment("open-side", OF_OPEN, followed(&place(Scenario::Sides, &["1"]))),
        experiment("map", OF_MAP, scenario(&map, Size::of_many(scale))),
    ]
}
