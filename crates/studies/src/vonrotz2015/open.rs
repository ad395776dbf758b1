//! Parameters that the paper leaves open: the map of set-ups, and single changes.
use super::axis::{Scenario, TIMERS, axis, hops, sides, timers};
use super::scenario::{Size, TRACE, followed, scenario, seeds};
use super::setup::{NAMED, PIPELINES, PROCESSINGS, RADIOS, SEGMENTS, Setup};
use crate::study::{Experiment, Scale};
use std::sync::LazyLock;

/// A changed parameter.
#[derive(Debug)]
pub(super) struct Open {
    /// The parameter.
    pub parameter: &'static str,
    /// Its value.
    pub value: &'static str,
    change: Change,
}

#[derive(Debug)]
enum Change {
    /// The whole set-up.
    Setup(Setup),
    /// Fields of the scenario.
    Fields(&'static str),
}

/// All single changes.
pub(super) static OPEN: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let setup = |parameter, value, setup| Open { parameter, value, change: Change::Setup(setup) };
    let mut all = vec![setup("nothing", "everything as assumed", NAMED)];
    for radio in RADIOS.into_iter().filter(|it| *it != NAMED.radio) {
        all.push(setup("rate, and carrier-sense range", radio, Setup { radio, ..NAMED }));
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

/// Name of the parameter for the queue length of a station.
const ROOM: &str = "room of a station";
/// Name of the parameter for the number of tries of an unacknowledged frame.
const TRIES: &str = "tries of a frame";

/// Parameters outside of a set-up.
const FIELDS: [(&str, &str, &str); 12] = [
    (
        "what the pipeline counts",
        "Interests in flight",
        r#""fetch.congestion.accounting" = "outstanding""#,
    ),
    ("RTS/CTS", "before every frame", r#""wifi.rts" = "1 B""#),
    ("slot", "9 µs", r#""wifi.standard" = "g-short""#),
    ("capture", "from 5 dB on", r#""wifi.capture" = "5 dB""#),
    ("error model", "NIST", r#""wifi.errors" = "nist""#),
    ("late Data", "is dropped", r#""node.unsolicited" = "drop""#),
    ("expired Interests", "are looked for every 200 ms", r#""fetch.rto-check" = "200 ms""#),
    (ROOM, "8 frames", r#""wifi.frames" = 8"#),
    (TRIES, "3", r#""wifi.tries" = 3"#),
    (
        "a retransmitted Interest",
        "waits 0.5 s at a node",
        r#""node.suppression" = "soft-hard(soft=500ms)""#,
    ),
    ("a retransmitted Interest", "waits as in NFD", r#""node.suppression" = "same-face-retx""#),
    (
        "pending Interests and late Data",
        "as in CCNx 0.8.2",
        "\"node.suppression\" = \"ccnd(step=125ms)\"\n\"node.unsolicited\" = \"admit\"",
    ),
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
    /// Label on the axis of set-ups.
    pub(super) fn label(&self) -> String {
        format!("{}: {}", self.parameter, self.value)
    }

    /// Whether nothing is changed.
    pub(super) fn is_assumed(&self) -> bool {
        matches!(self.change, Change::Setup(setup) if setup == NAMED)
    }

    /// Point of the map with the same change, if there is one.
    pub(super) fn on_map(&self) -> Option<&'static str> {
        let Change::Setup(setup) = &self.change else { return None };
        MAP.iter().find(|(_, point)| point == setup).map(|(label, _)| label.as_str())
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

/// Figures that need the map, of which some points are single differences.
const OF_MAP: &[&str] = &["map", "open"];
/// Figures that need single changes.
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
    // Small runs only show that everything works: a few values suffice.
    let (some, few) = if scale == Scale::Smoke { (9, 35) } else { (1, 1) };
    let place = |place, chosen: &[&'static str], is_in: &dyn Fn(&Open) -> bool| {
        let values = OPEN.iter().filter(|it| is_in(it)).step_by(some);
        let values: Vec<_> = values.map(|it| (it.label(), it.fields(place))).collect();
        let values = axis("setup", values.iter().map(|(label, it)| (label.as_str(), it.clone())));
        let axes = [timers(&TIMERS), hops(place, &NAMED, chosen), values];
        scenario(&axes, Size::of_many(scale))
    };
    let (any, other) = (|_: &Open| true, |it: &Open| !it.is_assumed());
    let beside = |it: &Open| it.on_map().is_none();
    // Changes that turn A-40, which needs traces, and A-33, which is about two to five hops.
    let (tries, room) = (|it: &Open| it.parameter == TRIES, |it: &Open| it.parameter == ROOM);
    let map = MAP.iter().step_by(few).map(|(label, setup)| (label.as_str(), setup.fields()));
    let map = [timers(&TIMERS), hops(Scenario::One, &NAMED, &["3"]), axis("setup", map)];
    let (one, row, sides) = (Scenario::One, Scenario::Row, Scenario::Sides);
    vec![
        experiment("open-one", OF_OPEN, place(one, &["2", "5"], &any)),
        experiment("open-three", OF_OPEN, place(one, &["3"], &beside)),
        experiment("open-row", OF_OPEN, place(row, &["5"], &other)),
        Experiment {
            seeds: 0,
            curves: Some((seeds(scale), TRACE)),
            ..experiment("open-trace", OF_OPEN, place(row, &["5"], &tries))
        },
        experiment("open-rows", OF_OPEN, place(row, &["2", "3", "4"], &room)),
        experiment("open-side", OF_OPEN, followed(&place(sides, &["1"], &other))),
        experiment("map", OF_MAP, scenario(&map, Size::of_many(scale))),
    ]
}
