//! Advice from the kept results of the arena.
//!
//! A transport is recommended in a situation if its geometric mean beats the default's by more than
//! 2 %, in simulation and on sockets. The mean covers the cases that both ran on the same
//! substrate. A transport without socket measurements is not recommended, nor is one that is slower
//! than the default on sockets in any case.
use crate::chore::{Outcome, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

/// By how much a transport has to be better.
const CLEARLY: f64 = 0.98;
/// By how much another transport has to be better in a case where the default counts as weak.
const WEAK: f64 = 0.95;
/// By how much a transport may be slower on sockets in one case: the spread of runs on a machine.
const SLOWER: f64 = 1.03;

/// Situations by their words in a result, in their order.
const SITUATIONS: [(&str, &str); 10] = [
    ("clean", "The path is yours and loses nothing"),
    ("short", "Short objects"),
    ("random-loss", "Packets are lost at random"),
    ("reordering", "Packets overtake each other"),
    ("jitter", "The delay varies, the order stays"),
    ("congestion", "Other traffic, marks, a changing rate"),
    ("sharing", "Several flows share a link"),
    ("sources", "Caches or several servers answer"),
    ("radio", "Radio links"),
    ("mobility", "Consumers or producers move"),
];

/// The kept results.
#[derive(Debug, Default)]
pub(super) struct Arena {
    simulated: Substrate,
    sockets: Substrate,
}

/// Results of one substrate.
#[derive(Debug, Default)]
struct Substrate {
    /// The default transport at that time.
    default: String,
    /// By whom, when and how they were made, in a sentence.
    made: String,
    /// Short names of transports.
    labels: BTreeMap<String, String>,
    cases: Vec<Case>,
}

#[derive(Debug)]
struct Case {
    name: String,
    situation: String,
    /// Mean factors by transport.
    factors: BTreeMap<String, f64>,
}

impl Arena {
    /// The results in `docs/arena`; empty without a file.
    pub(super) fn kept() -> Outcome<Self> {
        let read = |name: &str| {
            let path = root().join("docs/arena").join(name);
            match fs::read_to_string(&path) {
                Ok(text) => serde_json::from_str(&text)
                    .map(|document| Substrate::of(&document))
                    .map_err(|error| format!("{}: {error}", path.display())),
                Err(_) => Ok(Substrate::default()),
            }
        };
        Ok(Self { simulated: read("simulated.json")?, sockets: read("sockets.json")? })
    }

    /// The section with the advice.
    pub(super) fn advice(&self) -> String {
        if self.simulated.cases.is_empty() {
            return "\nTake the default: no results of the arena are kept.\n".into();
        }
        let mut text = String::from(
            "\n## In short\n\n`recoup arena` judges transports by their time over the shortest possible one (sharing: over full use and a fair share); 1 is the best possible. \
             Geometric means over the cases of a situation:\n\n\
             | situation | cases | default | best measured | its factor | on sockets | take |\n|---|---:|---:|---|---:|---|---|\n",
        );
        for (word, heading) in SITUATIONS {
            text += &self.row(word, heading).unwrap_or_default();
        }
        text += "\nOn sockets: factor of the default, then of that transport, over the cases that ran there. A transport is recommended only if it is \
                 better on both backends and slower in no case on sockets.\n";
        let _ = write!(text, "\nDefault: `{}`. {}", self.simulated.default, self.simulated.made);
        if !self.sockets.cases.is_empty() {
            let _ = write!(text, " {}", self.sockets.made);
        }
        text + "\n" + &self.weak() + &self.losers()
    }

    fn row(&self, word: &str, heading: &str) -> Option<String> {
        let default = &self.simulated.default;
        let transports = self.simulated.labels.keys();
        let means = transports.filter_map(|transport| {
            let (cases, ours, theirs) = self.simulated.compare(word, default, transport)?;
            Some((transport, cases, ours, theirs))
        });
        let (best, cases, own, factor) =
            means.min_by(|a, b| (a.3 / a.2).total_cmp(&(b.3 / b.2)))?;
        if best == default {
            return Some(format!(
                "| {heading} | {cases} | {own:.2} | none better | | | the default |\n"
            ));
        }
        let sockets = self.sockets.compare(word, default, best);
        let measured = sockets.map_or_else(
            || "not measured".to_owned(),
            |(_, ours, theirs)| format!("{ours:.2}, {theirs:.2}"),
        );
        let label = self.simulated.labels.get(best)?;
        let take = match self.is_better(word, best, own, factor) {
            true => format!("`{}`", options(label)),
            false => "the default".into(),
        };
        Some(format!(
            "| {heading} | {cases} | {own:.2} | `{label}` | {factor:.2} | {measured} | {take} |\n"
        ))
    }

    fn is_better(&self, word: &str, transport: &str, own: f64, factor: f64) -> bool {
        let default = &self.simulated.default;
        let on_sockets = self.sockets.compare(word, default, transport);
        let loses = self.sockets.losses(word, default, transport).next().is_some();
        factor < own * CLEARLY
            && on_sockets.is_some_and(|(_, ours, theirs)| theirs < ours * CLEARLY)
            && !loses
    }

    /// Simulated cases in which another transport is clearly better than the default.
    fn weak(&self) -> String {
        let Substrate { default, labels, cases, .. } = &self.simulated;
        let rows = cases.iter().filter_map(|case| {
            let own = *case.factors.get(default)?;
            let (best, factor) = case.factors.iter().min_by(|a, b| a.1.total_cmp(b.1))?;
            let label = labels.get(best)?;
            (*factor < own * WEAK)
                .then(|| format!("| {} | {own:.2} | `{label}` | {factor:.2} |\n", case.name))
        });
        let rows: String = rows.collect();
        match rows.is_empty() {
            true => rows,
            false => format!(
                "\nThe default is weak in these cases, in simulation. Another transport is more than 5 % better:\n\n\
                 | case | default | best measured | its factor |\n|---|---:|---|---:|\n{rows}"
            ),
        }
    }

    /// Transports that are slower than the default on sockets, case by case.
    fn losers(&self) -> String {
        let default = &self.sockets.default;
        let mut text = String::new();
        for (transport, label) in &self.sockets.labels {
            for (word, _) in SITUATIONS {
                for (case, ours, theirs) in self.sockets.losses(word, default, transport) {
                    let _ = writeln!(text, "| {case} | `{label}` | {theirs:.2} | {ours:.2} |");
                }
            }
        }
        match text.is_empty() {
            true => text,
            false => format!(
                "\nSlower than the default on sockets, by the mean:\n\n| case | transport | its factor | default |\n|---|---|---:|---:|\n{text}"
            ),
        }
    }
}

impl Substrate {
    fn of(document: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let factor = |result: &Value| {
            let mean = result.pointer("/figures/factor/mean")?.as_f64()?;
            Some((text(&result["transport"]), mean))
        };
        let case = |it: &Value| Case {
            name: text(&it["case"]),
            situation: text(&it["situation"]),
            factors: list(&it["results"]).iter().filter_map(factor).collect(),
        };
        let made = &document["made"];
        let date = text(&made["date"]);
        let day = [date.get(..4), date.get(4..6), date.get(6..8)]
            .map(Option::unwrap_or_default)
            .join("-");
        Self {
            default: text(&document["default"]),
            made: format!("Made on {day} by `{}`.", text(&made["command"])),
            labels: list(&document["transports"])
                .iter()
                .map(|it| (text(&it["transport"]), text(&it["label"])))
                .collect(),
            cases: list(&document["cases"]).iter().map(case).collect(),
        }
    }

    /// Factors of both transports in the cases of a situation that both ran.
    fn pairs(&self, word: &str, default: &str, transport: &str) -> Vec<(&str, f64, f64)> {
        let of_situation = self.cases.iter().filter(|case| case.situation == word);
        let both = of_situation.filter_map(|case| {
            Some((case.name.as_str(), *case.factors.get(default)?, *case.factors.get(transport)?))
        });
        both.collect()
    }

    /// How many cases both ran, and their geometric means.
    fn compare(&self, word: &str, default: &str, transport: &str) -> Option<(usize, f64, f64)> {
        let pairs = self.pairs(word, default, transport);
        let mean = |of: fn(&(&str, f64, f64)) -> f64| {
            let logs: f64 = pairs.iter().map(|pair| of(pair).ln()).sum();
            (logs / pairs.len() as f64).exp()
        };
        (!pairs.is_empty()).then(|| (pairs.len(), mean(|it| it.1), mean(|it| it.2)))
    }

    /// Cases in which the transport is slower than the default, with the factors of both.
    fn losses<'a>(
        &'a self,
        word: &str,
        default: &str,
        transport: &str,
    ) -> impl Iterator<Item = (&'a str, f64, f64)> {
        let pairs = self.pairs(word, default, transport).into_iter();
        pairs.filter(|(_, ours, theirs)| *theirs > ours * SLOWER)
    }
}

/// A transport as options of `recoup fetch`.
fn options(label: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut depth = 0_i32;
    let pieces = label.split(|letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    });
    for (place, piece) in pieces.map(str::trim).enumerate() {
        let (key, value) = match piece.split_once('=').filter(|_| place > 0) {
            Some((key, value)) => (key, value),
            None => ("congestion", piece),
        };
        parts.push(format!("--{key} '{value}'"));
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A substrate with one case of random loss and these factors of `d`, the default, and `x`.
    fn substrate(default: f64, other: f64) -> Substrate {
        let result = |transport: &str, factor: f64| json!({ "transport": transport, "figures": { "factor": { "mean": factor } } });
        Substrate::of(&json!({
            "default": "d", "made": { "date": "20261123T081500", "command": "recoup arena --json" },
            "transports": [ { "transport": "d", "label": "d" }, { "transport": "x", "label": "x(a=1,b=2), loss=smart" } ],
            "cases": [ { "case": "loss-1", "situation": "random-loss",
                         "results": [ result("d", default), result("x", other) ] } ]
        }))
    }

    #[test]
    fn better_on_both_substrates_is_recommended() {
        let arena = Arena { simulated: substrate(4.0, 2.0), sockets: substrate(4.2, 2.1) };
        let text = arena.advice();
        let row = "| Packets are lost at random | 1 | 4.00 | `x(a=1,b=2), loss=smart` | 2.00 | 4.20, 2.10 | \
                   `--congestion 'x(a=1,b=2)' --loss 'smart'` |\n";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("Made on 2026-11-23 by `recoup arena --json`."), "{text}");
        assert!(text.contains("| loss-1 | 4.00 | `x(a=1,b=2), loss=smart` | 2.00 |"), "{text}");
        assert!(!text.contains("Slower than the default"));
    }

    #[test]
    fn default_stays_where_none_is_better() {
        let arena = Arena { simulated: substrate(2.0, 4.0), sockets: substrate(2.0, 4.0) };
        let text = arena.advice();
        assert!(text.contains("| 1 | 2.00 | none better | | | the default |\n"), "{text}");
        assert!(!text.contains("is weak"), "{text}");
    }

    #[test]
    fn loser_on_sockets_is_never_recommended() {
        for sockets in [substrate(2.0, 3.5), Substrate::default()] {
            let measured = !sockets.cases.is_empty();
            let text = Arena { simulated: substrate(4.0, 2.0), sockets }.advice();
            assert!(text.contains("| the default |\n"), "{text}");
            assert_eq!(
                text.contains("| loss-1 | `x(a=1,b=2), loss=smart` | 3.50 | 2.00 |"),
                measured
            );
            assert_eq!(text.contains("not measured"), !measured);
        }
    }
}
