//! Measured curves, scaled to the length of the stretch.
//!
//! The SNR is rounded to 0.01 dB. The curve for 32 bytes serves below 400 bytes and the one for 1458 from there on, and
//! *PER(n) = 1 - (1 - PER)^(n / reference)* (IEEE 802.11-14/0803r1). Rates below 10⁻⁵ are zero.
use super::curve::{self, Curve, STEP_DB};
use super::{from_db, to_db};

const THRESHOLD_BYTES: u64 = 400;
const PRECISION: f64 = 1e-5;
/// More than the SNR is rounded by.
const MARGIN_DB: f64 = 0.02;

pub(super) fn success(mcs: usize, snr: f64, bits: u64) -> f64 {
    let bytes = (bits / 8).max(1);
    let [short, long] = curve::of(mcs);
    let (curve, reference) = match bytes < THRESHOLD_BYTES {
        true => (short, 32.0),
        false => (long, 1458.0),
    };
    let error = at(curve, snr);
    if error <= 0.0 || error >= 1.0 {
        return 1.0 - error;
    }
    let scaled = 1.0 - libm::pow(1.0 - error, bytes as f64 / reference);
    if scaled < PRECISION { 1.0 } else { 1.0 - scaled }
}

/// The linear SNR up to which nothing is received, and that from which on everything is, however long the stretch.
pub(super) fn certain(mcs: usize) -> (f64, f64) {
    let [short, long] = curve::of(mcs);
    let last_db = |curve: &Curve| curve.first_db + STEP_DB * (curve.rates.len() - 1) as f64;
    let none_db = short.first_db.min(long.first_db) - MARGIN_DB;
    let all_db = last_db(short).max(last_db(long)) + MARGIN_DB;
    (from_db(none_db), from_db(all_db))
}

/// The curve's error rate at a linear SNR.
fn at(curve: &Curve, snr: f64) -> f64 {
    let db = libm::floor(to_db(snr) * 100.0 + 0.5) / 100.0;
    let place = (db - curve.first_db) / STEP_DB;
    let last = curve.rates.len() - 1;
    if place.is_nan() || place <= 0.0 {
        return 1.0;
    }
    if place >= last as f64 {
        return 0.0;
    }
    let below = place as usize;
    let (low, high) = (curve.rates[below], curve.rates[below + 1]);
    low + (high - low) * (place - below as f64)
}
