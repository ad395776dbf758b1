//! Scoreboard: the state of each segment and the order of transmissions.
//!
//! Send order, not time, decides which losses belong to one flight. The scoreboard covers the segments from `base`
//! (the lowest missing one) to `next` (the lowest one never requested), at most a limit.
use crate::event::Cause;
use crate::time::Instant;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// State of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Requested; unanswered.
    InFlight,
    /// To be retransmitted.
    Queued,
    /// To be retransmitted after a timeout.
    TimedOut,
    /// Received.
    Received,
    /// Abandoned. It stays the lowest missing one until the scoreboard is truncated before it.
    Failed,
}

/// Signal of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The timer expired.
    Timeout,
    /// Answers to later transmissions arrived first.
    Order,
    /// A Nack or a forged answer arrived.
    Rejection,
}

/// A transmission declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Send order in the macroflow.
    pub(crate) flow_order: u64,
    /// When it was sent.
    pub(crate) sent: Instant,
    /// Signal of the loss.
    pub(crate) sign: Sign,
    /// Cause that the congestion control inferred.
    pub(crate) cause: Option<Cause>,
}

/// A requested segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    state: State,
    /// Number of transmissions.
    pub(crate) transmissions: u32,
    /// Send order of the last transmission.
    pub(crate) order: u64,
    /// Its send order in the macroflow.
    pub(crate) flow_order: u64,
    /// The last transmission declared lost.
    pub(crate) lost: Option<Lost>,
    /// Number of its expired timers.
    pub(crate) timeouts: u32,
    /// The last batch in which an answer to it was processed; 0 before any.
    batch: u32,
    /// Time of the first transmission.
    pub(crate) first_sent: Instant,
    /// Time of the last transmission.
    pub(crate) sent: Instant,
}

impl Slot {
    const RECEIVED: Self = Self {
        state: State::Received,
        transmissions: 0,
        order: 0,
        flow_order: 0,
        lost: None,
        timeouts: 0,
        batch: 0,
        first_sent: Instant::ZERO,
        sent: Instant::ZERO,
    };

    /// Whether the last transmission is in flight.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.state == State::InFlight
    }

    /// Whether the segment is missing.
    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.state, State::InFlight | State::Queued | State::TimedOut)
    }

    /// Whether the segment waits for its retransmission.
    pub(crate) fn is_queued(&self) -> bool {
        matches!(self.state, State::Queued | State::TimedOut)
    }

    /// Whether the segment waits for its retransmission after a timeout.
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
    /// Segments whose retransmission is postponed.
    deferred: BTreeSet<u64>,
    in_flight: u32,
    /// Retransmissions in flight.
    repeated: u32,
    /// Segments received above the lowest missing one.
    above: u64,
    orders: u64,
    held: VecDeque<Range<u64>>,
    /// Most segments from the lowest missing one to the highest requested one.
    limit: u64,
}

impl Scoreboard {
    /// A scoreboard of at most `limit` segments that begins at segment `first`; the segments in `held` (ascending,
    /// disjoint) are received already.
    pub(crate) fn new(first: u64, held: impl IntoIterator<Item = Range<u64>>, limit: u64) -> Self {
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
            limit,
        };
        board.skip_held();
        board
    }

    /// The lowest missing segment.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The lowest segment never requested.
    pub(crate) fn next(&self) -> u64 {
        self.base + self.slots.len() as u64
    }

    /// Interests in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Retransmissions in flight.
    pub(crate) fn repeated(&self) -> u32 {
        self.repeated
    }

    /// Segments from the lowest missing one to the highest requested one.
    pub(crate) fn span(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Segments received above the lowest missing one, held ones excluded.
    pub(crate) fn above(&self) -> u64 {
        self.above
    }

    /// Send order of the latest transmission.
    pub(crate) fn highest_order(&self) -> u64 {
        self.orders
    }

    /// Whether `next` would exceed the span of the scoreboard, or is the greatest number.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() as u64 >= self.limit || self.next() == u64::MAX
    }

    /// The segment, if it was requested.
    pub(crate) fn get(&self, segment: u64) -> Option<&Slot> {
        self.slots.get(usize::try_from(segment.checked_sub(self.base)?).ok()?)
    }

    fn get_mut(&mut self, segment: u64) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(segment.checked_sub(self.base)?).ok()?)
    }

    /// Segments in flight whose last transmission has at most this send order.
    pub(crate) fn in_flight_through(&self, order: u64) -> impl Iterator<Item = u64> {
        let slots = self.slots.iter().zip(self.base..);
        slots.filter(move |(slot, _)| slot.is_in_flight() && slot.order <= order).map(|(_, n)| n)
    }

    /// Records that an answer for `segment` is processed in batch number `batch`, counted from 1. Returns false for a
    /// second answer of the batch.
    pub(crate) fn claim(&mut self, segment: u64, batch: u32) -> bool {
        let slot = self.get_mut(segment);
        slot.is_some_and(|slot| std::mem::replace(&mut slot.batch, batch) != batch)
    }

    /// The lowest segment that waits for its retransmission.
    pub(crate) fn first_queued(&self) -> Option<u64> {
        self.queue.first().copied()
    }

    /// Records a transmission of `segment`, which is `next` or a retransmission, with its send order in the macroflow.
    /// Returns the number of transmissions, including this one.
    pub(crate) fn send(&mut self, segment: u64, flow_order: u64, now: Instant) -> u32 {
        debug_assert!(segment < self.next() || segment == self.next() && !self.is_full());
        self.orders += 1;
        let order = self.orders;
        if segment == self.next() {
            let state = State::InFlight;
            self.slots.push_back(Slot {
                state,
                transmissions: 1,
                order,
                flow_order,
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
        (slot.order, slot.flow_order) = (order, flow_order);
        slot.sent = now;
        slot.transmissions = slot.transmissions.saturating_add(1);
        slot.transmissions
    }

    /// Records the arrival of `segment`. Returns its state before, or `None` for unsolicited or duplicate Data.
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

    /// Abandons `segment`.
    pub(crate) fn fail(&mut self, segment: u64) {
        self.settle_as(State::Failed, segment);
    }

    /// Ends the wait for `segment`. Returns its state before, or `None` if it was not missing.
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

    /// Cancels the retransmission of `segment`.
    fn unqueue(&mut self, segment: u64) {
        self.queue.remove(&segment);
        self.deferred.remove(&segment);
    }

    /// Postpones the retransmission of `segment` until it is released.
    pub(crate) fn defer(&mut self, segment: u64) {
        if self.queue.remove(&segment) {
            self.deferred.insert(segment);
        }
    }

    /// Permits the retransmission of `segment`. Returns false if it was not deferred.
    pub(crate) fn release(&mut self, segment: u64) -> bool {
        self.deferred.remove(&segment) && self.queue.insert(segment)
    }

    /// Whether any retransmission is postponed.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// The last transmission of `slot` is in flight no more.
    fn land(&mut self, slot: &Slot) {
        self.in_flight -= 1;
        self.repeated -= u32::from(slot.transmissions > 1);
    }

    /// Declares the transmission in flight of `segment` lost, by this `sign`, and queues its retransmission. Returns
    /// false if none was in flight.
    pub(crate) fn lose(&mut self, segment: u64, sign: Sign) -> bool {
        let Some(slot) = self.get_mut(segment).filter(|slot| slot.state == State::InFlight) else {
            return false;
        };
        let expired = sign == Sign::Timeout;
        slot.state = if expired { State::TimedOut } else { State::Queued };
        slot.timeouts = slot.timeouts.saturating_add(u32::from(expired));
        slot.lost = Some(Lost { flow_order: slot.flow_order, sent: slot.sent, sign, cause: None });
        let before = *slot;
        self.land(&before);
        self.queue.insert(segment)
    }

    /// Records the inferred cause of the last loss of `segment`, if it is the one of that order in the macroflow.
    pub(crate) fn set_cause(&mut self, segment: u64, flow_order: u64, cause: Cause) {
        let lost = self.get_mut(segment).and_then(|slot| slot.lost.as_mut());
        if let Some(lost) = lost.filter(|lost| lost.flow_order == flow_order) {
            lost.cause = Some(cause);
        }
    }

    /// Clears the last loss of `segment`: its cause is known.
    pub(crate) fn excuse(&mut self, segment: u64) {
        if let Some(slot) = self.get_mut(segment) {
            slot.lost = None;
        }
    }

    /// Declares every transmission in flight lost, except those of segments in `kept`. Calls `each` for each segment.
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

    /// Removes every segment from `end` on. Calls `each` for those that were in flight.
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

    /// Whether a segment at or beyond `end` was received.
    pub(crate) fn has_received_from(&self, end: u64) -> bool {
        self.base > end
            || self
                .slots
                .iter()
                .zip(self.base..)
                .any(|(s, n)| n >= end && s.state == State::Received)
    }

    /// With nothing in flight, advances over held segments.
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

    /// Adds held segments that follow the last one. A range larger than the scoreboard is added piece by piece as the
    /// base advances.
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

    /// Adds held segments for which there is space again; call it before requesting `next`.
    pub(crate) fn settle(&mut self) {
        self.skip_held();
        self.extend_over_held();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Instant = Instant::ZERO;
    const LIMIT: u64 = 1 << 16;

    #[test]
    fn the_base_follows_the_lowest_missing_segment() {
        let mut board = Scoreboard::new(0, [], LIMIT);
        for segment in 0..4 {
            assert_eq!(board.send(segment, 0, T), 1);
        }
        assert!(board.receive(1).is_some());
        assert_eq!((board.base(), board.next(), board.in_flight()), (0, 4, 3));
        assert!(board.receive(0).is_some());
        assert_eq!((board.base(), board.next(), board.in_flight()), (2, 4, 2));
        assert!(board.receive(0).is_none(), "a second copy is not awaited");
        assert!(board.receive(9).is_none(), "unsolicited Data");
    }

    #[test]
    fn retransmission_counts_once_in_flight() {
        let mut board = Scoreboard::new(0, [], LIMIT);
        board.send(0, 0, T);
        assert!(board.lose(0, Sign::Timeout));
        assert!(!board.lose(0, Sign::Timeout), "it is lost only once");
        assert_eq!((board.in_flight(), board.first_queued()), (0, Some(0)));
        assert_eq!(board.send(0, 0, Instant::from_millis(5)), 2);
        assert_eq!((board.in_flight(), board.first_queued()), (1, None));
        let slot = board.receive(0).expect("awaited");
        assert_eq!((slot.first_sent, slot.sent, slot.order), (T, Instant::from_millis(5), 2));
    }

    #[test]
    fn retransmission_leaves_a_full_scoreboard() {
        let held = 1..2 * LIMIT;
        let mut board = Scoreboard::new(0, [held], LIMIT);
        board.send(0, 0, T);
        board.lose(0, Sign::Timeout);
        assert!(board.is_full());
        assert_eq!(board.send(0, 0, T), 2);
        assert!(board.receive(0).is_some());
        assert_eq!(board.base(), 2 * LIMIT);
    }

    #[test]
    fn late_data_cancels_the_queued_retransmission() {
        let mut board = Scoreboard::new(0, [], LIMIT);
        board.send(0, 0, T);
        board.lose(0, Sign::Timeout);
        let late = |slot: Slot| slot.is_queued() && slot.is_timed_out();
        assert!(board.receive(0).is_some_and(late));
        assert_eq!((board.first_queued(), board.in_flight()), (None, 0));
    }

    #[test]
    fn deferred_segment_is_queued_once_it_is_released() {
        let mut board = Scoreboard::new(0, [], LIMIT);
        for segment in 0..3 {
            board.send(segment, 0, T);
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
    fn held_segments_are_not_requested() {
        let mut board = Scoreboard::new(0, [0..2, 3..5, 6..7], LIMIT);
        let mut asked = Vec::new();
        while board.next() < 9 {
            asked.push(board.next());
            board.send(board.next(), 0, T);
        }
        assert_eq!(asked, [2, 5, 7, 8]);
        for segment in asked {
            board.receive(segment);
        }
        assert_eq!(board.base(), 9);
    }

    #[test]
    fn long_held_range_is_added_piece_by_piece() {
        let long = LIMIT * 3;
        let mut board = Scoreboard::new(0, std::iter::once(1..long), LIMIT);
        board.send(0, 0, T);
        assert!(board.is_full());
        board.receive(0);
        board.settle();
        assert_eq!(board.next(), long);
    }

    #[test]
    fn scoreboard_counts_received_above_and_repeated() {
        let mut board = Scoreboard::new(0, std::iter::once(3..5), LIMIT);
        (0..6).filter(|segment| !(3..5).contains(segment)).for_each(|segment| {
            board.send(segment, 0, T);
        });
        board.receive(2);
        board.receive(5);
        assert_eq!((board.above(), board.span()), (2, 6), "3 and 4 did not arrive");
        board.lose(0, Sign::Order);
        board.send(0, 0, T);
        assert_eq!((board.repeated(), board.in_flight()), (1, 2));
        board.receive(0);
        assert_eq!((board.repeated(), board.above(), board.base()), (0, 2, 1));
        board.receive(1);
        assert_eq!((board.above(), board.base()), (0, 6));
    }

    #[test]
    fn truncation_forgets_what_lies_beyond_the_end() {
        let mut board = Scoreboard::new(0, [], LIMIT);
        for segment in 0..6 {
            board.send(segment, 0, T);
        }
        board.lose(4, Sign::Rejection);
        let mut gone = Vec::new();
        board.truncate(3, |segment| gone.push(segment));
        gone.sort_unstable();
        assert_eq!((gone, board.in_flight(), board.next()), (vec![3, 5], 3, 3));
        assert_eq!(board.first_queued(), None);
    }
}
