//! Which segments were asked for, when, in which order, and what became of them.
//!
//! The order of transmissions, not the clock, tells which losses belong to one flight. The board
//! covers the segments from `base` (the lowest one still missing) to `next` (the lowest one never
//! asked for), at most [`Scoreboard::SPAN`] of them.
use crate::event::Cause;
use crate::time::Instant;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// What became of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Asked for; the answer is awaited.
    InFlight,
    /// To be asked for again.
    Queued,
    /// To be asked for again because the answer stayed away until its timeout.
    TimedOut,
    /// Received.
    Received,
    /// Not to be had. It stays the lowest one missing until the board is cut before it.
    Failed,
}

/// What told that a transmission was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The answer stayed away until its timeout.
    Timeout,
    /// Answers to later transmissions came before.
    Order,
    /// It was refused, or answered with what cannot be trusted.
    Refusal,
}

/// A transmission that was judged lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Its place among all transmissions.
    pub(crate) order: u64,
    /// When it was sent.
    pub(crate) sent: Instant,
    /// What told so.
    pub(crate) sign: Sign,
    /// What the congestion control inferred.
    pub(crate) cause: Option<Cause>,
}

/// A segment that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    state: State,
    /// How often it was asked for.
    pub(crate) transmissions: u32,
    /// Place of the last transmission among all transmissions.
    pub(crate) order: u64,
    /// The last transmission that was judged lost.
    pub(crate) lost: Option<Lost>,
    /// How many of its timers have expired.
    pub(crate) timeouts: u32,
    /// The last batch in which an answer to it was judged; 0 before any.
    batch: u32,
    /// When it was asked for first.
    pub(crate) first_sent: Instant,
    /// When it was asked for last.
    pub(crate) sent: Instant,
}

impl Slot {
    const RECEIVED: Self = Self {
        state: State::Received,
        transmissions: 0,
        order: 0,
        lost: None,
        timeouts: 0,
        batch: 0,
        first_sent: Instant::ZERO,
        sent: Instant::ZERO,
    };

    /// An answer to the last transmission may still come.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.state == State::InFlight
    }

    /// The segment is not there yet.
    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.state, State::InFlight | State::Queued | State::TimedOut)
    }

    /// The segment waits to be asked for again.
    pub(crate) fn is_queued(&self) -> bool {
        matches!(self.state, State::Queued | State::TimedOut)
    }

    /// The segment waits to be asked for again because it timed out.
    pub(crate) fn is_timed_out(&self) -> bool {
        self.state == State::TimedOut
    }
}

/// The scoreboard of one object.
#[derive(Debug)]
pub(crate) struct Scoreboard {
    base: u64,
    slots: VecDeque<Slot>,
    queue: BTreeSet<u64>,
    /// Segments that are to be asked for again, but not yet.
    deferred: BTreeSet<u64>,
    in_flight: u32,
    /// Of these, how many are not the first for their segment.
    repeated: u32,
    /// Segments that arrived above the lowest missing one.
    above: u64,
    orders: u64,
    held: VecDeque<Range<u64>>,
}

impl Scoreboard {
    /// Most segments between the lowest missing one and the highest one asked for.
    pub(crate) const SPAN: u64 = 1 << 16;

    /// A board that begins at segment `first`; the segments in `held` (ascending, disjoint) are
    /// there already.
    pub(crate) fn new(first: u64, held: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut board = Self {
            base: first,
            slots: VecDeque::new(),
            queue: BTreeSet::new(),
            deferred: BTreeSet::new(),
            in_flight: 0,
            repeated: 0,
            above: 0,
            orders: 0,
            held: held.into_iter().filter(|r| r.end > first && r.start < r.end).collect(),
        };
        board.skip_held();
        board
    }

    /// The lowest segment still missing.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The lowest segment never asked for.
    pub(crate) fn next(&self) -> u64 {
        self.base + self.slots.len() as u64
    }

    /// Interests that await an answer.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Interests that await an answer and are not the first for their segment.
    pub(crate) fn repeated(&self) -> u32 {
        self.repeated
    }

    /// Segments from the lowest missing one to the highest one asked for.
    pub(crate) fn span(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Segments that arrived above the lowest missing one; not those that were there before.
    pub(crate) fn above(&self) -> u64 {
        self.above
    }

    /// Place of the latest transmission among all transmissions.
    pub(crate) fn highest_order(&self) -> u64 {
        self.orders
    }

    /// The next segment would stretch the board beyond its span, or is the greatest number, which
    /// has no next.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() as u64 >= Self::SPAN || self.next() == u64::MAX
    }

    /// The segment, if it was asked for.
    pub(crate) fn get(&self, segment: u64) -> Option<&Slot> {
        self.slots.get(usize::try_from(segment.checked_sub(self.base)?).ok()?)
    }

    fn get_mut(&mut self, segment: u64) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(segment.checked_sub(self.base)?).ok()?)
    }

    /// Segments whose last transmission is in flight and has this send order or a lower one.
    pub(crate) fn under_way_through(&self, order: u64) -> impl Iterator<Item = u64> {
        let slots = self.slots.iter().zip(self.base..);
        slots.filter(move |(slot, _)| slot.is_in_flight() && slot.order <= order).map(|(_, n)| n)
    }

    /// Notes that an answer for `segment` is judged in batch number `batch`, counted from 1. Returns
    /// false if one is already.
    pub(crate) fn claim(&mut self, segment: u64, batch: u32) -> bool {
        let slot = self.get_mut(segment);
        slot.is_some_and(|slot| std::mem::replace(&mut slot.batch, batch) != batch)
    }

    /// The lowest segment that waits to be asked for again.
    pub(crate) fn first_queued(&self) -> Option<u64> {
        self.queue.first().copied()
    }

    /// Notes a transmission of `segment`, which is either `next` or was asked for before.
    /// Returns how often the segment has been asked for, this time included.
    pub(crate) fn send(&mut self, segment: u64, now: Instant) -> u32 {
        debug_assert!(segment < self.next() || segment == self.next() && !self.is_full());
        self.orders += 1;
        let order = self.orders;
        if segment == self.next() {
            let state = State::InFlight;
            self.slots.push_back(Slot {
                state,
                transmissions: 1,
                order,
                lost: None,
                timeouts: 0,
                batch: 0,
                first_sent: now,
                sent: now,
            });
            self.in_flight += 1;
            self.extend_over_held();
            return 1;
        }
        if self.queue.remove(&segment) {
            self.in_flight += 1;
            self.repeated += 1;
        }
        let Some(slot) = self.get_mut(segment) else {
            return 0;
        };
        slot.state = State::InFlight;
        slot.order = order;
        slot.sent = now;
        slot.transmissions = slot.transmissions.saturating_add(1);
        slot.transmissions
    }

    /// Notes that `segment` arrived. Returns what was known of it before, or `None` if it was not
    /// awaited (never asked for, or received already).
    pub(crate) fn receive(&mut self, segment: u64) -> Option<Slot> {
        let before = self.settle_as(State::Received, segment)?;
        self.above += 1;
        while let Some(slot) = self.slots.front().filter(|slot| slot.state == State::Received) {
            self.above -= u64::from(slot.transmissions > 0);
            self.slots.pop_front();
            self.base += 1;
        }
        self.skip_held();
        Some(before)
    }

    /// Notes that `segment` is not to be had: it is awaited no more.
    pub(crate) fn fail(&mut self, segment: u64) {
        self.settle_as(State::Failed, segment);
    }

    /// Ends the wait for `segment`. Returns what was known of it before, or `None` if it was not
    /// awaited.
    fn settle_as(&mut self, state: State, segment: u64) -> Option<Slot> {
        let slot = self.get_mut(segment).filter(|slot| slot.is_awaited())?;
        let before = *slot;
        slot.state = state;
        match before.is_in_flight() {
            true => self.land(&before),
            false => self.unqueue(segment),
        }
        Some(before)
    }

    /// `segment` is not to be asked for again.
    fn unqueue(&mut self, segment: u64) {
        self.queue.remove(&segment);
        self.deferred.remove(&segment);
    }

    /// `segment`, which waits to be asked for again, has to wait until it is released.
    pub(crate) fn defer(&mut self, segment: u64) {
        if self.queue.remove(&segment) {
            self.deferred.insert(segment);
        }
    }

    /// `segment` may be asked for again. Returns false if it was not deferred.
    pub(crate) fn release(&mut self, segment: u64) -> bool {
        self.deferred.remove(&segment) && self.queue.insert(segment)
    }

    /// A segment is to be asked for again, but not yet.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// The last transmission of `slot` is in flight no more.
    fn land(&mut self, slot: &Slot) {
        self.in_flight -= 1;
        self.repeated -= u32::from(slot.transmissions > 1);
    }

    /// Judges the transmission in flight of `segment` lost, by this `sign`: the segment is to be asked
    /// for again. Returns false if none was in flight.
    pub(crate) fn lose(&mut self, segment: u64, sign: Sign) -> bool {
        let Some(slot) = self.get_mut(segment).filter(|slot| slot.state == State::InFlight) else {
            return false;
        };
        let expired = sign == Sign::Timeout;
        slot.state = if expired { State::TimedOut } else { State::Queued };
        slot.timeouts = slot.timeouts.saturating_add(u32::from(expired));
        slot.lost = Some(Lost { order: slot.order, sent: slot.sent, sign, cause: None });
        let before = *slot;
        self.land(&before);
        self.queue.insert(segment)
    }

    /// Records the inferred cause of the last loss of `segment`, if it is the one of that `order`.
    pub(crate) fn set_cause(&mut self, segment: u64, order: u64, cause: Cause) {
        let lost = self.get_mut(segment).and_then(|slot| slot.lost.as_mut());
        if let Some(lost) = lost.filter(|lost| lost.order == order) {
            lost.cause = Some(cause);
        }
    }

    /// The transmission of `segment` that was judged lost last is accounted for.
    pub(crate) fn excuse(&mut self, segment: u64) {
        if let Some(slot) = self.get_mut(segment) {
            slot.lost = None;
        }
    }

    /// Judges every transmission in flight lost but those of segments in `kept`, and calls `each` for its segment.
    pub(crate) fn lose_all_but<T>(&mut self, kept: &BTreeMap<u64, T>, mut each: impl FnMut(u64)) {
        (self.in_flight, self.repeated) = (0, 0);
        for (slot, segment) in self.slots.iter_mut().zip(self.base..) {
            if slot.state != State::InFlight {
                continue;
            }
            if kept.contains_key(&segment) {
                self.in_flight += 1;
                self.repeated += u32::from(slot.transmissions > 1);
                continue;
            }
            slot.state = State::Queued;
            self.queue.insert(segment);
            each(segment);
        }
    }

    /// Forgets every segment from `end` on, and calls `each` for those that were in flight.
    pub(crate) fn truncate(&mut self, end: u64, mut each: impl FnMut(u64)) {
        while self.next() > end.max(self.base) {
            let segment = self.next() - 1;
            let Some(slot) = self.slots.pop_back() else { break };
            if slot.is_in_flight() {
                self.land(&slot);
                each(segment);
            }
            let is_above = slot.state == State::Received && slot.transmissions > 0;
            self.above -= u64::from(is_above);
            self.unqueue(segment);
        }
    }

    /// The highest segment received lies at or beyond `end`.
    pub(crate) fn has_received_from(&self, end: u64) -> bool {
        self.base > end
            || self
                .slots
                .iter()
                .zip(self.base..)
                .any(|(s, n)| n >= end && s.state == State::Received)
    }

    /// With nothing outstanding, moves over segments that are there already.
    fn skip_held(&mut self) {
        if !self.slots.is_empty() {
            return;
        }
        while let Some(range) = self.held.front() {
            if range.start > self.base {
                break;
            }
            self.base = self.base.max(range.end);
            self.held.pop_front();
        }
    }

    /// Takes segments into the board that follow the last one and are there already. A range that
    /// does not fit the board is taken piece by piece as the base moves.
    fn extend_over_held(&mut self) {
        while let Some(range) = self.held.front().cloned() {
            let next = self.next();
            if range.end <= next {
                self.held.pop_front();
            } else if range.start <= next && !self.is_full() {
                self.slots.push_back(Slot::RECEIVED);
            } else {
                break;
            }
        }
    }

    /// Takes in held segments once there is room again; to be called before asking for `next`.
    pub(crate) fn settle(&mut self) {
        self.skip_held();
        self.extend_over_held();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Instant = Instant::ZERO;

    #[test]
    fn the_base_follows_the_lowest_missing_segment() {
        let mut board = Scoreboard::new(0, []);
        for segment in 0..4 {
            assert_eq!(board.send(segment, T), 1);
        }
        assert!(board.receive(1).is_some());
        assert_eq!((board.base(), board.next(), board.in_flight()), (0, 4, 3));
        assert!(board.receive(0).is_some());
        assert_eq!((board.base(), board.next(), board.in_flight()), (2, 4, 2));
        assert!(board.receive(0).is_none(), "a second copy is not awaited");
        assert!(board.receive(9).is_none(), "what was never asked for is not awaited");
    }

    #[test]
    fn a_lost_segment_is_asked_for_again_and_counts_once_in_flight() {
        let mut board = Scoreboard::new(0, []);
        board.send(0, T);
        assert!(board.lose(0, Sign::Timeout));
        assert!(!board.lose(0, Sign::Timeout), "it is lost only once");
        assert_eq!((board.in_flight(), board.first_queued()), (0, Some(0)));
        assert_eq!(board.send(0, Instant::from_millis(5)), 2);
        assert_eq!((board.in_flight(), board.first_queued()), (1, None));
        let slot = board.receive(0).expect("awaited");
        assert_eq!((slot.first_sent, slot.sent, slot.order), (T, Instant::from_millis(5), 2));
    }

    #[test]
    fn a_lost_segment_is_asked_for_again_although_the_board_is_full() {
        let held = 1..2 * Scoreboard::SPAN;
        let mut board = Scoreboard::new(0, [held]);
        board.send(0, T);
        board.lose(0, Sign::Timeout);
        assert!(board.is_full());
        assert_eq!(board.send(0, T), 2);
        assert!(board.receive(0).is_some());
        assert_eq!(board.base(), 2 * Scoreboard::SPAN);
    }

    #[test]
    fn data_that_arrives_while_its_segment_is_queued_cancels_the_retransmission() {
        let mut board = Scoreboard::new(0, []);
        board.send(0, T);
        board.lose(0, Sign::Timeout);
        let late = |slot: Slot| slot.is_queued() && slot.is_timed_out();
        assert!(board.receive(0).is_some_and(late));
        assert_eq!((board.first_queued(), board.in_flight()), (None, 0));
    }

    #[test]
    fn deferred_segment_is_queued_once_it_is_released() {
        let mut board = Scoreboard::new(0, []);
        for segment in 0..3 {
            board.send(segment, T);
            board.lose(segment, Sign::Order);
            board.defer(segment);
        }
        assert_eq!(
            (board.first_queued(), board.in_flight(), board.has_deferred()),
            (None, 0, true)
        );
        assert!(board.release(1) && !board.release(1));
        assert_eq!(board.first_queued(), Some(1));
        assert!(board.receive(0).is_some_and(|slot| slot.is_queued()));
        board.truncate(2, |_| {});
        assert!(!board.has_deferred());
    }

    #[test]
    fn segments_that_are_held_are_never_asked_for() {
        let mut board = Scoreboard::new(0, [0..2, 3..5, 6..7]);
        let mut asked = Vec::new();
        while board.next() < 9 {
            asked.push(board.next());
            board.send(board.next(), T);
        }
        assert_eq!(asked, [2, 5, 7, 8]);
        for segment in asked {
            board.receive(segment);
        }
        assert_eq!(board.base(), 9);
    }

    #[test]
    fn a_held_range_longer_than_the_board_is_taken_piece_by_piece() {
        let long = Scoreboard::SPAN * 3;
        let mut board = Scoreboard::new(0, std::iter::once(1..long));
        board.send(0, T);
        assert!(board.is_full());
        board.receive(0);
        board.settle();
        assert_eq!(board.next(), long);
    }

    #[test]
    fn what_is_above_a_hole_and_what_is_asked_for_again_is_counted() {
        let mut board = Scoreboard::new(0, std::iter::once(3..5));
        (0..6).filter(|segment| !(3..5).contains(segment)).for_each(|segment| {
            board.send(segment, T);
        });
        board.receive(2);
        board.receive(5);
        assert_eq!((board.above(), board.span()), (2, 6), "3 and 4 did not arrive");
        board.lose(0, Sign::Order);
        board.send(0, T);
        assert_eq!((board.repeated(), board.in_flight()), (1, 2));
        board.receive(0);
        assert_eq!((board.repeated(), board.above(), board.base()), (0, 2, 1));
        board.receive(1);
        assert_eq!((board.above(), board.base()), (0, 6));
    }

    #[test]
    fn truncation_forgets_what_lies_beyond_the_end() {
        let mut board = Scoreboard::new(0, []);
        for segment in 0..6 {
            board.send(segment, T);
        }
        board.lose(4, Sign::Refusal);
        let mut gone = Vec::new();
        board.truncate(3, |segment| gone.push(segment));
        gone.sort_unstable();
        assert_eq!((gone, board.in_flight(), board.next()), (vec![3, 5], 3, 3));
        assert_eq!(board.first_queued(), None);
    }
}
