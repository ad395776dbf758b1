//! Smallest, largest, mean and deviation of round-trip times, as ping commands print them.
use recoup_transport::time::Duration;

/// Smallest, largest, mean and mean deviation of round-trip times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread {
    /// Number of values.
    pub count: u64,
    /// Smallest, in seconds.
    pub min: f64,
    /// Largest, in seconds.
    pub max: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    /// Takes one value.
    pub(crate) fn add(&mut self, value: Duration) {
        let value = value.as_secs_f64();
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Mean in seconds; 0 without values.
    pub(crate) fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// Standard deviation in seconds; 0 without values.
    pub(crate) fn deviation(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        (self.squares / self.count as f64 - self.mean() * self.mean()).max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_knows_its_mean_and_deviation() {
        let mut spread = Spread::default();
        for ms in [10, 20, 30] {
            spread.add(Duration::from_millis(ms));
        }
        assert!((spread.mean() - 0.020).abs() < 1e-12);
        assert!((spread.deviation() - 0.008165).abs() < 1e-6);
        assert_eq!((spread.min, spread.max), (0.010, 0.030));
    }
}
