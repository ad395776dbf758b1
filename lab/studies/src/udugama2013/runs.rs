//! Results of one experiment at one value of the open parameter.
use super::open::Place;
use crate::result::{Curve, Results};
pub(super) use crate::rule::joined;
use recoup_sim::statistic::Seeded;

/// The runs of one experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs<'a> {
    pub results: &'a Results,
    pub place: Place,
}

impl<'a> Runs<'a> {
    /// The runs of one of the paper's own experiments.
    pub(super) fn of(results: &'a Results, experiment: &'static str) -> Self {
        Self { results, place: Place { experiment, rest: None } }
    }

    /// A metric at a point of the sweep, by seed.
    pub(super) fn values(&self, choice: &[(&str, &str)], metric: &str) -> Vec<Seeded> {
        let choice: Vec<_> = choice.iter().copied().chain(self.place.rest).collect();
        self.results.values(self.place.experiment, &choice, metric)
    }

    /// The tables of a record at a point, by seed; the point's axes in the order of the sweep.
    pub(super) fn tables(
        &self,
        choice: &[(&str, &str)],
        application: &str,
        table: &str,
    ) -> Vec<(u64, &'a Curve)> {
        let point = choice.iter().copied().chain(self.place.rest);
        let point: Vec<_> = point.map(|(axis, value)| format!("{axis}={value}")).collect();
        let name = format!("{}/{application}/{table}", point.join(", "));
        self.results.curves_of(self.place.experiment, &name).collect()
    }

    /// The first of these tables, which figures show.
    pub(super) fn table(
        &self,
        choice: &[(&str, &str)],
        application: &str,
        table: &str,
    ) -> Option<&'a Curve> {
        self.tables(choice, application, table).first().map(|(_, curve)| *curve)
    }
}
