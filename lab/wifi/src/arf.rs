//! ARF and AARF: a higher rate after a row of successes, a lower one after failures.
//!
//! Kamerman and Monteban, "WaveLAN-II", 1997; AARF: Lacage, Manshaei and Turletti,
//! "IEEE 802.11 rate adaptation", MSWiM 2004. Rates begin at the lowest of 802.11b, as in ns-3's models of 802.11g.
//!
//! Differences: AARF waits for one and a half times as many frames as successes. A frame that is given up begins a new
//! count of failures.
use super::rate::{DSSS_HALF_MBITS, OFDM_MBITS, Rate};

/// Successes in a row, and frames since the last change, after which a higher rate is tried.
const SUCCESSES: u32 = 10;
const FRAMES: u32 = 15;
/// Most successes that AARF waits for.
const MOST_SUCCESSES: u32 = 60;

/// Rate of one station toward another.
#[derive(Clone, Debug)]
pub(super) struct Arf {
    is_adaptive: bool,
    ladder: Vec<Rate>,
    place: usize,
    wanted_successes: u32,
    wanted_frames: u32,
    successes: u32,
    frames: u32,
    /// Failures of the present frame.
    failures: u32,
    /// The rate is higher since the last frame.
    is_trial: bool,
}

impl Arf {
    pub(super) fn new(is_adaptive: bool) -> Self {
        let dsss = (0..DSSS_HALF_MBITS.len() as u8).map(Rate::Dsss);
        let mut ladder: Vec<_> = dsss.chain((0..OFDM_MBITS.len() as u8).map(Rate::Ofdm)).collect();
        ladder.sort_by_key(|rate| rate.bits());
        Self {
            is_adaptive,
            ladder,
            place: 0,
            wanted_successes: SUCCESSES,
            wanted_frames: FRAMES,
            successes: 0,
            frames: 0,
            failures: 0,
            is_trial: false,
        }
    }

    pub(super) fn rate(&self) -> Rate {
        self.ladder[self.place]
    }

    /// A frame was acknowledged.
    pub(super) fn on_success(&mut self) {
        self.frames += 1;
        self.successes += 1;
        (self.failures, self.is_trial) = (0, false);
        let is_enough =
            self.successes >= self.wanted_successes || self.frames >= self.wanted_frames;
        if is_enough && self.place + 1 < self.ladder.len() {
            self.place += 1;
            (self.frames, self.successes, self.is_trial) = (0, 0, true);
        }
    }

    /// A frame was not acknowledged. One failure ends a trial; otherwise each second one lowers the rate.
    pub(super) fn on_failure(&mut self) {
        self.frames += 1;
        self.failures += 1;
        self.successes = 0;
        if self.is_trial {
            if self.failures == 1 {
                self.place = self.place.saturating_sub(1);
                if self.is_adaptive {
                    self.wanted_successes = (2 * self.wanted_successes).min(MOST_SUCCESSES);
                    self.wanted_frames = self.wanted_successes * 3 / 2;
                }
            }
            self.frames = 0;
        } else if self.failures >= 2 {
            if self.failures.is_multiple_of(2) {
                self.place = self.place.saturating_sub(1);
                (self.wanted_successes, self.wanted_frames) = (SUCCESSES, FRAMES);
            }
            self.frames = 0;
        }
    }

    /// A frame was given up after its last failure.
    pub(super) fn on_given_up(&mut self) {
        self.on_failure();
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(arf: &mut Arf, successes: u32) -> String {
        (0..successes).for_each(|_| arf.on_success());
        arf.rate().to_string()
    }

    #[test]
    fn ten_successes_raise_and_failures_lower_the_rate() {
        let mut arf = Arf::new(false);
        assert_eq!(after(&mut arf, 9), "dsss-1");
        assert_eq!(after(&mut arf, 1), "dsss-2");
        // A trial that fails at once.
        arf.on_failure();
        assert_eq!(arf.rate().to_string(), "dsss-1");
        assert_eq!(after(&mut arf, 20), "dsss-5.5");
        arf.on_success();
        arf.on_failure();
        assert_eq!(arf.rate().to_string(), "dsss-5.5");
        arf.on_failure();
        assert_eq!(arf.rate().to_string(), "dsss-2");
        assert_eq!(after(&mut arf, 200), "ofdm-54");
    }

    #[test]
    fn aarf_waits_longer_after_each_failed_trial() {
        let mut arf = Arf::new(true);
        let mut waits = Vec::new();
        for _ in 0..5 {
            let trial = (1..).find(|_| after(&mut arf, 1) == "dsss-2");
            waits.push(trial.unwrap());
            arf.on_failure();
        }
        assert_eq!(waits, [10, 20, 40, 60, 60]);
    }
}
