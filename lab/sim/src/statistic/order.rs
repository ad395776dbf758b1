//! Statistics of order: quantiles and rank correlation.
//!
//! Sources: Hyndman & Fan 1996, type 7 (linear between the order statistics); Spearman 1904, with mean
//! ranks for ties. Differences: none.

/// The quantile `p` (0 to 1) of `values`, in any order; `None` of nothing or where one is NaN.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, p)
}

/// The quantile `p` of values that ascend already.
pub fn quantile_of_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.iter().any(|value| value.is_nan()) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    let position = p.clamp(0.0, 1.0) * last as f64;
    let below = libm::floor(position) as usize;
    let (low, high) = (sorted[below.min(last)], sorted[(below + 1).min(last)]);
    Some(if low == high { low } else { low + (position - below as f64) * (high - low) })
}

/// Spearman's rank correlation of pairs: 1 where one rises with the other, -1 where it falls; `None`
/// of fewer than two pairs, and where one side does not vary.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let ours = ranks(pairs.iter().map(|pair| pair.0));
    let theirs = ranks(pairs.iter().map(|pair| pair.1));
    correlation(&ours, &theirs)
}

/// Rank of each value, from 0; equal values share the mean of theirs.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> =
        values.enumerate().map(|(place, value)| (value, place)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0.0; order.len()];
    let mut first = 0;
    for equal in order.chunk_by(|a, b| a.0 == b.0) {
        let rank = first as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|(_, place)| ranks[*place] = rank);
        first += equal.len();
    }
    ranks
}

/// Pearson's correlation.
fn correlation(ours: &[f64], theirs: &[f64]) -> Option<f64> {
    let (mean_ours, mean_theirs) = (super::mean(ours)?, super::mean(theirs)?);
    let (mut both, mut own, mut other) = (0.0, 0.0, 0.0);
    for (a, b) in ours.iter().zip(theirs) {
        let (a, b) = (a - mean_ours, b - mean_theirs);
        both += a * b;
        own += a * a;
        other += b * b;
    }
    (own > 0.0 && other > 0.0).then(|| both / (own * other).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_interpolates_between_neighbours() {
        let values = [40.0, 10.0, 20.0, 30.0];
        assert_eq!(quantile(&values, 0.0), Some(10.0));
        assert_eq!(quantile(&values, 0.5), Some(25.0));
        assert_eq!(quantile(&values, 0.9), Some(37.0));
        assert_eq!(quantile(&values, 1.0), Some(40.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0, f64::NAN], 0.5), None);
        assert_eq!(quantile(&[1.0, f64::INFINITY, f64::INFINITY], 0.75), Some(f64::INFINITY));
    }

    #[test]
    fn ranks_rise_together_whatever_the_shape() {
        let rising = [(0.0, 1.0), (25.0, 1.1), (50.0, 8.0), (200.0, 9000.0)];
        assert_eq!(spearman(&rising), Some(1.0));
        let falling = rising.map(|(a, b)| (a, -b));
        assert_eq!(spearman(&falling), Some(-1.0));
        assert_eq!(spearman(&[(1.0, 5.0), (2.0, 5.0)]), None);
        // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3.
        let tied = spearman(&[(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (3.0, 4.0)]).unwrap();
        assert!((tied - 0.948_683_298).abs() < 1e-9);
    }
}
