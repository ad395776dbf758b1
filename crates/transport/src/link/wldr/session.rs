//! Who stands at the other end, whether it speaks WLDR, and how far away it is.
//!
//! Each end draws a session of 64 bits and says it. Only who says ours back is believed: nobody can take a neighbour's
//! place who does not hear us. Who [greets](Session::greet) says it at once and assumes that somebody is there until it has
//! asked in vain for a while; who does not says it on frames that leave anyway. In both cases what leaves is numbered as soon as
//! there is reason to believe in a neighbour that reads numbers: nothing but a few octets is lost if there is none.
use crate::link::recovery::State;
use crate::random::Rng;
use crate::time::{Duration, Instant};

/// Assumed round trip of a hop before one was measured.
const FIRST_RTT: Duration = Duration::from_millis(50);
/// Shortest and longest round trip that timers assume.
const RTT_BOUNDS: (Duration, Duration) = (Duration::from_micros(500), Duration::from_secs(1));
/// Longest time between two offers.
const MAX_OFFER_INTERVAL: Duration = Duration::from_secs(60);
/// How often a neighbour that was there is asked in a row without an answer.
pub(super) const MAX_PROBES: u32 = 5;
/// A neighbour is asked so often even if the link is never idle.
const ASK_INTERVAL: Duration = Duration::from_secs(1);
/// A neighbour that does not answer is taken for gone after so many questions and so long a time.
const MAX_UNANSWERED: u32 = 8;
const SILENCE: Duration = Duration::from_secs(10);
/// Answers that may leave in a row, and how long it takes until one more may.
const ANSWERS: u32 = 32;
const ANSWER_INTERVAL: Duration = Duration::from_millis(10);

/// A session: 64 random bits, never 0.
pub(in crate::link) fn draw_session(rng: &mut Rng) -> u64 {
    rng.next_u64().max(1)
}

/// Limits answers to ends that have not proved that they receive them.
#[derive(Clone, Copy, Debug)]
pub(in crate::link) struct AnswerBudget {
    left: u32,
    earned_at: Instant,
}

impl Default for AnswerBudget {
    fn default() -> Self {
        Self { left: ANSWERS, earned_at: Instant::ZERO }
    }
}

impl AnswerBudget {
    /// What was earned since the last time comes on top.
    fn earn(&mut self, now: Instant) {
        let earned = now.since(self.earned_at).as_nanos() / ANSWER_INTERVAL.as_nanos();
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(u32::MAX);
            self.left = self.left.saturating_add(earned).min(ANSWERS);
            self.earned_at = now;
        }
    }

    /// Takes one answer out, if one is left.
    pub(in crate::link) fn take(&mut self, now: Instant) -> bool {
        self.earn(now);
        let left = self.left > 0;
        self.left -= u32::from(left);
        left
    }
}

/// Somebody who is to be told where we stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owed {
    /// Its session.
    pub(super) whom: u64,
    /// It asked.
    pub(super) answers: bool,
}

/// What a state from the other end changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It comes from an end that does not know us; nothing.
    Stranger,
    /// The neighbour says where it stands.
    Neighbour,
    /// There is a neighbour that was not known before.
    New {
        /// There was another one before.
        replaces: bool,
        /// It is the one that was taken for gone last.
        returns: bool,
    },
}

/// What is known of the other end.
#[derive(Debug)]
pub(super) struct Session {
    mine: u64,
    peer: Option<u64>,
    /// The last one that was taken for gone.
    gone: Option<u64>,
    /// Nobody is known, and what leaves is numbered all the same.
    assumes: bool,
    /// Somebody there has said what only an end with WLDR says.
    is_spoken: bool,
    /// The neighbour may have become another one, or be gone.
    unsure: bool,
    /// Questions since the last answer.
    unanswered: u32,
    /// When it was asked last.
    asked_last: Instant,
    heard: Instant,
    /// When a frame may carry the next offer.
    offer_at: Instant,
    owed: Option<Owed>,
    budget: AnswerBudget,
    /// When the only open question was asked; `None` if there is none, or several.
    asked: Option<Instant>,
    rtt: Option<Duration>,
    /// Follows from `rtt` and `unanswered`; wanted for each frame.
    patience: Duration,
}

/// Twice a round trip, and twice that with every question that found no answer.
fn patience(rtt: Option<Duration>, unanswered: u32) -> Duration {
    let (least, most) = RTT_BOUNDS;
    let rtt = rtt.unwrap_or(FIRST_RTT).clamp(least, most);
    rtt.saturating_mul(2 << unanswered.min(MAX_PROBES))
}

impl Session {
    pub(super) fn new(mut rng: Rng) -> Self {
        Self {
            mine: draw_session(&mut rng),
            peer: None,
            gone: None,
            assumes: false,
            is_spoken: false,
            unsure: false,
            unanswered: 0,
            asked_last: Instant::ZERO,
            heard: Instant::ZERO,
            offer_at: Instant::ZERO,
            owed: None,
            budget: AnswerBudget::default(),
            asked: None,
            rtt: None,
            patience: patience(None, 0),
        }
    }

    pub(super) fn mine(&self) -> u64 {
        self.mine
    }

    pub(super) fn peer(&self) -> Option<u64> {
        self.peer
    }

    /// Whether what leaves is numbered: there is a neighbour, or there may be one.
    pub(super) fn numbers(&self) -> bool {
        self.peer.is_some() || self.assumes
    }

    /// Whether the other end is known to read frames without packets.
    pub(super) fn is_spoken(&self) -> bool {
        self.is_spoken
    }

    /// Takes for granted that somebody is there, until it does not answer.
    pub(super) fn greet(&mut self) {
        self.assumes |= self.peer.is_none();
    }

    /// Nobody has answered: what leaves is numbered no more. Whether that changes anything.
    pub(super) fn despair(&mut self) -> bool {
        self.peer.is_none() && std::mem::take(&mut self.assumes)
    }

    /// The octet on our labels.
    pub(super) fn epoch(&self) -> u8 {
        self.mine as u8
    }

    /// Whether a label with this octet is the neighbour's.
    pub(super) fn is_peers(&self, epoch: u8) -> bool {
        self.peer.is_some_and(|peer| peer as u8 == epoch)
    }

    /// Whether a question is open.
    pub(super) fn is_asking(&self) -> bool {
        self.unanswered > 0
    }

    /// Whether the other end was asked as often as is permitted.
    pub(super) fn is_silent(&self) -> bool {
        self.unanswered >= MAX_PROBES
    }

    /// Twice the round trip of the hop, and twice that with every question that found no answer.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    fn set_unanswered(&mut self, questions: u32) {
        self.unanswered = questions;
        self.patience = patience(self.rtt, questions);
    }

    /// When the neighbour is asked whether everything came that left until `last_sent`: when the link has been idle for
    /// twice its round trip, and once a second on a link that never is.
    pub(super) fn ask_at(&self, last_sent: Instant) -> Instant {
        let busy = self.asked_last.max(self.heard) + ASK_INTERVAL.max(self.patience());
        (last_sent + self.patience()).min(busy)
    }

    /// The time after which word of a gap is repeated first.
    pub(super) fn repeat(&self) -> Duration {
        let (least, most) = RTT_BOUNDS;
        self.rtt.unwrap_or(FIRST_RTT).clamp(least, most).saturating_mul(2)
    }

    /// Whether the frame that leaves is to carry an offer.
    pub(super) fn offers(&mut self, now: Instant) -> bool {
        if !self.may_offer() || now < self.offer_at {
            return false;
        }
        self.wait_to_offer(now);
        true
    }

    /// The next offer waits for a while, ever longer.
    fn wait_to_offer(&mut self, now: Instant) {
        let interval = FIRST_RTT.saturating_mul(2 << self.unanswered.min(10));
        self.offer_at = now + interval.min(MAX_OFFER_INTERVAL);
    }

    /// Whether frames may carry offers.
    pub(super) fn may_offer(&self) -> bool {
        self.peer.is_none() || self.unsure
    }

    /// A question leaves.
    pub(super) fn ask(&mut self, now: Instant) {
        self.wait_to_offer(now);
        self.asked = (self.unanswered == 0).then_some(now);
        self.asked_last = now;
        self.set_unanswered(self.unanswered.saturating_add(1));
        self.unsure |= self.is_silent();
    }

    /// Whether the neighbour was asked in vain so often and long that it is gone; it is forgotten then.
    pub(super) fn gives_up(&mut self, now: Instant) -> bool {
        let gone = self.unsure
            && self.peer.is_some()
            && self.unanswered >= MAX_UNANSWERED
            && now.since(self.heard) >= SILENCE;
        if gone {
            (self.gone, self.is_spoken) = (self.peer.take(), false);
        }
        gone
    }

    /// The link was down: the neighbour may be another one.
    pub(super) fn doubt(&mut self, now: Instant) {
        self.unsure = true;
        self.set_unanswered(0);
        self.asked = None;
        self.offer_at = now;
    }

    /// Who is to be told where we stand, once.
    pub(super) fn take_owed(&mut self) -> Option<Owed> {
        self.owed.take()
    }

    /// Whether somebody is to be told where we stand.
    pub(super) fn owes(&self) -> bool {
        self.owed.is_some()
    }

    /// An end says where it stands.
    pub(super) fn hear(&mut self, now: Instant, state: &State) -> Heard {
        let knows_us = state.neighbour == self.mine;
        self.note_speech();
        let owed = Owed { whom: state.session, answers: true };
        if state.wants_answer && knows_us && self.peer == Some(state.session) {
            // The neighbour may ask as often as it likes; only strangers have to wait.
            self.owed = Some(owed);
        } else if state.wants_answer || !knows_us {
            self.owe(now, owed);
        }
        if !knows_us || state.session == self.mine {
            return Heard::Stranger;
        }
        self.confirm(now, state.answers);
        if self.peer == Some(state.session) {
            return Heard::Neighbour;
        }
        let replaces = self.peer.replace(state.session).is_some();
        let returns = self.gone.take() == Some(state.session);
        self.assumes = false;
        Heard::New { replaces, returns }
    }

    /// Somebody sends what only a neighbour sends, and the numbers are not those of ours: is it there?
    pub(super) fn wonder(&mut self, now: Instant) {
        self.note_speech();
        let whom = self.peer.unwrap_or(0);
        self.owe(now, Owed { whom, answers: false });
    }

    /// Whether or not it is who it says: it reads numbers.
    fn note_speech(&mut self) {
        self.is_spoken = true;
        self.assumes |= self.peer.is_none();
    }

    /// Somebody is to be told where we stand, unless that was asked for too often.
    fn owe(&mut self, now: Instant, owed: Owed) {
        self.budget.earn(now);
        if self.owed.is_none() && self.budget.take(now) {
            self.owed = Some(owed);
        }
    }

    /// The neighbour knows us, and so is there.
    pub(super) fn confirm(&mut self, now: Instant, answers: bool) {
        if answers && let Some(asked) = self.asked.take() {
            let sample = now.since(asked);
            let smooth = |rtt: Duration| (rtt.saturating_mul(7) + sample) / 8;
            self.rtt = Some(self.rtt.map_or(sample, smooth));
        }
        (self.unsure, self.heard) = (false, now);
        self.set_unanswered(0);
    }
}
