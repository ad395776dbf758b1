//! Lessons of a study for the choice of an algorithm: which of the algorithms that were run did best in a situation, by
//! a measure.
//!
//! A lesson judges no claim. It ranks algorithms by their means over equal seeds. Algorithms whose paired
//! difference from the best has an interval that covers zero are tied with it. An algorithm with values of fewer seeds
//! than others, as when runs did not end, comes last: its mean is over the lucky runs only.
use crate::rule::{LEVEL, estimate, text};
use recoup_sim::statistic::{Seeded, paired};
use serde::Serialize;

/// Situation of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Situation {
    /// Random packet loss on an uncongested path.
    RandomLoss,
    /// Queues overflow under the consumer's own load.
    Congestion,
    /// Several flows share a link.
    Sharing,
    /// Several sources, or caches, answer.
    Sources,
    /// Several wireless hops.
    WirelessHops,
    /// A radio link loses packets.
    RadioLoss,
    /// Consumers or producers move.
    Mobility,
}

/// The part of the transport that is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Retransmission timer.
    Timer,
    /// Congestion window.
    Window,
    /// Rule that declares a segment lost before its timer expires.
    LossDetector,
    /// Link-layer retransmission.
    LinkRecovery,
    /// Handling of Interests whose face is gone.
    Moves,
    /// Scheduler of a shared link.
    Scheduler,
}

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Name.
    pub name: &'static str,
    /// Its unit; empty where there is none.
    pub unit: &'static str,
    /// Whether more is better.
    pub more_is_better: bool,
}

/// Completion time.
pub const TIME: Measure = Measure { name: "time", unit: "s", more_is_better: false };

/// An alternative: its name in the study, and its specification for a scenario or the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Name in the study.
    pub name: &'static str,
    /// Specification.
    pub spec: &'static str,
}

/// An alternative with its rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// Name in the study.
    pub name: &'static str,
    /// Specification.
    pub spec: &'static str,
    /// Mean with its interval.
    pub measured: String,
    /// Whether it is the best, or tied with the best.
    pub is_best: bool,
}

/// A lesson.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lesson {
    /// The situation.
    pub situation: Situation,
    /// The part that is chosen.
    pub part: Part,
    /// The runs, in a line.
    pub runs: &'static str,
    /// The measured quantity.
    pub measure: &'static str,
    /// The study's figure that shows it.
    pub figure: &'static str,
    /// The claims that it concerns.
    pub claims: &'static [&'static str],
    /// The alternatives, best first.
    pub ranking: Vec<Ranked>,
}

/// Subject of a lesson.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The situation.
    pub situation: Situation,
    /// The part that is chosen.
    pub part: Part,
    /// The runs, in a line.
    pub runs: &'static str,
    /// The study's figure that shows it.
    pub figure: &'static str,
    /// The claims that it concerns.
    pub claims: &'static [&'static str],
}

impl About {
    /// The lesson of these runs; `None` if fewer than two alternatives were run.
    pub fn lesson(
        self,
        measure: Measure,
        runs: impl IntoIterator<Item = (Choice, Vec<Seeded>)>,
    ) -> Option<Lesson> {
        let Self { situation, part, runs: what, figure, claims } = self;
        let ranking = ranking(measure, runs.into_iter().collect());
        (ranking.len() > 1).then_some(Lesson {
            situation,
            part,
            runs: what,
            measure: measure.name,
            figure,
            claims,
            ranking,
        })
    }
}

fn ranking(measure: Measure, runs: Vec<(Choice, Vec<Seeded>)>) -> Vec<Ranked> {
    let mut known: Vec<_> = runs
        .into_iter()
        .filter_map(|(it, values)| Some((it, estimate(&values)?, values)))
        .collect();
    let all = known.iter().map(|(_, _, values)| values.len()).max().unwrap_or(0);
    known.sort_by(|a, b| {
        let order = a.1.mean.total_cmp(&b.1.mean);
        let order = if measure.more_is_better { order.reverse() } else { order };
        (a.2.len() < all).cmp(&(b.2.len() < all)).then(order)
    });
    let best = known.first().map(|(_, _, values)| values.clone()).unwrap_or_default();
    let is_best = |values: &[Seeded]| {
        let by = paired(values, &best, LEVEL).filter(|_| values != best);
        values.len() == all && by.is_none_or(|it| it.low() <= 0.0 && it.high() >= 0.0)
    };
    let runs = |values: &[Seeded]| match values.len() {
        few if few < all => format!(" ({few} of {all} runs)"),
        _ => String::new(),
    };
    let one = |(choice, estimate, values): &(Choice, _, Vec<Seeded>)| Ranked {
        name: choice.name,
        spec: choice.spec,
        measured: text(estimate, measure.unit) + &runs(values),
        is_best: is_best(values),
    };
    known.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOUT: About = About {
        situation: Situation::Sources,
        part: Part::Timer,
        runs: "",
        figure: "time",
        claims: &[],
    };

    fn choice(name: &'static str) -> Choice {
        Choice { name, spec: name }
    }

    /// Twenty values around a mean, the same noise for each.
    fn around(mean: f64, noise: f64) -> Vec<Seeded> {
        (1..=20).map(|seed| (seed, mean + noise * (seed as f64 % 3.0 - 1.0))).collect()
    }

    #[test]
    fn best_comes_first_and_ties_count_as_best() {
        let other = around(5.001, 0.1)
            .into_iter()
            .map(|(seed, it)| (seed, it + if seed % 2 == 0 { 0.2 } else { -0.2 }));
        let runs = [
            (choice("slow"), around(9.0, 0.1)),
            (choice("quick"), around(5.0, 0.1)),
            (choice("alike"), other.collect()),
            (choice("never run"), Vec::new()),
        ];
        let lesson = ABOUT.lesson(TIME, runs.clone()).unwrap();
        let found: Vec<_> = lesson.ranking.iter().map(|it| (it.name, it.is_best)).collect();
        assert_eq!(found, [("quick", true), ("alike", true), ("slow", false)]);
        let lucky = (choice("lucky"), around(1.0, 0.1)[..3].to_vec());
        let lesson = ABOUT.lesson(TIME, runs.iter().cloned().chain([lucky])).unwrap();
        let last = lesson.ranking.last().unwrap();
        assert_eq!((last.name, last.is_best, lesson.ranking[0].name), ("lucky", false, "quick"));
        assert!(last.measured.ends_with(" s (3 of 20 runs)"), "{}", last.measured);
        let rate = Measure { more_is_better: true, ..TIME };
        assert_eq!(ABOUT.lesson(rate, runs).unwrap().ranking[0].name, "slow");
    }

    #[test]
    fn one_choice_alone_teaches_nothing() {
        assert_eq!(ABOUT.lesson(TIME, [(choice("only"), around(1.0, 0.1))]), None);
    }
}
