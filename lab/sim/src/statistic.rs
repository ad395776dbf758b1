//! Statistics within a run and over runs: means with confidence intervals, comparisons of paired
//! seeds, quantiles, Jain's index of fairness, rank correlation.
//!
//! Sources: Student's t intervals as in any textbook (quantile in [`student`]); quantiles are type 7 of
//! Hyndman & Fan 1996; fairness is Jain, Chiu & Hawe 1984. Every sum runs in the order of its values
//! and every transcendental function comes from `libm`, so the same values give the same bits.
//! Differences: none.
pub mod histogram;
pub mod moments;
pub mod order;
pub mod student;

use std::cmp::Ordering;

/// Mean of some values, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Number of values.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (of a sample: divided by `count - 1`); 0 for a single value.
    pub sd: f64,
    /// Half the width of the confidence interval; infinite for a single value.
    pub half_width: f64,
}

impl Estimate {
    /// The mean of `values` with its confidence interval at `level`, such as 0.95. `None` if there is no value, one is
    /// not
    /// finite, or the level does not lie between 0 and 1.
    pub fn of(values: &[f64], level: f64) -> Option<Self> {
        let usable = !values.is_empty() && values.iter().all(|value| value.is_finite());
        if !(usable && level > 0.0 && level < 1.0) {
            return None;
        }
        let (count, mean, sd) = (values.len(), mean(values)?, sd(values).unwrap_or(0.0));
        let half_width = if count < 2 {
            f64::INFINITY
        } else {
            let freedom = (count - 1) as f64;
            student::quantile(f64::midpoint(1.0, level), freedom) * sd / (count as f64).sqrt()
        };
        Some(Self { count, mean, sd, half_width })
    }

    /// Lower end of the interval.
    pub fn low(&self) -> f64 {
        self.mean - self.half_width
    }

    /// Upper end of the interval.
    pub fn high(&self) -> f64 {
        self.mean + self.half_width
    }

    /// The side of `value` on which the whole interval lies; `None` if it holds `value`. `Equal` only if all values are
    /// `value` itself.
    pub fn compare(&self, value: f64) -> Option<Ordering> {
        if self.low() > value {
            Some(Ordering::Greater)
        } else if self.high() < value {
            Some(Ordering::Less)
        } else {
            (self.half_width == 0.0).then_some(Ordering::Equal)
        }
    }
}

/// One value of each run, with the run's seed.
pub type Seeded = (u64, f64);

/// Difference `ours - theirs` between runs of the same seed; seeds that only one side has are left
/// out. `None` where [`Estimate::of`] gives none.
pub fn paired(ours: &[Seeded], theirs: &[Seeded], level: f64) -> Option<Estimate> {
    let pairs = pairs(ours, theirs);
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    Estimate::of(&differences, level)
}

/// The values of seeds that both sides have, in the order of the seeds.
fn pairs(ours: &[Seeded], theirs: &[Seeded]) -> Vec<(f64, f64)> {
    let by_seed =
        |side: &[Seeded]| side.iter().copied().collect::<std::collections::BTreeMap<_, _>>();
    let theirs = by_seed(theirs);
    let found = by_seed(ours).into_iter().filter_map(|(seed, a)| Some((a, *theirs.get(&seed)?)));
    found.collect()
}

/// The mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample (divided by one less than their number); `None` of fewer than
/// two values.
pub fn sd(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Jain's index of fairness, `(Σx)² / (n Σx²)`: 1 if all shares are equal, `1/n` if one share is all; `None` if
/// there are no shares, or all are zero.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_a_known_sample_matches_the_textbook() {
        // Mean 5, sd 2.138, n = 8: half width 2.3646 * 2.138 / sqrt(8) = 1.7875.
        let estimate = Estimate::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0], 0.95).unwrap();
        assert!((estimate.mean - 5.0).abs() < 1e-12);
        assert!((estimate.sd - 2.138_089_935).abs() < 1e-9);
        assert!((estimate.half_width - 1.787_481_5).abs() < 1e-5, "{estimate:?}");
    }

    #[test]
    fn single_value_has_no_spread() {
        let estimate = Estimate::of(&[3.0], 0.95).unwrap();
        assert_eq!((estimate.low(), estimate.high()), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(estimate.compare(1000.0), None);
    }

    #[test]
    fn what_is_not_a_number_makes_no_estimate() {
        assert_eq!(Estimate::of(&[], 0.95), None);
        assert_eq!(Estimate::of(&[1.0, f64::NAN], 0.95), None);
        assert_eq!(Estimate::of(&[1.0, 2.0], 1.0), None);
    }

    #[test]
    fn pairing_shows_differences_below_the_spread() {
        let theirs: Vec<Seeded> = (0..10).map(|seed| (seed, 10.0 * seed as f64)).collect();
        let ours: Vec<Seeded> =
            theirs.iter().map(|(seed, value)| (*seed, value + 1.0 + 0.01 * *seed as f64)).collect();
        let difference = paired(&ours, &theirs, 0.95).unwrap();
        assert_eq!(difference.compare(0.0), Some(Ordering::Greater));
        assert_eq!(difference.compare(1.04), None);
    }

    #[test]
    fn seeds_without_a_partner_do_not_count() {
        let ours = [(1, 2.0), (2, 4.0), (3, 100.0)];
        let theirs = [(2, 2.0), (1, 1.0)];
        assert_eq!(paired(&ours, &theirs, 0.95).map(|it| (it.count, it.mean)), Some((2, 1.5)));
        assert_eq!(paired(&ours, &[], 0.95), None);
    }

    #[test]
    fn jain_index_spans_its_range() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain(&[3.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
