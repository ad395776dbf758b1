//! The table on the terminal.
use super::gather;
use super::report::Report;
use recoup_sim::statistic::Estimate;
use recoup_studies::arena::case::Kind;
use recoup_studies::arena::standing::Standing;
use recoup_studies::arena::summary::Summary;
use std::fmt::Write as _;

/// Width for the name of a transport; a longer one stands on a line of its own.
const NAME: usize = 24;

/// The whole table.
pub(super) fn text(report: &Report<'_>) -> String {
    let mut text = format!(
        "{:<26} {:>14} {:>9} {:>9} {:>9}\n",
        "", "time / ideal", "queue p95", "retransm.", "spurious"
    );
    for (chosen, summaries) in report.rows() {
        let _ = writeln!(text, "{}: {}", chosen.case.name, chosen.case.file.title());
        for (transport, summary) in report.transports.iter().zip(summaries) {
            let name = name(&report.label(transport));
            let line = line(summary, &chosen.case.terms.kind);
            let _ = writeln!(text, "{}", format!("{name} {line}").trim_end());
        }
    }
    text += &format!(
        "\n{:<26} {:>5} {:>14} {:>6}  worst\n",
        "all cases", "cases", "geometric mean", "95 %"
    );
    let mut files = Vec::new();
    for (place, transport) in report.transports.iter().enumerate() {
        let name = name(&report.label(transport));
        let [completion, sharing] = report.standings(place);
        for (kind, standing) in [("", completion), (" (sharing)", sharing)] {
            if standing.cases > 0 {
                let _ = writeln!(text, "{name} {}{kind}", stands(&standing));
                files.extend(standing.worst.map(|(case, _)| gather::place(report.args, &case)));
            }
        }
    }
    if !report.args.random.is_empty() {
        files.sort();
        files.dedup();
        for file in files {
            let _ = writeln!(text, "{}", file.join("scenario.toml").display());
        }
    }
    text
}

/// The name in its column, or on a line of its own.
fn name(name: &str) -> String {
    match name.chars().count() <= NAME {
        true => format!("  {name:<NAME$}"),
        false => format!("  {name}\n  {:<NAME$}", ""),
    }
}

fn line(summary: &Summary, kind: &Kind) -> String {
    let figures = [
        spread(summary.factor),
        unit(summary.queueing_ms, 1, "ms"),
        unit(summary.retransmitted_percent, 2, "%"),
    ];
    let [factor, queue, again] = figures;
    let last = match kind {
        Kind::Sharing { fair_share, .. } => sharing(summary, *fair_share),
        Kind::Completion { .. } => format!("{:>9}", unit(summary.spurious_percent, 2, "%")),
    };
    let ended = match summary.runs - summary.completed {
        0 => String::new(),
        failed => format!("  {failed} of {} failed", summary.runs),
    };
    format!("{factor:>14} {queue:>9} {again:>9} {last}{ended}")
}

/// The figures of a case of sharing.
pub(super) fn sharing(summary: &Summary, fair_share: f64) -> String {
    let number = |estimate: Option<Estimate>| {
        estimate.map_or_else(|| "–".to_owned(), |it| format!("{:.2}", it.mean))
    };
    let mut text = format!("use {}", number(summary.utilisation));
    let _ = match fair_share < 1.0 {
        true => write!(text, ", share {} of {fair_share:.2}", number(summary.share)),
        false => write!(text, ", Jain {}", number(summary.jain)),
    };
    if let Some(seconds) = summary.convergence_s {
        let _ = write!(text, ", fair after {:.1} s", seconds.mean);
        if summary.converged < summary.runs {
            let _ = write!(text, " ({} of {})", summary.converged, summary.runs);
        }
    }
    text
}

/// A mean with its interval.
pub(super) fn spread(estimate: Option<Estimate>) -> String {
    match estimate {
        None => "–".into(),
        Some(it) if it.half_width.is_finite() && it.half_width >= 0.005 => {
            format!("{} ± {:.2}", short(it.mean), it.half_width)
        }
        Some(it) => short(it.mean),
    }
}

/// A factor with as many digits as matter.
pub(super) fn short(value: f64) -> String {
    if value < 99.95 { format!("{value:.2}") } else { format!("{value:.0}") }
}

/// A mean with its unit.
pub(super) fn unit(estimate: Option<Estimate>, digits: usize, unit: &str) -> String {
    estimate.map_or_else(|| "–".into(), |it| format!("{:.digits$} {unit}", it.mean))
}

fn stands(standing: &Standing) -> String {
    let [mean, high] =
        [standing.geometric_mean, standing.p95].map(|it| it.map_or_else(|| "–".to_owned(), short));
    let worst = standing
        .worst
        .as_ref()
        .map_or_else(String::new, |(case, factor)| format!("{} {case}", short(*factor)));
    let incomplete = match standing.incomplete.as_slice() {
        [] => String::new(),
        cases => format!("; not complete: {}", cases.join(", ")),
    };
    format!("{:>5} {mean:>14} {high:>6}  {worst}{incomplete}", standing.cases)
}
