//! Chance on the way of a signal: Nakagami-m fading and log-normal shadowing.
//!
//! Nakagami, "The m-distribution", 1960: received power is gamma distributed with shape m (1 is Rayleigh fading). It is
//! drawn anew for each coherence time, 9 / (16 π f_d); Rappaport, "Wireless Communications", 2002, §5.4. The Doppler
//! shift is f_d = v f / c. ns-3's `NakagamiPropagationLossModel` draws it anew for each transmission instead, and up to
//! ns-3.24 each MPDU of an aggregate is one; [`Hold::Mpdu`] does the same. Shadowing is normal in dB and follows the
//! path of the ends, with a decorrelation distance after Gudmundson, "Correlation model for shadow fading", 1991.
//!
//! Differences: between two points at the decorrelation distance shadowing is interpolated, with its variance kept. So
//! it is a function of position and not of the number of samples.
use super::propagation::LIGHT;
use recoup_core::random::Rng;
use std::f64::consts::PI;

/// How long a draw of fading holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// For the coherence time of the pair.
    #[default]
    Coherence,
    /// For one frame, or one MPDU of an aggregate.
    Mpdu,
}

/// Random effects on power.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FadingPlan {
    /// Shape of Nakagami's distribution; `None` means no fading.
    pub nakagami_m: Option<f64>,
    /// How long each draw of it holds.
    pub hold: Hold,
    /// Speed of what moves around the stations, in m/s, added to their own when the coherence time is
    /// computed.
    pub surrounding_speed: f64,
    /// Carrier, in Hz, for the Doppler shift.
    pub carrier_hz: f64,
    /// Standard deviation of shadowing, in dB; 0 means none.
    pub shadowing_db: f64,
    /// Distance over which shadowing changes, in metres; 0 means that it does not.
    pub decorrelation_metres: f64,
}

/// Coherence time at a speed, in ns; without motion nothing changes.
fn coherence_nanos(speed: f64, carrier_hz: f64) -> u64 {
    let doppler = speed * carrier_hz / LIGHT;
    if doppler <= 0.0 { u64::MAX } else { (9.0 / (16.0 * PI * doppler) * 1e9).max(1.0) as u64 }
}

/// Chance on the way between two stations: a function of time and of the way travelled, the same in both
/// directions.
#[derive(Clone, Debug)]
pub(super) struct Fading {
    plan: FadingPlan,
    /// Seeds of what is drawn.
    fading: u64,
    shadowing: u64,
}

/// The latest draw for a pair of stations: it holds for a coherence time, and a decorrelation distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The coherence time, and the gain in it.
    fade: (u64, f64),
    /// The stretch of the path, and shadowing at its ends.
    shadow: (u64, f64, f64),
}

impl Default for Known {
    fn default() -> Self {
        Self { fade: (u64::MAX, 1.0), shadow: (u64::MAX, 0.0, 0.0) }
    }
}

impl Fading {
    pub(super) fn new(plan: FadingPlan, rng: &Rng) -> Self {
        let seed = |name| rng.substream(name).next_u64();
        Self { plan, fading: seed("fading"), shadowing: seed("shadowing") }
    }

    pub(super) fn is_none(&self) -> bool {
        self.plan.nakagami_m.is_none() && self.plan.shadowing_db <= 0.0
    }

    /// Margin for random gains, in dB, in the choice of stations in range.
    pub(super) fn headroom_db(&self) -> f64 {
        let fading = if self.plan.nakagami_m.is_some() { 6.0 } else { 0.0 };
        fading + 3.0 * self.plan.shadowing_db
    }

    /// Whether it changes while no station moves.
    pub(super) fn is_restless(&self) -> bool {
        self.plan.nakagami_m.is_some()
            && (self.plan.surrounding_speed > 0.0 || self.plan.hold == Hold::Mpdu)
    }

    /// Whether each MPDU of an aggregate has a draw of its own.
    pub(super) fn is_per_mpdu(&self) -> bool {
        self.plan.nakagami_m.is_some() && self.plan.hold == Hold::Mpdu
    }

    /// Gain at `now`, as a factor, between stations that have `speed` relative to each other (m/s) and have
    /// travelled `metres` together. `known` keeps what was drawn for this pair last.
    pub(super) fn gain(
        &self,
        known: &mut Known,
        pair: (u32, u32),
        now: u64,
        speed: f64,
        metres: f64,
    ) -> f64 {
        let pair = if pair.0 <= pair.1 { pair } else { (pair.1, pair.0) };
        let fast = self.plan.nakagami_m.map_or(1.0, |m| {
            let speed = speed + self.plan.surrounding_speed;
            let turn = match self.plan.hold {
                Hold::Coherence => now / coherence_nanos(speed, self.plan.carrier_hz),
                Hold::Mpdu => now,
            };
            if known.fade.0 != turn {
                known.fade = (turn, gamma(&mut Self::stream(self.fading, pair, turn), m) / m);
            }
            known.fade.1
        });
        match self.plan.shadowing_db > 0.0 {
            true => fast * super::error::from_db(self.shadowing_db(known, pair, metres)),
            false => fast,
        }
    }

    fn shadowing_db(&self, known: &mut Known, pair: (u32, u32), metres: f64) -> f64 {
        let steps = match self.plan.decorrelation_metres > 0.0 {
            true => metres / self.plan.decorrelation_metres,
            false => 0.0,
        };
        let (place, part) = (libm::floor(steps) as u64, steps - libm::floor(steps));
        if known.shadow.0 != place {
            let draw = |place| normal(&mut Self::stream(self.shadowing, pair, place));
            known.shadow = (place, draw(place), draw(place + 1));
        }
        let (_, here, there) = known.shadow;
        let norm = libm::sqrt((1.0 - part) * (1.0 - part) + part * part);
        self.plan.shadowing_db * ((1.0 - part) * here + part * there) / norm
    }

    /// The stream of a pair and of one stretch of its time or way.
    fn stream(seed: u64, pair: (u32, u32), place: u64) -> Rng {
        let pair = u64::from(pair.0) << 32 | u64::from(pair.1);
        let mixed = (seed ^ pair.wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(29);
        Rng::from_seed(mixed.wrapping_add(place.wrapping_mul(0xd134_2543_de82_ef95)))
    }
}

/// A standard normal number (Box and Muller, 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.unit_f64()));
    radius * libm::cos(2.0 * PI * rng.unit_f64())
}

/// A gamma distributed number of scale 1: a sum of exponential ones where the shape is a small whole number, else
/// after Marsaglia and Tsang, 2000.
fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    if shape <= 4.0 && libm::floor(shape) == shape {
        let product: f64 = (0..shape as u32).map(|_| 1.0 - rng.unit_f64()).product();
        return -libm::log(product);
    }
    if shape < 1.0 {
        let boost = libm::pow(1.0 - rng.unit_f64(), 1.0 / shape);
        return gamma(rng, shape + 1.0) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
        if v > 0.0 && libm::log(1.0 - rng.unit_f64()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fading(plan: FadingPlan) -> Fading {
        Fading::new(plan, &Rng::from_seed(3))
    }

    #[test]
    fn nakagami_power_has_mean_and_variance() {
        for m in [0.5, 1.0, 1.5, 3.0, 5.0] {
            let mut rng = Rng::from_seed(1);
            let powers: Vec<f64> = (0..20_000).map(|_| gamma(&mut rng, m) / m).collect();
            let mean = powers.iter().sum::<f64>() / 2e4;
            let variance = powers.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>() / 2e4;
            assert!((mean - 1.0).abs() < 0.03, "m {m}: mean {mean}");
            assert!((variance * m - 1.0).abs() < 0.1, "m {m}: variance {variance}");
        }
    }

    #[test]
    fn fading_holds_for_a_coherence_time() {
        let carrier_hz = 2.4e9;
        let plan = FadingPlan { nakagami_m: Some(1.0), carrier_hz, ..FadingPlan::default() };
        let fading = fading(plan);
        let period = coherence_nanos(10.0, carrier_hz);
        assert!((2.0e6..2.5e6).contains(&(period as f64)), "{period}");
        let at = |time| fading.gain(&mut Known::default(), (2, 5), time, 10.0, 0.0);
        assert_eq!(at(0), at(period - 1));
        assert_ne!(at(0), at(period));
        let back = fading.gain(&mut Known::default(), (5, 2), 0, 10.0, 0.0);
        assert_eq!(at(0), back, "the same way back");
        let mut known = Known::default();
        let kept = [0, period, 5 * period, 5 * period + 1, 0]
            .map(|time| fading.gain(&mut known, (2, 5), time, 10.0, 0.0));
        assert_eq!(
            kept,
            [0, period, 5 * period, 5 * period, 0].map(at),
            "what is kept is the same"
        );
    }

    #[test]
    fn each_mpdu_has_its_own_fade() {
        let plan = FadingPlan { nakagami_m: Some(1.0), hold: Hold::Mpdu, ..FadingPlan::default() };
        let fading = fading(plan);
        assert!(fading.is_per_mpdu() && fading.is_restless());
        let at = |time| fading.gain(&mut Known::default(), (2, 5), time, 0.0, 0.0);
        assert_eq!(at(7), at(7));
        let gains: Vec<f64> = (0..20_000).map(at).collect();
        let mean = gains.iter().sum::<f64>() / 2e4;
        let next = gains.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        assert!((next / 2e4).abs() < 0.03, "neighbours are independent: {next}");
    }

    #[test]
    fn shadowing_is_continuous_and_keeps_its_deviation() {
        let plan =
            FadingPlan { shadowing_db: 8.0, decorrelation_metres: 20.0, ..Default::default() };
        let fading = fading(plan);
        let at = |metres: f64| {
            let gain = fading.gain(&mut Known::default(), (0, 1), 0, 0.0, metres);
            crate::error::to_db(gain)
        };
        assert!((at(100.0) - at(100.1)).abs() < 0.5);
        let mean_square =
            (0..4_000).map(|n| at(f64::from(n) * 33.0)).map(|g| g * g).sum::<f64>() / 4e3;
        assert!((libm::sqrt(mean_square) - 8.0).abs() < 0.5, "{mean_square}");
    }
}
