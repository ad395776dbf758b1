//! Artefacts of users: the building commands of pages, run as they are printed, in a copy of the files that git has or would add.
//!
//! A program with other features, another profile or other dependencies than the tested one is not tested. So each command of
//! a page that builds the command or the wheel stands in [`LINES`] with the leg that runs it.

use crate::chore::{Outcome, cargo, command, files, quiet, root, show, target_directory};
use crate::leg::{Done, Tally};
use crate::{peer, python};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The features of packages, beside the default ones.
const FEATURES: &str = "gateway";

/// The command of the first screen.
const DEMO: &str = "cargo run --release -- demo";
/// The command without its optional parts.
const SMALL: &str = "cargo install --locked --path crates/cli --no-default-features";
/// The command as users install it.
const FULL: &str = "cargo install --locked --path crates/cli --profile dist --features gateway";
/// The command of the laboratory, beside it.
const LAB: &str = "cargo install --locked --path lab/cli --profile dist";
/// The wheel, in `wheels`.
pub(crate) const WHEEL: &str =
    "maturin build --release --manifest-path python/Cargo.toml --out wheels";
/// The wheel of the profile that `python/pyproject.toml` names.
const PACKAGE: &str = "pip install ./python";

/// Commands of pages that build something for users, and the leg that runs each.
const LINES: [(&str, &str); 6] = [
    (DEMO, "artefacts"),
    (SMALL, "artefacts"),
    (FULL, "artefacts"),
    (LAB, "artefacts"),
    (WHEEL, "python"),
    (PACKAGE, "artefacts"),
];

/// Beginnings of commands that build something for users.
const BUILDS: [&str; 6] = [
    "cargo install ",
    "cargo run --release -- ",
    "cargo build",
    "maturin ",
    "pip install .",
    "pipx install .",
];

/// Checks that each building command of a page is one that a leg runs, and each that a leg runs is on a page.
pub(crate) fn check() -> Outcome {
    let mut found = BTreeSet::new();
    for page in files(&["*.md"])? {
        // Notes record what was measured once.
        if page.starts_with("docs/notes/") {
            continue;
        }
        let path = root().join(&page);
        let text = fs::read_to_string(&path).map_err(|error| format!("{page}: {error}"))?;
        found.extend(building(&text).into_iter().map(|line| (line, page.clone())));
    }
    let is_run = |line: &str| LINES.iter().any(|(known, _)| *known == line);
    if let Some((line, page)) = found.iter().find(|(line, _)| !is_run(line)) {
        return Err(format!("{page}: no leg runs `{line}` (xtask/src/artefact.rs)"));
    }
    match LINES.iter().find(|(line, _)| !found.iter().any(|(known, _)| known == line)) {
        Some((line, leg)) => Err(format!("leg {leg} runs `{line}`, which is on no page")),
        None => Ok(()),
    }
}

/// The commands in blocks of a page that build something, without their comments. Commands that build
/// one named crate are for its developers.
fn building(text: &str) -> Vec<String> {
    let mut is_block = false;
    let inside = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        is_block && !is_fence
    };
    let lines = text.lines().filter(inside).map(|line| line.split(" #").next().unwrap_or(line));
    let builds = |line: &&str| BUILDS.iter().any(|start| line.starts_with(start));
    lines
        .map(str::trim)
        .filter(builds)
        .filter(|it| !it.contains(" -p "))
        .map(str::to_owned)
        .collect()
}

/// A copy of the files that git has or would add. Its own `target` stays, and so do the times of unchanged files, by which
/// cargo goes.
pub(crate) fn tree(name: &str) -> Outcome<PathBuf> {
    let folder = target_directory()?.join(name);
    let list = folder.join(".files");
    let wanted: BTreeSet<String> = files(&[])?.into_iter().collect();
    let former = fs::read_to_string(&list).unwrap_or_default();
    for stale in former.lines().filter(|path| !wanted.contains(*path)) {
        let _ = fs::remove_file(folder.join(stale));
    }
    for path in &wanted {
        copy_changed(&root().join(path), &folder.join(path))?;
    }
    let all: Vec<String> = wanted.into_iter().collect();
    fs::write(&list, all.join("\n")).map_err(|error| format!("{}: {error}", list.display()))?;
    Ok(folder)
}

/// Copies a file unless the copy is equal.
fn copy_changed(from: &Path, to: &Path) -> Outcome {
    let error = |error| format!("{}: {error}", to.display());
    let bytes = fs::read(from).map_err(error)?;
    if fs::read(to).ok().as_ref() == Some(&bytes) {
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to)).map_err(error)?;
    fs::copy(from, to).map(drop).map_err(error)
}

/// A command of a page, to be run in the copy. `program` stands for its first word.
pub(crate) fn spoken(line: &str, program: impl AsRef<OsStr>, tree: &Path) -> Command {
    let mut spoken = command(program);
    spoken.args(line.split_whitespace().skip(1)).current_dir(tree);
    // It builds into its own folder, as for users.
    spoken.env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS");
    spoken
}

/// Runs the commands of the leg `artefacts`, and the tests of the command and of the package on what they make.
pub(crate) fn build_all(tally: &mut Tally) -> Outcome<Done> {
    let (tree, installed) =
        (tree("artefacts/tree")?, target_directory()?.join("artefacts/installed"));
    let tools = python::install();
    let recoup = installed.join("bin/recoup");
    for line in [DEMO, SMALL, FULL, LAB] {
        println!("{line}");
        let mut build = spoken(line, cargo(&[]).get_program(), &tree);
        show(build.env("CARGO_INSTALL_ROOT", &installed))?;
        if line != DEMO {
            quiet(command(&recoup).arg("demo").current_dir(&installed))?;
        }
    }
    let mut tests = cargo(&["test", "--package", "recoup-cli", "--features", FEATURES]);
    tests.args(["--test", "command", "--no-fail-fast"]).env("RECOUP_BINARY", &recoup);
    crate::chore::watch(&mut tests, |line| tally.add_line(line))?;
    match tools {
        Ok(tools) => tools.check_package(PACKAGE, &tree, tally).map(|()| Done::Held(*tally)),
        Err(reason) if std::env::var_os(peer::REQUIRE).is_some() => Err(reason),
        Err(reason) => Ok(Done::Partly(format!("no package: {reason}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> String {
        fs::read_to_string(root().join(path)).unwrap()
    }

    #[test]
    fn all_artefacts_have_the_tested_features() {
        let features = FULL.split("--features ").nth(1).unwrap();
        assert_eq!(features, FEATURES, "packages and the install page");
        let quoted = format!("\"{}\"", FEATURES.replace(',', "\", \""));
        let places = [
            ("packaging/recoup.rb", format!("\"--features\", \"{FEATURES}\"")),
            ("packaging/flake.nix", format!("buildFeatures = [ {} ]", quoted.replace(',', ""))),
            (
                "python/Cargo.toml",
                format!("recoup-lab-cli = {{ workspace = true, features = [{quoted}] }}"),
            ),
        ];
        for (path, expected) in places {
            assert!(read(path).contains(&expected), "{path} lacks {expected}");
        }
        let tested: Vec<_> = crate::test::FEATURES.split(',').collect();
        assert!(FEATURES.split(',').all(|it| tested.contains(&it)), "{tested:?}");
    }

    #[test]
    fn wheels_of_all_profiles_unwind() {
        let profiles: toml::Table = read("Cargo.toml").parse().unwrap();
        let profiles = profiles["profile"].as_table().unwrap();
        let own = |name: &str, key: &str| profiles.get(name)?.get(key)?.as_str().map(str::to_owned);
        let panic = |name: &str| {
            let mut name = name.to_owned();
            while own(&name, "panic").is_none() {
                let Some(base) = own(&name, "inherits") else { return "unwind".to_owned() };
                name = base;
            }
            own(&name, "panic").unwrap()
        };
        let package: toml::Table = read("python/pyproject.toml").parse().unwrap();
        let chosen = package["tool"]["maturin"]["profile"].as_str().unwrap();
        for profile in ["release", "dev", chosen] {
            assert_eq!(panic(profile), "unwind", "{profile}");
        }
        assert_eq!(panic("dist"), "abort");
    }
}
