//! Path loss and propagation delay of a signal.
//!
//! Friis, "A note on a simple transmission formula", 1946; log-distance as in Rappaport, "Wireless
//! Communications", 2002, §4.9. Chance (fading, shadowing) is in [`super::fading`].
use super::error::from_db;
use std::f64::consts::PI;

/// Metres per second.
pub const LIGHT: f64 = 299_792_458.0;

/// A place on the plane, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// East.
    pub x: f64,
    /// North.
    pub y: f64,
}

impl Position {
    /// The distance to another place, in metres.
    pub fn distance(self, other: Self) -> f64 {
        let (x, y) = (self.x - other.x, self.y - other.y);
        libm::sqrt(x * x + y * y)
    }
}

/// Model of path loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// Free space, at a carrier of that many Hz.
    Friis {
        /// Carrier, in Hz.
        frequency: f64,
    },
    /// `reference_db` at 1 m, and ten times the exponent for each decade.
    LogDistance {
        /// Loss at 1 m, in dB.
        reference_db: f64,
        /// Path loss exponent.
        exponent: f64,
    },
}

impl PathLoss {
    /// ns-3's log-distance model.
    pub const LOG_DISTANCE: Self = Self::LogDistance { reference_db: 46.6777, exponent: 3.0 };

    /// Received part of a power over `distance` metres, as a factor. In free space it is never above one; with the
    /// log-distance model, distances below 1 m count as 1 m.
    pub fn gain(self, distance: f64) -> f64 {
        Gain::new(self).at(distance)
    }

    /// The distance at which `loss_db` is reached, in metres.
    pub fn reach(self, loss_db: f64) -> f64 {
        match self {
            Self::Friis { frequency } => from_db(loss_db / 2.0) * LIGHT / (4.0 * PI * frequency),
            Self::LogDistance { reference_db, exponent } => {
                from_db((loss_db - reference_db) / exponent)
            }
        }
    }
}

/// A model of path loss whose gain at 1 m is computed once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gain {
    model: PathLoss,
    at_reference: f64,
}

impl Gain {
    pub(super) fn new(model: PathLoss) -> Self {
        let at_reference = match model {
            PathLoss::Friis { .. } => 1.0,
            PathLoss::LogDistance { reference_db, .. } => from_db(-reference_db),
        };
        Self { model, at_reference }
    }

    /// [`PathLoss::gain`].
    pub(super) fn at(&self, distance: f64) -> f64 {
        match self.model {
            PathLoss::Friis { frequency } => {
                let ratio = LIGHT / (4.0 * PI * distance * frequency);
                (ratio * ratio).min(1.0)
            }
            PathLoss::LogDistance { exponent, .. } => {
                self.at_reference * libm::pow(distance.max(1.0), -exponent)
            }
        }
    }
}

/// Time of a signal over `distance` metres, rounded to nanoseconds.
pub fn delay_nanos(distance: f64) -> u64 {
    (distance / LIGHT * 1e9 + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::super::error::to_db;
    use super::*;

    #[test]
    fn friis_loses_40_db_over_one_metre() {
        let friis = PathLoss::Friis { frequency: 2.412e9 };
        assert!((to_db(friis.gain(1.0)) + 40.096).abs() < 0.01, "{}", to_db(friis.gain(1.0)));
        assert!((16.0206 + to_db(friis.gain(787.0)) + 82.0).abs() < 0.01);
        assert_eq!(friis.gain(0.001), 1.0);
        assert!((friis.reach(16.0206 + 82.0) - 787.0).abs() < 1.0);
    }

    #[test]
    fn the_log_distance_model_reaches_51_metres() {
        let loss = PathLoss::LOG_DISTANCE;
        assert!((loss.reach(16.0 + 82.0) - 51.0).abs() < 0.5);
        assert!((to_db(loss.gain(0.2)) + 46.6777).abs() < 1e-9);
        assert!((to_db(loss.gain(100.0)) + 106.6777).abs() < 1e-9);
    }

    #[test]
    fn signal_takes_half_a_microsecond_over_150_m() {
        assert_eq!([150.0, 280.0, 500.0].map(delay_nanos), [500, 934, 1668]);
    }
}
