//! Judges the claims E-01 to E-29, and how they depend on what the paper leaves open.
use super::axis::SPEEDS;
use super::open::{CONSUMER, DELAYED, MOBILE, Open, TIMED, TOGETHER, WIRELESS};
use super::runs::Runs;
use super::scenario::MANY;
use super::{example, joint, mobile, wireless};
use crate::result::Results;
use crate::rule::Finding;
use crate::study::Dependence;

/// The finding by the rule that a claim had until 28 November 2026.
pub(super) fn former(id: &str, results: &Results) -> Option<Finding> {
    (id == "E-09").then(|| wireless::the_whole_is_best_at_both(&Runs::of(results, "part")))
}

/// Claims of Section 5.2, and of the ring.
fn of_radio(id: &str, results: &Results) -> Option<Finding> {
    let [timer, part, speed, ring, saturated] =
        ["timer", "part", "speed", "ring", "ring-saturated"]
            .map(|experiment| Runs::of(results, experiment));
    Some(match id {
        "E-01a" => wireless::timer_matters(&timer),
        "E-01b" => wireless::quickest_timer(&timer),
        "E-02" => wireless::near_repair_is_quickest(&timer),
        "E-03" => wireless::far_repair_suffers_from_wires(&timer),
        "E-04" => wireless::wldr_needs_no_timer(&timer),
        "E-05" => wireless::nothing_needs_a_timer(&part),
        "E-06" => wireless::interests_help_more(&part),
        "E-07" => wireless::interests_help_near(&part),
        "E-08" => wireless::data_helps_far(&part),
        "E-09" => wireless::the_whole_is_best(&part),
        "E-10" => wireless::gains(&speed, "60", (4.0, 18.0)),
        "E-11" => wireless::gains(&speed, "200", (8.0, 28.0))
            .and(wireless::gains_more_with_a_long_timer(&speed)),
        "E-12" => wireless::wldr_always_gains(&speed),
        "E-13" => wireless::the_ring_is_large_enough(&ring).labelled("radio").and(
            wireless::the_ring_is_large_enough(&saturated)
                .labelled("a busy link of 100 Mbit/s")
                .beside(&wireless::rate(&saturated)),
        ),
        "E-14" => example::comes_out(),
        "E-28" => wireless::round_trips(&timer),
        _ => return None,
    })
}

/// Claims of Section 5.3.
fn of_moves(id: &str, results: &Results) -> Option<Finding> {
    let [producer, satisfaction, consumer] =
        ["producer", "satisfaction", "consumer"].map(|experiment| Runs::of(results, experiment));
    Some(match id {
        "E-15" => mobile::repair_gains_with_speed(&producer, &SPEEDS),
        "E-16" => mobile::few_are_sent_on(&producer, &SPEEDS),
        "E-17" => mobile::half_of_the_way(&satisfaction),
        "E-18" => mobile::the_gap_grows(&satisfaction),
        "E-19" => mobile::mldr_is_always_lower(&satisfaction),
        "E-20" => mobile::no_timer_is_as_good(&consumer, &SPEEDS),
        _ => return None,
    })
}

/// Claims of Section 5.4.
fn of_both(id: &str, results: &Results) -> Option<Finding> {
    let [joint_, timer] = ["joint", "joint-timer"].map(|experiment| Runs::of(results, experiment));
    Some(match id {
        "E-21" => joint::handoffs(&joint_),
        "E-22" => joint::mldr_gains_with_speed(&joint_, &many(results), &SPEEDS),
        "E-23" => joint::wldr_gains_most_slowly(&joint_),
        "E-24" => joint::both_add_up(&joint_),
        "E-25" => joint::fewer_timeouts(&joint_),
        "E-26" => joint::they_cross(&joint_),
        "E-27" => joint::gains_grow_with_the_timer(&timer),
        "E-29" => joint::both_need_no_timer(&timer),
        _ => return None,
    })
}

/// The finding on a claim.
pub(super) fn judge(id: &str, results: &Results) -> Finding {
    let found = of_radio(id, results).or_else(|| of_moves(id, results));
    let found = found.or_else(|| of_both(id, results));
    found.unwrap_or_else(|| Finding::open("no rule for this claim"))
}

fn many(results: &Results) -> [Runs<'_>; MANY.len()] {
    MANY.map(|experiment| Runs::of(results, experiment))
}

/// Whether more runs are there than the first ones, which left the claim open.
pub(super) fn again(id: &str, results: &Results) -> bool {
    id == "E-22" && !many(results).iter().all(Runs::is_empty)
}

/// Findings at every point of the grid, and with one parameter changed at a time.
pub(super) fn dependences(results: &Results) -> Vec<Dependence> {
    let mut all = rows(results, &WIRELESS, "open-wireless", wireless::findings);
    all.extend(rows(results, &TIMED, "open-timer", wireless::findings_of_timers));
    all.extend(rows(results, &MOBILE, "open-mobile", mobile::findings));
    all.extend(rows(results, &DELAYED, "open-satisfaction", mobile::findings_of_satisfaction));
    all.extend(rows(results, &CONSUMER, "open-consumer", mobile::findings_of_consumer));
    all.extend(rows(results, &TOGETHER, "open-joint", joint::findings));
    all.extend([
        with_recovery(results, "the paper's", true, Runs::of),
        with_recovery(results, "Recoup's", false, Runs::ours),
    ]);
    all
}

/// Findings of the claims about WLDR with one variant of it.
fn with_recovery<'a>(
    results: &'a Results,
    value: &'static str,
    is_assumed: bool,
    runs: fn(&'a Results, &'static str) -> Runs<'a>,
) -> Dependence {
    let [timer, joint_, joint_timer] =
        ["timer", "joint", "joint-timer"].map(|experiment| runs(results, experiment));
    let findings = vec![
        ("E-02", wireless::near_repair_is_quickest(&timer)),
        ("E-03", wireless::far_repair_suffers_from_wires(&timer)),
        ("E-04", wireless::wldr_needs_no_timer(&timer)),
        ("E-23", joint::wldr_gains_most_slowly(&joint_)),
        ("E-24", joint::both_add_up(&joint_)),
        ("E-25", joint::fewer_timeouts(&joint_)),
        ("E-26", joint::they_cross(&joint_)),
        ("E-29", joint::both_need_no_timer(&joint_timer)),
    ];
    Dependence { parameter: "WLDR", value: value.into(), is_assumed, findings }
}

fn rows(
    results: &Results,
    all: &'static [Open],
    experiment: &'static str,
    findings: impl Fn(&Runs<'_>) -> Vec<(&'static str, Finding)>,
) -> Vec<Dependence> {
    let row = |open: &'static Open| Dependence {
        parameter: open.parameter,
        value: open.value.as_str().into(),
        is_assumed: open.is_assumed,
        findings: findings(&Runs::open(results, experiment, &open.label())),
    };
    // Only a check runs what is open.
    let is_run = results.experiments.contains_key(experiment);
    all.iter().filter(|_| is_run).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::CAROFIGLIO2016;
    use super::super::axis::{
        ACKED, BOTH, DATA, ELN, FAR_DATA, INTERESTS, MLDR, NEAR_INTERESTS, NOTHING, WLDR,
    };
    use super::super::scenario::experiments;
    use super::*;
    use crate::claim::{Class, Outcome};
    use crate::result::Row;
    use crate::study::Scale;
    use recoup_lab::scenario::ScenarioFile;
    use std::collections::BTreeMap;

    type Metrics = Vec<(&'static str, f64)>;

    fn number(values: &BTreeMap<String, String>, axis: &str) -> f64 {
        values.get(axis).and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
    }

    /// Metrics of runs that agree with the paper.
    fn as_reported(experiment: &str, values: &BTreeMap<String, String>) -> Metrics {
        let (timer, speed) = (number(values, "timer"), number(values, "speed"));
        let way = |axis: &str| values.get(axis).map_or("", String::as_str);
        let wires = if way("wires") == "60" { 2.0 } else { 1.0 };
        let is_long = timer > 60.0;
        match experiment {
            "timer" => {
                let time = match way("recovery") {
                    WLDR => 100.0,
                    ACKED => 103.0,
                    ELN => 100.0 + 5.0 * wires,
                    _ if timer < 60.0 => 140.0,
                    _ => 120.0 + timer / 100.0,
                };
                vec![("time_mean_s", time), ("rtt_mean_s", 0.05)]
            }
            "part" => {
                let time = match way("recovery") {
                    WLDR => 100.0,
                    INTERESTS => 104.0,
                    NEAR_INTERESTS => 105.0,
                    DATA => 106.0,
                    FAR_DATA if is_long => 106.8,
                    FAR_DATA => 106.5,
                    _ if is_long => 120.0,
                    _ => 112.0,
                };
                vec![("time_mean_s", time)]
            }
            "speed" => {
                let nothing = if is_long { 118.0 } else { 110.0 };
                vec![("time_mean_s", if way("recovery") == WLDR { 100.0 } else { nothing })]
            }
            "ring" | "ring-saturated" => vec![("time_s", 7.25)],
            "producer" => {
                let time = match way("mobility") {
                    MLDR => 100.0,
                    ELN => 101.0,
                    _ => 103.0 + 0.2 * speed,
                };
                vec![("time_mean_s", time), ("reforwarded", speed), ("interests", 25_000.0)]
            }
            "satisfaction" => {
                let more = if way("repetitions") == "5" { 0.001 * speed } else { 0.0 };
                vec![("ist_mean_s", if way("mobility") == MLDR { 0.1 } else { 0.2 + more })]
            }
            "consumer" => {
                let timer = number(values, "mobility");
                vec![("time_mean_s", if timer.is_nan() { 100.0 } else { 101.0 + timer / 100.0 })]
            }
            "joint" => {
                let (slow, fast) = (3.0 - 0.03 * speed, 0.08 * speed);
                let (less, timeouts) = match way("network") {
                    WLDR => (slow, 600.0 + 6.0 * speed),
                    MLDR => (fast, 950.0 - 10.0 * speed),
                    BOTH => (slow + fast, 500.0),
                    _ => (0.0, 1_000.0),
                };
                vec![
                    ("time_mean_s", 100.0 - less),
                    ("timeouts", timeouts),
                    ("handoffs", 5.0 * speed),
                ]
            }
            _ => {
                let time = if way("network") == BOTH { 100.0 } else { 100.0 + timer / 200.0 };
                vec![("time_mean_s", time)]
            }
        }
    }

    /// Results of the paper's experiments; `what` replaces the metrics of each run.
    fn results(what: impl Fn(&str, &BTreeMap<String, String>) -> Metrics) -> Results {
        let mut results = Results::default();
        for experiment in experiments(Scale::Paper) {
            let file = ScenarioFile::parse(&experiment.scenario, &[]).unwrap();
            let mut rows = Vec::new();
            for point in file.points() {
                let point: BTreeMap<_, _> = point.values.iter().cloned().collect();
                let metrics = what(experiment.name, &point);
                let metrics: BTreeMap<_, _> = metrics
                    .into_iter()
                    .map(|(name, value)| (format!("all.{name}"), value))
                    .collect();
                rows.extend((1..=20).map(|seed| Row {
                    point: point.clone(),
                    seed,
                    metrics: metrics.clone(),
                }));
            }
            results.experiments.insert(experiment.name.to_owned(), rows);
        }
        results
    }

    fn outcomes(results: &Results) -> BTreeMap<String, (Outcome, String)> {
        let verdicts = CAROFIGLIO2016.judge(results).into_iter();
        verdicts.map(|it| (it.id, (it.verdict, it.ours))).collect()
    }

    #[test]
    fn agreeing_runs_hold_all_claims() {
        let found = outcomes(&results(as_reported));
        for claim in CAROFIGLIO2016.claims() {
            let expected = if claim.class == Class::T { Outcome::Reported } else { Outcome::Holds };
            let (outcome, ours) = &found[&claim.id];
            assert_eq!(*outcome, expected, "{}: {ours}", claim.id);
        }
    }

    #[test]
    fn reversed_runs_hold_no_comparison() {
        let swapped = |experiment: &str, values: &BTreeMap<String, String>| {
            let other = |value: &String| match value.as_str() {
                NOTHING => WLDR.to_owned(),
                WLDR => NOTHING.to_owned(),
                ELN => MLDR.to_owned(),
                MLDR => ELN.to_owned(),
                "3" => "50".to_owned(),
                "50" => "3".to_owned(),
                own => own.to_owned(),
            };
            let values = values.iter().map(|(axis, value)| (axis.clone(), other(value)));
            as_reported(experiment, &values.collect())
        };
        let found = outcomes(&results(swapped));
        for id in
            ["E-02", "E-09", "E-10", "E-12", "E-15", "E-16", "E-17", "E-18", "E-19", "E-22", "E-24"]
        {
            assert_eq!(found[id].0, Outcome::Fails, "{id}: {}", found[id].1);
        }
    }
}
