//! The closed form of NIST: a bound on the error events of the convolutional code.
//!
//! Pei and Henderson, "Validation of OFDM error rate model in ns-3", 2010; weight spectra from Frenger et
//! al. and, for 5/6, Haccoun and Bégin, "High-rate punctured convolutional codes …", 1989.
use super::{Code, Coding};

pub(super) fn success(coding: Coding, snr: f64, bits: u64) -> f64 {
    let uncoded = match coding.points {
        2 => 0.5 * libm::erfc(libm::sqrt(snr)),
        4 => 0.5 * libm::erfc(libm::sqrt(snr / 2.0)),
        16 => 0.375 * libm::erfc(libm::sqrt(snr / 10.0)),
        _ => 7.0 / 24.0 * libm::erfc(libm::sqrt(snr / 42.0)),
    };
    if uncoded <= 0.0 {
        return 1.0;
    }
    let event = event(coding.code, uncoded).min(1.0);
    libm::pow(1.0 - event, bits as f64)
}

/// Probability of an error event per bit.
fn event(code: Code, uncoded: f64) -> f64 {
    let d = libm::sqrt(4.0 * uncoded * (1.0 - uncoded));
    let (first, step, scale, weights): (i32, i32, f64, &[f64]) = match code {
        Code::Half => (10, 2, 1.0 / 2.0, &HALF),
        Code::TwoThirds => (6, 1, 1.0 / 4.0, &TWO_THIRDS),
        Code::ThreeQuarters => (5, 1, 1.0 / 6.0, &THREE_QUARTERS),
        Code::FiveSixths => (4, 1, 1.0 / 10.0, &FIVE_SIXTHS),
    };
    // Horner from the highest power down.
    let ratio = power(d, step);
    let sum = weights.iter().rev().fold(0.0, |sum, weight| sum * ratio + weight);
    scale * sum * power(d, first)
}

fn power(base: f64, exponent: i32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

const HALF: [f64; 9] =
    [36.0, 211.0, 1_404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];
const TWO_THIRDS: [f64; 10] =
    [3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0];
const THREE_QUARTERS: [f64; 10] = [
    42.0,
    201.0,
    1_492.0,
    10_469.0,
    62_935.0,
    379_644.0,
    2_253_373.0,
    13_073_811.0,
    75_152_755.0,
    428_005_675.0,
];
const FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8_694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];
