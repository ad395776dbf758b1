//! `docs/which.md`: which algorithm did best where, from the lessons of the kept results.
use super::Study;
use serde_json::Value;
use std::fmt::Write as _;

const HEAD: &str = "\
# Which algorithm do I take?

Written by `cargo xtask docs` from the results of the studies that are kept below [studies/](studies); who changes it by hand loses it.

Each line is one comparison of a study: what met the same seeds, ranked by the mean, with half the width of its 95 % interval. **Bold** is the best and
whatever the runs do not tell from it (the interval of the paired differences covers zero). A line holds for what was run, and for what is like it.
Options are of `recoup fetch` ([cli.md](cli.md)) or, with an equals sign in a table of a scenario, of nodes and links ([scenario.md](scenario.md)).
";

/// Situations by their words in a result, with a heading and a sentence, in their order.
const SITUATIONS: [(&str, &str); 7] = [
    ("random-loss", "Packets are lost at random"),
    ("congestion", "What you ask for fills the queues"),
    ("sharing", "Several flows share a link"),
    ("sources", "Caches or several servers answer"),
    ("wireless-hops", "Several wireless hops"),
    ("radio-loss", "A radio link loses packets"),
    ("mobility", "Consumers or producers move"),
];

/// Parts by their words in a result.
const PARTS: [(&str, &str); 6] = [
    ("timer", "timer"),
    ("window", "window"),
    ("loss-detector", "loss detector"),
    ("link-recovery", "link recovery"),
    ("moves", "Interests whose face is gone"),
    ("scheduler", "scheduler"),
];

/// The page.
pub(super) fn page(studies: &[Study]) -> String {
    let mut text = HEAD.to_owned();
    for (word, heading) in SITUATIONS {
        let lessons = studies.iter().flat_map(|study| {
            study.lessons().iter().map(move |lesson| (study.key.as_str(), lesson))
        });
        let mut lessons =
            lessons.filter(|(_, lesson)| lesson["situation"].as_str() == Some(word)).peekable();
        if lessons.peek().is_none() {
            continue;
        }
        let _ = write!(
            text,
            "\n## {heading}\n\n| take | best, then the others | measured | what was run | from |\n|---|---|---|---|---|\n"
        );
        for (key, lesson) in lessons {
            text += &row(key, lesson);
        }
    }
    text
}

fn row(key: &str, lesson: &Value) -> String {
    let word = |name: &str| lesson[name].as_str().unwrap_or_default();
    let part = PARTS.iter().find(|(own, _)| *own == word("part")).map_or("", |(_, text)| *text);
    let ranking = lesson["ranking"].as_array().into_iter().flatten().map(ranked);
    let ranking: Vec<_> = ranking.collect();
    let claims = lesson["claims"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let claims: Vec<_> = claims.collect();
    let claims = if claims.is_empty() { String::new() } else { format!(": {}", claims.join(", ")) };
    format!(
        "| {part} | {} | {} | {} | [{key}](studies/{key}/README.md), [figure](studies/{key}/{}.svg){claims} |\n",
        ranking.join("<br>"),
        word("measure"),
        word("runs"),
        word("figure"),
    )
}

fn ranked(choice: &Value) -> String {
    let word = |name: &str| choice[name].as_str().unwrap_or_default();
    let (name, spec, measured) = (word("name"), word("spec"), word("measured"));
    let spec = if spec.is_empty() { String::new() } else { format!(" `{spec}`") };
    match choice["is_best"].as_bool() {
        Some(true) => format!("**{name} {measured}**{spec}"),
        _ => format!("{name} {measured}{spec}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_lesson_is_a_row_below_its_situation_and_empty_situations_are_left_out() {
        let lesson = json!({ "situation": "sharing", "part": "scheduler", "runs": "two clients", "measure": "time",
            "figure": "fairness", "claims": ["D-26"], "ranking": [
                { "name": "drr", "spec": "x", "measured": "1 s", "is_best": true },
                { "name": "off", "spec": "", "measured": "2 s", "is_best": false } ] });
        let result = Some(json!({ "lessons": [lesson] }));
        let page = page(&[Study { key: "a2001".into(), result }]);
        assert!(page.contains("## Several flows share a link"), "{page}");
        assert!(!page.contains("## Several wireless hops"));
        let row = "| scheduler | **drr 1 s** `x`<br>off 2 s | time | two clients | [a2001](studies/a2001/README.md), \
                   [figure](studies/a2001/fairness.svg): D-26 |";
        assert!(page.contains(row), "{page}");
    }
}
