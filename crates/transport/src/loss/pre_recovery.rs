//! `pre-recovery(frt=3,repair=selective,rescan=false,learn=false,decay=0,cap=inf)`: adaptive packet threshold
//! (`smart`).
//!
//! Several sources, or a cache on the path, reorder Data without any loss. After `frt` Data out of order in a row the
//! flow is therefore only in *pre-recovery*; `frt + Pre_FRT` of them are a loss. If the missing segment arrives
//! before that, the path reorders, and `Pre_FRT`, `frt` at first, becomes the count reached.
//!
//! Source: A. Udugama et al. (2013), section 3 (Smart), and section 4.3 for its purpose.
//!
//! Differences:
//! - a loss is declared when the count *reaches* `frt + Pre_FRT`, the study's formula; its text also has "exceeds";
//! - pre-recovery ends when fewer than `frt` segments are received above the lowest missing one. The count, another
//!   reading of the study, has just been reset;
//! - `Pre_FRT` never falls in the study, except, as here, after a timeout. `decay` is the number of halvings of its
//!   excess over `frt` in each second without a loss. `cap` limits it to that part of the window (but not below
//!   `frt`). Both are off by default;
//! - with `learn=true` spurious losses adapt the threshold as well. The study uses only suspicions that did not
//!   become losses, so that reordering beyond `frt + Pre_FRT` causes spurious losses for ever;
//! - retransmissions and fast recovery are those of `out-of-order`. `rescan` looks `frt + Pre_FRT` transmissions
//!   back.
use super::out_of_order::rescan;
use super::{Arrival, COUNT, COUNTS, Judgement, LossDetector, Phase, Repair};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::Instant;

/// Counts Data received out of order, and adapts the threshold to reordering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreRecovery {
    settings: PreRecoverySettings,
    phase: Phase,
    /// Data out of order since the last one in order (`cnt`).
    count: u32,
    /// Addition to `frt` (`Pre_FRT`); with a fraction where it decays.
    pre_frt: f64,
    /// Time up to which `pre_frt` has decayed.
    decayed: Instant,
}

/// The parameters of [`PreRecovery`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreRecoverySettings {
    /// Data out of order at which a loss is suspected (`FRT`).
    pub frt: u32,
    /// Segments retransmitted after a loss.
    pub repair: Repair,
    /// Losses are also declared in fast recovery.
    pub rescan: bool,
    /// Spurious losses adapt the threshold, too.
    pub learn: bool,
    /// Halvings of the excess of `Pre_FRT` over `FRT` in each second without a loss.
    pub decay: f64,
    /// Limit of `Pre_FRT`, as a part of the window; may be infinite.
    pub cap: f64,
}

impl Default for PreRecoverySettings {
    fn default() -> Self {
        let (repair, rescan, learn) = (Repair::Selective, false, false);
        Self { frt: 3, repair, rescan, learn, decay: 0.0, cap: f64::INFINITY }
    }
}

impl PreRecovery {
    /// A detector in its initial state.
    pub fn new(settings: PreRecoverySettings) -> Self {
        Self {
            settings,
            phase: Phase::Normal,
            count: 0,
            pre_frt: f64::from(settings.frt),
            decayed: Instant::ZERO,
        }
    }

    /// Data out of order in a row at which a loss is declared, with a `window`.
    fn threshold(&self, window: f64) -> u32 {
        let frt = self.settings.frt;
        let most = (self.settings.cap * window).max(f64::from(frt));
        frt.saturating_add(libm::floor(self.pre_frt.min(most)) as u32)
    }

    fn learn(&mut self) {
        self.pre_frt = self.pre_frt.max(f64::from(self.count));
    }

    /// Decays the excess over `frt` up to `now`.
    fn decay(&mut self, now: Instant) {
        let floor = f64::from(self.settings.frt);
        let excess = self.pre_frt - floor;
        if self.settings.decay > 0.0 && excess > 0.0 {
            let halvings = self.settings.decay * now.since(self.decayed).as_secs_f64();
            self.pre_frt = floor + excess * libm::exp2(-halvings);
        }
        self.decayed = now;
    }

    fn on_in_order(&mut self, arrival: &Arrival) {
        if self.phase == Phase::Pre {
            self.learn();
            if arrival.held < u64::from(self.settings.frt) {
                self.phase = Phase::Normal;
            }
        }
        self.count = 0;
    }

    fn on_out_of_order(&mut self, arrival: &Arrival) -> Option<Judgement> {
        self.count = self.count.saturating_add(1);
        if self.phase == Phase::Normal && self.count >= self.settings.frt {
            self.phase = Phase::Pre;
        }
        if self.phase != Phase::Pre || self.count < self.threshold(arrival.window) {
            return None;
        }
        self.phase = Phase::Fast;
        let through = arrival.answered.saturating_sub(1);
        Some(Judgement { through, sent_by: None, evidence: self.count })
    }
}

impl LossDetector for PreRecovery {
    fn repair(&self) -> Option<Repair> {
        Some(self.settings.repair)
    }

    fn on_arrival(&mut self, now: Instant, arrival: &Arrival) -> Option<Judgement> {
        self.decay(now);
        if self.phase == Phase::Fast {
            self.count = self.count.saturating_add(u32::from(arrival.advance == 0));
            let reach = self.threshold(arrival.window);
            let frt = self.settings.frt;
            return self.settings.rescan.then(|| rescan(arrival, reach, frt));
        }
        match arrival.advance {
            0 if arrival.overtook => self.on_out_of_order(arrival),
            0 => None,
            _ => {
                self.on_in_order(arrival);
                None
            }
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.on_recovered(now);
        self.pre_frt = f64::from(self.settings.frt);
    }

    fn on_recovered(&mut self, now: Instant) {
        self.decayed = now;
        (self.phase, self.count) = (Phase::Normal, 0);
    }

    fn on_spurious(&mut self, _: Instant) {
        if self.settings.learn && self.phase == Phase::Fast {
            self.learn();
        }
    }

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Described for PreRecoverySettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.whole("frt", &mut self.frt, COUNTS, COUNT);
        each.word("repair", &mut self.repair, &Repair::WORDS, Repair::EXPECTED);
        each.boolean("rescan", &mut self.rescan);
        each.boolean("learn", &mut self.learn);
        each.number("decay", &mut self.decay, 0.0..=1e6, "a number from 0 to 1000000");
        each.number("cap", &mut self.cap, 0.0.., "a part of the window such as 0.5, or inf");
    }
}

impl Described for PreRecovery {
    fn describe(&mut self, each: &mut Description<'_>) {
        self.settings.describe(each);
    }
}

recoup_core::print_as_spec!(PreRecovery, "pre-recovery");

pub(super) fn from_spec(spec: Spec<'_>) -> Result<PreRecovery, SpecError> {
    Ok(PreRecovery::new(spec.read(PreRecoverySettings::default())?))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{in_order, late, out_of_order};
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn smart() -> PreRecovery {
        PreRecovery::new(PreRecoverySettings::default())
    }

    /// The judgement at the last of `count` Data out of order.
    fn overtake(detector: &mut PreRecovery, count: u64) -> Option<Judgement> {
        let mut judged = None;
        for order in 100..100 + count {
            assert_eq!(judged, None, "too soon");
            judged = detector.on_arrival(NOW, &out_of_order(order));
        }
        judged
    }

    #[test]
    fn third_data_is_suspicion_and_sixth_a_loss() {
        let mut detector = smart();
        assert_eq!((overtake(&mut detector, 2), detector.phase()), (None, Phase::Normal));
        assert_eq!((overtake(&mut detector, 1), detector.phase()), (None, Phase::Pre));
        assert_eq!((overtake(&mut detector, 2), detector.phase()), (None, Phase::Pre));
        let judged = detector.on_arrival(NOW, &out_of_order(105));
        assert_eq!(judged, Some(Judgement { through: 104, sent_by: None, evidence: 6 }));
        assert_eq!(detector.phase(), Phase::Fast);
    }

    #[test]
    fn threshold_rises_with_reordering() {
        let mut detector = smart();
        // Five out of order, then the missing one: Pre_FRT = 5, and 3 + 5 make a loss.
        assert_eq!(overtake(&mut detector, 5), None);
        assert_eq!(detector.on_arrival(NOW, &in_order(99, 0)), None);
        assert_eq!((detector.phase(), detector.pre_frt), (Phase::Normal, 5.0));
        assert_eq!(overtake(&mut detector, 7), None);
        assert_eq!(detector.on_arrival(NOW, &in_order(99, 0)), None);
        assert_eq!(detector.pre_frt, 7.0);
        assert_eq!(overtake(&mut detector, 4), None);
        assert_eq!(detector.on_arrival(NOW, &in_order(99, 0)), None);
        assert_eq!(detector.pre_frt, 7.0, "fewer teach nothing");
        assert_eq!(overtake(&mut detector, 10).map(|judged| judged.evidence), Some(10));
    }

    #[test]
    fn two_data_out_of_order_change_nothing() {
        let mut detector = smart();
        assert_eq!(overtake(&mut detector, 2), None);
        assert_eq!(detector.on_arrival(NOW, &in_order(99, 0)), None);
        assert_eq!(overtake(&mut detector, 2), None);
        assert_eq!((detector.pre_frt, detector.phase()), (3.0, Phase::Normal));
    }

    #[test]
    fn suspicion_ends_when_fewer_than_three_are_held() {
        let mut detector = smart();
        assert_eq!(overtake(&mut detector, 4), None);
        assert_eq!(detector.on_arrival(NOW, &in_order(99, 3)), None);
        assert_eq!((detector.phase(), detector.count), (Phase::Pre, 0));
        // Still suspected: 3 + 4 from here.
        assert_eq!(overtake(&mut detector, 6), None);
        assert_eq!(detector.on_arrival(NOW, &in_order(99, 2)), None);
        assert_eq!((detector.phase(), detector.pre_frt), (Phase::Normal, 6.0));
    }

    #[test]
    fn timeout_resets_the_threshold() {
        let mut detector = smart();
        assert_eq!(overtake(&mut detector, 5), None);
        assert_eq!(detector.on_arrival(NOW, &in_order(99, 0)), None);
        assert!(overtake(&mut detector, 8).is_some());
        detector.on_recovered(NOW);
        assert_eq!((detector.phase(), detector.pre_frt), (Phase::Normal, 5.0));
        detector.on_timeout(NOW);
        assert_eq!(detector.pre_frt, 3.0);
        assert!(overtake(&mut detector, 6).is_some());
    }

    #[test]
    fn data_sent_before_the_retransmission_is_no_evidence() {
        let mut detector = smart();
        (0..50).for_each(|order| assert_eq!(detector.on_arrival(NOW, &late(order)), None));
        assert_eq!(detector.phase(), Phase::Normal);
    }

    #[test]
    fn the_excess_decays_by_half_in_each_second() {
        let decay = 1.0;
        let mut detector = PreRecovery::new(PreRecoverySettings { decay, ..Default::default() });
        detector.pre_frt = 11.0;
        detector.on_arrival(Instant::from_millis(1_000), &in_order(1, 0));
        assert_eq!(detector.pre_frt, 7.0);
        detector.on_arrival(Instant::from_millis(3_000), &in_order(2, 0));
        assert_eq!(detector.pre_frt, 4.0);
    }

    #[test]
    fn cap_limits_the_threshold_by_the_window() {
        let mut detector = PreRecovery::new(PreRecoverySettings { cap: 0.5, ..Default::default() });
        detector.pre_frt = 40.0;
        for (window, threshold) in [(100.0, 43), (20.0, 13), (2.0, 6)] {
            assert_eq!(detector.threshold(window), threshold);
        }
        assert_eq!(smart().threshold(1.0), 6);
    }

    #[test]
    fn spurious_loss_raises_the_threshold_if_enabled() {
        for (learn, pre_frt) in [(false, 3.0), (true, 10.0)] {
            let settings = PreRecoverySettings { learn, ..PreRecoverySettings::default() };
            let mut detector = PreRecovery::new(settings);
            assert!(overtake(&mut detector, 6).is_some());
            (200..204).for_each(|order| {
                detector.on_arrival(NOW, &out_of_order(order));
            });
            detector.on_spurious(NOW);
            detector.on_recovered(NOW);
            assert_eq!(detector.pre_frt, pre_frt);
        }
    }
}
