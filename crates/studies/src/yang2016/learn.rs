//! What the designs say about windows and samples on a way that only its own flows crowd.
use super::DESIGNS;
use crate::lesson::{About, Choice, Lesson, Part, Situation, TIME};
use crate::result::Results;

const SPECS: [&str; 4] = [
    "--congestion 'fixed(window=32)'",
    "--congestion 'yang2016(conservative=off)' --sampling every",
    "--congestion yang2016 --sampling every",
    "--congestion yang2016 --sampling per-rtt",
];

pub(super) fn lessons(results: &Results) -> Vec<Lesson> {
    let linear = About {
        situation: Situation::Congestion,
        part: Part::Window,
        runs: "one consumer, 10 MiB over 5 Mbit/s; #0 is a constant window that just fits the way, #1 reduces for each \
               loss, #2 once in a round trip, #3 samples once in a round trip, too",
        figure: "linear",
        claims: &["B-05", "B-06a", "B-22"],
    };
    let dumbbell = About {
        situation: Situation::Sharing,
        runs: "the same designs, two consumers on one link of 5 Mbit/s; time of the first",
        figure: "dumbbell",
        claims: &["B-12", "B-13", "B-16"],
        ..linear
    };
    [("linear", linear), ("dumbbell", dumbbell)]
        .into_iter()
        .filter_map(|(experiment, about)| {
            let runs = DESIGNS.iter().zip(SPECS).map(|(name, spec)| {
                let values = results.values(experiment, &[("design", name)], "c1.time_s");
                (Choice { name, spec }, values)
            });
            about.lesson(TIME, runs)
        })
        .collect()
}
