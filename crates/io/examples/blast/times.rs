//! Round trips, and their quantiles.
use std::time::Duration;

/// Round trips seen so far.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Prints median, 99th and 99.9th percentile in microseconds, if there is anything to print.
    pub(crate) fn print(&mut self) {
        self.0.sort_unstable();
        for (name, share) in [("median_us", 0.5), ("p99_us", 0.99), ("p999_us", 0.999)] {
            let place = (self.0.len() as f64 * share) as usize;
            if let Some(time) = self.0.get(place) {
                println!("{name} {}", time.as_secs_f64() * 1e6);
            }
        }
    }
}
