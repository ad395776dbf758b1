//! The experiments: the paper's figures, each a scenario with its sweep.
use super::open;
use super::timer::{
    BASIC, BEYOND, COMPARED, ENDS, FACTORS, FLOORS, Gains, Jacobson, OURS, Other, PREDICTIVE,
    RECONSIDERED, S, STATIC, axis, exponents, floored,
};
use crate::study::{Experiment, Scale, with_open};
use crate::sweep::changed;

/// Sprint's network with twenty consumers, and what all experiments share.
const COMMON: &str = include_str!("common.toml");

/// Requests of each consumer.
const fn requests(scale: Scale) -> u64 {
    match scale {
        Scale::Smoke => 50,
        Scale::Check => 1_000,
        Scale::Verdict => 5_000,
        Scale::Paper => 100_000,
    }
}

/// The common scenario with so many requests of each consumer, without a sweep.
pub(super) fn with_requests(requests: u64) -> String {
    changed(COMMON, |scenario| scenario.set(&["applications", "c", "requests"], requests))
}

/// The experiment that compares our estimator with the proposal, and its figure.
pub(super) const FRONTIER: &str = "frontier";

/// The experiment whose runs are as long as the paper's, at the scale of verdicts: timeouts of 3 s are forgotten slowly.
pub(super) const LONG: &str = "long";
/// The experiment in which classes are compared with many seeds at s = 1, at the scale of verdicts: their rates differ by a
/// few per cent.
pub(super) const MANY: &str = "many";
/// The experiment that compares RTO_min of 100 and 200 ms with many seeds, at the scale of verdicts.
pub(super) const MANY_FLOORS: &str = "many-floors";
/// Its exponents.
pub(super) const MANY_FLOORS_S: [&str; 2] = ["1", "1.5"];
/// The experiment that compares Very Slow and Steady with many seeds at every s, at the scale of verdicts.
pub(super) const MANY_CLASSES: &str = "many-classes";
/// The figure of both.
pub(super) const RATES: &str = "rates";

/// Seeds of each point.
pub(super) const fn seeds(scale: Scale) -> u64 {
    match scale {
        Scale::Smoke => 1,
        Scale::Check | Scale::Verdict => 20,
        Scale::Paper => 3,
    }
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    with_open(scale, paper, open::experiments)
}

/// Figures 4 to 6: every class but the one of Figure 2, without a floor and with 100 ms.
fn classes() -> Vec<Jacobson> {
    let of = |floor| Gains::ALL.map(|gains| Jacobson { gains, k: 4, floor });
    let all = [0, 100].into_iter().flat_map(of);
    all.filter(|timer| timer.experiment() == "gains").collect()
}

/// Figures 7 to 10: every factor but the one of Figures 2 to 6.
fn factors() -> Vec<Jacobson> {
    let of = |(floor, gains)| FACTORS.map(|k| Jacobson { gains, k, floor });
    let bases = [Gains::Steady, Gains::VerySlow].into_iter();
    let bases = bases.flat_map(|gains| [(0, gains), (100, gains)]);
    bases.flat_map(of).filter(|timer| timer.experiment() == "factor").collect()
}

/// The paper's own experiments.
fn paper(scale: Scale) -> Vec<Experiment> {
    let base = with_requests(requests(scale));
    let small = scale == Scale::Smoke;
    let s: &[&str] = if small { &ENDS } else { &S };
    let experiment = |name, jacobson: &[Jacobson], others: &[Other]| {
        let axis = axis(few(jacobson, small), few(others, small));
        Experiment::new(name, base.clone() + &axis + &exponents(s), seeds(scale))
    };
    let curves = |name, jacobson: &[Jacobson], s: &[&str]| Experiment {
        scenario: with_requests(requests(scale).min(10_000)) + &axis(jacobson, &[]) + &exponents(s),
        seeds: 0,
        curves: Some((1, &["segments"])),
        ..experiment(name, jacobson, &[])
    };
    let very_slow = Jacobson { gains: Gains::VerySlow, ..BASIC };
    let fast = Jacobson { gains: Gains::Fast, ..BASIC };
    let long = Experiment {
        scenario: with_requests(requests(Scale::Paper))
            + &axis(&[very_slow, fast], &[])
            + &exponents(&["1.5"]),
        ..experiment(LONG, &[], &[])
    };
    let at_100_ms = Gains::ALL.map(|gains| Jacobson { gains, k: 4, floor: 100 });
    let many = Experiment {
        scenario: base.clone() + &axis(&at_100_ms, &[]) + &exponents(&["1"]),
        seeds: 100,
        ..experiment(MANY, &[], &[])
    };
    let more = |name, jacobson: &[Jacobson], s: &[&str], seeds| Experiment {
        scenario: base.clone() + &axis(jacobson, &[]) + &exponents(s),
        seeds,
        ..experiment(name, &[], &[])
    };
    let many_floors = more(MANY_FLOORS, &[floored(100), floored(200)], &MANY_FLOORS_S, 100);
    let slow = Jacobson { gains: Gains::VerySlow, ..floored(100) };
    let many_classes = more(MANY_CLASSES, &[slow, floored(100)], &S, 100);
    let apart = if scale == Scale::Verdict {
        vec![long, many, many_floors, many_classes]
    } else {
        Vec::new()
    };
    let of_classes = Gains::ALL.map(|gains| Jacobson { gains, ..BASIC });
    let others: Vec<_> = COMPARED.into_iter().chain(BEYOND).collect();
    let all = vec![
        experiment("floor", &FLOORS.map(floored), &[]),
        experiment("gains", &classes(), &[]),
        experiment("factor", &factors(), &[]),
        experiment("estimators", &[], &others),
        // Judged in runs of this length at every scale.
        Experiment {
            scenario: with_requests((2 * requests(scale)).min(2_000))
                + &frontier(small)
                + &exponents(s),
            ..experiment(FRONTIER, &[], &[])
        },
        // Predictive's conditions for the others, too.
        Experiment {
            scenario: base.clone() + &single_way() + &exponents(s),
            ..experiment("single-way", &[], &[])
        },
        curves("rtt", &[floored(100), very_slow], s),
        curves("rto", &of_classes, &["1.5"]),
    ];
    all.into_iter().chain(apart).collect()
}

/// Our estimator and the proposal, with the constants.
fn frontier(small: bool) -> String {
    let others: Vec<_> = std::iter::once(OURS).chain(STATIC).collect();
    axis(&[RECONSIDERED], few(&others, small))
}

/// The first few of many, for small runs.
fn few<T>(all: &[T], small: bool) -> &[T] {
    if small { &all[..all.len().min(2)] } else { all }
}

/// Basic and Reconsidered as Predictive is run: one way, no aggregation.
fn single_way() -> String {
    let fields = PREDICTIVE.fields();
    let conditions: Vec<_> = fields.lines().filter(|line| !line.contains("rto")).collect();
    let conditions = conditions.join("\n") + "\n";
    let axis = axis(&[BASIC, RECONSIDERED], &[]);
    let variants = axis.split("[sweep").filter(|it| !it.is_empty());
    variants.map(|variant| format!("[sweep{variant}{conditions}")).collect()
}
