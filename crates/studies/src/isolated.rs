//! Isolating runs: changes with which a claim holds that fails as stated.
use crate::claim::Verdict;
use crate::result::Results;
use crate::rule::verdict;
use crate::study::{Experiment, Study};
use recoup_lab::scenario::Seeds;
use std::num::NonZeroU64;

/// A set-up in which a claim holds that fails in the study's own.
///
/// Its seeds differ from the seeds of earlier attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolated {
    /// Number of the claim.
    pub claim: &'static str,
    /// The difference, in words. A change of several things begins with their number, then lists each stated number
    /// of the paper that it leaves.
    pub change: &'static str,
    /// Its name, and the scenario with the places and timers that the claim is about.
    pub experiment: Experiment,
    /// The seeds, as in a scenario file.
    pub seeds: &'static str,
    /// The study's experiments in whose place its runs are judged.
    pub places: &'static [&'static str],
}

impl Isolated {
    /// The seeds, or the first of them.
    ///
    /// # Panics
    /// If the text names no seeds, which the tests of each study exclude.
    pub fn seeds(&self, first: Option<NonZeroU64>) -> Seeds {
        let all: Seeds = self.seeds.parse().unwrap_or_else(|problem| panic!("{problem}"));
        let Some(first) = first else { return all };
        let some: Vec<_> = all.iter().take(first.get() as usize).map(|it| it.to_string()).collect();
        some.join(", ").parse().unwrap_or(all)
    }
}

impl Study {
    /// The isolating runs, in the order of claims. A claim without one holds, or is turned by what the paper leaves open.
    pub fn isolated(&self) -> Vec<Isolated> {
        (self.isolated)()
    }

    /// Judges a claim by its own rule in its isolating runs.
    pub fn judge_isolated(&self, isolated: &Isolated, results: &Results) -> Option<Verdict> {
        let claim = self.claims().into_iter().find(|claim| claim.id == isolated.claim)?;
        let rows = results.experiments.get(isolated.experiment.name).cloned().unwrap_or_default();
        let there = |place: &&str| ((*place).to_owned(), rows.clone());
        let experiments = isolated.places.iter().map(there).collect();
        let own = Results { experiments, ..Results::default() };
        let (finding, why) = (self.judge)(isolated.claim, &own);
        Some(verdict(&claim, finding, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Outcome;
    use crate::study::Scale;

    #[test]
    fn isolating_run_is_a_scenario_of_its_claim() {
        for study in crate::all() {
            let claims = study.claims();
            for isolated in study.isolated() {
                let name = format!("{} {}", study.key(), isolated.claim);
                assert!(
                    claims.iter().any(|it| it.id == isolated.claim && it.is_gating()),
                    "{name}"
                );
                assert_eq!(isolated.experiment.name, format!("isolated-{}", isolated.claim));
                assert!(!isolated.experiment.networks().is_empty(), "{name}");
                assert!(isolated.seeds(None).count() >= 20, "{name}");
                let whole = study.experiments(Scale::Verdict);
                for place in isolated.places {
                    assert!(whole.iter().any(|it| it.name == *place), "{name}: {place}");
                }
                let verdict = study.judge_isolated(&isolated, &Results::default()).unwrap();
                assert_eq!((verdict.id.as_str(), verdict.verdict), (isolated.claim, Outcome::Open));
            }
        }
    }

    /// Parts of a change, without the head that counts them.
    fn parts(change: &str) -> usize {
        let (_, parts) = change.split_once(": ").unwrap_or(("", change));
        parts.split([',', ';']).filter(|it| it.starts_with(' ') || parts.starts_with(it)).count()
    }

    #[test]
    fn isolating_run_counts_its_changes_first() {
        for isolated in crate::all().iter().flat_map(|study| study.isolated()) {
            let change = isolated.change;
            match parts(change) {
                1 => assert!(!change.contains(':'), "{change}"),
                many => assert!(change.starts_with(&format!("{many} changes")), "{change}"),
            }
        }
    }

    #[test]
    fn fewer_seeds_are_the_first_ones() {
        let isolated = crate::nikzad2022::NIKZAD2022.isolated().remove(0);
        let [all, two] = [None, NonZeroU64::new(2)].map(|first| isolated.seeds(first));
        assert_eq!(two.iter().collect::<Vec<_>>(), all.iter().take(2).collect::<Vec<_>>());
    }
}
