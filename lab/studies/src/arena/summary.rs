//! The scores of a transport on a case, over seeds.
use super::score::{Score, Sharing};
use crate::rule::LEVEL;
use recoup_sim::statistic::Estimate;

/// The scores of a transport on a case. Estimates are means with 95 % intervals; none where no run has a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Runs.
    pub runs: usize,
    /// Runs that completed.
    pub completed: usize,
    /// Ratio to the best possible result, which is 1.
    pub factor: Option<Estimate>,
    /// The factors with their seeds.
    pub factors: Vec<(u64, f64)>,
    /// Completion time, in s.
    pub time_s: Option<Estimate>,
    /// 95th percentile of the queueing delay, in ms.
    pub queueing_ms: Option<Estimate>,
    /// Retransmissions, in % of segments.
    pub retransmitted_percent: Option<Estimate>,
    /// Spurious retransmissions, in % of segments.
    pub spurious_percent: Option<Estimate>,
    /// Share of the link that was used.
    pub utilisation: Option<Estimate>,
    /// Share of the consumers under test.
    pub share: Option<Estimate>,
    /// Jain's index of the consumers under test.
    pub jain: Option<Estimate>,
    /// Smallest goodput over the largest.
    pub min_max: Option<Estimate>,
    /// Seconds until shares are fair, of runs in which they become so.
    pub convergence_s: Option<Estimate>,
    /// Runs in which they become so.
    pub converged: usize,
}

impl Summary {
    /// Sums up the scores of seeds.
    pub fn new(scores: &[(u64, Score)]) -> Self {
        let of = |value: &dyn Fn(&Score) -> Option<f64>| {
            let values: Vec<f64> = scores.iter().filter_map(|(_, score)| value(score)).collect();
            Estimate::of(&values, LEVEL)
        };
        let sharing = |value: fn(&Sharing) -> Option<f64>| of(&|score| value(&score.sharing?));
        let convergence_s = sharing(|it| it.convergence_s);
        Self {
            runs: scores.len(),
            completed: scores.iter().filter(|(_, score)| score.completed).count(),
            factor: of(&|score| Some(score.factor)),
            factors: scores.iter().map(|(seed, score)| (*seed, score.factor)).collect(),
            time_s: of(&|score| score.time_s),
            queueing_ms: of(&|score| score.queueing_ms),
            retransmitted_percent: of(&|score| score.retransmitted_percent),
            spurious_percent: of(&|score| score.spurious_percent),
            utilisation: sharing(|it| Some(it.utilisation)),
            share: sharing(|it| Some(it.share)),
            jain: sharing(|it| Some(it.jain)),
            min_max: sharing(|it| Some(it.min_max)),
            converged: convergence_s.map_or(0, |it| it.count),
            convergence_s,
        }
    }

    /// Every figure by its name and unit, in the order of tables.
    pub fn figures(&self) -> [(&'static str, &'static str, Option<Estimate>); 10] {
        [
            ("factor", "", self.factor),
            ("time", "s", self.time_s),
            ("queueing-p95", "ms", self.queueing_ms),
            ("retransmitted", "%", self.retransmitted_percent),
            ("spurious", "%", self.spurious_percent),
            ("utilisation", "", self.utilisation),
            ("share", "", self.share),
            ("jain", "", self.jain),
            ("min-max", "", self.min_max),
            ("convergence", "s", self.convergence_s),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_a_figure_do_not_count() {
        let score = |factor, convergence_s| Score {
            completed: factor < 10.0,
            factor,
            sharing: Some(Sharing { convergence_s, ..Sharing::default() }),
            ..Score::default()
        };
        let scores =
            [(1, score(1.0, Some(4.0))), (2, score(2.0, None)), (3, score(12.0, Some(6.0)))];
        let summary = Summary::new(&scores);
        assert_eq!((summary.runs, summary.completed, summary.converged), (3, 2, 2));
        assert_eq!(summary.factor.map(|it| it.mean), Some(5.0));
        assert_eq!(summary.convergence_s.map(|it| it.mean), Some(5.0));
        assert_eq!(summary.time_s, None);
        assert_eq!(Summary::new(&[]).factor, None);
    }
}
