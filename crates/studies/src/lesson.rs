//! What a study's runs say to somebody who has to choose an algorithm: in which situation which of those that were run did
//! best, by which measure.
//!
//! A lesson judges no claim. It ranks what met the same seeds by its mean, and says which of them the runs do not tell
//! from the best one: those whose paired difference from it has an interval that covers zero. What has a figure of fewer
//! seeds than others, as where runs did not end, comes after all of these, for its mean is one of the lucky runs only.
use crate::rule::{LEVEL, estimate, text};
use recoup_sim::statistic::{Seeded, paired};
use serde::Serialize;

/// What somebody finds on the way to content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Situation {
    /// Packets are lost at random, on a way that is not crowded.
    RandomLoss,
    /// Queues overflow because of what is asked for.
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

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// When to ask again.
    Timer,
    /// How much to ask for.
    Window,
    /// Rule that declares a segment lost before its timer expires.
    LossDetector,
    /// What a link loses is sent again by its ends.
    LinkRecovery,
    /// What becomes of Interests whose face is gone.
    Moves,
    /// How flows share a link.
    Scheduler,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// What it is.
    pub name: &'static str,
    /// Its unit; empty where there is none.
    pub unit: &'static str,
    /// More of it is better; less, unless this says so.
    pub more_is_better: bool,
}

/// Time until all content was there.
pub const TIME: Measure = Measure { name: "time", unit: "s", more_is_better: false };

/// Something that can be chosen: its name in the study, and how it is written for a scenario or on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As the study calls it.
    pub name: &'static str,
    /// As it is written.
    pub spec: &'static str,
}

/// A choice in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// As the study calls it.
    pub name: &'static str,
    /// As it is written.
    pub spec: &'static str,
    /// What was measured, with its interval.
    pub measured: String,
    /// It is the best, or the runs do not tell it from that.
    pub is_best: bool,
}

/// One thing to be learnt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lesson {
    /// Where it holds.
    pub situation: Situation,
    /// What is chosen.
    pub part: Part,
    /// What was run, in a line.
    pub runs: &'static str,
    /// What was measured.
    pub measure: &'static str,
    /// The study's figure that shows it.
    pub figure: &'static str,
    /// The claims that are about it.
    pub claims: &'static [&'static str],
    /// What was compared, best first.
    pub ranking: Vec<Ranked>,
}

/// What a lesson is about.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Where it holds.
    pub situation: Situation,
    /// What is chosen.
    pub part: Part,
    /// What was run, in a line.
    pub runs: &'static str,
    /// The study's figure that shows it.
    pub figure: &'static str,
    /// The claims that are about it.
    pub claims: &'static [&'static str],
}

impl About {
    /// The lesson of these runs; nothing where fewer than two choices have been run.
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
    fn the_best_comes_first_and_what_cannot_be_told_from_it_counts_as_good() {
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
