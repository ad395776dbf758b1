//! Heavy loss without a queue: growth stops.
//!
//! A policer drops what exceeds its rate and lets nothing wait, so that round trips tell nothing. What tells it is that
//! far more is lost than at a smaller window. Losses that a queue explains do not count; beside several sources
//! nothing is heavy, since late answers of a far one look lost. Differences from a reduction by losses: what is usually
//! lost on the path does not count, and the window is cut to what the path delivers, not below.
use super::super::extreme::Extreme;
use crate::time::{Duration, Instant};

/// Transmissions over which a share is measured.
const ENOUGH: u64 = 128;
/// A share is heavy that exceeds the usual one by this.
const HEAVY: f64 = 0.1;
/// And by so many standard deviations of what chance alone brings about.
const DEVIATIONS: f64 = 2.0;
/// Variance of a share over that of independent losses, for each loss of a mean burst. Of bursts whose lengths are
/// geometric it is twice the mean length, less one.
const BURSTS: f64 = 2.0;
/// Span of each half of the filter for the usual share.
const SPAN: Duration = Duration::from_secs(5);

/// Compares the share of transmissions that are lost with the least one of late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeavyLoss {
    delivered: u64,
    lost: u64,
    /// Bursts of losses: transmissions in a row.
    bursts: u64,
    /// Send order of the latest loss.
    latest: u64,
    usual: Extreme,
}

impl HeavyLoss {
    pub(super) fn new() -> Self {
        let usual = Extreme::new(false, SPAN);
        Self { delivered: 0, lost: 0, bursts: 0, latest: 0, usual }
    }

    /// Share of transmissions that is lost at a small window.
    pub(super) fn usual(&self) -> f64 {
        self.usual.get().unwrap_or(0.0)
    }

    /// The transmission of that send order was lost, and no queue explains it.
    pub(super) fn on_lost(&mut self, order: u64) {
        self.lost += 1;
        self.bursts += u64::from(order != self.latest.saturating_add(1));
        self.latest = order;
    }

    /// A round with so many deliveries has ended; true if the losses of late are heavy.
    pub(super) fn end_round(&mut self, now: Instant, delivered: u64) -> bool {
        self.delivered += delivered;
        let all = (self.delivered + self.lost) as f64;
        if self.delivered + self.lost < ENOUGH {
            return false;
        }
        let share = self.lost as f64 / all;
        let usual = self.usual.get().unwrap_or(share);
        self.usual.add(now, share);
        let burst = self.lost as f64 / self.bursts.max(1) as f64;
        let variance = (BURSTS * burst).max(1.0) * share * (1.0 - share) / all;
        (self.delivered, self.lost, self.bursts) = (0, 0, 0);
        share > usual + HEAVY + DEVIATIONS * libm::sqrt(variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round with so many deliveries and losses, in bursts of that length.
    fn round(loss: &mut HeavyLoss, delivered: u64, lost: u64, burst: u64) -> bool {
        (0..lost).for_each(|n| loss.on_lost(2 * (n / burst * burst) + n % burst));
        loss.end_round(Instant::ZERO, delivered)
    }

    #[test]
    fn more_than_the_usual_loss_is_heavy() {
        let mut loss = HeavyLoss::new();
        assert!(!round(&mut loss, 180, 20, 1), "nothing to compare with");
        assert!(!round(&mut loss, 170, 30, 1), "by chance");
        assert_eq!(loss.usual(), 0.1);
        assert!(round(&mut loss, 130, 70, 1));
    }

    #[test]
    fn bursts_make_more_losses_by_chance() {
        let is_heavy = |burst| {
            let mut loss = HeavyLoss::new();
            round(&mut loss, 190, 10, 1);
            round(&mut loss, 140, 60, burst)
        };
        assert!(is_heavy(1));
        assert!(!is_heavy(10), "six bursts");
    }

    #[test]
    fn few_transmissions_tell_nothing() {
        let mut loss = HeavyLoss::new();
        round(&mut loss, 200, 0, 1);
        assert!(!round(&mut loss, 32, 32, 1));
        assert!(round(&mut loss, 32, 32, 1), "the two rounds together");
    }
}
