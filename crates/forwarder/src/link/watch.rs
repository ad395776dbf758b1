//! Detection of a neighbour that is gone, although nothing reports it.
//!
//! A UDP face has no connection that breaks. While an Interest waits and no frame arrives, the end asks its neighbour
//! for its state ([`LinkRecovery::ask`](recoup_transport::link::LinkRecovery::ask)). A neighbour with recovery answers at
//! once, whether it has the Data or not. The neighbour is silent if `QUESTIONS` in a row stay unanswered, and if it
//! has answered before: forwarders without recovery never do. Any frame from it ends the silence.
//!
//! A producer sends few Interests. Toward its forwarder, Data and keep-alives count as Interests. So a producer that
//! has moved finds the next forwarder when no further Interest follows its Data.
//!
//! | neighbour | asked |
//! |---|---|
//! | has not answered yet | `LESSONS` times, after Interests |
//! | has answered | once per pause, while an Interest waits |
//! | silent | after twice the time before, at most `MAX_PAUSE` |
//!
//! A neighbour that was silent may be another one at the same address, with a longer path or without recovery. It
//! counts as one that has not answered yet, and the pauses are the longest until its round-trip time is measured. So a
//! neighbour without recovery is silent at most once. A hop of a longer round trip than four of the longest pauses, one
//! second, is silent again and again.
//!
//! Source: own design, after BFD's asynchronous mode (RFC 5880) and the dead-peer detection of IKEv2 (RFC 7296).
//! An idle link with a neighbour that is not silent stays idle.
use recoup_transport::time::{Duration, Instant};

/// Time between two questions before the first answer was measured.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Limits of this time: four round trips of the hop.
const MIN_HOP_PAUSE: Duration = Duration::from_millis(25);
const MAX_HOP_PAUSE: Duration = Duration::from_millis(250);
/// Unanswered questions after which a neighbour is silent.
const QUESTIONS: u32 = 4;
/// Questions to a neighbour that has answered none so far.
const LESSONS: u32 = 3;
/// Longest time between two questions to a silent neighbour.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// Doublings of the longest pause until it exceeds `MAX_PAUSE`.
const MAX_DOUBLINGS: u32 = 7;

/// State of one neighbour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// Time of the first Interest since the last arrival.
    waits_since: Option<Instant>,
    /// Time of the only open question.
    asked_at: Option<Instant>,
    /// Questions since the last arrival.
    asked: u32,
    /// Questions before the first answer.
    lessons: u32,
    rtt: Option<Duration>,
    check_at: Option<Instant>,
    silent: bool,
    /// The neighbour has been silent: the first pauses were too short, or it is another one.
    was_silent: bool,
}

impl Watch {
    fn pause(&self) -> Duration {
        let first = if self.was_silent { MAX_HOP_PAUSE } else { FIRST_PAUSE };
        let pause = self.rtt.map_or(first, |rtt| rtt.saturating_mul(4));
        pause.clamp(MIN_HOP_PAUSE, MAX_HOP_PAUSE)
    }

    /// Whether the neighbour has left all questions unanswered.
    pub(super) fn is_silent(&self) -> bool {
        self.silent
    }

    /// Time of the next call of [`fire`](Self::fire).
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.check_at
    }

    /// Records an Interest that was sent. `answers` if the neighbour is known to answer questions.
    pub(super) fn on_interest(&mut self, now: Instant, answers: bool) {
        self.waits_since.get_or_insert(now);
        if self.check_at.is_none() && (answers || self.lessons < LESSONS) {
            self.check_at = Some(now + self.pause());
        }
    }

    /// Another neighbour has answered: its path may be longer.
    pub(super) fn on_replaced(&mut self) {
        self.rtt = None;
    }

    /// Records a frame from the neighbour; a frame without packet may be an answer.
    pub(super) fn on_frame(&mut self, now: Instant, has_packet: bool) {
        let asked_at = self.asked_at.take().filter(|_| !has_packet);
        if let Some(sample) = asked_at.map(|asked_at| now.since(asked_at)) {
            self.rtt = Some(self.rtt.map_or(sample, |rtt| (rtt.saturating_mul(7) + sample) / 8));
        }
        (self.waits_since, self.asked) = (None, 0);
        if std::mem::take(&mut self.silent) {
            // The next Interest sets the timer.
            self.check_at = None;
        }
    }

    /// Handles the expired timer; returns whether the neighbour is to be asked.
    pub(super) fn fire(&mut self, now: Instant, answers: bool) -> bool {
        if self.check_at.is_none_or(|at| at > now) {
            return false;
        }
        let (pause, asked) = (self.pause(), self.asked);
        if self.silent {
            let more = asked.saturating_sub(QUESTIONS).min(MAX_DOUBLINGS);
            self.asked = asked.saturating_add(1);
            self.check_at = Some(now + pause.saturating_mul(1 << more).min(MAX_PAUSE));
            return true;
        }
        if !answers {
            return self.learn(now, pause);
        }
        let due = self.waits_since.map(|since| since + pause.saturating_mul(asked + 1));
        self.check_at = due.map(|due| if due > now { due } else { now + pause });
        if due.is_none_or(|due| due > now) {
            return false;
        }
        self.asked = asked + 1;
        self.asked_at = (asked == 0).then_some(now);
        if asked >= QUESTIONS {
            (self.silent, self.was_silent) = (true, true);
            (self.lessons, self.rtt) = (0, None);
        }
        true
    }

    /// Asks a neighbour that has answered no question so far, a few times.
    fn learn(&mut self, now: Instant, pause: Duration) -> bool {
        let asks = self.lessons < LESSONS;
        self.lessons += u32::from(asks);
        self.asked_at = (self.lessons == 1).then_some(now);
        self.check_at = asks.then(|| now + pause.saturating_mul(1 << self.lessons));
        asks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(25);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A neighbour that has answered its first question within a millisecond.
    fn answered() -> Watch {
        let mut watch = Watch::default();
        watch.on_interest(at(0), false);
        assert!(watch.fire(at(50), false));
        watch.on_frame(at(51), false);
        watch
    }

    /// Times of the questions from `begin` on, until the neighbour is silent or `end`.
    fn questions(watch: &mut Watch, answers: bool, end: Instant) -> Vec<Instant> {
        let mut all = Vec::new();
        while let Some(now) = watch.deadline().filter(|it| *it <= end && !watch.is_silent()) {
            if watch.fire(now, answers) {
                all.push(now);
            }
        }
        all
    }

    #[test]
    fn neighbour_is_silent_after_unanswered_questions() {
        let mut watch = answered();
        watch.on_interest(at(1000), true);
        let asked = questions(&mut watch, true, at(5000));
        assert!(watch.is_silent());
        assert_eq!(asked.len() as u32, QUESTIONS + 1);
        assert!(*asked.last().unwrap() <= at(1000) + PAUSE * 8, "{asked:?}");
        // It is asked further, more and more seldom, and one frame ends the silence.
        let mut pauses = Vec::new();
        for _ in 0..100 {
            let next = watch.deadline().unwrap();
            assert!(watch.fire(next, true));
            pauses.push(watch.deadline().unwrap().since(next));
        }
        assert!(pauses.is_sorted() && pauses[0] <= Duration::from_millis(500), "{pauses:?}");
        assert!(pauses[8..].iter().all(|it| *it == MAX_PAUSE), "{pauses:?}");
        watch.on_frame(at(9_000_000), true);
        assert!(!watch.is_silent());
        assert_eq!(watch.deadline(), None, "the link is idle");
    }

    #[test]
    fn slow_hop_is_silent_at_most_once() {
        for answer in [300, 600, 900].map(Duration::from_millis) {
            let mut watch = answered();
            let mut falls = 0;
            for second in 1..50 {
                let begin = at(10_000 * second);
                watch.on_interest(begin, true);
                let answered_at = begin + watch.pause() + answer;
                let asked = questions(&mut watch, true, answered_at);
                falls += u32::from(watch.is_silent());
                assert!(asked.len() > 1, "each answer comes after the next question");
                watch.on_frame(answered_at, false);
            }
            assert!(falls <= 1, "{answer:?}: {falls}");
        }
    }

    #[test]
    fn neighbour_after_a_silence_is_asked_anew() {
        let mut watch = answered();
        watch.on_interest(at(1000), true);
        questions(&mut watch, true, at(5000));
        watch.on_frame(at(9000), true);
        watch.on_interest(at(10_000), false);
        let asked = questions(&mut watch, false, at(60_000));
        assert_eq!((asked.len() as u32, watch.is_silent()), (LESSONS, false));
    }

    #[test]
    fn frames_of_any_kind_prevent_silence() {
        let mut watch = answered();
        for step in 0..200 {
            let now = at(1000 + 20 * step);
            watch.on_interest(now, true);
            watch.fire(now, true);
            watch.on_frame(now + Duration::from_millis(10), true);
            assert!(!watch.is_silent());
        }
        assert!(questions(&mut watch, true, at(60_000)).is_empty(), "an idle link stays idle");
        assert_eq!(watch.deadline(), None);
    }

    #[test]
    fn neighbour_that_never_answers_is_not_silent() {
        let mut watch = Watch::default();
        let mut asked = 0;
        for second in 0..100 {
            watch.on_interest(at(1000 * second), false);
            asked += questions(&mut watch, false, at(1000 * second + 900)).len() as u32;
        }
        assert!(!watch.is_silent());
        assert_eq!(asked, LESSONS);
    }

    #[test]
    fn slow_hop_has_long_pauses() {
        let mut watch = Watch::default();
        watch.on_interest(at(0), false);
        watch.fire(at(50), false);
        watch.on_frame(at(90), false);
        watch.on_interest(at(1000), true);
        let asked = questions(&mut watch, true, at(9000));
        assert_eq!(asked.first(), Some(&at(1160)), "four round trips of 40 ms");
    }
}
