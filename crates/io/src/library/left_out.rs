//! Entries of a folder that are not served, for the operator.
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Most entries of a folder that are named.
const MOST_NAMED: usize = 10;
/// Most folders whose entries are reported.
const MOST_FOLDERS: usize = 1_000;

/// Entries of one folder that are left out.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    named: Vec<String>,
    count: usize,
}

impl LeftOut {
    /// Adds an entry with its reason.
    pub(super) fn add(&mut self, name: &[u8], why: &str) {
        self.count += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(format!("{} ({why})", String::from_utf8_lossy(name)));
            self.named.sort_unstable();
        }
    }
}

/// Takes the line on one folder.
type Report = Box<dyn FnMut(&str) + Send>;

/// Reports entries that are left out, once for each folder.
#[derive(Default)]
pub(super) struct Notices {
    report: Option<Report>,
    folders: BTreeSet<PathBuf>,
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notices").field("folders", &self.folders.len()).finish_non_exhaustive()
    }
}

impl Notices {
    pub(super) fn set_report(&mut self, report: Report) {
        self.report = Some(report);
    }

    /// Reports the entries of the folder at `path`, unless it was reported before.
    pub(super) fn report(&mut self, path: &Path, left_out: &LeftOut) {
        let Some(report) = self.report.as_mut().filter(|_| left_out.count > 0) else {
            return;
        };
        // Without the slash of an empty path below.
        let path: PathBuf = path.components().collect();
        if self.folders.len() >= MOST_FOLDERS || !self.folders.insert(path.clone()) {
            return;
        }
        let more = left_out.count - left_out.named.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let named = left_out.named.join(", ");
        report(&format!("not served of {}: {named}{more}", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn left_out_entries_are_reported_once() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let mut notices = Notices::default();
        let sink = Arc::clone(&lines);
        notices.set_report(Box::new(move |line| sink.lock().unwrap().push(line.to_owned())));
        let mut left_out = LeftOut::default();
        notices.report(Path::new("/a"), &left_out);
        left_out.add(b"pipe", "neither file nor folder");
        left_out.add(b".git", "hidden");
        notices.report(Path::new("/a"), &left_out);
        notices.report(Path::new("/a"), &left_out);
        (0..20).for_each(|_| left_out.add(b"x", "hidden"));
        notices.report(Path::new("/b"), &left_out);
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], "not served of /a: .git (hidden), pipe (neither file nor folder)");
        assert!(lines[1].ends_with("and 12 more"), "{}", lines[1]);
    }
}
