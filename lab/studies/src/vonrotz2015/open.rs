//! Parameters that the paper and its tools leave open, changed one at a time.
use super::axis::{Scenario, TIMERS, axis, hops, sides, timers};
use super::scenario::{Size, TRACE, followed, scenario, seeds};
use super::setup::{
    ALL_SENSED, CAPTURES, EARLIER, NAMED, NO_CAPTURE, PROCESSINGS, SEGMENTS, Setup,
};
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
    /// The set-up of earlier results.
    Earlier,
}

/// The radios of single changes. At 54 Mbit/s nothing arrives, so that nothing could be judged.
const OTHER_RADIOS: [&str; 4] =
    ["6 Mbit/s, hidden", "24 Mbit/s, hidden", "6 Mbit/s, sensed", "24 Mbit/s, sensed"];
/// The pipelines of single changes.
const OTHER_PIPELINES: [&str; 3] = ["4", "8", "16"];

/// All single changes.
pub(super) static OPEN: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let setup = |parameter, value, setup| Open { parameter, value, change: Change::Setup(setup) };
    let mut all = vec![
        setup("nothing", "everything as chosen", NAMED),
        Open {
            parameter: "everything",
            value: "the set-up of 22 November",
            change: Change::Earlier,
        },
    ];
    for radio in OTHER_RADIOS.into_iter().filter(|it| *it != NAMED.radio) {
        all.push(setup("rate, and carrier-sense range", radio, Setup { radio, ..NAMED }));
    }
    for pipeline in OTHER_PIPELINES.into_iter().filter(|it| *it != NAMED.pipeline) {
        all.push(setup("pipeline", pipeline, Setup { pipeline, ..NAMED }));
    }
    for capture in CAPTURES.into_iter().filter(|it| *it != NAMED.capture) {
        all.push(setup("capture", capture, Setup { capture, ..NAMED }));
    }
    for segment in SEGMENTS.into_iter().filter(|it| *it != NAMED.segment) {
        all.push(setup("content of a segment", segment, Setup { segment, ..NAMED }));
    }
    for processing in PROCESSINGS.into_iter().filter(|it| *it != NAMED.processing) {
        all.push(setup(
            "time of a node for each packet",
            processing,
            Setup { processing, ..NAMED },
        ));
    }
    // Losses at two hops as in the paper, and nearly none.
    all.push(setup(ALL_OF_IT, "6 Mbit/s, hidden, 8", HIDDEN));
    let sensed = Setup { radio: ALL_SENSED, ..NAMED };
    all.push(setup(ALL_OF_IT, "24 Mbit/s, all sensed, 10", sensed));
    all.extend(FIELDS.into_iter().map(|(parameter, value, fields)| Open {
        parameter,
        value,
        change: Change::Fields(fields),
    }));
    all
});

/// A slow radio whose nodes do not sense those two hops away.
pub(super) const HIDDEN: Setup =
    Setup { radio: "6 Mbit/s, hidden", pipeline: "8", capture: NO_CAPTURE, ..NAMED };

/// Name of the parameter for the queue length of a station.
const ROOM: &str = "room of a station";
/// Name of the parameter for the number of tries of an unacknowledged frame.
const TRIES: &str = "tries of a frame";
/// Name of the parameter for set-ups in which several things differ.
const ALL_OF_IT: &str = "radio, and pipeline";

/// Parameters outside of a set-up.
const FIELDS: [(&str, &str, &str); 13] = [
    (
        "what the pipeline counts",
        "Interests in flight",
        r#""fetch.congestion.accounting" = "outstanding""#,
    ),
    ("RTS/CTS", "before every frame", r#""wifi.rts" = "1 B""#),
    ("slot", "9 µs", r#""wifi.standard" = "g-short""#),
    ("error model", "table", r#""wifi.errors" = "table""#),
    ("MTU", "1500 B", r#""wifi.mtu" = "1500 B""#),
    ("late Data", "is dropped", r#""node.unsolicited" = "drop""#),
    ("expired Interests", "are looked for every 200 ms", r#""fetch.rto-check" = "200 ms""#),
    (ROOM, "8 frames", r#""wifi.frames" = 8"#),
    (TRIES, "3", r#""wifi.tries" = 3"#),
    (TRIES, "4", r#""wifi.tries" = 4"#),
    (
        "a retransmitted Interest",
        "goes on after 10 ms",
        r#""node.suppression" = "same-face-retx(fixed=10ms)""#,
    ),
    (
        "a retransmitted Interest",
        "waits 0.5 s at a node",
        r#""node.suppression" = "soft-hard(soft=500ms)""#,
    ),
    ("a retransmitted Interest", "waits as in NFD", r#""node.suppression" = "same-face-retx""#),
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
            Change::Earlier => return earlier(scenario),
        };
        let beside = if scenario == Scenario::Sides { sides(&setup, 1) } else { String::new() };
        setup.fields() + &beside + more
    }
}

/// The fields of the earlier set-up. In scenario 1, late Data entered the cache of the requester's node only.
pub(super) fn earlier(scenario: Scenario) -> String {
    match scenario {
        Scenario::One => format!(
            "{EARLIER}\"node.unsolicited\" = \"drop\"\n\"nodes.n1.unsolicited\" = \"admit\"\n"
        ),
        Scenario::Row => EARLIER.to_owned(),
        // Radio and distances are those of 6 Mbit/s with hidden nodes.
        Scenario::Sides => {
            EARLIER.to_owned() + &sides(&Setup { radio: "6 Mbit/s, hidden", ..NAMED }, 1)
        }
    }
}

/// The figure of single changes.
const OF_OPEN: &[&str] = &["open"];

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let experiment = |name, scenario| Experiment {
        name,
        serves: OF_OPEN,
        scenario,
        files: &[],
        seeds: seeds(scale),
        curves: None,
    };
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
