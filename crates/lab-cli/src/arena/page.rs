//! The page of an arena: one HTML file that needs neither network nor scripts.
use super::heat;
use super::report::Report;
use super::table::{self, short, spread, unit};
use crate::error::Failure;
use crate::study::{STYLE, escape};
use recoup_studies::arena::case::Kind;
use recoup_studies::arena::standing::Standing;
use recoup_studies::arena::summary::Summary;
use std::fmt::Write as _;
use std::path::Path;

const OWN_STYLE: &str = "\
.all th { white-space: normal; }
.heat svg { max-width: 100%; height: auto; }
.arena th { white-space: normal; } .arena td { min-width: 9rem; } .arena td:first-child { min-width: 12rem; }
.arena td.score { border-left: 6px solid var(--faint); }
.arena b { font-size: 1.05rem; } .arena tr.situation th { background: none; padding-top: 1.2rem; }
";

const EXPLANATION: &str = "\
The factor of a completion time is that time over the shortest possible one of the path: start-up by doubling, then a full \
link. Where a link is shared, it is the inverse of the utilisation, times how far the share beside the rivals is from the \
fair one, or over Jain's index. 1 is the best possible. A cross marks runs that did not complete. Figures are means over \
seeds with 95 % intervals.";

/// Writes the page.
pub(super) fn write(report: &Report<'_>, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
    }
    std::fs::write(path, text(report))
        .map_err(|error| Failure::file("write", path.display(), &error))
}

fn text(report: &Report<'_>) -> String {
    let backend = match report.args.backend {
        super::args::Backend::Simulated => "in simulation",
        super::args::Backend::Sockets => "on sockets",
    };
    let (runs, _) = report.gathered.runs;
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Arena</title>\n\
         <style>\n{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n<h1>Arena: transports {backend}</h1>\n\
         <p class=\"source\">{} transports on {} cases, {runs} runs</p>\n\
         <p class=\"small\">{EXPLANATION}</p>\n{}<h2 id=\"map\">Heat map</h2>\n<div class=\"heat wide\">\n{}</div>\n{}\
         <p class=\"small\">Made by recoup {}. Default transport: <code>{}</code></p>\n</body>\n</html>\n",
        report.transports.len(),
        report.chosen.len(),
        standings(report),
        heat::draw(report),
        cases(report),
        env!("CARGO_PKG_VERSION"),
        escape(&report.default.to_string()),
    )
}

/// How each transport stands over all cases.
fn standings(report: &Report<'_>) -> String {
    let mut text = String::from(
        "<h2 id=\"all\">All cases</h2>\n<div class=\"wide\"><table class=\"all\">\n<tr><th>Transport</th>\
         <th>Completion times: geometric mean</th><th>Worst</th><th>Not complete</th>\
         <th>Sharing: geometric mean</th><th>Worst</th></tr>\n",
    );
    for (place, transport) in report.transports.iter().enumerate() {
        let [completion, sharing] = report.standings(place);
        let _ = writeln!(
            text,
            "<tr><td>{} <code>{}</code></td>{}<td>{}</td>{}</tr>",
            place + 1,
            escape(&report.label(transport)),
            standing(&completion),
            escape(&completion.incomplete.join(", ")),
            standing(&sharing),
        );
    }
    text + "</table></div>\n"
}

/// The mean and the worst.
fn standing(standing: &Standing) -> String {
    let mean = standing.geometric_mean.map_or_else(|| "–".to_owned(), short);
    let worst = standing.worst.as_ref();
    let worst = worst.map(|(case, factor)| format!("{} {}", short(*factor), escape(case)));
    let cases = if standing.cases == 1 { "case" } else { "cases" };
    format!(
        "<td><b>{mean}</b> <span class=\"small\">{} {cases}</span></td><td>{}</td>",
        standing.cases,
        worst.unwrap_or_default()
    )
}

/// All figures of each case.
fn cases(report: &Report<'_>) -> String {
    let heads = report.transports.iter().enumerate().map(|(place, transport)| {
        format!("<th>{} <code>{}</code></th>", place + 1, escape(&report.label(transport)))
    });
    let heads: String = heads.collect();
    let mut text = format!(
        "<h2 id=\"cases\">Cases</h2>\n<div class=\"wide\"><table class=\"arena\">\n<tr><th>Case</th>{heads}</tr>\n"
    );
    let mut situation = "";
    for (chosen, summaries) in report.rows() {
        let word = chosen.case.arena.situation.word();
        if word != situation {
            situation = word;
            let span = report.transports.len() + 1;
            let _ = writeln!(
                text,
                "<tr class=\"situation\"><th colspan=\"{span}\">{}</th></tr>",
                word.replace('-', " ")
            );
        }
        let best = match chosen.case.terms.kind {
            Kind::Completion { ideal_s } => format!("ideal {ideal_s:.3} s"),
            Kind::Sharing { fair_share, .. } => format!("fair share {fair_share:.2}"),
        };
        let _ = write!(
            text,
            "<tr><td><b>{}</b><br>{}<br><span class=\"small\">{best}</span></td>",
            escape(&chosen.case.name),
            escape(chosen.case.file.title()),
        );
        let kind = &chosen.case.terms.kind;
        text += &summaries.iter().map(|summary| cell(summary, kind)).collect::<String>();
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}

fn cell(summary: &Summary, kind: &Kind) -> String {
    let (colour, _) = heat::colours(summary);
    let mut lines = vec![format!("<b>{}</b>", spread(summary.factor))];
    if summary.completed < summary.runs {
        lines.push(format!("✕ {} of {} failed", summary.runs - summary.completed, summary.runs));
    }
    if summary.time_s.is_some() {
        lines.push(unit(summary.time_s, 3, "s"));
    }
    if let Kind::Sharing { fair_share, .. } = kind {
        lines.push(table::sharing(summary, *fair_share));
    }
    lines.push(format!("queue p95 {}", unit(summary.queueing_ms, 1, "ms")));
    lines.push(format!("retransmitted {}", unit(summary.retransmitted_percent, 2, "%")));
    if summary.spurious_percent.is_some() {
        lines.push(format!("spurious {}", unit(summary.spurious_percent, 2, "%")));
    }
    let (first, rest) = lines.split_first().map_or(("", &[] as &[_]), |(a, b)| (a.as_str(), b));
    format!(
        "<td class=\"score\" style=\"border-left-color: {colour}\">{first}<br><span class=\"small\">{}</span></td>",
        rest.join("<br>")
    )
}
