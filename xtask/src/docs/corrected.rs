//! Counts of verdicts in kept results follow from the kept verdicts.
use crate::chore::Outcome;
use serde_json::Value;

/// Fails if a count is not that of the verdicts.
pub(super) fn check(key: &str, result: &Value) -> Outcome {
    let judged = || result["claims"].as_array().into_iter().flatten();
    let gating = || judged().filter(|it| it["gating"] == true);
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

    fn result(verdict: &str, held: u32, failed: u32) -> Value {
        let claim = json!({ "id": "A-1", "gating": true, "verdict": verdict, "former": "fails" });
        json!({ "held": held, "failed": failed, "undecided": 0, "changed": held, "claims": [claim] })
    }

    #[test]
    fn counts_follow_from_the_verdicts() {
        check("x", &result("holds", 1, 0)).unwrap();
        check("x", &result("fails", 0, 1)).unwrap();
        let wrong = check("x", &result("holds", 0, 0)).unwrap_err();
        assert!(wrong.contains("`held` is not 1"), "{wrong}");
        let wrong = check("x", &result("fails", 0, 0)).unwrap_err();
        assert!(wrong.contains("`failed` is not 1"), "{wrong}");
    }
}
