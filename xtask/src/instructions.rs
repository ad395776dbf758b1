//! `cargo xtask bench instructions`: instructions of the work that a packet causes, beside the accepted values.
//!
//! Instructions do not depend on other load of the machine. Valgrind counts them in benchmarks of the profile `bench`, which has
//! no link-time optimisation: profile `dist` needs fewer. Seeds are fixed, so that two counts of one build are nearly equal.

use crate::chore::{Outcome, capture, cargo, command, quiet, root, target_directory};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const USAGE: &str = "\
usage: cargo xtask bench instructions [--only WORD] [--accept]

  --only WORD   only rows whose name contains WORD
  --accept      write the counts as accepted values (docs/notes/instructions.csv)
";

/// The accepted values, below the root of the tree.
const LIST: &str = "docs/notes/instructions.csv";
const HEAD: &str = "row,accepted,budget,date";
/// By so much a row may exceed its accepted value.
const TOLERANCE: f64 = 0.03;

/// The work that is counted.
struct Row {
    name: &'static str,
    meaning: &'static str,
    /// The program: a benchmark of a package.
    package: &'static str,
    bench: &'static str,
    arguments: &'static str,
    /// Functions in which instructions count.
    toggle: &'static str,
    /// Arguments of the work beyond which only the rest counts.
    beyond: Option<&'static str>,
}

const fn row(
    [name, meaning]: [&'static str; 2],
    [package, bench, arguments]: [&'static str; 3],
    toggle: &'static str,
) -> Row {
    Row { name, meaning, package, bench, arguments, toggle, beyond: None }
}

const ROWS: [Row; 7] = [
    row(
        ["node-exchange", "node: Interest and 100 B of Data, full content store"],
        ["recoup-forwarder", "exchange", "10240"],
        "*measured*",
    ),
    row(
        ["line-hop", "simulator: packet-hop on the line of 100 MB"],
        ["recoup-sim", "hop", "line 5 20"],
        "*measured*",
    ),
    row(
        ["sprint-hop", "simulator: packet-hop on Sprint, LRU 100"],
        ["recoup-sim", "hop", "sprint 1 3"],
        "*measured*",
    ),
    row(
        ["wifi-frame", "802.11: data frame in the saturated grid of 36 cells"],
        ["recoup-sim", "wifi", "200 400"],
        "*measured*",
    ),
    row(
        ["fetch-segment", "fetch: 1,300 B received, judged, written; no digest"],
        ["recoup-io", "segment", "2000"],
        "*measured_fetch*",
    ),
    row(
        ["serve-segment", "serve: 1,300 B answered, signature cached; no digest"],
        ["recoup-io", "segment", "2000"],
        "*measured_serve*",
    ),
    Row {
        beyond: Some("8000 off"),
        ..row(
            ["wldr-frame", "WLDR: a frame beyond the same without recovery"],
            ["recoup-forwarder", "recovery", "8000 wldr"],
            "*measured*",
        )
    },
];

/// Accepted value of a row, its budget, and when it was accepted.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    accepted: f64,
    budget: f64,
    date: String,
}

/// Counts, prints and compares.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (only, accepts) = match arguments {
        [] => ("", false),
        ["--accept"] => ("", true),
        ["--only", word] => (*word, false),
        ["--only", word, "--accept"] | ["--accept", "--only", word] => (*word, true),
        _ => return Err(USAGE.into()),
    };
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.name.contains(only)).collect();
    if rows.is_empty() {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(format!("there is no such row; there are: {}", names.join(", ")));
    }
    quiet(command("valgrind").arg("--version"))
        .map_err(|_| "valgrind is missing: install it (apt install valgrind)")?;
    let list = root().join(LIST);
    let failed = |error: std::io::Error| format!("{LIST}: {error}");
    let mut kept = read(&fs::read_to_string(&list).map_err(failed)?)?;
    let programs = build(&rows)?;
    let today = capture(command("date").arg("+%F"))?.trim_end().to_owned();
    let mut beyond = Vec::new();
    println!(
        "{:<14} {:>8} {:>8} {:>6} {:>8}  work",
        "instructions", "counted", "accepted", "ratio", "budget"
    );
    for row in rows {
        let counted = row.count(&programs)?;
        let Kept { accepted, budget, .. } =
            kept.get(row.name).cloned().unwrap_or_else(|| none(counted));
        let ratio = counted / accepted;
        let mark = if is_beyond(ratio) { " (BEYOND)" } else { "" };
        println!(
            "{:<14} {counted:>8.0} {accepted:>8.0} {ratio:>6.3} {budget:>8.0}  {}{mark}",
            row.name, row.meaning
        );
        if is_beyond(ratio) {
            beyond.push(row.name);
        }
        accept(&mut kept, row, counted, &today);
    }
    if accepts {
        return fs::write(&list, written(&kept)).map_err(failed);
    }
    match beyond.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "more instructions than accepted: {}; make them cheaper, or accept them with the reason in the commit \
             (--accept)",
            beyond.join(", ")
        )),
    }
}

/// A row that was never accepted is beyond its value. Half of its count is its budget.
fn none(counted: f64) -> Kept {
    Kept { accepted: f64::NAN, budget: counted / 2.0, date: String::new() }
}

fn is_beyond(ratio: f64) -> bool {
    ratio.is_nan() || ratio > 1.0 + TOLERANCE
}

/// Builds the programs; returns their paths by name.
fn build(rows: &[&Row]) -> Outcome<BTreeMap<String, PathBuf>> {
    let mut build =
        cargo(&["bench", "--no-run", "--quiet", "--message-format=json-render-diagnostics"]);
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    // As in the profile `dist` of the command: cargo ignores the setting of a profile where it builds benchmarks.
    build.env("RUSTFLAGS", "-Cpanic=abort").arg("--target").arg(host);
    for row in rows {
        build.args(["--package", row.package, "--bench", row.bench]);
    }
    let printed = capture(&mut build)?;
    let messages = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let program = |message: Value| {
        let name = message["target"]["name"].as_str()?.to_owned();
        Some((name, message["executable"].as_str()?.into()))
    };
    Ok(messages.filter_map(program).collect())
}

impl Row {
    /// Instructions for each unit.
    fn count(&self, programs: &BTreeMap<String, PathBuf>) -> Outcome<f64> {
        let program = programs.get(self.bench).ok_or("cargo built no such program")?;
        let all = self.each(program, self.arguments)?;
        let without = self.beyond.map(|arguments| self.each(program, arguments)).transpose()?;
        Ok(all - without.unwrap_or_default())
    }

    /// The profile stays in `target/instructions`, for `callgrind_annotate`.
    fn each(&self, program: &Path, arguments: &str) -> Outcome<f64> {
        let folder = target_directory()?.join("instructions");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let profile = folder.join(format!("{}-{}.out", self.name, arguments.replace(' ', "-")));
        let mut valgrind = command("timeout");
        valgrind.args(["600", "valgrind", "--quiet", "--tool=callgrind"]);
        valgrind.arg(format!("--toggle-collect={}", self.toggle));
        valgrind.arg(format!("--callgrind-out-file={}", profile.display()));
        let printed = capture(valgrind.arg(program).args(arguments.split(' ')))?;
        let units = number(&printed, "units ").ok_or("the program printed no units")?;
        let profile = fs::read_to_string(&profile).map_err(|error| error.to_string())?;
        match number(&profile, "summary: ") {
            Some(instructions) => Ok(instructions / units),
            None => Err(format!("no function of {} matches {}", self.bench, self.toggle)),
        }
    }
}

/// The positive number behind `key` at the beginning of a line.
fn number(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().parse().ok().filter(|number| *number > 0.0)
}

/// Reads the list.
fn read(text: &str) -> Outcome<BTreeMap<String, Kept>> {
    let line = |line: &str| {
        let mut cells = line.split(',');
        let (name, accepted, budget) = (cells.next()?, cells.next()?, cells.next()?);
        let (accepted, budget) = (accepted.parse().ok()?, budget.parse().ok()?);
        Some((name.to_owned(), Kept { accepted, budget, date: cells.next()?.to_owned() }))
    };
    let rows = text.lines().skip(1);
    rows.map(|row| line(row).ok_or_else(|| format!("{LIST}: {row:?} is no row"))).collect()
}

/// The list in the order of the rows.
fn written(kept: &BTreeMap<String, Kept>) -> String {
    let line = |row: &Row| {
        let Kept { accepted, budget, date } = kept.get(row.name)?;
        Some(format!("{},{accepted:.0},{budget:.0},{date}\n", row.name))
    };
    format!("{HEAD}\n{}", ROWS.iter().filter_map(line).collect::<String>())
}

/// Enters a count. The budget stays.
fn accept(kept: &mut BTreeMap<String, Kept>, row: &Row, counted: f64, date: &str) {
    let kept = kept.entry(row.name.to_owned()).or_insert_with(|| none(counted));
    (kept.accepted, kept.date) = (counted, date.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_percent_more_is_beyond() {
        assert!(!is_beyond(1.029) && is_beyond(1.031) && is_beyond(f64::NAN));
    }

    #[test]
    fn kept_list_has_all_rows() {
        let kept = read(&fs::read_to_string(root().join(LIST)).unwrap()).unwrap();
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(kept.len(), names.len());
        assert!(names.iter().all(|name| kept.contains_key(*name)));
    }
}
