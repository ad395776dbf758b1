//! The common parts of all studies.
use crate::calibration::Calibration;
use crate::claim::{self, Claim, Former, Verdict};
use crate::compare::Sockets;
use crate::figure::Figure;
use crate::result::Results;
use crate::rule::{Finding, verdict};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A paper: its names, and the functions of its module.
#[derive(Debug)]
pub struct Study {
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) source: &'static str,
    pub(crate) claims: &'static str,
    /// Figures and claims by the experiment that they need.
    pub(crate) serves: &'static str,
    pub(crate) experiments: fn(Scale) -> Vec<Experiment>,
    pub(crate) stands_apart: fn(Scale) -> bool,
    pub(crate) calibration: Option<fn() -> Calibration>,
    pub(crate) sockets: Option<fn(Scale) -> Sockets>,
    pub(crate) judge: fn(&str, &Results) -> Finding,
    /// Whether a claim was judged again, with more runs.
    pub(crate) again: fn(&str, &Results) -> bool,
    pub(crate) former: fn(&str, &Results) -> Option<Finding>,
    pub(crate) dependences: fn(&Results) -> Vec<Dependence>,
    pub(crate) figures: fn(&Results) -> Vec<Figure>,
}

impl Study {
    /// Name of the study on the command line, for example `yang2016`.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Its question, in one line.
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// The paper's authors, title and place.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// The study's `claims.toml`.
    pub fn claims(&self) -> Vec<Claim> {
        claim::read(self.claims).unwrap_or_default()
    }

    /// The experiments of a scale.
    pub fn experiments(&self, scale: Scale) -> Vec<Experiment> {
        self.serving((self.experiments)(scale))
    }

    /// The experiments with the figures and claims that they serve.
    fn serving(&self, mut experiments: Vec<Experiment>) -> Vec<Experiment> {
        let serves: BTreeMap<String, Vec<String>> = toml::from_str(self.serves).unwrap_or_default();
        for experiment in &mut experiments {
            let own = || vec![experiment.name.to_owned()];
            experiment.serves = serves.get(experiment.name).cloned().unwrap_or_else(own);
        }
        experiments
    }

    /// Whether the scale has other experiments under the same names, so that its results have a folder of their own.
    /// Those of [`Scale::Smoke`] always do.
    pub fn stands_apart(&self, scale: Scale) -> bool {
        (self.stands_apart)(scale)
    }

    /// The search for what the paper leaves open; `None` if the study has no search.
    pub fn calibration(&self) -> Option<Calibration> {
        self.calibration.map(|calibration| calibration())
    }

    /// The experiments that run on real processes, too; `None` unless the study has any.
    pub fn sockets(&self, scale: Scale) -> Option<Sockets> {
        self.sockets.map(|sockets| {
            let Sockets { experiments, simulated, terms } = sockets(scale);
            let [experiments, simulated] = [experiments, simulated].map(|it| self.serving(it));
            Sockets { experiments, simulated, terms }
        })
    }

    /// Judges every claim, in the order of [`claims`](Self::claims).
    pub fn judge(&self, results: &Results) -> Vec<Verdict> {
        let verdict = |claim: &Claim| {
            let finding = (self.judge)(&claim.id, results);
            let is_again = (self.again)(&claim.id, results);
            let why = if is_again { &claim.rule_again } else { &claim.rule };
            let former = self.former(claim, results);
            Verdict { former, ..verdict(claim, finding, why) }
        };
        self.claims().iter().map(verdict).collect()
    }

    /// Finding of a claim's former rule, if its rule was corrected.
    fn former(&self, claim: &Claim, results: &Results) -> Option<Former> {
        let Finding { outcome: verdict, ours } = (self.former)(&claim.id, results)?;
        Some(Former { until: claim.corrected()?.to_owned(), verdict, ours })
    }

    /// Dependence of the verdicts on the parameters that the paper leaves open, one parameter after
    /// the other.
    pub fn dependences(&self, results: &Results) -> Vec<Dependence> {
        (self.dependences)(results)
    }

    /// Draws the paper's figures from `results`; figures without results are left out.
    pub fn figures(&self, results: &Results) -> Vec<Figure> {
        (self.figures)(results)
    }
}

/// Findings of claims with another value of an open parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependence {
    /// The open parameter.
    pub parameter: &'static str,
    /// The value tried.
    pub value: Cow<'static, str>,
    /// Whether the study assumes this value.
    pub is_assumed: bool,
    /// The findings of the claims that can be judged, by number.
    pub findings: Vec<(&'static str, Finding)>,
}

/// Scale of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Enough to see that everything works: seconds.
    Smoke,
    /// Runs for `check`: at least 20 seeds, about half an hour on two cores at most.
    #[default]
    Check,
    /// The paper's experiments, at least 20 seeds: long enough for verdicts, too long for a check. They take one to three hours
    /// on two cores. Experiments that suffice at the scale of a check are the same here, and so is what stands beside
    /// the paper's.
    Verdict,
    /// The paper's scale, or more.
    Paper,
}

impl Scale {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Check => "check",
            Self::Verdict => "verdict",
            Self::Paper => "paper",
        }
    }
}

/// A scenario with its sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Its name, unique in the study.
    pub name: &'static str,
    /// Figures and claims that need it.
    pub serves: Vec<String>,
    /// The scenario, as in a scenario file, sweep included.
    pub scenario: String,
    /// Files that the scenario names, with their contents.
    pub files: &'static [(&'static str, &'static str)],
    /// Each point of the sweep is run with the seeds from 1 to this; 0 if the experiment only draws
    /// curves.
    pub seeds: u64,
    /// Curves are kept of the seeds from 1 to this, with the records that make them; figures show the first.
    pub curves: Option<(u64, &'static [&'static str])>,
}

/// The paper's own experiments, and but for the paper's scale those of its open parameters. The latter are never longer
/// than in a check.
pub(crate) fn with_open(
    scale: Scale,
    paper: fn(Scale) -> Vec<Experiment>,
    open: fn(Scale) -> Vec<Experiment>,
) -> Vec<Experiment> {
    let mut all = paper(scale);
    match scale {
        Scale::Smoke | Scale::Check => all.extend(open(scale)),
        Scale::Verdict => all.extend(open(Scale::Check)),
        Scale::Paper => {}
    }
    all
}

impl Experiment {
    /// An experiment without files and curves.
    pub(crate) const fn new(name: &'static str, scenario: String, seeds: u64) -> Self {
        Self { name, serves: Vec::new(), scenario, files: &[], seeds, curves: None }
    }

    /// Whether a figure, or a claim, needs it.
    pub fn is_for(&self, what: &str) -> bool {
        self.serves.iter().any(|it| it == what)
    }

    /// Label of each point with its network for the first seed.
    #[cfg(test)]
    pub(crate) fn networks(&self) -> Vec<(String, recoup_sim::network::Network)> {
        self.networks_where(|_| true)
    }

    /// The network of a point for the first seed.
    #[cfg(test)]
    pub(crate) fn network(&self, label: &str) -> recoup_sim::network::Network {
        let found = self.networks_where(|own| own == label).pop();
        found.unwrap_or_else(|| panic!("{}: no point {label}", self.name)).1
    }

    #[cfg(test)]
    fn networks_where(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<(String, recoup_sim::network::Network)> {
        let file = recoup_lab::scenario::ScenarioFile::parse(&self.scenario, &[]);
        let file = file.unwrap_or_else(|problems| panic!("{}: {problems}", self.name));
        let network = |point: recoup_lab::scenario::Point| {
            let scenario = file.scenario(&point, &|name| self.file(name));
            let network = scenario.and_then(|scenario| scenario.network(1));
            let network = network.unwrap_or_else(|problems| panic!("{}: {problems}", self.name));
            (point.label(), network)
        };
        file.points().filter(|point| is_wanted(&point.label())).map(network).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use claim::{Class, Outcome};

    #[test]
    fn every_experiment_is_a_scenario_at_every_scale() {
        // Points at each scale, in their order.
        let points =
            [[265, 658, 658, 142], [184, 550, 550, 106], [81, 81, 81, 8], [193, 619, 627, 214]];
        for (study, points) in crate::all().into_iter().zip(points) {
            let scales = [Scale::Smoke, Scale::Check, Scale::Verdict, Scale::Paper];
            let found = scales.map(|scale| {
                let experiments = study.experiments(scale);
                experiments.iter().map(|it| it.networks().len()).sum::<usize>()
            });
            assert_eq!(found, points, "{}", study.key());
        }
    }

    #[test]
    fn served_figures_are_of_known_experiments() {
        for study in crate::all() {
            let serves: BTreeMap<String, Vec<String>> = toml::from_str(study.serves).unwrap();
            let mut known: Vec<_> = [Scale::Check, Scale::Verdict, Scale::Paper]
                .into_iter()
                .flat_map(|scale| study.experiments(scale))
                .map(|it| it.name)
                .collect();
            known.extend(study.sockets(Scale::Check).unwrap().experiments.iter().map(|it| it.name));
            let unknown = serves.keys().find(|name| !known.contains(&name.as_str()));
            assert_eq!(unknown, None, "{}", study.key());
        }
    }

    #[test]
    fn every_claim_has_a_rule_and_a_verdict() {
        // Arithmetic needs no runs.
        let arithmetic = ["E-14", "C-34"];
        for study in crate::all() {
            let claims = claim::read(study.claims).expect("claims that can be read");
            for (claim, verdict) in claims.iter().zip(study.judge(&Results::default())) {
                let Verdict { id, class, verdict, ours, .. } = verdict;
                let outcome = match class {
                    _ if arithmetic.contains(&id.as_str()) => Outcome::Holds,
                    Class::R | Class::M => Outcome::Open,
                    _ => Outcome::Reported,
                };
                assert_eq!((&claim.id, verdict), (&id, outcome), "{id}: {ours}");
                assert!(!ours.contains("no rule") && !claim.rule.is_empty(), "{id}");
                assert!(!(claim.used_for_inference() && claim.is_gating()), "{id}");
            }
        }
    }
}
