//! A profile of the command at work, by which the compiler arranges a release (`--guided`).
//!
//! The command is built with counters. It then moves a file over each kind of socket, and simulates wired and wireless
//! networks. The profile differs a little from run to run, so a guided release is not the same twice.

use super::Release;
use super::program::{Build, compile, target};
use crate::bench::process::Room;
use crate::bench::transfer;
use crate::chore::{Outcome, capture, command, quiet, root, target_directory};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the file that is moved.
const FILE: u64 = 64 << 20;
/// Arguments of the simulations, but for the folder of their results.
const SIMULATIONS: [&[&str]; 3] = [
    &["sim", "examples/line.toml", "--seeds", "1..4", "--out"],
    &["sim", "examples/sprint.toml", "--seeds", "1", "--out"],
    &["study", "run", "carofiglio2016", "--scale", "smoke", "--figure", "9a", "--results"],
];

/// Makes the profile; returns its file.
pub(super) fn profile(release: &Release) -> Outcome<PathBuf> {
    let merge = merger()?;
    let folder = target_directory()?.join("bundle-guide");
    let counts = folder.join("counts");
    let _ = fs::remove_dir_all(&counts);
    let program = compile(release, &target("gnu"), &Build::Counted(counts.clone()))?;
    work(&program)?;
    let profile = folder.join("recoup.profdata");
    quiet(command(merge).arg("merge").arg("-o").arg(&profile).arg(&counts))?;
    Ok(profile)
}

/// Lets the command work.
fn work(recoup: &Path) -> Outcome {
    let room = Room::make(FILE)?;
    for plan in transfer::PLANS {
        println!("{}", plan.name);
        transfer::transfer(recoup, &room, plan)?;
    }
    for (number, words) in SIMULATIONS.iter().enumerate() {
        println!("recoup {}", words.join(" "));
        let results = room.path(&format!("results-{number}"));
        quiet(command(recoup).current_dir(root()).args(*words).arg(results).arg("--quiet"))?;
    }
    Ok(())
}

/// The toolchain's program that joins profiles.
fn merger() -> Outcome<PathBuf> {
    let libraries = capture(command("rustc").args(["--print", "target-libdir"]))?;
    let tool = Path::new(libraries.trim()).with_file_name("bin").join("llvm-profdata");
    if !tool.is_file() {
        quiet(command("rustup").args(["component", "add", "llvm-tools"]))?;
    }
    match tool.is_file() {
        true => Ok(tool),
        false => Err(format!("{}: not found; rustup component add llvm-tools", tool.display())),
    }
}
