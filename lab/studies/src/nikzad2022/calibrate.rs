//! Search for the network of Figure 3, in its round trips and first timeouts. Both gate nothing.
use super::open::OWN;
use super::scenario::with_requests;
use super::timer::{ENDS, floored};
use crate::calibration::Calibration;
use crate::sweep::{axis, changed};

/// The axis whose values belong to each candidate.
const S: &str = "s";

const MAPS: [(&str, &str); 2] = [
    ("52 cities by delay", "\"topology.kind\" = \"sprint\"\n\"routing.metric\" = \"delay\""),
    (
        "315 routers by hops",
        "\"topology.kind\" = \"sprint-routers\"\n\"routing.metric\" = \"hops\"",
    ),
];
const DRAWS: [&str; 6] = ["1", "2", "3", "4", "5", "6"];
const LOSSES: [(&str, &str); 2] = [
    ("1 %", r#""link.loss" = "bernoulli(p=0.01)""#),
    ("only in full queues", r#""link.loss" = "none""#),
];
const CATALOGUES: [(&str, &str); 2] = [
    ("at one of 20 producers", r#""applications.c.prefix" = "/part/{1..20}""#),
    ("a catalogue for each pair", OWN),
];

/// The candidates, each at both ends of the exponents.
fn space() -> String {
    let values = |all: &[(&'static str, &'static str)]| -> Vec<(&'static str, String)> {
        all.iter().map(|(name, fields)| (*name, (*fields).to_owned())).collect()
    };
    let exponent = |s: &'static str| (s, format!("\"applications.c.popularity.s\" = {s}"));
    let seed = |place: &str, draw| format!("\"places.{place}.seed\" = {draw}\n");
    let draw = |draw: &'static str| (draw, seed("consumer", draw) + &seed("producer", draw));
    [
        axis(S, ENDS.map(exponent)),
        axis("map", values(&MAPS)),
        axis("pairs", DRAWS.map(draw)),
        axis("losses", values(&LOSSES)),
        axis("contents", values(&CATALOGUES)),
    ]
    .concat()
}

/// The fields that the axes set.
const SEARCHED: [&[&str]; 6] = [
    &["topology", "kind"],
    &["routing", "metric"],
    &["places", "consumer", "seed"],
    &["places", "producer", "seed"],
    &["link", "loss"],
    &["applications", "c", "prefix"],
];

/// The search.
pub(super) fn calibration() -> Calibration {
    let scenario = changed(&with_requests(1_000), |scenario| {
        SEARCHED.iter().for_each(|path| scenario.unset(path));
        scenario.set(&["applications", "c", "rto"], floored(100).spec().as_str());
    });
    let (targets, frozen) = (include_str!("targets.toml"), include_str!("calibration.toml"));
    Calibration::read(targets, scenario + &space(), frozen)
}
