//! Invariants of every loss detector, under any facts. Those of the fetch loop with each of them are in
//! `fetch/history.rs`.
use proptest::prelude::*;
use recoup_transport::loss::{self, Arrival, LossDetector, Overtaken, Phase, Repeated};
use recoup_transport::time::{Duration, Instant};

/// The tested detectors. A new one adds its lines here.
const DETECTORS: &[&str] = &[
    "timeout",
    "out-of-order",
    "out-of-order(frt=1,rescan=true)",
    "out-of-order(frt=1000000,repair=first-hole)",
    "pre-recovery",
    "pre-recovery(frt=1,repair=first-hole,rescan=true,learn=true,decay=1000000,cap=0)",
    "pre-recovery(frt=7,learn=true,decay=0.5,cap=0.5)",
    "rack",
    "rack(factor=1000000)",
    "time-threshold",
    "time-threshold(frt=1,factor=1,share=31/32)",
    "time-threshold(frt=1000000,factor=1000000)",
    "simple1",
    "simple2",
    "simple3",
    "smart",
];

#[derive(Clone, Debug)]
enum Fact {
    Arrived {
        wait: u64,
        order: u64,
        advance: u64,
        overtook: bool,
        held: u64,
        window: f64,
        rtt: Option<Duration>,
        oldest: Option<(u64, u64)>,
    },
    TimedOut,
    Recovered,
    Spurious,
}

fn fact() -> impl Strategy<Value = Fact> {
    let wait = prop_oneof![8 => 0..100_u64, 1 => 0..10_000_000_u64];
    let advance = prop_oneof![3 => Just(0), 2 => Just(1), 1 => any::<u64>()];
    let window = prop_oneof![4 => 1.0..200.0_f64, 1 => Just(1e9)];
    let held = prop_oneof![4 => 0..8_u64, 1 => any::<u64>()];
    let rtt = prop_oneof![
        2 => (0..200_u64).prop_map(|millis| Some(Duration::from_millis(millis))),
        1 => Just(None),
        1 => prop::sample::select(vec![Some(Duration::ZERO), Some(Duration::MAX)]),
    ];
    let oldest = prop::option::of((0..2_000_u64, 0..300_u64));
    prop_oneof![
        12 => (wait, 0..2_000_u64, advance, any::<bool>(), held, window, rtt, oldest)
            .prop_map(|(wait, order, advance, overtook, held, window, rtt, oldest)| {
                Fact::Arrived { wait, order, advance, overtook, held, window, rtt, oldest }
            }),
        1 => Just(Fact::TimedOut),
        1 => Just(Fact::Recovered),
        1 => Just(Fact::Spurious),
    ]
}

/// Applies facts to a detector, and checks its reactions.
struct Trial {
    detector: Box<dyn LossDetector>,
    now: Instant,
    answered: u64,
}

impl Trial {
    fn new(text: &str) -> Self {
        Self { detector: loss::parse(text).unwrap(), now: Instant::ZERO, answered: 0 }
    }

    fn apply(&mut self, fact: &Fact) {
        let (now, before) = (self.now, self.detector.phase());
        match *fact {
            Fact::Arrived { wait, order, advance, overtook, held, window, rtt, oldest } => {
                self.now += Duration::from_millis(wait);
                self.answered = self.answered.max(order);
                let answered = self.answered;
                let overtook = overtook && advance == 0;
                let overtaken =
                    oldest.filter(|(order, _)| *order < answered).map(|(order, age)| Overtaken {
                        order,
                        sent: self.now - Duration::from_millis(age),
                    });
                let segment = order;
                let since_last = Duration::from_millis(wait);
                let since_lost = since_last.saturating_mul(2);
                let repeated = rtt.is_none().then_some(Repeated { since_last, since_lost });
                self.arrive(Arrival {
                    segment,
                    order,
                    rtt,
                    repeated,
                    advance,
                    overtook,
                    held,
                    answered,
                    overtaken,
                    window,
                });
            }
            Fact::TimedOut => self.detector.on_timeout(now),
            Fact::Recovered => self.detector.on_recovered(now),
            Fact::Spurious => {
                self.detector.on_spurious(now);
                assert_eq!(self.detector.phase(), before);
            }
        }
        if matches!(fact, Fact::TimedOut | Fact::Recovered) {
            assert_eq!(self.detector.phase(), Phase::Normal, "{}", self.detector);
        }
    }

    fn arrive(&mut self, arrival: Arrival) {
        let before = self.detector.phase();
        let judged = self.detector.on_arrival(self.now, &arrival);
        let after = self.detector.phase();
        let what = format!("{}: {arrival:?}, {judged:?}", self.detector);
        if let Some(judged) = judged {
            assert!(judged.through <= arrival.answered.saturating_sub(1), "{what}");
            assert!(judged.evidence >= 1, "{what}");
            assert!(self.detector.repair().is_some() && after == Phase::Fast, "{what}");
            let overtaken = arrival.overtook || arrival.overtaken.is_some();
            assert!(overtaken || before == Phase::Fast, "{what}");
            assert!(judged.sent_by.is_none_or(|by| by < self.now), "{what}");
        }
        assert!((after == Phase::Fast) == (before == Phase::Fast || judged.is_some()), "{what}");
    }

    /// Data out of order until a loss is declared; returns their number.
    fn judge(&mut self) -> Option<u32> {
        self.answered += 1;
        let overtaken = Some(Overtaken { order: self.answered, sent: Instant::ZERO });
        (1..=100).find(|_| {
            self.answered += 1;
            let (segment, answered) = (self.answered, self.answered);
            let (order, rtt, advance, overtook, held, window) = (segment, None, 0, true, 9, 64.0);
            let arrival = Arrival {
                segment,
                order,
                rtt,
                repeated: None,
                advance,
                overtook,
                held,
                answered,
                overtaken,
                window,
            };
            self.detector.on_arrival(self.now, &arrival).is_some()
        })
    }
}

#[test]
fn every_name_of_the_family_is_tried() {
    for name in loss::names() {
        assert!(DETECTORS.iter().any(|text| text.starts_with(name)), "{name}");
    }
}

#[test]
fn printed_text_parses_to_itself() {
    for text in DETECTORS {
        let detector = loss::parse(text).unwrap();
        let again = loss::parse(&detector.to_string()).unwrap();
        assert_eq!(again.to_string(), detector.to_string());
        assert_eq!(format!("{again:?}"), format!("{detector:?}"));
    }
}

#[test]
fn text_does_not_contain_the_state() {
    for text in DETECTORS {
        let mut trial = Trial::new(text);
        let before = trial.detector.to_string();
        trial.judge();
        trial.detector.on_spurious(Instant::ZERO);
        assert_eq!(trial.detector.to_string(), before);
    }
}

#[test]
fn repeated_overtaking_is_judged_repeatedly() {
    let expected = |text: &str| match text {
        "timeout" | "simple1" => None,
        // It has a time threshold only, and no round trip is known here.
        text if text.starts_with("rack") => None,
        text if text.contains("frt=1000000,") => None,
        // The share of missing segments is too small here.
        text if text.contains("share=31/32)") => None,
        "time-threshold" | "out-of-order" | "simple2" | "simple3" => Some(3),
        "pre-recovery" | "smart" => Some(6),
        "pre-recovery(frt=7,learn=true,decay=0.5,cap=0.5)" => Some(14),
        text if text.starts_with("pre-recovery") => Some(2),
        _ => Some(1),
    };
    for text in DETECTORS {
        let mut trial = Trial::new(text);
        for _ in 0..3 {
            assert_eq!(trial.judge(), expected(text), "{text}");
            trial.detector.on_recovered(Instant::ZERO);
        }
    }
}

#[test]
fn invalid_parameters_are_errors() {
    for text in [
        "timeout(frt=3)",
        "simple1(rto=1s)",
        "out-of-order(frt=0)",
        "out-of-order(frt=2.5)",
        "out-of-order(frt=1000001)",
        "out-of-order(repair=all)",
        "out-of-order(learn=true)",
        "pre-recovery(decay=-1)",
        "pre-recovery(cap=-0.5)",
        "pre-recovery(cap=nan)",
        "rack(factor=0.5)",
        "rack(frt=3)",
        "time-threshold(frt=0)",
        "time-threshold(factor=0.99)",
        "time-threshold(factor=inf)",
        "time-threshold(share=1)",
        "time-threshold(share=1.1)",
        "time-threshold(share=-0.1)",
        "time-threshold(repair=first-hole)",
        "pre-recovery(decay=inf)",
        "smarter",
    ] {
        assert!(loss::parse(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn judgements_rest_on_what_was_answered_whatever_happens(
        facts in prop::collection::vec(fact(), 0..200),
    ) {
        for text in DETECTORS {
            let mut trial = Trial::new(text);
            facts.iter().for_each(|fact| trial.apply(fact));
        }
    }

    #[test]
    fn any_parameters_are_read_as_they_are_printed(
        frt in 1..=1_000_000_u32,
        selective: bool,
        [rescan, learn]: [bool; 2],
        decay in 0.0..=1e6_f64,
        cap in 0.0..f64::MAX,
        factor in 1.0..=1e6_f64,
        share in 0.0..=0.96875_f64,
    ) {
        let repair = if selective { "selective" } else { "first-hole" };
        for text in [
            format!("out-of-order(frt={frt},repair={repair},rescan={rescan})"),
            format!("time-threshold(frt={frt},factor={factor},share={share})"),
            format!(
                "pre-recovery(frt={frt},repair={repair},rescan={rescan},learn={learn},decay={decay},cap={cap})"
            ),
        ] {
            let detector = loss::parse(&text).unwrap();
            prop_assert_eq!(detector.to_string(), text);
        }
    }
}
