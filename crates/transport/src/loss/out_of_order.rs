//! `out-of-order(frt=3,repair=selective,rescan=false)`: packet threshold. Missing segments are lost once `frt` Data
//! in a row have arrived out of order (`simple2` with `repair=first-hole`, `simple3`).
//!
//! Sources: RFC 5681 section 3.2 (three duplicate acknowledgements); A. Udugama et al. (2013), sections 3 and 4.2
//! (Simple2 and Simple3).
//!
//! Differences:
//! - a segment retransmitted after the missing one counts only if it was sent after it, too. The rest of a flight
//!   whose timers have expired is thus no evidence (RFC 6582, 3.2, has `recover` for this);
//! - in fast recovery nothing is declared lost, as in the study: a new hole, or a repeated loss, waits for its timer.
//!   With `rescan=true` a transmission is lost there once one that was sent `frt` later is answered (RFC 9002,
//!   6.1.1), of any segment.
use super::{Arrival, COUNT, COUNTS, Judgement, LossDetector, Phase, Repair};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::Instant;

/// Counts Data received out of order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfOrder {
    settings: OutOfOrderSettings,
    /// Data out of order since the last one in order.
    count: u32,
    recovering: bool,
}

/// The parameters of [`OutOfOrder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrderSettings {
    /// Data out of order at which a loss is declared (`FRT`).
    pub frt: u32,
    /// Segments retransmitted after a loss.
    pub repair: Repair,
    /// Losses are also declared in fast recovery.
    pub rescan: bool,
}

impl Default for OutOfOrderSettings {
    fn default() -> Self {
        Self { frt: 3, repair: Repair::Selective, rescan: false }
    }
}

impl OutOfOrder {
    /// A detector in its initial state.
    pub fn new(settings: OutOfOrderSettings) -> Self {
        Self { settings, count: 0, recovering: false }
    }
}

impl LossDetector for OutOfOrder {
    fn repair(&self) -> Option<Repair> {
        Some(self.settings.repair)
    }

    fn on_arrival(&mut self, _: Instant, arrival: &Arrival) -> Option<Judgement> {
        if arrival.advance > 0 {
            self.count = 0;
        } else if arrival.overtook {
            self.count = self.count.saturating_add(1);
        }
        if self.recovering {
            let frt = self.settings.frt;
            return self.settings.rescan.then(|| rescan(arrival, frt, frt));
        }
        self.recovering = self.count >= self.settings.frt;
        self.recovering.then(|| Judgement {
            through: arrival.answered.saturating_sub(1),
            sent_by: None,
            evidence: self.count,
        })
    }

    fn on_timeout(&mut self, now: Instant) {
        self.on_recovered(now);
    }

    fn on_recovered(&mut self, _: Instant) {
        (self.count, self.recovering) = (0, false);
    }

    fn phase(&self) -> Phase {
        if self.recovering { Phase::Fast } else { Phase::Normal }
    }
}

/// In fast recovery: transmissions sent `reach` before an answered one are lost.
pub(super) fn rescan(arrival: &Arrival, reach: u32, evidence: u32) -> Judgement {
    let through = arrival.answered.saturating_sub(u64::from(reach));
    Judgement { through, sent_by: None, evidence }
}

impl Described for OutOfOrder {
    fn describe(&mut self, each: &mut Description<'_>) {
        let OutOfOrderSettings { frt, repair, rescan } = &mut self.settings;
        each.whole("frt", frt, COUNTS, COUNT);
        each.word("repair", repair, &Repair::WORDS, Repair::EXPECTED);
        each.boolean("rescan", rescan);
    }
}

recoup_core::print_as_spec!(OutOfOrder, "out-of-order");

pub(super) fn from_spec(spec: Spec<'_>, repair: Repair) -> Result<OutOfOrder, SpecError> {
    spec.read(OutOfOrder::new(OutOfOrderSettings { repair, ..OutOfOrderSettings::default() }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{in_order, late, out_of_order};
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn arrive_out_of_order(detector: &mut OutOfOrder, orders: std::ops::RangeInclusive<u64>) {
        orders.for_each(|order| {
            detector.on_arrival(NOW, &out_of_order(order));
        });
    }

    #[test]
    fn third_data_out_of_order_is_a_loss() {
        let mut detector = OutOfOrder::new(OutOfOrderSettings::default());
        assert_eq!(detector.on_arrival(NOW, &out_of_order(11)), None);
        assert_eq!(detector.on_arrival(NOW, &out_of_order(12)), None);
        assert_eq!(detector.on_arrival(NOW, &in_order(10, 0)), None);
        assert_eq!(detector.on_arrival(NOW, &out_of_order(21)), None);
        assert_eq!(detector.on_arrival(NOW, &out_of_order(22)), None);
        assert_eq!(detector.phase(), Phase::Normal);
        let judged = detector.on_arrival(NOW, &out_of_order(23));
        assert_eq!(judged, Some(Judgement { through: 22, sent_by: None, evidence: 3 }));
        assert_eq!(detector.phase(), Phase::Fast);
        assert_eq!(detector.on_arrival(NOW, &out_of_order(24)), None, "once");
    }

    #[test]
    fn data_sent_before_the_retransmission_is_no_evidence() {
        let mut detector = OutOfOrder::new(OutOfOrderSettings::default());
        for order in 11..30 {
            assert_eq!(detector.on_arrival(NOW, &late(order)), None);
        }
    }

    #[test]
    fn after_recovery_it_counts_anew() {
        let mut detector = OutOfOrder::new(OutOfOrderSettings::default());
        arrive_out_of_order(&mut detector, 11..=13);
        detector.on_recovered(NOW);
        assert_eq!(detector.on_arrival(NOW, &out_of_order(31)), None);
        assert_eq!(detector.on_arrival(NOW, &out_of_order(32)), None);
        assert!(detector.on_arrival(NOW, &out_of_order(33)).is_some());
    }

    #[test]
    fn rescan_detects_losses_in_recovery() {
        let settings = OutOfOrderSettings { rescan: true, ..OutOfOrderSettings::default() };
        let mut detector = OutOfOrder::new(settings);
        arrive_out_of_order(&mut detector, 11..=13);
        let judged = detector.on_arrival(NOW, &out_of_order(14));
        assert_eq!(judged, Some(Judgement { through: 11, sent_by: None, evidence: 3 }));
    }
}
