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
use crate::loss::{Arrival, Judgement, Overtaken, Phase, Repair, Repeated};
use crate::time::Instant;
use std::collections::VecDeque;

/// A segment that was asked for so many times is left to its timer. False alarms, which a path that
/// changes the order much may bring again and again, must not use up the retries.
const MOST_BY_ORDER: u32 = 3;

/// The wait for a tail-loss probe doubles so often at most.
const MOST_PROBES: u32 = 6;

/// The same where a timer judges by age.
const MOST_BY_AGE: u32 = 8;

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
    /// When something arrived, or a tail-loss probe was sent, for the last time.
    heard: Instant,
    /// Tail-loss probes since something arrived.
    probes: u32,
    /// When the oldest transmission is lost, or probed for, if nothing arrives.
    alarm: Option<Instant>,
    /// A segment whose answer may only be late.
    pub(super) awaited: Option<u64>,
    /// A tail-loss probe is to leave whatever the window.
    pub(super) probing: bool,
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
        Self {
            repair,
            sent: VecDeque::new(),
            answered: 0,
            recovery: None,
            phase: Phase::Normal,
            heard: Instant::ZERO,
            probes: 0,
            alarm: None,
            awaited: None,
            probing: false,
        }
    }

    /// When the oldest transmission is lost, or probed for, if nothing arrives.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.alarm
    }

    /// Nothing can arrive: there is no alarm until something is sent.
    pub(super) fn silence(&mut self) {
        self.alarm = None;
    }

    /// When something arrived for the last time, if no transmission as late as this one was answered.
    pub(super) fn heard_before(&self, order: u64) -> Option<Instant> {
        (order > self.answered).then_some(self.heard)
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
        (self.watch.heard, self.watch.probes) = (now, 0);
        self.forget_settled();
        self.end_doubt(now);
        let base = self.board.base();
        if self.watch.recovery.is_some_and(|recovery| base > recovery.through) {
            self.leave_recovery(config, now);
        }
        let hole = self.board.get(base);
        let arrival = Arrival {
            segment: accepted.segment,
            order,
            rtt: (accepted.slot.transmissions == 1).then(|| accepted.net_rtt(self.min_rtt)),
            repeated: accepted.slot.lost.map(|lost| Repeated {
                since_last: now.since(accepted.slot.sent),
                since_lost: now.since(lost.sent),
            }),
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

    /// Sets the alarm for the oldest transmission in flight.
    pub(super) fn set_alarm(&mut self, config: &FetchConfig) {
        if config.loss.age().is_none() {
            return;
        }
        self.forget_settled();
        let oldest = self
            .watch
            .sent
            .front()
            .and_then(|(order, segment)| Some((*order, self.board.get(*segment)?.sent)));
        let Watch { answered, heard, probes, .. } = self.watch;
        self.watch.alarm = oldest.and_then(|(order, sent)| {
            if order < answered {
                return config.loss.age().map(|age| sent + age);
            }
            let wait = config.loss.probe_after()?;
            Some(sent.max(heard) + wait.saturating_mul(1 << probes.min(MOST_PROBES)))
        });
    }

    /// Judges the oldest transmission if its time has come.
    pub(super) fn fire_alarm(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        reports: &mut Reports,
    ) {
        if self.watch.alarm.is_none_or(|alarm| alarm > now) {
            return;
        }
        self.watch.alarm = None;
        self.forget_settled();
        let Some((order, segment)) = self.watch.sent.front().copied() else { return };
        let age = config.loss.age().unwrap_or_default();
        if order < self.watch.answered {
            let sent_by = Some(now - age);
            let judgement = Judgement { through: 0, sent_by, evidence: 1 };
            self.carry_out(config, now, Repair::Selective, judgement, reports);
        } else {
            (self.watch.heard, self.watch.probes) = (now, self.watch.probes.saturating_add(1));
            self.watch.sent.pop_front();
            if let Some(lost) = self.lose_by_order(config, now, segment, order, reports) {
                self.watch.probing = true;
                self.reduce(config, now, (lost, LossKind::Order, 1), reports);
            }
        }
        self.note_phase(config, reports);
        self.set_alarm(config);
        // What may not be judged is left to its timer.
        self.watch.alarm = self.watch.alarm.filter(|alarm| *alarm > now);
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
            Repair::Selective => self.lose_all_through(config, now, judgement, &mut lost, reports),
            Repair::FirstHole => {
                let base = self.board.base();
                lost.extend(self.lose_by_order(config, now, base, judgement.through, reports));
            }
        }
        // Told together, so that congestion control knows what is still in flight.
        let mut is_new = false;
        for lost in lost.drain(..) {
            let (kind, evidence) = (LossKind::Order, judgement.evidence);
            is_new |= self.reduce(config, now, (lost, kind, evidence), reports);
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
        config: &mut FetchConfig,
        now: Instant,
        judgement: Judgement,
        lost: &mut Vec<(u64, u64)>,
        reports: &mut Reports,
    ) {
        while let Some((order, segment)) = self.watch.sent.front().copied() {
            if order > judgement.through && !self.is_too_old(order, segment, judgement) {
                break;
            }
            self.watch.sent.pop_front();
            if is_under_way(self.board.get(segment), order)
                && !self.wait_for_late(config, now, segment)
            {
                lost.extend(self.lose_by_order(config, now, segment, order, reports));
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
    /// Returns its send order and segment if it is.
    fn lose_by_order(
        &mut self,
        config: &FetchConfig,
        now: Instant,
        segment: u64,
        through: u64,
        reports: &mut Reports,
    ) -> Option<(u64, u64)> {
        let slot = self.board.get(segment).copied()?;
        let believed = if config.loss.age().is_some() { MOST_BY_AGE } else { MOST_BY_ORDER };
        let most = config.retries.unwrap_or(believed).min(believed);
        let spent = slot.transmissions > most;
        if slot.order > through || spent || self.setbacks.contains_key(&segment) {
            return None;
        }
        if !self.board.lose(segment, Sign::Order) {
            return None;
        }
        self.timers.cancel(timer(segment));
        if config.loss.age().is_some() {
            self.defer_suppressed(now, segment, &slot);
        }
        self.sampler.on_abandoned(segment);
        emit(reports, Event::Lost { segment });
        Some((slot.order, segment))
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
        if let Some(lost) = self.lose_by_order(config, now, base, recovery.order, reports) {
            self.reduce(config, now, (lost, LossKind::Order, 0), reports);
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
