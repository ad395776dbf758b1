//! Parameters that the paper and its tools leave open, changed one at a time.
use super::axis::{Scenario, TIMERS, axis, hops, sides, timers};
use super::scenario::{Size, TRACE, followed, scenario, seeds};
use super::setup::{CAPTURES, FIRST, NAMED, SEGMENTS, Setup};
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

/// The radios of single changes.
const OTHER_RADIOS: [&str; 3] = ["2 Mbit/s, hidden", "24 Mbit/s, hidden", "6 Mbit/s, sensed"];
/// The pipeline of a single change.
const OTHER_PIPELINE: &str = "8";

/// All single changes.
pub(super) static OPEN: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let setup = |parameter, value, setup| Open { parameter, value, change: Change::Setup(setup) };
    let mut all = vec![setup("nothing", "everything as chosen", NAMED)];
    all.extend(OTHER_RADIOS.map(|radio| setup(RADIO, radio, Setup { radio, ..NAMED })));
    all.push(setup("pipeline", OTHER_PIPELINE, Setup { pipeline: OTHER_PIPELINE, ..NAMED }));
    for capture in CAPTURES.into_iter().filter(|it| *it != NAMED.capture) {
        all.push(setup("capture", capture, Setup { capture, ..NAMED }));
    }
    for segment in SEGMENTS.into_iter().filter(|it| *it != NAMED.segment) {
        all.push(setup("content of a segment", segment, Setup { segment, ..NAMED }));
    }
    all.push(setup(ALL_OF_IT, "24 Mbit/s, sensed, 10, 5 dB", FIRST));
    all.extend(FIELDS.into_iter().map(|(parameter, value, fields)| Open {
        parameter,
        value,
        change: Change::Fields(fields),
    }));
    all
});

/// Name of the parameter for rate and distances.
const RADIO: &str = "rate, and carrier-sense range";
/// Name of the parameter for the queue length of a station.
const ROOM: &str = "room of a station";
/// Name of the parameter for the number of tries of an unacknowledged frame.
const TRIES: &str = "tries of a frame";
/// Name of the parameter for set-ups in which several things differ.
const ALL_OF_IT: &str = "radio, pipeline and capture";

/// Parameters outside of a set-up.
const FIELDS: [(&str, &str, &str); 6] = [
    (
        "what the pipeline counts",
        "Interests in flight",
        r#""fetch.congestion.accounting" = "outstanding""#,
    ),
    ("RTS/CTS", "before every frame", r#""wifi.rts" = "1 B""#),
    ("slot", "9 µs", r#""wifi.standard" = "g-short""#),
    (ROOM, "8 frames", r#""wifi.frames" = 8"#),
    (TRIES, "4", r#""wifi.tries" = 4"#),
    (
        "a retransmitted Interest",
        "goes on after 10 ms",
        r#""node.suppression" = "same-face-retx(fixed=10ms)""#,
    ),
];

impl Open {
    /// Label on the axis of set-ups.
    pub(super) fn label(&self) -> String {
        format!("{}: {}", self.parameter, self.value)
    }

    /// Whether nothing is changed.
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

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let experiment = |name, scenario| Experiment::new(name, scenario, seeds(scale));
    // Small runs only show that everything works: a few values suffice.
    let some = if scale == Scale::Smoke { 9 } else { 1 };
    let place = |place, chosen: &[&'static str], is_in: &dyn Fn(&Open) -> bool| {
        let values = OPEN.iter().filter(|it| is_in(it)).step_by(some);
        let values: Vec<_> = values.map(|it| (it.label(), it.fields(place))).collect();
        let values = axis("setup", values.iter().map(|(label, it)| (label.as_str(), it.clone())));
        let axes = [timers(&TIMERS), hops(place, &NAMED, chosen), values];
        scenario(&axes, Size::of_many(scale))
    };
    let (any, other) = (|_: &Open| true, |it: &Open| !it.is_assumed());
    let traced = |name, scenario| Experiment {
        curves: Some((seeds(scale), TRACE)),
        ..experiment(name, scenario)
    };
    // Changes that A-33 is judged by, which is about two to five hops.
    let far = |it: &Open| [ROOM, ALL_OF_IT].contains(&it.parameter);
    let (one, row, sides) = (Scenario::One, Scenario::Row, Scenario::Sides);
    vec![
        experiment("open-one", place(one, &["2", "5"], &any)),
        traced("open-one-trace", place(one, &["3"], &any)),
        traced("open-row-trace", place(row, &["5"], &other)),
        experiment("open-rows", place(row, &["2", "3", "4"], &far)),
        experiment("open-side", followed(&place(sides, &["1"], &other))),
    ]
}
