//! Reordering-based loss detection and recovery episodes.
//!
//! The loss detector judges; this module applies its judgement. A transmission is left to its timer if it was sent
//! later than the judgement covers, or if its segment was answered by a Nack. It is also left to its timer if the
//! segment was retransmitted too often ([`MOST_BY_ORDER`]).
//!
//! Where holes are repaired one after the other, each repair restarts the timers of the others. TCP restarts its only
//! timer in the same way when new data is acknowledged (RFC 6298, 5.3; RFC 6582, 3.2, "slow but steady"). Otherwise
//! timers would end most recoveries of two losses.
use super::arrive::Accepted;
use super::{Reports, Transfer, emit, timer};
use crate::congestion::LossKind;
use crate::event::Event;
use crate::fetch::Control;
use crate::fetch::scoreboard::{Sign, Slot};
use crate::fetch::source::Source;
use crate::loss::{Arrival, Judgement, Overtaken, Phase, Repair, Repeated};
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// A segment with so many transmissions is left to its timer. A path with much reordering may cause spurious losses
/// again and again, which must not spend the retries.
const MOST_BY_ORDER: u32 = 3;

/// Most doublings of the wait for a tail-loss probe.
const MOST_PROBES: u32 = 6;

/// Time that a producer may take for its first answer beyond a round trip, to read and to sign; chosen.
const FIRST_ANSWER: Duration = Duration::from_millis(10);

/// As [`MOST_BY_ORDER`], with a time threshold.
const MOST_BY_TIME: u32 = 8;

/// State of reordering-based loss detection.
#[derive(Debug)]
pub(super) struct Watch {
    /// How losses are repaired; none without reordering-based detection, which then keeps no state.
    repair: Option<Repair>,
    /// Transmissions (send order, segment) from the oldest one in flight on.
    sent: VecDeque<(u64, u64)>,
    /// Highest send order answered.
    answered: u64,
    recovery: Option<Recovery>,
    /// The last phase reported.
    phase: Phase,
    /// Time of the last arrival or tail-loss probe.
    last_active: Instant,
    /// Tail-loss probes since the last arrival.
    probes: u32,
    /// Time at which the oldest transmission is declared lost, or a probe is sent, if nothing arrives.
    alarm: Option<Instant>,
    /// A segment whose answer may only be late.
    pub(super) awaited: Option<u64>,
    /// A tail-loss probe is to be sent, whatever the window.
    pub(super) probing: bool,
    /// Send orders in the macroflow and segments of the losses detected at one instant; empty in between.
    pub(super) lost: Vec<(u64, u64)>,
}

/// A recovery episode.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// Highest segment requested when it began (`recover`).
    through: u64,
    /// Highest send order then.
    order: u64,
}

impl Watch {
    /// State for a kind of repair, or for none.
    pub(super) fn new(repair: Option<Repair>) -> Self {
        Self {
            repair,
            sent: VecDeque::new(),
            answered: 0,
            recovery: None,
            phase: Phase::Normal,
            last_active: Instant::ZERO,
            probes: 0,
            alarm: None,
            awaited: None,
            probing: false,
            lost: Vec::new(),
        }
    }

    /// Time at which the oldest transmission is declared lost, or a probe is sent, if nothing arrives.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.alarm
    }

    /// Stops the alarm until something is sent: nothing can arrive.
    pub(super) fn silence(&mut self) {
        self.alarm = None;
    }

    /// Time of the last arrival, if no transmission with this send order or a later one was answered.
    pub(super) fn last_active_before(&self, order: u64) -> Option<Instant> {
        (order > self.answered).then_some(self.last_active)
    }

    /// Records a transmission of `segment`.
    pub(super) fn on_sent(&mut self, order: u64, segment: u64) {
        if self.repair == Some(Repair::Selective) {
            self.sent.push_back((order, segment));
        }
    }
}

/// Whether the transmission of that `order` is in flight.
fn is_in_flight(slot: Option<&Slot>, order: u64) -> bool {
    slot.is_some_and(|slot| slot.is_in_flight() && slot.order == order)
}

impl<S: Source> Transfer<S> {
    /// Detects losses by the accepted answers, and the end of recovery.
    pub(super) fn judge_order(
        &mut self,
        control: &mut Control,
        accepted: &Accepted,
        reports: &mut Reports,
    ) {
        let Some(repair) = self.watch.repair else { return };
        let (now, order) = (accepted.now, accepted.slot.order);
        self.watch.answered = self.watch.answered.max(order);
        (self.watch.last_active, self.watch.probes) = (now, 0);
        self.forget_settled();
        self.end_reordering_wait(now);
        let base = self.board.base();
        if self.watch.recovery.is_some_and(|recovery| base > recovery.through) {
            self.leave_recovery(control, now);
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
            window: control.congestion.window(),
        };
        let judgement = control.loss.on_arrival(now, &arrival);
        match (judgement, self.watch.recovery) {
            (Some(judgement), _) => self.carry_out(control, now, repair, judgement, reports),
            (None, Some(recovery)) if repair == Repair::FirstHole && accepted.advance > 0 => {
                self.repair_next_hole(control, now, recovery, reports);
            }
            _ => {}
        }
        self.note_phase(control, reports);
    }

    /// Sets the alarm of the oldest transmission in flight.
    pub(super) fn set_alarm(&mut self, control: &Control) {
        if control.loss.age().or_else(|| control.loss.probe_after()).is_none() {
            return;
        }
        self.forget_settled();
        let oldest = self
            .watch
            .sent
            .front()
            .and_then(|(order, segment)| Some((*order, self.board.get(*segment)?.sent)));
        let Watch { answered, last_active, probes, .. } = self.watch;
        self.watch.alarm = oldest.and_then(|(order, sent)| {
            if order < answered {
                return control.loss.age().map(|age| sent + age);
            }
            let probe = control.loss.probe_after()?;
            // Discovery may have measured a round trip although no segment has (RFC 8985, 7.2).
            let is_first = control.loss.age().is_none() && control.is_measured;
            let known = control.rto.srtt().filter(|_| is_first);
            let wait = known.map_or(probe, |srtt| srtt.saturating_mul(2) + FIRST_ANSWER);
            Some(sent.max(last_active) + wait.saturating_mul(1 << probes.min(MOST_PROBES)))
        });
    }

    /// Judges the oldest transmission if its alarm is due.
    pub(super) fn fire_alarm(
        &mut self,
        control: &mut Control,
        now: Instant,
        reports: &mut Reports,
    ) {
        if self.watch.alarm.is_none_or(|alarm| alarm > now) {
            return;
        }
        self.watch.alarm = None;
        self.forget_settled();
        let Some((order, segment)) = self.watch.sent.front().copied() else { return };
        let age = control.loss.age().unwrap_or_default();
        if order < self.watch.answered {
            let sent_by = Some(now - age);
            let judgement = Judgement { through: 0, sent_by, evidence: 1 };
            self.carry_out(control, now, Repair::Selective, judgement, reports);
        } else {
            (self.watch.last_active, self.watch.probes) =
                (now, self.watch.probes.saturating_add(1));
            self.watch.sent.pop_front();
            if let Some(lost) = self.lose_by_order(control, now, segment, order, reports) {
                self.watch.probing = true;
                self.reduce(control, now, (lost, LossKind::Order, 1), reports);
            }
        }
        self.note_phase(control, reports);
        self.set_alarm(control);
        // The others are left to their timers.
        self.watch.alarm = self.watch.alarm.filter(|alarm| *alarm > now);
    }

    /// Drops transmissions that were answered or abandoned, up to the oldest one in flight.
    fn forget_settled(&mut self) {
        let Self { watch, board, .. } = self;
        while let Some((order, segment)) = watch.sent.front() {
            if is_in_flight(board.get(*segment), *order) {
                break;
            }
            watch.sent.pop_front();
        }
    }

    /// The oldest watched transmission in flight, if it was overtaken.
    fn overtaken(&self) -> Option<Overtaken> {
        let (order, segment) = self.watch.sent.front().copied()?;
        let sent = self.board.get(segment)?.sent;
        (order < self.watch.answered).then_some(Overtaken { order, sent })
    }

    fn carry_out(
        &mut self,
        control: &mut Control,
        now: Instant,
        repair: Repair,
        judgement: Judgement,
        reports: &mut Reports,
    ) {
        let mut lost = std::mem::take(&mut self.watch.lost);
        match repair {
            Repair::Selective => self.lose_all_through(control, now, judgement, &mut lost, reports),
            Repair::FirstHole => {
                let base = self.board.base();
                lost.extend(self.lose_by_order(control, now, base, judgement.through, reports));
            }
        }
        // Reported together, so that congestion control knows the number in flight.
        let mut is_new = false;
        for lost in lost.drain(..) {
            let (kind, evidence) = (LossKind::Order, judgement.evidence);
            is_new |= self.reduce(control, now, (lost, kind, evidence), reports);
        }
        self.watch.lost = lost;
        if is_new {
            let (through, order) = (self.board.next() - 1, self.board.highest_order());
            let recovery = Recovery { through, order };
            self.watch.recovery = Some(recovery);
            if repair == Repair::FirstHole {
                self.restart_timers(control, now, recovery);
            }
        } else if self.watch.recovery.is_none() {
            control.loss.on_recovered(now);
        }
    }

    fn lose_all_through(
        &mut self,
        control: &mut Control,
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
            if is_in_flight(self.board.get(segment), order)
                && !self.wait_for_late(control, now, segment)
            {
                lost.extend(self.lose_by_order(control, now, segment, order, reports));
            }
        }
    }

    /// Whether the transmission of that `order` was overtaken, and sent before the limit of the judgement.
    fn is_too_old(&self, order: u64, segment: u64, judgement: Judgement) -> bool {
        // A transmission followed by another of its segment no longer counts, whenever it was sent.
        order < self.watch.answered
            && self.board.get(segment).is_none_or(|slot| {
                slot.order != order || judgement.sent_by.is_some_and(|by| slot.sent <= by)
            })
    }

    /// Declares the transmission in flight of `segment` lost, if its send order is at most `through`. Returns its send order
    /// in the macroflow and its segment if it is.
    fn lose_by_order(
        &mut self,
        control: &Control,
        now: Instant,
        segment: u64,
        through: u64,
        reports: &mut Reports,
    ) -> Option<(u64, u64)> {
        let slot = self.board.get(segment).copied()?;
        let believed = if control.loss.age().is_some() { MOST_BY_TIME } else { MOST_BY_ORDER };
        let most = control.config.options.retries.0.unwrap_or(believed).min(believed);
        let spent = slot.transmissions > most;
        if slot.order > through || spent || self.disputes.setbacks.contains_key(&segment) {
            return None;
        }
        if !self.board.lose(segment, Sign::Order) {
            return None;
        }
        self.sending.timers.cancel(timer::<S>(segment));
        if control.loss.age().is_some() {
            self.defer_suppressed(now, segment, &slot);
        }
        self.sampler.on_abandoned(segment);
        emit(reports, Event::Lost { segment });
        Some((slot.flow_order, segment))
    }

    /// The lowest missing segment has arrived: the next one is missing, too, unless it was requested after recovery
    /// had begun.
    fn repair_next_hole(
        &mut self,
        control: &mut Control,
        now: Instant,
        recovery: Recovery,
        reports: &mut Reports,
    ) {
        let base = self.board.base();
        if let Some(lost) = self.lose_by_order(control, now, base, recovery.order, reports) {
            self.reduce(control, now, (lost, LossKind::Order, 0), reports);
        }
        self.restart_timers(control, now, recovery);
    }

    /// Restarts the timers of the segments requested before recovery began.
    fn restart_timers(&mut self, control: &Control, now: Instant, recovery: Recovery) {
        let at = self.sending.check_instant(control, now + control.rto.rto());
        let Self { board, sending, disputes, .. } = self;
        for segment in board.in_flight_through(recovery.order) {
            if !disputes.setbacks.contains_key(&segment) {
                sending.timers.arm(timer::<S>(segment), at);
            }
        }
    }

    /// Ends recovery, if there is any, because it has succeeded or was not needed.
    pub(super) fn leave_recovery(&mut self, control: &mut Control, now: Instant) {
        if self.watch.recovery.take().is_some() {
            control.congestion.on_recovered(now);
            control.loss.on_recovered(now);
        }
    }

    /// Ends recovery, if there is any: timers decide from here.
    pub(super) fn abandon_recovery(&mut self, control: &mut Control, now: Instant) {
        self.watch.recovery = None;
        control.loss.on_timeout(now);
    }

    pub(super) fn note_phase(&mut self, control: &Control, reports: &mut Reports) {
        let phase = control.loss.phase();
        if phase != self.watch.phase {
            self.watch.phase = phase;
            emit(reports, Event::Phase { phase });
        }
    }
}
