//! What became of an Interest that brought nothing: its timeout, its refusal, its lost way out.
use super::{Reports, Transfer, emit, timer};
use crate::congestion::{Loss, LossKind};
use crate::event::{Cause, Event};
use crate::fetch::FetchConfig;
use crate::fetch::discover::{REFUSED_WAIT, REFUSED_WAIT_MAX, affordable, backed_off};
use crate::fetch::error::FetchError;
use crate::fetch::scoreboard::{Scoreboard, Sign, Slot};
use crate::time::Instant;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;

/// Why a segment waits to be asked for again without having timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setback {
    Refused(NackReason),
    Untrusted(&'static str),
    /// The network said that it was lost, and why; that is nobody's fault, however often it happens.
    Told,
    /// The node keeps the Interest until it has a face again.
    Held,
}

impl Setback {
    /// Whether it counts against the retries.
    fn counts(self) -> bool {
        matches!(self, Self::Refused(_) | Self::Untrusted(_))
    }
}

impl Transfer {
    /// Acts on every timeout that is due.
    pub(in crate::fetch) fn fire(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        reports: &mut Reports,
    ) {
        let base = self.board.base();
        let mut lost = std::mem::take(&mut self.lost);
        while let Some(slot) = self.timers.pop_due(now) {
            let ahead = u64::from(slot).wrapping_sub(base) % Scoreboard::SPAN;
            let segment = base + ahead;
            let Some(known) = self.board.get(segment).copied() else {
                continue;
            };
            let setback = self.setbacks.remove(&segment);
            let sign = if setback.is_none() { Sign::Timeout } else { Sign::Refusal };
            if !self.board.lose(segment, sign) {
                continue;
            }
            if setback.is_none() {
                self.sampler.on_abandoned(segment);
                emit(reports, Event::TimedOut { segment });
                if config.rto.sets_lifetime() {
                    config.rto.on_expiry(now, known.timeouts.saturating_add(1));
                }
                lost.push(known.order);
            }
            self.nowhere &= matches!(setback, Some(Setback::Refused(NackReason::NoRoute)));
            let counts = setback.is_none_or(Setback::counts);
            let retries = config.retries.filter(|_| counts);
            let affordable = retries.map(|retries| affordable(retries, self.nowhere));
            if affordable.is_some_and(|retries| known.transmissions > retries) {
                if config.leaves_holes && setback.is_none() {
                    self.leave_out(segment, reports);
                    continue;
                }
                let name = self.object.append(config.convention.segment(segment));
                let attempts = known.transmissions;
                let why = match setback {
                    Some(Setback::Refused(reason)) => {
                        FetchError::Refused { name, reason, attempts }
                    }
                    Some(Setback::Untrusted(why)) => FetchError::Untrusted { name, why },
                    Some(Setback::Told | Setback::Held) | None => {
                        FetchError::NoAnswer { name, attempts }
                    }
                };
                self.fail(segment, why);
            }
        }
        // Told together, so that congestion control knows what is still in flight.
        if !lost.is_empty() {
            self.abandon_recovery(config, now);
        }
        for order in lost.drain(..) {
            self.reduce(config, now, (order, LossKind::Timeout, 0), reports);
        }
        self.lost = lost;
        self.note_phase(config, reports);
    }

    fn leave_out(&mut self, segment: u64, reports: &mut Reports) {
        self.board.receive(segment);
        emit(reports, Event::LeftOut { segment });
    }

    /// Tells congestion control of a loss or a mark: its send order, what told of it, and how many Data
    /// had come out of order. Returns true if that is a new event.
    pub(super) fn reduce(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        (order, kind, evidence): (u64, LossKind, u32),
        reports: &mut Reports,
    ) -> bool {
        let loss = Loss {
            kind,
            order,
            highest_order: self.board.highest_order(),
            high_data: self.high_data,
            high_interest: self.high_interest,
            in_flight: self.board.in_flight(),
            evidence,
            srtt: config.rto.srtt(),
            min_rtt: self.min_rtt,
        };
        if !config.congestion.on_loss(now, &loss) {
            return false;
        }
        emit(reports, Event::Reduced { cause: kind.into() });
        let backs_off = matches!(kind, LossKind::Timeout | LossKind::NackCongestion);
        if backs_off && !config.rto.sets_lifetime() {
            config.rto.on_timeout(now);
        }
        self.note_window(config, reports);
        true
    }

    pub(in crate::fetch) fn on_nack(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        interest: &Interest,
        reason: NackReason,
        reports: &mut Reports,
    ) {
        let Some(segment) = self.segment_of(config, &interest.name) else {
            return;
        };
        let Some(slot) = self.board.get(segment).copied() else {
            return;
        };
        emit(reports, Event::Nacked { segment: Some(segment), reason });
        match reason {
            NackReason::Mobility => self.on_told(config, now, segment, Cause::Mobility, reports),
            NackReason::Loss => self.on_told(config, now, segment, Cause::Wireless, reports),
            NackReason::Duplicate => self.ask_again_at(segment, now, Setback::Refused(reason)),
            NackReason::Congestion => {
                let loss = (slot.order, LossKind::NackCongestion, 0);
                self.reduce(config, now, loss, reports);
                self.set_back(segment, now, slot.transmissions, Setback::Refused(reason));
            }
            _ => self.set_back(segment, now, slot.transmissions, Setback::Refused(reason)),
        }
    }

    /// The network says why a segment will not come: it is asked for again at once, and no window is the worse for it. A
    /// retransmission is followed by another no sooner than after a round trip: a way that is gone would send each one back.
    /// As long as no round trip is known at all it waits as after a refusal: who says no may be on this machine.
    fn on_told(
        &mut self,
        config: &FetchConfig,
        now: Instant,
        segment: u64,
        cause: Cause,
        reports: &mut Reports,
    ) {
        let Some(slot) = self.board.get(segment).copied().filter(Slot::is_in_flight) else {
            return;
        };
        emit(reports, Event::Explained { segment, cause, judged: false });
        self.sampler.on_abandoned(segment);
        let unknown = self.min_rtt.is_none().then_some(REFUSED_WAIT);
        let wait = config.rto.srtt().or(unknown).filter(|_| slot.transmissions > 1);
        let soonest = slot.sent + wait.unwrap_or_default();
        self.ask_again_at(segment, soonest.max(now), Setback::Told);
    }

    /// The node keeps the Interest of a segment until it has a face again, for as long as the Interest lives.
    pub(in crate::fetch) fn on_held(
        &mut self,
        config: &FetchConfig,
        now: Instant,
        interest: &Interest,
        reports: &mut Reports,
    ) {
        let Some(segment) = self.segment_of(config, &interest.name) else {
            return;
        };
        if !self.board.get(segment).is_some_and(Slot::is_in_flight) {
            return;
        }
        emit(reports, Event::Explained { segment, cause: Cause::Mobility, judged: false });
        self.sampler.on_abandoned(segment);
        self.setbacks.insert(segment, Setback::Held);
        let lifetime = interest.lifetime_or_default();
        self.timers.arm(timer(segment), now + lifetime);
    }

    /// There is a way out again, by which the node has sent on what it kept.
    pub(in crate::fetch) fn on_connected(&mut self, config: &FetchConfig, now: Instant) {
        let at = self.check_instant(config, now + config.rto.rto());
        let Self { timers, setbacks, .. } = self;
        for (segment, setback) in setbacks {
            if *setback == Setback::Held {
                *setback = Setback::Told;
                timers.arm(timer(*segment), at);
            }
        }
    }

    /// The segment is to be asked for again after a wait that doubles.
    pub(super) fn set_back(
        &mut self,
        segment: u64,
        now: Instant,
        transmissions: u32,
        why: Setback,
    ) {
        let wait = backed_off(REFUSED_WAIT, transmissions.saturating_sub(1), REFUSED_WAIT_MAX);
        self.ask_again_at(segment, now + wait, why);
    }

    fn ask_again_at(&mut self, segment: u64, at: Instant, why: Setback) {
        if !self.board.get(segment).is_some_and(Slot::is_in_flight) {
            return;
        }
        // The first reason sets the time: a flood of others must not put it off for ever.
        let settled = self.setbacks.insert(segment, why).and(self.timers.due(timer(segment)));
        self.timers.arm(timer(segment), settled.map_or(at, |due| due.min(at)));
    }

    /// There is no way out: what was asked for is to be asked for again once there is one, but for what the node keeps. Nobody
    /// is to blame, so the window stays.
    pub(in crate::fetch) fn on_disconnected(
        &mut self,
        config: &mut FetchConfig,
        now: Instant,
        reports: &mut Reports,
    ) {
        self.leave_recovery(config, now);
        config.loss.on_timeout(now);
        self.note_phase(config, reports);
        let Self { board, timers, sampler, setbacks, .. } = self;
        setbacks.retain(|_, setback| *setback == Setback::Held);
        board.lose_all_but(setbacks, |segment| {
            timers.cancel(timer(segment));
            sampler.on_abandoned(segment);
            emit(reports, Event::Explained { segment, cause: Cause::Mobility, judged: false });
        });
    }
}
