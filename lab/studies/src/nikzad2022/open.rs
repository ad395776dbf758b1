//! Parameters that the paper leaves open, with the values tried in their place.
use super::scenario::{seeds, with_requests};
use super::timer::{
    BASIC, ENDS, Gains, Jacobson, Other, PER_PROVIDER, PREDICTIVE, RECONSIDERED, axis, exponents,
    floored, named,
};
use crate::study::{Experiment, Scale};
use crate::sweep;

/// A parameter that the paper does not state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The experiment that tries the other values, and the figure that it serves.
    pub experiment: &'static str,
    /// The parameter, in words.
    pub parameter: &'static str,
    /// The value assumed elsewhere.
    pub assumed: &'static str,
}

impl Open {
    /// The axis of `axes.toml` with the other values.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        named(self.experiment).values()
    }
}

const fn open(experiment: &'static str, parameter: &'static str, assumed: &'static str) -> Open {
    Open { experiment, parameter, assumed }
}

/// The experiment with all assumptions, with the number of requests of its alternatives.
pub(super) const ASSUMED: &str = "open-none";
/// The axis on which the values of a parameter stand.
pub(super) const AXIS: &str = "instead";

pub(super) static OPEN: [Open; 9] = [
    open("open-map", "map of Sprint", "315 routers by hops"),
    open("open-loss", "where packets are lost", "1 % on each link"),
    open(
        "open-consumer",
        "what the consumer does with its timers and its window",
        "exact timers, a window by one in a round trip",
    ),
    open("open-q", "q of Zipf–Mandelbrot", "16"),
    open("open-ways", "which way Interests take", "the quickest of three"),
    open("open-near", "cache of the consumer's own node", "none"),
    open("open-catalogue", "where contents are", "each at one of the 20 producers"),
    open("open-together", "what makes timeouts spurious, together", "all of it"),
    open(CACHES, "caches of routers", "5 % of the catalogue"),
];

/// The experiment without caches, which has Predictive, too.
const CACHES: &str = "open-caches";

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
    let experiment = |name| {
        let others = if name == CACHES { &WITH_PREDICTIVE } else { others };
        let base = with_requests(requests(scale)) + &axis(&timers, others) + &exponents(&ENDS);
        let values = named(name).values().map(|(value, fields)| (value, fields.to_owned()));
        Experiment::new(name, base + &sweep::axis(AXIS, values), seeds(scale))
    };
    let assumed = std::iter::once(experiment(ASSUMED));
    // Small runs only show that everything works: one parameter does.
    let tried = if small { 1 } else { OPEN.len() };
    assumed.chain(OPEN.iter().take(tried).map(|open| experiment(open.experiment))).collect()
}
