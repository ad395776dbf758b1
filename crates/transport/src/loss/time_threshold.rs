//! `time-threshold(frt=3,factor=9/8,share=0)`: what others have overtaken is lost once it is older than any round trip of late;
//! as long as the order has never changed, once `frt` transmissions later than it were sent before one that was answered.
//!
//! A path that keeps the order tells a loss after three answers. Several sources, or a cache on the way, change the order
//! without any loss, and there the count says nothing: the near source overtakes the far one all the time. What is still
//! true is that nothing takes longer than the way to the farthest of them.
//!
//! `share=1/4` leaves a few losses to the timers, and judges only where so many of the last 32 transmissions are missing,
//! and until all is repaired that had been asked for by then. A buffer that overflows in slow start loses about every
//! second packet, or the whole end of a burst, and timers would find that out again and again; where a few are lost at
//! random, a window that hears of it by timers is reduced less often.
//!
//! Sources: RFC 9002 sections 6.1.1 and 6.1.2 (3 transmissions; 9/8 of the round trip, at least 1 ms); RFC 8985 section
//! 6.2 (retransmissions are judged like everything else; the count holds until the order is seen to change; a false alarm
//! widens the time, which 16 recoveries without one narrow again).
//!
//! Differences:
//! - the longest round trip of the last one or two such times instead of the greater of the smoothed and the latest one:
//!   with two sources these two are often those of the near one;
//! - a false alarm doubles what `factor` adds, up to eight times, instead of adding a quarter of the least round trip;
//! - no timer: judgements are made when something arrives, and what nothing overtakes waits for its retransmission timer;
//! - an answer to a segment that was asked for twice says nothing of the order;
//! - `share` is ours. Where several sources answer, what is on its way from the far one is missing, too.
use super::reordering::ReorderingWindow;
use super::{Arrival, COUNT, Judgement, LossDetector, Phase, Repair, read_count};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::Instant;
use std::fmt;

/// Of the last 32 transmissions the one that was answered latest is never missing.
const MOST_MISSING: f64 = 31.0 / 32.0;

/// Judges by age what was overtaken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeThreshold {
    settings: TimeThresholdSettings,
    window: ReorderingWindow,
    recent: Recent,
    /// Something that was asked for once arrived after what was sent later.
    reordered: bool,
    /// Data out of order since the last one in order.
    count: u32,
    recovering: bool,
}

/// The parameters of [`TimeThreshold`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeThresholdSettings {
    /// How much later than what is missing something was sent that was answered, in transmissions, if the order has
    /// never changed.
    pub frt: u32,
    /// How much older than the longest round trip what is missing has to be otherwise; 1 or more.
    pub factor: f64,
    /// Which part of the last 32 transmissions has to be missing; 0 to 31/32, since the latest of them was answered.
    pub share: f64,
}

impl Default for TimeThresholdSettings {
    fn default() -> Self {
        Self { frt: 3, factor: 9.0 / 8.0, share: 0.0 }
    }
}

impl TimeThreshold {
    /// A detector that has seen nothing.
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

impl fmt::Display for TimeThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimeThresholdSettings { frt, factor, share } = self.settings;
        SpecWriter::new(f, "time-threshold")
            .value("frt", frt)
            .value("factor", factor)
            .value("share", share)
            .finish()
    }
}

pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<TimeThreshold, SpecError> {
    let default = TimeThresholdSettings::default();
    let settings = TimeThresholdSettings {
        frt: spec.take("frt", default.frt, COUNT, read_count)?,
        factor: spec.number("factor", default.factor, 1.0..=1e6, "a number from 1 to 1000000")?,
        share: spec.number(
            "share",
            default.share,
            0.0..=MOST_MISSING,
            "a number from 0 to 31/32, such as 1/4 (more is never missing: the latest of the last 32 was answered)",
        )?,
    };
    spec.finish()?;
    Ok(TimeThreshold::new(settings))
}

/// Which of the last transmissions, up to the highest one that was answered, were answered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Recent {
    highest: u64,
    /// The lowest bit is of the highest one.
    answered: u32,
}

impl Default for Recent {
    /// What was before the first one counts as answered.
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

    /// The part that is missing.
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

    /// The answer to the transmission `order`, after `rtt`, while one of `order` 10, sent at 100 ms, is missing.
    fn beyond(order: u64, rtt: Duration) -> Arrival {
        let overtaken = Some(Overtaken { order: 10, sent: at(100) });
        Arrival { advance: 0, rtt: Some(rtt), overtaken, ..in_order(order, 1) }
    }

    /// The same, after the order has changed.
    fn reordered() -> TimeThreshold {
        let mut detector = detector();
        let late = Arrival { answered: 5, overtaken: None, ..beyond(4, RTT) };
        assert_eq!(detector.on_arrival(at(90), &late), None);
        detector
    }

    #[test]
    fn while_the_order_never_changed_the_third_that_was_sent_later_tells_a_loss() {
        let mut detector = detector();
        assert_eq!(detector.on_arrival(at(180), &beyond(11, RTT)), None);
        assert_eq!(detector.on_arrival(at(181), &beyond(12, RTT)), None);
        assert_eq!(detector.phase(), Phase::Normal);
        let judged = detector.on_arrival(at(182), &beyond(13, RTT));
        assert_eq!(judged.map(|it| (it.through, it.evidence)), Some((10, 3)));
        assert_eq!(detector.phase(), Phase::Fast);
    }

    #[test]
    fn once_the_order_has_changed_only_age_tells() {
        let mut detector = reordered();
        for (millis, order) in (181..190).zip(11..) {
            assert_eq!(detector.on_arrival(at(millis), &beyond(order, RTT)), None);
        }
        // 100 + 9/8 · 80.
        let judged = detector.on_arrival(at(190), &beyond(30, RTT)).unwrap();
        assert_eq!((judged.through, judged.sent_by), (0, Some(at(100))));
    }

    #[test]
    fn a_few_answers_from_near_do_not_shorten_the_time_for_what_is_far() {
        let mut detector = reordered();
        let near = Duration::from_millis(5);
        for (millis, order) in (100..190).zip(11..) {
            let rtt = if order % 16 == 0 { RTT } else { near };
            assert_eq!(detector.on_arrival(at(millis), &beyond(order, rtt)), None, "{millis}");
        }
        assert!(detector.on_arrival(at(190), &beyond(200, near)).is_some());
    }

    #[test]
    fn a_false_alarm_widens_the_time_and_16_quiet_recoveries_narrow_it() {
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
    fn with_a_share_a_few_losses_are_left_to_the_timers_and_many_are_judged_until_all_is_repaired()
    {
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
    fn the_greatest_share_judges_where_none_but_the_latest_was_answered_and_more_is_refused() {
        let settings =
            TimeThresholdSettings { share: MOST_MISSING, ..TimeThresholdSettings::default() };
        let mut detector = TimeThreshold::new(settings);
        for order in [1, 32] {
            assert_eq!(detector.on_arrival(at(200), &beyond(order, RTT)), None, "{order}");
        }
        assert!(detector.on_arrival(at(200), &beyond(64, RTT)).is_some());
        for share in ["1", "0.97"] {
            let error = super::super::parse(&format!("time-threshold(share={share})")).unwrap_err();
            let said = error.to_string();
            assert!(said.contains("share") && said.contains("from 0 to 31/32"), "{said}");
        }
    }

    #[test]
    fn the_last_32_transmissions_are_remembered_whatever_comes() {
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
    fn where_nothing_is_overtaken_or_no_round_trip_is_known_nothing_is_judged() {
        let mut detector = reordered();
        let none = Arrival { overtaken: None, ..beyond(40, RTT) };
        assert_eq!(detector.on_arrival(at(10_000), &none), None);
        let mut fresh = self::detector();
        let unknown = Arrival { rtt: None, ..beyond(12, RTT) };
        assert_eq!(fresh.on_arrival(at(10_000), &unknown), None);
    }
}
