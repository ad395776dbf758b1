//! The rate anomaly of 802.11: stations at the edge of a cell, whose losses the link repairs, keep the channel busy, and
//! near stations wait for them. No claim of the paper; beside it, a recovery of ours that yields.
//!
//! Source: M. Heusse, F. Rousseau, G. Berger-Sabbatel and A. Duda, "Performance anomaly of 802.11b", INFOCOM 2003.
use super::axis::{self, NOTHING, OURS, STRICT, WLDR};
use super::scenario::{Net, experiment};
use crate::beside::{self, DEFAULT};
use crate::figure::{Axis, Figure, Series, Style};
use crate::result::Results;
use crate::study::{Experiment, Scale};
use recoup_sim::statistic::Seeded;

/// Its name.
const EXPERIMENT: &str = "shared";
/// A recovery that resends no frame older than 80 ms, a few round trips of the hop. The age was chosen on seeds 101 to
/// 108; seeds 1 to 20 are judged.
const YIELDING: &str = "WLDR that yields";
const WAYS: [(&str, &str); 4] =
    [(NOTHING, "off"), (WLDR, STRICT), (OURS, "wldr"), (YIELDING, "wldr(max-age=80ms)")];
/// The transports: RAAQM with a timer, or the default.
const TRANSPORTS: [(&str, Option<&str>); 3] =
    [("RAAQM, 200 ms", Some("200")), ("RAAQM, 1000 ms", Some("1000")), (DEFAULT, None)];

/// Consumers by their place.
const NEAR: [&str; 3] = ["near1", "near2", "near3"];
const FAR: [&str; 2] = ["far1", "far2"];

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let ways = axis::axis(
        "recovery",
        WAYS.map(|(way, spec)| {
            (way, format!("\"links.'{{near,far}}*-ap'.recovery\" = \"{spec}\"\n"))
        }),
    );
    let transports = axis::axis(
        "transport",
        TRANSPORTS.map(|(name, timer)| (name, timer.map_or_else(beside::fields, axis::timer))),
    );
    vec![experiment(EXPERIMENT, Net::Shared, scale, &[transports, ways])]
}

pub(super) fn figures(results: &Results) -> [Figure; 2] {
    let ways = WAYS.map(|(way, _)| way);
    let draw = |id: &str, title: &str, consumers: &[&str], caption: &str| {
        let bars = |(transport, _): (&'static str, _)| {
            let at = |way: &str| time(results, consumers, transport, way);
            Series::means(transport, Style::Bars, ways.map(at))
        };
        Figure {
            id: id.into(),
            title: title.into(),
            caption: format!("{caption} Means over seeds with 95 % confidence intervals."),
            x: Axis::places("recovery", ways),
            y: Axis::quantity("flow time", "s"),
            series: TRANSPORTS.map(bars).into(),
        }
    };
    [
        draw("shared-near", "Near stations of a shared channel", &NEAR, "Three, at 10 m."),
        draw("shared-far", "Stations at the edge of a shared channel", &FAR, "Two, at 100 m."),
    ]
}

/// Mean flow time of some consumers, by seed.
fn time(results: &Results, consumers: &[&str], transport: &str, way: &str) -> Vec<Seeded> {
    let choice = [("transport", transport), ("recovery", way)];
    let each = |it: &&str| results.values(EXPERIMENT, &choice, &format!("{it}.time_s"));
    let all: Vec<Vec<Seeded>> = consumers.iter().map(each).collect();
    let of_all = |(seed, _): &Seeded| {
        let at = |values: &Vec<Seeded>| values.iter().find(|(it, _)| it == seed).map(|it| it.1);
        let sum = all.iter().map(at).sum::<Option<f64>>()?;
        Some((*seed, sum / consumers.len() as f64))
    };
    all.first().into_iter().flatten().filter_map(of_all).collect()
}
