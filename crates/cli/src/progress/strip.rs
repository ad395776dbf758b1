//! A series over the whole time of a transfer or run in bounded memory, and its drawing in a row of characters.

/// Most places of a strip.
const MOST: usize = 240;
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A series of values at equal intervals. If it is full, two neighbours become one.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    /// Seconds of one place.
    every: f64,
    values: Vec<f64>,
    join: fn(f64, f64) -> f64,
    is_sum: bool,
}

impl Strip {
    /// A series of which each place has the latest value of its interval, such as a window.
    pub(super) fn of_level(every: f64) -> Self {
        Self { every, values: Vec::new(), join: f64::max, is_sum: false }
    }

    /// A series whose value in each place is the sum over its interval, such as losses.
    pub(super) fn of_count(every: f64) -> Self {
        Self { every, values: Vec::new(), join: |one, other| one + other, is_sum: true }
    }

    /// Adds a value at `at` seconds, no earlier than the last one.
    pub(super) fn push(&mut self, at: f64, value: f64) {
        while at / self.every >= MOST as f64 {
            let pairs = self.values.chunks(2);
            let join = |pair: &[f64]| pair.iter().copied().reduce(self.join).unwrap_or_default();
            self.values = pairs.map(join).collect();
            self.every *= 2.0;
        }
        let place = (at / self.every) as usize;
        let last = if self.is_sum { 0.0 } else { self.values.last().copied().unwrap_or(value) };
        while self.values.len() <= place {
            self.values.push(last);
        }
        if let Some(there) = self.values.get_mut(place) {
            *there = if self.is_sum { *there + value } else { value };
        }
    }

    /// The largest value.
    pub(super) fn most(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// The series in at most so many characters; a full block is the largest value shown, and a blank is zero.
    pub(super) fn draw(&self, width: usize) -> String {
        let count = self.values.len();
        let cells = count.min(width);
        let of_cell = |cell: usize| {
            let span = cell * count / cells..(cell + 1) * count / cells;
            let values = self.values.get(span).unwrap_or_default();
            values.iter().copied().fold(0.0, f64::max)
        };
        let shown: Vec<f64> = (0..cells).map(of_cell).collect();
        let most = shown.iter().copied().fold(0.0, f64::max);
        let level = |value: f64| {
            let level = if most > 0.0 { (value / most * 8.0).ceil() as usize } else { 0 };
            LEVELS.get(level).copied().unwrap_or('█')
        };
        shown.into_iter().map(level).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_value_is_a_full_block() {
        let mut strip = Strip::of_level(1.0);
        for (at, value) in [(0.0, 1.0), (1.0, 8.0), (3.5, 4.0), (4.0, 0.0)] {
            strip.push(at, value);
        }
        assert_eq!(strip.draw(80), "▁██▄ ");
        assert_eq!(strip.most(), 8.0);
    }

    #[test]
    fn long_series_keep_their_sums() {
        let mut strip = Strip::of_count(0.1);
        for number in 0..10_000 {
            strip.push(f64::from(number) * 0.1, 1.0);
        }
        assert!(strip.values.len() <= MOST, "{}", strip.values.len());
        assert_eq!(strip.values.iter().sum::<f64>(), 10_000.0);
        assert_eq!(strip.draw(20).chars().count(), 20);
    }

    #[test]
    fn series_of_zeros_is_blank() {
        let mut strip = Strip::of_count(1.0);
        assert_eq!(strip.draw(10), "");
        strip.push(2.0, 0.0);
        assert_eq!(strip.draw(10), "   ");
    }
}
