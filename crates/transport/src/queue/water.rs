//! Max-min fair shares: a flow below the fair level gets its demand, all others get the level.
//!
//! Source: progressive filling, as in Udugama et al., hop-by-hop fairness (2013), and Bertsekas and Gallager, "Data
//! Networks", section 6.5.2.
//!
//! Method: demands are kept as a histogram with 64 steps to each doubling. A flow that is added, removed or changed
//! updates two counters. The level is cached until then. One pass over at most 36 octaves and the 64 steps of one of
//! them finds it, however many flows there are.
//!
//! Differences: a demand is rounded to the nearest step, by 0.8 % at most, which is less than the error of an
//! estimate from packet gaps. For the rounded demands the level is exact: all values are whole bits per second.

use std::cell::Cell;

/// Steps to a doubling.
const STEPS: u16 = 64;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// The largest demand: 2⁴⁰ bits per second.
const LARGEST_BITS: u32 = 40;
const OCTAVES: usize = (LARGEST_BITS - STEP_BITS) as usize + 2;

/// Demand of a flow, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Demand(u16);

impl Demand {
    /// Unlimited demand.
    pub const UNBOUNDED: Self = Self(u16::MAX);
    /// No demand.
    pub const NOTHING: Self = Self(0);

    /// A demand in bits per second, rounded to the nearest step.
    #[must_use]
    pub fn of(bits: u64) -> Self {
        let bits = bits.min(1 << LARGEST_BITS);
        if bits < u64::from(STEPS) {
            return Self(bits as u16);
        }
        let exponent = bits.ilog2() - STEP_BITS;
        let half = (1 << exponent) >> 1;
        let bits = bits + half;
        let exponent = bits.ilog2() - STEP_BITS;
        let step = (bits >> exponent) as u16 - STEPS;
        Self((exponent as u16 + 1) * STEPS + step)
    }

    /// Its bits per second.
    #[must_use]
    pub fn bits(self) -> u64 {
        let (octave, step) = (self.0 / STEPS, self.0 % STEPS);
        match octave {
            0 => u64::from(step),
            _ if self == Self::UNBOUNDED => u64::MAX,
            _ => u64::from(STEPS + step) << (octave - 1),
        }
    }
}

/// The demands of many flows.
#[derive(Clone, Debug)]
pub struct Demands {
    octaves: [Option<Box<Octave>>; OCTAVES],
    count: u64,
    sum_bits: u64,
    unbounded: u64,
    /// The last capacity and its level, until a demand changes.
    known: Cell<Option<(u64, Option<u64>)>>,
}

#[derive(Clone, Debug)]
struct Octave {
    count: u64,
    sum_bits: u64,
    steps: [u32; STEPS as usize],
}

impl Default for Demands {
    fn default() -> Self {
        let octaves = std::array::from_fn(|_| None);
        Self { octaves, count: 0, sum_bits: 0, unbounded: 0, known: Cell::new(None) }
    }
}

impl Demands {
    /// Adds the demand of a flow.
    pub fn add(&mut self, demand: Demand) {
        self.known.set(None);
        if demand == Demand::UNBOUNDED {
            self.unbounded += 1;
            return;
        }
        let octave = self.octaves[usize::from(demand.0 / STEPS)].get_or_insert_with(|| {
            Box::new(Octave { count: 0, sum_bits: 0, steps: [0; STEPS as usize] })
        });
        octave.count += 1;
        octave.sum_bits += demand.bits();
        octave.steps[usize::from(demand.0 % STEPS)] += 1;
        self.count += 1;
        self.sum_bits += demand.bits();
    }

    /// Removes the demand of a flow.
    pub fn remove(&mut self, demand: Demand) {
        self.known.set(None);
        if demand == Demand::UNBOUNDED {
            self.unbounded -= 1;
            return;
        }
        let Some(octave) = &mut self.octaves[usize::from(demand.0 / STEPS)] else {
            return debug_assert!(false, "only what was added is removed");
        };
        octave.count -= 1;
        octave.sum_bits -= demand.bits();
        octave.steps[usize::from(demand.0 % STEPS)] -= 1;
        self.count -= 1;
        self.sum_bits -= demand.bits();
    }

    /// Replaces the demand of a flow.
    pub fn replace(&mut self, before: Demand, after: Demand) {
        if before != after {
            self.remove(before);
            self.add(after);
        }
    }

    /// Number of flows with unlimited demand.
    #[must_use]
    pub fn unbounded(&self) -> u64 {
        self.unbounded
    }

    /// The fair level of `capacity` bits per second: a flow below it gets its demand, all others get the level.
    /// `None` if the capacity suffices for all.
    #[must_use]
    pub fn level(&self, capacity: u64) -> Option<u64> {
        if self.unbounded == 0 && self.sum_bits <= capacity {
            return None;
        }
        if let Some((of, level)) = self.known.get()
            && of == capacity
        {
            return level;
        }
        let level = self.fill(capacity);
        self.known.set(Some((capacity, level)));
        level
    }

    fn fill(&self, capacity: u64) -> Option<u64> {
        let (mut rest, mut flows) = (capacity, self.count + self.unbounded);
        for (number, octave) in self.octaves.iter().enumerate() {
            let Some(octave) = octave.as_deref().filter(|octave| octave.count > 0) else {
                continue;
            };
            let highest = Demand(number as u16 * STEPS + STEPS - 1).bits();
            let above = flows - octave.count;
            // All of them lie below the level.
            if rest >= octave.sum_bits.saturating_add(above.saturating_mul(highest)) {
                (rest, flows) = (rest - octave.sum_bits, above);
                continue;
            }
            for (step, many) in octave.steps.iter().enumerate().filter(|(_, many)| **many > 0) {
                let bits = Demand(number as u16 * STEPS + step as u16).bits();
                if rest < bits.saturating_mul(flows) {
                    return Some((rest / flows).max(1));
                }
                rest -= bits * u64::from(*many);
                flows -= u64::from(*many);
            }
        }
        (flows > 0).then(|| (rest / flows).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Progressive filling as in the paper: rounds until no flow wants less than an equal part of the rest.
    fn reference(capacity: f64, demands: &[f64]) -> Vec<f64> {
        let mut shares = vec![f64::NAN; demands.len()];
        let (mut rest, mut open): (f64, Vec<usize>) = (capacity, (0..demands.len()).collect());
        loop {
            let equal = rest / open.len() as f64;
            let (less, more): (Vec<_>, Vec<_>) =
                open.iter().copied().partition(|flow| demands[*flow] < equal);
            if less.is_empty() {
                more.iter().for_each(|flow| shares[*flow] = equal);
                return shares;
            }
            for flow in less {
                shares[flow] = demands[flow];
                rest -= demands[flow];
            }
            open = more;
        }
    }

    fn demands(of: &[Demand]) -> Demands {
        let mut demands = Demands::default();
        of.iter().for_each(|demand| demands.add(*demand));
        demands
    }

    #[test]
    fn textbook_example_is_reproduced() {
        let four = demands(&[2_000, 2_600, 4_000, 5_000].map(Demand::of));
        // Bertsekas and Gallager's numbers: 2, 2.6, and 2.7 for the others.
        let level = four.level(10_000).unwrap();
        assert!(level.abs_diff(2_700) <= 20, "{level}");
        assert_eq!(four.level(20_000), None);
        assert_eq!(demands(&[]).level(5), None);
        assert_eq!(demands(&[Demand::UNBOUNDED]).level(5), Some(5));
    }

    proptest! {
        #[test]
        fn demand_is_rounded_by_less_than_1_128th(bits in 1..(1_u64 << 40)) {
            let rounded = Demand::of(bits).bits();
            prop_assert!(rounded.abs_diff(bits) as f64 <= bits as f64 / 128.0);
            prop_assert_eq!(Demand::of(rounded).bits(), rounded);
        }

        #[test]
        fn shares_are_those_of_progressive_filling(
            bits in proptest::collection::vec(0..30_000_000_u64, 1..40),
            greedy in 0..4_usize,
            capacity in 1_000..100_000_000_u64,
        ) {
            let mut of: Vec<_> = bits.iter().map(|bits| Demand::of(*bits)).collect();
            of.extend(vec![Demand::UNBOUNDED; greedy]);
            let wanted: Vec<_> = of.iter().map(|demand| match *demand {
                Demand::UNBOUNDED => f64::INFINITY,
                bounded => bounded.bits() as f64,
            }).collect();
            let level = demands(&of).level(capacity).map_or(f64::INFINITY, |bits| bits as f64);
            let expected = reference(capacity as f64, &wanted);
            for (want, share) in wanted.iter().zip(expected) {
                // An unused equal part of the rest exceeds the demand.
                let (given, share) = (want.min(level), share.min(*want));
                prop_assert!((given - share).abs() <= 1.0, "{given} {share} of {want} at {level}");
            }
        }

        #[test]
        fn removed_demands_leave_no_trace(
            bits in proptest::collection::vec(0..1_u64 << 41, 0..40),
        ) {
            let of: Vec<_> = bits.iter().map(|bits| Demand::of(*bits)).collect();
            let mut all = demands(&of);
            for pair in of.windows(2) {
                all.replace(pair[0], pair[1]);
                all.replace(pair[1], pair[0]);
            }
            of.iter().for_each(|demand| all.remove(*demand));
            prop_assert_eq!((all.count, all.sum_bits, all.unbounded), (0, 0, 0));
        }
    }
}
