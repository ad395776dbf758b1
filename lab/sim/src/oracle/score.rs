//! Counts of judged timeouts, and the metrics made from them (see [`crate::oracle`]).
use super::{Timeout, Verdict};
use crate::statistic::mean;
use crate::statistic::moments::Moments;

/// Judged timeouts of one consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Spurious timeouts.
    pub bad: u64,
    /// Necessary ones.
    pub good: u64,
    /// Timeouts that were open at the end of the run.
    pub undecided: u64,
    /// RTO over RTT of the necessary ones.
    pub relative: Moments,
}

impl Score {
    /// Counts a judged timeout.
    pub fn add(&mut self, timeout: &Timeout) {
        match timeout.verdict {
            Verdict::Bad => self.bad += 1,
            Verdict::Undecided => self.undecided += 1,
            Verdict::Good => {
                self.good += 1;
                if let Some(relative) = timeout.relative() {
                    self.relative.add(relative);
                }
            }
        }
    }

    /// `ρ`: the share of spurious ones; `None` if none was decided.
    pub fn bad_share(&self) -> Option<f64> {
        let decided = self.bad + self.good;
        (decided > 0).then(|| self.bad as f64 / decided as f64)
    }

    /// `φ`: mean timeout in round-trip times; `None` without a necessary timeout.
    pub fn relative_wait(&self) -> Option<f64> {
        self.relative.mean()
    }
}

/// A mean over consumers, and how many had nothing to contribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverConsumers {
    /// The mean; `None` if no consumer contributed.
    pub mean: Option<f64>,
    /// Consumers that contributed.
    pub consumers: usize,
    /// Consumers that were left out.
    pub excluded: usize,
}

/// `B`: mean share of spurious timeouts.
pub fn b<'a>(scores: impl IntoIterator<Item = &'a Score>) -> OverConsumers {
    over(scores.into_iter().map(Score::bad_share))
}

/// `W`: mean timeout in round-trip times of necessary timeouts.
pub fn w<'a>(scores: impl IntoIterator<Item = &'a Score>) -> OverConsumers {
    over(scores.into_iter().map(Score::relative_wait))
}

fn over(shares: impl Iterator<Item = Option<f64>>) -> OverConsumers {
    let shares: Vec<Option<f64>> = shares.collect();
    let present: Vec<f64> = shares.iter().copied().flatten().collect();
    let consumers = present.len();
    OverConsumers { mean: mean(&present), consumers, excluded: shares.len() - consumers }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(bad: u64, good: u64, relative: &[f64]) -> Score {
        let mut score = Score { bad, good, ..Score::default() };
        relative.iter().for_each(|value| score.relative.add(*value));
        score
    }

    #[test]
    fn consumers_without_timeouts_are_left_out_and_counted() {
        let scores = [score(1, 3, &[2.0, 4.0]), score(0, 0, &[]), score(3, 0, &[])];
        let b = b(&scores);
        assert_eq!((b.mean, b.consumers, b.excluded), (Some(0.625), 2, 1));
        let w = w(&scores);
        assert_eq!((w.mean, w.consumers, w.excluded), (Some(3.0), 1, 2));
    }
}
