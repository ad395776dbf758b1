//! The list of cases.
use super::choice::Chosen;
use super::sockets;
use crate::error::Failure;
use crate::output::{self, Stream};
use recoup_studies::arena::case::Kind;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Prints the cases.
pub(super) fn print(chosen: &[Chosen], as_json: bool) -> Result<(), Failure> {
    match as_json {
        true => output::json(&chosen.iter().map(document).collect::<Vec<Value>>(), Stream::Out),
        false => output::print(text(chosen).as_bytes()),
    }
}

fn text(chosen: &[Chosen]) -> String {
    let mut text = String::new();
    let mut situation = "";
    for it in chosen {
        let word = it.case.arena.situation.word();
        if word != situation {
            let _ = writeln!(text, "{word}");
            situation = word;
        }
        let ideal = match it.case.terms.kind {
            Kind::Completion { ideal_s } => format!("{ideal_s:.3} s"),
            Kind::Sharing { fair_share, .. } if fair_share < 1.0 => {
                format!("{:.0} %", fair_share * 100.0)
            }
            Kind::Sharing { .. } => "equal".into(),
        };
        let backend = if sockets::fitness(it).is_ok() { "sockets" } else { "" };
        let _ = writeln!(
            text,
            "  {:<18} {ideal:>9}  {backend:<7}  {}",
            it.case.name,
            it.case.file.title()
        );
    }
    let _ = write!(
        text,
        "\n{} cases: name, ideal time or share, whether --backend sockets carries it, title\n",
        chosen.len()
    );
    text
}

fn document(it: &Chosen) -> Value {
    let (ideal_s, fair_share) = match it.case.terms.kind {
        Kind::Completion { ideal_s } => (Some(ideal_s), None),
        Kind::Sharing { fair_share, .. } => (None, Some(fair_share)),
    };
    let fitness = sockets::fitness(it);
    json!({
        "case": it.case.name, "situation": it.case.arena.situation.word(), "title": it.case.file.title(),
        "ideal_s": ideal_s, "fair_share": fair_share, "base_rtt_s": it.case.terms.base_rtt_s,
        "sockets": fitness.is_ok(), "why_not": fitness.err(),
    })
}
