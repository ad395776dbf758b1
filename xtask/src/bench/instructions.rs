//! `cargo xtask bench instructions`: instructions of the work that a packet causes, beside the accepted values.
//!
//! Instructions do not depend on other load of the machine. They are counted in the profile `release`, which has no
//! link-time optimisation: profile `dist` needs fewer. Seeds are fixed, so that two counts of one build are nearly equal.

use super::callgrind;
use super::row::Aim;
use crate::chore::{Outcome, capture, cargo, command, root, show, target_directory};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const USAGE: &str = "\
usage: cargo xtask bench instructions [--only WORD] [--accept] [--json]

  --only WORD   only rows whose name contains WORD
  --accept      write what was counted as accepted values (docs/notes/instructions.csv)
  --json        a JSON document instead of a table
";

/// The accepted values, below the root of the tree.
const LIST: &str = "docs/notes/instructions.csv";
const HEAD: [&str; 4] = ["row", "accepted", "budget", "date"];
/// By so much a row may exceed its accepted value.
const TOLERANCE: f64 = 0.03;
/// Time for one program under valgrind.
const LIMIT: Duration = Duration::from_secs(300);

/// The work that is counted.
struct Row {
    name: &'static str,
    meaning: &'static str,
    package: &'static str,
    example: &'static str,
    arguments: &'static [&'static str],
    /// Functions in which instructions count.
    toggle: &'static str,
    /// The work beyond which only the rest counts.
    beyond: Option<&'static [&'static str]>,
}

const ROWS: [Row; 7] = [
    Row {
        name: "node-exchange",
        meaning: "node: Interest and 100 B of Data, full content store",
        package: "recoup-forwarder",
        example: "exchange_cost",
        arguments: &["10240"],
        toggle: "*measured*",
        beyond: None,
    },
    Row {
        name: "line-hop",
        meaning: "simulator: packet-hop on the line of 100 MB",
        package: "recoup-sim",
        example: "speed",
        arguments: &["line-100MB", "5", "20"],
        toggle: "*measured*",
        beyond: None,
    },
    Row {
        name: "sprint-hop",
        meaning: "simulator: packet-hop on Sprint, LRU 100",
        package: "recoup-sim",
        example: "speed",
        arguments: &["sprint-100", "1", "3"],
        toggle: "*measured*",
        beyond: None,
    },
    Row {
        name: "wifi-frame",
        meaning: "802.11: data frame in the saturated grid of 36 cells",
        package: "recoup-sim",
        example: "wifi_speed",
        arguments: &["200", "400"],
        toggle: "*measured*",
        beyond: None,
    },
    Row {
        name: "fetch-segment",
        meaning: "fetch: 1,300 B received, judged, written; no digest",
        package: "recoup-io",
        example: "segment_cost",
        arguments: &["2000"],
        toggle: "*measured_fetch*",
        beyond: None,
    },
    Row {
        name: "serve-segment",
        meaning: "serve: 1,300 B answered, signature cached; no digest",
        package: "recoup-io",
        example: "segment_cost",
        arguments: &["2000"],
        toggle: "*measured_serve*",
        beyond: None,
    },
    Row {
        name: "wldr-frame",
        meaning: "WLDR: a frame beyond the same without recovery",
        package: "recoup-forwarder",
        example: "recovery_cost",
        arguments: &["8000", "wldr"],
        toggle: "*measured*",
        beyond: Some(&["8000", "off"]),
    },
];

/// Accepted value of a row, its budget, and when it was accepted.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    accepted: f64,
    budget: f64,
    date: String,
}

/// A row, and its instructions for each unit of work.
struct Figure {
    row: &'static Row,
    counted: f64,
    kept: Option<Kept>,
}

impl Figure {
    /// The counted value beside the accepted one.
    fn ratio(&self) -> Option<f64> {
        self.kept.as_ref().map(|kept| self.counted / kept.accepted)
    }

    fn is_beyond(&self) -> bool {
        self.ratio().is_none_or(|ratio| ratio > 1.0 + TOLERANCE)
    }
}

/// Runs the benchmark and prints what it counted.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut only, mut accepts, mut as_json) = (None, false, false);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--only" => only = Some(*words.next().ok_or(USAGE)?),
            "--accept" => accepts = true,
            "--json" => as_json = true,
            _ => return Err(USAGE.into()),
        }
    }
    let rows: Vec<&Row> =
        ROWS.iter().filter(|row| only.is_none_or(|word| row.name.contains(word))).collect();
    if rows.is_empty() {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(format!("no row is called so; there are: {}", names.join(", ")));
    }
    let list = root().join(LIST);
    let failed = |error: std::io::Error| format!("{LIST}: {error}");
    let mut kept = read(&fs::read_to_string(&list).map_err(failed)?)?;
    let figures = count(&rows, &kept)?;
    if as_json {
        print_json(&figures);
    } else {
        print(&figures);
    }
    if accepts {
        accept(&mut kept, &figures, &today()?);
        return fs::write(&list, written(&kept)).map_err(failed);
    }
    let beyond = figures.iter().filter(|figure| figure.is_beyond());
    let names: Vec<&str> = beyond.map(|figure| figure.row.name).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "more instructions than accepted: {}; make them cheaper, or accept them with the reason in the commit \
             (--accept)",
            names.join(", ")
        )),
    }
}

/// All rows beside their budgets.
pub(super) fn rows() -> Outcome<Vec<super::row::Row>> {
    let kept =
        read(&fs::read_to_string(root().join(LIST)).map_err(|error| format!("{LIST}: {error}"))?)?;
    let figures = count(&ROWS.iter().collect::<Vec<_>>(), &kept)?;
    let row = |Figure { row, counted, kept }: &Figure| {
        let budget = kept.as_ref().map(|kept| Aim::AtMost(kept.budget));
        super::row::Row::of("instructions", row.meaning, "instructions", vec![*counted], budget)
    };
    Ok(figures.iter().filter_map(row).collect())
}

/// Builds the programs and counts.
fn count(rows: &[&'static Row], kept: &BTreeMap<String, Kept>) -> Outcome<Vec<Figure>> {
    callgrind::available()?;
    let mut build = cargo(&["build", "--release", "--quiet"]);
    // As in the profile `dist` of the command; wheels alone need panics that unwind.
    build.args(["--config", "profile.release.panic=\"abort\""]);
    for row in rows {
        build.args(["--package", row.package, "--example", row.example]);
    }
    show(&mut build)?;
    let target = target_directory()?;
    let folder = target.join("instructions");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some((place, row)) = take(&next, rows) {
            eprintln!("{}", row.name);
            let counted = row.count(&target, &folder);
            done.lock().unwrap_or_else(PoisonError::into_inner).insert(place, counted);
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    let counted = done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values();
    let figure = |(row, counted): (&&'static Row, Outcome<f64>)| {
        Ok(Figure { row, counted: counted?, kept: kept.get(row.name).cloned() })
    };
    rows.iter().zip(counted).map(figure).collect()
}

/// The next row, and its place.
fn take<'a>(next: &AtomicUsize, rows: &[&'a Row]) -> Option<(usize, &'a Row)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    Some((place, rows.get(place)?))
}

impl Row {
    /// Instructions for each unit.
    fn count(&self, target: &Path, folder: &Path) -> Outcome<f64> {
        let program = target.join("release/examples").join(self.example);
        let each = |arguments: &[&str], file: String| {
            let profile = folder.join(file);
            let (printed, instructions) =
                callgrind::count(&program, arguments, self.toggle, &profile, LIMIT)?;
            let units = units(&printed).ok_or_else(|| {
                format!("{} printed no units: {}", self.example, printed.trim_end())
            })?;
            Ok::<_, String>(instructions as f64 / units)
        };
        let all = each(self.arguments, format!("{}.out", self.name))?;
        match self.beyond {
            Some(arguments) => Ok(all - each(arguments, format!("{}-without.out", self.name))?),
            None => Ok(all),
        }
    }
}

/// The units of work that a program reports.
fn units(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.strip_prefix("units "))?;
    line.trim().parse().ok().filter(|units| *units > 0.0)
}

/// Reads the list.
fn read(text: &str) -> Outcome<BTreeMap<String, Kept>> {
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let failed = |error: String| format!("{LIST}: {error}");
    let mut kept = BTreeMap::new();
    for line in table.records() {
        let line = line.map_err(|error| failed(error.to_string()))?;
        let number = |place: usize| {
            let text = line.get(place).unwrap_or_default();
            let number = text.parse::<f64>().ok().filter(|number| *number > 0.0);
            number.ok_or_else(|| failed(format!("{} is no number of instructions", HEAD[place])))
        };
        let text = |place: usize| line.get(place).unwrap_or_default().to_owned();
        kept.insert(text(0), Kept { accepted: number(1)?, budget: number(2)?, date: text(3) });
    }
    Ok(kept)
}

/// The list in the order of the rows.
fn written(kept: &BTreeMap<String, Kept>) -> String {
    let line = |row: &Row| {
        let Kept { accepted, budget, date } = kept.get(row.name)?;
        Some(format!("{},{accepted:.0},{budget:.0},{date}\n", row.name))
    };
    HEAD.join(",") + "\n" + &ROWS.iter().filter_map(line).collect::<String>()
}

/// Enters what was counted. A new row has half of it as its budget.
fn accept(kept: &mut BTreeMap<String, Kept>, figures: &[Figure], date: &str) {
    for Figure { row, counted, .. } in figures {
        let new = Kept { accepted: *counted, budget: counted / 2.0, date: date.to_owned() };
        kept.entry(row.name.to_owned())
            .and_modify(|kept| (kept.accepted, kept.date) = (*counted, date.to_owned()))
            .or_insert(new);
    }
}

fn today() -> Outcome<String> {
    Ok(capture(command("date").arg("+%F"))?.trim_end().to_owned())
}

fn print(figures: &[Figure]) {
    println!(
        "instructions (valgrind --tool=callgrind, profile release: no link-time optimisation)\n"
    );
    println!(
        "{:<14} {:>9} {:>9} {:>6} {:>8} {:>9}  work",
        "row", "counted", "accepted", "ratio", "budget", "of budget"
    );
    for figure in figures {
        let Figure { row, counted, kept } = figure;
        let cell = |value: Option<f64>, digits: usize| {
            value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
        };
        let budget = kept.as_ref().map(|kept| kept.budget);
        println!(
            "{:<14} {counted:>9.0} {:>9} {:>6} {:>8} {:>9}  {}{}",
            row.name,
            cell(kept.as_ref().map(|kept| kept.accepted), 0),
            cell(figure.ratio(), 3),
            cell(budget, 0),
            cell(budget.map(|budget| counted / budget), 2),
            row.meaning,
            if figure.is_beyond() { " (BEYOND)" } else { "" }
        );
    }
}

fn print_json(figures: &[Figure]) {
    let row = |figure: &Figure| {
        let Figure { row, counted, kept } = figure;
        json!({ "row": row.name, "work": row.meaning, "counted": counted, "ratio": figure.ratio(),
            "accepted": kept.as_ref().map(|kept| kept.accepted),
            "budget": kept.as_ref().map(|kept| kept.budget),
            "date": kept.as_ref().map(|kept| &kept.date), "is_beyond": figure.is_beyond() })
    };
    println!("{:#}", json!(figures.iter().map(row).collect::<Vec<_>>()));
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "row,accepted,budget,date\nnode-exchange,5090,2800,2026-11-26\n";

    fn figure(counted: f64) -> Figure {
        let kept = read(TEXT).unwrap().get("node-exchange").cloned();
        Figure { row: &ROWS[0], counted, kept }
    }

    #[test]
    fn three_percent_more_is_beyond() {
        assert!(!figure(5_090.0 * 1.029).is_beyond());
        assert!(figure(5_090.0 * 1.031).is_beyond());
        assert!(Figure { kept: None, ..figure(1.0) }.is_beyond(), "it was never accepted");
    }

    #[test]
    fn accepting_keeps_the_budget() {
        let mut kept = read(TEXT).unwrap();
        let new = Figure { row: &ROWS[1], counted: 4_000.0, kept: None };
        accept(&mut kept, &[figure(4_000.4), new], "2026-11-27");
        let expected = "row,accepted,budget,date\nnode-exchange,4000,2800,2026-11-27\n\
                        line-hop,4000,2000,2026-11-27\n";
        assert_eq!(written(&kept), expected);
        assert!(read("row,accepted,budget,date\nx,many,1,1\n").is_err());
    }

    #[test]
    fn kept_list_has_all_rows() {
        let kept = read(&fs::read_to_string(root().join(LIST)).unwrap()).unwrap();
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(kept.len(), names.len());
        assert!(names.iter().all(|name| kept.contains_key(*name)));
    }

    #[test]
    fn units_are_found_in_the_output() {
        assert_eq!(units("12 ns for each exchange\nunits 256\n"), Some(256.0));
        assert_eq!(units("units 0\n"), None);
    }
}
