//! Interests without Data: timeouts, Nacks, lost uplinks.
use super::{Reports, Transfer, emit, timer};
use crate::congestion::{Loss, LossKind};
use crate::event::{Cause, Event};
use crate::fetch::Control;
use crate::fetch::discover::{
    DENIALS, NACK_WAIT, NACK_WAIT_MAX, REPEAT_AFTER, affordable, backed_off, denied_wait,
};
use crate::fetch::error::FetchError;
use crate::fetch::scoreboard::{Sign, Slot};
use crate::fetch::source::Source;
use crate::rejection::{Rejection, Rejections};
use crate::time::{Duration, Instant};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use std::collections::BTreeMap;

/// Transmissions whose reported losses are repaired after a round trip at most; later ones back off.
const PROMPT_REPORTS: u32 = 3;
/// Retransmissions of a segment whose losses the network reports, where there are no retries.
const REPORTED: u32 = 15;

/// Reason of a postponed retransmission, other than a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setback {
    Nacked(NackReason),
    /// Its answer was forged, and a genuine one may still come.
    Forged,
    /// Its answer was an application Nack, and another producer may have the segment.
    Denied,
    /// An uplink that kept the Interest is up again. It is not charged to the retries.
    Released,
    /// The answer may only be late: the loss is not declared yet.
    Awaited,
    /// The node keeps the Interest until a face is up.
    Held,
}

impl Setback {
    /// Whether the network reported the loss.
    fn is_reported(self) -> bool {
        matches!(self, Self::Nacked(NackReason::Mobility | NackReason::Loss))
    }

    /// Whether it is charged to the retries.
    fn counts(self) -> bool {
        matches!(self, Self::Nacked(_))
    }
}

/// Forged answers for one segment.
#[derive(Clone, Debug, Default)]
struct Forged {
    answers: Rejections,
    /// Send order of the last transmission with one.
    order: u64,
}

/// Application Nacks for one segment.
#[derive(Clone, Copy, Debug, Default)]
struct Denied {
    /// Transmissions that they answered.
    count: u32,
    /// Send order of the last of them.
    order: u64,
    /// Transmissions that were made to repeat a pending Interest.
    repeated: u32,
    /// The count at the last of these.
    repeated_at: u32,
}

/// Segments whose answers are missing or unusable, and why.
#[derive(Debug, Default)]
pub(super) struct Disputes {
    /// Segments with a postponed retransmission.
    pub(super) setbacks: BTreeMap<u64, Setback>,
    /// Segments that had forged answers and no genuine one.
    forged: BTreeMap<u64, Forged>,
    /// Segments whose only genuine answers were application Nacks.
    denied: BTreeMap<u64, Denied>,
    /// Transmissions that are not charged to the retries, beside those with forged answers: an answer waited for a
    /// certificate.
    excused: BTreeMap<u64, u32>,
}

impl Disputes {
    /// Whether the only answers for the segment were forged or negative.
    pub(super) fn has_answers(&self, segment: u64) -> bool {
        self.forged.contains_key(&segment) || self.denied.contains_key(&segment)
    }

    /// Forgets a segment that is settled.
    pub(super) fn remove(&mut self, segment: u64) {
        self.setbacks.remove(&segment);
        self.forged.remove(&segment);
        self.denied.remove(&segment);
        self.excused.remove(&segment);
    }

    /// Forgets the segments from `end` on.
    pub(super) fn truncate(&mut self, end: u64) {
        self.setbacks.retain(|segment, _| *segment < end);
        self.forged.retain(|segment, _| *segment < end);
        self.denied.retain(|segment, _| *segment < end);
        self.excused.retain(|segment, _| *segment < end);
    }
}

impl<S: Source> Transfer<S> {
    /// Why the answers to a segment are unusable, while the fetch continues.
    pub(in crate::fetch) fn objection(&mut self) -> Option<FetchError> {
        let (segment, forged) = self.disputes.forged.first_key_value()?;
        Some(FetchError::rejected(self.source.name(*segment), forged.answers.last()?))
    }

    /// Handles every expired timer. `waits` returns whether Data of a name waits for a certificate: timeouts of its segment
    /// are not charged to the retries.
    pub(in crate::fetch) fn fire(
        &mut self,
        control: &mut Control,
        now: Instant,
        waits: &dyn Fn(&Name) -> bool,
        reports: &mut Reports,
    ) {
        self.fire_alarm(control, now, reports);
        if self.sending.timers.deadline().is_none_or(|due| due > now) {
            return self.note_phase(control, reports);
        }
        let base = self.board.base();
        let mut lost = std::mem::take(&mut self.watch.lost);
        while let Some(slot) = self.sending.timers.pop_due(now) {
            let ahead = u64::from(slot).wrapping_sub(base) % S::SPAN;
            let segment = base + ahead;
            let Some(known) = self.board.get(segment).copied() else {
                continue;
            };
            if self.board.release(segment) {
                continue;
            }
            if let Some(later) = self.restarted(control, segment, &known).filter(|due| *due > now) {
                self.sending.timers.arm(slot, later);
                continue;
            }
            if self.is_early(control, now, segment, &known) {
                self.sending.timers.arm(slot, self.sending.check_instant(control, now));
                continue;
            }
            let setback = self.disputes.setbacks.remove(&segment);
            let sign = match setback {
                None => Sign::Timeout,
                Some(Setback::Awaited) => Sign::Order,
                Some(_) => Sign::Rejection,
            };
            if !self.board.lose(segment, sign) {
                continue;
            }
            if sign == Sign::Order {
                emit(reports, Event::Lost { segment });
            }
            if setback.is_none() {
                self.sampler.on_abandoned(segment);
                emit(reports, Event::TimedOut { segment });
                if control.rto.sets_lifetime() {
                    control.rto.on_expiry(now, known.timeouts.saturating_add(1));
                }
                lost.push((known.flow_order, segment));
            }
            self.progress.nowhere &= matches!(setback, Some(Setback::Nacked(NackReason::NoRoute)));
            let name = self.source.name(segment);
            let probes = setback.is_none() && self.only_probes(control, now, segment, &known);
            let forged = self.disputes.forged.get(&segment);
            if probes || forged.is_none_or(|it| it.order != known.order) && waits(&name) {
                *self.disputes.excused.entry(segment).or_default() += 1;
            }
            let excused = self.disputes.excused.get(&segment).copied().unwrap_or_default();
            // Nothing else ends a request of an unordered source.
            let counts = !S::ORDERED || setback.is_none_or(Setback::counts);
            let retries = control.config.options.retries.0.filter(|_| counts);
            // Without retries no timer retransmits: ELN without repetitions repairs what the network reports.
            let is_reported = setback.is_some_and(Setback::is_reported);
            let retries =
                retries.map(|most| if is_reported && most == 0 { REPORTED } else { most });
            let affordable = retries.map(|retries| affordable(retries, self.progress.nowhere));
            let limit = control.config.options.retries.0;
            let endless = forged.map(|it| &it.answers).filter(|it| it.are_too_many(limit));
            let endless = endless.and_then(Rejections::last);
            let denied = self.disputes.denied.get(&segment).map_or(0, |it| it.count + it.repeated);
            let free = forged.map_or(0, |forged| forged.answers.count) + excused + denied;
            let charged = known.transmissions.saturating_sub(free);
            if endless.is_some() || affordable.is_some_and(|retries| charged > retries) {
                let leaves_it_out = control.config.options.leaves_holes && setback.is_none();
                if !S::ORDERED || endless.is_none() && leaves_it_out {
                    self.leave_out(segment, reports);
                    continue;
                }
                let attempts = known.transmissions;
                let why = match (setback, endless) {
                    (_, Some(rejection)) => FetchError::rejected(name, rejection),
                    (Some(Setback::Nacked(reason)), _) => {
                        FetchError::Nacked { name, reason, attempts }
                    }
                    _ => FetchError::NoAnswer { name, attempts },
                };
                self.fail(segment, why);
            }
        }
        // Reported together, so that congestion control knows the number in flight.
        if !lost.is_empty() {
            self.abandon_recovery(control, now);
        }
        for lost in lost.drain(..) {
            self.reduce(control, now, (lost, LossKind::Timeout, 0), reports);
        }
        self.watch.lost = lost;
        self.note_phase(control, reports);
    }

    /// Time from which the timer of a segment restarts (RFC 6298, 5.3), with a time threshold. While earlier
    /// transmissions are answered, a slow link is busy with them. `None` without a restart.
    fn restarted(&self, control: &Control, segment: u64, known: &Slot) -> Option<Instant> {
        control.loss.age()?;
        let last_active = self
            .watch
            .last_active_before(known.order)
            .filter(|last_active| *last_active > known.sent)?;
        if !known.is_in_flight() || self.disputes.setbacks.contains_key(&segment) {
            return None;
        }
        let rto = self.timeout(control, last_active, segment, known.transmissions);
        Some(self.sending.check_instant(control, last_active + rto))
    }

    /// Whether a scan finds that the present timeout has not passed since the transmission.
    fn is_early(&self, control: &Control, now: Instant, segment: u64, known: &Slot) -> bool {
        self.source.follows_estimate()
            && !self.disputes.setbacks.contains_key(&segment)
            && now.since(known.sent) < self.timeout(control, now, segment, known.transmissions)
    }

    /// Whether the transmission probed a silence: its timer would otherwise have been longer. The time without progress,
    /// not the retries, ends a silence.
    fn only_probes(&self, control: &Control, now: Instant, segment: u64, known: &Slot) -> bool {
        let longer =
            |most| self.backed_off_timeout(control, now, segment, known.transmissions) > most;
        // Retries alone end a request of an unordered source.
        S::ORDERED && control.congestion.silence_timeout().is_some_and(longer)
    }

    fn leave_out(&mut self, segment: u64, reports: &mut Reports) {
        self.board.receive(segment);
        self.source.on_settled(segment);
        self.disputes.remove(segment);
        emit(reports, Event::LeftOut { segment });
    }

    /// Leaves out the lowest open request of an unordered source: the others do not wait for it.
    pub(super) fn give_up_lowest(&mut self, reports: &mut Reports) {
        let segment = self.board.base();
        self.sending.timers.cancel(timer::<S>(segment));
        self.sampler.on_abandoned(segment);
        self.leave_out(segment, reports);
    }

    /// Reports a loss or a mark to congestion control: its send order in the macroflow and its segment, its signal, and the
    /// number of Data received out of order. Returns true for a new event.
    pub(super) fn reduce(
        &mut self,
        control: &mut Control,
        now: Instant,
        ((order, segment), kind, evidence): ((u64, u64), LossKind, u32),
        reports: &mut Reports,
    ) -> bool {
        let loss = self.loss(control, order, kind, evidence);
        if matches!(kind, LossKind::Timeout | LossKind::Order) {
            let cause = control.congestion.cause(&loss).and_then(|cause| cause.try_into().ok());
            if let Some(cause) = cause {
                self.board.set_cause(segment, order, cause);
                emit(reports, Event::Inferred { segment, cause, holds: true });
            }
        }
        let backs_off = matches!(kind, LossKind::Timeout | LossKind::NackCongestion);
        let is_silent = control.congestion.is_silent(now);
        let is_reduced = !is_silent && control.congestion.on_loss(now, &loss);
        if backs_off && (is_reduced || is_silent) && !control.rto.sets_lifetime() {
            control.rto.on_timeout(now);
        }
        if !is_reduced {
            return false;
        }
        emit(reports, Event::Reduced { cause: kind.into() });
        self.sending.note_window(control, reports);
        true
    }

    /// Reports to congestion control that a link repaired the Data of this send order. The consumer lost nothing, but
    /// a queue below the link may be full. Returns whether the window was reduced.
    pub(super) fn on_repaired(
        &mut self,
        control: &mut Control,
        now: Instant,
        order: u64,
        reports: &mut Reports,
    ) -> bool {
        let loss = self.loss(control, order, LossKind::Order, 0);
        let is_reduced = control.congestion.on_repaired(now, &loss);
        if is_reduced {
            emit(reports, Event::Reduced { cause: LossKind::Order.into() });
            self.sending.note_window(control, reports);
        }
        is_reduced
    }

    fn loss(&self, control: &Control, order: u64, kind: LossKind, evidence: u32) -> Loss {
        Loss {
            kind,
            order,
            highest_order: control.congestion.highest_order(),
            high_data: self.progress.high_data,
            high_interest: self.sending.high_interest,
            in_flight: control.congestion.in_flight(self.board.in_flight().into()),
            evidence,
            srtt: control.rto.srtt(),
            min_rtt: control.congestion.min_rtt(self.min_rtt),
        }
    }

    /// Reports to congestion control that a loss of this send order was spurious, or not due to congestion.
    pub(super) fn take_back(
        &mut self,
        control: &mut Control,
        now: Instant,
        order: u64,
        reports: &mut Reports,
    ) {
        if control.congestion.on_spurious(now, order) {
            emit(reports, Event::Undone);
            self.leave_recovery(control, now);
            self.note_phase(control, reports);
            self.sending.note_window(control, reports);
        }
    }

    pub(in crate::fetch) fn on_nack(
        &mut self,
        control: &mut Control,
        now: Instant,
        interest: &Interest,
        reason: NackReason,
        reports: &mut Reports,
    ) {
        let mut next = self.source.answered(&interest.name);
        while let Some(segment) = next {
            next = self.source.next_answered(segment);
            self.on_rejected(control, now, segment, reason, reports);
        }
    }

    fn on_rejected(
        &mut self,
        control: &mut Control,
        now: Instant,
        segment: u64,
        reason: NackReason,
        reports: &mut Reports,
    ) {
        let Some(slot) = self.board.get(segment).copied() else {
            return;
        };
        emit(reports, Event::Nacked { segment: Some(segment), reason });
        match reason {
            NackReason::Mobility => {
                let cause = (Cause::Mobility, reason);
                self.on_reported_loss(control, now, segment, cause, reports);
            }
            NackReason::Loss => {
                let cause = (Cause::Wireless, reason);
                self.on_reported_loss(control, now, segment, cause, reports);
            }
            // The next Interest has a fresh nonce. If that is a duplicate as well, nonces are not the reason.
            NackReason::Duplicate if slot.transmissions < 2 => {
                self.retransmit_at(segment, now, Setback::Nacked(reason));
            }
            NackReason::Congestion => {
                let loss = ((slot.flow_order, segment), LossKind::NackCongestion, 0);
                self.reduce(control, now, loss, reports);
                self.set_back(segment, now, slot.transmissions, Setback::Nacked(reason));
            }
            _ => self.set_back(segment, now, slot.transmissions, Setback::Nacked(reason)),
        }
    }

    /// Handles a report of a non-congestive loss: the segment is retransmitted at once, and the window stays. A
    /// retransmission is followed by another no sooner than after a round trip, because a lost path would return each
    /// one. An RTO without a smoothed RTT (`constant`) leaves the shortest round trip for this. Without a known round
    /// trip, or if the report took no time, it waits as after another Nack: the sender may be on this machine.
    ///
    /// Each report is charged to the retries, or to [`REPORTED`] if there are none. If the retries are limited, the wait
    /// doubles from the third retransmission on, so that they last as long as after other Nacks.
    ///
    /// If the transmission had been declared lost and its retransmission is still queued, the loss is withdrawn.
    /// (Once the retransmission is sent, the node passes only the Nack of that one.)
    fn on_reported_loss(
        &mut self,
        control: &mut Control,
        now: Instant,
        segment: u64,
        (cause, reason): (Cause, NackReason),
        reports: &mut Reports,
    ) {
        let Some(slot) = self.board.get(segment).copied() else { return };
        if let Some(lost) =
            slot.lost.filter(|lost| lost.sign != Sign::Rejection && slot.is_queued())
        {
            self.board.excuse(segment);
            if let Some(cause) = lost.cause {
                emit(reports, Event::Inferred { segment, cause, holds: false });
            }
            emit(reports, Event::Explained { segment, cause, judged: true });
            self.take_back(control, now, lost.flow_order, reports);
        }
        if !slot.is_in_flight() {
            return;
        }
        emit(reports, Event::Explained { segment, cause, judged: false });
        self.sampler.on_abandoned(segment);
        let is_local = self.min_rtt.is_none() || now == slot.sent;
        let srtt = control.rto.srtt().filter(|srtt| !srtt.is_zero());
        let unsmoothed = if is_local { Some(NACK_WAIT) } else { self.min_rtt };
        let wait = srtt.or(unsmoothed).filter(|_| slot.transmissions > 1);
        let repeated = slot.transmissions.checked_sub(PROMPT_REPORTS);
        let repeated = repeated.filter(|_| control.config.options.retries.0.is_some());
        let backed_off = repeated.map(|times| backed_off(NACK_WAIT, times, NACK_WAIT_MAX));
        let soonest = slot.sent + wait.max(backed_off).unwrap_or_default();
        self.retransmit_at(segment, soonest.max(now), Setback::Nacked(reason));
    }

    /// The node keeps the Interest of a segment until a face is up, within the Interest's lifetime.
    pub(in crate::fetch) fn on_held(
        &mut self,
        now: Instant,
        interest: &Interest,
        reports: &mut Reports,
    ) {
        let Some(segment) = self.source.answered(&interest.name) else {
            return;
        };
        if !self.board.get(segment).is_some_and(Slot::is_in_flight) {
            return;
        }
        emit(reports, Event::Explained { segment, cause: Cause::Mobility, judged: false });
        self.sampler.on_abandoned(segment);
        self.disputes.setbacks.insert(segment, Setback::Held);
        let lifetime = interest.lifetime_or_default();
        self.sending.timers.arm(timer::<S>(segment), now + lifetime);
    }

    /// An uplink is up again, on which the node has sent the Interests that it kept.
    pub(in crate::fetch) fn on_connected(&mut self, control: &Control, now: Instant) {
        let at = self.sending.check_instant(control, now + control.rto.rto());
        let Self { sending, disputes, .. } = self;
        for (segment, setback) in &mut disputes.setbacks {
            if *setback == Setback::Held {
                *setback = Setback::Released;
                sending.timers.arm(timer::<S>(*segment), at);
            }
        }
    }

    /// Queues the retransmission of the segment after a wait that doubles.
    pub(super) fn set_back(
        &mut self,
        segment: u64,
        now: Instant,
        transmissions: u32,
        why: Setback,
    ) {
        let wait = backed_off(NACK_WAIT, transmissions.saturating_sub(1), NACK_WAIT_MAX);
        self.retransmit_at(segment, now + wait, why);
    }

    /// Handles a forged answer: the segment is retransmitted at once, from the second such transmission on after a
    /// wait.
    pub(super) fn on_forged(
        &mut self,
        control: &Control,
        now: Instant,
        segment: u64,
        rejection: Rejection,
        reports: &mut Reports,
    ) {
        emit(reports, Event::Rejected { segment: Some(segment), why: rejection.why });
        let Some(slot) = self.board.get(segment).copied().filter(Slot::is_in_flight) else {
            return;
        };
        let forged = self.disputes.forged.entry(segment).or_default();
        let is_first = std::mem::replace(&mut forged.order, slot.order) != slot.order
            || forged.answers.count == 0;
        forged.answers.record(rejection, is_first);
        let due = forged.answers.due(now, control.config.options.retries.0);
        if let Some(due) = due.filter(|_| is_first) {
            self.retransmit_at(segment, due, Setback::Forged);
        }
    }

    /// Handles an application Nack: another producer of the prefix may have the segment. After the last one the segment
    /// does not exist.
    pub(super) fn on_denied(&mut self, now: Instant, segment: u64, why: FetchError) {
        let Some(order) = self.board.get(segment).map(|slot| slot.order) else {
            return;
        };
        let denied = self.disputes.denied.entry(segment).or_default();
        if denied.order == order {
            return;
        }
        (denied.count, denied.order) = (denied.count + 1, order);
        let count = denied.count;
        if count >= DENIALS {
            let is_known =
                self.sending.segment_bytes.is_some() || self.progress.belonging.id().is_some();
            let was_there =
                is_known && self.progress.end.last().is_some_and(|last| segment <= last);
            return self.fail(segment, if was_there { why.of_begun() } else { why });
        }
        // The lowest one decides whether those after it lie beyond the end.
        let waits = self.may_be_beyond_end(segment);
        let wait = if waits { NACK_WAIT * 4 } else { denied_wait(count) };
        self.retransmit_at(segment, now + wait, Setback::Denied);
    }

    /// Whether an Interest that is sent now is to be sent again while it is pending, as far as its timer permits.
    pub(super) fn repeats(&mut self, segment: u64, rto: Duration) -> bool {
        let Some(denied) =
            self.disputes.denied.get_mut(&segment).filter(|it| it.repeated_at < it.count)
        else {
            return false;
        };
        (denied.repeated, denied.repeated_at) = (denied.repeated + 1, denied.count);
        let repeats = rto > REPEAT_AFTER;
        if repeats {
            self.disputes.setbacks.insert(segment, Setback::Denied);
        }
        repeats
    }

    /// Whether a segment may lie beyond an unknown end: an earlier one had an application Nack.
    pub(super) fn may_be_beyond_end(&self, segment: u64) -> bool {
        let is_earlier = |(denied, _): (&u64, &Denied)| *denied < segment;
        self.progress.end.last().is_none()
            && self.disputes.denied.first_key_value().is_some_and(is_earlier)
    }

    pub(super) fn retransmit_at(&mut self, segment: u64, at: Instant, why: Setback) {
        if !self.board.get(segment).is_some_and(Slot::is_in_flight) {
            return;
        }
        // The first reason sets the time: later ones cannot postpone it for ever.
        let settled = self
            .disputes
            .setbacks
            .insert(segment, why)
            .and(self.sending.timers.due(timer::<S>(segment)));
        self.sending.timers.arm(timer::<S>(segment), settled.map_or(at, |due| due.min(at)));
    }

    /// The last uplink is down: all Interests in flight are to be retransmitted once one is up, except those that the
    /// node keeps. The window stays, because this is no congestion.
    pub(in crate::fetch) fn on_disconnected(
        &mut self,
        control: &mut Control,
        now: Instant,
        reports: &mut Reports,
    ) {
        control.congestion.release();
        self.watch.silence();
        self.leave_recovery(control, now);
        control.loss.on_timeout(now);
        self.note_phase(control, reports);
        let Self { board, sending, sampler, disputes, .. } = self;
        disputes.setbacks.retain(|_, setback| *setback == Setback::Held);
        board.lose_all_but(&disputes.setbacks, |segment| {
            sending.timers.cancel(timer::<S>(segment));
            sampler.on_abandoned(segment);
            emit(reports, Event::Explained { segment, cause: Cause::Mobility, judged: false });
        });
    }
}
