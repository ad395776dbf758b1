//! Detection of a neighbour that is gone, although nothing reports it.
//!
//! A UDP face has no connection that breaks. While an Interest waits and no frame arrives, the end asks its neighbour
//! for its state ([`LinkRecovery::ask`](recoup_transport::link::LinkRecovery::ask)). A neighbour with recovery answers at
//! once, whether it has the Data or not. The neighbour is silent if `QUESTIONS` in a row stay unanswered, and if it
//! has answered before: forwarders without recovery never do. Any frame from it ends the silence.
//!
//! A producer sends few Interests. Toward its forwarder, Data and keep-alives count as Interests. So a producer that
//! has moved finds the next forwarder when no further Interest follows its Data. If it moves later, questions find the
//! next forwarder: an idle forwarder is asked 1, 3, 7 and 15 s after its last packet. Keep-alives follow these.
//!
//! | neighbour | asked |
//! |---|---|
//! | has not answered yet | `LESSONS` times, after Interests |
//! | has answered | once per pause, while an Interest waits |
//! | silent | after twice the time before, at most `MAX_PAUSE` |
//! | idle, and a forwarder | `IDLE_QUESTIONS` times, after `IDLE_PAUSE`, then twice the time before |
//!
//! A neighbour that was silent may be another one at the same address, with a longer path or without recovery. It
//! counts as one that has not answered yet. So a neighbour without recovery is silent at most once. Until a round trip is
//! measured, the pauses are `BLIND_PAUSE`, and four times as long after each further silence. So a hop with a round trip
//! of three seconds is silent twice, one of ten seconds three times.
//!
//! Only the answer to a single question is a measurement. An answer to one of several may belong to each of them.
//!
//! Another neighbour is reported at most once in `REPLACED_PAUSE`. After this time a question finds out whether there is a later one.
//!
//! Source: own design, after BFD's asynchronous mode (RFC 5880) and the dead-peer detection of IKEv2 (RFC 7296).
//! An idle link with another neighbour that is not silent stays idle.
use recoup_transport::link::recovery::Replaced;
use recoup_transport::time::{Duration, Instant};

/// Time between two questions before the first answer was measured.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Least such time, which is four round trips of the hop.
const MIN_PAUSE: Duration = Duration::from_millis(25);
/// Least such time toward a forwarder: a consumer that pauses briefly is no reason to ask.
const MIN_UPSTREAM_PAUSE: Duration = Duration::from_millis(100);
/// Time between two questions after a silence, before an answer was measured.
const BLIND_PAUSE: Duration = Duration::from_millis(250);
/// Unanswered questions after which a neighbour is silent.
const QUESTIONS: u32 = 4;
/// Questions to a neighbour that has answered none so far.
const LESSONS: u32 = 3;
/// Longest time between two questions.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// Doublings of `BLIND_PAUSE` until it exceeds `MAX_PAUSE`.
const MAX_DOUBLINGS: u32 = 7;
/// Time between two reports of another neighbour.
const REPLACED_PAUSE: Duration = Duration::from_secs(1);

/// Time without a packet until an idle forwarder is asked first.
const IDLE_PAUSE: Duration = Duration::from_secs(1);
/// Questions to an idle forwarder.
const IDLE_QUESTIONS: u32 = 4;

/// State of one neighbour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    is_upstream: bool,
    /// The neighbour has answered since the face is up.
    met: bool,
    /// Another neighbour has answered, which is not yet reported.
    replaced: Option<Replaced>,
    /// Time of the last such report.
    replaced_at: Option<Instant>,
    /// Time of the first Interest since the last arrival.
    waits_since: Option<Instant>,
    /// Time of the only open question.
    asked_at: Option<Instant>,
    /// Questions since the last arrival.
    asked: u32,
    /// Questions before the first answer.
    lessons: u32,
    rtt: Option<Duration>,
    /// Time of the next question to an idle forwarder, and how many have preceded.
    idle: Option<(Instant, u32)>,
    check_at: Option<Instant>,
    silent: bool,
    /// Silences since the last measurement: the pauses may have been too short.
    silences: u32,
}

impl Watch {
    /// A neighbour that has answered if it is `met`.
    pub(super) fn new(is_upstream: bool, met: bool) -> Self {
        Self { is_upstream, met, ..Self::default() }
    }

    fn pause(&self) -> Duration {
        let least = if self.is_upstream { MIN_UPSTREAM_PAUSE } else { MIN_PAUSE };
        let pause = match (self.rtt, self.silences.checked_sub(1)) {
            (Some(rtt), _) => rtt.saturating_mul(4),
            (None, None) => FIRST_PAUSE,
            (None, Some(more)) => BLIND_PAUSE.saturating_mul(1 << (2 * more).min(MAX_DOUBLINGS)),
        };
        pause.clamp(least, MAX_PAUSE)
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
        let is_first = self.waits_since.is_none();
        self.waits_since.get_or_insert(now);
        // A later check is that of an idle forwarder.
        let is_early = is_first && answers && !self.silent;
        if is_early || self.check_at.is_none() && (answers || self.lessons < LESSONS) {
            let due = now + self.pause();
            self.check_at = Some(self.check_at.map_or(due, |at| at.min(due)));
        }
    }

    /// Records a frame after which the neighbour is known to `answers`, and whether it is another one than before.
    /// Returns the change to be reported now.
    pub(super) fn on_answer(
        &mut self,
        now: Instant,
        answers: bool,
        replaced: Option<Replaced>,
    ) -> Option<Replaced> {
        let was_met = self.met;
        self.met |= answers;
        if !was_met {
            // No packet is in flight to a neighbour of the time before the face was up.
            return None;
        }
        if replaced.is_some() {
            // The path may be longer.
            self.rtt = None;
        }
        self.replaced = self.replaced.max(replaced);
        let from = self.replaced_at.map_or(Instant::ZERO, |at| at + REPLACED_PAUSE);
        if self.replaced.is_some() && now < from {
            (self.waits_since, self.check_at) = (Some(now), Some(from));
            return None;
        }
        self.replaced.take().inspect(|_| self.replaced_at = Some(now))
    }

    /// Records a frame from the neighbour; a frame without packet may be an answer.
    pub(super) fn on_frame(&mut self, now: Instant, has_packet: bool) {
        let asked_at = self.asked_at.take().filter(|_| !has_packet);
        if let Some(sample) = asked_at.map(|asked_at| now.since(asked_at)) {
            self.rtt = Some(self.rtt.map_or(sample, |rtt| (rtt.saturating_mul(7) + sample) / 8));
            self.silences = 0;
        }
        (self.waits_since, self.asked) = (None, 0);
        if std::mem::take(&mut self.silent) {
            // The next Interest sets the timer.
            self.check_at = None;
        }
        if self.is_upstream && has_packet {
            self.idle = Some((now + IDLE_PAUSE, 0));
            self.check_at.get_or_insert(now + IDLE_PAUSE);
        }
    }

    /// Nothing waits: time of the next check, which is that of a question to an idle forwarder. Begins one that is due.
    fn rest(&mut self, now: Instant) -> Option<Instant> {
        let (at, questions) = self.idle?;
        if at > now {
            return Some(at);
        }
        self.waits_since = Some(now);
        let next = now + IDLE_PAUSE.saturating_mul(2 << questions);
        self.idle = (questions + 1 < IDLE_QUESTIONS).then_some((next, questions + 1));
        Some(now + self.pause())
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
        if self.replaced.is_some() {
            self.check_at = None;
            return true;
        }
        let due = self.waits_since.map(|since| since + pause.saturating_mul(asked + 1));
        self.check_at = match due {
            Some(due) => Some(if due > now { due } else { now + pause }),
            None => self.rest(now),
        };
        if due.is_none_or(|due| due > now) {
            return false;
        }
        self.asked = asked + 1;
        self.asked_at = (asked == 0).then_some(now);
        if asked >= QUESTIONS {
            self.silent = true;
            self.silences = self.silences.saturating_add(1);
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
    use std::collections::VecDeque;

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
    fn hop_of_seconds_is_silent_a_few_times() {
        for (seconds, most) in [(1.5, 2), (3.0, 2), (10.0, 3), (60.0, 4)] {
            let (mut watch, mut answers, mut silences) = (Watch::default(), false, 0);
            let mut in_flight = VecDeque::new();
            let mut interests = (0..100).map(|step| at(200_000 * step)).peekable();
            while let Some(&interest) = interests.peek() {
                let times = [watch.deadline(), in_flight.front().copied(), Some(interest)];
                let now = times.into_iter().flatten().min().unwrap();
                let was_silent = watch.is_silent();
                if in_flight.front() == Some(&now) {
                    in_flight.pop_front();
                    answers = true;
                    watch.on_frame(now, false);
                } else if interest == now {
                    interests.next();
                    watch.on_interest(now, answers);
                } else if watch.fire(now, answers) {
                    in_flight.push_back(now + Duration::from_secs_f64(seconds));
                }
                if watch.is_silent() && !was_silent {
                    (silences, answers) = (silences + 1, false);
                }
            }
            assert!(silences <= most, "{seconds} s: {silences}");
        }
    }

    #[test]
    fn forwarder_is_asked_after_a_longer_pause() {
        for (is_upstream, least) in [(false, MIN_PAUSE), (true, MIN_UPSTREAM_PAUSE)] {
            let mut watch = Watch { is_upstream, ..answered() };
            watch.on_interest(at(1000), true);
            assert_eq!(questions(&mut watch, true, at(5000))[0], at(1000) + least);
        }
    }

    #[test]
    fn another_neighbour_is_reported_once_a_second() {
        let mut watch = answered();
        let another = Some(Replaced::Node);
        assert_eq!(watch.on_answer(at(100), true, another), None, "its face has just come up");
        assert_eq!(watch.on_answer(at(1000), true, another), another);
        assert_eq!(watch.on_answer(at(1100), true, Some(Replaced::Face)), None);
        assert_eq!(watch.on_answer(at(1999), true, another), None);
        let asked = questions(&mut watch, true, at(2100));
        assert!(asked.first().is_some_and(|first| *first >= at(2000)), "{asked:?}");
        assert_eq!(watch.on_answer(at(2100), true, None), another);
        assert_eq!(watch.on_answer(at(9000), true, None), None);
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
    fn idle_forwarder_is_asked_a_few_times() {
        let mut watch = Watch { is_upstream: true, ..answered() };
        watch.on_frame(at(1000), true);
        let mut asked = Vec::new();
        while let Some(now) = watch.deadline() {
            assert!(now < at(60_000));
            if watch.fire(now, true) {
                asked.push(now.since(at(1000)).as_millis());
                watch.on_frame(now + Duration::from_millis(5), false);
            }
        }
        assert_eq!(asked, [1100, 3100, 7100, 15_100]);
        // An Interest is not kept waiting by a later question, however many frames came before.
        for frame in [100_000, 100_200, 100_400] {
            watch.on_frame(at(frame), true);
        }
        watch.on_interest(at(100_500), true);
        assert_eq!(questions(&mut watch, true, at(100_700))[0], at(100_600));
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
