//! `docs/which.md`: advice from the kept results of the arena, with the lessons of the studies as evidence.
use super::Study;
use super::arena::Arena;
use serde_json::Value;
use std::fmt::Write as _;

const HEAD: &str = "\
# Which algorithm do I take?

Take the default of `recoup fetch`, unless the first table names another transport for your situation:

```sh
recoup fetch /movie -o movie.mp4
```

`cargo xtask docs` writes this page from the kept results of the [arena](arena/README.md) and the [studies](studies.md).
";

const EVIDENCE: &str = "
## What the studies found

Evidence, not advice: each item is one comparison in the networks of a paper, with the algorithms as the paper has them.
The best algorithm there can be slower than the default elsewhere; the first table has what was measured.

- All choices of an item met the same seeds. They are ranked by the mean, with half the width of its 95 % interval.
- **Bold** is the best, with every choice that the runs do not separate from it: the interval of the paired differences covers zero.
- Options are those of `recoup fetch` ([algorithms.md](algorithms.md)), or fields of nodes and links ([scenario.md](scenario.md)).
";

/// Situations by their words in a result, with a heading and a sentence, in their order.
const SITUATIONS: [(&str, &str); 7] = [
    ("random-loss", "Packets are lost at random"),
    ("congestion", "The fetch fills the queues"),
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
pub(super) fn page(studies: &[Study], arena: &Arena) -> String {
    let mut long = String::new();
    for (word, heading) in SITUATIONS {
        let all = studies.iter().flat_map(|study| {
            study.lessons().iter().map(move |lesson| Lesson { key: &study.key, lesson })
        });
        let lessons: Vec<_> = all.filter(|it| it.word("situation") == word).collect();
        if lessons.is_empty() {
            continue;
        }
        let _ = write!(long, "\n### {heading}\n\n");
        lessons.iter().for_each(|lesson| long += &lesson.row());
    }
    format!("{HEAD}{}{EVIDENCE}{long}", arena.advice())
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

    /// All of it, as an item of a list.
    fn row(&self) -> String {
        let ranking: Vec<_> = self.ranking().map(|choice| self.ranked(choice)).collect();
        let claims = self.lesson["claims"].as_array().into_iter().flatten();
        let claims: Vec<_> = claims.filter_map(Value::as_str).collect();
        let claims =
            if claims.is_empty() { String::new() } else { format!(" ({})", claims.join(", ")) };
        let Self { key, .. } = self;
        format!(
            "- *{}*, by {}: {}.\n  Run: {}. From [{key}](studies/{key}/README.md){claims}, [figure](studies/{key}/{}.svg).\n",
            self.part(),
            self.word("measure"),
            ranking.join("; "),
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
    fn lesson_stands_below_its_situation() {
        let lesson = json!({ "situation": "sharing", "part": "scheduler", "runs": "two clients", "measure": "time",
            "figure": "fairness", "claims": ["D-26"], "ranking": [
                { "name": "drr", "spec": "x", "measured": "1 s", "is_best": true },
                { "name": "off", "spec": "", "measured": "2 s", "is_best": false } ] });
        let result = Some(json!({ "lessons": [lesson] }));
        let page = page(&[Study { key: "a2001".into(), result }], &Arena::default());
        assert!(page.contains("### Several flows share a link"), "{page}");
        assert!(!page.contains("## Several wireless hops"));
        let row = "- *scheduler*, by time: **drr `x`: 1 s**; off: 2 s.\n  Run: two clients. From \
                   [a2001](studies/a2001/README.md) (D-26), [figure](studies/a2001/fairness.svg).\n";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("no results of the arena are kept"), "{page}");
    }
}
