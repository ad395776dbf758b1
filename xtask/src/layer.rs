//! Checks that cargo can make: imports follow the layers of crates, and each crate has its lints
//! on.

use crate::chore::{Outcome, metadata, root};
use crate::circle;
use serde_json::Value;
use std::fs;

/// The crates of this workspace, lowest first: a package, and the packages that it may import.
const STAIRS: [(&str, &[&str]); 19] = [
    ("recoup-core", &[]),
    ("recoup-config", &["recoup-core"]),
    ("recoup-wifi", &["recoup-core"]),
    ("recoup-packet", &["recoup-core"]),
    ("recoup-trust", &["recoup-packet"]),
    ("recoup-transport", &["recoup-core", "recoup-packet"]),
    ("recoup-forwarder", &["recoup-core", "recoup-packet", "recoup-transport"]),
    ("recoup-trace", &["recoup-packet", "recoup-transport", "recoup-forwarder"]),
    ("recoup-sim", BELOW_SIM),
    ("recoup-scenario", BELOW_SCENARIO),
    ("recoup-web", &["recoup-core", "recoup-sim", "recoup-scenario"]),
    ("recoup-io", BELOW_IO),
    ("recoup", BELOW_LIBRARY),
    ("recoup-gateway", BELOW_GATEWAY),
    ("recoup-lab", BELOW_LAB),
    ("recoup-studies", BELOW_STUDIES),
    ("recoup-cli", EVERYTHING),
    ("recoup-python", WITH_COMMAND),
    ("xtask", &[]),
];

const BELOW_IO: &[&str] =
    &["recoup-core", "recoup-packet", "recoup-trust", "recoup-transport", "recoup-forwarder"];

const BELOW_LIBRARY: &[&str] = &[
    "recoup-core",
    "recoup-packet",
    "recoup-trust",
    "recoup-transport",
    "recoup-forwarder",
    "recoup-io",
];

/// The gateway fetches by the library, and writes names.
const BELOW_GATEWAY: &[&str] = &["recoup-packet", "recoup"];

const BELOW_SIM: &[&str] = &[
    "recoup-core",
    "recoup-wifi",
    "recoup-packet",
    "recoup-transport",
    "recoup-forwarder",
    "recoup-trace",
];

/// Text becomes a network of the simulator.
const BELOW_SCENARIO: &[&str] = &[
    "recoup-core",
    "recoup-config",
    "recoup-wifi",
    "recoup-packet",
    "recoup-transport",
    "recoup-forwarder",
    "recoup-sim",
];

/// `io` and `recoup` serve it for processes, ports and errors.
const BELOW_LAB: &[&str] = &[
    "recoup-core",
    "recoup-config",
    "recoup-wifi",
    "recoup-packet",
    "recoup-transport",
    "recoup-forwarder",
    "recoup-sim",
    "recoup-scenario",
    "recoup-io",
    "recoup",
];

/// Papers know the simulation, and never sockets.
const BELOW_STUDIES: &[&str] = &[
    "recoup-core",
    "recoup-config",
    "recoup-wifi",
    "recoup-packet",
    "recoup-transport",
    "recoup-forwarder",
    "recoup-sim",
    "recoup-lab",
];

const EVERYTHING: &[&str] = &[
    "recoup-core",
    "recoup-config",
    "recoup-wifi",
    "recoup-packet",
    "recoup-trust",
    "recoup-transport",
    "recoup-forwarder",
    "recoup-trace",
    "recoup-sim",
    "recoup-io",
    "recoup",
    "recoup-gateway",
    "recoup-lab",
    "recoup-studies",
];

/// The wheel brings the command along.
const WITH_COMMAND: &[&str] = &[
    "recoup-core",
    "recoup-config",
    "recoup-wifi",
    "recoup-packet",
    "recoup-transport",
    "recoup-forwarder",
    "recoup-sim",
    "recoup-io",
    "recoup",
    "recoup-lab",
    "recoup-studies",
    "recoup-cli",
];

/// The crates in which nothing may read a clock, draw lots or touch the operating system.
const WITHOUT_A_CLOCK: [&str; 11] = [
    "crates/core",
    "crates/config",
    "crates/wifi",
    "crates/packet",
    "crates/trust",
    "crates/transport",
    "crates/forwarder",
    "crates/trace",
    "crates/sim",
    "crates/scenario",
    "crates/web",
];

/// Checks laws 1 and 2 as far as manifests and configuration can show them, and that modules import each other in no circle.
pub(crate) fn check() -> Outcome {
    let mut broken = Vec::new();
    let metadata = metadata()?;
    for package in array(&metadata["packages"]) {
        check_imports(package, &mut broken);
        check_lints(package, &mut broken);
    }
    check_clocks(&mut broken);
    circle::check(&mut broken)?;
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

fn check_imports(package: &Value, broken: &mut Vec<String>) {
    let name = text(&package["name"]);
    let Some((_, allowed)) = STAIRS.iter().find(|(stair, _)| *stair == name) else {
        broken.push(format!("law 2: {name} has no place on the staircase"));
        return;
    };
    for dependency in array(&package["dependencies"]) {
        let other = text(&dependency["name"]);
        // What only tests import cannot reach the code that ships.
        let test_only = text(&dependency["kind"]) == "dev";
        let ours = STAIRS.iter().any(|(stair, _)| *stair == other);
        if ours && !test_only && !allowed.contains(&other) {
            broken.push(format!("law 2: {name} imports {other}, which does not stand below it"));
        }
    }
}

/// Each package takes over the workspace's lints, or a law would silently not apply to it.
fn check_lints(package: &Value, broken: &mut Vec<String>) {
    let manifest = text(&package["manifest_path"]);
    let inherited = fs::read_to_string(manifest)
        .is_ok_and(|manifest| manifest.contains("[lints]\nworkspace = true"));
    if !inherited {
        broken.push(format!("{}: [lints] workspace = true is missing", text(&package["name"])));
    }
}

fn check_clocks(broken: &mut Vec<String>) {
    for folder in WITHOUT_A_CLOCK {
        let folder = root().join(folder);
        if !folder.exists() {
            continue;
        }
        let banned = fs::read_to_string(folder.join("clippy.toml"))
            .is_ok_and(|list| list.contains("std::time::Instant::now"));
        if !banned {
            broken.push(format!("law 1: {} has no clippy.toml with a ban", folder.display()));
        }
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
