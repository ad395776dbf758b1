//! Lists of losses that a scenario keeps in files: `loss = "trace(file=lift.txt)"`.
use super::FileReader;
use recoup_config::problem::Problems;
use recoup_config::tree::{Table, Tree, Value};
use recoup_sim::model::loss::with_trace_files;

/// Keys whose values are loss models.
const KEYS: [&str; 2] = ["loss", "duplicate"];

/// Puts the lists in the places where the scenario names their files. Returns what was in the files.
pub(super) fn put_lists(
    given: &mut Table,
    files: FileReader<'_>,
    problems: &mut Problems,
) -> String {
    let mut lists = Lists { files, problems, read: String::new() };
    lists.table("", given);
    lists.read
}

struct Lists<'a> {
    files: FileReader<'a>,
    problems: &'a mut Problems,
    read: String,
}

impl Lists<'_> {
    fn table(&mut self, path: &str, table: &mut Table) {
        for entry in table.entries_mut() {
            let path = match path {
                "" => entry.key.clone(),
                above => format!("{above}.{}", entry.key),
            };
            match &mut entry.tree.value {
                Value::Table(below) => self.table(&path, below),
                Value::List(list) => {
                    for (number, one) in (1..).zip(list) {
                        if let Value::Table(below) = &mut one.value {
                            self.table(&format!("{path}.{number}"), below);
                        }
                    }
                }
                _ if KEYS.contains(&entry.key.as_str()) => self.law(&path, &mut entry.tree),
                _ => {}
            }
        }
    }

    fn law(&mut self, path: &str, tree: &mut Tree) {
        let Value::Text(text) = &mut tree.value else { return };
        match with_trace_files(text, self.files) {
            Ok(whole) if whole == *text => {}
            Ok(whole) => {
                self.read.push_str(&whole);
                *text = whole;
            }
            Err(what) => self.problems.add(tree.origin, path, what),
        }
    }
}
