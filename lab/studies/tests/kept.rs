//! The kept results below `docs/studies` agree with the claims. Their pages name claims that fail, and the code of each mechanism.
use recoup_studies::study::Study;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn file(study: &Study, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/studies");
    root.join(study.key()).join(name)
}

fn text(study: &Study, name: &str) -> String {
    fs::read_to_string(file(study, name)).unwrap_or_else(|error| panic!("{}: {error}", study.key()))
}

fn result(study: &Study) -> Value {
    serde_json::from_str(&text(study, "result.json")).expect("a document")
}

/// The claims of a kept result.
fn kept(result: &Value) -> &[Value] {
    result["claims"].as_array().expect("claims")
}

#[test]
fn kept_results_gate_by_the_claims() {
    for study in recoup_studies::all() {
        let (key, result, claims) = (study.key(), result(study), study.claims());
        assert_eq!(kept(&result).len(), claims.len(), "{key}");
        for (kept, claim) in kept(&result).iter().zip(&claims) {
            assert_eq!(kept["id"], *claim.id, "{key}");
            assert_eq!(kept["gating"], claim.is_gating(), "{key}: {}", claim.id);
            let has_former = kept.get("former").is_some();
            assert_eq!(has_former, claim.corrected().is_some(), "{key}: {}", claim.id);
        }
    }
}

#[test]
fn kept_counts_are_those_of_the_verdicts() {
    for study in recoup_studies::all() {
        let result = result(study);
        let gating = |word: &str| {
            let claims = kept(&result).iter();
            claims.filter(|it| it["gating"] == true && it["verdict"] == word).count()
        };
        for (count, word) in [("held", "holds"), ("failed", "fails"), ("undecided", "undecided")] {
            assert_eq!(result[count], gating(word), "{}: {count}", study.key());
        }
    }
}

#[test]
fn pages_name_gating_claims_that_fail() {
    for study in recoup_studies::all() {
        let (result, page) = (result(study), text(study, "README.md"));
        let unproven =
            kept(&result).iter().filter(|it| it["gating"] == true && it["verdict"] != "holds");
        for claim in unproven {
            let id = claim["id"].as_str().expect("a number");
            let names = page.match_indices(id).any(|(at, _)| {
                let next = page[at + id.len()..].chars().next();
                next.is_none_or(|it| !it.is_alphanumeric())
            });
            assert!(names, "{}/README.md does not name {id}, which does not hold", study.key());
        }
    }
}

#[test]
fn pages_show_both_verdicts_of_corrected_rules() {
    for study in recoup_studies::all() {
        let page = fs::read_to_string(file(study, "claims.md")).expect("a page");
        for claim in study.claims().iter().filter(|it| it.corrected().is_some()) {
            let row = page.lines().find(|line| line.starts_with(&format!("| {} |", claim.id)));
            let row = row.unwrap_or_else(|| panic!("{}: no row of {}", study.key(), claim.id));
            assert!(row.contains("by the rule until"), "{}: {row}", claim.id);
        }
    }
}

/// The targets of the links in a page.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The files of product and simulator of which a line of sources has the study's paper, below the root.
fn sources(key: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (author, year) = key.split_at(key.len() - 4);
    let (mut folders, mut found) = (vec![root.join("crates"), root.join("lab")], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() && !path.ends_with("lab/studies") {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).unwrap().to_lowercase().replace(' ', "");
                let mut heads = text.lines().filter(|line| line.starts_with("//!source"));
                if heads.any(|line| line.contains(author) && line.contains(year)) {
                    found.push(path.strip_prefix(&root).unwrap().display().to_string());
                }
            }
        }
    }
    assert!(!found.is_empty(), "{key}");
    found
}

#[test]
fn code_of_each_mechanism_is_there() {
    for study in recoup_studies::all() {
        let path = file(study, "code.md");
        let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        for link in links(&page) {
            assert!(path.with_file_name(link).exists(), "{}/code.md: {link} is gone", study.key());
        }
        for source in sources(study.key()) {
            assert!(page.contains(&source), "{}/code.md has no row of {source}", study.key());
        }
        assert!(
            links(&text(study, "README.md")).any(|link| link == "code.md"),
            "{}/README.md",
            study.key()
        );
    }
}
