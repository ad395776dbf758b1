//! Whether what can run beside Linux compiles there, checked without compilers and libraries of those systems.
//!
//! Build scripts of dependencies in C run a compiler that does nothing: a check of Rust's types
//! never reads their objects. A program cannot be linked that way.

use crate::chore::{Outcome, capture, cargo, command, quiet, show, target_directory};
use crate::leg::{Done, Tally};
use std::path::Path;

/// Crates that need no operating system: decoders, the forwarder's machine, trust, the simulator.
const ENGINE: [&str; 6] = [
    "recoup-config",
    "recoup-forwarder",
    "recoup-scenario",
    "recoup-sim",
    "recoup-trust",
    "recoup-wifi",
];

/// Systems by cargo's names, and the packages that compile for them.
const TARGETS: [(&str, &[&str]); 3] = [
    ("aarch64-apple-darwin", &["recoup", "recoup-cli"]),
    ("x86_64-pc-windows-gnu", &ENGINE),
    ("wasm32-unknown-unknown", &["recoup-web"]),
];

/// Checks those whose standard library is there, or can be installed.
pub(crate) fn check() -> Outcome<Done> {
    let mut left_out = Vec::new();
    for (target, packages) in TARGETS {
        println!("{target}: {}", packages.join(", "));
        if let Err(why) = install(target) {
            println!("{target} is left out: {why}");
            left_out.push(target);
            continue;
        }
        let mut check = cargo(&["check", "--quiet", "--locked", "--target", target]);
        check.arg("--target-dir").arg(target_directory()?.join("targets"));
        check.args(packages.iter().flat_map(|package| ["--package", *package]));
        if packages.contains(&"recoup-cli") {
            check.args(["--features", "gateway"]);
        }
        for tool in ["CC", "CXX", "AR"] {
            check.env(format!("{tool}_{}", target.replace('-', "_")), "true");
        }
        show(check.env("RUSTFLAGS", "-D warnings"))?;
    }
    match left_out.is_empty() {
        true => Ok(Done::Held(Tally::default())),
        false => Ok(Done::Partly(format!("no standard library for {}", left_out.join(", ")))),
    }
}

/// Adds a system's standard library to the toolchain unless it is there.
pub(crate) fn install(target: &str) -> Outcome {
    let folder = capture(command("rustc").args(["--print", "target-libdir", "--target", target]))?;
    match Path::new(folder.trim()).is_dir() {
        true => Ok(()),
        false => quiet(command("rustup").args(["target", "add", target])),
    }
}
