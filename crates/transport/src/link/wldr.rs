//! `wldr(ring=8192,octets=16777216,alpha=0.8,lifetime=1s,hold=0s,max-hold=50ms,resends=inf,kinds=both,mode=resend)`:
//! wireless loss detection and recovery, from gaps in the numbers that frames bear.
//!
//! Source: G. Carofiglio, L. Muscariello, M. Papalini, N. Rozhnova, X. Zeng, "Leveraging ICN In-network Control for Loss
//! Detection and Recovery in Wireless Mobile networks", ACM ICN 2016, section 3.1. The sender numbers the frames as
//! they leave, Interests and Data in one sequence, and keeps the last of them. The receiver that meets a gap says so
//! (EWLN, explicit wireless loss notification). What the sender still holds, and what left first less than α times its
//! lifetime ago, it sends again with a new number, before everything else.
//!
//! Differences from the paper, each because the scheme would otherwise fail on real links (`docs/wldr.md` says more):
//! - numbers go on when the neighbour changes, and what was held for the old one is forgotten; the paper resets both;
//! - frames bear 24 bits of the number and 8 of the session, inside numbers have 64 and never wrap;
//! - a frame that is sent again bears its first number too, so that nothing is delivered twice;
//! - after the last frame the sender asks whether everything came (the loss of the last one leaves no gap);
//! - an EWLN is repeated until it was heard; one that comes late, twice, or from elsewhere changes nothing;
//! - a gap is held for `hold` before an EWLN, and on links that reorder for as long as frames were late, up to `max-hold`
//!   (`wldr/reordering.rs`); where no frame was late, nothing is held beyond `hold`;
//! - as many frames are sent again as are sent the first time, plus the size of the ring, whatever EWLNs demand;
//! - after each 128 frames it asks as well, so that what arrived is not held for long;
//! - both ends say that they speak this; who has not been heard is taken at its word only for a while.
mod gaps;
mod number;
mod pool;
mod reordering;
mod ring;
mod session;
mod settings;

pub use pool::Pool;
pub(in crate::link) use session::{AnswerBudget, draw_session};
pub use settings::{Kinds, Mode, WldrSettings};

use super::recovery::tag::{AGAIN_TLV_OCTETS, STATE_TLV_OCTETS};
use super::recovery::{
    Agreement, Arrival, Counters, Ewln, Label, LinkRecovery, Notice, Outgoing, Sending, State, Tag,
};
use crate::random::Rng;
use crate::time::Instant;
use gaps::Gaps;
use number::{LABEL_BITS, lengthen, shorten};
use reordering::Reordering;
use ring::{Ring, Slot};
use session::{Heard, Owed, Session};
use settings::MAX_RING;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// So many frames may have been lost before the first that comes, of one who has not said where its numbers begin.
const MAX_UNHEARD: u64 = 64;

/// Most confirmations of EWLNs that wait to leave.
const MAX_ECHOES: usize = 64;

/// After so many frames, or octets of frames, since either end said what it has, the other is asked: what has arrived leaves
/// the caches of the processor otherwise before it is let go.
const ASK_FRAMES: u64 = 128;
const ASK_OCTETS: u64 = 512 << 10;

/// One end of a link with WLDR.
#[derive(Debug)]
pub struct Wldr<T> {
    settings: WldrSettings,
    session: Session,
    ring: Ring<T>,
    gaps: Gaps,
    /// Last octet of the session whose numbers are in `gaps` although nobody is known.
    guess: Option<u8>,
    /// Frames and octets that left with a number since the other end said or was asked what it has.
    unasked: (u64, u64),
    /// EWLNs that were heard, to be confirmed.
    echoes: VecDeque<Ewln>,
    /// A question is to leave.
    question: bool,
    /// When the last numbered frame left.
    last_sent: Instant,
    /// Whether everything came is still to be found out.
    unproven: bool,
    /// When to see whether something is due; possibly too early.
    alarm: Option<Instant>,
    down: bool,
    counters: Counters,
}

impl<T> Wldr<T> {
    /// An end that knows of no other; its session is drawn from `rng`.
    #[must_use]
    pub fn new(settings: WldrSettings, rng: Rng) -> Self {
        Self {
            settings,
            session: Session::new(rng),
            ring: Ring::new(&settings),
            gaps: Gaps::begin(0, Reordering::new(settings.hold, settings.max_hold)),
            guess: None,
            unasked: (0, 0),
            echoes: VecDeque::new(),
            question: false,
            last_sent: Instant::ZERO,
            unproven: false,
            alarm: None,
            down: false,
            counters: Counters::default(),
        }
    }

    /// Whether the other end speaks WLDR, so that frames are numbered.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.session.peer().is_some()
    }

    /// A frame leaves that is held from here on; its label.
    fn label(&mut self, now: Instant, slot: Slot<T>) -> Label {
        let origin = slot.origin.map(|origin| shorten(origin, 32));
        self.unasked = (self.unasked.0 + 1, self.unasked.1 + u64::from(slot.octets));
        let number = self.ring.hold(now, slot, &mut self.counters);
        (self.last_sent, self.unproven) = (now, true);
        let due = now + self.session.patience();
        if self.alarm.is_none_or(|alarm| alarm > due) {
            self.alarm = Some(due);
        }
        Label { epoch: self.session.epoch(), number: shorten(number, LABEL_BITS), origin }
    }

    /// Where we stand, for an end with the session `whom`.
    fn state(&self, whom: u64, wants_answer: bool, answers: bool) -> Notice {
        let known = self.session.peer() == Some(whom);
        // Whoever comes first gets what was sent before it was known, too.
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

    /// A question, or an offer to whom it may concern.
    fn ask(&mut self, now: Instant) -> Notice {
        (self.question, self.unasked) = (false, (0, 0));
        self.session.ask(now);
        self.state(self.session.peer().unwrap_or(0), true, false)
    }

    fn on_state(&mut self, now: Instant, state: &State) {
        match self.session.hear(now, state) {
            Heard::Stranger => self.guess(state.session as u8, u64::from(state.next)),
            Heard::New { replaces, returns } => {
                // Who was only away goes on with its numbers, unless somebody else's were followed meanwhile.
                let goes_on = self.guess.take().map_or(returns, |it| it == state.session as u8);
                if goes_on {
                    self.gaps.said(now, lengthen(state.next, 32, self.gaps.expected()));
                } else {
                    self.gaps.begin_anew(u64::from(state.next));
                }
                if replaces {
                    self.forget();
                }
            }
            Heard::Neighbour => {
                self.gaps.said(now, lengthen(state.next, 32, self.gaps.expected()));
                if let Some(settled) = state.settled {
                    self.unasked = (0, 0);
                    let settled = lengthen(settled, 32, self.ring.next());
                    self.ring.settle(settled, &mut self.counters);
                    self.unproven &= settled != self.ring.next();
                }
            }
        }
    }

    /// Somebody numbers whom nobody vouches for yet: as long as there is no neighbour, its numbers are followed from `first` on.
    fn guess(&mut self, epoch: u8, first: u64) {
        if self.session.peer().is_none() && self.guess != Some(epoch) {
            self.guess = Some(epoch);
            self.gaps.begin_anew(first);
        }
    }

    fn on_ewln(&mut self, now: Instant, ewln: Ewln) {
        if self.session.may_offer() {
            // Nobody is there, or nobody knows who: a neighbour repeats it as soon as that is clear.
            self.session.wonder(now);
            self.counters.ignored += 1;
        } else if ewln.session == self.session.mine() {
            self.session.confirm(now, false);
            let near = self.ring.next();
            let from = lengthen(ewln.expected, 32, near);
            let until = lengthen(ewln.last_received, 32, near);
            self.ring.ask(now, from, until, &mut self.counters);
            if self.echoes.len() < MAX_ECHOES {
                self.echoes.push_back(ewln);
            }
        } else if Some(ewln.session) == self.session.peer() {
            let near = self.gaps.expected();
            let from = lengthen(ewln.expected, 32, near);
            self.gaps.heard(from, lengthen(ewln.last_received, 32, near));
        } else {
            self.counters.ignored += 1;
        }
    }

    fn on_label(&mut self, now: Instant, label: Label) -> Arrival {
        if !self.session.is_peers(label.epoch) {
            // Somebody numbers and is not known, so there is somebody to talk to.
            self.session.wonder(now);
            if self.session.peer().is_some() {
                return Arrival::Deliver;
            }
            // Its first frames may have been lost, and who says where numbers begin with them.
            let number = u64::from(label.number);
            self.guess(label.epoch, if number < MAX_UNHEARD { 0 } else { number });
        }
        let number = lengthen(label.number, LABEL_BITS, self.gaps.expected());
        let origin = label.origin.map(|origin| lengthen(origin, 32, number));
        let judged = self.gaps.came(now, number, origin);
        if judged.doubtful {
            self.session.wonder(now);
        }
        if judged.arrival == Arrival::Duplicate {
            self.counters.duplicates += 1;
        }
        judged.arrival
    }

    /// The neighbour for whom frames are held is gone.
    fn forget(&mut self) {
        self.ring.forget(&mut self.counters);
        self.echoes.clear();
        (self.unproven, self.unasked) = (false, (0, 0));
    }

    /// Whether it is time to ask what has arrived, because so much has left since.
    fn is_full_of_doubt(&self) -> bool {
        let (frames, octets) = self.unasked;
        (frames >= ASK_FRAMES || octets >= ASK_OCTETS)
            && self.is_open()
            && !self.session.is_asking()
    }

    /// An EWLN that is to leave.
    fn tell(&mut self, now: Instant) -> Option<Notice> {
        let session = self.session.peer()?;
        let (from, until) = self.gaps.tell(now, self.session.repeat())?;
        let (expected, last_received) = (shorten(from, 32), shorten(until, 32));
        Some(Notice::Ewln(Ewln { session, expected, last_received }))
    }

    /// What is to be told the other end, if anything.
    fn poll_notice(&mut self, now: Instant) -> Option<Notice> {
        if let Some(echo) = self.echoes.pop_front() {
            return Some(Notice::Ewln(echo));
        }
        // Who we are comes before what we lack: only a neighbour that is known may ask.
        if let Some(Owed { whom, answers }) = self.session.take_owed() {
            let wants_answer = !answers || self.session.peer() != Some(whom);
            return Some(self.state(whom, wants_answer, answers));
        }
        if let Some(notice) = self.tell(now) {
            return Some(notice);
        }
        self.question.then(|| self.ask(now))
    }

    /// Sees whether everything came, or lets go of what is too old.
    fn on_alarm(&mut self, now: Instant) {
        self.alarm = None;
        if self.session.is_silent() && self.session.despair() {
            self.forget();
        }
        if self.unproven && !self.session.is_silent() {
            let due = self.session.ask_at(self.last_sent);
            if due > now {
                self.alarm = Some(due);
            } else {
                self.question = true;
                // Should it be lost: it is asked again after twice the time.
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
    /// A frame leaves for the first time and is held from here on; its label.
    fn label_first(&mut self, now: Instant, frame: &T, sending: &Sending) -> Label {
        let patience = self.settings.patience(sending.lifetime);
        let slot = Slot::new(frame.clone(), sending.octets, now, patience);
        let label = self.label(now, slot);
        // On a frame of its own: those with packets stay as long as each other.
        self.question |= self.is_full_of_doubt();
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
        // Only a neighbour that is certain is neither offered anything nor given up.
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
        self.fire(now);
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
        let notice = !self.echoes.is_empty() || self.session.owes() || self.question;
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
            return Some(match self.session.is_spoken() {
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

    fn link_down(&mut self, _now: Instant) {
        self.down = true;
    }

    fn link_up(&mut self, now: Instant, greets: bool) {
        self.down = false;
        self.session.doubt(now);
        if greets {
            self.session.greet();
            // Whether anybody is there is to be found out, as often as it takes.
            (self.last_sent, self.unproven) = (now, true);
            self.alarm = Some(now + self.session.patience());
        }
        self.question = greets || self.is_open();
    }

    fn tag_octets(&self) -> usize {
        // Sent again, a frame bears a longer label and must fit still.
        let label = if self.session.numbers() { AGAIN_TLV_OCTETS } else { 0 };
        label + if self.session.may_offer() { STATE_TLV_OCTETS } else { 0 }
    }

    fn share(&mut self, pool: &Arc<Pool>) {
        self.ring.share(Arc::clone(pool));
    }

    fn agreement(&self) -> Agreement {
        if self.is_open() { Agreement::Agreed } else { Agreement::Offered }
    }

    fn counters(&self) -> Counters {
        Counters {
            held: self.ring.held(),
            held_octets: self.ring.held_octets(),
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

    const NOW: Instant = Instant::ZERO;

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
            let end = |seed| Wldr::<u64>::new(WldrSettings::default(), Rng::from_seed(seed));
            let (mut a, mut b) = (end(1), end(2));
            a.ring.set_next(start);
            let mut got = Vec::new();
            for packet in 0..100 {
                let sending = Sending {
                    kind: FrameKind::Interest,
                    octets: 1,
                    lifetime: None,
                    packet,
                    alone: true,
                    room_octets: 0,
                };
                let tag = a.send(NOW, &packet, &sending);
                if packet % 10 != 9 && b.receive(NOW, &tag, true) == Arrival::Deliver {
                    got.push(packet);
                }
                for _ in 0..4 {
                    pass(&mut a, &mut b, &mut got);
                    pass(&mut b, &mut a, &mut Vec::new());
                }
            }
            got.sort_unstable();
            // The very last one is lost, and nothing comes behind it.
            assert_eq!(got, (0..99).collect::<Vec<_>>());
            assert_eq!((a.counters.resent, b.gaps.settled()), (9, start + 98 + 10 - 1));
        }
    }

    #[test]
    fn a_slot_of_the_ring_is_small() {
        // What a held frame costs beside its octets; docs/wldr.md quotes it.
        assert_eq!(size_of::<Slot<[usize; 5]>>(), 40 + 40);
        assert_eq!(size_of::<Option<Slot<[usize; 5]>>>(), 40 + 40);
    }
}
