//! Lessons about timers if caches answer some requests and producers others.
use super::runs::{B, Runs, Timer, W};
use super::timer::{BASIC, BEYOND, COMPARED, Other, PREDICTIVE, RECONSIDERED};
use crate::lesson::{About, Choice, Lesson, Measure, Part, Situation};
use crate::result::Results;

const SPURIOUS: Measure =
    Measure { name: "share of spurious timeouts", unit: "", more_is_better: false };
const WAITING: Measure =
    Measure { name: "wait of needed timeouts, in round trips", unit: "", more_is_better: false };
const RATE: Measure = Measure { name: "rate of a consumer", unit: "kbit/s", more_is_better: true };

pub(super) fn lessons(results: &Results) -> Vec<Lesson> {
    let runs = Runs::paper(results);
    let spurious = About {
        situation: Situation::Sources,
        part: Part::Timer,
        runs: "twenty consumers of a catalogue in Sprint's network with caches, popularity by Zipf's law with s = 1",
        figure: "beyond-b",
        claims: &["C-29", "C-30", "C-32"],
    };
    let waiting = About { figure: "beyond-w", runs: "the same", ..spurious };
    let rate = About {
        figure: "beyond-b",
        runs: "the same; without Predictive, which is run where each Interest takes one way",
        claims: &[],
        ..spurious
    };
    let of = |metric: &'static str, factor: f64| {
        timers().into_iter().map(move |(choice, timer)| {
            let values = runs.of(timer, "1", metric).into_iter();
            (choice, values.map(|(seed, value)| (seed, value * factor)).collect())
        })
    };
    let found = [
        spurious.lesson(SPURIOUS, of(B, 1.0)),
        waiting.lesson(WAITING, of(W, 1.0)),
        rate.lesson(RATE, of(super::runs::RATE, 1e-3).filter(|(it, _)| it.name != PREDICTIVE.name)),
    ];
    found.into_iter().flatten().collect()
}

/// The alternatives: the paper's timers, and those beyond it.
fn timers() -> Vec<(Choice, Timer)> {
    let own = [
        (Choice { name: "Basic", spec: "nikzad2022" }, BASIC.into()),
        (Choice { name: "Reconsidered", spec: "reconsidered" }, RECONSIDERED.into()),
    ];
    let others = COMPARED.into_iter().chain(BEYOND);
    own.into_iter().chain(others.map(|it| (choice(&it), it.into()))).collect()
}

/// A timer as its scenario has it.
fn choice(other: &Other) -> Choice {
    let spec = other.fields.split('"').nth(3).unwrap_or_default();
    Choice { name: other.name, spec }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_timer_prints_its_specification() {
        let specs: Vec<_> = timers().into_iter().map(|(choice, _)| choice.spec).collect();
        for spec in &specs {
            assert!(recoup_transport::rto::parse(spec).is_ok(), "{spec}");
        }
        assert!(specs.contains(&"nearness") && specs.contains(&"rfc6298"), "{specs:?}");
    }
}
