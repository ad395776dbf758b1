//! Heavy loss without a queue: growth stops.
//!
//! A policer drops packets above its rate without queueing, so that round trips show nothing. The signal is a loss
//! far above that at a smaller window. Losses explained by a queue do not count. With several sources no loss is
//! heavy, because late answers of a far one look lost. Differences from a reduction by losses: the usual loss of the
//! path does not count, and the window is reduced to what the path delivers, not below.
//!
//! Afterwards the window grows by a segment in a round, paced exactly, since a policer passes few packets in a row. A
//! round with more than the usual loss sets the window to what the path delivers again ([`Policed`]). A policer delivers
//! as much for a smaller window. If the rate falls with the window instead, the losses were random, and the rule ends.
use super::super::extreme::Extreme;
use super::constants::{
    BURSTS, DEVIATIONS, FALLEN_RATE, FALLEN_WINDOW, HEAVY, HEAVY_FIRST, HEAVY_SAMPLES,
    POLICED_EARLY, POLICED_ROUNDS, USUAL_SPAN,
};
use crate::time::Instant;

/// Compares the share of lost transmissions with the least recent one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeavyLoss {
    delivered: u64,
    lost: u64,
    /// Number of bursts: losses in a row.
    bursts: u64,
    /// Send order of the latest loss.
    latest: u64,
    usual: Extreme,
}

impl HeavyLoss {
    pub(super) fn new() -> Self {
        let usual = Extreme::new(false, USUAL_SPAN);
        Self { delivered: 0, lost: 0, bursts: 0, latest: 0, usual }
    }

    /// Share of transmissions lost at a small window.
    pub(super) fn usual(&self) -> f64 {
        self.usual.get().unwrap_or(0.0)
    }

    /// Records a loss that no queue explains.
    pub(super) fn on_lost(&mut self, order: u64) {
        self.lost += 1;
        self.bursts += u64::from(order != self.latest.saturating_add(1));
        self.latest = order;
    }

    /// Discards the losses that are not yet judged: a silence caused them.
    pub(super) fn forget(&mut self) {
        (self.delivered, self.lost, self.bursts) = (0, 0, 0);
    }

    /// Ends a round with this many deliveries; true if the recent losses are heavy.
    pub(super) fn end_round(&mut self, now: Instant, delivered: u64) -> bool {
        self.delivered += delivered;
        let all = (self.delivered + self.lost) as f64;
        let enough = if self.usual.get().is_some() { HEAVY_SAMPLES } else { HEAVY_FIRST };
        if self.delivered + self.lost < enough {
            return false;
        }
        let share = self.lost as f64 / all;
        let usual = self.usual.get().unwrap_or(share);
        self.usual.add(now, share);
        let burst = self.lost as f64 / self.bursts.max(1) as f64;
        let variance = (BURSTS * burst).max(1.0) * share * (1.0 - share) / all;
        self.forget();
        share > usual + HEAVY + DEVIATIONS * libm::sqrt(variance)
    }
}

/// Slow growth after heavy loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Policed {
    /// Rounds left.
    left: u32,
    /// Rounds since the beginning.
    rounds: u32,
    /// Window and deliveries per second at the beginning.
    from: (f64, f64),
}

impl Policed {
    /// Begins with this window and so many deliveries per second.
    pub(super) fn begin(window: f64, rate: f64) -> Self {
        Self { left: POLICED_ROUNDS, rounds: 0, from: (window, rate) }
    }

    pub(super) fn is_active(&self) -> bool {
        self.left > 0
    }

    /// Ends a round.
    pub(super) fn end_round(&mut self) {
        (self.left, self.rounds) = (self.left.saturating_sub(1), self.rounds.saturating_add(1));
    }

    /// Handles a reduction of the window. Returns the window of the beginning if the losses were random.
    pub(super) fn on_reduced(&mut self, window: f64, rate: f64) -> Option<f64> {
        let have_fallen = window < FALLEN_WINDOW * self.from.0 && rate < FALLEN_RATE * self.from.1;
        let is_random = self.rounds >= POLICED_EARLY && have_fallen;
        self.left = if is_random { 0 } else { POLICED_ROUNDS };
        is_random.then_some(self.from.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round with these deliveries and losses, in bursts of that length.
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
    fn few_transmissions_are_not_judged() {
        let mut loss = HeavyLoss::new();
        round(&mut loss, 200, 0, 1);
        assert!(!round(&mut loss, 32, 32, 1));
        assert!(round(&mut loss, 32, 32, 1), "the two rounds together");
    }

    /// A policed window of 100 segments and 1,000 deliveries per second, after this many rounds.
    fn policed(rounds: u32) -> Policed {
        let mut policed = Policed::begin(100.0, 1_000.0);
        (0..rounds).for_each(|_| policed.end_round());
        policed
    }

    #[test]
    fn policer_delivers_as_much_for_less() {
        let mut policed = policed(10);
        assert_eq!(policed.on_reduced(60.0, 950.0), None);
        assert!(policed.is_active());
    }

    #[test]
    fn rate_that_falls_too_ends_slow_growth() {
        assert_eq!(policed(2).on_reduced(60.0, 600.0), None, "earlier transmissions");
        let mut policed = policed(3);
        assert_eq!(policed.on_reduced(60.0, 600.0), Some(100.0));
        assert!(!policed.is_active());
    }

    #[test]
    fn slow_growth_ends_after_its_rounds() {
        assert!(policed(POLICED_ROUNDS - 1).is_active());
        assert!(!policed(POLICED_ROUNDS).is_active());
    }
}
