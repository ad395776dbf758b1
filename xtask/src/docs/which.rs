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
    let mut short =
        String::from("\n## In short\n\n| where | what | take | by |\n|---|---|---|---|\n");
    let mut long = String::new();
    for (word, heading) in SITUATIONS {
        let all = studies.iter().flat_map(|study| {
            study.lessons().iter().map(move |lesson| Lesson { key: &study.key, lesson })
        });
        let lessons: Vec<_> = all.filter(|it| it.word("situation") == word).collect();
        if lessons.is_empty() {
            continue;
        }
        let _ = write!(
            long,
            "\n## {heading}\n\n| what | best, then the others | measured | what was run | from |\n|---|---|---|---|---|\n"
        );
        for lesson in lessons {
            short += &lesson.short(heading);
            long += &lesson.row();
        }
    }
    format!("{HEAD}{short}{long}")
}

/// A lesson of a study.
#[derive(Clone, Copy)]
struct Lesson<'a> {
    key: &'a str,
    lesson: &'a Value,
}

impl Lesson<'_> {
    fn word(&self, name: &str) -> &str {
        self.lesson[name].as_str().unwrap_or_default()
    }

    fn part(&self) -> &'static str {
        PARTS.iter().find(|(own, _)| *own == self.word("part")).map_or("", |(_, text)| *text)
    }

    fn ranking(&self) -> impl Iterator<Item = &Value> {
        self.lesson["ranking"].as_array().into_iter().flatten()
    }

    /// What is best there, by what, in a line.
    fn short(&self, heading: &str) -> String {
        let best = self.ranking().filter(|choice| choice["is_best"] == true);
        let best: Vec<_> = best.map(|choice| self.named(choice)).collect();
        format!(
            "| {heading} | {} | {} | {} |\n",
            self.part(),
            best.join(" or "),
            self.word("measure")
        )
    }

    /// All of it, in a line.
    fn row(&self) -> String {
        let ranking: Vec<_> = self.ranking().map(|choice| self.ranked(choice)).collect();
        let claims = self.lesson["claims"].as_array().into_iter().flatten();
        let claims: Vec<_> = claims.filter_map(Value::as_str).collect();
        let claims =
            if claims.is_empty() { String::new() } else { format!(": {}", claims.join(", ")) };
        let Self { key, .. } = self;
        format!(
            "| {} | {} | {} | {} | [{key}](studies/{key}/README.md), [figure](studies/{key}/{}.svg){claims} |\n",
            self.part(),
            ranking.join("<br>"),
            self.word("measure"),
            self.word("runs"),
            self.word("figure"),
        )
    }

    fn ranked(&self, choice: &Value) -> String {
        let measured = choice["measured"].as_str().unwrap_or_default();
        let text = format!("{}: {measured}", self.named(choice));
        if choice["is_best"] == true { format!("**{text}**") } else { text }
    }

    /// A choice with how it is written; timers are written as their option takes them.
    fn named(&self, choice: &Value) -> String {
        let word = |name: &str| choice[name].as_str().unwrap_or_default();
        match (word("name"), word("spec"), self.word("part")) {
            (name, "", _) => name.to_owned(),
            (name, spec, "timer") => format!("{name} `--rto '{spec}'`"),
            (name, spec, _) => format!("{name} `{spec}`"),
        }
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
        let row = "| scheduler | **drr `x`: 1 s**<br>off: 2 s | time | two clients | [a2001](studies/a2001/README.md), \
                   [figure](studies/a2001/fairness.svg): D-26 |";
        assert!(page.contains(row), "{page}");
        assert!(
            page.contains("| Several flows share a link | scheduler | drr `x` | time |\n"),
            "{page}"
        );
    }
}
