//! Parameters that the paper leaves open, with the values tried in their place.
use super::axis::{CACHED, FAIRNESS, FLAVOUR, LOAD, LOSS, VERSION, named};
use super::scenario::{SHAPE, SIZE, Section, sweep};
use crate::study::{Experiment, Scale};
use crate::sweep::{Axis, changed};
use recoup_core::unit::Capacity;
use std::time::Duration;

/// A parameter that the paper does not state, for one section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The experiment with the other values, and the figure of the same name.
    pub experiment: &'static str,
    /// The parameter, in words.
    pub parameter: &'static str,
    pub section: Section,
    /// The value that the paper's own experiments are run with, among those of the axis.
    pub assumed: &'static str,
    pub axis: Axis,
}

impl Open {
    /// The experiment and the rest of the point at which `value` was tried.
    pub(super) fn place(&self, value: &'static str) -> Place {
        match value == self.assumed {
            true if self.section == Section::Single => Place { experiment: ASSUMED, rest: None },
            true => Place { experiment: self.section.experiment(), rest: None },
            false => Place { experiment: self.experiment, rest: Some((self.axis.name, value)) },
        }
    }
}

/// Where results stand: an experiment and one value of its sweep, beside what the paper varies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub experiment: &'static str,
    pub rest: Option<(&'static str, &'static str)>,
}

const fn open(
    experiment: &'static str,
    parameter: &'static str,
    section: Section,
    (assumed, axis): (&'static str, &'static str),
) -> Open {
    Open { experiment, parameter, section, assumed, axis: named(axis) }
}

/// All parameters that the paper leaves open.
pub(super) static OPEN: [Open; 25] = {
    use Section::{Burst, Caching, Fairness, Growth, Single, Unloaded};
    [
        open("single-floor", "least RTO", Single, ("1 s", "floor")),
        open("single-accounting", "what counts against the window", Single, ("span", "accounting")),
        open("single-rtt", "round trip", Single, ("150 ms", "rtt")),
        open("single-rate", "rate of the links", Single, ("10 Mbit/s", "rate")),
        open("single-queue", "queues", Single, ("100 packets", "queue")),
        open("single-threshold", "first threshold of slow start", Single, ("64", "threshold")),
        open("single-gap", "survivors between losses", Single, ("at least 168", "gap")),
        open(
            "single-timeout",
            "after a timeout",
            Single,
            ("window 1, half as threshold", "timeout"),
        ),
        open("single-soft", "soft timeout of the PIT", Single, ("75 ms", "soft")),
        open("growth-rtt", "round trip", Growth, ("150 ms", "rtt")),
        open("growth-rate", "rate of the links", Growth, ("10 Mbit/s", "rate")),
        open("burst-floor", "least RTO", Burst, ("1 s", "floor")),
        open("burst-rtt", "round trip", Burst, ("150 ms", "rtt")),
        open("burst-queue", "queues", Burst, ("100 packets", "queue")),
        open("burst-rate", "rate of the links", Burst, ("10 Mbit/s", "rate")),
        open("burst-threshold", "first threshold of slow start", Burst, ("64", "threshold")),
        open("burst-jitter", "jitter of a link", Burst, ("none", "jitter")),
        open("caching-threshold", "first threshold of slow start", Caching, ("64", "threshold")),
        open("caching-jitter", "jitter of a link", Caching, ("none", "jitter")),
        open("fairness-cache", "what Router 1 can keep", Fairness, ("half of the file", "cache")),
        open("fairness-later", "Client 2 starts later by", Fairness, ("0.75 s", "later")),
        open("fairness-where", "background traffic on", Fairness, ("every link", "where")),
        open("fairness-version", "version", Fairness, ("Smart", "with")),
        open("fairness-queue", "queues", Fairness, ("100 packets", "queue")),
        open("unloaded-jitter", "jitter of a link", Unloaded, ("none", "jitter")),
    ]
};

impl Section {
    /// The paper's own experiment of that section.
    pub(super) fn experiment(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Growth => "shape",
            Self::Burst => "burst",
            Self::Caching => "caching",
            Self::Sources => "sources",
            Self::Fairness | Self::Unloaded => "fairness",
        }
    }
}

impl Open {
    /// The axes varied along with it: as much of the section's own sweep as its claims need.
    fn axes(&self) -> Vec<String> {
        let flavours = |names: &[&str]| FLAVOUR.only(names);
        let versions = |names: &[&str]| VERSION.only(names);
        match self.section {
            Section::Single => {
                vec![flavours(&["NewReno", "Cubic"]), versions(&["Simple1", "Smart"]), LOSS.text()]
            }
            Section::Growth => {
                vec![flavours(&["NewReno", "Cubic"]), versions(&["Smart"]), LOSS.text()]
            }
            Section::Burst => vec![FLAVOUR.text(), versions(&["Simple2", "Smart"])],
            Section::Caching | Section::Sources => {
                vec![flavours(&["Cubic"]), versions(&["Simple3", "Smart"]), CACHED.text()]
            }
            Section::Fairness => vec![FAIRNESS.only(&["off", "max-min"]), LOAD.only(&["80 %"])],
            Section::Unloaded => vec![FAIRNESS.only(&["off", "max-min"]), LOAD.only(&["0 %"])],
        }
    }
}

/// Single losses with everything as assumed, and as little to fetch as where something is not.
const ASSUMED: &str = "single-assumed";

/// The shortest fetch that suffices: 5 MB between single losses; as many bytes as take until 326 s
/// beside bursts.
fn shorter(section: Section, scale: Scale) -> String {
    let is_small = scale == Scale::Smoke;
    changed(&section.scenario(scale), |scenario| match section {
        Section::Single | Section::Growth if !is_small => {
            scenario.set(&SIZE, Capacity::Bytes(5_000_000));
        }
        Section::Burst => {
            scenario.set(&["stop"], Duration::from_secs(326));
            if !is_small {
                scenario.set(&SIZE, Capacity::Bytes(200_000_000));
            }
        }
        _ => {}
    })
}

/// The experiments that try the other values.
pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let many = if scale == Scale::Smoke { 1 } else { 20 };
    let experiment = |name, section, axes: &[String]| {
        let (seeds, curves): (u64, Option<(u64, &'static [&'static str])>) = match section {
            Section::Burst => (0, Some((many, &["recoveries"]))),
            Section::Growth | Section::Caching => (0, Some((many, SHAPE))),
            Section::Single | Section::Sources | Section::Fairness | Section::Unloaded => {
                (many, None)
            }
        };
        let scenario = shorter(section, scale) + &sweep(scale, axes);
        Experiment { curves, ..Experiment::new(name, scenario, seeds) }
    };
    let one = |open: &'static Open| {
        let mut axes = open.axes();
        axes.push(open.axis.without(open.assumed));
        experiment(open.experiment, open.section, &axes)
    };
    let single = OPEN.iter().find(|open| open.section == Section::Single);
    let base = single.map(|open| experiment(ASSUMED, Section::Single, &open.axes()));
    // Small runs only show that everything works: one parameter of each section does.
    let first = |open: &&Open| OPEN.iter().find(|it| it.section == open.section);
    let wanted = |open: &&'static Open| {
        scale != Scale::Smoke || first(open).is_some_and(|it| it.experiment == open.experiment)
    };
    base.into_iter().chain(OPEN.iter().filter(wanted).map(one)).collect()
}
