//! What the order of arrivals tells: which transmissions are lost, and when that is repaired.
//!
//! The loss detector judges; here its judgement is carried out. A transmission that it cannot mean stays
//! with its timer: one that was sent after the judgement's reach, one whose segment was refused and waits,
//! and one whose segment has been asked for so often that order is no longer believed ([`MOST_BY_ORDER`]).
//!
//! Where one hole is repaired after the other, the timers of those whose turn has not come are started
//! anew with each step, as TCP's only timer is when something new is acknowledged (RFC 6298, 5.3; RFC 6582,
//! 3.2, calls it slow but steady). Otherwise timers would end most recoveries of two losses.
use super::arrive::Accepted;
use super::{Reports, Transfer, emit, timer};
use crate::congestion::LossKind;
use crate::event::Event;
use crate::fetch::FetchConfig;
use crate::fetch::scoreboard::{Sign, Slot};
use crate::loss::{Arrival, Judgement, Overtaken, Phase, Repair};
use crate::time::Instant;
use std::collections::VecDeque;

/// A segment that was asked for so many times is left to its timer. False alarms, which a path that
/// changes the order much may bring again and again, must not use up the retries.
const MOST_BY_ORDER: u32 = 3;

/// What is remembered of the order of transmissions.
#[derive(Debug)]
pub(super) struct Watch {
    /// What is repaired; none if nobody judges by order, and then nothing is kept.
    repair: Option<Repair>,
    /// Transmissions (send order, segment) from the oldest one in flight on.
    sent: VecDeque<(u64, u64)>,
    /// Highest send order that was answered.
    answered: u64,
    recovery: Option<Recovery>,
    /// As it was told last.
    phase: Phase,
}

/// Fast recovery.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// Highest segment asked for when it began (`recover`).
    through: u64,
    /// Highest send order then.
    order: u64,
}

impl Watch {
    /// Watches nothing, or what is to be repaired.
    pub(super) fn new(repair: Option<Repair>) -> Self {
        let (sent, phase) = (VecDeque::new(), Phase::Normal);
        Self { repair, sent, answered: 0, recovery: None, phase }
    }

    /// `segment` was asked for.
    pub(super) fn on_sent(&mut self, order: u64, segment: u64) {
        if self.repair == Some(Repair::Selective) {
            self.sent.push_back((order, segment));
        }
    }
}

/// The transmission of that `order` is in flight.
fn is_under_way(slot: Option<&Slot>, order: u64) -> bool {
    slot.is_some_and(|slot| slot.is_in_flight() && slot.order == order)
}

impl Transfer {
    /// Judges what is lost by what was accepted, and whether recovery is over.
    pub(super) fn judge_order(
        &mut self,
        config: &mut FetchConfig,
        accepted: &Accepted,
        reports: &mut Reports,
    ) {
        let Some(repair) = self.watch.repair else { return };
        let (now, order) = (accepted.now, accepted.slot.order);
        self.watch.answered = self.watch.answered.max(order);
        self.forget_settled();
        let base = self.board.base();
        if self.watch.recovery.is_some_and(|recovery| base > recovery.through) {
            self.leave_recovery(config, now);
        }
        let hole = self.board.get(base);
        let arrival = Arrival {
            segment: accepted.segment,
            order,
            rtt: (accepted.slot.transmissions == 1).then(|| accepted.net_rtt(self.min_rtt)),
            advance: accepted.advance,
            overtook: accepted.advance == 0
                && hole.is_some_and(|hole| hole.is_in_flight() && hole.order < order),
            held: self.board.above(),
            answered: self.watch.answered,
            overtaken: self.overtaken(),
            window: config.congestion.window(),
        };
        let judgement = config.loss.on_arrival(now, &arrival);
        match (judgement, self.watch.recovery) {
            (Some(judgement), _) => self.carry_out(config, now, repair, judgement, reports),
            (None, Some(recovery)) if repair == Repair::FirstHole && accepted.advance > 0 => {
                self.repair_next_hole(config, now, recovery, reports);
            }
            _ => {}
        }
        self.note_phase(config, reports);
    }

    /// Drops transmissions that have been answered or given up, up to the oldest one in flight.
    fn forget_settled(&mut self) {
        let Self { watch, board, .. } = self;
        while let Some((order, segment)) = watch.sent.front() {
            if is_under_way(board.get(*segment), *order) {
                break;
            }
            watch.sent.pop_front();
        }
    }

    /// The oldest transmission in flight that is watched, if it has been overtaken.
    fn overtaken(&self) -> Option<Overtaken> {
        let (order, segment) = self.watch.sent.front().copied()?;
        let sent = self.board.get(segment)?.sent;
        (order < self.watch.answered).then_some(Overtaken { order, sent })
    }

    fn carry_out(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        repair: Repair,
        judgement: Judgement,
        reports: &mut Reports,
    ) {
        let mut lost = std::mem::take(&mut self.lost);
        match repair {
            Repair::Selective => self.lose_all_through(config, judgement, &mut lost, reports),
            Repair::FirstHole => {
                let base = self.board.base();
                lost.extend(self.lose_by_order(config, base, judgement.through, reports));
            }
        }
        // Told together, so that congestion control knows what is still in flight.
        let mut is_new = false;
        for order in lost.drain(..) {
            let (kind, evidence) = (LossKind::Order, judgement.evidence);
            is_new |= self.reduce(config, now, (order, kind, evidence), reports);
        }
        self.lost = lost;
        if is_new {
            let (through, order) = (self.board.next() - 1, self.board.highest_order());
            let recovery = Recovery { through, order };
            self.watch.recovery = Some(recovery);
            if repair == Repair::FirstHole {
                self.restart_timers(config, now, recovery);
            }
        } else if self.watch.recovery.is_none() {
            config.loss.on_recovered(now);
        }
    }

    fn lose_all_through(
        &mut self,
        config: &FetchConfig,
        judgement: Judgement,
        lost: &mut Vec<u64>,
        reports: &mut Reports,
    ) {
        while let Some((order, segment)) = self.watch.sent.front().copied() {
            if order > judgement.through && !self.is_too_old(order, segment, judgement) {
                break;
            }
            self.watch.sent.pop_front();
            if is_under_way(self.board.get(segment), order) {
                lost.extend(self.lose_by_order(config, segment, order, reports));
            }
        }
    }

    /// The transmission of that `order` was overtaken, and sent before what the judgement allows.
    fn is_too_old(&self, order: u64, segment: u64, judgement: Judgement) -> bool {
        // One that was followed by another of its segment no longer counts, whenever it was sent.
        order < self.watch.answered
            && self.board.get(segment).is_none_or(|slot| {
                slot.order != order || judgement.sent_by.is_some_and(|by| slot.sent <= by)
            })
    }

    /// Judges the transmission in flight of `segment` lost, if its send order is `through` or lower.
    /// Returns its send order if it is.
    fn lose_by_order(
        &mut self,
        config: &FetchConfig,
        segment: u64,
        through: u64,
        reports: &mut Reports,
    ) -> Option<u64> {
        let slot = self.board.get(segment).copied()?;
        let most = config.retries.unwrap_or(MOST_BY_ORDER).min(MOST_BY_ORDER);
        let spent = slot.transmissions > most;
        if slot.order > through || spent || self.setbacks.contains_key(&segment) {
            return None;
        }
        if !self.board.lose(segment, Sign::Order) {
            return None;
        }
        self.timers.cancel(timer(segment));
        self.sampler.on_abandoned(segment);
        emit(reports, Event::Lost { segment });
        Some(slot.order)
    }

    /// The lowest missing segment has come: the next one is missing, too, unless it was asked for after
    /// recovery had begun.
    fn repair_next_hole(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        recovery: Recovery,
        reports: &mut Reports,
    ) {
        let base = self.board.base();
        if let Some(order) = self.lose_by_order(config, base, recovery.order, reports) {
            self.reduce(config, now, (order, LossKind::Order, 0), reports);
        }
        self.restart_timers(config, now, recovery);
    }

    /// Starts the timers anew of what was asked for before recovery began.
    fn restart_timers(&mut self, config: &FetchConfig, now: Instant, recovery: Recovery) {
        let at = self.check_instant(config, now + config.rto.rto());
        let Self { board, timers, setbacks, .. } = self;
        for segment in board.under_way_through(recovery.order) {
            if !setbacks.contains_key(&segment) {
                timers.arm(timer(segment), at);
            }
        }
    }

    /// Recovery, if there is any, is over because it has succeeded or was not needed.
    pub(super) fn leave_recovery(&mut self, config: &mut FetchConfig, now: Instant) {
        if self.watch.recovery.take().is_some() {
            config.congestion.on_recovered(now);
            config.loss.on_recovered(now);
        }
    }

    /// Timers decide from here: recovery, if there is any, is over.
    pub(super) fn abandon_recovery(&mut self, config: &mut FetchConfig, now: Instant) {
        self.watch.recovery = None;
        config.loss.on_timeout(now);
    }

    pub(super) fn note_phase(&mut self, config: &FetchConfig, reports: &mut Reports) {
        let phase = config.loss.phase();
        if phase != self.watch.phase {
            self.watch.phase = phase;
            emit(reports, Event::Phase { phase });
        }
    }
}
