//! Kept verdicts by corrected rules: they follow from the comparisons that are kept with them, and the counts from them.
use crate::chore::Outcome;
use serde_json::Value;

/// The comparisons of a claim's row in `claims.md`, without those of the former rule.
fn comparisons<'a>(claims: &'a str, id: &str) -> Vec<&'a str> {
    let begins = format!("| {id} | ");
    let row = claims.lines().find(|line| line.starts_with(&begins)).unwrap_or_default();
    let ours = row.split(" | ").nth(4).unwrap_or_default();
    let (first, rest) = ours.split_once("<details>").unwrap_or((ours, ""));
    let rest = rest.split_once("</summary>").map_or("", |(_, rest)| rest);
    let others = rest.trim_end_matches("</details>").split("<br>").filter(|it| !it.is_empty());
    let all = std::iter::once(first).chain(others);
    all.filter(|it| !it.starts_with("rule until ")).collect()
}

/// Whether comparisons permit a verdict: each comparison of a claim that holds agrees with it, and the first one of any other does not.
fn permits(verdict: &str, comparisons: &[&str]) -> bool {
    let is_against = |text: &&str| text.contains(" > ") || text.contains(" ≈ ");
    match verdict {
        "holds" => !comparisons.iter().any(is_against),
        "undecided" => comparisons.first().is_some_and(|it| it.contains(" ≈ ")),
        _ => comparisons.first().is_some_and(|it| is_against(it) || it.starts_with("no run")),
    }
}

/// Fails if a verdict by a corrected rule is not that of its kept comparisons, or a count is not that of the verdicts.
pub(super) fn check(key: &str, result: &Value, claims: &str) -> Outcome {
    let judged = || result["claims"].as_array().into_iter().flatten();
    let gating = || judged().filter(|it| it["gating"] == true);
    for claim in gating().filter(|it| it["former"].is_string()) {
        let (id, verdict) = (claim["id"].as_str(), claim["verdict"].as_str());
        let (id, verdict) = (id.unwrap_or_default(), verdict.unwrap_or_default());
        if !permits(verdict, &comparisons(claims, id)) {
            return Err(format!("docs/studies/{key}: {id} {verdict}, but its comparisons do not"));
        }
    }
    let having = |verdict: &str| gating().filter(|it| it["verdict"] == verdict).count();
    let changed =
        gating().filter(|it| it["former"].is_string() && it["former"] != it["verdict"]).count();
    let counts = [
        ("held", having("holds")),
        ("failed", having("fails")),
        ("undecided", gating().count() - having("holds") - having("fails")),
        ("changed", changed),
    ];
    match counts.into_iter().find(|(name, count)| result[name] != *count) {
        None => Ok(()),
        Some((name, count)) => Err(format!("docs/studies/{key}: `{name}` is not {count}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const CLAIMS: &str = "| A-1 | **R** | x | y | 1 < 2<details><summary>2 more</summary>3 < 4<br>rule until 2026-11-28: \
                          6 > 5</details> | holds; by the rule until 2026-11-28: fails | z |\n";

    fn result(verdict: &str, held: u32, failed: u32) -> Value {
        let claim = json!({ "id": "A-1", "gating": true, "verdict": verdict, "former": "fails" });
        json!({ "held": held, "failed": failed, "undecided": 0, "changed": held, "claims": [claim] })
    }

    #[test]
    fn corrected_verdict_follows_from_kept_comparisons() {
        assert_eq!(comparisons(CLAIMS, "A-1"), ["1 < 2", "3 < 4"]);
        check("x", &result("holds", 1, 0), CLAIMS).unwrap();
        let other = check("x", &result("fails", 0, 1), CLAIMS).unwrap_err();
        assert!(other.contains("A-1 fails"), "{other}");
        let other = CLAIMS.replace("3 < 4", "3 ≈ 4");
        assert!(check("x", &result("holds", 1, 0), &other).unwrap_err().contains("A-1 holds"));
    }

    #[test]
    fn counts_follow_from_the_verdicts() {
        let wrong = check("x", &result("holds", 0, 0), CLAIMS).unwrap_err();
        assert!(wrong.contains("`held` is not 1"), "{wrong}");
    }
}
