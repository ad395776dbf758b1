//! What turns A-33 and A-41.
use super::axis::{Scenario, TIMERS, axis, hops, timers};
use super::open::HIDDEN;
use super::scenario::{ASSUMED, Size, scenario};
use super::setup::NAMED;
use crate::isolated::Isolated;
use crate::study::Experiment;

/// The queue of a station holds less than a window.
const SHORT_QUEUE: &str = r#""wifi.frames" = 6"#;

pub(super) fn isolated() -> Vec<Isolated> {
    vec![
        Isolated {
            claim: "A-33",
            change: "hidden nodes at 6 Mbit/s, a pipeline of 8, whole files",
            experiment: experiment(
                "isolated-A-33",
                &["2", "3", "4", "5"],
                HIDDEN.fields(),
                Size::Whole,
            ),
            seeds: "1..100",
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
    let scenario = scenario(&axes, size);
    Experiment { name, serves: &[], scenario, files: &[], seeds: 0, curves: None }
}
