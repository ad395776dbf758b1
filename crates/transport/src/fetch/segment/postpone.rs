//! Retransmissions that wait: until forwarders let them pass, or until it is clear that no answer is only late.
//!
//! Only where age tells what is lost; the order of arrivals is judged as the studies do.
use super::lose::Setback;
use super::{Transfer, timer};
use crate::fetch::FetchConfig;
use crate::fetch::scoreboard::Slot;
use crate::time::{Duration, Instant};

/// Forwarders suppress a retransmission that follows the transmission before sooner than this, which doubles with each
/// transmission up to the longest (NFD, `daemon/fw/retx-suppression-exponential.hpp`): it would be swallowed.
const SUPPRESSION: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// How long after the last of so many transmissions forwarders suppress the next one.
fn suppression(transmissions: u32) -> Duration {
    let times = transmissions.saturating_sub(1).min(8);
    SUPPRESSION.0.saturating_mul(1 << times).min(SUPPRESSION.1)
}

impl Transfer {
    /// `segment` was judged lost: its retransmission waits for as long as forwarders would suppress it.
    pub(super) fn defer_suppressed(&mut self, now: Instant, segment: u64, slot: &Slot) {
        let soonest = slot.sent + suppression(slot.transmissions);
        if soonest > now {
            self.board.defer(segment);
            self.timers.arm(timer(segment), soonest);
        }
    }

    /// The first transmission of `segment` would be lost, but the detector wants to see whether its answer is only late.
    pub(super) fn wait_for_late(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        segment: u64,
    ) -> bool {
        let Some(slot) = self.board.get(segment).filter(|slot| slot.transmissions == 1) else {
            return false;
        };
        if self.setbacks.contains_key(&segment) || self.is_ending() {
            return false;
        }
        let Some(patience) = config.loss.doubt(now) else { return false };
        let at = (slot.sent + patience).max(now);
        self.ask_again_at(segment, at, Setback::Awaited);
        self.watch.awaited = Some(segment);
        true
    }

    /// All segments were asked for.
    fn is_ending(&self) -> bool {
        self.end.last().is_some_and(|last| self.board.next() > last)
    }

    /// All was asked for, and a segment may only be late: it is asked for again, so that the fetch does not wait for it.
    pub(super) fn end_doubt(&mut self, now: Instant) {
        let Some(segment) = self.watch.awaited.filter(|_| self.is_ending()) else { return };
        if self.setbacks.get(&segment) == Some(&Setback::Awaited) {
            self.timers.arm(timer(segment), now);
        }
        self.watch.awaited = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suppression_doubles_up_to_a_quarter_of_a_second() {
        let millis: Vec<u128> = (1..8).map(|sent| suppression(sent).as_millis()).collect();
        assert_eq!(millis, [10, 20, 40, 80, 160, 250, 250]);
        assert_eq!(suppression(u32::MAX), SUPPRESSION.1);
    }
}
