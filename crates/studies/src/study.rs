//! What every study is.
use crate::claim::{Claim, Outcome, Verdict};
use crate::figure::Figure;
use crate::result::Results;

/// A paper in its room.
pub trait Study: Sync {
    /// Its name on the command line, such as `yang2016`.
    fn key(&self) -> &'static str;

    /// Its question, in one line.
    fn title(&self) -> &'static str;

    /// The paper's authors, title and place.
    fn source(&self) -> &'static str;

    /// The room's `README.md`: question, set-up, deviations.
    fn readme(&self) -> &'static str;

    /// The room's `claims.toml`.
    fn claims(&self) -> Vec<Claim>;

    /// What is run, at that scale.
    fn experiments(&self, scale: Scale) -> Vec<Experiment>;

    /// Judges every claim, in the order of [`claims`](Self::claims).
    fn judge(&self, results: &Results) -> Vec<Verdict>;

    /// How the verdicts depend on what the paper leaves open, one open parameter after the other.
    fn dependences(&self, results: &Results) -> Vec<Dependence>;

    /// Draws the paper's figures from `results`; what has no results is left out.
    fn figures(&self, results: &Results) -> Vec<Figure>;
}

/// What becomes of claims when something that the paper leaves open is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// What is open.
    pub parameter: &'static str,
    /// The value that was tried.
    pub value: &'static str,
    /// What becomes of each claim that can be judged so.
    pub outcomes: Vec<(String, Outcome)>,
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Enough to see that everything works: seconds.
    Smoke,
    /// What `check` needs: at least 20 seeds, at most 15 minutes on two cores.
    Check,
    /// As the paper has it, or more.
    Paper,
}

/// One scenario with its sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Its name, unique in the study.
    pub name: &'static str,
    /// Figures and claims that need it.
    pub serves: &'static [&'static str],
    /// The scenario, as in a scenario file, sweep included.
    pub scenario: String,
    /// Files that the scenario names, with what is in them.
    pub files: &'static [(&'static str, &'static str)],
    /// Seeds of each point of the sweep.
    pub seeds: std::ops::RangeInclusive<u64>,
    /// The seed whose curves are kept for figures, with the records that make them.
    pub curves: Option<(u64, &'static [&'static str])>,
}
