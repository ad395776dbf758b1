//! Results of experiments.
use recoup_lab::Error;
use recoup_lab::campaign::Campaign;
pub use recoup_lab::curve::Curve;
use recoup_lab::folder::ResultFolder;
use recoup_sim::statistic::Seeded;
use std::collections::BTreeMap;

/// A run of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The point of the sweep: dotted path and value, as the scenario spells them.
    pub point: BTreeMap<String, String>,
    /// Its seed.
    pub seed: u64,
    /// Metrics by name; an example is `c1.time_s`.
    pub metrics: BTreeMap<String, f64>,
}

/// All runs of all experiments of a study, by the experiment's name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The rows of each experiment, by point and seed.
    pub experiments: BTreeMap<String, Vec<Row>>,
    /// Curves by experiment and name, `POINT/APPLICATION/TABLE`, then by seed.
    pub curves: BTreeMap<(String, String), BTreeMap<u64, Curve>>,
}

/// The runs of a campaign that are in a folder, for studies.
///
/// # Errors
/// If the journal cannot be read.
pub fn rows(campaign: &Campaign, folder: &ResultFolder) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for stage in campaign.points.iter() {
        rows.extend(campaign.rows(folder, &stage)?.into_iter().map(|row| Row {
            point: stage.point.values.iter().cloned().collect(),
            seed: row.seed,
            metrics: row.metrics.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }));
    }
    Ok(rows)
}

impl Results {
    /// The curve of that name that figures show: that of the lowest seed.
    pub fn curve(&self, experiment: &str, name: &str) -> Option<&Curve> {
        self.curves_of(experiment, name).next().map(|(_, curve)| curve)
    }

    /// The curves of that name, ordered by seed.
    pub fn curves_of(&self, experiment: &str, name: &str) -> impl Iterator<Item = (u64, &Curve)> {
        let all = self.curves.get(&(experiment.to_owned(), name.to_owned()));
        all.into_iter().flatten().map(|(seed, curve)| (*seed, curve))
    }

    /// The values of `metric` over the seeds, at the point of `experiment` that has all of `choice`;
    /// ordered by seed.
    pub fn values(&self, experiment: &str, choice: &[(&str, &str)], metric: &str) -> Vec<Seeded> {
        let rows = self.experiments.get(experiment).into_iter().flatten();
        let mut chosen: Vec<_> = rows
            .filter(|row| {
                choice
                    .iter()
                    .all(|(path, value)| row.point.get(*path).is_some_and(|it| it == value))
            })
            .filter_map(|row| Some((row.seed, *row.metrics.get(metric)?)))
            .collect();
        chosen.sort_by_key(|(seed, _)| *seed);
        chosen
    }
}
