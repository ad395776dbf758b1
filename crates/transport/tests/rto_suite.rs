//! Invariants of every RTO estimator, under any facts.
use proptest::prelude::*;
use recoup_packet::lp::anticipation::{MOST_NAMES, Record};
use recoup_transport::rto::{
    self, Answer, Question, RtoEstimator, RttSample, SHORTEST, Target, Trail,
};
use recoup_transport::time::{Duration, Instant};

/// The tested estimators, with the limits of their timeouts. A new estimator adds its lines here.
const ESTIMATORS: &[(&str, Duration, Duration)] = &[
    ("constant", Duration::from_secs(4), Duration::from_secs(4)),
    ("constant(rto=1us)", SHORTEST, SHORTEST),
    ("jacobson", Duration::from_millis(200), Duration::from_secs(60)),
    ("jacobson(k=8,min=5ms,max=5ms)", Duration::from_millis(5), Duration::from_millis(5)),
    ("jacobson(min=0s,max=1us)", SHORTEST, SHORTEST),
    ("jacobson(alpha=1,beta=1,k=0,min=0s,max=86400s)", SHORTEST, DAY),
    (
        "jacobson(alpha=1/80,beta=1/40,k=1000000,backoff=1)",
        Duration::from_millis(200),
        Duration::from_secs(60),
    ),
    (
        "jacobson(alpha=0,beta=0,backoff=1000000)",
        Duration::from_millis(200),
        Duration::from_secs(60),
    ),
    ("jacobson(global-backoff=false)", Duration::from_millis(200), Duration::from_secs(60)),
    (
        "jacobson(min=5ms,backoff=1000000,backoff-until=progress)",
        Duration::from_millis(5),
        Duration::from_secs(60),
    ),
    ("yang2016(backoff-until=progress)", SHORTEST, Duration::from_secs(20)),
    ("yang2016", SHORTEST, Duration::from_secs(20)),
    ("rfc6298", Duration::from_secs(1), Duration::from_secs(60)),
    ("nikzad2022", SHORTEST, LONGEST),
    ("nikzad2022(gains=very-fast,backoff=1000000)", SHORTEST, LONGEST),
    ("reconsidered", Duration::from_millis(100), LONGEST),
    ("reconsidered(min=adaptive)", SHORTEST, LONGEST),
    ("reconsidered(min=adaptive,max=1ms)", SHORTEST, Duration::from_millis(1)),
    ("reconsidered(global-backoff=true)", Duration::from_millis(100), LONGEST),
    ("per-provider", SHORTEST, LONGEST),
    ("per-provider(weight=freshness,tau=1us)", SHORTEST, LONGEST),
    ("per-provider(weight=freshness,min=20ms,max=86400s)", Duration::from_millis(20), DAY),
    ("predictive", SHORTEST, LONGEST),
    ("predictive(names=0,ttl=1us,min=1s,max=1s)", Duration::from_secs(1), Duration::from_secs(1)),
    ("weighted-median", Duration::from_millis(100), LONGEST),
    ("weighted-median(window=1,decay=0.99,k=1000000)", Duration::from_millis(100), LONGEST),
    ("weighted-median(min=adaptive,max=86400s)", SHORTEST, DAY),
    ("experts", SHORTEST, LONGEST),
    ("experts(experts=2,eta=100,share=1,penalty=1000000,quantile=1)", SHORTEST, LONGEST),
    ("experts(experts=99,eta=100,share=0.000000001,quantile=0,max=86400s)", SHORTEST, DAY),
    ("nearness", SHORTEST, LONGEST),
    ("nearness(contents=1,trust=0.001,min=adaptive)", SHORTEST, LONGEST),
    ("nearness(alpha=1,beta=1,trust=1000000000,min=50ms)", Duration::from_millis(50), LONGEST),
    ("tcp", Duration::from_secs(1), FOUR),
    ("tcp(alpha=1,beta=1,k=1000000,min=1us,rfc-order=true,backoff=1000000)", SHORTEST, FOUR),
    ("timeest", TENTH, FOUR),
    ("timeest(factor=0,init=1us,min=1us,max=1us)", SHORTEST, SHORTEST),
    ("icp", TENTH, FOUR),
    ("icp(window=1,max=86400s,skip-timeouts=true)", TENTH, DAY),
    ("chopcop", TENTH, FOUR),
    ("chopcop(factor=1000000,alpha=1,backoff=1)", TENTH, FOUR),
    ("ccntimer", TENTH, FOUR),
    ("ccntimer(from=1,epsilon=1000000,phi=1,phi-strict=true,update-on-init=true)", TENTH, FOUR),
    ("ccntimer(init=100ms,max=86400s)", TENTH, DAY),
    ("wma", TENTH, FOUR),
    ("wma(gamma=0,epsilon=0,from=1000000)", TENTH, FOUR),
    ("per-source", TENTH, FOUR),
    ("per-source(wma(phi=1),recent=1,settled=1)", TENTH, FOUR),
    (
        "per-source(jacobson(global-backoff=false),recent=3)",
        Duration::from_millis(200),
        Duration::from_secs(60),
    ),
    ("per-source(constant(rto=4s),settled=1000000)", FOUR, FOUR),
];

const FOUR: Duration = Duration::from_secs(4);
const TENTH: Duration = Duration::from_millis(100);

const LONGEST: Duration = Duration::from_secs(64);
const DAY: Duration = Duration::from_secs(86_400);

#[derive(Clone, Debug)]
enum Fact {
    Sample(RttSample),
    Trail(RttSample, Vec<Option<u64>>, Vec<Record>),
    Timeout,
    Progress(Duration),
    Answer(Answer),
    Expiry(u32),
}

fn rtt() -> impl Strategy<Value = Duration> {
    prop_oneof![
        8 => (0..2_000_000_000_u64).prop_map(Duration::from_nanos),
        1 => any::<u64>().prop_map(Duration::from_nanos),
        1 => prop_oneof![Just(Duration::ZERO), Just(Duration::MAX)],
    ]
}

fn target() -> impl Strategy<Value = Target> {
    let content = prop_oneof![4 => 0..6_u64, 1 => any::<u64>()];
    let class = prop_oneof![4 => 0..3_u64, 1 => any::<u64>()];
    (content, class).prop_map(|(content, class)| Target { content, class })
}

prop_compose! {
    fn sample()(
        rtt in rtt(),
        segment in any::<u64>(),
        weight_divisor in prop_oneof![
            4 => 1.0..1000.0_f64,
            1 => prop::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE]),
        ],
        target in target(),
        provider in prop::option::of(prop_oneof![4 => 0..5_u64, 1 => any::<u64>()]),
    ) -> RttSample {
        RttSample { rtt, segment, weight_divisor, target, provider }
    }
}

prop_compose! {
    fn record()(
        node in prop_oneof![4 => 0..5_u64, 1 => any::<u64>()],
        holds in any::<u16>(),
        is_origin in any::<bool>(),
        time_nanos in prop_oneof![4 => 0..2_000_000_000_u64, 1 => 0..1_u64 << 48],
    ) -> Record {
        Record { node, holds, is_origin, time_nanos }
    }
}

fn fact() -> impl Strategy<Value = Fact> {
    let announced = prop::collection::vec(prop::option::of(0..6_u64), 0..20);
    let records = prop::collection::vec(record(), 0..6);
    prop_oneof![
        4 => sample().prop_map(Fact::Sample),
        2 => (sample(), announced, records).prop_map(|(sample, announced, records)| {
            Fact::Trail(sample, announced, records)
        }),
        1 => Just(Fact::Timeout),
        1 => rtt().prop_map(Fact::Progress),
        3 => (sample(), 0..5_u32).prop_map(|(sample, timeouts)| {
            Fact::Answer(Answer { sample, timeouts })
        }),
        2 => timeouts().prop_map(Fact::Expiry),
    ]
}

fn timeouts() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 1..5_u32, 1 => any::<u32>()]
}

fn question() -> impl Strategy<Value = Question> {
    let retransmissions = prop_oneof![4 => 0..5_u32, 1 => any::<u32>()];
    (target(), retransmissions)
        .prop_map(|(target, retransmissions)| Question { target, retransmissions })
}

fn apply(estimator: &mut dyn RtoEstimator, now: Instant, fact: &Fact) {
    match fact {
        Fact::Sample(sample) => estimator.on_sample(now, sample),
        Fact::Trail(sample, announced, records) => {
            rto::sample(estimator, now, sample, Some(&Trail { announced, records }));
        }
        Fact::Timeout => estimator.on_timeout(now),
        Fact::Progress(elapsed) => estimator.on_progress(now, *elapsed),
        Fact::Answer(answer) => estimator.on_answer(now, answer),
        Fact::Expiry(timeouts) => estimator.on_expiry(now, *timeouts),
    }
}

#[test]
fn every_name_of_the_family_is_tried() {
    for name in rto::names() {
        assert!(ESTIMATORS.iter().any(|(text, ..)| text.starts_with(name)), "{name}");
    }
}

#[test]
fn printed_text_parses_to_itself() {
    for (text, ..) in ESTIMATORS {
        let printed = rto::parse(text).unwrap().to_string();
        let again = rto::parse(&printed).unwrap();
        assert_eq!(again.to_string(), printed);
        assert_eq!(format!("{again:?}"), format!("{:?}", rto::parse(text).unwrap()));
    }
}

#[test]
fn invalid_parameters_are_errors() {
    for text in [
        "jacobson(alpha=2)",
        "jacobson(k=-1)",
        "jacobson(min=2s,max=1s)",
        "jacobson(max=0s)",
        "jacobson(max=86401s)",
        "jacobson(backoff=0.5)",
        "jacobson(rto=1s)",
        "constant(rto=0s)",
        "jacobson(gains=quick)",
        "reconsidered(min=adaptiv)",
        "reconsidered(min=65s)",
        "reconsidered(max=86401s)",
        "per-provider(weight=age)",
        "per-provider(tau=0s)",
        "predictive(names=16)",
        "predictive(names=-1)",
        "weighted-median(window=0)",
        "weighted-median(decay=1)",
        "experts(experts=1)",
        "experts(share=0)",
        "experts(quantile=1.1)",
        "nearness(trust=0)",
        "nearness(contents=0)",
        "tcp(min=5s)",
        "icp(window=0)",
        "ccntimer(phi=0)",
        "wma(epsilon=-1)",
        "per-source(per-source)",
        "per-source(icp,wma)",
        "jakobson",
    ] {
        assert!(rto::parse(text).is_err(), "{text}");
    }
}

/// The debug text of an estimator contains all its state, so its length represents its memory.
#[test]
fn an_attacker_cannot_make_an_estimator_grow() {
    for (text, ..) in ESTIMATORS {
        let mut estimator = rto::parse(text).unwrap();
        let mut after = Vec::new();
        for n in 0..30_000_u64 {
            let invented = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let target = Target { content: invented, class: invented };
            let rtt = Duration::from_micros(1_000 + n % 977);
            let sample = RttSample { target, provider: Some(invented), ..RttSample::new(n, rtt) };
            let records =
                [Record { node: !invented, holds: 7, is_origin: n % 2 == 0, time_nanos: n }];
            let announced = [Some(n), Some(invented), None];
            let trail = Trail { announced: &announced, records: &records };
            estimator.on_sample(Instant::from_millis(n), &sample);
            rto::sample(estimator.as_mut(), Instant::from_millis(n), &sample, Some(&trail));
            if n % 10_000 == 9_999 {
                after.push(format!("{estimator:?}").len());
            }
        }
        assert!(after[2] < after[0] + after[0] / 5 + 200, "{text}: {after:?}");
        assert!(after[2] < 2_000_000, "{text}: {after:?}");
    }
}

#[test]
fn announcements_fit_a_record() {
    let announced = |text: &str| rto::parse(text).unwrap().anticipating().map(|it| it.announces());
    for (text, ..) in ESTIMATORS {
        assert!(announced(text).is_none_or(|names| names <= MOST_NAMES), "{text}");
    }
    assert_eq!(announced("predictive"), Some(10));
}

proptest! {
    #[test]
    fn the_timeout_keeps_its_bounds_whatever_happens(
        facts in prop::collection::vec((fact(), question(), 0..2_000_u64), 0..60),
    ) {
        for (text, least, most) in ESTIMATORS {
            let mut estimator = rto::parse(text).unwrap();
            let mut now = Instant::ZERO;
            prop_assert!((*least..=*most).contains(&estimator.rto()), "{text}: {:?}", estimator);
            for (fact, question, gap) in &facts {
                now += Duration::from_millis(*gap);
                apply(&mut *estimator, now, fact);
                prop_assert!((*least..=*most).contains(&estimator.rto()), "{text}: {:?}", estimator);
                let of_one = estimator.rto_for(now, question);
                prop_assert!((*least..=*most).contains(&of_one), "{text}: {of_one:?} {estimator:?}");
            }
        }
    }

    #[test]
    fn the_smoothed_time_stays_between_the_extremes(rtts in prop::collection::vec(0..2_000_000_000_u64, 1..60)) {
        let (least, most) = (*rtts.iter().min().unwrap(), *rtts.iter().max().unwrap());
        for (text, ..) in ESTIMATORS {
            let mut estimator = rto::parse(text).unwrap();
            for nanos in &rtts {
                let rtt = Duration::from_nanos(*nanos);
                estimator.on_sample(Instant::ZERO, &RttSample::new(0, rtt));
            }
            if let Some(srtt) = estimator.srtt() {
                // Rounding may cost a nanosecond.
                prop_assert!((least.saturating_sub(1)..=most + 1).contains(&(srtt.as_nanos() as u64)));
            }
        }
    }

    #[test]
    fn a_timeout_never_shortens_the_timeout(
        facts in prop::collection::vec(fact(), 0..60), timeouts in timeouts(),
    ) {
        for (text, ..) in ESTIMATORS {
            let mut estimator = rto::parse(text).unwrap();
            for fact in &facts {
                apply(&mut *estimator, Instant::ZERO, fact);
            }
            let before = estimator.rto();
            estimator.on_timeout(Instant::ZERO);
            prop_assert!(estimator.rto() >= before, "{text}");
            let before = estimator.rto();
            estimator.on_expiry(Instant::ZERO, timeouts);
            prop_assert!(estimator.rto() >= before, "{text}");
        }
    }

    #[test]
    fn retransmission_never_shortens_the_timeout(
        facts in prop::collection::vec(fact(), 0..60), question in question(),
    ) {
        for (text, ..) in ESTIMATORS {
            let mut estimator = rto::parse(text).unwrap();
            for fact in &facts {
                apply(&mut *estimator, Instant::ZERO, fact);
            }
            let retransmissions = question.retransmissions.saturating_add(1);
            let again = Question { retransmissions, ..question };
            let of = |question| estimator.rto_for(Instant::ZERO, question);
            prop_assert!(of(&question) <= of(&again), "{text}");
        }
    }

    #[test]
    fn the_timeout_rises_with_k(
        facts in prop::collection::vec((fact(), question()), 0..60),
        k in 0.0..20.0_f64,
        more in 0.0..20.0_f64,
    ) {
        for text in [
            "jacobson(min=0s",
            "nikzad2022(gains=slow",
            "reconsidered(min=adaptive",
            "per-provider(weight=freshness",
            "per-provider(weight=count",
            "predictive(names=5",
            "weighted-median(min=0s",
            "nearness(trust=3",
        ] {
            let mut low = rto::parse(&format!("{text},k={k})")).unwrap();
            let mut high = rto::parse(&format!("{text},k={})", k + more)).unwrap();
            for (fact, question) in &facts {
                apply(&mut *low, Instant::ZERO, fact);
                apply(&mut *high, Instant::ZERO, fact);
                prop_assert!(low.rto() <= high.rto(), "{text}");
                let of = |estimator: &dyn RtoEstimator| estimator.rto_for(Instant::ZERO, question);
                prop_assert!(of(&*low) <= of(&*high), "{text}");
            }
        }
    }

    #[test]
    fn the_same_facts_give_the_same_answers(
        facts in prop::collection::vec((fact(), question()), 0..60),
    ) {
        for (text, ..) in ESTIMATORS {
            let (mut one, mut other) = (rto::parse(text).unwrap(), rto::parse(text).unwrap());
            for (fact, question) in &facts {
                apply(&mut *one, Instant::ZERO, fact);
                apply(&mut *other, Instant::ZERO, fact);
                prop_assert_eq!(one.rto(), other.rto(), "{}", text);
                let of = |it: &dyn RtoEstimator| it.rto_for(Instant::ZERO, question);
                prop_assert_eq!(of(&*one), of(&*other), "{}", text);
            }
        }
    }

    #[test]
    fn any_parameters_are_read_as_they_are_printed(
        gains in (0.0..=1.0_f64, 0.0..=1.0_f64, 0.0..=1e6_f64, 1.0..=1e6_f64),
        nanos in (1_000..1_000_000_000_u64, 0..1_000_000_000_u64, 1_000_000_000..86_400_000_000_000_u64),
    ) {
        let ((alpha, beta, k, backoff), (init, min, max)) = (gains, nanos);
        let text = format!(
            "jacobson(alpha={alpha},beta={beta},k={k},init={init}ns,min={min}ns,max={max}ns,backoff={backoff})"
        );
        let estimator = rto::parse(&text).unwrap();
        let again = rto::parse(&estimator.to_string()).unwrap();
        prop_assert_eq!(format!("{again:?}"), format!("{estimator:?}"));
    }
}
