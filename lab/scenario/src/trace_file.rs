//! Properties of links that a scenario keeps in files: lists of losses (`loss = "trace(file=lift.txt)"`), rates and delays over time.
use super::FileReader;
use super::file::link::Traces;
use recoup_config::problem::Problems;
use recoup_config::tree::{Table, Tree, Value};
use recoup_sim::model::loss::with_trace_files;
use recoup_sim::model::trace::Trace;
use recoup_sim::network::OverTime;
use recoup_sim::workload::size::ContentSizes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keys whose values are loss models.
const KEYS: [&str; 2] = ["loss", "duplicate"];

/// Puts the lists in the places where the scenario names their files. Returns what was in the files.
pub(super) fn put_lists(
    given: &mut Table,
    files: FileReader<'_>,
    problems: &mut Problems,
) -> (String, Traces) {
    let mut lists = Lists { files, problems, read: String::new(), traces: Traces::default() };
    lists.table("", given);
    (lists.read, lists.traces)
}

struct Lists<'a> {
    files: FileReader<'a>,
    problems: &'a mut Problems,
    read: String,
    traces: Traces,
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
                _ if entry.key == "rate" => self.over_time(&path, &entry.tree, |it| &mut it.rates),
                _ if entry.key == "popularity" => {
                    self.over_time(&path, &entry.tree, |it| &mut it.logs);
                }
                _ if entry.key == "content" => self.sizes(&path, &entry.tree),
                _ if entry.key == "delay" => {
                    self.over_time(&path, &entry.tree, |it| &mut it.delays)
                }
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

    /// Reads the file of lengths of contents.
    fn sizes(&mut self, path: &str, tree: &Tree) {
        if let Ok(ContentSizes::Log { log, .. }) = ContentSizes::parse(&tree.value.to_string()) {
            self.file(path, tree, log.file(), |it| &mut it.logs);
        }
    }

    /// Reads the file of a quantity over time.
    fn over_time<T: Trace>(
        &mut self,
        path: &str,
        tree: &Tree,
        known: fn(&mut Traces) -> &mut BTreeMap<String, Arc<T>>,
    ) {
        // Another text is read, or found wrong, as an option of the link.
        if let Ok(Some(over_time)) = OverTime::<T>::parse(&tree.value.to_string()) {
            self.file(path, tree, over_time.file(), known);
        }
    }

    /// Reads a file once.
    fn file<T: Trace>(
        &mut self,
        path: &str,
        tree: &Tree,
        file: &str,
        known: fn(&mut Traces) -> &mut BTreeMap<String, Arc<T>>,
    ) {
        if known(&mut self.traces).contains_key(file) {
            return;
        }
        let text = (self.files)(file).map_err(|what| format!("{file}: {what}"));
        let read = text.and_then(|text| {
            let trace = T::parse(&text).map_err(|error| format!("{file}:{error}"))?;
            Ok((text, trace))
        });
        match read {
            Ok((text, trace)) => {
                self.read.push_str(&text);
                known(&mut self.traces).insert(file.to_owned(), Arc::new(trace));
            }
            Err(what) => self.problems.add(tree.origin, path, what),
        }
    }
}
