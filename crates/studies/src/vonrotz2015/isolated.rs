//! Isolating runs: changes that turn A-33, A-41 and A-53.
use super::axis::{Scenario, TIMERS, axis, hops, rto, timers};
use super::open::{HIDDEN, earlier};
use super::scenario::{ASSUMED, Size, VARIANTS, scenario};
use super::setup::NAMED;
use crate::isolated::Isolated;
use crate::study::Experiment;

/// The queue of a station holds less than a window.
const SHORT_QUEUE: &str = r#""wifi.frames" = 6"#;

pub(super) fn isolated() -> Vec<Isolated> {
    vec![
        Isolated {
            claim: "A-33",
            change: "4 changes: hidden nodes, 6 Mbit/s, a pipeline of 8, whole files",
            experiment: experiment(
                "isolated-A-33",
                &["2", "3", "4", "5"],
                HIDDEN.fields(),
                Size::Whole,
            ),
            seeds: "701..800",
            places: &["row", "row-trace"],
        },
        Isolated {
            claim: "A-41",
            change: "a station that holds 6 frames",
            experiment: experiment(
                "isolated-A-41",
                &["5"],
                NAMED.fields() + SHORT_QUEUE,
                Size::Quarter,
            ),
            seeds: "601..700",
            places: &["row-trace"],
        },
        Isolated {
            claim: "A-53",
            change: "5 changes: hidden nodes, 6 Mbit/s, 1,024 bytes, a pipeline of 16, 5 ms a packet (the set-up of 22 November)",
            experiment: variants("isolated-A-53"),
            seeds: "701..800",
            places: &["variants-1"],
        },
    ]
}

/// Scenario 2 with other fields, which stand where the rule of the claim reads the assumed ones.
fn experiment(
    name: &'static str,
    places: &[&'static str],
    fields: String,
    size: Size,
) -> Experiment {
    let setup = axis("setup", [(ASSUMED, fields)]);
    let axes = [timers(&TIMERS), hops(Scenario::Row, &NAMED, places), setup];
    of(name, &axes, size)
}

/// ICP and its variant at three hops of scenario 1, with the fields of the earlier set-up.
fn variants(name: &'static str) -> Experiment {
    let icp = VARIANTS.iter().filter(|(name, _)| ["ICP", "ICP, clean answers only"].contains(name));
    let axes = [
        axis("timer", icp.map(|(name, spec)| (*name, rto(spec)))),
        hops(Scenario::One, &NAMED, &["3"]),
        axis("setup", [(ASSUMED, earlier(Scenario::One))]),
    ];
    of(name, &axes, Size::Whole)
}

fn of(name: &'static str, axes: &[String], size: Size) -> Experiment {
    let scenario = scenario(axes, size);
    Experiment { name, serves: &[], scenario, files: &[], seeds: 0, curves: None }
}
