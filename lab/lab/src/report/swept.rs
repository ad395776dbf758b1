//! Metrics over the points of a sweep, for figures.
use super::{Report, scale};
use crate::Error;

/// Figures of more points show nothing that can be read.
pub const DRAWN: usize = 2_000;

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

impl Report<'_> {
    /// The metrics of the table over the points of the sweep; nothing without a sweep, or of more than [`DRAWN`] points.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn swept(&self) -> Result<Vec<Swept>, Error> {
        if !(2..=DRAWN).contains(&self.points.campaign.points.len()) {
            return Ok(Vec::new());
        }
        self.shown.iter().map(|metric| self.metric(metric)).collect()
    }

    fn metric(&self, metric: &str) -> Result<Swept, Error> {
        let (mut points, mut unit) = (Vec::new(), "");
        for point in self.points.iter() {
            let point = point?;
            let Some(figure) = point.metrics.get(metric) else { continue };
            unit = figure.unit;
            let half_width = figure.ci95.map_or(0.0, |[low, high]| (high - low) / 2.0);
            let mean = figure.mean;
            points.push(SweptPoint { values: point.axes, mean, half_width });
        }
        let largest = points.iter().map(|point| point.mean.abs()).fold(0.0, f64::max);
        let (divisor, unit) = scale(largest, unit);
        for point in &mut points {
            point.mean /= divisor;
            point.half_width /= divisor;
        }
        Ok(Swept { metric: metric.to_owned(), unit, points })
    }
}
