//! Ideas of the study on real processes: reordering-based loss detection against timers alone, and pre-recovery against
//! three Data out of order if two servers answer in turn.
//!
//! The networks are smaller than the paper's, a link where that will do, so that many runs fit on a machine. Beside the
//! paper's windows stand those that `recoup fetch` has.
use super::axis::VERSION;
use super::scenario::SIZE;
use crate::compare::{Quantity, Sockets, Terms};
use crate::contest::Contest;
use crate::study::{Experiment, Scale};
use crate::sweep::{axis, changed};
use recoup_core::unit::Capacity;

/// A consumer and a server, 10 Mbit/s and 20 ms apart.
const REPAIR: &str = r#"
stop = "1 h"
[topology]
links = ["c1-s1"]
[link]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "100 packets"
"#;

/// A consumer, a router and two servers with the same file. The round trip to one server is 40 ms, to the other 30 ms
/// more. The router sends Interests to them in turn, and the consumer's own link is the bottleneck. Delays vary by up
/// to 2 ms: without jitter, simulated Data of both would alternate as with no real clock, and three in a row would be
/// rare.
const SOURCES: &str = r#"
stop = "1 h"
[topology]
links = ["c1-r1", "r1-s1", "r1-s2"]
[link]
rate = "10 Mbit/s"
delay = "10 ms"
queue = "100 packets"
[links.r1-s1]
jitter = "uniform(min=0ms,max=2ms)"
[links.r1-s2]
delay = "25 ms"
jitter = "uniform(min=0ms,max=2ms)"
[nodes.r1]
strategy = "multipath"
[[route]]
node = "r1"
prefix = "/s1/file"
via = ["s1", "s2"]
[applications.s2]
kind = "serve"
node = "s2"
prefix = "/s1/file"
"#;

/// Common part of both scenarios.
const BOTH: &str = r#"
[node]
suppression = "soft-hard(soft=20ms)"
[fetch]
object = "/s1/file"
congestion = "cubic"
loss = "timeout"
rto = "jacobson"
retries = "unlimited"
no-progress = "30 min"
[serve]
segment = "1000 B"
packet = "1100 B"
[applications.s1]
kind = "serve"
node = "s1"
prefix = "/s1/file"
[applications.c1]
kind = "fetch"
node = "c1"
spread = "10 ms"
"#;

/// An axis: its name, and each value with the fields that it sets.
type Varied = (&'static str, &'static [(&'static str, &'static str)]);

/// The paper's windows as the study runs them, ours as `recoup fetch` has them. Our CUBIC treats a timeout like any
/// other loss, unless it restarts as RFC 9438, 4.8, requires.
const WINDOW: Varied = (
    "window",
    &[
        (
            "NewReno (paper)",
            r#""fetch.congestion" = "udugama2013(flavour=newreno)"
"fetch.rto" = "jacobson(min=200ms,max=64s)"
"fetch.sampling" = "every"
"fetch.rto-check" = 0"#,
        ),
        (
            "Cubic (paper)",
            r#""fetch.congestion" = "udugama2013(flavour=cubic)"
"fetch.rto" = "jacobson(min=200ms,max=64s)"
"fetch.sampling" = "every"
"fetch.rto-check" = 0"#,
        ),
        ("newreno", r#""fetch.congestion" = "newreno""#),
        ("cubic(timeout=slow-start)", r#""fetch.congestion" = "cubic(timeout=slow-start)""#),
        ("cubic", r#""fetch.congestion" = "cubic""#),
    ],
);

const LOSS: Varied = (
    "loss",
    &[
        ("0.1 %", r#""links.c1-s1.back.loss" = "bernoulli(p=0.001)""#),
        ("0.5 %", r#""links.c1-s1.back.loss" = "bernoulli(p=0.005)""#),
        ("2 %", r#""links.c1-s1.back.loss" = "bernoulli(p=0.02)""#),
    ],
);

/// Data takes up to several times as long to send as one takes on the link, and overtakes.
const ORDER: Varied = (
    "order",
    &[
        ("kept", ""),
        (
            "changed",
            r#""links.c1-s1.back.jitter" = "exponential(mean=2ms)"
"links.c1-s1.back.reorder" = true"#,
        ),
    ],
);

/// At lower loss rates, twenty runs do not determine a mean to 5 %.
const DECISIVE: &[(&str, &str)] = &[("loss", "2 %")];

const QUANTITIES: &[Quantity] = &[
    TIME,
    Quantity { metric: "timeouts", label: "timeouts", unit: "", factor: 1.0 },
    FOUND,
    Quantity { metric: "loss_events", label: "window reductions", unit: "", factor: 1.0 },
];

const TIME: Quantity = Quantity { metric: "time_s", label: "time", unit: "s", factor: 1.0 };
const FOUND: Quantity =
    Quantity { metric: "lost_by_order", label: "fast retransmits", unit: "", factor: 1.0 };
/// Two servers answer without any loss, so that every fast retransmission is false.
const FALSE: Quantity = Quantity { label: "false fast retransmits", ..FOUND };

/// The windows that restart after a timeout. With plain `cubic` a timeout costs no more than any loss. There is at most
/// one reduction in the time of a timeout, instead of one in each round trip.
const BEGINS_ANEW: &[(&str, &str)] = &[
    ("window", "NewReno (paper)"),
    ("window", "Cubic (paper)"),
    ("window", "newreno"),
    ("window", "cubic(timeout=slow-start)"),
];
const ALL: &[(&str, &str)] = &[
    ("window", "NewReno (paper)"),
    ("window", "Cubic (paper)"),
    ("window", "newreno"),
    ("window", "cubic(timeout=slow-start)"),
    ("window", "cubic"),
];

const REPAIRING: Contest = Contest {
    experiment: "repair",
    axis: "version",
    ours: "Smart",
    theirs: "Simple1",
    place: "c1",
    quantity: TIME,
    expected: BEGINS_ANEW,
};
const DETECTING: Contest = Contest {
    experiment: "repair-sources",
    theirs: "Simple3",
    quantity: FALSE,
    expected: ALL,
    ..REPAIRING
};
const CONTESTS: &[Contest] =
    &[REPAIRING, DETECTING, Contest { quantity: TIME, expected: &[], ..DETECTING }];

/// Seeds of each point, simulated and on processes.
const SEEDS: u64 = 20;

pub(super) fn sockets(scale: Scale) -> Sockets {
    let experiments: Vec<_> = [
        experiment(scale, "repair", REPAIR, &["Simple1", "Smart"], &[LOSS, ORDER]),
        experiment(scale, "repair-sources", SOURCES, &["Simple3", "Smart"], &[]),
    ]
    .into();
    let (quantities, reported) = (QUANTITIES, Vec::new());
    let terms =
        Terms { quantities, decisive: DECISIVE, within: 0.05, reported, contests: CONTESTS };
    Sockets { simulated: experiments.clone(), experiments, terms }
}

/// The axis as it stands in a scenario.
fn text((name, values): &Varied) -> String {
    axis(name, values.iter().map(|(value, fields)| (*value, (*fields).to_owned())))
}

fn experiment(
    scale: Scale,
    name: &'static str,
    network: &str,
    versions: &[&str],
    more: &[Varied],
) -> Experiment {
    let is_small = scale == Scale::Smoke;
    let size = Capacity::Bytes(if is_small { 200_000 } else { 20_000_000 });
    let mut scenario = changed(&format!("{network}{BOTH}"), |scenario| scenario.set(&SIZE, size));
    scenario += &text(&WINDOW);
    scenario += &VERSION.only(versions);
    scenario.extend(more.iter().map(text));
    let serves: &[&str] = if name == "repair" { &["repair"] } else { &["repair-sources"] };
    let seeds = if is_small { 1 } else { SEEDS };
    Experiment { name, serves, scenario, files: &[], seeds, curves: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_lab::scenario::ScenarioFile;
    use recoup_sim::network::ApplicationKind;

    #[test]
    fn round_trip_takes_40_ms() {
        let sockets = sockets(Scale::Check);
        let [repair, sources] = sockets.experiments.as_slice() else { panic!() };
        let all = repair.networks();
        assert_eq!((all.len(), repair.seeds), (5 * 2 * 3 * 2, 20));
        let point = "window=newreno, version=Smart, loss=2 %, order=changed";
        let (_, network) = all.iter().find(|(label, _)| label == point).unwrap();
        let back = &network.links[0].back;
        assert_eq!((back.rate_bits, back.delay.as_millis()), (10_000_000, 20));
        assert_eq!((back.loss.text(), back.reorder), ("bernoulli(p=0.02)", true));
        let of = |kind: &ApplicationKind| match kind {
            ApplicationKind::Fetch(plan) => {
                Some((plan.options.congestion.to_string(), plan.options.loss.to_string()))
            }
            _ => None,
        };
        let fetch = network.applications.iter().find_map(|it| of(&it.kind)).unwrap();
        assert!(fetch.0.starts_with("aimd") || fetch.0 == "newreno", "{fetch:?}");
        assert_eq!(fetch.1, "smart");
        let all = sources.networks();
        assert_eq!(all.len(), 5 * 2);
        let delays: Vec<_> = all[0].1.links.iter().map(|it| it.forth.delay.as_millis()).collect();
        assert_eq!(delays, [10, 10, 25]);
        assert!(all[0].1.links.iter().all(|link| link.back.loss.text() == "none"));
    }

    #[test]
    fn contests_name_points_that_there_are() {
        let sockets = sockets(Scale::Smoke);
        for contest in sockets.terms.contests {
            let experiment = sockets.experiments.iter().find(|it| it.name == contest.experiment);
            let file = ScenarioFile::parse(&experiment.unwrap().scenario, &[]).unwrap();
            let points: Vec<_> = file.points().collect();
            let has = |axis: &str, value: &str| {
                points.iter().any(|it| it.values.contains(&(axis.to_owned(), value.to_owned())))
            };
            assert!(has(contest.axis, contest.ours) && has(contest.axis, contest.theirs));
            assert!(contest.expected.iter().all(|(axis, value)| has(axis, value)), "{contest:?}");
        }
    }
}
