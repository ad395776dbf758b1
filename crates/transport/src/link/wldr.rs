//! `wldr(ring=8192,bytes=16777216,alpha=0.8,lifetime=1s,max-age=inf,hold=0s,max-hold=50ms,resends=inf,kinds=both,mode=resend)`:
//! wireless loss detection and recovery, from gaps in the numbers of frames.
//!
//! Source: G. Carofiglio, L. Muscariello, M. Papalini, N. Rozhnova, X. Zeng, "Leveraging ICN In-network Control for
//! Loss Detection and Recovery in Wireless Mobile networks", ACM ICN 2016, section 3.1.
//!
//! The sender numbers outgoing frames, Interests and Data in one sequence, and holds the last of them. A receiver
//! that detects a gap reports it (EWLN, explicit wireless loss notification). The sender retransmits frames that it
//! still holds and that it sent first less than α times their lifetime ago. They get a new number and precede all
//! other frames.
//!
//! Differences from the paper, each because the scheme would otherwise fail on real links (`docs/wire.md` has the
//! details):
//! - numbers continue when the neighbour changes, and frames held for the old one are dropped; the paper resets both;
//! - frames carry 24 bits of the number and 8 of the session; internal numbers have 64 bits and never wrap;
//! - a retransmission carries its first number too, so that no frame is delivered twice;
//! - after the last frame the sender queries the receiver, because the loss of the last frame leaves no gap;
//! - an EWLN is repeated until it is confirmed; a late, duplicate or forged one changes nothing;
//! - a gap is held for `hold` before an EWLN. On links that reorder it is held for as long as frames were late, up to
//!   `max-hold` (`wldr/reordering.rs`);
//! - a number that skips many frames counts once the neighbour's state confirms it: senders off the path can guess the 8
//!   bits of the session;
//! - retransmissions are limited to the number of first transmissions plus the size of the ring, whatever EWLNs
//!   demand; through a tunnel (`auto`) to an eighth of that number plus 64, and 512 in a row;
//! - the sender also queries after each 128 frames, so that received frames are not held for long;
//! - both ends announce WLDR. Without a first notice from the neighbour, frames are numbered only for a while.
//!
//! With `strict=true` a gap is reported once, no report is confirmed, and there are no queries: what an EWLN or the
//! last frame loses is left to the consumer's timer, as in the paper. The announcements remain.
mod gaps;
mod number;
mod received;
mod reordering;
mod ring;
mod session;
mod settings;

pub(in crate::link) use session::AnswerBudget;
pub use session::{Replaced, Sessions};
pub use settings::{Kinds, Mode, WldrSettings};

use super::pool::Pool;
use super::recovery::tag::{AGAIN_TLV_BYTES, STATE_TLV_BYTES};
use super::recovery::{
    Agreement, Arrival, Counters, Ewln, Label, LinkRecovery, Notice, Outgoing, Sending, State, Tag,
};
use crate::time::{Duration, Instant};
use gaps::Gaps;
use number::{LABEL_BITS, lengthen, shorten};
use reordering::Reordering;
use ring::{Ring, Slot};
use session::{Owed, Session, StateEffect};
use settings::MAX_RING;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Most frames lost before the first one received from a neighbour that has not announced its first number.
const MAX_UNHEARD: u64 = 64;

/// Most queued confirmations of EWLNs.
const MAX_ECHOES: usize = 64;

/// Frames, and bytes of frames, between two queries of the neighbour. Received frames are then released while they
/// are still in the caches of the processor.
const QUERY_FRAMES: u64 = 128;
const QUERY_BYTES: u64 = 512 << 10;

/// One end of a link with WLDR.
#[derive(Debug)]
pub struct Wldr<T> {
    settings: WldrSettings,
    session: Session,
    ring: Ring<T>,
    gaps: Gaps,
    /// Last byte of the session whose numbers are in `gaps` while no neighbour is known.
    guess: Option<u8>,
    /// Frames and bytes sent with a number since the last query or state of the neighbour.
    unqueried: (u64, u64),
    /// Received EWLNs to be confirmed.
    echoes: VecDeque<Ewln>,
    /// A query is to be sent.
    query: bool,
    /// Time of the last numbered frame.
    last_sent: Instant,
    /// Lifetime of the last first transmission, and its patience: most lifetimes are equal.
    patience: (Option<Duration>, Duration),
    /// Whether the arrival of the last frames is unconfirmed.
    unproven: bool,
    /// Time of the next check for expired timers; possibly too early.
    alarm: Option<Instant>,
    down: bool,
    /// Another neighbour has answered, which is not yet reported.
    replaced: Option<Replaced>,
    counters: Counters,
}

impl<T> Wldr<T> {
    /// An end without a neighbour; its session is the next of `sessions`.
    #[must_use]
    pub fn new(settings: WldrSettings, sessions: Sessions) -> Self {
        let gaps = Gaps::begin(0, Reordering::new(settings.hold, settings.max_hold));
        Self {
            settings,
            session: Session::new(sessions),
            ring: Ring::new(&settings),
            gaps: if settings.strict { gaps.reported_once() } else { gaps },
            guess: None,
            unqueried: (0, 0),
            echoes: VecDeque::new(),
            query: false,
            last_sent: Instant::ZERO,
            patience: (None, settings.patience(None)),
            unproven: false,
            alarm: None,
            down: false,
            replaced: None,
            counters: Counters::default(),
        }
    }

    /// As [`new`](Self::new), for a hop that may be a tunnel. Where a queue inside the tunnel overflows, retransmissions would
    /// join that queue: at most one frame in eight is retransmitted, the others are left to the consumer.
    #[must_use]
    pub fn through_a_tunnel(settings: WldrSettings, sessions: Sessions) -> Self {
        let mut wldr = Self::new(settings, sessions);
        wldr.ring.limit_retransmissions();
        wldr
    }

    /// Whether the neighbour supports WLDR, so that frames are numbered.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.session.peer().is_some()
    }

    /// Session of the neighbour.
    pub(super) fn peer(&self) -> Option<u64> {
        self.session.peer()
    }

    /// Adds an outgoing frame to the ring; returns its label.
    fn label(&mut self, now: Instant, slot: Slot<T>) -> Label {
        let origin = slot.origin.map(|origin| shorten(origin, 32));
        self.unqueried = (self.unqueried.0 + 1, self.unqueried.1 + u64::from(slot.bytes));
        let number = self.ring.hold(now, slot, &mut self.counters);
        (self.last_sent, self.unproven) = (now, true);
        let due = now + self.session.patience();
        if self.alarm.is_none_or(|alarm| alarm > due) {
            self.alarm = Some(due);
        }
        Label { epoch: self.session.epoch(), number: shorten(number, LABEL_BITS), origin }
    }

    /// State of this end, for an end with the session `whom`.
    fn state(&self, whom: u64, wants_answer: bool, answers: bool) -> Notice {
        let known = self.session.peer() == Some(whom);
        // The first neighbour also gets the frames sent before it was known.
        let first = self.session.peer().is_none();
        let next = if first { self.ring.first() } else { self.ring.next() };
        Notice::State(State {
            wants_answer,
            answers,
            session: self.session.mine(),
            neighbour: whom,
            next: shorten(next, 32),
            settled: known.then(|| shorten(self.gaps.settled(), 32)),
        })
    }

    /// A query, or an offer to an unknown neighbour.
    fn ask(&mut self, now: Instant) -> Notice {
        (self.query, self.unqueried) = (false, (0, 0));
        self.session.ask(now);
        self.state(self.session.peer().unwrap_or(0), true, false)
    }

    fn on_state(&mut self, now: Instant, state: &State) {
        match self.session.on_state(now, state) {
            StateEffect::Stranger => self.guess(state.session as u8, u64::from(state.next)),
            StateEffect::New { before, returns } => {
                // A returning neighbour continues its numbers, unless another session was followed meanwhile.
                let goes_on = self.guess.take().map_or(returns, |it| it == state.session as u8);
                if goes_on {
                    self.gaps.on_peer_next(now, lengthen(state.next, 32, self.gaps.expected()));
                } else {
                    self.gaps.begin_anew(u64::from(state.next));
                }
                if before != 0 {
                    self.forget();
                    self.replaced = self.replaced.max(Replaced::between(before, state.session));
                }
            }
            StateEffect::Neighbour => {
                self.gaps.on_peer_next(now, lengthen(state.next, 32, self.gaps.expected()));
                if let Some(settled) = state.settled {
                    self.unqueried = (0, 0);
                    let settled = lengthen(settled, 32, self.ring.next());
                    self.ring.settle(settled, &mut self.counters);
                    self.unproven &= settled != self.ring.next();
                }
            }
        }
    }

    /// Follows the numbers of an unverified sender from `first` on, while there is no neighbour.
    fn guess(&mut self, epoch: u8, first: u64) {
        if self.session.peer().is_none() && self.guess != Some(epoch) {
            self.guess = Some(epoch);
            self.gaps.begin_anew(first);
        }
    }

    fn on_ewln(&mut self, now: Instant, ewln: Ewln) {
        if self.session.may_offer() {
            // The neighbour is unknown: it repeats the report once it is verified.
            self.session.probe(now);
            self.counters.ignored += 1;
        } else if ewln.session == self.session.mine() {
            self.session.confirm(now, false);
            let near = self.ring.next();
            let from = lengthen(ewln.expected, 32, near);
            let until = lengthen(ewln.last_received, 32, near);
            self.ring.ask(now, from, until, &mut self.counters);
            if self.echoes.len() < MAX_ECHOES && !self.settings.strict {
                self.echoes.push_back(ewln);
            }
        } else if Some(ewln.session) == self.session.peer() {
            let near = self.gaps.expected();
            let from = lengthen(ewln.expected, 32, near);
            self.gaps.on_confirmed(from, lengthen(ewln.last_received, 32, near));
        } else {
            self.counters.ignored += 1;
        }
    }

    fn on_label(&mut self, now: Instant, label: Label) -> Arrival {
        if !self.session.is_peers(label.epoch) {
            // An unverified neighbour sends numbered frames.
            self.session.probe(now);
            if self.session.peer().is_some() {
                return Arrival::Deliver;
            }
            // Its first frames may have been lost, and with them its first number.
            let number = u64::from(label.number);
            self.guess(label.epoch, if number < MAX_UNHEARD { 0 } else { number });
        }
        let number = lengthen(label.number, LABEL_BITS, self.gaps.expected());
        let origin = label.origin.map(|origin| lengthen(origin, 32, number));
        let judged = self.gaps.came(now, number, origin);
        // The neighbour's state decides. Forged numbers use up the budget of probes, and not the query.
        if judged.ambiguous {
            let may_ask = self.session.peer().is_some() && !self.session.is_asking();
            match may_ask && !self.settings.strict {
                true => self.query = true,
                false => self.session.probe(now),
            }
        }
        if judged.arrival == Arrival::Duplicate {
            self.counters.duplicates += 1;
        }
        judged.arrival
    }

    /// Drops the frames held for the old neighbour.
    fn forget(&mut self) {
        self.ring.forget(&mut self.counters);
        self.echoes.clear();
        (self.unproven, self.unqueried) = (false, (0, 0));
    }

    /// Whether a query is due, because enough was sent since the last one.
    fn needs_query(&self) -> bool {
        let (frames, bytes) = self.unqueried;
        (frames >= QUERY_FRAMES || bytes >= QUERY_BYTES)
            && !self.settings.strict
            && self.is_open()
            && !self.session.is_asking()
    }

    /// The next EWLN.
    fn next_ewln(&mut self, now: Instant) -> Option<Notice> {
        let session = self.session.peer()?;
        let (from, until) = self.gaps.next_report(now, self.session.repeat())?;
        let (expected, last_received) = (shorten(from, 32), shorten(until, 32));
        Some(Notice::Ewln(Ewln { session, expected, last_received }))
    }

    /// The next notice to the neighbour, if any.
    fn poll_notice(&mut self, now: Instant) -> Option<Notice> {
        if let Some(echo) = self.echoes.pop_front() {
            return Some(Notice::Ewln(echo));
        }
        // The state precedes queries and reports: they are valid between verified neighbours only.
        if let Some(Owed { whom, answers }) = self.session.take_owed() {
            let wants_answer = !answers || self.session.peer() != Some(whom);
            return Some(self.state(whom, wants_answer, answers));
        }
        if let Some(notice) = self.next_ewln(now) {
            return Some(notice);
        }
        self.query.then(|| self.ask(now))
    }

    /// Queries the neighbour, or drops frames that are too old.
    fn on_alarm(&mut self, now: Instant) {
        self.alarm = None;
        if self.session.is_silent() && self.session.declare_peer_lost() {
            self.forget();
        }
        let queries = !self.settings.strict || !self.is_open();
        if self.unproven && queries && !self.session.is_silent() {
            let due = self.session.ask_at(self.last_sent);
            if due > now {
                self.alarm = Some(due);
            } else {
                self.query = true;
                // A lost query is repeated after twice the time.
                self.last_sent = now;
                self.alarm = Some(now + self.session.patience().saturating_mul(2));
            }
            return;
        }
        match self.ring.dead_at() {
            Some(dead_at) if dead_at <= now => self.ring.sweep(now, &mut self.counters),
            dead_at => self.alarm = dead_at,
        }
    }
}

impl<T: Clone> Wldr<T> {
    /// Handles the first transmission of a frame and holds it; returns its label.
    fn label_first(&mut self, now: Instant, frame: &T, sending: &Sending) -> Label {
        if self.patience.0 != sending.lifetime {
            self.patience = (sending.lifetime, self.settings.patience(sending.lifetime));
        }
        let slot = Slot::new(frame.clone(), sending.bytes, now, self.patience.1);
        let label = self.label(now, slot);
        // A query leaves on a frame of its own: frames with packets stay of equal length.
        self.query |= self.needs_query();
        label
    }
}

impl<T: Clone + fmt::Debug + Send> LinkRecovery<T> for Wldr<T> {
    fn send(&mut self, now: Instant, frame: &T, sending: &Sending) -> Tag {
        let mut tag = Tag::default();
        if self.session.gives_up(now) {
            self.forget();
        }
        if self.session.offers(now) {
            tag.notice = Some(self.ask(now));
        }
        if self.session.numbers() && self.settings.numbers(sending.kind) {
            tag.label = Some(self.label_first(now, frame, sending));
        }
        tag
    }

    fn number(&mut self, now: Instant, frame: &T, sending: &Sending) -> Option<Label> {
        // A verified neighbour gets neither offers nor probes here.
        let is_plain = !self.session.may_offer() && self.settings.numbers(sending.kind);
        is_plain.then(|| self.label_first(now, frame, sending))
    }

    fn dropped(&mut self, label: Label) {
        if label.epoch == self.session.epoch() {
            let number = lengthen(label.number, LABEL_BITS, self.ring.next());
            self.ring.withdraw(number, &mut self.counters);
        }
    }

    fn numbered(&mut self, now: Instant, label: Label) -> Arrival {
        let arrival = self.on_label(now, label);
        if self.gaps.are_open() || self.alarm.is_some_and(|alarm| alarm <= now) {
            self.fire(now);
        }
        arrival
    }

    fn receive(&mut self, now: Instant, tag: &Tag, carries: bool) -> Arrival {
        match &tag.notice {
            Some(Notice::State(state)) => self.on_state(now, state),
            Some(Notice::Ewln(ewln)) => self.on_ewln(now, *ewln),
            None => {}
        }
        let arrival = match tag.label {
            Some(label) if carries => self.on_label(now, label),
            _ if carries => Arrival::Deliver,
            _ => Arrival::Control,
        };
        self.fire(now);
        arrival
    }

    fn fire(&mut self, now: Instant) {
        if self.down {
            return;
        }
        if self.gaps.are_open() {
            self.gaps.fire(now);
        }
        if self.alarm.is_some_and(|alarm| alarm <= now) {
            self.on_alarm(now);
        }
    }

    fn waits(&self) -> bool {
        let notice = !self.echoes.is_empty() || self.session.owes() || self.query;
        let lost = self.settings.mode == Mode::Eln && self.ring.waits();
        lost || !self.down
            && (notice || self.ring.waits() || self.gaps.are_open() && self.gaps.waits())
    }

    fn poll(&mut self, now: Instant) -> Option<Outgoing<T>> {
        self.fire(now);
        if self.down {
            return None;
        }
        if let Some(notice) = self.poll_notice(now) {
            self.counters.control += 1;
            let tag = Tag::notice(notice);
            return Some(match self.session.reads_control_frames() {
                true => Outgoing::Control(tag),
                false => Outgoing::Greeting(tag),
            });
        }
        if self.settings.mode == Mode::Eln {
            return None;
        }
        let slot = self.ring.pop_again(now, &mut self.counters)?;
        self.counters.resent += 1;
        let (frame, waited) = (slot.frame.clone(), now.since(slot.first));
        let label = self.label(now, Slot { resends: slot.resends + 1, ..slot });
        Some(Outgoing::Again { frame, tag: Tag { label: Some(label), ..Tag::default() }, waited })
    }

    fn poll_lost(&mut self) -> Option<T> {
        if self.settings.mode == Mode::Resend {
            return None;
        }
        let slot = self.ring.pop_again(Instant::ZERO, &mut self.counters)?;
        self.counters.given_up += 1;
        Some(slot.frame)
    }

    fn deadline(&self) -> Option<Instant> {
        if self.down {
            return None;
        }
        if !self.gaps.are_open() {
            return self.alarm;
        }
        self.alarm.into_iter().chain(self.gaps.deadline()).min()
    }

    fn ask(&mut self, _now: Instant) {
        self.query = true;
    }

    fn answers(&self) -> bool {
        self.session.answers()
    }

    fn forget_answers(&mut self) {
        self.session.forget_answers();
    }

    fn take_replaced(&mut self) -> Option<Replaced> {
        self.replaced.take()
    }

    fn link_down(&mut self, _now: Instant) {
        self.down = true;
    }

    fn link_up(&mut self, now: Instant, greets: bool) {
        self.down = false;
        self.session.mark_unverified(now);
        if greets {
            self.session.greet();
            // The neighbour is probed until it answers.
            (self.last_sent, self.unproven) = (now, true);
            self.alarm = Some(now + self.session.patience());
        }
        self.query = greets || self.is_open() && !self.settings.strict;
    }

    fn tag_bytes(&self) -> usize {
        // A retransmission has a longer label and must still fit.
        let label = if self.session.numbers() { AGAIN_TLV_BYTES } else { 0 };
        label + if self.session.may_offer() { STATE_TLV_BYTES } else { 0 }
    }

    fn share(&mut self, pool: &Arc<Pool>) {
        self.ring.share(Arc::clone(pool));
    }

    fn shed(&mut self) {
        self.ring.shed(&mut self.counters);
    }

    fn agreement(&self) -> Agreement {
        if self.is_open() { Agreement::Agreed } else { Agreement::Offered }
    }

    fn counters(&self) -> Counters {
        Counters {
            held: self.ring.held(),
            held_bytes: self.ring.held_bytes(),
            missed: self.gaps.missed(),
            ..self.counters
        }
    }
}

impl<T> fmt::Display for Wldr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::recovery::FrameKind;
    use crate::random::Rng;

    const NOW: Instant = Instant::ZERO;

    fn sending(packet: u64) -> Sending {
        let kind = FrameKind::Interest;
        Sending { kind, bytes: 1, lifetime: None, packet, alone: true, free_bytes: 0 }
    }

    fn pass(from: &mut Wldr<u64>, to: &mut Wldr<u64>, got: &mut Vec<u64>) {
        while let Some(outgoing) = from.poll(NOW) {
            let (tag, frame) = match outgoing {
                Outgoing::Again { frame, tag, .. } => (tag, Some(frame)),
                Outgoing::Control(tag) | Outgoing::Greeting(tag) => (tag, None),
            };
            if to.receive(NOW, &tag, frame.is_some()) == Arrival::Deliver {
                got.extend(frame);
            }
        }
    }

    #[test]
    fn the_wrap_of_the_numbers_loses_nothing() {
        // Once where the number in a label wraps, once where those in notices do.
        for start in [(1 << LABEL_BITS) - 50, (1 << 32) - 50] {
            let end = |seed| Wldr::<u64>::new(WldrSettings::default(), Rng::from_seed(seed).into());
            let (mut a, mut b) = (end(1), end(2));
            a.ring.set_next(start);
            let mut got = Vec::new();
            for packet in 0..100 {
                let tag = a.send(NOW, &packet, &sending(packet));
                if packet % 10 != 9 && b.receive(NOW, &tag, true) == Arrival::Deliver {
                    got.push(packet);
                }
                for _ in 0..4 {
                    pass(&mut a, &mut b, &mut got);
                    pass(&mut b, &mut a, &mut Vec::new());
                }
            }
            got.sort_unstable();
            // The last frame is lost, and no frame follows it.
            assert_eq!(got, (0..99).collect::<Vec<_>>());
            assert_eq!((a.counters.resent, b.gaps.settled()), (9, start + 98 + 10 - 1));
        }
    }

    #[test]
    fn tunnel_retransmits_one_frame_in_eight() {
        let resent = |of: fn(WldrSettings, Sessions) -> Wldr<u64>| {
            let end = |seed| of(WldrSettings::default(), Rng::from_seed(seed).into());
            let (mut a, mut b) = (end(1), end(2));
            for packet in 0..4_000 {
                let tag = a.send(NOW, &packet, &sending(packet));
                // Three of four frames are lost, as behind a queue that overflows.
                if packet % 4 == 0 {
                    b.receive(NOW, &tag, true);
                }
                for _ in 0..4 {
                    pass(&mut a, &mut b, &mut Vec::new());
                    pass(&mut b, &mut a, &mut Vec::new());
                }
            }
            a.counters.resent
        };
        assert!(resent(Wldr::new) > 2_500);
        let through_a_tunnel = resent(Wldr::through_a_tunnel);
        assert!((500..=564).contains(&through_a_tunnel), "{through_a_tunnel}");
    }
}
