//! Laws that manifests and sources can show.
//!
//! Imports follow the layers of crates, and the product imports no laboratory. Crates without a clock ban it, and each crate
//! has the lints of the workspace. Modules import each other in no circle.

use crate::chore::{Outcome, metadata, package, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates of this workspace, lowest first, and the crates that each may import.
const STAIRS: [(&str, &str); 21] = [
    ("recoup-core", ""),
    ("recoup-config", "core"),
    ("recoup-wifi", "core"),
    ("recoup-packet", "core"),
    ("recoup-trust", "packet"),
    ("recoup-transport", "core packet"),
    ("recoup-forwarder", "core packet transport"),
    ("recoup-channel", "core config transport forwarder"),
    ("recoup-trace", "packet transport forwarder"),
    ("recoup-sim", "core wifi packet transport forwarder trace channel"),
    // Text becomes a network of the simulator.
    ("recoup-scenario", "core config wifi packet transport forwarder channel sim"),
    ("recoup-web", "core sim scenario"),
    ("recoup-io", "core packet trust transport forwarder"),
    ("recoup", "core packet trust transport forwarder io"),
    // The gateway fetches by the library, and writes names and sizes.
    ("recoup-gateway", "core packet recoup"),
    // `io` and `recoup` serve it for processes, ports and errors.
    ("recoup-lab", "core config wifi packet transport forwarder sim scenario io recoup"),
    // Papers know the simulation, and never sockets.
    ("recoup-studies", "core config wifi packet transport forwarder sim lab"),
    ("recoup-cli", "core config channel packet trust transport forwarder trace io recoup gateway"),
    ("recoup-lab-cli", "core config packet trust transport sim io recoup lab studies cli"),
    // The wheel brings the command along.
    ("recoup-python", "core packet transport forwarder sim io recoup lab studies lab-cli"),
    ("xtask", ""),
];

/// The crates in which nothing may read a clock, draw lots or touch the operating system.
const WITHOUT_A_CLOCK: [&str; 12] = [
    "recoup-channel",
    "recoup-core",
    "recoup-config",
    "recoup-wifi",
    "recoup-packet",
    "recoup-trust",
    "recoup-transport",
    "recoup-forwarder",
    "recoup-trace",
    "recoup-sim",
    "recoup-scenario",
    "recoup-web",
];

/// The crates whose top modules must not import each other in a circle.
const WITHOUT_CIRCLES: [&str; 1] = ["recoup-forwarder"];

/// Folders of crates that make the product, and of those that may use it for experiments.
const PRODUCT: &str = "crates";
const LABORATORY: &str = "lab";

/// Fails with a line for each breach.
pub(crate) fn check() -> Outcome {
    let mut broken = Vec::new();
    let metadata = metadata()?;
    let packages = array(&metadata["packages"]);
    for package in packages {
        let imports: Vec<&str> = imports(package).collect();
        broken.extend(misplaced(name(package), &imports));
        if !file(package, "Cargo.toml").contains("[lints]\nworkspace = true") {
            broken.push(format!("{}: [lints] workspace = true is missing", name(package)));
        }
        let banned = file(package, "clippy.toml").contains("std::time::Instant::now");
        if WITHOUT_A_CLOCK.contains(&name(package)) && !banned {
            broken.push(format!("law 1: {} has no clippy.toml with a ban", name(package)));
        }
    }
    broken.extend(experiments(packages));
    for crate_name in WITHOUT_CIRCLES {
        let circle = circle(&modules(&package(crate_name)?.join("src"))?);
        if !circle.is_empty() {
            broken
                .push(format!("modules of {crate_name} import each other in a circle: {circle:?}"));
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

/// Imports of a crate that do not stand below it.
fn misplaced(name: &str, imports: &[&str]) -> Vec<String> {
    let Some((_, allowed)) = STAIRS.iter().find(|(stair, _)| *stair == name) else {
        return vec![format!("law 2: {name} has no place on the staircase")];
    };
    let is_ours = |other: &&&str| STAIRS.iter().any(|(stair, _)| stair == *other);
    let is_below = |other: &str| {
        allowed.split(' ').any(|below| other.strip_prefix("recoup-").unwrap_or(other) == below)
    };
    let wrong = imports.iter().filter(is_ours).filter(|other| !is_below(other));
    wrong.map(|it| format!("law 2: {name} imports {it}, which does not stand below it")).collect()
}

/// Imports of the laboratory by the product.
fn experiments(packages: &[Value]) -> Vec<String> {
    let of = |folder: &'static str| packages.iter().filter(move |it| is_in(it, folder));
    let laboratory: Vec<&str> = of(LABORATORY).map(name).collect();
    let all = of(PRODUCT).flat_map(|it| imports(it).map(move |other| (name(it), other)));
    let wrong = all.filter(|(_, other)| laboratory.contains(other));
    wrong.map(|(it, other)| format!("law 2: {it} is product, {other} laboratory")).collect()
}

/// The dependencies of a package. Those of tests alone cannot reach the code that ships.
fn imports(package: &Value) -> impl Iterator<Item = &str> {
    array(&package["dependencies"]).iter().filter(|it| it["kind"] != "dev").map(name)
}

fn is_in(package: &Value, folder: &str) -> bool {
    package_folder(package).starts_with(root().join(folder))
}

fn package_folder(package: &Value) -> &Path {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    manifest.parent().unwrap_or(manifest)
}

fn file(package: &Value, name: &str) -> String {
    fs::read_to_string(package_folder(package).join(name)).unwrap_or_default()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn name(value: &Value) -> &str {
    value["name"].as_str().unwrap_or_default()
}

/// Top modules of a crate, and the modules that each imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Reads the modules of a crate.
fn modules(source: &Path) -> Outcome<Imports> {
    let mut imports = Imports::new();
    let mut folders = vec![source.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(source).unwrap_or(&path).with_extension("");
            let top = inside.iter().next().unwrap_or_default().to_string_lossy().into_owned();
            if top != "lib" && !inside.ends_with("tests") {
                let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
                let others = named(&text).into_iter().filter(|other| *other != top);
                imports.entry(top.clone()).or_default().extend(others);
            }
        }
    }
    Ok(imports)
}

/// The top modules that a source names with `crate::`, tests at its end and comments left out.
fn named(source: &str) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut named = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            named.insert(first_word(rest));
            continue;
        };
        // `use crate::{a::B, c::{D, E}}` names several, each at the depth of the outer braces.
        let mut depth = 0_usize;
        named.insert(first_word(list));
        for (at, letter) in list.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => drop(named.insert(first_word(&list[at + 1..]))),
                _ => {}
            }
        }
    }
    named.remove("");
    named
}

fn first_word(text: &str) -> String {
    let is_word = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    text.trim_start().chars().take_while(is_word).collect()
}

/// The modules that are left after all have gone that import none, or that none imports: those of a circle.
fn circle(imports: &Imports) -> Vec<String> {
    let mut left: BTreeSet<&String> = imports.keys().collect();
    loop {
        let imported = |it: &String| left.iter().any(|other| imports[*other].contains(it));
        let imports_some = |it: &String| imports[it].iter().any(|other| left.contains(other));
        let next: BTreeSet<&String> =
            left.iter().copied().filter(|it| imported(it) && imports_some(it)).collect();
        if next.len() == left.len() {
            return left.into_iter().cloned().collect();
        }
        left = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn imports(of: &[(&str, &str)]) -> Imports {
        of.iter().map(|(module, source)| ((*module).to_owned(), named(source))).collect()
    }

    #[test]
    fn imports_are_read_from_code_alone() {
        let source = "//! See [`crate::node`].\nuse crate::{face::{A, B}, link};\nuse crate::drop::Reason; // crate::pit\n\
            fn f() -> crate::table::Pit {}\n#[cfg(test)]\nmod tests {\n    use crate::bench::Bench;\n}\n";
        let found: Vec<_> = named(source).into_iter().collect();
        assert_eq!(found, ["drop", "face", "link", "table"]);
    }

    #[test]
    fn modules_of_a_circle_are_named() {
        let straight = [("a", "use crate::b::B;"), ("b", "use crate::c::C;"), ("c", "")];
        assert_eq!(circle(&imports(&straight)), [""; 0]);
        let mut round = straight;
        round[2] = ("c", "use crate::b::B;");
        assert_eq!(circle(&imports(&round)), ["b", "c"]);
        let diamond = [
            ("a", "use crate::{b, c};"),
            ("b", "use crate::d;"),
            ("c", "use crate::d;"),
            ("d", ""),
        ];
        assert_eq!(circle(&imports(&diamond)), [""; 0]);
    }

    #[test]
    fn product_imports_no_laboratory() {
        let package = |folder: &str, dependencies: Value| {
            let manifest = root().join(folder).join("Cargo.toml");
            let name = folder.rsplit('/').next();
            json!({ "name": name, "manifest_path": manifest, "dependencies": dependencies })
        };
        let found = experiments(&[
            package("lab/sim", json!([{ "name": "io", "kind": null }])),
            package("crates/io", json!([{ "name": "sim", "kind": "dev" }])),
            package("crates/cli", json!([{ "name": "sim", "kind": null }])),
        ]);
        assert_eq!(found, ["law 2: cli is product, sim laboratory"]);
    }

    #[test]
    fn crate_imports_those_below_it_alone() {
        assert!(misplaced("recoup-sim", &["recoup-core", "bytes"]).is_empty());
        assert_eq!(misplaced("recoup-sim", &["recoup-io"]).len(), 1);
        assert_eq!(misplaced("recoup-io", &["recoup"]).len(), 1);
        assert_eq!(misplaced("recoup-new", &[]).len(), 1);
    }
}
