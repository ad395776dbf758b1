//! Standing of a transport over all cases.
use super::case::{Case, Kind};
use super::summary::Summary;
use recoup_sim::statistic;

/// Standing of a transport over cases of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// Cases of which there is a run.
    pub cases: usize,
    /// Geometric mean of the cases' mean factors; 1 is the best possible.
    pub geometric_mean: Option<f64>,
    /// 95th percentile of these mean factors.
    pub p95: Option<f64>,
    /// The case with the largest mean factor, and that.
    pub worst: Option<(String, f64)>,
    /// Cases of which a run did not complete.
    pub incomplete: Vec<String>,
}

/// Completion times and sharing apart, in this order: a share has no completion time.
pub fn standings<'a>(results: impl IntoIterator<Item = (&'a Case, &'a Summary)>) -> [Standing; 2] {
    let all: Vec<_> = results.into_iter().filter(|(_, summary)| summary.runs > 0).collect();
    [false, true].map(|sharing| {
        let is_it = |case: &Case| matches!(case.terms.kind, Kind::Sharing { .. }) == sharing;
        Standing::new(all.iter().copied().filter(|(case, _)| is_it(case)))
    })
}

impl Standing {
    fn new<'a>(results: impl Iterator<Item = (&'a Case, &'a Summary)>) -> Self {
        let (mut standing, mut factors) = (Self::default(), Vec::new());
        for (case, summary) in results {
            let Some(factor) = summary.factor.map(|it| it.mean) else { continue };
            standing.cases += 1;
            factors.push(factor);
            if standing.worst.as_ref().is_none_or(|(_, worst)| factor > *worst) {
                standing.worst = Some((case.name.clone(), factor));
            }
            if summary.completed < summary.runs {
                standing.incomplete.push(case.name.clone());
            }
        }
        let logs: Vec<f64> = factors.iter().map(|it| it.max(f64::MIN_POSITIVE).ln()).collect();
        standing.geometric_mean = statistic::mean(&logs).map(f64::exp);
        standing.p95 = statistic::order::quantile(&factors, 0.95);
        standing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::cases;
    use crate::arena::score::Score;

    fn summary(factors: &[f64]) -> Summary {
        let score =
            |factor: &f64| Score { factor: *factor, completed: *factor < 50.0, ..Score::default() };
        let scores: Vec<_> = (1..).zip(factors.iter().map(score)).collect();
        Summary::new(&scores)
    }

    #[test]
    fn standing_is_the_geometric_mean_and_the_worst() {
        let cases = cases().unwrap();
        let of = |name: &str| cases.iter().find(|case| case.name == name).unwrap();
        let (clean, loss, twins) = (summary(&[1.0, 3.0]), summary(&[8.0]), summary(&[60.0]));
        let results = [(of("plain"), &clean), (of("loss-1"), &loss), (of("twins"), &twins)];
        let [completion, sharing] = standings(results);
        assert_eq!(completion.geometric_mean.map(|it| (it * 1e9).round() / 1e9), Some(4.0));
        assert_eq!(completion.p95.map(|it| (it * 1e9).round() / 1e9), Some(7.7));
        assert_eq!((completion.cases, completion.worst), (2, Some(("loss-1".to_owned(), 8.0))));
        assert_eq!(sharing.incomplete, ["twins"]);
        assert_eq!(standings([(of("plain"), &summary(&[]))])[0], Standing::default());
    }
}
