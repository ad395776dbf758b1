//! Metrics over the seeds of a point. Figures are made on request: few of hundreds of metrics are shown.
use super::Figure;
use crate::journal::{Metrics, Row};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// The metrics of the runs of a point.
#[derive(Debug)]
pub(super) struct Figures<'a> {
    pub(super) runs: Vec<Row>,
    /// Unit of each metric.
    units: &'a BTreeMap<String, String>,
}

impl<'a> Figures<'a> {
    pub(super) fn of(runs: Vec<Row>, units: &'a BTreeMap<String, String>) -> Self {
        Self { runs, units }
    }

    /// The metric called `name`.
    pub(super) fn get(&self, name: &str) -> Option<Figure<'a>> {
        let values: Vec<_> = self.runs.iter().filter_map(|run| run.metric(name)).collect();
        Figure::new(&values, self.units.get(name).map_or("", String::as_str))
    }

    /// Names of the metrics that `is_wanted`.
    pub(super) fn names(&self, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<&str> {
        let (mut names, mut before) = (BTreeSet::new(), None::<&Metrics>);
        for Row { metrics, .. } in &self.runs {
            if !before.is_some_and(|before| before.shares_names_with(metrics)) {
                names.extend(metrics.iter().map(|(name, _)| name).filter(|name| is_wanted(name)));
            }
            before = Some(metrics);
        }
        names
    }
}

impl Serialize for Figures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.names(|_| true).into_iter();
        serializer.collect_map(names.filter_map(|name| Some((name, self.get(name)?))))
    }
}
