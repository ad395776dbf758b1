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

pub(super) static OPEN: [Open; 12] = [
    Open {
        experiment: "open-loss",
        parameter: "where packets are lost",
        assumed: "1 % on each link",
        values: &[
            ("only in full queues", r#""link.loss" = "none""#),
            ("0.1 % on each link", r#""link.loss" = "bernoulli(p=0.001)""#),
            ("3 % on each link", r#""link.loss" = "bernoulli(p=0.03)""#),
            (
                "only in queues of 10 packets",
                "\"link.loss\" = \"none\"\n\"link.queue\" = \"10 packets\"",
            ),
        ],
    },
    Open {
        experiment: "open-window",
        parameter: "how the window grows",
        assumed: "by one in a round trip",
        values: &[
            ("ndnSIM's: by one with each Data", NDNSIM),
            ("the same, losses only in queues", NDNSIM_QUEUES),
        ],
    },
    Open {
        experiment: CONSUMER,
        parameter: "what the consumer does with timers and pending contents",
        assumed: "exact timers, one for a name",
        values: &[
            ("a timer for each request", ASK),
            ("timers looked at every 50 ms", SCAN),
            ("the same, and one back-off for all", CONSUMER_BASE),
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
        values: &[
            (
                "two in turns",
                "\"node.strategy\" = \"multipath\"\n\"routing.paths\" = \"loop-free(2)\"",
            ),
            (
                "the shortest",
                "\"node.strategy\" = \"best-route\"\n\"routing.paths\" = \"shortest\"",
            ),
        ],
    },
    Open {
        experiment: "open-repeats",
        parameter: "what routers do with repeated Interests",
        assumed: "pass them on",
        values: &[("wait for the first", r#""node.suppression" = "strict""#)],
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
        values: &[("a catalogue for each pair", OWN), ("all at each producer", EVERYWHERE)],
    },
    Open {
        experiment: BACK_OFF,
        parameter: "back-off",
        assumed: "of each Interest",
        values: &[("ndnSIM's, of all together", r#""applications.c.rto.global-backoff" = true"#)],
    },
    Open {
        experiment: "open-lifetime",
        parameter: "lifetime of Interests",
        assumed: "4 s",
        values: &[("2 s", r#""applications.c.lifetime" = "2 s""#)],
    },
    Open {
        experiment: "open-together",
        parameter: "what makes timeouts spurious, together",
        assumed: "all of it",
        values: &[
            ("no aggregation, windows of 1", ALONE),
            ("these, and links of 10 Mbit/s", ALONE_QUICK),
            ("these, and 5 ms a link", ALONE_QUICK_NEAR),
        ],
    },
    Open {
        experiment: CACHES,
        parameter: "caches of routers",
        assumed: "5 % of the catalogue",
        values: &[("none", NO_CACHES), ("none, windows of 1, 10 Mbit/s", NO_CACHES_ALONE)],
    },
];

/// The figures that need what is assumed.
const FIGURES: &[&str] = &[
    "open-loss",
    "open-window",
    CONSUMER,
    "open-q",
    "open-ways",
    "open-repeats",
    "open-near",
    "open-catalogue",
    BACK_OFF,
    "open-lifetime",
    "open-together",
    CACHES,
];

/// The experiment without caches, which has Predictive, too.
const CACHES: &str = "open-caches";

const BACK_OFF: &str = "open-back-off";
/// The experiment with parts of ndnSIM's consumer, and the figure of all that have all of it.
pub(super) const CONSUMER: &str = "open-consumer";

/// A timer is looked at every 50 ms, and ends by the estimate of that time: `Consumer::CheckRetxTimeout` of ndnSIM.
const SCAN: &str = r#""applications.c.rto-scan" = "50 ms""#;
/// ndnSIM keeps state by name: a content that is waited for has no second timer. This is otherwise.
const ASK: &str = r#""applications.c.pending" = "ask""#;
/// Parts that all consumers of ndnSIM have in common.
const CONSUMER_BASE: &str = r#""applications.c.rto-scan" = "50 ms"
"applications.c.rto.global-backoff" = true"#;
/// These, a window that grows by one with each Data, and a lifetime of 2 s.
const CONSUMER_WHOLE: &str = r#""applications.c.rto-scan" = "50 ms"
"applications.c.rto.global-backoff" = true
"applications.c.arrival" = "window(congestion=nikzad2022(ndnsim=true))"
"applications.c.lifetime" = "2 s""#;
/// Nothing that the paper and its tool do not have.
pub(super) const CONSUMER_QUEUES: &str = r#""applications.c.rto-scan" = "50 ms"
"applications.c.rto.global-backoff" = true
"applications.c.arrival" = "window(congestion=nikzad2022(ndnsim=true))"
"applications.c.lifetime" = "2 s"
"link.loss" = "none""#;

const NDNSIM: &str = r#""applications.c.arrival" = "window(congestion=nikzad2022(ndnsim=true))""#;
const NDNSIM_QUEUES: &str = r#""link.loss" = "none"
"applications.c.arrival" = "window(congestion=nikzad2022(ndnsim=true))""#;
pub(super) const ALONE: &str = r#""node.suppression" = "soft-hard(soft=0ms)"
"applications.c.arrival" = "window(congestion=fixed(window=1))"
"places.producer.hops" = "2..10""#;
const ALONE_QUICK: &str = r#""node.suppression" = "soft-hard(soft=0ms)"
"applications.c.arrival" = "window(congestion=fixed(window=1))"
"places.producer.hops" = "2..10"
"link.rate" = "10 Mbit/s""#;
const ALONE_QUICK_NEAR: &str = r#""node.suppression" = "soft-hard(soft=0ms)"
"applications.c.arrival" = "window(congestion=fixed(window=1))"
"places.producer.hops" = "2..10"
"link.rate" = "10 Mbit/s"
"link.delay" = "5 ms""#;
const NO_CACHES: &str = r#""node.cache" = "0""#;
pub(super) const NO_CACHES_ALONE: &str = r#""node.cache" = "0"
"applications.c.arrival" = "window(congestion=fixed(window=1))"
"link.rate" = "10 Mbit/s""#;
pub(super) const OWN: &str = r#""applications.c.prefix" = "/part/{k}""#;
const EVERYWHERE: &str = r#""applications.c.prefix" = "/part"
"applications.p.prefix" = "/part""#;

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
        // PerProvider has no floor: where answers take no time, the largest back-off that all Interests share is
        // little more than nothing, and it repeats millions of times.
        let others = match name {
            BACK_OFF => &[][..],
            CACHES => &WITH_PREDICTIVE,
            _ => others,
        };
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
