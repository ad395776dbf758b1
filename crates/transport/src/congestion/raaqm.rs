//! `raaqm(gamma=1,beta=0.5,pmin=0.00001,dp=0.02,samples=30,paths=64)`: a window that each Data may halve, the likelier the
//! longer its round trip is among the last ones of its path.
//!
//! Source: "Multipath congestion control in content-centric networks" (Carofiglio et al., 2013). Its use is that of
//! Carofiglio et al. 2016. Each Data adds `γ/W` to the window `W`. With probability `p` the window becomes `max(1, β
//! W)`. Over the last N round trips of the path, `p = pmin + Δp (R − Rmin)/(Rmax − Rmin)`. The constants are those of
//! the authors' simulator. Later releases have (β, Δp) = (0.8, 0.2) and (0.99, 0.003).
//!
//! Differences:
//! - a path is the node that answered (`ProviderId`); Data without one belongs to a common path. If there are too
//!   many paths, the one idle for longest is forgotten;
//! - after a timeout the window shrinks once per flight, by send order;
//! - losses repaired by the network and losses by mobility do not reach the window;
//! - a round trip is a sample only if its segment was sent once.
use super::{CongestionControl, Delivered, Loss, RecoveryPoint, sane_limit};
use crate::random::Rng;
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

/// The parameters of [`Raaqm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaaqmSettings {
    /// γ: by how much a round trip widens the window, in segments.
    pub gamma: f64,
    /// β: factor of the window at a decrease, 0 to 1.
    pub beta: f64,
    /// Least probability of a decrease, 0 to 1.
    pub p_min: f64,
    /// Δp: how much more likely a decrease is at the longest round trip.
    pub delta_p: f64,
    /// N: number of round trips compared. Before there are as many, nothing leads to a decrease.
    pub samples: usize,
    /// Most paths remembered.
    pub paths: usize,
}

impl Default for RaaqmSettings {
    fn default() -> Self {
        Self { gamma: 1.0, beta: 0.5, p_min: 1e-5, delta_p: 0.02, samples: 30, paths: 64 }
    }
}

/// The last round trips of one path.
#[derive(Clone, Debug, Default, PartialEq)]
struct Path {
    rtts: VecDeque<Duration>,
    last_active: Instant,
}

impl Path {
    /// Records a round trip. Its position between the shortest (0) and the longest (1) recent one, once there are
    /// enough.
    fn place(&mut self, now: Instant, rtt: Duration, samples: usize) -> Option<f64> {
        self.last_active = now;
        if self.rtts.len() >= samples {
            self.rtts.pop_front();
        }
        self.rtts.push_back(rtt);
        if self.rtts.len() < samples {
            return None;
        }
        let (least, most) = (self.rtts.iter().min()?, self.rtts.iter().max()?);
        let spread = most.saturating_sub(*least).as_secs_f64();
        let above = rtt.saturating_sub(*least).as_secs_f64();
        Some(if spread > 0.0 { above / spread } else { 0.0 })
    }
}

/// Remote adaptive active queue management.
#[derive(Clone, Debug, PartialEq)]
pub struct Raaqm {
    settings: RaaqmSettings,
    rng: Rng,
    cwnd: f64,
    limit: f64,
    paths: BTreeMap<Option<u64>, Path>,
    recovery: RecoveryPoint,
}

impl Raaqm {
    /// A window of 1.
    #[must_use]
    pub fn new(settings: RaaqmSettings) -> Self {
        Self {
            settings,
            rng: Rng::from_seed(0),
            cwnd: 1.0,
            limit: sane_limit(f64::INFINITY),
            paths: BTreeMap::new(),
            recovery: RecoveryPoint::default(),
        }
    }

    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self::new(RaaqmSettings::default()))
    }

    fn decrease(&mut self) {
        self.cwnd = (self.cwnd * self.settings.beta).max(1.0);
    }

    /// The path of a label. If there are too many paths, the one with the longest idle time is replaced.
    fn path(&mut self, label: Option<u64>) -> &mut Path {
        if self.paths.len() >= self.settings.paths && !self.paths.contains_key(&label) {
            let oldest =
                self.paths.iter().min_by_key(|(_, path)| path.last_active).map(|(key, _)| *key);
            oldest.and_then(|key| self.paths.remove(&key));
        }
        self.paths.entry(label).or_default()
    }
}

impl CongestionControl for Raaqm {
    fn window(&self) -> f64 {
        self.cwnd.min(self.limit)
    }

    fn ssthresh(&self) -> f64 {
        1.0
    }

    fn on_delivered(&mut self, now: Instant, delivered: &Delivered) {
        if self.cwnd < self.limit {
            self.cwnd = (self.cwnd + self.settings.gamma / self.cwnd).min(self.limit);
        }
        let samples = self.settings.samples;
        let place =
            delivered.rtt.and_then(|rtt| self.path(delivered.path).place(now, rtt, samples));
        if let Some(place) = place {
            let p = self.settings.p_min + self.settings.delta_p * place;
            if self.rng.unit_f64() < p {
                self.decrease();
            }
        }
    }

    fn on_loss(&mut self, _: Instant, loss: &Loss) -> bool {
        let new = !self.recovery.covers(loss.order);
        if new {
            self.recovery = RecoveryPoint::after(loss);
            self.decrease();
        }
        new
    }

    fn seed(&mut self, rng: Rng) {
        self.rng = rng;
    }

    fn set_limit(&mut self, max_window: f64) {
        self.limit = sane_limit(max_window);
    }
}

impl Described for Raaqm {
    fn describe(&mut self, each: &mut Description<'_>) {
        let RaaqmSettings { gamma, beta, p_min, delta_p, samples, paths } = &mut self.settings;
        let (share, count) = ("a number from 0 to 1", "a whole number from 1 to 10000");
        each.number("gamma", gamma, 0.0..=1e6, "a number from 0 to 1000000");
        each.number("beta", beta, 0.0..=1.0, share);
        each.number("pmin", p_min, 0.0..=1.0, share);
        each.number("dp", delta_p, 0.0..=1.0, share);
        each.whole("samples", samples, 1..=10_000, count);
        each.whole("paths", paths, 1..=10_000, count);
    }
}

recoup_core::print_as_spec!(Raaqm, "raaqm");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::LossKind;

    const NOW: Instant = Instant::ZERO;

    fn delivered(order: u64, millis: u64, path: Option<u64>) -> Delivered {
        Delivered {
            segment: order,
            order,
            highest_order: order,
            rtt: Some(Duration::from_millis(millis)),
            path,
            in_flight: 1,
            advance: 1,
            ..Delivered::default()
        }
    }

    fn raaqm(spec: &str) -> Box<dyn CongestionControl> {
        let mut raaqm = crate::congestion::parse(spec).unwrap();
        raaqm.seed(Rng::from_seed(1));
        raaqm
    }

    #[test]
    fn a_round_trip_adds_gamma() {
        let mut raaqm = raaqm("raaqm(pmin=0,dp=0)");
        assert_eq!(raaqm.window(), 1.0);
        raaqm.on_delivered(NOW, &delivered(0, 10, None));
        assert_eq!(raaqm.window(), 2.0);
        raaqm.on_delivered(NOW, &delivered(1, 10, None));
        assert_eq!(raaqm.window(), 2.5);
    }

    #[test]
    fn window_shrinks_only_after_thirty_varying_samples() {
        let mut certain = raaqm("raaqm(pmin=0,dp=1)");
        for order in 0..29 {
            certain.on_delivered(NOW, &delivered(order, order, None));
        }
        let before = certain.window();
        assert!(before > 7.0);
        certain.on_delivered(NOW, &delivered(29, 1_000, None));
        assert!(certain.window() < before / 1.9, "the longest of thirty, with certainty");
        let mut alike = raaqm("raaqm(pmin=0,dp=1)");
        (0..100).for_each(|order| alike.on_delivered(NOW, &delivered(order, 10, None)));
        assert!(alike.window() > 13.0);
    }

    #[test]
    fn each_path_has_round_trips_of_its_own() {
        let mut raaqm = raaqm("raaqm(pmin=0,dp=1)");
        for order in 0..200 {
            let path = order % 2;
            raaqm.on_delivered(NOW, &delivered(order, 10 + 90 * path, Some(path)));
        }
        assert!(raaqm.window() > 19.0, "a short and a long path, and no queue on either");
    }

    #[test]
    fn paths_are_bounded() {
        let mut raaqm = Raaqm::new(RaaqmSettings::default());
        for order in 0..10_000 {
            raaqm.on_delivered(Instant::from_millis(order), &delivered(order, 10, Some(order)));
        }
        assert_eq!(raaqm.paths.len(), 64);
        assert!(raaqm.paths.contains_key(&Some(9_999)));
    }

    #[test]
    fn flight_of_timeouts_halves_the_window_once() {
        let mut raaqm = raaqm("raaqm(pmin=0,dp=0)");
        (0..200).for_each(|order| raaqm.on_delivered(NOW, &delivered(order, 10, None)));
        let before = raaqm.window();
        for order in [150, 160, 199] {
            let loss = Loss {
                kind: LossKind::Timeout,
                order,
                highest_order: 199,
                high_interest: 199,
                in_flight: 3,
                ..Loss::default()
            };
            assert_eq!(raaqm.on_loss(NOW, &loss), order == 150);
        }
        assert_eq!(raaqm.window(), before / 2.0);
    }
}
