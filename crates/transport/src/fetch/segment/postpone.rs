//! Postponed retransmissions: until forwarders no longer suppress them, or until no answer can only be late.
//!
//! They are used with a time threshold only; reordering-based detection follows the studies.
use super::lose::Setback;
use super::{Transfer, timer};
use crate::fetch::Control;
use crate::fetch::scoreboard::Slot;
use crate::fetch::source::Source;
use crate::time::{Duration, Instant};

/// Suppression interval of forwarders, which doubles with each transmission up to the longest (NFD,
/// `daemon/fw/retx-suppression-exponential.hpp`). An earlier retransmission is dropped.
const FIRST_SUPPRESSION: Duration = Duration::from_millis(10);
const MAX_SUPPRESSION: Duration = Duration::from_millis(250);

/// Suppression interval after the last of so many transmissions.
fn suppression(transmissions: u32) -> Duration {
    let times = transmissions.saturating_sub(1).min(8);
    FIRST_SUPPRESSION.saturating_mul(1 << times).min(MAX_SUPPRESSION)
}

impl<S: Source> Transfer<S> {
    /// Postpones the retransmission of a lost segment for the suppression interval.
    pub(super) fn defer_suppressed(&mut self, now: Instant, segment: u64, slot: &Slot) {
        let soonest = slot.sent + suppression(slot.transmissions);
        if soonest > now {
            self.board.defer(segment);
            self.sending.timers.arm(timer::<S>(segment), soonest);
        }
    }

    /// Waits for a late answer instead of declaring the first transmission of `segment` lost, if the detector
    /// requires it.
    pub(super) fn wait_for_late(
        &mut self,
        control: &mut Control,
        now: Instant,
        segment: u64,
    ) -> bool {
        let Some(slot) = self.board.get(segment).filter(|slot| slot.transmissions == 1) else {
            return false;
        };
        if self.disputes.setbacks.contains_key(&segment) || self.is_ending() {
            return false;
        }
        let Some(wait) = control.loss.reordering_wait(now) else { return false };
        let at = (slot.sent + wait).max(now);
        self.retransmit_at(segment, at, Setback::Awaited);
        self.watch.awaited = Some(segment);
        true
    }

    /// Whether all segments were requested.
    fn is_ending(&self) -> bool {
        self.progress.end.last().is_some_and(|last| self.board.next() > last)
    }

    /// Retransmits the segment whose answer may be late, once all segments were requested. The fetch then does not
    /// wait for it.
    pub(super) fn end_reordering_wait(&mut self, now: Instant) {
        let Some(segment) = self.watch.awaited.filter(|_| self.is_ending()) else { return };
        if self.disputes.setbacks.get(&segment) == Some(&Setback::Awaited) {
            self.sending.timers.arm(timer::<S>(segment), now);
        }
        self.watch.awaited = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suppression_doubles_up_to_250_ms() {
        let millis: Vec<u128> = (1..8).map(|sent| suppression(sent).as_millis()).collect();
        assert_eq!(millis, [10, 20, 40, 80, 160, 250, 250]);
        assert_eq!(suppression(u32::MAX), MAX_SUPPRESSION);
    }
}
