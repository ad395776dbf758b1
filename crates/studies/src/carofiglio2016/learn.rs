//! Lessons about link recovery, and about Interests whose face is gone.
use super::axis::{ACKED, ELN, FAST, MLDR, NOTHING, OURS, OURS_BOTH, TIMER, WLDR};
use super::runs::Runs;
use crate::lesson::{About, Choice, Lesson, Part, Situation, TIME};
use crate::result::Results;

const fn choice(name: &'static str, spec: &'static str) -> Choice {
    Choice { name, spec }
}

const WAYS: [Choice; 5] = [
    choice(NOTHING, "recovery = \"off\""),
    choice(ELN, "recovery = \"wldr(mode=eln,strict=true)\""),
    choice(WLDR, "recovery = \"wldr(strict=true)\""),
    choice(OURS, "recovery = \"wldr\""),
    choice(ACKED, "recovery = \"acked\""),
];

const MOVES: [Choice; 3] = [
    choice(TIMER, "mobility = \"off\""),
    choice(ELN, "mobility = \"eln\""),
    choice(MLDR, "mobility = \"mldr\""),
];

const CONSUMER: [Choice; 3] = [
    choice("200", "--rto 'constant(rto=200ms)'"),
    choice("500", "--rto 'constant(rto=500ms)'"),
    choice(MLDR, "mobility = \"mldr\", --rto 'constant(rto=500ms)'"),
];

const JOINT: [Choice; 4] = [
    choice(NOTHING, "recovery = \"off\", mobility = \"off\""),
    choice(OURS, "recovery = \"wldr\""),
    choice(MLDR, "mobility = \"mldr\""),
    choice(OURS_BOTH, "recovery = \"wldr\", mobility = \"mldr\""),
];

pub(super) fn lessons(results: &Results) -> Vec<Lesson> {
    let radio = About {
        situation: Situation::RadioLoss,
        part: Part::LinkRecovery,
        runs: "ten flows over two radio links and wires of 300 Mbit/s, 10 km/h, a constant timer of 200 ms; mean time of a \
               flow",
        figure: "5a",
        claims: &["E-02", "E-09", "E-12"],
    };
    let producer = About {
        situation: Situation::Mobility,
        part: Part::Moves,
        runs: "the producer passes by six access points at 50 km/h, a constant timer of 500 ms",
        figure: "7a",
        claims: &["E-15"],
    };
    let consumer = About {
        runs: "the consumer does, with timers of its own",
        figure: "7c",
        claims: &["E-20"],
        ..producer
    };
    let joint = About {
        runs: "ten clients among 36 access points at 50 km/h, a constant timer of 500 ms; mean time of a flow",
        figure: "9a",
        claims: &["E-22", "E-24"],
        ..producer
    };
    let times = |experiment, at: &[(&str, &str)]| Runs::of(results, experiment).time(at);
    let fixed = [("timer", "200"), ("wires", "300")];
    let of = |experiment, axis, it: &Choice| times(experiment, &[(axis, it.name), ("speed", FAST)]);
    let found = [
        radio.lesson(
            TIME,
            WAYS.map(|it| (it, times("timer", &[("recovery", it.name), fixed[0], fixed[1]]))),
        ),
        producer.lesson(TIME, MOVES.map(|it| (it, of("producer", "mobility", &it)))),
        consumer.lesson(TIME, CONSUMER.map(|it| (it, of("consumer", "mobility", &it)))),
        joint.lesson(TIME, JOINT.map(|it| (it, of("joint", "network", &it)))),
    ];
    found.into_iter().flatten().collect()
}
