//! What holds for every RTO estimator, whatever it is told.
use proptest::prelude::*;
use recoup_transport::rto::{self, RtoEstimator, RttSample, SHORTEST};
use recoup_transport::time::{Duration, Instant};

/// Every estimator that is tried, with the bounds that its timeout must keep. A new estimator adds
/// its lines here.
const ESTIMATORS: &[(&str, Duration, Duration)] = &[
    ("constant", Duration::from_secs(4), Duration::from_secs(4)),
    ("constant(rto=1us)", SHORTEST, SHORTEST),
    ("jacobson", Duration::from_millis(200), Duration::from_secs(60)),
    ("jacobson(k=8,min=5ms,max=5ms)", Duration::from_millis(5), Duration::from_millis(5)),
    ("jacobson(min=0s,max=1us)", SHORTEST, SHORTEST),
    ("jacobson(alpha=1,beta=1,k=0,min=0s,max=86400s)", SHORTEST, Duration::from_secs(86_400)),
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
    ("yang2016", SHORTEST, Duration::from_secs(20)),
    ("rfc6298", Duration::from_secs(1), Duration::from_secs(60)),
];

#[derive(Clone, Debug)]
enum Fact {
    Sample(RttSample),
    Timeout,
}

fn rtt() -> impl Strategy<Value = Duration> {
    prop_oneof![
        8 => (0..2_000_000_000_u64).prop_map(Duration::from_nanos),
        1 => any::<u64>().prop_map(Duration::from_nanos),
        1 => prop_oneof![Just(Duration::ZERO), Just(Duration::MAX)],
    ]
}

fn fact() -> impl Strategy<Value = Fact> {
    let divisor = prop_oneof![
        4 => 1.0..1000.0_f64,
        1 => prop::sample::select(vec![0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE]),
    ];
    prop_oneof![
        4 => (rtt(), any::<u64>(), divisor).prop_map(|(rtt, segment, weight_divisor)| {
            Fact::Sample(RttSample { rtt, segment, weight_divisor })
        }),
        1 => Just(Fact::Timeout),
    ]
}

fn tell(estimator: &mut dyn RtoEstimator, now: Instant, fact: &Fact) {
    match fact {
        Fact::Sample(sample) => estimator.on_sample(now, sample),
        Fact::Timeout => estimator.on_timeout(now),
    }
}

#[test]
fn every_name_of_the_family_is_tried() {
    for name in rto::names() {
        assert!(ESTIMATORS.iter().any(|(text, ..)| text.starts_with(name)), "{name}");
    }
}

#[test]
fn what_is_printed_is_read_back() {
    for (text, ..) in ESTIMATORS {
        let printed = rto::parse(text).unwrap().to_string();
        let again = rto::parse(&printed).unwrap();
        assert_eq!(again.to_string(), printed);
        assert_eq!(format!("{again:?}"), format!("{:?}", rto::parse(text).unwrap()));
    }
}

#[test]
fn parameters_that_cannot_be_meant_are_refused() {
    for text in [
        "jacobson(alpha=2)",
        "jacobson(k=-1)",
        "jacobson(min=2s,max=1s)",
        "jacobson(max=0s)",
        "jacobson(max=86401s)",
        "jacobson(backoff=0.5)",
        "jacobson(rto=1s)",
        "constant(rto=0s)",
        "jakobson",
    ] {
        assert!(rto::parse(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn the_timeout_keeps_its_bounds_whatever_happens(facts in prop::collection::vec(fact(), 0..60)) {
        for (text, least, most) in ESTIMATORS {
            let mut estimator = rto::parse(text).unwrap();
            let mut now = Instant::ZERO;
            prop_assert!((*least..=*most).contains(&estimator.rto()), "{text}: {:?}", estimator);
            for fact in &facts {
                now += Duration::from_millis(1);
                tell(&mut *estimator, now, fact);
                prop_assert!((*least..=*most).contains(&estimator.rto()), "{text}: {:?}", estimator);
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
                estimator.on_sample(Instant::ZERO, &RttSample { rtt, segment: 0, weight_divisor: 1.0 });
            }
            if let Some(srtt) = estimator.srtt() {
                // Rounding may cost a nanosecond.
                prop_assert!((least.saturating_sub(1)..=most + 1).contains(&(srtt.as_nanos() as u64)));
            }
        }
    }

    #[test]
    fn a_timeout_never_shortens_the_timeout(facts in prop::collection::vec(fact(), 0..60)) {
        for (text, ..) in ESTIMATORS {
            let mut estimator = rto::parse(text).unwrap();
            for fact in &facts {
                tell(&mut *estimator, Instant::ZERO, fact);
            }
            let before = estimator.rto();
            estimator.on_timeout(Instant::ZERO);
            prop_assert!(estimator.rto() >= before, "{text}");
        }
    }

    #[test]
    fn jacobson_rises_with_k(facts in prop::collection::vec(fact(), 0..60), k in 0.0..20.0_f64, more in 0.0..20.0_f64) {
        let mut low = rto::parse(&format!("jacobson(k={k},min=0s)")).unwrap();
        let mut high = rto::parse(&format!("jacobson(k={},min=0s)", k + more)).unwrap();
        for fact in &facts {
            tell(&mut *low, Instant::ZERO, fact);
            tell(&mut *high, Instant::ZERO, fact);
            prop_assert!(low.rto() <= high.rto());
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
