//! What every study is.
use crate::claim::{Claim, Verdict};
use crate::compare::Sockets;
use crate::figure::Figure;
use crate::result::Results;
use crate::rule::Finding;

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

    /// Whether its experiments are others at that scale under the same names, so that their results stand apart from
    /// those of other scales. Those of [`Scale::Smoke`] always do.
    fn stands_apart(&self, scale: Scale) -> bool {
        let _ = scale;
        false
    }

    /// What of it is run on real processes, too; nothing unless the study says so.
    fn sockets(&self, scale: Scale) -> Option<Sockets> {
        let _ = scale;
        None
    }

    /// Judges every claim, in the order of [`claims`](Self::claims).
    fn judge(&self, results: &Results) -> Vec<Verdict>;

    /// How the verdicts depend on what the paper leaves open, one open parameter after the other.
    fn dependences(&self, results: &Results) -> Vec<Dependence>;

    /// Draws the paper's figures from `results`; what has no results is left out.
    fn figures(&self, results: &Results) -> Vec<Figure>;
}

/// What becomes of claims when something that the paper leaves open is different.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependence {
    /// What is open.
    pub parameter: &'static str,
    /// The value that was tried.
    pub value: &'static str,
    /// It is the value that the study assumes.
    pub is_assumed: bool,
    /// What becomes of each claim that can be judged so, by its number.
    pub findings: Vec<(&'static str, Finding)>,
}

/// How much is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Enough to see that everything works: seconds.
    Smoke,
    /// What `check` needs: at least 20 seeds, at most 15 minutes on two cores.
    #[default]
    Check,
    /// The paper's experiments alone, at least 20 seeds, as long as is wanted for verdicts but takes too long for a
    /// check: at most an hour on two cores. Where a check has them so, they are those of the check.
    Verdict,
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
    /// Each point of the sweep is run with the seeds from 1 to this; 0 where only curves are wanted.
    pub seeds: u64,
    /// Curves are kept of the seeds from 1 to this, with the records that make them; figures show the first.
    pub curves: Option<(u64, &'static [&'static str])>,
}

impl Experiment {
    /// Whether a figure, or a claim, needs it.
    pub fn is_for(&self, what: &str) -> bool {
        self.serves.contains(&what)
    }

    /// The file that its scenario calls `name`.
    ///
    /// # Errors
    /// If there is none.
    pub fn file(&self, name: &str) -> Result<String, String> {
        let found = self.files.iter().find(|(own, _)| *own == name);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "the study has no such file".into())
    }
}
