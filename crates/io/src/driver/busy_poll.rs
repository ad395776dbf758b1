//! When to look again for a moment before going to sleep.
//!
//! To sleep and wake up takes a thread longer than to handle a packet, which adds to the latency.
//! If the next packet arrives within microseconds, busy polling finds it earlier. Polling costs
//! processor time, so it needs evidence: the last waits of the same kind were short. Where short
//! waits follow each other, a [pause](super::coalesce) must also have shown that only answers arrive;
//! other packets are better coalesced.
//!
//! Where many packets come at a time it does not pay: the wait is shared by all of them, and clients that write so much at once want
//! the processor themselves.
//!
//! Waits are of two kinds, those after a short one and those after a long one: an exchange now and then is a long wait for
//! the question and a short one for the answer. How long a look may last bounds what it costs in vain; few of those end
//! them, and it takes many short waits to begin again.
use recoup_transport::time::Duration;

/// From here on waits of a kind are expected to be short; a score grows by one with each that is, up to twice this.
const ENOUGH: u8 = 16;
/// Score that a long wait costs.
const LOSS: u8 = 8;
/// Most frames of a turn after which polling may follow.
const FEW: usize = 4;

/// Decides whether to look again.
#[derive(Debug)]
pub(super) struct BusyPoll {
    /// Longest time to look; a wait that is over by then is a short one. Never without.
    most: Option<Duration>,
    /// How the waits went that followed a short one.
    after_short: Score,
    /// How those went that followed a long one.
    after_long: Score,
    /// Whether the last wait was short.
    was_short: bool,
    /// Whether the last turn brought more than a few frames.
    is_crowded: bool,
}

#[derive(Debug, Default)]
struct Score(u8);

impl Score {
    fn is_enough(&self) -> bool {
        self.0 >= ENOUGH
    }

    fn note(&mut self, short: bool) {
        self.0 = if short { (self.0 + 1).min(2 * ENOUGH) } else { self.0.saturating_sub(LOSS) };
    }
}

impl BusyPoll {
    /// Looks that long at most; never without.
    pub(super) fn new(most: Option<Duration>) -> Self {
        let (after_short, after_long) = (Score::default(), Score::default());
        Self { most, after_short, after_long, was_short: false, is_crowded: false }
    }

    /// Whether anything is to be noted.
    pub(super) fn is_off(&self) -> bool {
        self.most.is_none()
    }

    /// How long to poll before sleeping; `answers_only`: all traffic consists of answers.
    pub(super) fn look(&self, answers_only: bool) -> Option<Duration> {
        let pays = match self.was_short {
            true => answers_only && self.after_short.is_enough(),
            false => self.after_long.is_enough(),
        };
        self.most.filter(|_| pays && !self.is_crowded)
    }

    /// A turn brought so many frames.
    pub(super) fn note_turn(&mut self, frames: usize) {
        self.is_crowded = frames > FEW;
    }

    /// Records a wait of this length; `came`: an event ended it.
    pub(super) fn note(&mut self, waited: Duration, came: bool) {
        let short = self.most.is_some_and(|most| waited <= most);
        if short && !came {
            return;
        }
        let score = if self.was_short { &mut self.after_short } else { &mut self.after_long };
        score.note(short);
        self.was_short = short;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Driver, DriverOptions, Turn};
    use recoup_forwarder::node::Node;

    /// Simulates waits that take as long as `waits` give in turn; returns how many of the last
    /// hundred were polled.
    fn play(waits: &[u64], answers_only: bool) -> usize {
        let mut busy_poll = BusyPoll::new(Some(Duration::from_micros(50)));
        let mut looked = Vec::new();
        for micros in waits.iter().cycle().take(1_000) {
            looked.push(busy_poll.look(answers_only).is_some());
            busy_poll.note(Duration::from_micros(*micros), true);
        }
        looked.iter().rev().take(100).filter(|it| **it).count()
    }

    #[test]
    fn answers_are_polled_for_without_other_traffic() {
        assert_eq!(play(&[20], true), 100);
        assert_eq!(play(&[20], false), 0, "whether packets can be collected is not known");
    }

    #[test]
    fn rare_exchange_polls_for_the_answer_only() {
        assert_eq!(play(&[1_000, 20], false), 50);
        assert_eq!(play(&[1_000, 20, 20], false), 33, "not what follows a short wait");
    }

    #[test]
    fn waits_that_are_seldom_short_are_slept_through() {
        assert_eq!(play(&[1_000], true), 0);
        assert_eq!(play(&[1_000, 1_000, 20], true), 0);
        assert_eq!(play(&[20, 20, 20, 200, 200], true), 0);
    }

    #[test]
    fn polling_follows_turns_with_few_frames() {
        let mut busy_poll = BusyPoll::new(Some(Duration::from_micros(50)));
        for _ in 0..100 {
            busy_poll.note(Duration::from_micros(20), true);
        }
        for (frames, looks) in [(1, true), (FEW, true), (FEW + 1, false), (0, true)] {
            busy_poll.note_turn(frames);
            assert_eq!(busy_poll.look(true).is_some(), looks, "{frames}");
        }
    }

    #[test]
    fn polling_is_off_without_a_limit() {
        let (mut never, mut busy_poll) =
            (BusyPoll::new(None), BusyPoll::new(Some(Duration::from_micros(50))));
        for _ in 0..100 {
            never.note(Duration::ZERO, true);
            busy_poll.note(Duration::from_micros(20), false);
        }
        assert!(never.is_off() && never.look(true).is_none());
        assert!(!busy_poll.is_off() && busy_poll.look(true).is_none());
    }

    #[test]
    fn polling_driver_receives_and_keeps_its_deadline() {
        let (long, short) = (Duration::from_secs(61), Duration::ZERO);
        let options =
            DriverOptions { busy_poll: Some(Duration::from_secs(60)), ..Default::default() };
        let mut driver = Driver::with_options(options).unwrap();
        driver.set_longest_wait(Some(Duration::from_millis(1)));
        for waited in [long, short].repeat(2 * usize::from(ENOUGH)) {
            driver.timing.busy_poll.note(waited, true);
        }
        let turn = |driver: &mut Driver| {
            driver.timing.busy_poll.note(long, true);
            assert!(driver.timing.busy_poll.look(false).is_some());
            driver.turn(&mut Node::deterministic(0), &mut |_, _, _| {}).unwrap()
        };
        driver.waker().wake();
        assert!(turn(&mut driver).woken);
        assert_eq!(turn(&mut driver), Turn::default());
    }
}
