//! `[record]`: what is kept of each run beside its metrics.
use crate::law;
use recoup_config::fields::Fields;
use recoup_config::form::{FEW_BYTES, Located, Many, Maybe, Place, TEXT, Truth};
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::Table;
use recoup_sim::metric::Detail;
use recoup_sim::record::RecordPlan;
use std::collections::BTreeSet;

/// Records and captures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Records that become tables, as they are written: `segments`, `queue(every=10ms)`.
    pub tables: Vec<String>,
    /// Whether each application has metrics of its own; the default depends on their number.
    pub applications: Option<bool>,
    /// Each node has metrics of its own.
    pub nodes: bool,
    /// Each direction of each link has metrics of its own.
    pub links: bool,
    /// Every first transmission is followed, which separates spurious from genuine timeouts.
    pub timeouts: bool,
    /// Links whose packets are captured, as names and patterns.
    pub(crate) capture: Vec<Located<String>>,
    /// Bytes kept of a captured packet; `None` means all.
    pub(crate) capture_bytes: Option<u32>,
}

impl Record {
    /// The records that become tables.
    pub fn plans(&self) -> Vec<RecordPlan> {
        // The tables were parsed once with the scenario.
        self.tables.iter().filter_map(|text| RecordPlan::parse(text).ok()).collect()
    }

    /// The metrics that are wanted beside those of the whole.
    pub fn detail(&self) -> Detail {
        let applications = self.applications.unwrap_or(true);
        Detail { applications, nodes: self.nodes, links: self.links }
    }
}

pub(crate) fn read(
    given: &Table,
    path: &str,
    origin: Origin,
    complete: bool,
    record: &mut Record,
    problems: &mut Problems,
) -> Table {
    let mut fields = Fields::new(given, path, origin, true, problems);
    fields.field("tables", &mut record.tables, Many(law::RECORD));
    fields.field("applications", &mut record.applications, Maybe(Truth));
    fields.field("nodes", &mut record.nodes, Truth);
    fields.field("links", &mut record.links, Truth);
    fields.field("timeouts", &mut record.timeouts, Truth);
    fields.field("capture", &mut record.capture, Many(Place(TEXT)));
    fields.field("capture-bytes", &mut record.capture_bytes, Maybe(FEW_BYTES));
    let mut seen = BTreeSet::new();
    let names = record.tables.iter().filter_map(|text| text.split('(').next());
    if let Some(twice) = names.map(str::trim).find(|name| !seen.insert(*name)) {
        let what = format!("`{twice}` is there twice, and a run has one table of a name");
        fields.problem("tables", what);
    }
    if complete && record.capture.is_empty() && record.capture_bytes.is_some() {
        fields.problem("capture-bytes", "needs `capture` beside it");
    }
    // A record of timeouts is empty unless transmissions are followed.
    record.timeouts |= record.plans().iter().any(RecordPlan::needs_following);
    fields.finish()
}
