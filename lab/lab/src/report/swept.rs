//! Metrics over the points of a sweep, for figures.
use super::{Report, scale};

/// A metric at each point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept {
    /// Name of the metric.
    pub metric: String,
    /// Its unit, scaled for the largest mean; empty where there is none.
    pub unit: String,
    /// The points that have it, in the order of the sweep.
    pub points: Vec<SweptPoint>,
}

/// The mean of a metric over the seeds of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptPoint {
    /// The axes of the sweep with the point's values.
    pub values: Vec<(String, String)>,
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval; 0 for a single run.
    pub half_width: f64,
}

impl Report {
    /// The metrics of the table over the points of the sweep; nothing without a sweep.
    pub fn swept(&self) -> Vec<Swept> {
        if self.points.len() < 2 {
            return Vec::new();
        }
        self.shown.iter().map(|metric| self.metric(metric)).collect()
    }

    fn metric(&self, metric: &str) -> Swept {
        let figures =
            || self.points.iter().filter_map(|point| Some((point, point.metrics.get(metric)?)));
        let largest = figures().map(|(_, figure)| figure.mean.abs()).fold(0.0, f64::max);
        let unit = figures().next().map_or_else(String::new, |(_, figure)| figure.unit);
        let (divisor, unit) = scale(largest, &unit);
        let points = figures().map(|(point, figure)| SweptPoint {
            values: point.axes.clone(),
            mean: figure.mean / divisor,
            half_width: figure.ci95.map_or(0.0, |[low, high]| (high - low) / 2.0 / divisor),
        });
        Swept { metric: metric.to_owned(), unit, points: points.collect() }
    }
}
