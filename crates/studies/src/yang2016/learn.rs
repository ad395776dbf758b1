//! Lessons about windows and round-trip samples on a path that only its own flows congest.
use crate::lesson::{About, Choice, Lesson, Part, Situation, TIME};
use crate::result::Results;

/// The adaptive designs. #0 is a bound, not a choice: its constant window needs a known path.
const ADAPTIVE: [Choice; 3] = [
    Choice { name: "#1", spec: "--congestion 'yang2016(conservative=off)' --sampling every" },
    Choice { name: "#2", spec: "--congestion yang2016 --sampling every" },
    Choice { name: "#3", spec: "--congestion yang2016 --sampling per-rtt" },
];

pub(super) fn lessons(results: &Results) -> Vec<Lesson> {
    let linear = About {
        situation: Situation::Congestion,
        part: Part::Window,
        runs: "one consumer, 10 MiB over 5 Mbit/s; #1 reduces for each loss, #2 once in a round trip, #3 samples once in \
               a round trip, too",
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
            let runs = ADAPTIVE.map(|choice| {
                let at = [("design", choice.name)];
                (choice, results.values(experiment, &at, "c1.time_s"))
            });
            about.lesson(TIME, runs)
        })
        .collect()
}
