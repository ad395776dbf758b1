//! Session with the neighbour: its identity, whether it supports WLDR, and the round-trip time of the hop.
//!
//! Each end draws a session of 64 bits and announces it. Only a neighbour that repeats the local session is verified,
//! so no node that does not receive these frames can replace it. An end that [greets](Session::greet) announces its
//! session at once and assumes a neighbour until its queries stay unanswered. Other ends add the announcement to
//! frames sent anyway. In both cases frames are numbered as soon as a neighbour may read the numbers; without one,
//! this costs a few bytes.
use crate::link::recovery::State;
use crate::random::Rng;
use crate::time::{Duration, Instant};

/// Round-trip time of a hop before the first measurement.
const FIRST_RTT: Duration = Duration::from_millis(50);
/// Limits of the round-trip time for timers.
const MIN_RTT: Duration = Duration::from_micros(500);
const MAX_RTT: Duration = Duration::from_secs(1);
/// Longest time between two offers.
const MAX_OFFER_INTERVAL: Duration = Duration::from_secs(60);
/// Most unanswered probes in a row of a neighbour that was verified.
pub(super) const MAX_PROBES: u32 = 5;
/// Interval of queries on a link that is never idle.
const ASK_INTERVAL: Duration = Duration::from_secs(1);
/// Unanswered queries and idle time after which a neighbour is lost.
const MAX_UNANSWERED: u32 = 8;
const SILENCE: Duration = Duration::from_secs(10);
/// Burst of answers, and the interval of further ones.
const ANSWERS: u32 = 32;
const ANSWER_INTERVAL: Duration = Duration::from_millis(10);

/// Bits of a session below those of its node.
const OWN_BITS: u32 = 48;

/// Draws the sessions of one link: 64 random bits, never 0. All sessions of a node begin with the same 16 bits.
#[derive(Clone, Debug)]
pub struct Sessions {
    node: u16,
    rng: Rng,
}

impl Sessions {
    /// Sessions of a node with these first bits.
    #[must_use]
    pub const fn of_node(node: u16, rng: Rng) -> Self {
        Self { node, rng }
    }

    pub(in crate::link) fn draw(&mut self) -> u64 {
        let own = self.rng.next_u64() & ((1 << OWN_BITS) - 1);
        (u64::from(self.node) << OWN_BITS | own).max(1)
    }
}

impl From<Rng> for Sessions {
    /// Sessions of a node that has no other link.
    fn from(rng: Rng) -> Self {
        Self { node: (rng.clone().next_u64() >> OWN_BITS) as u16, rng }
    }
}

/// Change of the neighbour of a link, by its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Replaced {
    /// The node has another face, without the routes and the state of the former one.
    Face,
    /// Another node answers: packets in flight to the former one are lost.
    Node,
}

impl Replaced {
    /// The change from one session to another; 0 if there was none before.
    pub(in crate::link) fn between(before: u64, after: u64) -> Option<Self> {
        let is_node = (before ^ after) >> OWN_BITS != 0;
        let changes = before != 0 && before != after;
        changes.then_some(if is_node { Self::Node } else { Self::Face })
    }
}

/// Token bucket for answers to ends that have not proved that they receive them.
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
    /// Adds the tokens earned since the last call.
    fn earn(&mut self, now: Instant) {
        let earned = now.since(self.earned_at).as_nanos() / ANSWER_INTERVAL.as_nanos();
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(u32::MAX);
            self.left = self.left.saturating_add(earned).min(ANSWERS);
            self.earned_at = now;
        }
    }

    /// Takes one token, if there is any.
    pub(in crate::link) fn take(&mut self, now: Instant) -> bool {
        self.earn(now);
        let left = self.left > 0;
        self.left -= u32::from(left);
        left
    }
}

/// An end to which the local state is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owed {
    /// Its session.
    pub(super) whom: u64,
    /// The state answers a query.
    pub(super) answers: bool,
}

/// Effect of a state received from the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateEffect {
    /// None: the sender does not know the local session.
    Stranger,
    /// The state is that of the neighbour.
    Neighbour,
    /// A new neighbour was verified.
    New {
        /// Session of the neighbour that it replaces; 0 if there was none.
        before: u64,
        /// The neighbour is the one that was lost last.
        returns: bool,
    },
}

/// State of the neighbour.
#[derive(Debug, Default)]
pub(super) struct Session {
    mine: u64,
    peer: Option<u64>,
    /// Session of the neighbour that was lost last.
    gone: Option<u64>,
    /// No neighbour is verified, but frames are numbered.
    assumes: bool,
    /// The neighbour has sent fields of WLDR.
    reads_control_frames: bool,
    /// The neighbour may have changed, or may be gone.
    unsure: bool,
    /// The neighbour has repeated the local session since its answers were last forgotten.
    answers: bool,
    /// Queries since the last answer.
    unanswered: u32,
    /// Time of the last query.
    asked_last: Instant,
    last_received: Instant,
    /// Time at which a frame may carry the next offer.
    offer_at: Instant,
    owed: Option<Owed>,
    budget: AnswerBudget,
    /// Time of the only open query; `None` if there is none, or several.
    asked: Option<Instant>,
    rtt: Option<Duration>,
    /// Derived from `rtt` and `unanswered`; needed for each frame.
    patience: Duration,
}

/// Twice the round-trip time, doubled for each unanswered query.
fn patience(rtt: Option<Duration>, unanswered: u32) -> Duration {
    let rtt = rtt.unwrap_or(FIRST_RTT).clamp(MIN_RTT, MAX_RTT);
    rtt.saturating_mul(2 << unanswered.min(MAX_PROBES))
}

impl Session {
    pub(super) fn new(mut sessions: Sessions) -> Self {
        Self { mine: sessions.draw(), patience: patience(None, 0), ..Self::default() }
    }

    pub(super) fn mine(&self) -> u64 {
        self.mine
    }

    pub(super) fn peer(&self) -> Option<u64> {
        self.peer
    }

    /// Whether frames are numbered: there is a neighbour, or there may be one.
    pub(super) fn numbers(&self) -> bool {
        self.peer.is_some() || self.assumes
    }

    /// Whether the neighbour is known to read frames without packets.
    pub(super) fn reads_control_frames(&self) -> bool {
        self.reads_control_frames
    }

    /// Assumes a neighbour until its queries stay unanswered.
    pub(super) fn greet(&mut self) {
        self.assumes |= self.peer.is_none();
    }

    /// Stops numbering frames: no neighbour has answered. Returns whether that changes anything.
    pub(super) fn declare_peer_lost(&mut self) -> bool {
        self.peer.is_none() && std::mem::take(&mut self.assumes)
    }

    /// Session byte of local labels.
    pub(super) fn epoch(&self) -> u8 {
        self.mine as u8
    }

    /// Whether a label with this byte is the neighbour's.
    pub(super) fn is_peers(&self, epoch: u8) -> bool {
        self.peer.is_some_and(|peer| peer as u8 == epoch)
    }

    /// Whether a query is open.
    pub(super) fn is_asking(&self) -> bool {
        self.unanswered > 0
    }

    /// Whether the neighbour has repeated the local session since its answers were last forgotten.
    pub(super) fn answers(&self) -> bool {
        self.answers
    }

    /// The neighbour may be another one, without WLDR.
    pub(super) fn forget_answers(&mut self) {
        self.answers = false;
    }

    /// Whether the number of unanswered queries has reached its limit.
    pub(super) fn is_silent(&self) -> bool {
        self.unanswered >= MAX_PROBES
    }

    /// Twice the round-trip time of the hop, doubled for each unanswered query.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    fn set_unanswered(&mut self, questions: u32) {
        self.unanswered = questions;
        self.patience = patience(self.rtt, questions);
    }

    /// Time of the next query for the frames sent until `last_sent`: when the link has been idle for twice its
    /// round-trip time, and once a second on a link that is never idle.
    pub(super) fn ask_at(&self, last_sent: Instant) -> Instant {
        let busy = self.asked_last.max(self.last_received) + ASK_INTERVAL.max(self.patience());
        (last_sent + self.patience()).min(busy)
    }

    /// Time before the first repetition of a report.
    pub(super) fn repeat(&self) -> Duration {
        self.rtt.unwrap_or(FIRST_RTT).clamp(MIN_RTT, MAX_RTT).saturating_mul(2)
    }

    /// Whether the next frame is to carry an offer.
    pub(super) fn offers(&mut self, now: Instant) -> bool {
        if !self.may_offer() || now < self.offer_at {
            return false;
        }
        self.wait_to_offer(now);
        true
    }

    /// Postpones the next offer, with exponential backoff.
    fn wait_to_offer(&mut self, now: Instant) {
        let interval = FIRST_RTT.saturating_mul(2 << self.unanswered.min(10));
        self.offer_at = now + interval.min(MAX_OFFER_INTERVAL);
    }

    /// Whether frames may carry offers.
    pub(super) fn may_offer(&self) -> bool {
        self.peer.is_none() || self.unsure
    }

    /// Records a query.
    pub(super) fn ask(&mut self, now: Instant) {
        self.wait_to_offer(now);
        self.asked = (self.unanswered == 0).then_some(now);
        self.asked_last = now;
        self.set_unanswered(self.unanswered.saturating_add(1));
        self.unsure |= self.is_silent();
    }

    /// Whether the neighbour is lost after enough unanswered queries; if so, it is forgotten.
    pub(super) fn gives_up(&mut self, now: Instant) -> bool {
        let gone = self.unsure
            && self.peer.is_some()
            && self.unanswered >= MAX_UNANSWERED
            && now.since(self.last_received) >= SILENCE;
        if gone {
            (self.gone, self.reads_control_frames) = (self.peer.take(), false);
            self.forget_answers();
        }
        gone
    }

    /// The link was down: the neighbour may have changed.
    pub(super) fn mark_unverified(&mut self, now: Instant) {
        self.unsure = true;
        self.forget_answers();
        self.set_unanswered(0);
        self.asked = None;
        self.offer_at = now;
    }

    /// The end to which the local state is to be sent, once.
    pub(super) fn take_owed(&mut self) -> Option<Owed> {
        self.owed.take()
    }

    /// Whether the local state is to be sent.
    pub(super) fn owes(&self) -> bool {
        self.owed.is_some()
    }

    /// Handles a received state.
    pub(super) fn on_state(&mut self, now: Instant, state: &State) -> StateEffect {
        let knows_us = state.neighbour == self.mine;
        self.on_wldr_fields();
        let owed = Owed { whom: state.session, answers: true };
        if state.wants_answer && knows_us && self.peer == Some(state.session) {
            // The budget limits answers to unverified ends only.
            self.owed = Some(owed);
        } else if state.wants_answer || !knows_us {
            self.owe(now, owed);
        }
        if !knows_us || state.session == self.mine {
            return StateEffect::Stranger;
        }
        self.confirm(now, state.answers);
        if self.peer == Some(state.session) {
            return StateEffect::Neighbour;
        }
        let before = self.peer.replace(state.session).unwrap_or_default();
        let returns = self.gone.take() == Some(state.session);
        self.assumes = false;
        StateEffect::New { before, returns }
    }

    /// Probes for a neighbour: an unverified end has sent fields of WLDR.
    pub(super) fn probe(&mut self, now: Instant) {
        self.on_wldr_fields();
        let whom = self.peer.unwrap_or(0);
        self.owe(now, Owed { whom, answers: false });
    }

    /// Records that the other end reads numbers, verified or not.
    fn on_wldr_fields(&mut self) {
        self.reads_control_frames = true;
        self.assumes |= self.peer.is_none();
    }

    /// Queues the local state, within the budget.
    fn owe(&mut self, now: Instant, owed: Owed) {
        self.budget.earn(now);
        if self.owed.is_none() && self.budget.take(now) {
            self.owed = Some(owed);
        }
    }

    /// Records that the neighbour has repeated the local session.
    pub(super) fn confirm(&mut self, now: Instant, answers: bool) {
        if answers && let Some(asked) = self.asked.take() {
            let sample = now.since(asked);
            let smooth = |rtt: Duration| (rtt.saturating_mul(7) + sample) / 8;
            self.rtt = Some(self.rtt.map_or(sample, smooth));
        }
        (self.unsure, self.answers, self.last_received) = (false, true, now);
        self.set_unanswered(0);
    }
}
