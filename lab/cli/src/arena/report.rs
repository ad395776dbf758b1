//! The results as a document, from which tables are made.
use super::args::ArenaArgs;
use super::choice::Chosen;
use super::gather::Gathered;
use recoup_sim::statistic::Estimate;
use recoup_studies::arena::case::Kind;
use recoup_studies::arena::standing::{Standing, standings};
use recoup_studies::arena::summary::Summary;
use recoup_transport::transport::Transport;
use serde_json::{Map, Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The runs of an arena.
pub(super) struct Report<'a> {
    pub args: &'a ArenaArgs,
    /// The transport of `recoup fetch` without options.
    pub default: &'a Transport,
    pub transports: &'a [Transport],
    pub chosen: &'a [Chosen],
    pub gathered: &'a Gathered,
}

impl Report<'_> {
    /// The short name of a transport.
    pub(super) fn label(&self, transport: &Transport) -> String {
        transport.short(self.default)
    }

    /// The cases with the summaries of their transports.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&Chosen, &[Summary])> {
        self.chosen.iter().zip(self.gathered.summaries.iter().map(Vec::as_slice))
    }

    /// How the transport at a place stands: completion times, then sharing.
    pub(super) fn standings(&self, place: usize) -> [Standing; 2] {
        let results = self.rows().filter_map(|(it, all)| Some((&it.case, all.get(place)?)));
        standings(results)
    }

    /// All of it as a document.
    pub(super) fn document(&self) -> Value {
        let transports = self.transports.iter().enumerate().map(|(place, transport)| {
            let [completion, sharing] = self.standings(place).map(|it| standing(&it));
            json!({
                "transport": transport.to_string(), "label": self.label(transport),
                "is_default": transport == self.default,
                "completion": completion, "sharing": sharing,
            })
        });
        let cases = self.rows().map(|(it, summaries)| {
            let results = self.transports.iter().zip(summaries);
            let results: Vec<Value> =
                results.map(|(transport, it)| result(transport, it)).collect();
            let (ideal_s, fair_share) = match it.case.terms.kind {
                Kind::Completion { ideal_s } => (Some(ideal_s), None),
                Kind::Sharing { fair_share, .. } => (None, Some(fair_share)),
            };
            json!({
                "case": it.case.name, "situation": it.case.arena.situation.word(),
                "title": it.case.file.title(), "ideal_s": ideal_s, "fair_share": fair_share,
                "results": results,
            })
        });
        json!({
            "command": "arena", "backend": self.args.backend.word(), "made": made(),
            "default": self.default.to_string(),
            "transports": transports.collect::<Vec<_>>(), "cases": cases.collect::<Vec<_>>(),
        })
    }
}

/// By which program, when and by which command line.
fn made() -> Value {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| shell_word(&word.to_string_lossy())).collect();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({
        "recoup": env!("CARGO_PKG_VERSION"), "date": recoup_io::key::date(since.as_secs()),
        "command": format!("recoup {}", words.join(" ")),
    })
}

/// A word as a shell takes it.
fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=.,/:+".contains(letter);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn standing(it: &Standing) -> Value {
    let worst = it.worst.as_ref().map(|(case, factor)| json!({ "case": case, "factor": factor }));
    json!({
        "cases": it.cases, "geometric_mean": it.geometric_mean, "p95": it.p95, "worst": worst, "incomplete": it.incomplete,
    })
}

fn result(transport: &Transport, summary: &Summary) -> Value {
    let figures = summary
        .figures()
        .into_iter()
        .filter_map(|(name, unit, estimate)| Some((name.to_owned(), figure(unit, &estimate?))));
    json!({
        "transport": transport.to_string(), "runs": summary.runs, "completed": summary.completed,
        "converged": summary.converged, "figures": figures.collect::<Map<_, _>>(),
    })
}

fn figure(unit: &str, estimate: &Estimate) -> Value {
    let ci95 = estimate.half_width.is_finite().then(|| [estimate.low(), estimate.high()]);
    json!({ "unit": unit, "mean": estimate.mean, "ci95": ci95, "runs": estimate.count })
}
