//! The axes of the sweeps: what the paper varies.
use super::setup::{SIDE, Setup};
pub(super) use crate::sweep::axis;
use std::fmt::Write;

/// The timers by the names that sweeps, tables and figures give them, in the order of the paper's figures.
pub(super) const TIMERS: [&str; 6] = ["constant", "TCP RTO", "Timeest", "CCNTimer", "WMA", "ICP"];

/// The adaptive timers.
pub(super) const ADAPTIVE: [&str; 5] = ["TCP RTO", "Timeest", "CCNTimer", "WMA", "ICP"];

/// The specification of a timer.
pub(super) fn spec(timer: &str) -> &'static str {
    match timer {
        "TCP RTO" => "tcp",
        "Timeest" => "timeest",
        "CCNTimer" => "ccntimer",
        "WMA" => "wma",
        "ICP" => "icp",
        _ => "constant",
    }
}

/// The axis of timers.
pub(super) fn timers(chosen: &[&'static str]) -> String {
    axis("timer", chosen.iter().map(|timer| (*timer, rto(spec(timer)))))
}

/// The field that gives every consumer that timer.
pub(super) fn rto(spec: &str) -> String {
    format!("\"fetch.rto\" = \"{spec}\"")
}

/// The scenario: which nodes request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scenario {
    /// 1: the leftmost node of the row.
    One,
    /// 2: every node of the row but the source.
    Row,
    /// 3: every node of scenario 2, and two beside each of them.
    Sides,
}

/// The numbers of hops from the leftmost requester to the source.
pub(super) const HOPS: [&str; 5] = ["1", "2", "3", "4", "5"];

/// The axis of hops.
pub(super) fn hops(scenario: Scenario, setup: &Setup, chosen: &[&'static str]) -> String {
    let network = |hops: &&'static str| {
        let count = hops.parse().unwrap_or(1);
        (*hops, network(scenario, setup, count))
    };
    axis("hops", chosen.iter().map(network))
}

/// The fields that make the row of so many hops, and its requesters. The leftmost is always `c1`.
pub(super) fn network(scenario: Scenario, setup: &Setup, hops: u32) -> String {
    let node = |number: u32| if number > hops { "source".to_owned() } else { format!("n{number}") };
    let mut links: Vec<_> =
        (1..=hops).map(|number| format!("\"{}-{}\"", node(number), node(number + 1))).collect();
    let mut fields = String::new();
    if scenario == Scenario::Sides {
        for number in 1..=hops {
            links.extend(["a", "b"].map(|side| format!("\"{side}{number}-n{number}\"")));
            fields += &sides(setup, number);
        }
        let _ = writeln!(fields, "{}", requesters("above", "a", 1, hops));
        let _ = writeln!(fields, "{}", requesters("below", "b", 1, hops));
    }
    if scenario != Scenario::One && hops > 1 {
        let _ = writeln!(fields, "{}", requesters("row", "n", 2, hops));
    }
    format!("\"topology.links\" = [{}]\n{fields}", links.join(", "))
}

/// Places of the two beside a node of the row.
pub(super) fn sides(setup: &Setup, number: u32) -> String {
    let spacing = setup.spacing();
    let x = f64::from(number - 1) * spacing;
    let y = if setup.is_hidden() { SIDE[(number % 2) as usize] } else { spacing };
    format!(
        "\"nodes.a{number}.position\" = [{x}, {y}]\n\"nodes.b{number}.position\" = [{x}, -{y}]\n"
    )
}

/// A consumer on each of the nodes with that letter.
fn requesters(name: &str, letter: &str, first: u32, last: u32) -> String {
    format!(
        "\"applications.{name}\" = {{ kind = \"fetch\", node = \"{letter}{{{first}..{last}}}\", spread = \"100 ms\" }}"
    )
}
