//! `rack(factor=9/8)`: an overtaken transmission is lost once it is older than any recent round trip, by a timer if
//! nothing arrives. A tail-loss probe retransmits the oldest one after an idle time.
//!
//! Sources: RFC 8985 sections 6 (RACK) and 7 (tail-loss probe); RFC 9002 section 6.1.2 (9/8 of the round trip, at least
//! 1 ms).
//!
//! Differences:
//! - no packet threshold: a cache or a second producer reorders from the first Data on, and the time threshold costs
//!   only an eighth of a round trip;
//! - the longest recent round trip replaces the latest one: with two producers the latest is often that of the near
//!   one;
//! - Data does not identify the transmission that it answers (Karn). If it comes later after a retransmission than
//!   any recent round trip, that time counts as a round trip. If it comes sooner than any, it answers the
//!   transmission before, whose age counts;
//! - a spurious loss doubles the addition of `factor`, up to eight times; 16 recoveries without one narrow it again;
//! - answers out of order multiply the addition of `factor` by four, for 64 answers;
//! - if a quarter of the first transmissions would be lost, one of them is awaited for longer (`lateness.rs`). A far
//!   source looks like loss where the retransmission goes to a nearer one;
//! - the probe is the oldest transmission in flight, not the latest segment: its answer both repairs a loss and overtakes
//!   all the others. Each further probe waits twice as long.
use super::lateness::LatenessTest;
use super::reordering::ReorderingWindow;
use super::{Arrival, Judgement, LossDetector, Phase, Repair};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// Time until the first probe while no round trip is known (RFC 8305, section 5: the least delay of a further attempt).
const FIRST_PROBE: Duration = Duration::from_millis(100);
/// Part of the minimum round trip below which no answer arrives.
const SOONEST: f64 = 0.9;

/// RACK with a tail-loss probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rack {
    factor: f64,
    window: ReorderingWindow,
    shortest: Option<Duration>,
    smoothed: Option<f64>,
    /// Data out of order since the last one in order.
    count: u32,
    recovering: bool,
    lateness: LatenessTest,
}

impl Rack {
    /// A detector in its initial state; `factor` is 1 or more.
    pub fn new(factor: f64) -> Self {
        Self {
            factor: factor.max(1.0),
            window: ReorderingWindow::default(),
            shortest: None,
            smoothed: None,
            count: 0,
            recovering: false,
            lateness: LatenessTest::default(),
        }
    }

    fn learn(&mut self, now: Instant, arrival: &Arrival) {
        self.count = if arrival.advance > 0 { 0 } else { self.count.saturating_add(1) };
        if let Some(rtt) = arrival.rtt {
            self.lateness.on_answered();
            if arrival.order < arrival.answered {
                self.window.on_reordered();
            }
            if self.shortest.is_none() {
                self.window = ReorderingWindow::default();
            }
            self.window.add(now, rtt);
            self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
            let rtt = rtt.as_secs_f64();
            self.smoothed =
                Some(self.smoothed.map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / 8.0));
        } else if let Some(repeated) = arrival.repeated {
            self.learn_repeated(now, repeated.since_last, repeated.since_lost);
        }
    }

    fn learn_repeated(&mut self, now: Instant, since_last: Duration, since_lost: Duration) {
        let Some(shortest) = self.shortest else {
            // Which transmission it answers is unknown, and so is any round trip: the longer time is safe.
            return self.window.add(now, since_lost);
        };
        if since_last < shortest.mul_f64(SOONEST) {
            self.window.add(now, since_lost);
            self.window.widen();
        } else if self.window.longest().is_some_and(|longest| since_last > longest) {
            self.window.add(now, since_last);
        }
    }
}

impl LossDetector for Rack {
    fn repair(&self) -> Option<Repair> {
        Some(Repair::Selective)
    }

    fn on_arrival(&mut self, now: Instant, arrival: &Arrival) -> Option<Judgement> {
        self.learn(now, arrival);
        let oldest = arrival.overtaken?;
        let sent_by = self.window.sent_by(now, self.factor)?;
        if oldest.sent > sent_by {
            return None;
        }
        self.recovering = true;
        Some(Judgement { through: 0, sent_by: Some(sent_by), evidence: self.count.max(1) })
    }

    fn on_timeout(&mut self, now: Instant) {
        self.on_recovered(now);
    }

    fn on_recovered(&mut self, _: Instant) {
        self.window.end_recovery(self.recovering);
        (self.count, self.recovering) = (0, false);
    }

    fn on_spurious(&mut self, _: Instant) {
        self.window.widen();
    }

    fn reordering_wait(&mut self, now: Instant) -> Option<Duration> {
        self.lateness.on_lost(now, self.window.longest()?)
    }

    fn phase(&self) -> Phase {
        if self.recovering { Phase::Fast } else { Phase::Normal }
    }

    fn age(&self) -> Option<Duration> {
        self.window.age(self.factor)
    }

    fn probe_after(&self) -> Option<Duration> {
        let Some(smoothed) = self.smoothed else { return Some(FIRST_PROBE) };
        Some(self.age()?.saturating_add(Duration::try_from_secs_f64(smoothed).ok()?))
    }
}

impl Described for Rack {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("factor", &mut self.factor, 1.0..=1e6, "a number from 1 to 1000000");
    }
}

recoup_core::print_as_spec!(Rack, "rack");

/// RFC 9002, section 6.1.2.
const FACTOR: f64 = 9.0 / 8.0;

impl Default for Rack {
    fn default() -> Self {
        Self::new(FACTOR)
    }
}

pub(super) fn from_spec(spec: Spec<'_>) -> Result<Rack, SpecError> {
    spec.read(Rack::default())
}

#[cfg(test)]
mod tests {
    use super::super::tests::in_order;
    use super::super::{Overtaken, Repeated};
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The answer to a transmission after `rtt`, while one sent at 100 ms is missing.
    fn beyond(order: u64, rtt: u64) -> Arrival {
        let overtaken = Some(Overtaken { order: 10, sent: at(100) });
        Arrival { advance: 0, rtt: Some(ms(rtt)), overtaken, ..in_order(order, 1) }
    }

    fn repeated(since_last: u64, since_lost: u64) -> Arrival {
        let repeated = Repeated { since_last: ms(since_last), since_lost: ms(since_lost) };
        Arrival { rtt: None, repeated: Some(repeated), ..in_order(40, 1) }
    }

    #[test]
    fn only_the_time_threshold_detects_losses() {
        let mut rack = Rack::new(9.0 / 8.0);
        for (millis, order) in (181..190).zip(11..) {
            assert_eq!(rack.on_arrival(at(millis), &beyond(order, 80)), None);
        }
        let judged = rack.on_arrival(at(190), &beyond(30, 80)).unwrap();
        assert_eq!((judged.through, judged.sent_by), (0, Some(at(100))));
    }

    #[test]
    fn late_answer_to_retransmission_counts_as_round_trip() {
        let mut rack = Rack::new(9.0 / 8.0);
        rack.on_arrival(at(90), &in_order(1, 0));
        rack.on_arrival(at(100), &Arrival { rtt: Some(ms(40)), ..in_order(2, 0) });
        assert_eq!(rack.age(), Some(ms(45)));
        rack.on_arrival(at(110), &repeated(80, 130));
        assert_eq!(rack.age(), Some(ms(90)));
    }

    #[test]
    fn answer_to_a_first_probe_is_no_sample() {
        let mut rack = Rack::new(9.0 / 8.0);
        rack.on_arrival(at(260), &repeated(10, 260));
        assert_eq!(rack.age(), Some(ms(260).mul_f64(9.0 / 8.0)), "the longer of both ages");
        rack.on_arrival(at(300), &Arrival { rtt: Some(ms(40)), ..in_order(2, 0) });
        assert_eq!(rack.age(), Some(ms(45)), "a sample is better");
    }

    #[test]
    fn early_answer_is_of_the_transmission_before() {
        let mut rack = Rack::new(9.0 / 8.0);
        rack.on_arrival(at(100), &Arrival { rtt: Some(ms(40)), ..in_order(2, 0) });
        rack.on_arrival(at(110), &repeated(30, 80));
        assert_eq!(rack.age(), Some(ms(100)), "80 ms, and 2/8 of it");
    }

    #[test]
    fn awaited_answer_counts_as_round_trip() {
        let mut rack = Rack::new(9.0 / 8.0);
        rack.on_arrival(at(30), &Arrival { rtt: Some(ms(30)), ..in_order(1, 0) });
        let awaited = (0..16).find_map(|_| rack.reordering_wait(at(100)));
        assert_eq!(awaited, Some(ms(16 * 30)));
        rack.on_arrival(at(330), &Arrival { rtt: Some(ms(300)), ..in_order(20, 0) });
        assert_eq!(rack.age(), Some(ms(300).mul_f64(9.0 / 8.0)));
    }

    #[test]
    fn probe_follows_a_round_trip_after_the_threshold() {
        let mut rack = Rack::new(9.0 / 8.0);
        assert_eq!((rack.age(), rack.probe_after()), (None, Some(FIRST_PROBE)));
        rack.on_arrival(at(100), &Arrival { rtt: Some(ms(40)), ..in_order(2, 0) });
        assert_eq!(rack.probe_after(), Some(ms(85)));
    }
}
