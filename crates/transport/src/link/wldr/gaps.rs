//! Received and missing frames.
//!
//! Source: algorithms of the receiver in Carofiglio et al. 2016, section 3.1; see [`super::Wldr`] for the differences.
use super::received::{HISTORY, Received};
use super::reordering::Reordering;
use crate::link::recovery::Arrival;
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Most gaps at a time: a tenth of the frames that 400 Mbit/s lose within 300 ms, the time of a repair.
const MAX_GAPS: usize = 1_024;
/// Gaps for which there is memory although there is none.
const SPARE_GAPS: usize = 16;
/// Most reports of one gap.
const MAX_TRIES: u32 = 6;
/// Divisor of the wait before the second report: where frames are lost, reports are lost too.
const AT_ONCE: u32 = 8;
/// Numbers that one label may skip. It has only 8 bits of the session, so that a sender off the path guesses one in 256. A
/// larger jump counts once the neighbour's state, which repeats 64 bits, confirms it.
const PLAUSIBLE: u64 = 256;
/// Most frames beyond such a jump that are remembered.
const MAX_EARLY: usize = 1_024;
/// A state this far behind the highest announced number replaces it: the earlier announcement was forged.
const FORGED: u64 = 1_024;

/// Frames that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    from: u64,
    until: u64,
    /// Time of the next report; the first one is not before this.
    due: Instant,
    least: Instant,
    tries: u32,
}

/// Result of a received number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) arrival: Arrival,
    /// The number is implausible, or the state of this end is wrong.
    pub(super) ambiguous: bool,
}

/// Received and missing frames of one neighbour.
#[derive(Debug)]
pub(super) struct Gaps {
    /// Number of the next frame.
    expected: u64,
    /// The highest number that the neighbour announced.
    on_peer_next: u64,
    came: Received,
    /// By increasing number.
    gaps: VecDeque<Gap>,
    /// Earliest time at which a gap may be due.
    alarm: Option<Instant>,
    /// The alarm has fired.
    waits: bool,
    /// Numbers that were given up.
    missed: u64,
    reordering: Reordering,
    /// Gaps up to this number are due after the least time.
    overtaken: u64,
    /// Numbers that one label may skip.
    plausible: u64,
    /// Received numbers beyond a jump that is not confirmed yet.
    early: Vec<u64>,
    /// Reports of one gap.
    tries: u32,
}

impl Gaps {
    /// State before the frame `next`, with the hold time of gaps.
    pub(super) fn begin(next: u64, reordering: Reordering) -> Self {
        Self {
            tries: MAX_TRIES,
            reordering,
            overtaken: 0,
            plausible: PLAUSIBLE,
            early: Vec::new(),
            expected: next,
            on_peer_next: next,
            came: Received::default(),
            gaps: VecDeque::new(),
            alarm: None,
            waits: false,
            missed: 0,
        }
    }

    /// Each gap is reported once, and no state is requested: any label counts.
    #[must_use]
    pub(super) fn reported_once(self) -> Self {
        Self { tries: 1, plausible: HISTORY, ..self }
    }

    /// Number of the next frame.
    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    /// Number below which no frame is missing.
    pub(super) fn settled(&self) -> u64 {
        self.gaps.front().map_or(self.expected, |gap| gap.from)
    }

    /// Count of numbers that were given up.
    pub(super) fn missed(&self) -> u64 {
        self.missed
    }

    /// Restarts with a neighbour whose next frame has this number; missing frames stay missing.
    pub(super) fn begin_anew(&mut self, next: u64) {
        let open: u64 = self.gaps.iter().map(|gap| gap.until - gap.from).sum();
        let reordering = self.reordering.clone().begin_anew();
        let (missed, tries, plausible) = (self.missed + open, self.tries, self.plausible);
        *self = Self { missed, tries, plausible, ..Self::begin(next, reordering) };
    }

    /// Records a frame with `number`; a retransmission has its first number in `origin`.
    pub(super) fn came(&mut self, now: Instant, number: u64, origin: Option<u64>) -> Judged {
        let judged = |arrival, ambiguous| Judged { arrival, ambiguous };
        if number == self.expected && origin.is_none() {
            // The usual case: the next number.
            self.came.record(number);
            self.expected += 1;
            self.overtake(now);
            return judged(Arrival::Deliver, false);
        }
        if number >= self.expected + self.plausible || number + HISTORY < self.expected {
            if self.early.len() < MAX_EARLY && number >= self.expected {
                self.early.push(number);
            }
            return judged(Arrival::Deliver, true);
        }
        // Numbers below the first one are not reported as missing; a frame among them is delivered once.
        self.advance(now, number);
        if number < self.expected {
            self.reordering.late(now, number, self.expected);
        }
        self.expected = self.expected.max(number + 1);
        self.overtake(now);
        if self.mark(number) {
            return judged(Arrival::Duplicate, false);
        }
        let origin = origin.filter(|&origin| origin < number && origin + HISTORY >= self.expected);
        if origin.is_some_and(|origin| self.mark(origin)) {
            return judged(Arrival::Duplicate, false);
        }
        judged(Arrival::Deliver, false)
    }

    /// Records the number of the neighbour's next frame, as it announced it.
    pub(super) fn on_peer_next(&mut self, now: Instant, next: u64) {
        if self.gaps.is_empty() {
            self.gaps.shrink_to(SPARE_GAPS);
        }
        if (self.on_peer_next.saturating_sub(HISTORY)..=self.on_peer_next).contains(&next) {
            // A duplicate or an old state. A state further behind means that the earlier one was forged.
            return;
        }
        self.on_peer_next = next;
        let mut early = std::mem::take(&mut self.early);
        early.retain(|_| next >= self.expected + self.plausible);
        if next >= self.expected + HISTORY || next + FORGED < self.expected {
            self.begin_anew(next);
        } else {
            self.advance(now, next);
            self.overtake(now);
        }
        early.sort_unstable();
        for number in early {
            self.came(now, number, None);
        }
    }

    /// Removes the gaps that the neighbour confirmed: it retransmits their frames, or never will.
    pub(super) fn on_confirmed(&mut self, from: u64, until: u64) {
        self.gaps.retain(|gap| gap.from < from || gap.until > until);
    }

    /// Whether any frame is missing.
    #[inline]
    pub(super) fn are_open(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// Time of the next report.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.alarm.filter(|_| !self.waits)
    }

    /// Marks the gaps that are due.
    pub(super) fn fire(&mut self, now: Instant) {
        self.waits |= self.alarm.is_some_and(|alarm| alarm <= now);
    }

    /// Whether a gap may be due.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// The next gap to report, its first number and the first after it. The second report follows soon, later ones
    /// after `wait`, doubled with each, until the neighbour confirms.
    pub(super) fn next_report(&mut self, now: Instant, wait: Duration) -> Option<(u64, u64)> {
        if !self.waits {
            return None;
        }
        let Some(place) = self.gaps.iter().position(|gap| gap.due <= now) else {
            self.waits = false;
            self.alarm = self.gaps.iter().map(|gap| gap.due).min();
            return None;
        };
        let gap = self.gaps.get_mut(place)?;
        gap.due = now
            + match gap.tries {
                0 => wait / AT_ONCE,
                tries => wait.saturating_mul(1 << (tries - 1)),
            };
        gap.tries += 1;
        let Gap { from, until, tries, .. } = *gap;
        if tries == self.tries {
            // A single report may have been answered, or not: those frames are not counted.
            self.missed += if self.tries > 1 { until - from } else { 0 };
            self.gaps.remove(place);
        }
        Some((from, until))
    }

    /// Records a gap below `number`, except for frames received.
    fn advance(&mut self, now: Instant, number: u64) {
        if number < self.expected {
            return;
        }
        self.came.forget(self.expected, number);
        if number > self.expected {
            let from = self.expected;
            let due = now + self.reordering.opened(now, from, number);
            let least = now + self.reordering.least();
            self.gaps.push_back(Gap { from, until: number, due, least, tries: 0 });
            self.set_alarm(due);
            self.bound();
        }
        self.expected = number;
    }

    fn set_alarm(&mut self, due: Instant) {
        self.alarm = Some(self.alarm.map_or(due, |alarm| alarm.min(due)));
    }

    /// Gaps become due if more frames have overtaken them than any late frame before.
    #[inline]
    fn overtake(&mut self, now: Instant) {
        if !self.gaps.is_empty()
            && let Some(frames) = self.reordering.frames()
        {
            self.hasten(now, self.expected.saturating_sub(frames));
        }
    }

    /// Gaps below `until` become due after the least time.
    fn hasten(&mut self, now: Instant, until: u64) {
        let first = self.gaps.partition_point(|gap| gap.until <= self.overtaken);
        let behind = self.gaps.partition_point(|gap| gap.until <= until);
        let mut soonest = None;
        for gap in self.gaps.iter_mut().take(behind).skip(first).filter(|gap| gap.tries == 0) {
            gap.due = gap.due.min(gap.least.max(now));
            soonest = Some(soonest.map_or(gap.due, |due: Instant| due.min(gap.due)));
        }
        self.overtaken = self.overtaken.max(until);
        if let Some(due) = soonest {
            self.set_alarm(due);
        }
    }

    /// Marks a number as received; returns whether it was received before.
    fn mark(&mut self, number: u64) -> bool {
        let before = self.came.record(number);
        if !before && !self.gaps.is_empty() {
            self.fill(number);
        }
        before
    }

    /// Removes a number from its gap.
    fn fill(&mut self, number: u64) {
        let place = self.gaps.partition_point(|gap| gap.until <= number);
        if self.gaps.get(place).is_none_or(|gap| gap.from > number) {
            return;
        }
        let Some(gap) = self.gaps.remove(place) else { return };
        for part in [Gap { from: number + 1, ..gap }, Gap { until: number, ..gap }] {
            if part.from < part.until {
                self.gaps.insert(place, part);
            }
        }
        self.bound();
    }

    /// Gives up the oldest gaps above the limit.
    fn bound(&mut self) {
        while self.gaps.len() > MAX_GAPS {
            self.missed += self.gaps.pop_front().map_or(0, |gap| gap.until - gap.from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn begin(next: u64) -> Gaps {
        Gaps::begin(next, Reordering::new(Duration::ZERO, Duration::ZERO))
    }

    fn came(gaps: &mut Gaps, number: u64) -> Arrival {
        gaps.came(NOW, number, None).arrival
    }

    #[test]
    fn late_frame_fills_its_gap() {
        let mut gaps = begin(0);
        assert_eq!([0, 4, 2, 2, 4].map(|it| came(&mut gaps, it)), {
            use Arrival::{Deliver, Duplicate};
            [Deliver, Deliver, Deliver, Duplicate, Duplicate]
        });
        assert_eq!((gaps.expected(), gaps.settled()), (5, 1));
        gaps.fire(NOW);
        let wait = Duration::from_millis(1);
        assert_eq!(gaps.next_report(NOW, wait), Some((1, 2)));
        assert_eq!(gaps.next_report(NOW, wait), Some((3, 4)));
        assert_eq!(gaps.next_report(NOW, wait), None);
    }

    #[test]
    fn retransmission_counts_for_its_first_number() {
        let mut gaps = begin(0);
        assert_eq!(came(&mut gaps, 1), Arrival::Deliver);
        assert_eq!(gaps.came(NOW, 2, Some(0)).arrival, Arrival::Deliver);
        assert_eq!(gaps.settled(), 3, "nothing is missing");
        assert_eq!(came(&mut gaps, 0), Arrival::Duplicate, "late, and delivered as 2");
        assert_eq!(gaps.came(NOW, 3, Some(0)).arrival, Arrival::Duplicate);
    }

    #[test]
    fn frame_sent_before_the_handshake_is_delivered_once() {
        use Arrival::{Deliver, Duplicate};
        let mut gaps = begin(5);
        let arrivals = [5, 3, 3, 4, 5, 4].map(|number| came(&mut gaps, number));
        assert_eq!(arrivals, [Deliver, Deliver, Duplicate, Deliver, Duplicate, Duplicate]);
        assert_eq!(gaps.came(NOW, 6, Some(1)).arrival, Deliver);
        assert_eq!(came(&mut gaps, 1), Duplicate, "delivered as 6");
        assert_eq!((gaps.expected(), gaps.settled()), (7, 7), "nothing below 5 is missing");
    }

    #[test]
    fn gap_reports_back_off() {
        let mut gaps = begin(0);
        assert_eq!(came(&mut gaps, 1), Arrival::Deliver);
        let mut reports = Vec::new();
        for milli in 0..1_000 {
            let now = Instant::from_millis(milli);
            gaps.fire(now);
            if gaps.next_report(now, Duration::from_millis(16)).is_some() {
                reports.push(milli);
            }
            assert_eq!(gaps.next_report(now, Duration::from_millis(16)), None);
            assert!(gaps.deadline().is_none_or(|deadline| deadline > now));
        }
        assert_eq!(reports, [0, 2, 18, 50, 114, 242]);
        assert_eq!((gaps.missed(), gaps.settled(), gaps.deadline()), (1, 2, None));
    }

    #[test]
    fn number_too_far_ahead_changes_nothing() {
        for number in [PLAUSIBLE, HISTORY - 1, HISTORY, 1 << 40] {
            let mut gaps = begin(0);
            let judged = gaps.came(NOW, number, None);
            assert_eq!(judged, Judged { arrival: Arrival::Deliver, ambiguous: true });
            assert_eq!((gaps.expected(), gaps.settled()), (0, 0));
            gaps.on_peer_next(NOW, 1);
            assert_eq!((gaps.expected(), gaps.settled()), (1, 0), "the state shows no jump");
            assert_eq!(came(&mut gaps, 1), Arrival::Deliver);
        }
    }

    #[test]
    fn state_confirms_a_jump() {
        let mut gaps = begin(0);
        assert_eq!(came(&mut gaps, 0), Arrival::Deliver);
        for number in [1_000, 1_001, 1_003] {
            assert!(gaps.came(NOW, number, None).ambiguous);
        }
        gaps.on_peer_next(NOW, 1_002);
        assert_eq!((gaps.expected(), gaps.settled()), (1_004, 1));
        assert_eq!(came(&mut gaps, 1_001), Arrival::Duplicate, "it came before");
        assert_eq!([1_002, 999].map(|it| came(&mut gaps, it)), [Arrival::Deliver; 2]);
    }

    #[test]
    fn lower_state_beyond_reordering_is_accepted() {
        let mut gaps = begin(0).reported_once();
        assert_eq!(came(&mut gaps, 1_000), Arrival::Deliver);
        gaps.on_peer_next(NOW, 10);
        assert_eq!(gaps.expected(), 1_001, "an old word");
        assert_eq!(came(&mut gaps, 60_000), Arrival::Deliver);
        gaps.on_peer_next(NOW, 10);
        assert_eq!(gaps.expected(), 60_001, "the same old word");
        gaps.on_peer_next(NOW, 12);
        assert_eq!((gaps.expected(), gaps.settled()), (12, 12));
        assert_eq!(came(&mut gaps, 14), Arrival::Deliver);
        assert_eq!(gaps.settled(), 12, "12 and 13 are missing");
    }

    #[test]
    fn state_is_accepted_after_a_forged_one() {
        let mut gaps = begin(1_980_129_125);
        gaps.on_peer_next(NOW, 75);
        assert_eq!((gaps.expected(), gaps.settled()), (75, 75));
        assert_eq!(came(&mut gaps, 76), Arrival::Deliver);
        assert_eq!(gaps.settled(), 75, "75 is missing");
    }

    #[test]
    fn gaps_are_bounded_and_the_oldest_give_way() {
        let mut gaps = begin(0);
        for number in 0..2_000 {
            assert_eq!(came(&mut gaps, 2 * number + 1), Arrival::Deliver);
        }
        assert_eq!(gaps.gaps.len(), MAX_GAPS);
        assert_eq!(gaps.missed(), 2_000 - MAX_GAPS as u64);
    }
}
