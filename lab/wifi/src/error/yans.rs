//! The union bound of YANS: the first one or two terms of the code's distance spectrum.
//!
//! Lacage and Henderson, "Yet another network simulator", 2006; spectra from Frenger et al.,
//! "Multi-rate convolutional codes", 1998. Binomial sums leave out the last term, as ns-3 does.
use super::super::rate::Rate;
use super::{Code, Coding};

pub(super) fn success(coding: Coding, rate: Rate, snr: f64, bits: u64) -> f64 {
    let spread = f64::from(rate.width_mhz()) * 1e6;
    let coded_bits = rate.bits() as f64 / coding.ratio();
    let uncoded = uncoded(coding.points, snr * spread / coded_bits);
    if uncoded <= 0.0 {
        return 1.0;
    }
    let (free, weight, next) = spectrum(coding);
    let mut event = weight * wrong_path(uncoded, free);
    if next > 0.0 {
        event += next * wrong_path(uncoded, free + 1);
    }
    libm::pow(1.0 - event.min(1.0), bits as f64)
}

/// Bit error rate at a ratio of energy per coded bit to noise.
fn uncoded(points: u32, ratio: f64) -> f64 {
    if points == 2 {
        return 0.5 * libm::erfc(libm::sqrt(ratio));
    }
    let m = f64::from(points);
    let bits = libm::log2(m);
    let z = libm::sqrt(1.5 * bits * ratio / (m - 1.0));
    let axis = (1.0 - 1.0 / libm::sqrt(m)) * libm::erfc(z);
    (1.0 - (1.0 - axis) * (1.0 - axis)) / bits
}

/// Free distance, and the weights of it and of the next distance.
fn spectrum(coding: Coding) -> (u32, f64, f64) {
    match (coding.points, coding.code) {
        (_, Code::Half) => (10, 11.0, 0.0),
        (2, _) => (5, 8.0, 0.0),
        (_, Code::TwoThirds) => (6, 1.0, 16.0),
        (_, Code::ThreeQuarters) => (5, 8.0, 31.0),
        (_, Code::FiveSixths) => (4, 14.0, 69.0),
    }
}

/// Probability that a path at distance `d` is taken for the right one.
fn wrong_path(uncoded: f64, d: u32) -> f64 {
    let sum: f64 = (d / 2 + 1..d).map(|k| term(k, d, uncoded)).sum();
    if d.is_multiple_of(2) { sum + 0.5 * term(d / 2, d, uncoded) } else { sum }
}

fn term(k: u32, n: u32, p: f64) -> f64 {
    let choose = (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
    choose * libm::pow(p, f64::from(k)) * libm::pow(1.0 - p, f64::from(n - k))
}
