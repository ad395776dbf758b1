//! `cargo xtask bench`: all benchmarks that have a figure to reach, in one run, as a table or a page.

use super::row::Row;
use super::timed::limit_benchmark;
use super::{binary, first_byte, folder, forward, instructions, number, recovery, simulation};
use crate::chore::{Outcome, capture, command};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: cargo xtask bench [--runs N] [--only PART] [--report FILE] [--json]

  --runs N      how often each case runs (default 5); the median is shown
  --only PART   one part: fetch, forward, recovery, simulator, 802.11, instructions, folder, first byte
  --report FILE also a page with medians, spreads, limits of the machine and aims
  --json        a JSON document instead of a table
Environment: RECOUP_BINARY names a recoup to measure instead of building one.
Other benchmarks: bench fetch, bench forward, bench recovery, bench fair, bench survive, bench sim, bench instructions.
";

/// Time of a whole benchmark, builds included.
const LIMIT: Duration = Duration::from_secs(3_600);
/// Bytes of the file that is fetched, and of the one that goes through two forwarders with recovery.
const FILE_BYTES: u64 = 200_000_000;
const RECOVERY_BYTES: u64 = 200_000_000;

/// One benchmark: its part of the table, and its rows for a number of runs.
type Part = (&'static str, fn(&Path, usize, &mut Vec<String>) -> Outcome<Vec<Row>>);

const PARTS: [Part; 8] = [
    ("fetch", |recoup, runs, notes| super::rows(recoup, runs, FILE_BYTES, notes)),
    ("folder", |recoup, runs, _| folder::rows(recoup, runs)),
    ("first byte", |recoup, runs, _| first_byte::rows(recoup, runs)),
    ("forward", forward::rows),
    ("recovery", |recoup, runs, _| recovery::rows(recoup, runs, RECOVERY_BYTES)),
    ("simulator", |_, runs, _| simulation::rows(runs)),
    ("802.11", |_, runs, _| simulation::wifi_rows(runs)),
    ("instructions", |_, _, _| instructions::rows()),
];

/// Runs them all and prints what they found. If a part fails the others go on; it is an error at the end.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut runs, mut only, mut report, mut as_json) = (5, None, None, false);
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--runs" => runs = number(words.next())?,
            "--only" => only = Some(words.next().ok_or(USAGE)?),
            "--report" => report = Some(words.next().ok_or(USAGE)?),
            "--json" => as_json = true,
            _ => return Err(USAGE.into()),
        }
    }
    let parts = PARTS.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
    let parts: Vec<&Part> = parts.collect();
    if parts.is_empty() {
        return Err(USAGE.into());
    }
    limit_benchmark("", LIMIT);
    let recoup = binary()?;
    let (mut rows, mut notes, start) = (Vec::new(), Vec::new(), Instant::now());
    let mut failed = Vec::new();
    for (name, measure) in parts {
        let begun = Instant::now();
        match measure(&recoup, runs, &mut notes) {
            Ok(found) => rows.extend(found),
            Err(message) => {
                notes.push(format!("{name}: {message}"));
                failed.push(*name);
            }
        }
        eprintln!("{name}: {:.0} s", begun.elapsed().as_secs_f64());
    }
    let head = head(runs, start.elapsed())?;
    if let Some(report) = report {
        let page = page(&head, &rows, &notes);
        fs::write(report, page).map_err(|error| format!("{report}: {error}"))?;
    }
    if as_json {
        let rows: Vec<_> = rows.iter().map(Row::to_json).collect();
        println!("{:#}", json!({ "head": head, "rows": rows, "notes": notes }));
    } else {
        print!("{}", table(&head, &rows, &notes));
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("failed: {}", failed.join(", "))),
    }
}

/// Machine, program and date, in lines.
fn head(runs: usize, took: Duration) -> Outcome<Vec<String>> {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model);
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown");
    let system = capture(command("uname").arg("-sr"))?;
    let date = capture(command("date").args(["-u", "+%F %H:%M UTC"]))?;
    let commit = capture(command("git").args(["describe", "--always", "--dirty"]));
    let commit = commit.unwrap_or_else(|_| "without version control".into());
    Ok(vec![
        format!("{}, commit {}, median of {runs}", date.trim_end(), commit.trim_end()),
        format!("{processors} × {model}, {}, load {load} at the end", system.trim_end()),
        format!("measured in {:.0} s", took.as_secs_f64()),
    ])
}

fn table(head: &[String], rows: &[Row], notes: &[String]) -> String {
    let mut text = head.join("\n") + "\n";
    let name = |row: &Row| format!("{}, {}", row.name, row.unit);
    let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or_default();
    let mut part = "";
    for row in rows {
        if row.part != part {
            part = row.part;
            let (median, spread) = ("median", "least–most");
            let _ = writeln!(
                text,
                "\n{part:<width$} {median:>10} {spread:>15} {:>9} {:>6}",
                "aim", "of it"
            );
        }
        let [median, least, most] = row.spread_text();
        let share = row.share().map_or_else(String::new, |share| format!("{share:.2}"));
        let name = name(row);
        let (spread, aim) = (format!("{least}–{most}"), row.aim_text());
        let _ = writeln!(text, "{name:<width$} {median:>10} {spread:>15} {aim:>9} {share:>6}");
    }
    notes.iter().for_each(|note| text += &format!("note: {note}\n"));
    text
}

const STYLE: &str = "\
:root { color-scheme: light dark; --line: #8885; --bar: #2a78c2; --short: #c2622a; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } p { margin: .2rem 0; }
table { border-collapse: collapse; width: 100%; margin-top: 1rem; }
th, td { padding: .2rem .5rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
td:nth-child(4) { white-space: normal; max-width: 8rem; }
tbody th { padding-top: .9rem; }
.bar { width: 9rem; } .bar svg { display: block; width: 100%; height: .8rem; }
.reached { fill: var(--bar); } .missed { fill: var(--short); } .aim { stroke: currentColor; }
";

/// A page of one screen: bars show how much of its aim a row reaches, up to twice of it.
fn page(head: &[String], rows: &[Row], notes: &[String]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Recoup: benchmarks</title>\n\
         <style>{STYLE}</style>\n<main>\n<h1>Benchmarks</h1>\n"
    );
    head.iter().for_each(|line| page += &format!("<p>{}</p>\n", escaped(line)));
    page += "<table>\n<thead><tr><th scope=\"col\">work</th><th scope=\"col\">median</th>\
             <th scope=\"col\">least–most</th><th scope=\"col\">unit</th><th scope=\"col\">aim</th>\
             <th scope=\"col\">of the aim</th></tr></thead>\n<tbody>\n";
    let mut part = "";
    for row in rows {
        if row.part != part {
            part = row.part;
            let _ = writeln!(page, "<tr><th scope=\"rowgroup\" colspan=\"6\">{part}</th></tr>");
        }
        let [median, least, most] = row.spread_text();
        let (name, unit, aim) = (escaped(&row.name), escaped(row.unit), row.aim_text());
        let bar = row.share().map_or_else(String::new, bar);
        let _ = writeln!(
            page,
            "<tr><td>{name}</td><td>{median}</td><td>{least}–{most}</td><td>{unit}</td><td>{aim}</td>\
             <td class=\"bar\">{bar}</td></tr>"
        );
    }
    page += "</tbody>\n</table>\n";
    notes.iter().for_each(|note| page += &format!("<p>Note: {}</p>\n", escaped(note)));
    page + "</main>\n</html>\n"
}

fn bar(share: f64) -> String {
    let width = 50.0 * share.clamp(0.0, 2.0);
    let class = if share >= 1.0 { "reached" } else { "missed" };
    format!(
        "<svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{share:.2} of the aim\">\
         <title>{share:.2} of the aim</title><rect class=\"{class}\" width=\"{width:.1}\" height=\"8\"/>\
         <line class=\"aim\" x1=\"50\" x2=\"50\" y2=\"8\"/></svg>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::row::Aim;
    use super::*;

    fn rows() -> Vec<Row> {
        let row = |name: &str, value, aim| Row::of("fetch", name, "Gbit/s", vec![value], aim);
        [row("UDP <1>", 4.25, Some(Aim::AtLeast(8.5))), row("limit", 14.0, None)]
            .into_iter()
            .flatten()
            .collect()
    }

    #[test]
    fn table_has_a_line_for_each_row() {
        let text = table(&["head".into()], &rows(), &["peer: silent".into()]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0] == "head" && lines[2].starts_with("fetch"), "{text}");
        assert!(lines[3].starts_with("UDP <1>, Gbit/s") && lines[3].ends_with("0.50"), "{text}");
        assert_eq!((lines[4].trim_end().ends_with('–'), lines[5]), (false, "note: peer: silent"));
    }

    #[test]
    fn page_escapes_names_and_bounds_bars() {
        let text = page(&["a < b".into()], &rows(), &[]);
        assert!(text.contains("a &lt; b") && text.contains("UDP &lt;1&gt;"));
        assert_eq!(text.matches("<svg").count(), 1);
        assert!(bar(7.0).contains("width=\"100.0\"") && bar(0.5).contains("missed"));
    }
}
