//! Metrics over the seeds of a point. Figures are made on request: a sweep has many points, and few of their
//! metrics are shown.
use super::Figure;
use crate::journal::Metrics;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The metrics of the runs of a point.
#[derive(Debug)]
pub(super) struct Figures {
    runs: Vec<Metrics>,
    /// Unit of each metric.
    units: Arc<BTreeMap<String, String>>,
}

impl Figures {
    pub(super) fn of(
        runs: impl Iterator<Item = Metrics>,
        units: &Arc<BTreeMap<String, String>>,
    ) -> Self {
        Self { runs: runs.collect(), units: Arc::clone(units) }
    }

    /// The metric called `name`.
    pub(super) fn get(&self, name: &str) -> Option<Figure> {
        let values: Vec<_> = self.runs.iter().filter_map(|run| run.get(name)).collect();
        Figure::new(&values, self.units.get(name).cloned().unwrap_or_default())
    }

    /// Names of the metrics of several points.
    pub(super) fn names<'a>(points: impl Iterator<Item = &'a Self>) -> BTreeSet<&'a str> {
        let (mut names, mut before) = (BTreeSet::new(), None::<&Metrics>);
        for run in points.flat_map(|point| &point.runs) {
            if !before.is_some_and(|before| before.shares_names_with(run)) {
                names.extend(run.iter().map(|(name, _)| name));
            }
            before = Some(run);
        }
        names
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = Self::names(std::iter::once(self)).into_iter();
        serializer.collect_map(names.filter_map(|name| Some((name, self.get(name)?))))
    }
}
