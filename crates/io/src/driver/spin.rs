//! When to look again for a moment before going to sleep.
//!
//! Going to sleep and being woken up takes a thread longer than a packet takes it, and whoever waits for the answer waits
//! for that, too. Where the next packet comes a few microseconds after the last one left, it is found earlier by looking
//! again and again. That costs processor time, so it is done only where it pays: the last waits of the same kind were
//! short, and, where one short wait follows the other, a [pause](super::linger) has shown that nothing more comes as long
//! as nobody is answered; packets that come anyway are better collected.
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
/// What a wait that is not short takes from the score.
const LOSS: u8 = 8;
/// Frames of a turn after which nobody looks again, if there were more.
const FEW: usize = 4;

/// Decides whether to look again.
#[derive(Debug)]
pub(super) struct Spin {
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

impl Spin {
    /// Looks that long at most; never without.
    pub(super) fn new(most: Option<Duration>) -> Self {
        let (after_short, after_long) = (Score::default(), Score::default());
        Self { most, after_short, after_long, was_short: false, is_crowded: false }
    }

    /// Whether anything is to be noted.
    pub(super) fn is_off(&self) -> bool {
        self.most.is_none()
    }

    /// How long to look again before sleeping; `answers_only` says that nothing comes but answers.
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

    /// A wait took so long; `came` says whether it ended because something came.
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

    /// Plays waits, which take as long as `waits` say in turn; says how many of the last hundred were looked through.
    fn play(waits: &[u64], answers_only: bool) -> usize {
        let mut spin = Spin::new(Some(Duration::from_micros(50)));
        let mut looked = Vec::new();
        for micros in waits.iter().cycle().take(1_000) {
            looked.push(spin.look(answers_only).is_some());
            spin.note(Duration::from_micros(*micros), true);
        }
        looked.iter().rev().take(100).filter(|it| **it).count()
    }

    #[test]
    fn who_waits_for_each_answer_is_looked_for_if_nothing_else_comes() {
        assert_eq!(play(&[20], true), 100);
        assert_eq!(play(&[20], false), 0, "whether packets can be collected is not known");
    }

    #[test]
    fn of_an_exchange_now_and_then_only_the_answer_is_looked_for() {
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
    fn after_a_crowd_nobody_looks_and_after_a_few_somebody_does() {
        let mut spin = Spin::new(Some(Duration::from_micros(50)));
        for _ in 0..100 {
            spin.note(Duration::from_micros(20), true);
        }
        for (frames, looks) in [(1, true), (FEW, true), (FEW + 1, false), (0, true)] {
            spin.note_turn(frames);
            assert_eq!(spin.look(true).is_some(), looks, "{frames}");
        }
    }

    #[test]
    fn without_a_time_nobody_looks_and_a_deadline_soon_tells_nothing() {
        let (mut never, mut spin) = (Spin::new(None), Spin::new(Some(Duration::from_micros(50))));
        for _ in 0..100 {
            never.note(Duration::ZERO, true);
            spin.note(Duration::from_micros(20), false);
        }
        assert!(never.is_off() && never.look(true).is_none());
        assert!(!spin.is_off() && spin.look(true).is_none());
    }

    #[test]
    fn a_driver_that_looks_finds_what_comes_and_keeps_its_deadline() {
        let (long, short) = (Duration::from_secs(61), Duration::ZERO);
        let options = DriverOptions { look: Some(Duration::from_secs(60)), ..Default::default() };
        let mut driver = Driver::with_options(options).unwrap();
        driver.set_longest_wait(Some(Duration::from_millis(1)));
        for waited in [long, short].repeat(2 * usize::from(ENOUGH)) {
            driver.spin.note(waited, true);
        }
        let turn = |driver: &mut Driver| {
            driver.spin.note(long, true);
            assert!(driver.spin.look(false).is_some());
            driver.turn(&mut Node::new(), &mut |_, _, _| {}).unwrap()
        };
        driver.waker().wake();
        assert!(turn(&mut driver).woken);
        assert_eq!(turn(&mut driver), Turn::default());
    }
}
