//! 802.11b: DBPSK, DQPSK and CCK with white noise.
//!
//! As ns-3's `DsssErrorRateModel`: bit errors of DBPSK and DQPSK (Proakis, "Digital Communications"), symbol
//! errors of CCK from the integral for bi-orthogonal keying.
//!
//! Differences: the integral is taken by Simpson's rule over 12 standard deviations.
use super::super::rate::Rate;
use std::f64::consts::{PI, SQRT_2};

/// Chip bandwidth, in Hz.
const SPREAD: f64 = 22e6;
/// CCK symbols per second.
const CCK_SYMBOLS: f64 = 1.375e6;

pub(super) fn success(rate: Rate, snr: f64, bits: u64) -> f64 {
    let bits = bits as f64;
    let symbol_snr = snr * SPREAD / CCK_SYMBOLS;
    let success = match rate {
        Rate::Dsss(0) => libm::pow(1.0 - 0.5 * libm::exp(-snr * SPREAD / 1e6), bits),
        Rate::Dsss(1) => libm::pow(1.0 - dqpsk(snr * SPREAD / 2e6).min(1.0), bits),
        Rate::Dsss(2) => libm::pow(1.0 - biorthogonal(symbol_snr / 2.0), bits / 4.0),
        _ => {
            let half = 1.0 - biorthogonal(symbol_snr / 4.0);
            libm::pow(half * half, bits / 8.0)
        }
    };
    success.clamp(0.0, 1.0)
}

fn dqpsk(ratio: f64) -> f64 {
    (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2) / libm::sqrt(ratio)
        * libm::exp(-(2.0 - SQRT_2) * ratio)
}

/// Symbol error rate of bi-orthogonal keying with 16 signals.
fn biorthogonal(ratio: f64) -> f64 {
    const STEPS: u32 = 240;
    let beta = libm::sqrt(2.0 * ratio);
    let begin = (-beta).max(-12.0);
    let width = (12.0 - begin) / f64::from(STEPS);
    let right = |x: f64| {
        let inner = libm::erf((x + beta) / SQRT_2);
        libm::pow(inner.max(0.0), 7.0) * libm::exp(-x * x / 2.0) / libm::sqrt(2.0 * PI)
    };
    let sum: f64 = (0..=STEPS)
        .map(|step| {
            let weight = match step {
                0 | STEPS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * right(begin + f64::from(step) * width)
        })
        .sum();
    (1.0 - sum * width / 3.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faster_rates_need_more_signal() {
        let need = |place| {
            (-100..200).find(|tenth| {
                let snr = libm::pow(10.0, f64::from(*tenth) / 100.0);
                success(Rate::Dsss(place), snr, 8 * 1024) > 0.9
            })
        };
        let needs: Vec<_> = (0..4).filter_map(need).collect();
        assert_eq!(needs.len(), 4);
        assert!(needs.windows(2).all(|pair| pair[0] < pair[1]), "{needs:?}");
    }
}
