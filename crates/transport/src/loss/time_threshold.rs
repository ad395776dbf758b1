//! `time-threshold(frt=3,factor=9/8,share=0)`: overtaken transmissions are lost once they are older than any recent
//! round trip. On a path without reordering they are lost once one that was sent `frt` later was answered.
//!
//! On a path that keeps the order three answers indicate a loss. Several sources, or a cache on the path, reorder
//! Data without any loss, and the count is no evidence: the near source overtakes the far one all the time. The time
//! threshold still holds, because no answer takes longer than one of the farthest source.
//!
//! `share=1/4` leaves a few losses to the timers. Losses are declared only if this part of the last 32 transmissions
//! is missing, and until all segments requested by then have arrived. A buffer that overflows in slow start loses
//! about every second packet, or the end of a burst. Timers would detect that again and again. Few random losses
//! reduce the window less often if timers detect them.
//!
//! Sources: RFC 9002 sections 6.1.1 and 6.1.2 (3 transmissions; 9/8 of the round trip, at least 1 ms). RFC 8985
//! section 6.2: retransmissions are judged like first transmissions, and the count holds until reordering is seen. A
//! spurious loss widens the time, which 16 recoveries without one narrow again.
//!
//! Differences:
//! - the longest round trip of the last one or two such times replaces the greater of the smoothed and the latest
//!   one: with two sources these two are often those of the near one;
//! - a spurious loss doubles the addition of `factor`, up to eight times, instead of adding a quarter of the minimum
//!   round-trip time;
//! - there is no timer: losses are declared when Data arrives; a transmission that is not overtaken waits for its
//!   retransmission timer;
//! - an answer to a retransmitted segment is no evidence of reordering;
//! - `share` is an addition. With several sources, segments in flight from the far one are missing, too.
use super::reordering::ReorderingWindow;
use super::{Arrival, COUNT, COUNTS, Judgement, LossDetector, Phase, Repair};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::Instant;

/// Of the last 32 transmissions the last answered one is never missing.
const MOST_MISSING: f64 = 31.0 / 32.0;

/// Declares overtaken transmissions lost by their age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeThreshold {
    settings: TimeThresholdSettings,
    window: ReorderingWindow,
    recent: Recent,
    /// A segment sent once has arrived after one sent later.
    reordered: bool,
    /// Data received out of order since the last one in order.
    count: u32,
    recovering: bool,
}

/// The parameters of [`TimeThreshold`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeThresholdSettings {
    /// Number of later transmissions with an answer at which a transmission is lost, on a path without reordering.
    pub frt: u32,
    /// Multiple of the longest round trip at which a transmission is lost otherwise; 1 or more.
    pub factor: f64,
    /// Part of the last 32 transmissions that has to be missing; 0 to 31/32, since the last answered one is not.
    pub share: f64,
}

impl Default for TimeThresholdSettings {
    fn default() -> Self {
        Self { frt: 3, factor: 9.0 / 8.0, share: 0.0 }
    }
}

impl TimeThreshold {
    /// A detector in its initial state.
    pub fn new(settings: TimeThresholdSettings) -> Self {
        Self {
            settings,
            window: ReorderingWindow::default(),
            recent: Recent::default(),
            reordered: false,
            count: 0,
            recovering: false,
        }
    }

    fn learn(&mut self, now: Instant, arrival: &Arrival) {
        self.count = if arrival.advance > 0 { 0 } else { self.count.saturating_add(1) };
        self.recent.note(arrival.order);
        if let Some(rtt) = arrival.rtt {
            self.window.add(now, rtt);
            self.reordered |= arrival.order < arrival.answered;
        }
    }
}

impl LossDetector for TimeThreshold {
    fn repair(&self) -> Option<Repair> {
        Some(Repair::Selective)
    }

    fn on_arrival(&mut self, now: Instant, arrival: &Arrival) -> Option<Judgement> {
        self.learn(now, arrival);
        if !self.recovering && self.recent.missing() < self.settings.share {
            return None;
        }
        let oldest = arrival.overtaken?;
        let reach = if self.reordered { u64::MAX } else { u64::from(self.settings.frt) };
        let judgement = Judgement {
            through: arrival.answered.saturating_sub(reach),
            sent_by: self.window.sent_by(now, self.settings.factor),
            evidence: self.count.max(1),
        };
        let lost = oldest.order <= judgement.through
            || judgement.sent_by.is_some_and(|sent_by| oldest.sent <= sent_by);
        self.recovering |= lost;
        lost.then_some(judgement)
    }

    fn on_timeout(&mut self, now: Instant) {
        self.on_recovered(now);
    }

    fn on_recovered(&mut self, _: Instant) {
        self.window.end_recovery(self.recovering);
        (self.count, self.recovering) = (0, false);
    }

    fn on_spurious(&mut self, _: Instant) {
        self.reordered = true;
        self.window.widen();
    }

    fn phase(&self) -> Phase {
        if self.recovering { Phase::Fast } else { Phase::Normal }
    }
}

impl Described for TimeThreshold {
    fn describe(&mut self, each: &mut Description<'_>) {
        let TimeThresholdSettings { frt, factor, share } = &mut self.settings;
        each.whole("frt", frt, COUNTS, COUNT);
        each.number("factor", factor, 1.0..=1e6, "a number from 1 to 1000000");
        let expected = "a number from 0 to 31/32, such as 1/4 (more is never missing: the latest of the last 32 was answered)";
        each.number("share", share, 0.0..=MOST_MISSING, expected);
    }
}

recoup_core::print_as_spec!(TimeThreshold, "time-threshold");

pub(super) fn from_spec(spec: Spec<'_>) -> Result<TimeThreshold, SpecError> {
    spec.read(TimeThreshold::new(TimeThresholdSettings::default()))
}

/// Answers to the last transmissions, up to the highest one answered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Recent {
    highest: u64,
    /// The lowest bit is that of the highest one.
    answered: u32,
}

impl Default for Recent {
    /// Transmissions before the first one count as answered.
    fn default() -> Self {
        Self { highest: 0, answered: u32::MAX }
    }
}

impl Recent {
    fn note(&mut self, order: u64) {
        if let Some(ahead) = order.checked_sub(self.highest).filter(|ahead| *ahead > 0) {
            let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
            self.answered = self.answered.checked_shl(ahead).unwrap_or(0) | 1;
            self.highest = order;
        } else {
            let behind = u32::try_from(self.highest - order).unwrap_or(u32::MAX);
            self.answered |= 1_u32.checked_shl(behind).unwrap_or(0);
        }
    }

    /// Part of the transmissions that is missing.
    fn missing(self) -> f64 {
        f64::from(self.answered.count_zeros()) / f64::from(u32::BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Overtaken;
    use super::super::tests::in_order;
    use super::*;
    use crate::time::Duration;

    const RTT: Duration = Duration::from_millis(80);

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn detector() -> TimeThreshold {
        TimeThreshold::new(TimeThresholdSettings::default())
    }

    /// The answer to the transmission `order`, after `rtt`. A transmission of `order` 10, sent at 100 ms, is missing.
    fn beyond(order: u64, rtt: Duration) -> Arrival {
        let overtaken = Some(Overtaken { order: 10, sent: at(100) });
        Arrival { advance: 0, rtt: Some(rtt), overtaken, ..in_order(order, 1) }
    }

    /// A detector after reordering.
    fn reordered() -> TimeThreshold {
        let mut detector = detector();
        let late = Arrival { answered: 5, overtaken: None, ..beyond(4, RTT) };
        assert_eq!(detector.on_arrival(at(90), &late), None);
        detector
    }

    #[test]
    fn third_later_answer_is_a_loss_without_reordering() {
        let mut detector = detector();
        assert_eq!(detector.on_arrival(at(180), &beyond(11, RTT)), None);
        assert_eq!(detector.on_arrival(at(181), &beyond(12, RTT)), None);
        assert_eq!(detector.phase(), Phase::Normal);
        let judged = detector.on_arrival(at(182), &beyond(13, RTT));
        assert_eq!(judged.map(|it| (it.through, it.evidence)), Some((10, 3)));
        assert_eq!(detector.phase(), Phase::Fast);
    }

    #[test]
    fn reordering_leaves_the_time_threshold_only() {
        let mut detector = reordered();
        for (millis, order) in (181..190).zip(11..) {
            assert_eq!(detector.on_arrival(at(millis), &beyond(order, RTT)), None);
        }
        // 100 + 9/8 · 80.
        let judged = detector.on_arrival(at(190), &beyond(30, RTT)).unwrap();
        assert_eq!((judged.through, judged.sent_by), (0, Some(at(100))));
    }

    #[test]
    fn near_answers_do_not_shorten_the_threshold() {
        let mut detector = reordered();
        let near = Duration::from_millis(5);
        for (millis, order) in (100..190).zip(11..) {
            let rtt = if order % 16 == 0 { RTT } else { near };
            assert_eq!(detector.on_arrival(at(millis), &beyond(order, rtt)), None, "{millis}");
        }
        assert!(detector.on_arrival(at(190), &beyond(200, near)).is_some());
    }

    #[test]
    fn spurious_loss_widens_the_threshold() {
        let mut detector = reordered();
        let sent_by = |detector: &TimeThreshold| {
            detector.window.sent_by(at(1_000), detector.settings.factor).unwrap()
        };
        assert_eq!(sent_by(&detector), at(910));
        detector.on_spurious(at(300));
        detector.on_spurious(at(300));
        assert_eq!(sent_by(&detector), at(900), "once in a recovery");
        for _ in 0..9 {
            detector.on_recovered(at(300));
            detector.on_spurious(at(300));
        }
        assert_eq!(sent_by(&detector), at(840), "no more than twice the round trip");
        detector.on_recovered(at(300));
        for quiet in 0..16 {
            assert_eq!(sent_by(&detector), at(840), "{quiet}");
            assert!(detector.on_arrival(at(400), &beyond(300, RTT)).is_some());
            detector.on_recovered(at(400));
        }
        assert_eq!(sent_by(&detector), at(910));
    }

    #[test]
    fn share_leaves_few_losses_to_the_timers() {
        let settings = TimeThresholdSettings { share: 0.25, ..TimeThresholdSettings::default() };
        let mut detector = TimeThreshold::new(settings);
        let mut judged = |order| detector.on_arrival(at(200), &beyond(order, RTT)).is_some();
        // Every eighth is lost, then every second one.
        assert!((1..200).filter(|order| order % 8 != 0).all(|order| !judged(order)));
        let first = (200..240).step_by(2).find(|order| judged(*order));
        assert_eq!(first, Some(212), "201 to 212 miss 6, the others 2");
        assert!((211..300).all(&mut judged), "in recovery");
        detector.on_recovered(at(200));
        assert_eq!(detector.on_arrival(at(200), &beyond(300, RTT)), None);
    }

    #[test]
    fn share_is_at_most_31_of_32() {
        let settings =
            TimeThresholdSettings { share: MOST_MISSING, ..TimeThresholdSettings::default() };
        let mut detector = TimeThreshold::new(settings);
        for order in [1, 32] {
            assert_eq!(detector.on_arrival(at(200), &beyond(order, RTT)), None, "{order}");
        }
        assert!(detector.on_arrival(at(200), &beyond(64, RTT)).is_some());
        for share in ["1", "0.97"] {
            let error = super::super::parse(&format!("time-threshold(share={share})")).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("share") && text.contains("from 0 to 31/32"), "{text}");
        }
    }

    #[test]
    fn last_32_transmissions_are_remembered() {
        let mut recent = Recent::default();
        assert_eq!(recent.missing(), 0.0);
        for (order, missing) in [(1, 0), (4, 2), (3, 1), (3, 1), (36, 31), (5, 30), (4, 30)] {
            recent.note(order);
            assert_eq!(recent.missing() * 32.0, f64::from(missing), "{order}");
        }
        for order in [u64::MAX, 0, u64::MAX - 31] {
            recent.note(order);
        }
        assert_eq!(recent.missing() * 32.0, 30.0);
    }

    #[test]
    fn loss_needs_overtaking_and_a_round_trip() {
        let mut detector = reordered();
        let none = Arrival { overtaken: None, ..beyond(40, RTT) };
        assert_eq!(detector.on_arrival(at(10_000), &none), None);
        let mut fresh = self::detector();
        let unknown = Arrival { rtt: None, ..beyond(12, RTT) };
        assert_eq!(fresh.on_arrival(at(10_000), &unknown), None);
    }
}
