//! Results of the three networks, under what is assumed or with something different.
use super::axis::{BOTH, OURS, OURS_BOTH, WLDR};
use crate::result::Results;
use crate::rule::{joined, scaled};
use recoup_sim::statistic::Seeded;

/// Some runs of an experiment.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    results: &'a Results,
    experiment: &'static str,
    setup: Option<&'a str>,
    /// Whether Recoup's own WLDR takes the place of the paper's.
    is_ours: bool,
}

/// A place on the axes of an experiment.
pub(super) type At<'a> = &'a [(&'a str, &'a str)];

impl<'a> Runs<'a> {
    /// An experiment of the paper.
    pub(super) fn of(results: &'a Results, experiment: &'static str) -> Self {
        Self { results, experiment, setup: None, is_ours: false }
    }

    /// An experiment of the paper, with Recoup's own WLDR in the place of the paper's.
    pub(super) fn ours(results: &'a Results, experiment: &'static str) -> Self {
        Self { is_ours: true, ..Self::of(results, experiment) }
    }

    /// Runs with a changed parameter.
    pub(super) fn open(results: &'a Results, experiment: &'static str, setup: &'a str) -> Self {
        Self { setup: Some(setup), ..Self::of(results, experiment) }
    }

    /// Whether the experiment has not been run.
    pub(super) fn is_empty(&self) -> bool {
        !self.results.experiments.contains_key(self.experiment)
    }

    /// A metric of all consumers, by seed.
    pub(super) fn values(&self, at: At<'_>, metric: &str) -> Vec<Seeded> {
        let setup = self.setup.map(|setup| ("setup", setup));
        let named = at.iter().map(|(axis, value)| (*axis, self.named(value)));
        let choice: Vec<_> = named.chain(setup).collect();
        self.results.values(self.experiment, &choice, &format!("all.{metric}"))
    }

    fn named<'b>(&self, value: &'b str) -> &'b str {
        match value {
            WLDR if self.is_ours => OURS,
            BOTH if self.is_ours => OURS_BOTH,
            other => other,
        }
    }

    /// Completion time of a flow, mean over flows.
    pub(super) fn time(&self, at: At<'_>) -> Vec<Seeded> {
        self.values(at, "time_mean_s")
    }

    /// Time that one place saves against another, as a share of the other's time, in percent.
    pub(super) fn reduction(&self, at: At<'_>, other: At<'_>) -> Vec<Seeded> {
        joined(&self.time(at), &self.time(other), |ours, theirs| 100.0 * (1.0 - ours / theirs))
    }

    /// Interests that nodes sent on, as a share of those that consumers sent, in percent.
    pub(super) fn sent_on(&self, at: At<'_>) -> Vec<Seeded> {
        let (sent_on, all) = (self.values(at, "reforwarded"), self.values(at, "interests"));
        joined(&sent_on, &all, |sent_on, all| 100.0 * sent_on / all)
    }

    /// Residual loss of the radio, as a share of its frames, in percent.
    pub(super) fn residual(&self, at: At<'_>) -> Vec<Seeded> {
        scaled(self.values(at, "residual_loss"), 100.0)
    }
}

/// Two series of differences.
pub(super) fn less_by(first: &[Seeded], second: &[Seeded]) -> Vec<Seeded> {
    joined(second, first, |second, first| second - first)
}
