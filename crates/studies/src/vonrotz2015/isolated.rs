//! What turns A-33 and A-41.
use super::axis::{Scenario, TIMERS, axis, hops, timers};
use super::open::HIDDEN;
use super::scenario::{ASSUMED, Size, scenario};
use super::setup::NAMED;
use crate::isolated::Isolated;
use crate::study::Experiment;

/// Tries that leave more to time out than seven.
const FIVE_TRIES: &str = r#""wifi.tries" = 5"#;

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
            change: "5 tries of a frame",
            experiment: experiment(
                "isolated-A-41",
                &["5"],
                NAMED.fields() + FIVE_TRIES,
                Size::Quarter,
            ),
            seeds: "401..500",
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
