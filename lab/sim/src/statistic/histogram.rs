//! A histogram of whole numbers with a bounded relative error.
//!
//! Buckets are as wide as 1/512 of the power of two they lie in (log-linear, as HdrHistogram). So a quantile is within
//! 0.1 %, and memory grows with the logarithm of the range: 2 KiB for each octave with a value. Differences: none.

/// Buckets of an octave, as a power of two.
const BITS: u32 = 9;
const BUCKETS: usize = 1 << BITS;

/// Number of values per bucket. Counts stop at `u32::MAX` per bucket.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    octaves: Vec<Option<Box<[u32; BUCKETS]>>>,
    count: u64,
}

impl Histogram {
    /// Counts `value`.
    pub fn add(&mut self, value: u64) {
        let (octave, bucket) = place(value);
        if self.octaves.len() <= octave {
            self.octaves.resize(octave + 1, None);
        }
        let buckets = self.octaves[octave].get_or_insert_with(|| Box::new([0; BUCKETS]));
        buckets[bucket] = buckets[bucket].saturating_add(1);
        self.count += 1;
    }

    /// Counts all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.octaves.len() < other.octaves.len() {
            self.octaves.resize(other.octaves.len(), None);
        }
        for (ours, theirs) in self.octaves.iter_mut().zip(&other.octaves) {
            let Some(theirs) = theirs else {
                continue;
            };
            let ours = ours.get_or_insert_with(|| Box::new([0; BUCKETS]));
            for (ours, theirs) in ours.iter_mut().zip(theirs.iter()) {
                *ours = ours.saturating_add(*theirs);
            }
        }
        self.count += other.count;
    }

    /// The middle of the bucket in which the value stands that the share `p` of all does not exceed.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let rank = (libm::ceil(p.clamp(0.0, 1.0) * self.count as f64) as u64).max(1);
        let mut below = 0;
        self.buckets().find_map(|(middle, count)| {
            below += u64::from(count);
            (below >= rank).then_some(middle)
        })
    }

    /// Middle and count of the buckets that are not empty, ascending.
    fn buckets(&self) -> impl Iterator<Item = (f64, u32)> {
        let octaves = self.octaves.iter().enumerate();
        octaves
            .filter_map(|(octave, buckets)| Some((octave, buckets.as_ref()?)))
            .flat_map(|(octave, buckets)| {
                buckets
                    .iter()
                    .enumerate()
                    .map(move |(bucket, count)| (middle(octave, bucket), *count))
            })
            .filter(|(_, count)| *count > 0)
    }
}

/// Octave and bucket of a value; octave 0 holds those that are exact.
fn place(value: u64) -> (usize, usize) {
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
    let shift = octave.saturating_sub(1);
    (octave as usize, (value >> shift) as usize & (BUCKETS - 1))
}

fn middle(octave: usize, bucket: usize) -> f64 {
    if octave == 0 {
        return bucket as f64;
    }
    let width = (1_u64 << (octave - 1)) as f64;
    (BUCKETS + bucket) as f64 * width + (width - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_numbers_are_exact() {
        let mut histogram = Histogram::default();
        for value in [3, 1, 2, 1023] {
            histogram.add(value);
        }
        assert_eq!(histogram.quantile(0.5), Some(2.0));
        assert_eq!(histogram.quantile(1.0), Some(1023.0));
        assert_eq!(histogram.quantile(0.0), Some(1.0));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    proptest! {
        #[test]
        fn bucket_is_within_a_thousandth(value: u64) {
            let (octave, bucket) = place(value);
            let middle = middle(octave, bucket);
            prop_assert!((middle - value as f64).abs() <= value as f64 / 1024.0, "{value} in {middle}");
        }

        #[test]
        fn quantiles_are_near_those_of_the_sorted_values(
            mut values in proptest::collection::vec(0_u64..10_000_000_000, 1..200),
            p in 0.01..1.0_f64,
        ) {
            let mut histogram = Histogram::default();
            let (some, others) = values.split_at(values.len() / 2);
            some.iter().for_each(|value| histogram.add(*value));
            let mut rest = Histogram::default();
            others.iter().for_each(|value| rest.add(*value));
            histogram.merge(&rest);
            values.sort_unstable();
            let exact = values[(libm::ceil(p * values.len() as f64) as usize).max(1) - 1] as f64;
            let found = histogram.quantile(p).unwrap();
            prop_assert!((found - exact).abs() <= exact / 1024.0, "{found}, not {exact}");
        }
    }
}
