//! HyStart++: slow start ends when round trips get longer, before a queue overflows.
//!
//! The minimum round-trip time of each round is compared with that of the round before. If it has risen, growth
//! continues at a quarter of the rate (conservative slow start, CSS). If it falls again, the rise was spurious and
//! slow start resumes; else slow start ends after five rounds.
//!
//! Source: RFC 9406 sections 4.2 and 4.3, with its recommended constants.
//!
//! Differences:
//! - a round ends with the first Data that answers a transmission sent after the round began. Send order decides:
//!   deliveries in a batch, at one instant, make no rounds of their own;
//! - the limit L on the growth for one acknowledgement (section 4.3: 8 without pacing) is left out: one Data
//!   acknowledges one segment, hence min(N, L) is always 1. L would not limit bursts either: a batch of n Data still
//!   releases up to 2n Interests at once.
//!
//! Limits: a round measures the queue that its transmissions met, half as long as the one they leave behind. The rise
//! from one doubling to the next is half of the new value. If the path takes microseconds, the window is thus about 4
//! · rate · [`MIN_RTT_THRESH`] when the rise shows, and CSS may triple it: 2,000 and 6,000 segments at 8 Gbit/s and
//! 8,000 bytes. Shorter queues overflow first.
use super::Delivered;
use crate::time::Duration;

/// A smaller rise never counts (`MIN_RTT_THRESH`, RFC 9406, 4.3).
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
/// A greater rise always counts (`MAX_RTT_THRESH`, RFC 9406, 4.3).
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// In between, this fraction of the round-trip time counts (`MIN_RTT_DIVISOR`, RFC 9406, 4.3).
const MIN_RTT_DIVISOR: u32 = 8;
/// Minimum number of samples of a round (`N_RTT_SAMPLE`, RFC 9406, 4.3).
const N_RTT_SAMPLE: u32 = 8;
/// Divisor of the growth in CSS (`CSS_GROWTH_DIVISOR`, RFC 9406, 4.3).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Rounds of CSS, the one in which it begins included (`CSS_ROUNDS`, RFC 9406, 4.3).
const CSS_ROUNDS: u32 = 5;

/// State of HyStart++ in one slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct HyStart {
    /// Highest send order when the round began (`windowEnd`); none before the first delivery.
    round_end: Option<u64>,
    /// Least round-trip time of the round before (`lastRoundMinRTT`).
    last_min: Option<Duration>,
    /// Least round-trip time of this round (`currentRoundMinRTT`).
    current_min: Option<Duration>,
    /// Samples in this round (`rttSampleCount`).
    samples: u32,
    css: Option<Css>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Css {
    /// Below this the rise was spurious (`cssBaselineMinRtt`).
    baseline: Duration,
    /// Rounds that have ended in this phase.
    rounds: u32,
}

impl HyStart {
    /// Records a delivery during slow start. True if slow start is over.
    pub(super) fn on_delivered(&mut self, delivered: &Delivered) -> bool {
        if self.round_end.is_none_or(|end| delivered.order > end) {
            self.begin_round(delivered);
        }
        if let Some(rtt) = delivered.rtt {
            self.sample(rtt);
        }
        self.css.is_some_and(|css| css.rounds >= CSS_ROUNDS)
    }

    /// Segments by which the window grows for one delivery.
    pub(super) fn increase(&self) -> f64 {
        if self.css.is_some() { 1.0 / CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    fn begin_round(&mut self, delivered: &Delivered) {
        self.round_end = Some(delivered.highest_order.max(delivered.order));
        (self.last_min, self.current_min) = (self.current_min, None);
        self.samples = 0;
        if let Some(css) = &mut self.css {
            css.rounds += 1;
        }
    }

    fn sample(&mut self, rtt: Duration) {
        let min = self.current_min.map_or(rtt, |min| min.min(rtt));
        self.current_min = Some(min);
        self.samples = self.samples.saturating_add(1);
        if self.samples >= N_RTT_SAMPLE {
            self.judge(min);
        }
    }

    /// Judges a round with the minimum round-trip time `min` so far. Once CSS has lasted its rounds, slow start
    /// cannot resume.
    fn judge(&mut self, min: Duration) {
        match self.css {
            Some(css) if css.rounds < CSS_ROUNDS && min < css.baseline => self.css = None,
            None if self.last_min.is_some_and(|last| has_risen(last, min)) => {
                let (baseline, rounds) = (min, 0);
                self.css = Some(Css { baseline, rounds });
            }
            _ => {}
        }
    }
}

/// Whether a rise of the round-trip time from one round to the next indicates a queue.
fn has_risen(last: Duration, current: Duration) -> bool {
    let threshold = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
    current >= last.saturating_add(threshold)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deliveries of one round, and what has been sent when it begins.
    struct Rounds {
        hystart: HyStart,
        sent: u64,
    }

    impl Rounds {
        fn new() -> Self {
            let hystart = HyStart::default();
            Self { hystart, sent: 0 }
        }

        fn deliver(&mut self, order: u64, rtt: Option<Duration>) -> bool {
            self.hystart.on_delivered(&Delivered {
                segment: order,
                order,
                highest_order: self.sent,
                rtt,
                in_flight: 8,
                advance: 1,
                ..Delivered::default()
            })
        }

        /// One round of `count` transmissions with a round-trip time of `millis` each. True if slow start ends.
        fn round(&mut self, count: u64, millis: u64) -> bool {
            let first = self.sent + 1;
            self.sent += count;
            let rtt = Some(Duration::from_millis(millis));
            let over = (first..=self.sent).map(|order| self.deliver(order, rtt));
            over.filter(|over| *over).count() > 0
        }

        fn is_slow(&self) -> bool {
            self.hystart.increase() == 0.25
        }
    }

    #[test]
    fn threshold_is_an_eighth_of_the_rtt() {
        for (last, rise) in [(1, 4), (32, 4), (80, 10), (128, 16), (1000, 16)] {
            let ms = Duration::from_millis;
            assert!(has_risen(ms(last), ms(last + rise)), "{last}");
            assert!(!has_risen(ms(last), ms(last + rise - 1)), "{last}");
        }
    }

    #[test]
    fn growth_slows_from_the_eighth_longer_sample() {
        let mut rounds = Rounds::new();
        rounds.round(8, 40);
        rounds.round(7, 45);
        assert!(!rounds.is_slow(), "seven samples are too few");
        rounds.round(7, 60);
        assert!(!rounds.is_slow());
        rounds.round(8, 66);
        assert!(!rounds.is_slow(), "60 / 8 = 7.5 > 6");
        rounds.sent += 20;
        let first = rounds.sent - 19;
        let rtt = Some(Duration::from_millis(75));
        for order in first..first + 7 {
            rounds.deliver(order, rtt);
        }
        assert!(!rounds.is_slow());
        assert!(!rounds.deliver(first + 7, rtt) && rounds.is_slow());
    }

    #[test]
    fn one_short_round_trip_prevents_a_rise() {
        let mut rounds = Rounds::new();
        rounds.round(8, 40);
        rounds.sent += 9;
        rounds.deliver(9, Some(Duration::from_millis(40)));
        (10..=17).for_each(|order| assert!(!rounds.deliver(order, Some(Duration::from_secs(1)))));
        assert!(!rounds.is_slow());
    }

    #[test]
    fn slow_start_resumes_after_a_spurious_rise() {
        let mut rounds = Rounds::new();
        rounds.round(8, 40);
        rounds.round(8, 50);
        rounds.round(8, 50);
        assert!(rounds.is_slow());
        rounds.round(7, 49);
        assert!(rounds.is_slow(), "seven samples are too few");
        rounds.round(8, 49);
        assert!(!rounds.is_slow());
        rounds.round(8, 56);
        assert!(rounds.is_slow(), "and may end anew, by 49 / 8 = 6.125 ms");
    }

    #[test]
    fn css_ends_after_five_rounds() {
        let mut rounds = Rounds::new();
        rounds.round(8, 40);
        for _ in 0..5 {
            assert!(!rounds.round(8, 50));
        }
        assert!(rounds.round(1, 1), "with the first answer of the sixth");
    }

    #[test]
    fn batch_is_one_round() {
        let mut rounds = Rounds::new();
        rounds.round(8, 40);
        assert!(!rounds.round(6000, 50) && rounds.is_slow());
        assert_eq!(rounds.hystart.css.map(|css| css.rounds), Some(0));
    }

    #[test]
    fn retransmissions_make_rounds_but_no_samples() {
        let mut rounds = Rounds::new();
        rounds.round(8, 40);
        rounds.sent += 8;
        (9..=16).for_each(|order| assert!(!rounds.deliver(order, None)));
        assert_eq!((rounds.hystart.samples, rounds.is_slow()), (0, false));
        rounds.round(8, 90);
        assert!(!rounds.is_slow(), "there is no round before to compare with");
    }
}
