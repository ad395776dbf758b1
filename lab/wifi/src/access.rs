//! When a station may send: DCF and EDCA, without an event per slot.
//!
//! IEEE Std 802.11-2016, §10.3.4 and §10.22.2. What keeps the medium busy is kept as the instants at which
//! it ends; the remaining slots of a back-off are settled whenever something happens, and the instant at
//! which it ends follows from them.
//!
//! Differences, all of them ns-3.37's: EIFS follows only after a frame whose headers were decoded and whose bytes were
//! not. DCF counts a slot at its end and EDCA at its beginning, so that an interrupted EDCA back-off has consumed one
//! slot more.
use super::plan::{Contention, Timing};

/// State of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// No claim.
    None,
    /// The medium.
    Requested,
    /// Access is granted.
    Granted,
}

/// A contender with its back-off: a station with DCF, a category with EDCA.
#[derive(Clone, Debug)]
pub(super) struct Contender {
    pub(super) plan: Contention,
    pub(super) claim: Claim,
    cw: u32,
    slots: u32,
    /// From when on the slots count, if the medium is idle.
    since: u64,
}

impl Contender {
    fn new(plan: Contention) -> Self {
        Self { plan, claim: Claim::None, cw: plan.cw_min, slots: 0, since: 0 }
    }

    /// Slots from 0 to this are drawn from.
    pub(super) fn cw(&self) -> u32 {
        self.cw
    }

    #[cfg(test)]
    fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) fn reset_cw(&mut self) {
        self.cw = self.plan.cw_min;
    }

    pub(super) fn double_cw(&mut self) {
        self.cw = (2 * self.cw + 1).min(self.plan.cw_max);
    }

    /// Begins a back-off of `slots`.
    pub(super) fn begin(&mut self, now: u64, slots: u32) {
        (self.slots, self.since) = (slots, now);
    }
}

/// The medium as one station sees it.
#[derive(Clone, Debug)]
pub(super) struct Access {
    timing: Timing,
    pub(super) contenders: Vec<Contender>,
    rx_end: u64,
    rx_failed: bool,
    busy_end: u64,
    tx_end: u64,
    nav_end: u64,
    ack_wait_end: u64,
    cts_wait_end: u64,
}

impl Access {
    pub(super) fn new(timing: Timing, plans: &[Contention]) -> Self {
        Self {
            timing,
            contenders: plans.iter().map(|plan| Contender::new(*plan)).collect(),
            rx_end: 0,
            rx_failed: false,
            busy_end: 0,
            tx_end: 0,
            nav_end: 0,
            ack_wait_end: 0,
            cts_wait_end: 0,
        }
    }

    /// Adds a contender before those from `place` on.
    pub(super) fn insert(&mut self, place: usize, plan: Contention) {
        self.contenders.insert(place, Contender::new(plan));
    }

    // --- what happens on the medium -------------------------------------------------------------

    /// Reception of the bytes of a frame begins, and lasts until `end`.
    pub(super) fn on_rx_start(&mut self, now: u64, end: u64) {
        self.settle(now);
        (self.rx_end, self.rx_failed) = (end, false);
    }

    pub(super) fn on_rx_end(&mut self, now: u64, failed: bool) {
        (self.rx_end, self.rx_failed) = (now, failed);
    }

    pub(super) fn on_tx_start(&mut self, now: u64, end: u64) {
        self.rx_failed = false;
        self.rx_end = self.rx_end.min(now);
        self.settle(now);
        self.tx_end = end;
    }

    /// Energy is sensed, and will be until `end`.
    pub(super) fn on_busy(&mut self, now: u64, end: u64) {
        self.settle(now);
        self.busy_end = end;
    }

    /// Another station's exchange reserves the medium until `end`.
    pub(super) fn on_nav(&mut self, now: u64, end: u64) {
        self.settle(now);
        self.nav_end = self.nav_end.max(end);
    }

    /// The reservation turned out to be void.
    pub(super) fn reset_nav(&mut self, now: u64) {
        self.settle(now);
        self.nav_end = now;
    }

    pub(super) fn wait_for_ack(&mut self, until: u64) {
        self.ack_wait_end = until;
    }

    pub(super) fn stop_waiting_for_ack(&mut self, now: u64) {
        self.ack_wait_end = now;
    }

    pub(super) fn wait_for_cts(&mut self, until: u64) {
        self.cts_wait_end = until;
    }

    pub(super) fn stop_waiting_for_cts(&mut self, now: u64) {
        self.cts_wait_end = now;
    }

    pub(super) fn nav_end(&self) -> u64 {
        self.nav_end
    }

    /// Withdraws the claim.
    pub(super) fn give_up(&mut self) {
        for contender in &mut self.contenders {
            contender.claim = Claim::None;
            contender.reset_cw();
        }
    }

    /// Whether the medium is in use.
    fn is_busy(&self, now: u64) -> bool {
        self.rx_end > now || self.tx_end > now || self.nav_end > now || self.busy_end > now
    }

    /// Whether the next access is deferred because a frame could not be decoded.
    pub(super) fn is_extended(&self, now: u64) -> bool {
        self.rx_failed && self.rx_end <= now
    }

    /// Least time to the next transmission after a frame that reserved the medium for `nav_nanos`.
    pub(super) fn least_pause_nanos(&self, nav_nanos: u64) -> u64 {
        nav_nanos.min(self.timing.sifs_nanos + self.timing.eifs_ack_nanos)
    }

    // --- back-off -------------------------------------------------------------------------------

    /// Whether a frame that finds an empty queue needs a back-off.
    pub(super) fn needs_backoff(&mut self, now: u64, index: usize, fresh_space: bool) -> bool {
        self.settle(now);
        let contender = &self.contenders[index];
        if contender.claim == Claim::Granted || contender.slots > 0 {
            return false;
        }
        if self.is_busy(now) {
            return true;
        }
        let plan = contender.plan;
        let space = match plan.is_edca || !fresh_space {
            true => 0,
            false => self.timing.aifs_nanos(plan.aifsn),
        };
        self.contenders[index].since = now + space;
        false
    }

    /// The contender wants to send.
    pub(super) fn request(&mut self, now: u64, index: usize) {
        let idle = self.idle_at(now);
        let contender = &mut self.contenders[index];
        let begin = idle + self.timing.aifs_nanos(contender.plan.aifsn);
        if contender.plan.is_edca && contender.since > begin {
            // EDCA acts on slot boundaries only.
            let slots = (contender.since - begin) / self.timing.slot_nanos + 1;
            contender.since = begin + slots * self.timing.slot_nanos;
        }
        self.settle(now);
        self.contenders[index].claim = Claim::Requested;
    }

    /// The first contender whose back-off is over, if one is; those behind it that are done as well collide
    /// with it.
    pub(super) fn winner(&self, now: u64) -> Option<usize> {
        (0..self.contenders.len()).find(|index| self.is_done(now, *index))
    }

    pub(super) fn is_done(&self, now: u64, index: usize) -> bool {
        let contender = &self.contenders[index];
        let is_requested = contender.claim == Claim::Requested;
        is_requested && self.end_of(self.idle_at(now), contender) <= now
    }

    /// When the next back-off ends if nothing happens.
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        let requested = |contender: &&Contender| contender.claim == Claim::Requested;
        let first = self.contenders.iter().find(requested)?;
        let idle = self.idle_at(now);
        let end = |contender: &Contender| self.end_of(idle, contender);
        let others = self.contenders.iter().filter(requested).map(end);
        Some(others.fold(end(first), u64::min))
    }

    /// Counts the slots that have passed.
    fn settle(&mut self, now: u64) {
        let (idle, timing) = (self.idle_at(now), self.timing);
        for contender in &mut self.contenders {
            let begin = contender.since.max(idle + timing.aifs_nanos(contender.plan.aifsn));
            if begin > now {
                continue;
            }
            contender.since = begin;
            if contender.slots > 0 {
                let passed = (now - begin) / timing.slot_nanos + u64::from(contender.plan.is_edca);
                let counted = passed.min(u64::from(contender.slots));
                contender.slots -= counted as u32;
                contender.since += counted * timing.slot_nanos;
            }
        }
    }

    /// End of a back-off on a medium that is idle from `idle` on.
    fn end_of(&self, idle: u64, contender: &Contender) -> u64 {
        let begin = contender.since.max(idle + self.timing.aifs_nanos(contender.plan.aifsn));
        begin + u64::from(contender.slots) * self.timing.slot_nanos
    }

    /// From when on the medium will be idle.
    fn idle_at(&self, now: u64) -> u64 {
        let mut received = self.rx_end;
        if self.is_extended(now) {
            received += self.timing.sifs_nanos + self.timing.eifs_ack_nanos;
        }
        received
            .max(self.busy_end)
            .max(self.tx_end)
            .max(self.nav_end)
            .max(self.ack_wait_end)
            .max(self.cts_wait_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    fn access(plan: Contention) -> Access {
        Access::new(Timing::G, &[plan])
    }

    #[test]
    fn back_off_ends_after_space_and_slots() {
        let mut access = access(Contention::DCF);
        access.on_tx_start(0, 100 * US);
        access.contenders[0].begin(100 * US, 3);
        access.request(100 * US, 0);
        assert_eq!(access.next(100 * US), Some((100 + 50 + 3 * 20) * US));
    }

    #[test]
    fn interrupted_edca_counts_the_current_slot() {
        for (plan, space, left) in [(Contention::DCF, 50, 3), (Contention::BEST_EFFORT, 70, 2)] {
            let mut access = access(plan);
            access.contenders[0].begin(0, 5);
            access.request(0, 0);
            access.on_busy((space + 2 * 20 + 7) * US, 1_000 * US);
            assert_eq!(access.contenders[0].slots(), left, "{plan:?}");
        }
    }

    #[test]
    fn undecodable_frame_defers_access() {
        let mut access = access(Contention::DCF);
        access.on_rx_start(0, 100 * US);
        access.on_rx_end(100 * US, true);
        access.contenders[0].begin(100 * US, 0);
        access.request(100 * US, 0);
        assert_eq!(access.next(100 * US), Some((100 + 364) * US));
        access.on_rx_start(150 * US, 200 * US);
        access.on_rx_end(200 * US, false);
        assert_eq!(access.next(200 * US), Some((200 + 50) * US));
    }

    #[test]
    fn reservations_and_awaited_answers_hold_back() {
        let mut access = access(Contention::DCF);
        access.contenders[0].begin(0, 0);
        access.on_nav(0, 70 * US);
        access.on_nav(10 * US, 60 * US);
        access.request(10 * US, 0);
        assert_eq!(access.next(10 * US), Some(120 * US));
        access.wait_for_ack(80 * US);
        assert_eq!(access.next(10 * US), Some(130 * US));
    }
}
