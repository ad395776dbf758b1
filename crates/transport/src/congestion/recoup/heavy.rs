//! Heavy loss without a queue: growth stops.
//!
//! A policer drops what exceeds its rate and lets nothing wait, so that round trips tell nothing. What tells it is that
//! far more is lost than at a smaller window. Where packets wait, losses are judged by their queue; beside several sources
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
/// Span of each half of the filter for the usual share.
const SPAN: Duration = Duration::from_secs(5);

/// Compares the share of transmissions that are lost with the least one of late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeavyLoss {
    delivered: u64,
    lost: u64,
    usual: Extreme,
}

impl HeavyLoss {
    pub(super) fn new() -> Self {
        Self { delivered: 0, lost: 0, usual: Extreme::new(false, SPAN) }
    }

    /// Share of transmissions that is lost at a small window.
    pub(super) fn usual(&self) -> f64 {
        self.usual.get().unwrap_or(0.0)
    }

    /// A round with so many deliveries and losses has ended; true if the losses of late are heavy.
    pub(super) fn end_round(&mut self, now: Instant, delivered: u64, lost: u64) -> bool {
        self.delivered += delivered;
        self.lost += lost;
        let all = (self.delivered + self.lost) as f64;
        if self.delivered + self.lost < ENOUGH {
            return false;
        }
        let share = self.lost as f64 / all;
        let usual = self.usual.get().unwrap_or(share);
        self.usual.add(now, share);
        (self.delivered, self.lost) = (0, 0);
        share > usual + HEAVY + DEVIATIONS * libm::sqrt(share * (1.0 - share) / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_usual_loss_is_heavy() {
        let mut loss = HeavyLoss::new();
        assert!(!loss.end_round(Instant::ZERO, 180, 20), "nothing to compare with");
        assert!(!loss.end_round(Instant::ZERO, 170, 30), "by chance");
        assert_eq!(loss.usual(), 0.1);
        assert!(loss.end_round(Instant::ZERO, 140, 60));
    }

    #[test]
    fn few_transmissions_tell_nothing() {
        let mut loss = HeavyLoss::new();
        loss.end_round(Instant::ZERO, 200, 0);
        assert!(!loss.end_round(Instant::ZERO, 32, 32));
        assert!(loss.end_round(Instant::ZERO, 32, 32), "the two rounds together");
    }
}
