//! Receiver of a station: noise, thresholds, and the error model with its latest results.
use super::error::from_db;
use super::plan::ReceiverPlan;
use super::rate::Rate;

/// Boltzmann's constant, in J/K, with the digits that ns-3 has.
const BOLTZMANN: f64 = 1.380_3e-23;
const KELVIN: f64 = 290.0;
const REMEMBERED: usize = 1024;
/// Places of OFDM and of 802.11n, eight rates each.
const PLACES: usize = 16;

/// Receiver properties, ready to compute with; powers are in milliwatts.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub(super) plan: ReceiverPlan,
    /// Noise in 20 MHz.
    noise: f64,
    pub(super) preamble: f64,
    preamble_sinr: f64,
    pub(super) carrier: f64,
    pub(super) energy: f64,
    capture: Option<f64>,
    /// By the rate's place: from which SNR on the answer needs no look at the model.
    certain: [Certain; PLACES],
    remembered: Vec<Answer>,
}

/// A rate in a bandwidth, ready to test stretches of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    rate: Rate,
    /// Bits per second.
    bits: u64,
    /// In the bandwidth, in milliwatts.
    noise: f64,
    certain: Certain,
}

impl Decoder {
    /// Signal over noise and interference.
    pub(super) fn sinr(&self, power: f64, interference: f64) -> f64 {
        power / (self.noise + interference)
    }

    /// Whether nothing of a signal is received, however short the stretch and whatever else is on the air.
    pub(super) fn is_hopeless(&self, power: f64) -> bool {
        self.sinr(power, 0.0) <= self.certain.none
    }

    /// Whether all of a signal is received, however long the stretch.
    pub(super) fn is_certain(&self, power: f64, interference: f64) -> bool {
        self.sinr(power, interference) >= self.certain.all
    }
}

/// Up to one SNR nothing is received, from another on everything.
#[derive(Clone, Copy, Debug)]
struct Certain {
    none: f64,
    all: f64,
}

impl Certain {
    /// The model decides always: no SNR is below 0.
    const NOTHING: Self = Self { none: -1.0, all: f64::INFINITY };
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    snr: f64,
    bits: u64,
    rate: Rate,
    success: f64,
}

impl Receiver {
    pub(super) fn new(plan: ReceiverPlan) -> Self {
        let noise = BOLTZMANN * KELVIN * 20e6 * from_db(plan.noise_figure_db) * 1e3;
        let nothing = Answer { snr: -1.0, bits: 0, rate: Rate::Ofdm(0), success: 0.0 };
        Self {
            plan,
            noise,
            preamble: from_db(plan.preamble_dbm),
            preamble_sinr: from_db(plan.preamble_sinr_db),
            carrier: from_db(plan.carrier_dbm),
            energy: from_db(plan.energy_dbm),
            capture: plan.capture_db.map(from_db),
            certain: std::array::from_fn(|place| match plan.errors.certain(rate_at(place)) {
                Some((none, all)) => Certain { none, all },
                None => Certain::NOTHING,
            }),
            remembered: vec![nothing; REMEMBERED],
        }
    }

    /// Signal over noise and interference, in the bandwidth of a frame.
    pub(super) fn sinr(&self, power: f64, interference: f64, width_mhz: u32) -> f64 {
        power / (self.noise_in(width_mhz) + interference)
    }

    fn noise_in(&self, width_mhz: u32) -> f64 {
        self.noise * f64::from(width_mhz / 20)
    }

    pub(super) fn detects(&self, power: f64, interference: f64, width_mhz: u32) -> bool {
        power >= self.preamble && self.sinr(power, interference, width_mhz) >= self.preamble_sinr
    }

    pub(super) fn has_capture(&self) -> bool {
        self.capture.is_some()
    }

    /// Whether a new frame is so much stronger that it is received instead.
    pub(super) fn captures(&self, current: f64, new: f64) -> bool {
        self.capture.is_some_and(|margin| new > current * margin)
    }

    /// The decoder that tests stretches at `rate` of a frame of `width_mhz`.
    pub(super) fn decoder(&self, rate: Rate, width_mhz: u32) -> Decoder {
        let certain = place(rate).map_or(Certain::NOTHING, |place| self.certain[place]);
        Decoder { rate, bits: rate.bits(), noise: self.noise_in(width_mhz), certain }
    }

    /// Probability that a stretch is received; bits beyond the last whole one do not count.
    pub(super) fn success(&mut self, decoder: &Decoder, snr: f64, nanos: u64) -> f64 {
        if snr >= decoder.certain.all {
            return 1.0;
        }
        if snr <= decoder.certain.none {
            return 0.0;
        }
        let (rate, bits) = (decoder.rate, decoder.bits.saturating_mul(nanos) / 1_000_000_000);
        let mixed = (snr.to_bits() ^ bits.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> 54) as usize % REMEMBERED;
        let known = &self.remembered[place];
        if known.snr == snr && known.bits == bits && known.rate == rate {
            return known.success;
        }
        let success = self.plan.errors.success(rate, snr, bits);
        self.remembered[place] = Answer { snr, bits, rate, success };
        success
    }
}

/// Where a rate stands among those of which something may be certain: of 802.11n's the width and the guard interval do
/// not matter.
fn place(rate: Rate) -> Option<usize> {
    match rate {
        Rate::Dsss(_) => None,
        Rate::Ofdm(place) => Some(usize::from(place) & 7),
        Rate::Ht { mcs, .. } => Some(8 + (usize::from(mcs) & 7)),
    }
}

/// A rate for each place.
fn rate_at(place: usize) -> Rate {
    let number = place as u8 & 7;
    match place < 8 {
        true => Rate::Ofdm(number),
        false => Rate::Ht { mcs: number, wide: false, short_guard: false },
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::to_db;
    use super::*;

    #[test]
    fn noise_in_20_mhz_is_minus_94_dbm() {
        let receiver = Receiver::new(ReceiverPlan::default());
        assert!((to_db(receiver.noise) + 93.97).abs() < 0.01);
        let signal = from_db(-80.0);
        let ratio = receiver.sinr(signal, 0.0, 20) / receiver.sinr(signal, 0.0, 40);
        assert!((ratio - 2.0).abs() < 1e-9);
    }

    #[test]
    fn certain_outcomes_agree_with_the_model() {
        use super::super::error::ErrorModel::{Nist, Table, Yans};
        for errors in [Table, Nist, Yans] {
            let mut receiver = Receiver::new(ReceiverPlan { errors, ..ReceiverPlan::default() });
            for rate in (0..PLACES).map(rate_at) {
                assert_eq!(place(rate).map(rate_at), Some(rate));
                let decoder = receiver.decoder(rate, 20);
                for (step, nanos) in (0..600).flat_map(|step| [(step, 8_000), (step, 4_000_000)]) {
                    let snr = from_db(f64::from(step) * 0.077 - 8.0);
                    let bits = rate.bits() * nanos / 1_000_000_000;
                    let success = errors.success(rate, snr, bits);
                    assert_eq!(
                        receiver.success(&decoder, snr, nanos),
                        success,
                        "{errors} {rate} {snr}"
                    );
                    assert!(
                        success == 0.0 || !decoder.is_hopeless(snr * decoder.noise),
                        "{errors} {rate} {snr}"
                    );
                }
            }
        }
    }
}
