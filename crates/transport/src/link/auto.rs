//! `auto(…)`: WLDR if the neighbour supports it, plain frames otherwise.
//!
//! The end that opened the face offers recovery once it can pay (`auto/path.rs`): the path is long, or it loses
//! packets. The offer is the state of that end on an Interest sent anyway, at most `MAX_OFFERS` times, at growing
//! intervals. After the first offer a frame must have arrived since the last. A peer that drops the Interest with the
//! offer receives the retransmission without. The other end offers nothing and answers each offer with its own state
//! and the session of the offer. A state that repeats the local session proves that the neighbour receives frames
//! from here; then [`Wldr`] begins.
//!
//! | before the agreement | |
//! |---|---|
//! | frames | plain, as without recovery; numbers are ignored |
//! | state | a session and a few counters; no ring, no gaps, no timer |
//! | extra frames | one answer per offer, no longer than it; 32 in a row and 100 a second |
//!
//! Source: the handshake of [`Wldr`] (`docs/wire.md`), with two differences: nothing is numbered before the neighbour
//! has answered, and the number of offers is limited. Offers begin anew when the face comes up, when the neighbour is
//! lost, and when no frame arrived for `SILENCE` although Interests were sent. The neighbour may have restarted, or
//! may have been replaced by one with recovery.
//!
//! A question ([`LinkRecovery::ask`]) is a state without an offer: the neighbour answers it, and nothing is agreed.
mod path;

use super::pool::Pool;
use super::recovery::tag::STATE_TLV_BYTES;
use super::recovery::{
    Agreement, Arrival, Counters, FrameKind, Label, LinkRecovery, Notice, Outgoing, Replaced,
    Sending, Sessions, State, Tag,
};
use super::wldr::{AnswerBudget, Wldr, WldrSettings};
use crate::time::{Duration, Instant};
use path::Path;
use std::fmt;
use std::sync::Arc;

/// Most offers in a row. If one frame in three is lost in each direction, one link in two hundred stays plain.
const MAX_OFFERS: u32 = 8;
/// Time from the first offer to the second; it doubles with each further offer.
const OFFER_INTERVAL: Duration = Duration::from_millis(100);
/// Time without an answer to Interests after which the neighbour may be another one.
const SILENCE: Duration = Duration::from_secs(10);

/// One end of a link that has WLDR if the other end has it.
#[derive(Debug)]
pub struct Auto<T> {
    settings: WldrSettings,
    /// Each agreement has a session of its own, so that numbers of different sessions are not confused.
    sessions: Sessions,
    session: u64,
    /// This end opened the face.
    opened: bool,
    /// Whether recovery can pay.
    path: Path,
    /// Offers since they began.
    offers: u32,
    /// When the next offer may leave.
    offer_at: Instant,
    /// A frame arrived since the last offer.
    has_received: bool,
    /// Time of the first Interest since the last arrival.
    waits_since: Option<Instant>,
    budget: AnswerBudget,
    /// Session of an offer to be answered.
    owed: Option<u64>,
    /// Session that was answered last.
    answered_to: Option<u64>,
    /// A question to the neighbour is due.
    asks: bool,
    /// The neighbour has answered a question or an offer, since these were last forgotten.
    answered: bool,
    /// Session of the neighbour that has answered last; 0 before the first answer.
    neighbour: u64,
    /// Another neighbour has answered, which is not yet reported.
    replaced: Option<Replaced>,
    agreed: Option<Box<Wldr<T>>>,
    /// Memory shared with other links.
    pool: Option<Arc<Pool>>,
    /// Counters before the current agreement.
    past: Counters,
}

impl<T> Auto<T> {
    /// An end without a neighbour.
    #[must_use]
    pub fn new(settings: WldrSettings, sessions: Sessions) -> Self {
        let session = sessions.clone().draw();
        Self {
            settings,
            sessions,
            session,
            opened: false,
            path: Path::default(),
            offers: 0,
            offer_at: Instant::ZERO,
            has_received: true,
            waits_since: None,
            budget: AnswerBudget::default(),
            owed: None,
            answered_to: None,
            asks: false,
            answered: false,
            neighbour: 0,
            replaced: None,
            agreed: None,
            pool: None,
            past: Counters::default(),
        }
    }

    /// Offers begin anew: the neighbour may be another one.
    fn begin(&mut self, now: Instant) {
        (self.offers, self.offer_at, self.waits_since, self.has_received) = (0, now, None, true);
        self.answered = false;
    }

    /// Whether an Interest may carry an offer.
    fn may_offer(&self, now: Instant) -> bool {
        self.opened
            && self.has_received
            && self.offers < MAX_OFFERS
            && self.path.pays()
            && now >= self.offer_at
    }

    /// The tag of an offer.
    fn offer(&mut self, now: Instant) -> Tag {
        self.offer_at = now + OFFER_INTERVAL.saturating_mul(1 << self.offers);
        self.offers += 1;
        self.has_received = false;
        Tag::notice(self.state(0, false))
    }

    fn state(&self, neighbour: u64, answers: bool) -> Notice {
        Notice::State(State {
            wants_answer: true,
            answers,
            session: self.session,
            neighbour,
            next: 0,
            settled: None,
        })
    }

    /// Handles an Interest sent before the agreement.
    fn on_plain_interest(&mut self, now: Instant) {
        if self.opened {
            self.waits_since.get_or_insert(now);
            self.path.on_interest(now);
        }
    }

    /// Handles a frame received before the agreement.
    fn on_plain_frame(&mut self, now: Instant) {
        self.has_received = true;
        self.path.on_frame(now);
        let waited = self.waits_since.take().map(|since| now.since(since));
        if waited.is_some_and(|waited| waited >= SILENCE) {
            self.begin(now);
        }
    }

    /// Handles the neighbour's state before the agreement. True if it repeats the local session.
    fn is_agreed_by(&mut self, now: Instant, state: &State) -> bool {
        if state.session == self.session {
            // A frame from here, reflected.
            return false;
        }
        let agrees = state.neighbour == self.session;
        if !agrees && self.owed.is_none() && self.budget.take(now) {
            self.owed = Some(state.session);
        }
        agrees
    }
}

impl<T: Clone + fmt::Debug + Send> Auto<T> {
    fn agree(&mut self) {
        let mut wldr = Box::new(Wldr::through_a_tunnel(self.settings, self.sessions.clone()));
        if let Some(pool) = &self.pool {
            wldr.share(pool);
        }
        (self.owed, self.agreed) = (None, Some(wldr));
    }

    /// Returns to plain frames: the neighbour was lost.
    fn on_neighbour_lost(&mut self, now: Instant) {
        if let Some(wldr) = self.agreed.take() {
            let all = wldr.counters();
            let given_up = all.given_up + all.held;
            self.past += Counters { given_up, held: 0, held_bytes: 0, ..all };
        }
        // The neighbour may remember numbers of the old session.
        self.sessions.draw();
        self.session = self.sessions.clone().draw();
        self.answered_to = None;
        self.begin(now);
    }
}

impl<T: Clone + fmt::Debug + Send> LinkRecovery<T> for Auto<T> {
    fn leaves_plain(&mut self, now: Instant, kind: FrameKind) -> bool {
        if self.agreed.is_some() {
            return false;
        }
        if kind != FrameKind::Interest {
            return true;
        }
        let plain = !self.may_offer(now);
        if plain {
            self.on_plain_interest(now);
        }
        plain
    }

    fn retransmits(&mut self) {
        self.path.on_retransmission();
    }

    fn send(&mut self, now: Instant, frame: &T, sending: &Sending) -> Tag {
        if let Some(wldr) = &mut self.agreed {
            let tag = wldr.send(now, frame, sending);
            if wldr.is_open() {
                return tag;
            }
            self.on_neighbour_lost(now);
        }
        let fits = sending.free_bytes >= STATE_TLV_BYTES;
        if sending.kind != FrameKind::Interest {
            return Tag::default();
        }
        let tag = if fits && self.may_offer(now) { self.offer(now) } else { Tag::default() };
        self.on_plain_interest(now);
        tag
    }

    fn number(&mut self, now: Instant, frame: &T, sending: &Sending) -> Option<Label> {
        self.agreed.as_mut()?.number(now, frame, sending)
    }

    fn numbered(&mut self, now: Instant, label: Label) -> Arrival {
        if let Some(wldr) = &mut self.agreed {
            return wldr.numbered(now, label);
        }
        self.on_plain_frame(now);
        Arrival::Deliver
    }

    fn receive(&mut self, now: Instant, tag: &Tag, carries: bool) -> Arrival {
        if self.agreed.is_none() {
            self.on_plain_frame(now);
            if let Some(Notice::State(state)) = &tag.notice
                && self.is_agreed_by(now, state)
            {
                self.answered = true;
                let before = std::mem::replace(&mut self.neighbour, state.session);
                self.replaced = self.replaced.max(Replaced::between(before, state.session));
                // The answer to a mere question begins no recovery: it would not pay here.
                if self.offers > 0 || self.answered_to == Some(state.session) {
                    self.agree();
                }
            }
        }
        match &mut self.agreed {
            Some(wldr) => {
                let arrival = wldr.receive(now, tag, carries);
                self.neighbour = wldr.peer().unwrap_or(self.neighbour);
                arrival
            }
            None if carries => Arrival::Deliver,
            None => Arrival::Control,
        }
    }

    fn fire(&mut self, now: Instant) {
        if let Some(wldr) = &mut self.agreed {
            wldr.fire(now);
        }
    }

    fn waits(&self) -> bool {
        self.agreed.as_ref().map_or(self.asks || self.owed.is_some(), |wldr| wldr.waits())
    }

    fn poll(&mut self, now: Instant) -> Option<Outgoing<T>> {
        if let Some(wldr) = &mut self.agreed {
            return wldr.poll(now);
        }
        if let Some(whom) = self.owed.take() {
            self.answered_to = Some(whom);
            self.past.control += 1;
            return Some(Outgoing::Control(Tag::notice(self.state(whom, true))));
        }
        // A neighbour without recovery may not read frames without packets.
        std::mem::take(&mut self.asks).then(|| {
            self.past.control += 1;
            Outgoing::Greeting(Tag::notice(self.state(0, false)))
        })
    }

    fn dropped(&mut self, label: Label) {
        if let Some(wldr) = &mut self.agreed {
            wldr.dropped(label);
        }
    }

    fn poll_lost(&mut self) -> Option<T> {
        self.agreed.as_mut()?.poll_lost()
    }

    fn deadline(&self) -> Option<Instant> {
        self.agreed.as_ref()?.deadline()
    }

    fn ask(&mut self, now: Instant) {
        match &mut self.agreed {
            Some(wldr) => wldr.ask(now),
            None => self.asks = true,
        }
    }

    fn answers(&self) -> bool {
        self.agreed.as_ref().map_or(self.answered, |wldr| wldr.answers())
    }

    fn forget_answers(&mut self) {
        self.answered = false;
        if let Some(wldr) = &mut self.agreed {
            wldr.forget_answers();
        }
    }

    fn take_replaced(&mut self) -> Option<Replaced> {
        let agreed = self.agreed.as_mut().and_then(|wldr| wldr.take_replaced());
        self.replaced.take().max(agreed)
    }

    fn link_down(&mut self, now: Instant) {
        (self.owed, self.asks) = (None, false);
        if let Some(wldr) = &mut self.agreed {
            wldr.link_down(now);
        }
    }

    fn link_up(&mut self, now: Instant, greets: bool) {
        self.opened = greets;
        self.path = Path::default();
        self.begin(now);
        if let Some(wldr) = &mut self.agreed {
            wldr.link_up(now, greets);
        }
    }

    fn tag_bytes(&self) -> usize {
        self.agreed.as_ref().map_or(0, |wldr| wldr.tag_bytes())
    }

    fn share(&mut self, pool: &Arc<Pool>) {
        self.pool = Some(Arc::clone(pool));
        if let Some(wldr) = &mut self.agreed {
            wldr.share(pool);
        }
    }

    fn shed(&mut self) {
        if let Some(wldr) = &mut self.agreed {
            wldr.shed();
        }
    }

    fn agreement(&self) -> Agreement {
        match &self.agreed {
            Some(_) => Agreement::Agreed,
            None if (1..MAX_OFFERS).contains(&self.offers) => Agreement::Offered,
            None => Agreement::Off,
        }
    }

    fn counters(&self) -> Counters {
        let mut all = self.past;
        if let Some(wldr) = &self.agreed {
            all += wldr.counters();
        }
        all
    }
}

impl<T> fmt::Display for Auto<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::spec::describe::print(f, "auto", &self.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_without_agreement_is_small() {
        // Memory of an unverified peer beside its face.
        assert!(size_of::<Auto<[usize; 5]>>() <= 512, "{}", size_of::<Auto<[usize; 5]>>());
    }
}
