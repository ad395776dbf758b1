//! The default transport on the paper's networks, beside each window with `simple3` and `smart`.
use super::axis::{CACHED, FLAVOUR, LOAD, LOSS, VERSION};
use super::scenario::{Section, swept};
use crate::beside::{self, Beside, DEFAULT};
use crate::figure::Figure;
use crate::result::Results;
use crate::rule::joined;
use crate::study::{Experiment, Scale};
use crate::sweep::{Axis, axis};

const TRANSPORT: &str = "transport";
/// Detectors of the paper that do not wait for a timer alone.
const VERSIONS: [&str; 2] = ["Simple3", "Smart"];

/// A section: its experiment, its network in words, the varied situation, and the reason if the default is not the
/// best.
struct Case {
    id: &'static str,
    section: Section,
    network: &'static str,
    varied: Option<Axis>,
    /// Whether the time is that of the later of two clients.
    two: bool,
    why: &'static str,
}

const DRAINS: &str = "The others keep the queue full; the default drains it, and each drain leaves the bottleneck idle for a \
                      moment.";

const TOGETHER: &str = "Both clients fetch the same segments at the same time. The segments of one are near for the other: the base \
                        round trip is that of Router 1's cache while most Data come from the server, so that the window is too \
                        small.";

const CASES: [Case; 5] = [
    Case {
        id: "default-single",
        section: Section::Single,
        network: "single losses",
        varied: Some(LOSS),
        two: false,
        why: DRAINS,
    },
    Case {
        id: "default-burst",
        section: Section::Burst,
        network: "bursts of losses",
        varied: None,
        two: false,
        why: DRAINS,
    },
    Case {
        id: "default-caching",
        section: Section::Caching,
        network: "a part is near",
        varied: Some(CACHED),
        two: false,
        why: DRAINS,
    },
    Case {
        id: "default-sources",
        section: Section::Sources,
        network: "two servers",
        varied: None,
        two: false,
        why: DRAINS,
    },
    Case {
        id: "default-fairness",
        section: Section::Fairness,
        network: "two clients and background traffic, the later client",
        varied: Some(LOAD),
        two: true,
        why: TOGETHER,
    },
];

/// The paper's windows and detectors: name and fields.
fn papers() -> impl Iterator<Item = (String, String)> {
    let versions = VERSION.values().filter(|(name, _)| VERSIONS.contains(name));
    versions.flat_map(|(version, loss)| {
        FLAVOUR.values().map(move |(flavour, window)| {
            (format!("{flavour} {version}"), format!("{window}\n{loss}\n"))
        })
    })
}

impl Case {
    fn experiment(&self, scale: Scale) -> Experiment {
        let all: Vec<_> = papers().chain([(DEFAULT.to_owned(), beside::fields())]).collect();
        let transports =
            axis(TRANSPORT, all.iter().map(|(name, fields)| (name.as_str(), fields.clone())));
        // Small runs only show that everything works.
        let many = if scale == Scale::Smoke { 1 } else { usize::MAX };
        let varied = self.varied.map(|it| {
            let names = it.names();
            it.only(&names[..many.min(names.len())])
        });
        let axes: Vec<_> = [transports].into_iter().chain(varied).collect();
        let seeds = if scale == Scale::Smoke { 1 } else { 20 };
        Experiment::new(self.id, swept(self.section, scale, &axes), seeds)
    }

    fn figure(&self, results: &Results) -> Figure {
        let situations = self
            .varied
            .map_or(("network", vec!["as in the paper"]), |varied| (varied.name, varied.names()));
        let beside = Beside {
            id: self.id,
            network: self.network,
            transports: papers().map(|(name, _)| name).collect(),
            situations,
            why: self.why,
        };
        let times = |transport: &str, situation: &str, metric| {
            let varied = self.varied.map(|it| (it.name, situation));
            let choice: Vec<_> = [(TRANSPORT, transport)].into_iter().chain(varied).collect();
            results.values(self.id, &choice, metric)
        };
        beside.figure(|transport, situation| {
            let first = times(transport, situation, "c1.time_s");
            if !self.two {
                return first;
            }
            joined(&first, &times(transport, situation, "c2.time_s"), f64::max)
        })
    }
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    CASES.iter().map(|case| case.experiment(scale)).collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    CASES.iter().map(|case| case.figure(results)).collect()
}
