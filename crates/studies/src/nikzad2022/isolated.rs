//! Isolating runs: changes that turn C-09, C-14, C-29, C-30 and C-36.
use super::open::{ALONE, NO_CACHES_ALONE, OWN};
use super::scenario::with_requests;
use super::timer::{
    BASIC, ENDS, Gains, Jacobson, Other, PER_PROVIDER, PREDICTIVE, RECONSIDERED, S, axis,
    exponents, floored,
};
use crate::isolated::Isolated;
use crate::study::Experiment;

/// Contents that many want are at the consumer's own node, and more requests are for these.
const NEAR: &str = r#""nodes.consumer.cache" = "500 packets"
"applications.c.popularity.q" = 0.7"#;
/// Links as long as each other, and little room: a consumer's round trips are alike.
const SHORT: &str = r#""link.delay" = "5 ms"
"node.cache" = "20 packets""#;
/// Each content was received before, and more timeouts are necessary.
const FEW: &str = r#""applications.c.contents" = 100
"link.loss" = "bernoulli(p=0.03)""#;
/// Each Interest takes the shortest way.
const ONE_WAY: &str = r#""node.strategy" = "best-route"
"routing.paths" = "shortest""#;
/// Producers farther than 100 ms, and queues that are mostly empty.
const FAR: &str = r#""node.cache" = "0"
"link.delay" = "20 ms"
"link.rate" = "10 Mbit/s""#;

pub(super) fn isolated() -> Vec<Isolated> {
    let very_slow = Jacobson { gains: Gains::VerySlow, ..BASIC };
    let fast = Jacobson { gains: Gains::Fast, ..BASIC };
    vec![
        Isolated {
            claim: "C-09",
            change: "3 changes: caches of 500 packets at the consumers' own nodes, q of 0.7; 2,000 requests",
            experiment: experiment(
                "isolated-C-09",
                (2_000, &[floored(100), floored(200)], &[]),
                &S,
                &[NEAR],
            ),
            seeds: "101..700",
            places: &["floor", "many-floors"],
        },
        Isolated {
            claim: "C-14",
            change: "4 changes; leaves stated numbers (Sprint's delays, caches of 5 %): a catalogue for each pair, 5 ms a link, caches of 20 packets; 10,000 requests",
            experiment: experiment(
                "isolated-C-14",
                (10_000, &[very_slow, fast], &[]),
                &["1.5"],
                &[OWN, SHORT],
            ),
            seeds: "101..120",
            places: &["gains"],
        },
        Isolated {
            claim: "C-29",
            change: "6 changes; leaves stated numbers (caches of 5 %, 1 Mbit/s, 10,000 contents): no caches, windows of 1, 10 Mbit/s a link, losses of 3 %, a catalogue of 100 contents; 3,000 requests",
            experiment: experiment(
                "isolated-C-29",
                (3_000, &[BASIC, RECONSIDERED], &[PER_PROVIDER, PREDICTIVE]),
                &S,
                &[NO_CACHES_ALONE, FEW],
            ),
            seeds: "101..130",
            places: &["floor", "factor", "estimators"],
        },
        Isolated {
            claim: "C-30",
            change: "6 changes; leaves stated numbers (caches of 5 %, Sprint's delays, 1 Mbit/s): a catalogue for each pair, no caches, one way, 20 ms a link, 10 Mbit/s a link; 10,000 requests",
            experiment: experiment(
                "isolated-C-30",
                (10_000, &[BASIC, RECONSIDERED], &[PER_PROVIDER]),
                &S,
                &[OWN, ONE_WAY, FAR],
            ),
            seeds: "101..120",
            places: &["floor", "factor", "estimators"],
        },
        Isolated {
            claim: "C-36",
            change: "6 changes; leaves stated numbers (pairs 4 to 10 hops apart, 1 Mbit/s): no aggregation, windows of 1, pairs 2 to 10 hops apart, one way, links of 0.7 Mbit/s; 5,000 requests",
            experiment: experiment(
                "isolated-C-36",
                (5_000, &[floored(100)], &[]),
                &ENDS,
                &[ALONE, ONE_WAY, r#""link.rate" = "0.7 Mbit/s""#],
            ),
            seeds: "201..300",
            places: &["floor"],
        },
    ]
}

/// The study's scenario with so many requests, these timers and exponents, and other values in some fields.
fn experiment(
    name: &'static str,
    (requests, jacobson, others): (u64, &[Jacobson], &[Other]),
    s: &[&str],
    fields: &[&str],
) -> Experiment {
    let scenario = with_requests(requests)
        + &axis(jacobson, others)
        + &exponents(s)
        + &format!("[sweep.instead.isolated]\n{}\n", fields.join("\n"));
    Experiment { name, serves: &[], scenario, files: &[], seeds: 0, curves: None }
}
