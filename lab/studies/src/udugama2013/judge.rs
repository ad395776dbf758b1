//! Judges the claims D-01 to D-30, and how they depend on what the paper leaves open.
use super::axis::{COMPOUND, FLAVOURS};
use super::open::{OPEN, Open};
use super::runs::Runs;
use super::scenario::Section;
use super::{burst, compound, growth, near, share, single, switch};
use crate::result::Results;
use crate::rule::Finding;
use crate::study::Dependence;

/// The flavour as the paper's own experiments have it.
const COMPOUND_ASSUMED: compound::Which<'static> = ("flavour", "Compound");

/// The finding on a claim.
pub(super) fn judge(id: &str, results: &Results) -> Finding {
    let runs = |experiment| Runs::of(results, experiment);
    let (single, shape, bursts) = (runs("single"), runs("shape"), runs("burst"));
    let (caching, fairness) = (runs("caching"), runs("fairness"));
    match id {
        "D-01" => growth::one_per_round(&shape),
        "D-02" => growth::a_third_at_first(&shape),
        "D-03" => single::begins_anew(&single),
        "D-04" => single::faster(&single, "NewReno", "0.1 %"),
        "D-05" => single::faster(&single, "NewReno", "0.2 %"),
        "D-06" => single::faster(&single, "NewReno", "0.5 %"),
        "D-07" => single::faster_at_each(&single, "Cubic"),
        "D-08" => single::cubic_gains_more(&single),
        "D-09" => compound::timers_are_faster(&single, COMPOUND_ASSUMED),
        "D-10" => compound::penalty_grows(&single, COMPOUND_ASSUMED),
        "D-11" => compound::throughput_is_better(&single, COMPOUND_ASSUMED),
        "D-12" => compound::delay_window_is_greater(&single, COMPOUND_ASSUMED),
        "D-13" => burst::equal_after_one(&bursts),
        "D-14" => burst::grows_with_losses(&bursts),
        "D-15" => burst::stays_short(&bursts),
        "D-16" => burst::flavours_agree(&bursts),
        "D-17" => burst::peaks_rise(&bursts, "NewReno"),
        "D-18" => burst::rises_stay(&bursts, "NewReno"),
        "D-19" => near::simple3_falls_for_it(&caching),
        "D-20" => near::smart_falls_later(&caching),
        "D-21" => near::smart_changes_over(&caching, &caching, near::FIRST_NEAR),
        other => shares(other, &fairness),
    }
}

fn shares(id: &str, fairness: &Runs<'_>) -> Finding {
    match id {
        "D-22a" => share::no_difference(fairness, "c1"),
        "D-22b" => share::row(fairness, "c1", "0 %"),
        "D-23" => share::row(fairness, "c1", "80 %"),
        "D-24" => share::no_difference(fairness, "c2"),
        "D-25" => share::hardly_changes(fairness),
        "D-26" => share::helps_client_1(fairness),
        "D-27" => share::product(fairness),
        "D-28" => share::client_2_is_faster(fairness),
        "D-29" => share::helps_more_with_load(fairness),
        "D-30" => share::equality(fairness),
        _ => Finding::open("no rule for this claim"),
    }
}

/// The finding by the rule that a claim had until 28 November 2026.
pub(super) fn former(id: &str, results: &Results) -> Option<Finding> {
    let runs = |experiment| Runs::of(results, experiment);
    match id {
        "D-18" => Some(burst::peaks_stay(&runs("burst"), "NewReno")),
        "D-20" => Some(near::smart_falls_less_and_later(&runs("caching"))),
        _ => None,
    }
}

/// Findings on each section's claims at each value of the open parameters, and on Compound's in
/// each mode.
pub(super) fn dependences(results: &Results) -> Vec<Dependence> {
    let mut all = Vec::new();
    for open in &OPEN {
        for value in open.axis.names() {
            all.push(Dependence {
                parameter: open.parameter,
                value: value.into(),
                is_assumed: value == open.assumed,
                findings: findings(open, value, results),
            });
        }
    }
    all.extend(flavours(results));
    all.extend(switch::dependences(results));
    all.extend(other_sources(results));
    let modes = COMPOUND.names().into_iter().map(|mode| Dependence {
        parameter: "Compound",
        value: mode.into(),
        is_assumed: mode == "udugama, per RTT, zero on RTO",
        findings: compounds(results, mode),
    });
    all.extend(modes);
    all
}

fn findings(open: &Open, value: &'static str, results: &Results) -> Vec<(&'static str, Finding)> {
    let runs = Runs { results, place: open.place(value) };
    match open.section {
        Section::Single => vec![
            ("D-03", single::begins_anew(&runs)),
            ("D-04", single::faster(&runs, "NewReno", "0.1 %")),
            ("D-05", single::faster(&runs, "NewReno", "0.2 %")),
            ("D-06", single::faster(&runs, "NewReno", "0.5 %")),
            ("D-07", single::faster_at_each(&runs, "Cubic")),
            ("D-08", single::cubic_gains_more(&runs)),
        ],
        Section::Growth => {
            vec![("D-01", growth::one_per_round(&runs)), ("D-02", growth::a_third_at_first(&runs))]
        }
        Section::Burst => vec![
            ("D-13", burst::equal_after_one(&runs)),
            ("D-14", burst::grows_with_losses(&runs)),
            ("D-15", burst::stays_short(&runs)),
            ("D-16", burst::flavours_agree(&runs)),
            ("D-17", burst::peaks_rise(&runs, "NewReno")),
            ("D-18", burst::rises_stay(&runs, "NewReno")),
        ],
        Section::Caching => vec![
            ("D-19", near::simple3_falls_for_it(&runs)),
            ("D-20", near::smart_falls_later(&runs)),
            ("D-21", near::smart_changes_over(&runs, &runs, near::FIRST_NEAR)),
        ],
        Section::Sources => Vec::new(),
        Section::Unloaded => vec![
            ("D-22a", share::no_difference(&runs, "c1")),
            ("D-24", share::no_difference(&runs, "c2")),
        ],
        Section::Fairness => vec![
            ("D-25", share::hardly_changes(&runs)),
            ("D-26", share::helps_client_1(&runs)),
            ("D-28", share::client_2_is_faster(&runs)),
        ],
    }
}

/// Figure 6 with each flavour; the paper does not state which one it shows.
fn flavours(results: &Results) -> [Dependence; 3] {
    let bursts = Runs::of(results, "burst");
    FLAVOURS.map(|flavour| Dependence {
        parameter: "flavour of Fig. 6",
        value: flavour.into(),
        is_assumed: flavour == "NewReno",
        findings: vec![
            ("D-17", burst::peaks_rise(&bursts, flavour)),
            ("D-18", burst::rises_stay(&bursts, flavour)),
        ],
    })
}

/// Findings with other sources of the Data that overtakes the rest.
fn other_sources(results: &Results) -> [Dependence; 2] {
    let line = |value: &'static str, is_assumed, findings| Dependence {
        parameter: "the other source",
        value: value.into(),
        is_assumed,
        findings,
    };
    let caching = Runs::of(results, "caching");
    let near = vec![
        ("D-19", near::simple3_falls_for_it(&caching)),
        ("D-20", near::smart_falls_later(&caching)),
    ];
    let [falls, less] = near::of_two_servers(&Runs::of(results, "sources"));
    [
        line("Router 1, from the middle of the file on", true, near),
        line("a second server, asked in turn", false, vec![("D-19", falls), ("D-20", less)]),
    ]
}

fn compounds(results: &Results, mode: &'static str) -> Vec<(&'static str, Finding)> {
    let (runs, which) = (Runs::of(results, "compound"), (COMPOUND.name, mode));
    vec![
        ("D-09", compound::timers_are_faster(&runs, which)),
        ("D-10", compound::penalty_grows(&runs, which)),
        ("D-11", compound::throughput_is_better(&runs, which)),
        ("D-12", compound::delay_window_is_greater(&runs, which)),
    ]
}
