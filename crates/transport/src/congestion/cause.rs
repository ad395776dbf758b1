//! The taxonomy of loss: the cause of a lost transmission, with the evidence for it.
//!
//! Explicit signals count more than inference. A congestion mark and a Nack (Congestion) are congestion. A loss
//! beside a queue is congestion, too: the transmissions next to it waited nearly as long as any recent one, or losses
//! rank with long delays. A rank-sum test against deliveries, with a normal approximation, decides on the latter.
//! Every other loss is random. The fetch loop detects mobility (a face that is gone, an MLDR Nack) and spurious
//! losses. Neither reaches a congestion control as a loss.
use super::extreme::Extreme;
use super::{Loss, LossKind};
use crate::time::{Duration, Instant};

/// Fraction of the longest recent queueing delay that indicates a full queue.
const FULL: f64 = 0.75;
/// Minimum length of a queue, packets. A buffer may hold a single one.
const LEAST_QUEUE: f64 = 0.8;
/// Rounds before a queue is judged: the first train queues behind itself.
const FIRST_ROUNDS: u64 = 3;
/// Losses over which ranks decay.
const RANK_MEMORY: f64 = 48.0;
/// Minimum number of ranked losses for a judgement.
const MIN_RANKED: f64 = 8.0;
/// Delays among which a loss is ranked: their number, their distance in send order, and their minimum number.
const PEERS: u64 = 48;
const PEER_DISTANCE: u64 = 3;
const MIN_PEERS: f64 = 16.0;
/// Deliveries with which a loss is compared: their number, and their maximum distance before it in send order. A
/// queue that grows slowly and is drained at once ranks most packets high, lost or not.
const CONTROLS: u64 = 4;
const CONTROL_SPAN: u64 = 1024;
/// Standard deviations above the mean of deliveries at which losses rank with long delays.
const RANKS_HIGH: f64 = 2.5;
/// Minimum rank of such a loss.
const LEAST_RANK: f64 = 0.6;
/// Transmissions whose queueing delay is remembered.
const REMEMBERED: usize = 4096;
/// Maximum distance of a neighbour in send order.
const NEIGHBOURHOOD: u64 = 8;

/// The cause of a lost transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossCause {
    /// A queue overflows or is about to: the window is too large.
    Congestion(Evidence),
    /// A link lost the packet: the window is right as it is.
    Random,
    /// A node moved.
    Mobility,
    /// Nothing was lost.
    Spurious,
}

/// Evidence of congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evidence {
    /// A congestion mark.
    Mark,
    /// A Nack with reason Congestion.
    Nack,
    /// The neighbouring transmissions waited in a queue.
    Queue {
        /// Their queueing delay, seconds.
        delay: f64,
        /// The longest recent queueing delay, seconds.
        longest: f64,
    },
    /// Recent losses rank with long queueing delays, and so does this one.
    Rank,
    /// The round trip is so short that process scheduling hides any queue.
    ShortPath,
}

/// Recent queueing delays, by send order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Queues {
    longest: Extreme,
    recent: Vec<(u64, f64)>,
    /// Sum of the ranks of losses, each less the mean rank of its controls, and their number; both decay.
    ranks: (f64, f64),
    /// Number of sources. This number of neighbours on each side may include one of the same source.
    sources: usize,
}

impl Queues {
    pub(super) fn new() -> Self {
        let longest = Extreme::new(true, Duration::from_secs(5));
        Self { longest, recent: Vec::new(), ranks: (0.0, 0.0), sources: 1 }
    }

    /// Records the queueing delay of a transmission, seconds.
    pub(super) fn add(&mut self, now: Instant, order: u64, delay: f64) {
        self.longest.add(now, delay);
        if self.recent.is_empty() {
            self.recent.resize(REMEMBERED, (0, 0.0));
        }
        if let Some(slot) = self.recent.get_mut((order % REMEMBERED as u64) as usize) {
            *slot = (order, delay);
        }
    }

    /// Sets the number of sources.
    pub(super) fn set_sources(&mut self, sources: usize) {
        self.sources = sources;
    }

    /// Discards all delays: they do not compare with later ones.
    pub(super) fn forget(&mut self, now: Instant) {
        self.longest = self.longest.emptied(now);
        self.recent.clear();
    }

    /// Longest delay of the neighbours of a transmission, one for each source on each side, seconds, if any is known.
    pub(super) fn beside(&self, order: u64) -> Option<f64> {
        let of = |order: u64| {
            let (known, delay) = *self.recent.get((order % REMEMBERED as u64) as usize)?;
            (known == order && order > 0).then_some(delay)
        };
        let below = (1..=NEIGHBOURHOOD).filter_map(|back| of(order.checked_sub(back)?));
        let above = (1..=NEIGHBOURHOOD).filter_map(|ahead| of(order.checked_add(ahead)?));
        below.take(self.sources).chain(above.take(self.sources)).reduce(f64::max)
    }

    /// Whether a queueing delay, in seconds, indicates a full queue.
    pub(super) fn is_full(&self, delay: f64) -> bool {
        delay >= FULL * self.longest.get().unwrap_or(0.0)
    }

    /// Whether there was a queue recently, at this many deliveries per second.
    pub(super) fn is_queue(&self, rate: f64) -> bool {
        self.longest.get().unwrap_or(0.0) * rate >= LEAST_QUEUE
    }

    /// Fraction of the recent delays that are shorter than that beside a transmission; equal ones count half.
    fn rank(&self, order: u64) -> Option<f64> {
        let beside = self.beside(order)?;
        let (mut shorter, mut all) = (0.0, 0.0);
        for back in 1..=PEERS {
            let earlier = order.checked_sub(back * PEER_DISTANCE)?;
            let (known, delay) = *self.recent.get((earlier % REMEMBERED as u64) as usize)?;
            if known == earlier {
                all += 1.0;
                shorter +=
                    if delay < beside { 1.0 } else { f64::from(u8::from(delay == beside)) / 2.0 };
            }
        }
        (all >= MIN_PEERS).then(|| shorter / all)
    }

    /// Mean rank of deliveries before a transmission.
    fn usual_rank(&self, order: u64) -> Option<f64> {
        let back =
            |control: u64| 1 + (order ^ control).wrapping_mul(0x9E37_79B9_7F4A_7C15) % CONTROL_SPAN;
        let controls = (1..=CONTROLS).filter_map(|n| self.rank(order.checked_sub(back(n << 32))?));
        let (sum, known) =
            controls.fold((0.0, 0.0), |(sum, known), rank| (sum + rank, known + 1.0));
        (known > 0.0).then(|| sum / known)
    }

    /// Records the rank of a loss.
    pub(super) fn on_lost(&mut self, loss: &Loss) {
        if matches!(loss.kind, LossKind::Timeout | LossKind::Order)
            && let Some(rank) = self.rank(loss.order)
            && let Some(usual) = self.usual_rank(loss.order)
        {
            let fade = 1.0 - 1.0 / RANK_MEMORY;
            self.ranks = (self.ranks.0 * fade + rank - usual, self.ranks.1 * fade + 1.0);
        }
    }

    /// Whether losses rank with long delays, and this one does. A recent stall made the longest delay longer than the
    /// queue is.
    fn ranks_high(&self, order: u64) -> bool {
        // Variance of a rank, 1/12, and of the mean of its controls.
        let variance = (1.0 + 1.0 / CONTROLS as f64) / 12.0;
        let deviations = self.ranks.0 / libm::sqrt(variance * self.ranks.1.max(1.0));
        self.ranks.1 >= MIN_RANKED
            && deviations > RANKS_HIGH
            && self.rank(order).is_some_and(|rank| rank >= LEAST_RANK)
    }

    /// Cause of a loss after this many rounds, at this many deliveries per second.
    pub(super) fn judge(&self, loss: &Loss, rounds: u64, rate: f64) -> LossCause {
        match loss.kind {
            LossKind::Mark => return LossCause::Congestion(Evidence::Mark),
            LossKind::NackCongestion => return LossCause::Congestion(Evidence::Nack),
            LossKind::Timeout | LossKind::Order => {}
        }
        let longest = self.longest.get().unwrap_or(0.0);
        let full = |delay: &f64| self.is_queue(rate) && *delay >= FULL * longest;
        match self.beside(loss.order).filter(full) {
            Some(delay) if rounds >= FIRST_ROUNDS => {
                LossCause::Congestion(Evidence::Queue { delay, longest })
            }
            _ if rounds >= FIRST_ROUNDS && self.is_queue(rate) && self.ranks_high(loss.order) => {
                LossCause::Congestion(Evidence::Rank)
            }
            _ => LossCause::Random,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(kind: LossKind, order: u64) -> Loss {
        Loss { kind, order, highest_order: 100, in_flight: 10, evidence: 1, ..Loss::default() }
    }

    /// A queue that grew from 0 to 9 ms over ten transmissions.
    fn queues() -> Queues {
        let mut queues = Queues::new();
        (10..20).for_each(|n| queues.add(Instant::ZERO, n, (n - 10) as f64 / 1000.0));
        queues
    }

    #[test]
    fn loss_beside_a_full_queue_is_congestion() {
        let judged = queues().judge(&loss(LossKind::Order, 20), 5, 1000.0);
        let evidence = Evidence::Queue { delay: 0.009, longest: 0.009 };
        assert_eq!(judged, LossCause::Congestion(evidence));
    }

    #[test]
    fn loss_without_a_queue_is_random() {
        let queues = queues();
        assert_eq!(queues.judge(&loss(LossKind::Order, 12), 5, 1000.0), LossCause::Random);
        assert_eq!(queues.judge(&loss(LossKind::Order, 90), 5, 1000.0), LossCause::Random);
        assert_eq!(queues.judge(&loss(LossKind::Order, 20), 5, 80.0), LossCause::Random);
    }

    #[test]
    fn queue_of_one_of_two_sources_is_seen() {
        let mut queues = Queues::new();
        (10..20).for_each(|n| queues.add(Instant::ZERO, n, if n % 2 == 0 { 0.009 } else { 0.0 }));
        let cause = |queues: &Queues| queues.judge(&loss(LossKind::Order, 20), 5, 1000.0);
        assert_eq!(cause(&queues), LossCause::Random, "the neighbour is of the other source");
        queues.set_sources(2);
        assert!(matches!(cause(&queues), LossCause::Congestion(Evidence::Queue { .. })));
    }

    #[test]
    fn one_waiting_packet_is_a_queue() {
        let judged = queues().judge(&loss(LossKind::Order, 20), 5, 111.0);
        assert!(matches!(judged, LossCause::Congestion(Evidence::Queue { .. })));
    }

    #[test]
    fn losses_that_rank_with_long_delays_are_congestion() {
        let mut queues = Queues::new();
        // A stall of 100 ms, then queues of 0 to 3 ms.
        queues.add(Instant::ZERO, 1, 0.1);
        let delay = |n: u64| (n % 4) as f64 / 1000.0;
        (2..1000).for_each(|n| queues.add(Instant::ZERO, n, delay(n)));
        let lost = |order| loss(LossKind::Order, order);
        let cause = |queues: &Queues, order| queues.judge(&lost(order), 5, 1000.0);
        let all_ranks: Vec<u64> = (400..600).step_by(5).collect();
        all_ranks.iter().for_each(|order| queues.on_lost(&lost(*order)));
        let full: Vec<u64> = (600..800).filter(|n| n % 4 == 0).collect();
        full.iter().for_each(|order| queues.on_lost(&lost(*order)));
        assert_eq!(cause(&queues, 804), LossCause::Congestion(Evidence::Rank));
        let mut calm = queues.clone();
        calm.ranks = (0.0, 40.0);
        assert_eq!(cause(&calm, 804), LossCause::Random);
    }

    #[test]
    fn explicit_signals_need_no_queue() {
        let queues = Queues::new();
        let judged = queues.judge(&loss(LossKind::Mark, 1), 0, 0.0);
        assert_eq!(judged, LossCause::Congestion(Evidence::Mark));
        let judged = queues.judge(&loss(LossKind::NackCongestion, 1), 0, 0.0);
        assert_eq!(judged, LossCause::Congestion(Evidence::Nack));
    }
}
