//! The licences of libraries that the command is linked with, which their authors want to go with it.

use super::PACKAGE;
use super::program::{FEATURES, target};
use crate::chore::{Outcome, capture, cargo};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates that are linked, of both programs: name and version.
pub(super) fn linked() -> Outcome<BTreeSet<(String, String)>> {
    let mut all = BTreeSet::new();
    for library in ["gnu", "musl"] {
        let mut tree = cargo(&["tree", "--locked", "--package", PACKAGE, "--features", FEATURES]);
        tree.args(["--target", &target(library), "--edges", "normal,no-proc-macro"]);
        all.extend(parse(&capture(tree.args(["--prefix", "none", "--format", "{p}"]))?));
    }
    Ok(all)
}

/// Reads lines like `name v1.2.3 (/a/folder)`.
fn parse(tree: &str) -> impl Iterator<Item = (String, String)> {
    tree.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        Some((name.to_string(), words.next()?.strip_prefix('v')?.to_string()))
    })
}

/// All that cargo knows of packages here, and how they use each other.
pub(super) fn metadata() -> Outcome<Value> {
    let features = format!("{PACKAGE}/{FEATURES}");
    let mut metadata = cargo(&["metadata", "--format-version=1", "--locked", "--features"]);
    let text = capture(metadata.arg(features))?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

/// The packages of `metadata`, by name and version.
pub(super) fn packages(metadata: &Value) -> BTreeMap<(String, String), &Value> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_string();
    packages.map(|it| ((text(it, "name"), text(it, "version")), it)).collect()
}

/// One text with the licences of all linked crates; a text that several have stands once.
pub(super) fn text() -> Outcome<String> {
    let metadata = metadata()?;
    let packages = packages(&metadata);
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for (name, version) in linked()? {
        let Some(package) = packages.get(&(name.clone(), version.clone())) else {
            return Err(format!("cargo metadata has no package {name} {version}"));
        };
        if package["source"].is_null() {
            continue;
        }
        let licence = package["license"].as_str().unwrap_or("see its text");
        list.push_str(&format!("{name} {version}: {licence}\n"));
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let folder = Path::new(manifest).parent().unwrap_or(Path::new("."));
        for text in texts_of(folder)? {
            texts.entry(text).or_default().push(format!("{name} {version}"));
        }
    }
    let mut groups: Vec<_> = texts.into_iter().collect();
    groups.sort_by(|(_, one), (_, other)| one.cmp(other));
    let mut all = format!(
        "The command recoup is linked with the libraries below and with Rust's standard library\n\
         (MIT OR Apache-2.0, The Rust Project Developers); the static program also with musl\n\
         (MIT, Rich Felker and others). SQLite, in libsqlite3-sys, is in the public domain.\n\n{list}"
    );
    for (text, owners) in groups {
        all.push_str(&format!("\n{}\n{}\n\n{}\n", "=".repeat(80), owners.join(", "), text.trim()));
    }
    Ok(all)
}

/// The texts of licences in a crate's folder, by file name.
fn texts_of(folder: &Path) -> Outcome<Vec<String>> {
    let error = |error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_licence = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
        if path.is_file() && is_licence.iter().any(|word| name.starts_with(word)) {
            files.push(path);
        }
    }
    files.sort();
    let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).replace('\r', ""));
    files.iter().map(read).collect::<Result<_, _>>().map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_a_tree_are_counted_once() {
        let tree = "recoup v0.2.0 (/a b/c)\nring v0.17.14\nring v0.17.14 (*)\n\nbroken\n";
        let crates: BTreeSet<_> = parse(tree).collect();
        let names: Vec<_> = crates.iter().map(|(name, version)| (&**name, &**version)).collect();
        assert_eq!(names, [("recoup", "0.2.0"), ("ring", "0.17.14")]);
    }
}
