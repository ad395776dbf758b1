//! The part of a page that puts real processes beside the simulation.
use super::escape;
use crate::emulate::duel;
use crate::emulate::table::{difference, mean, place, point, verdict};
use recoup_sim::statistic::Estimate;
use recoup_studies::compare::{Cell, Comparison, Line, Quantity};
use recoup_studies::contest::Duel;
use std::fmt::Write as _;

/// Simulated and real runs as a table.
pub(super) fn both(comparison: &Comparison) -> String {
    let percent = comparison.within * 100.0;
    let what = comparison.quantities.first().map_or("", |it| it.label);
    let heads = comparison.quantities.iter().map(|quantity| {
        let unit =
            if quantity.unit.is_empty() { String::new() } else { format!(" ({})", quantity.unit) };
        format!("<th colspan=\"2\">{}{}</th>", escape(quantity.label), escape(&unit))
    });
    let columns = "<th>simulated</th><th>sockets</th>".repeat(comparison.quantities.len());
    let mut table = format!(
        "<h2 id=\"sockets\">On real processes</h2>\n<p class=\"small\">The same scenarios in real time: each node a \
         <code>recoup forward</code>, each link a <code>recoup link</code> with the simulator's channels, consumers and \
         producers <code>recoup fetch</code> and <code>recoup serve</code>, on the loopback interface of one machine. \
         At points with a verdict, both have to agree within {percent} % ({what}). Intervals are for 95 %.</p>\n\
         <div class=\"wide\"><table class=\"compared\">\n<tr><th rowspan=\"2\">Experiment</th>{}<th rowspan=\"2\">\
         Difference</th><th rowspan=\"2\">The paper's runs</th></tr>\n<tr>{columns}</tr>\n",
        heads.collect::<String>()
    );
    for line in &comparison.lines {
        table += &row(line, comparison.quantities);
    }
    table + "</table></div>\n" + &contests(&comparison.duels)
}

/// Cost of one alternative relative to the other; empty without contests.
fn contests(duels: &[Duel]) -> String {
    let heads = ["Contest", "ours", "theirs", "quotient", "simulated", "difference"];
    let heads = heads.map(|head| format!("<th>{head}</th>")).concat();
    if duels.is_empty() {
        return String::new();
    }
    let rows: String = duels.iter().map(contest).collect();
    format!(
        "<p class=\"small\">Contests on processes: means of both sides, and of the quotients of runs with the same \
         seed, with the simulated value.</p>\n<div class=\"wide\"><table class=\"compared\">\n\
         <tr>{heads}</tr>\n{rows}</table></div>\n"
    )
}

fn contest(duel: &Duel) -> String {
    let contest = &duel.contest;
    let (what, unit) = (contest.quantity.label, contest.quantity.unit);
    let name = format!(
        "{}, {}: {what}, {} against {}",
        contest.experiment,
        point(&duel.point),
        contest.ours,
        contest.theirs
    );
    let class = match (duel.is_expected, duel.holds()) {
        (true, Some(true)) => "holds",
        (true, Some(false)) => "fails",
        _ => "open",
    };
    let (ours, theirs) = (mean(duel.ours.real, unit), mean(duel.theirs.real, unit));
    format!(
        "<tr><td>{}</td><td>{ours}</td><td>{theirs}</td><td>{}</td><td>{}</td><td class=\"number\">{} \
         <span class=\"badge {class}\">{}</span></td></tr>\n",
        escape(&name),
        two_lines(duel.ratio.real),
        two_lines(duel.ratio.simulated),
        difference(&duel.ratio),
        duel::verdict(duel).to_lowercase()
    )
}

fn row(line: &Line, quantities: &[Quantity]) -> String {
    let name = escape(&format!("{}, {}", line.experiment, place(line)));
    let mut row = format!("<tr><td>{name}</td>");
    for cell in line.cells.iter().take(quantities.len()) {
        let Cell { simulated, real } = *cell;
        let _ = write!(row, "<td>{}</td><td>{}</td>", two_lines(simulated), two_lines(real));
    }
    let class = match line.agrees {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "open",
    };
    let badge = match verdict(line) {
        "" => String::new(),
        word => format!(" <span class=\"badge {class}\">{}</span>", word.to_lowercase()),
    };
    let apart = line.cells.first().map_or_else(String::new, difference);
    row + &format!(
        "<td class=\"number\">{apart}{badge}</td><td>{}</td></tr>\n",
        escape(&line.reported)
    )
}

/// A mean above its interval.
fn two_lines(estimate: Option<Estimate>) -> String {
    let text = mean(estimate, "");
    match text.split_once(" ± ") {
        Some((mean, half)) => format!("{mean}<br><span class=\"small\">± {half}</span>"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn simulation_and_processes_share_a_row() {
        let cell = Cell {
            simulated: Estimate::of(&[10.0, 10.0], 0.95),
            real: Estimate::of(&[10.2], 0.95),
        };
        let line = Line {
            experiment: "linear".into(),
            point: BTreeMap::from([("design".into(), "#0".into())]),
            place: "c1".into(),
            reported: "9 < 10 s".into(),
            cells: vec![cell],
            agrees: Some(true),
            is_decisive: true,
        };
        let quantities = &[Quantity { metric: "time_s", label: "time", unit: "s", factor: 1.0 }];
        let duels = vec![crate::emulate::duel::tests::duel(&[0.9, 0.9], true)];
        let text = both(&Comparison { quantities, within: 0.05, lines: vec![line], duels });
        for piece in [
            "time (s)",
            "linear, design #0, c1",
            ">10.20<",
            "+2.0 %",
            "badge holds",
            "9 &lt; 10 s",
            "less: holds",
        ] {
            assert!(text.contains(piece), "{piece}: {text}");
        }
    }
}
