//! Search for the network of Figure 3, in its round trips and first timeouts. Both gate nothing.
use super::open::OWN;
use super::scenario::with_requests;
use super::timer::{ENDS, floored};
use crate::calibration::Calibration;
use crate::sweep::{axis, changed};
use recoup_lab::calibrate::{Deviation, Measure, Round, Target};

const ABOUT: &str = "\
Figure 3 states round trips with RTO_min of 100 ms: from 0 to 150 ms at low s, most close to 100 ms at high s (C-10b).\n\
First timeouts lie between 100 and 200 ms (C-11a). Neither claim gates.\n\n\
The paper names Sprint's network of Rocketfuel, routers, and 20 random pairs that are 4 to 10 hops apart.\n\
Two maps have paths of 10 hops at most: 52 cities by delay, and 315 routers by hops, which is ndnSIM's routing.\n\
Delays are those of the map. The pairs are not listed: a draw is one of six, and all runs of a candidate have it.\n\
Losses of links and places of contents are searched besides. ndnSIM's consumer is not: in trial runs 95 % of its round\n\
trips took up to 0.95 s on either map. Trial runs of the draws, one each, preceded this space.\n\n\
Each candidate makes 1,000 requests of each consumer at s = 1 and 2. Any value inside a range meets it.\n\
One unit is 2 % above the range of round trips, so no other number can outweigh that range.\n\
Of equally near candidates the first in the space is taken.";

const ROUNDS: &[Round] = &[
    Round { seeds: 1, candidates: usize::MAX },
    Round { seeds: 4, candidates: 8 },
    Round { seeds: 20, candidates: 2 },
];

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
    let target = |name, metric, s, wanted, deviation| {
        let measure = Measure::Mean { metric, at: Some(s) };
        Target { name, measure, wanted, unit: "s", deviation }
    };
    let (rtt, rto) = (Deviation::AtMost(0.02), Deviation::AtMost(0.2));
    let near = Deviation::Relative(0.2);
    let scenario = changed(&with_requests(1_000), |scenario| {
        SEARCHED.iter().for_each(|path| scenario.unset(path));
        scenario.set(&["applications", "c", "rto"], floored(100).spec().as_str());
    });
    Calibration {
        scenario: scenario + &space(),
        inner: Some(S),
        targets: vec![
            target("C-10b: 95 % of round trips, s = 1", "all.rtt_p95_s", "1", 0.15, rtt),
            target("C-10b: 95 % of round trips, s = 2", "all.rtt_p95_s", "2", 0.15, rtt),
            target("C-10b: median round trip, s = 2", "all.rtt_p50_s", "2", 0.1, near),
            target("C-11a: 95 % of first timeouts, s = 1", "all.rto_p95_s", "1", 0.2, rto),
            target("C-11a: 95 % of first timeouts, s = 2", "all.rto_p95_s", "2", 0.2, rto),
        ],
        rounds: ROUNDS,
        about: ABOUT,
        drawn: ("pairs", "map"),
        frozen: Some(include_str!("calibration.toml")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nikzad2022::scenario::experiments;
    use crate::study::Scale;

    #[test]
    fn base_network_is_the_frozen_choice() {
        let all = experiments(Scale::Check);
        let base = all.iter().find(|it| it.name == "floor").unwrap().networks();
        let chosen = calibration().chosen();
        assert_eq!(chosen.len(), ENDS.len());
        for (stage, s) in chosen.into_iter().zip(ENDS) {
            let label = format!("timer={}, s={s}", floored(100).label());
            let (_, base) = base.iter().find(|(own, _)| *own == label).unwrap();
            let chosen = stage.scenario().unwrap().network(1).unwrap();
            assert_eq!(format!("{base:#?}"), format!("{chosen:#?}"), "{label}");
        }
    }
}
