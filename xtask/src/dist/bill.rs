//! The bill of materials: each crate that the command is linked with, as CycloneDX 1.6 in JSON.
//!
//! The crates come from the same lists as the licences. `cargo-cyclonedx` would put a file into the folder
//! of each crate of the workspace, with paths of this machine in it.

use super::{PACKAGE, Release, notice, write};
use crate::chore::{Outcome, root};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A crate by name and version.
type Crate = (String, String);

/// Writes `recoup-VERSION.cdx.json`.
pub(super) fn write_bill(release: &Release) -> Outcome {
    let lock = fs::read_to_string(root().join("Cargo.lock"))
        .map_err(|error| format!("Cargo.lock: {error}"))?;
    let linked = notice::linked()?;
    let known = notice::metadata()?;
    let packages = notice::packages(&known);
    let sums = checksums(&lock);
    let own = (PACKAGE.to_string(), release.version.clone());
    let components: Vec<Value> = linked
        .iter()
        .filter(|it| **it != own)
        .map(|it| component(it, packages.get(it), sums.get(it)))
        .collect();
    let date = release.iso_date()?;
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": date,
            "component": {
                "type": "application",
                "bom-ref": locator(&own),
                "name": "recoup",
                "version": release.version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
                "purl": locator(&own),
            },
        },
        "components": components,
        "dependencies": dependencies(&known, &linked),
    });
    let path = release.files().join(format!("{}.cdx.json", release.stem(None)));
    write(&path, format!("{bill:#}\n"))
}

/// A crate as a component; those of the workspace have no digest.
fn component(it: &Crate, package: Option<&&Value>, sum: Option<&&str>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": locator(it),
        "name": it.0,
        "version": it.1,
        "purl": locator(it),
    });
    // Before SPDX expressions, a slash meant either of two.
    let licence = package.and_then(|package| package["license"].as_str());
    if let Some(licence) = licence {
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(sum) = sum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

/// The linked crates that each of them uses.
fn dependencies(metadata: &Value, linked: &BTreeSet<Crate>) -> Vec<Value> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let key = |package: &Value| {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_string();
        (text("name"), text("version"))
    };
    let by_id: BTreeMap<&str, Crate> =
        packages.filter_map(|it| Some((it["id"].as_str()?, key(it)))).collect();
    let named = |id: &Value| by_id.get(id.as_str()?).filter(|it| linked.contains(*it));
    let mut rows = BTreeMap::new();
    for node in metadata["resolve"]["nodes"].as_array().into_iter().flatten() {
        if let Some(user) = named(&node["id"]) {
            let used = node["dependencies"].as_array().into_iter().flatten();
            let used: BTreeSet<String> = used.filter_map(named).map(locator).collect();
            rows.insert(locator(user), used);
        }
    }
    rows.iter().map(|(user, used)| json!({ "ref": user, "dependsOn": used })).collect()
}

/// The package URL of a crate.
fn locator((name, version): &Crate) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// The digests of `Cargo.lock`, by name and version.
fn checksums(lock: &str) -> BTreeMap<Crate, &str> {
    let blocks = lock.split("[[package]]").skip(1);
    let rows = blocks.filter_map(|block| {
        let text = |key: &str| {
            let (_, rest) = block.split_once(&format!("\n{key} = \""))?;
            rest.split('"').next()
        };
        Some(((text("name")?.to_string(), text("version")?.to_string()), text("checksum")?))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\n\
         [[package]]\nname = \"ring\"\nversion = \"0.17.1\"\nsource = \"registry\"\n\
         checksum = \"ab12\"\ndependencies = [\n \"cc\",\n]\n";

    #[test]
    fn digests_are_those_of_the_lock_file() {
        let sums = checksums(LOCK);
        assert_eq!(sums.len(), 1, "a crate of the workspace has none");
        assert_eq!(sums[&("ring".to_string(), "0.17.1".to_string())], "ab12");
    }

    #[test]
    fn components_have_licence_digest_and_locator() {
        let it = ("ring".to_string(), "0.17.1+x".to_string());
        let package = json!({ "license": "MIT/Apache-2.0" });
        let value = component(&it, Some(&&package), Some(&"ab12"));
        assert_eq!(value["purl"], "pkg:cargo/ring@0.17.1%2Bx");
        assert_eq!(value["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(value["hashes"][0]["content"], "ab12");
    }

    #[test]
    fn dependencies_name_linked_crates_only() {
        let metadata = json!({
            "packages": [
                { "id": "a", "name": "a", "version": "1.0.0" },
                { "id": "b", "name": "b", "version": "2.0.0" },
                { "id": "c", "name": "c", "version": "3.0.0" },
            ],
            "resolve": { "nodes": [
                { "id": "a", "dependencies": ["b", "c"] },
                { "id": "b", "dependencies": [] },
                { "id": "c", "dependencies": ["b"] },
            ]},
        });
        let linked = [("a", "1.0.0"), ("b", "2.0.0")].map(|(n, v)| (n.to_string(), v.to_string()));
        let rows = dependencies(&metadata, &BTreeSet::from(linked));
        let expected = json!([
            { "ref": "pkg:cargo/a@1.0.0", "dependsOn": ["pkg:cargo/b@2.0.0"] },
            { "ref": "pkg:cargo/b@2.0.0", "dependsOn": [] },
        ]);
        assert_eq!(Value::from(rows), expected);
    }
}
