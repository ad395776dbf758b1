//! Parameters that the paper leaves open, with the values tried in their place.
use super::scenario::{seeds, with_requests};
use super::timer::{
    BASIC, ENDS, Gains, Jacobson, Other, PER_PROVIDER, PREDICTIVE, RECONSIDERED, axis, exponents,
    floored,
};
use crate::study::{Experiment, Scale};

/// A parameter that the paper does not state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The experiment that tries the other values, and the figure that it serves.
    pub experiment: &'static str,
    /// The parameter, in words.
    pub parameter: &'static str,
    /// The value assumed elsewhere.
    pub assumed: &'static str,
    /// Alternative values, each with the fields to set.
    pub values: &'static [(&'static str, &'static str)],
}

/// The experiment with all assumptions, with the number of requests of its alternatives.
pub(super) const ASSUMED: &str = "open-none";
/// The axis on which the values of a parameter stand.
pub(super) const AXIS: &str = "instead";

pub(super) static OPEN: [Open; 9] = [
    Open {
        experiment: "open-map",
        parameter: "map of Sprint",
        assumed: "315 routers by hops",
        values: &[("52 cities by delay", CITIES), ("315 routers by delay", BY_DELAY)],
    },
    Open {
        experiment: "open-loss",
        parameter: "where packets are lost",
        assumed: "1 % on each link",
        values: &[("only in full queues", r#""link.loss" = "none""#)],
    },
    Open {
        experiment: "open-consumer",
        parameter: "what the consumer does with its timers and its window",
        assumed: "exact timers, a window by one in a round trip",
        values: &[
            ("ndnSIM's consumer", CONSUMER_WHOLE),
            ("the same, losses only in queues", CONSUMER_QUEUES),
        ],
    },
    Open {
        experiment: "open-q",
        parameter: "q of Zipf–Mandelbrot",
        assumed: "16",
        values: &[("0.7", r#""applications.c.popularity.q" = 0.7"#)],
    },
    Open {
        experiment: "open-ways",
        parameter: "which way Interests take",
        assumed: "the quickest of three",
        values: &[(
            "the shortest",
            "\"node.strategy\" = \"best-route\"\n\"routing.paths\" = \"shortest\"",
        )],
    },
    Open {
        experiment: "open-near",
        parameter: "cache of the consumer's own node",
        assumed: "none",
        values: &[("5 % of the catalogue", r#""nodes.consumer.cache" = "500 packets""#)],
    },
    Open {
        experiment: "open-catalogue",
        parameter: "where contents are",
        assumed: "each at one of the 20 producers",
        values: &[("a catalogue for each pair", OWN)],
    },
    Open {
        experiment: "open-together",
        parameter: "what makes timeouts spurious, together",
        assumed: "all of it",
        values: &[
            ("no aggregation, windows of 1, 10 Mbit/s", ALONE_QUICK),
            ("these, and 5 ms a link", ALONE_QUICK_NEAR),
        ],
    },
    Open {
        experiment: CACHES,
        parameter: "caches of routers",
        assumed: "5 % of the catalogue",
        values: &[
            ("none", r#""node.cache" = "0""#),
            ("none, windows of 1, 10 Mbit/s", NO_CACHES_ALONE),
        ],
    },
];

/// The map that the study had until 30 November 2026.
const CITIES: &str = "\"topology.kind\" = \"sprint\"\n\"routing.metric\" = \"delay\"";
const BY_DELAY: &str = r#""routing.metric" = "delay""#;

/// The figures that need what is assumed.
const FIGURES: &[&str] = &[
    "open-map",
    "open-loss",
    "open-consumer",
    "open-q",
    "open-ways",
    "open-near",
    "open-catalogue",
    "open-together",
    CACHES,
];

/// The experiment without caches, which has Predictive, too.
const CACHES: &str = "open-caches";

/// ndnSIM looks at timers every 50 ms (`Consumer::CheckRetxTimeout`). All requests share a backoff. The window grows by one
/// with each Data, and Interests live for 2 s.
const CONSUMER_WHOLE: &str = r#""applications.c.rto-scan" = "50 ms"
"applications.c.rto.global-backoff" = true
"applications.c.arrival" = "window(congestion=nikzad2022(ndnsim=true))"
"applications.c.lifetime" = "2 s""#;
/// Nothing that the paper and its tool do not have.
const CONSUMER_QUEUES: &str = r#""applications.c.rto-scan" = "50 ms"
"applications.c.rto.global-backoff" = true
"applications.c.arrival" = "window(congestion=nikzad2022(ndnsim=true))"
"applications.c.lifetime" = "2 s"
"link.loss" = "none""#;
const ALONE_QUICK: &str = r#""node.suppression" = "soft-hard(soft=0ms)"
"applications.c.arrival" = "window(congestion=fixed(window=1))"
"link.rate" = "10 Mbit/s""#;
const ALONE_QUICK_NEAR: &str = r#""node.suppression" = "soft-hard(soft=0ms)"
"applications.c.arrival" = "window(congestion=fixed(window=1))"
"link.rate" = "10 Mbit/s"
"link.delay" = "5 ms""#;
const NO_CACHES_ALONE: &str = r#""node.cache" = "0"
"applications.c.arrival" = "window(congestion=fixed(window=1))"
"link.rate" = "10 Mbit/s""#;
/// Each consumer requests from its own producer.
pub(super) const OWN: &str = r#""applications.c.prefix" = "/part/{k}""#;

/// Timers that suffice to judge most claims.
pub(super) fn timers() -> Vec<Jacobson> {
    let very_slow = Jacobson { gains: Gains::VerySlow, ..BASIC };
    let very_fast = Jacobson { gains: Gains::VeryFast, ..BASIC };
    vec![
        BASIC,
        floored(100),
        floored(200),
        very_slow,
        Jacobson { k: 8, ..very_slow },
        very_fast,
        RECONSIDERED,
    ]
}

const OTHERS: [Other; 1] = [PER_PROVIDER];
const WITH_PREDICTIVE: [Other; 2] = [PER_PROVIDER, PREDICTIVE];

/// Requests of each consumer: half of what the paper's own experiments have at the same scale.
const fn requests(scale: Scale) -> u64 {
    if matches!(scale, Scale::Smoke) { 20 } else { 500 }
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let small = scale == Scale::Smoke;
    let timers = if small { vec![BASIC, RECONSIDERED] } else { timers() };
    let others: &[Other] = if small { &[] } else { &OTHERS };
    let experiment = |name, serves, values: &[(&str, &str)]| {
        let others = if name == CACHES { &WITH_PREDICTIVE } else { others };
        let base = with_requests(requests(scale)) + &axis(&timers, others) + &exponents(&ENDS);
        let one =
            |(value, fields): &(&str, &str)| format!("[sweep.{AXIS}.\"{value}\"]\n{fields}\n");
        let values: String = values.iter().map(one).collect();
        let (scenario, seeds) = (base + &values, seeds(scale));
        Experiment { name, serves, scenario, files: &[], seeds, curves: None }
    };
    let of = |open: &'static Open| {
        experiment(open.experiment, std::slice::from_ref(&open.experiment), open.values)
    };
    let assumed = std::iter::once(experiment(ASSUMED, FIGURES, &[]));
    // Small runs only show that everything works: one parameter does.
    let tried = if small { 1 } else { OPEN.len() };
    assumed.chain(OPEN.iter().take(tried).map(of)).collect()
}
