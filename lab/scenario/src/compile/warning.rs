//! Warnings: valid parts of a network that are probably not meant.
use super::route::requested;
use recoup_config::problem::hint;
use recoup_packet::name::Name;
use recoup_sim::network::{ApplicationPlan, Network};
use std::collections::BTreeSet;

/// More warnings than that do not look for the name that may be meant.
const MOST_HINTS: usize = 50;

/// The warnings, a line each.
pub(crate) fn warnings(network: &Network) -> Vec<String> {
    let mut warnings = unserved(network);
    warnings.extend(stranded(network));
    if network.applications.is_empty() {
        warnings.push("there are no applications, so nothing happens".into());
    }
    warnings
}

/// Names that are requested, and that no application serves.
fn unserved(network: &Network) -> Vec<String> {
    let served = || network.applications.iter().filter_map(|one| one.kind.served());
    let prefixes: BTreeSet<&Name> = served().collect();
    let is_served = |name: &Name| (0..=name.len()).any(|it| prefixes.contains(&name.prefix(it)));
    let mut warnings = Vec::new();
    for application in &network.applications {
        for name in requested(&application.kind).iter().filter(|name| !is_served(name)) {
            let name = name.to_string();
            let near = match warnings.len() {
                0..MOST_HINTS => {
                    let known: Vec<_> = served().map(ToString::to_string).collect();
                    hint(&name, known.iter().map(String::as_str))
                }
                _ => String::new(),
            };
            let name_of = &application.name;
            warnings.push(format!("{name_of} requests {name}, which no producer serves{near}"));
        }
    }
    warnings
}

/// Consumers on nodes without a route away, of names without a producer beside them.
fn stranded(network: &Network) -> Vec<String> {
    let by_node = network.by_node();
    let is_served =
        |node, name: &Name| by_node.served_at(network, node).any(|it| it.is_prefix_of(name));
    let lacks =
        |one: &&ApplicationPlan| !requested(&one.kind).iter().all(|it| is_served(one.node, it));
    let all = network.applications.iter().filter(|one| !by_node.leads_away(one.node));
    all.filter(lacks)
        .map(|one| format!("{} asks in vain: no route leads away from its node", one.name))
        .collect()
}
