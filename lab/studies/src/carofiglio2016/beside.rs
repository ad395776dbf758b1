//! The default transport on the paper's networks, beside RAAQM with the paper's timers.
use super::axis::{self, BOTH, ELN, FAST, MLDR, MOVES, NOTHING, SLOW, TIMER, WLDR};
use super::runs::Runs;
use super::scenario::{Net, experiment};
use crate::beside::{self, Beside, DEFAULT};
use crate::figure::Figure;
use crate::result::Results;
use crate::study::{Experiment, Scale};

/// The axis of transports: RAAQM with a timer in milliseconds, or the default.
const TRANSPORT: &str = "transport";
/// The timers, in milliseconds, of the wireless network and of the others.
const WIRELESS: [&str; 3] = ["60", "100", "500"];
const OTHERS: [&str; 2] = ["500", "1000"];
/// The recoveries, by the axis of each network.
const RECOVERIES: [&str; 3] = [NOTHING, ELN, WLDR];
const NETWORKS: [&str; 4] = [NOTHING, WLDR, MLDR, BOTH];

fn transports(timers: &[&'static str]) -> String {
    let papers: Vec<_> = timers.iter().map(|millis| (name(millis), axis::timer(millis))).collect();
    let papers = papers.iter().map(|(name, fields)| (name.as_str(), fields.clone()));
    axis::axis(TRANSPORT, papers.chain([(DEFAULT, beside::fields())]))
}

fn name(millis: &str) -> String {
    format!("RAAQM, {millis} ms")
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    // Small runs only show that everything works.
    let chosen = if scale == Scale::Smoke { &[FAST][..] } else { &[SLOW, FAST] };
    let speeds = |nodes: &[&str]| axis::speeds(nodes, chosen);
    vec![
        experiment(
            "default-wireless",
            Net::Wireless,
            scale,
            &[transports(&WIRELESS), axis::RECOVERY.only(&RECOVERIES)],
        ),
        experiment(
            "default-mobile",
            Net::Mobile,
            scale,
            &[transports(&OTHERS), axis::MOBILITY.only(&MOVES), speeds(&["mobile"])],
        ),
        experiment(
            "default-joint",
            Net::Joint,
            scale,
            &[transports(&OTHERS), axis::NETWORK.only(&axis::JOINT), speeds(&["'m{1..10}'"])],
        ),
    ]
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let wireless = figure(
        results,
        &Beside {
            id: "default-wireless",
            network: "two radio links",
            transports: WIRELESS.map(name).into(),
            situations: ("recovery", RECOVERIES.into()),
            why: WIRELESS_WHY,
        },
        None,
    );
    let mobile = |speed| {
        let (id, network) = if speed == SLOW {
            ("default-mobile-slow", "a moving producer, 3 km/h")
        } else {
            ("default-mobile", "a moving producer, 50 km/h")
        };
        let transports = OTHERS.map(name).into();
        let situations = ("mobility", vec![TIMER, ELN, MLDR]);
        figure(
            results,
            &Beside { id, network, transports, situations, why: MOVES_WHY },
            Some(speed),
        )
    };
    let joint = |speed| {
        let (id, network) = if speed == SLOW {
            ("default-joint-slow", "radio links and moves, 3 km/h")
        } else {
            ("default-joint", "radio links and moves, 50 km/h")
        };
        let transports = OTHERS.map(name).into();
        let situations = ("network", NETWORKS.into());
        figure(
            results,
            &Beside { id, network, transports, situations, why: MOVES_WHY },
            Some(speed),
        )
    };
    vec![wireless, mobile(SLOW), mobile(FAST), joint(SLOW), joint(FAST)]
}

const WIRELESS_WHY: &str =
    "Its ten flows share the radio less evenly, and the last ones end later.";
const MOVES_WHY: &str =
    "Where WLDR repairs the losses of the radio, RAAQM is faster, as on the two radio links.";

/// Flow times of an experiment, at one speed if it has several.
fn figure(results: &Results, beside: &Beside, speed: Option<&str>) -> Figure {
    let experiment = ["default-wireless", "default-mobile", "default-joint"]
        .into_iter()
        .find(|experiment| beside.id.starts_with(experiment));
    let runs = Runs::of(results, experiment.unwrap_or(beside.id));
    beside.figure(|transport, situation| {
        let at = [(TRANSPORT, transport), (beside.situations.0, situation)];
        let speed = speed.map(|speed| ("speed", speed));
        runs.time(&at.into_iter().chain(speed).collect::<Vec<_>>())
    })
}
