//! Where an axis has its marks: where plotters would put them or, on a logarithmic one, at 1, 2 and 5 times powers of ten.
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::ops::Range;

/// Over so many powers of ten marks between them would crowd.
const MANY: f64 = 2.5;

/// A range of values as they are drawn, which are logarithms where the axis is logarithmic, with its marks.
#[derive(Clone)]
pub(super) struct Scale {
    range: RangedCoordf64,
    marks: Option<Vec<f64>>,
}

impl Scale {
    /// The scale of an axis from `low` to `high`.
    pub(super) fn new((low, high): (f64, f64), is_logarithmic: bool) -> Self {
        let marks = is_logarithmic.then(|| round_numbers(low, high)).filter(|it| it.len() > 1);
        Self { range: (low..high).into(), marks }
    }
}

impl Ranged for Scale {
    type FormatOption = plotters::coord::ranged1d::DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(value, limit)
    }

    fn key_points<Hint: plotters::coord::ranged1d::KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.marks.clone().unwrap_or_else(|| self.range.key_points(hint))
    }

    fn range(&self) -> Range<f64> {
        self.range.range()
    }
}

/// Logarithms of the round numbers at or beyond the ends of a range, which are two different ones.
pub(super) fn outward(low: f64, high: f64) -> (f64, f64) {
    let round = |power: i32| [1.0, 2.0, 5.0].map(|it: f64| it.log10() + f64::from(power));
    let from = (low.floor() as i32 - 1..=low.floor() as i32).flat_map(round);
    let from = from.filter(|mark| *mark <= low + 1e-9).fold(f64::NEG_INFINITY, f64::max);
    let mut to = (high.floor() as i32..=high.floor() as i32 + 1).flat_map(round);
    let to = to.find(|mark| *mark >= high - 1e-9 && *mark > from + 1e-9);
    (from, to.unwrap_or(from + 1.0))
}

/// Logarithms of the numbers from one to another that people count by.
fn round_numbers(low: f64, high: f64) -> Vec<f64> {
    let digits: &[f64] = if high - low > MANY { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = low.floor() as i32..=high.ceil() as i32;
    let all = powers.flat_map(|power| digits.iter().map(move |it| it.log10() + f64::from(power)));
    all.filter(|mark| (low - 1e-9..=high + 1e-9).contains(mark)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(low: f64, high: f64) -> Vec<f64> {
        let marks = round_numbers(low.log10(), high.log10());
        marks.iter().map(|mark| (10_f64.powf(*mark) * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn range_ends_at_round_numbers() {
        for ((low, high), ends) in [
            ((0.8, 8.4), (0.5, 10.0)),
            ((3.0, 3.5), (2.0, 5.0)),
            ((1.0, 1.0), (1.0, 2.0)),
            ((100.0, 5000.0), (100.0, 5000.0)),
            ((0.013, 0.9), (0.01, 1.0)),
        ] {
            let (from, to) = outward(f64::log10(low), f64::log10(high));
            let found = (10_f64.powf(from), 10_f64.powf(to));
            let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
            assert!(is_near(found.0, ends.0) && is_near(found.1, ends.1), "{found:?} {ends:?}");
        }
    }

    #[test]
    fn logarithmic_axis_counts_in_one_two_five() {
        assert_eq!(numbers(0.126, 1.0), [0.2, 0.5, 1.0]);
        assert_eq!(numbers(10.0, 1000.0), [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]);
        assert_eq!(numbers(10.0, 10_000.0), [10.0, 100.0, 1000.0, 10_000.0]);
        // Between 2.1 and 4.9 there is none of them.
        let own = Scale::new((2.1_f64.log10(), 4.9_f64.log10()), true);
        assert!(own.marks.is_none() && own.key_points(5).len() > 1);
    }
}
