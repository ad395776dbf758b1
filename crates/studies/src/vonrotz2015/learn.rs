//! Lessons about timers over several wireless hops.
use super::axis::{Scenario, TIMERS, spec};
use super::runs::Runs;
use crate::lesson::{About, Choice, Lesson, Measure, Part, Situation, TIME};
use crate::result::Results;

const INTERESTS: Measure = Measure { name: "Interests sent", unit: "", more_is_better: false };

pub(super) fn lessons(results: &Results) -> Vec<Lesson> {
    let runs = Runs::assumed(results);
    let one = About {
        situation: Situation::WirelessHops,
        part: Part::Timer,
        runs: "5 MB over three hops of 802.11g, one requester; the timer sets the Interest lifetime, too",
        figure: "time-1",
        claims: &["A-10", "A-19"],
    };
    let row = About {
        runs: "the same over five hops, each node of the row a requester of the same file",
        figure: "time-2",
        claims: &["A-29", "A-30", "A-31", "A-56"],
        ..one
    };
    let interests = About {
        runs: "the same three hops and one requester",
        figure: "interests-1",
        claims: &["A-20", "A-21"],
        ..one
    };
    let choice = |name: &'static str| Choice { name, spec: spec(name) };
    let (three, five) = ((Scenario::One, "3"), (Scenario::Row, "5"));
    let times = |at| TIMERS.map(|timer| (choice(timer), runs.time(at, timer)));
    let sent = TIMERS.map(|timer| (choice(timer), runs.interests(three, timer)));
    let found = [
        one.lesson(TIME, times(three)),
        interests.lesson(INTERESTS, sent),
        row.lesson(TIME, times(five)),
    ];
    found.into_iter().flatten().collect()
}
