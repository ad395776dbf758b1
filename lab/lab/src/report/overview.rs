//! Facts about all points of a sweep: the metrics that are shown, and notes.
use super::{PointReport, Runs};
use crate::journal::{Metrics, Row};
use foldhash::quality::FixedState;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hash::BuildHasher;

/// More consumers than that are only shown together.
const CONSUMERS: usize = 3;
/// Most notes on points.
const NOTES: usize = 30;
/// Metrics that are shown if they are above 0 somewhere.
const IF_ANY: [&str; 3] = ["all.cs_hit_ratio", "all.drops", "all.lost"];

/// Metrics of runs in which a consumer did not complete, as the end of a sentence with their number.
const REASONS: [(&str, &str); 4] = [
    ("stopped", "stopped before it was complete"),
    ("no_progress", "without progress for too long"),
    ("no_answer", "without an answer to all retransmissions"),
    ("failed", "with another error"),
];

/// Consumers that did not complete in each run: a mean time is then one of the lucky runs only.
fn incomplete(point: &PointReport<'_>) -> Vec<String> {
    let label = label(point);
    let at = if label.is_empty() { String::new() } else { format!(" at {label}") };
    let of = |name: &str| {
        let consumer = name.strip_suffix(".completed").filter(|place| *place != "all")?;
        let figure = point.metrics.get(name)?;
        let failed = ((1.0 - figure.mean) * figure.count as f64).round() as u64;
        let count = figure.count;
        let reasons = REASONS.iter().filter_map(|(metric, text)| {
            let runs = point.metrics.get(&format!("{consumer}.{metric}"))?.count;
            Some(format!("{runs} {text}"))
        });
        let why = reasons.collect::<Vec<_>>().join(", ");
        let why = if why.is_empty() { why } else { format!(": {why}") };
        let text = format!("{consumer} did not complete in {failed} of {count} runs{at}{why}");
        (failed > 0).then_some(text)
    };
    let names = point.metrics.names(|name| name.ends_with(".completed"));
    names.into_iter().filter_map(of).collect()
}

fn label(point: &PointReport<'_>) -> String {
    let label: Vec<_> = point.axes.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    label.join(", ")
}

/// Facts about the points so far.
#[derive(Debug, Default)]
pub(super) struct Overview {
    pub(super) points: usize,
    /// Most seeds of a point.
    seeds: usize,
    names: BTreeSet<String>,
    /// Metrics of the run before.
    recent: Metrics,
    /// Those of [`IF_ANY`] that are above 0 somewhere.
    nonzero: BTreeSet<&'static str>,
    incomplete: Vec<String>,
    /// Further points with incomplete consumers.
    more: usize,
    /// A hash of the digests of the runs of each point; 0 without runs.
    ran: Vec<u64>,
}

impl Overview {
    pub(super) fn add(&mut self, point: &PointReport<'_>) {
        for Row { metrics, .. } in &point.metrics.runs {
            if !self.recent.shares_names_with(metrics) {
                self.names.extend(metrics.iter().map(|(name, _)| name.to_owned()));
                self.recent = metrics.clone();
            }
        }
        let is_above = |name: &&str| point.metrics.get(name).is_some_and(|it| it.max > 0.0);
        let nonzero = IF_ANY.into_iter().filter(|name| !self.nonzero.contains(name));
        let nonzero: Vec<_> = nonzero.filter(is_above).collect();
        self.nonzero.extend(nonzero);
        let notes = incomplete(point);
        match self.incomplete.len() + notes.len() <= NOTES {
            true => self.incomplete.extend(notes),
            false => self.more += 1,
        }
        let digests: Vec<_> = point.metrics.runs.iter().map(|row| &row.digest).collect();
        let hash = FixedState::default().hash_one(&digests);
        self.ran.push(if digests.is_empty() { 0 } else { hash });
        self.points += 1;
        self.seeds = self.seeds.max(point.seeds);
    }

    /// Number of points and seeds, and how many runs were there.
    pub(super) fn extent(&self, runs: Runs) -> String {
        let mut text = match (self.points, self.seeds) {
            (1, 1) => "one run".to_owned(),
            (1, seeds) => format!("{seeds} seeds, means with 95 % confidence intervals"),
            (points, 1) => format!("{points} points with one seed each"),
            (points, seeds) => format!(
                "{points} points with {seeds} seeds each, means with 95 % confidence intervals"
            ),
        };
        let Runs { all, made } = runs;
        if made < all {
            let _ = write!(text, "; {} of {all} runs were there", all - made);
        }
        text
    }

    /// Notes for the reader of the figures; `label` names a point.
    pub(super) fn notes(&self, show: &[String], label: impl Fn(usize) -> String) -> Vec<String> {
        let mut notes = self.incomplete.clone();
        if self.more > 0 {
            notes.push(format!("consumers did not complete at {} more points", self.more));
        }
        let alike = self.alike().map(|(first, second)| {
            let (first, second) = (label(first), label(second));
            format!("{first} and {second} ran alike: the sweep changes nothing there")
        });
        notes.extend(alike);
        notes.extend(self.unknown(show));
        notes
    }

    /// The first point that ran as one before it with every seed, after that: what the sweep varies between them changes
    /// nothing.
    fn alike(&self) -> Option<(usize, usize)> {
        let mut places: Vec<u32> = (0..self.ran.len() as u32).collect();
        places.retain(|place| self.ran[*place as usize] > 0);
        places.sort_unstable_by_key(|place| (self.ran[*place as usize], *place));
        let pairs = places.windows(2).map(|pair| (pair[0] as usize, pair[1] as usize));
        let alike = pairs.filter(|(first, second)| self.ran[*first] == self.ran[*second]);
        alike.min_by_key(|(_, second)| *second)
    }

    /// Requested metrics that do not exist.
    fn unknown(&self, show: &[String]) -> Vec<String> {
        let is_there = |pattern: &&String| {
            let mut names = self.names.iter();
            self.names.is_empty() || names.any(|name| crate::scenario::fits(pattern, name))
        };
        let missing = show.iter().filter(|pattern| !is_there(pattern));
        let note = |pattern: &String| {
            let names = self.names.iter().map(String::as_str);
            let near = recoup_config::problem::hint(pattern, names);
            format!("no metric is called `{pattern}`{near}")
        };
        missing.map(note).collect()
    }

    /// Names of the printed metrics: the requested ones, or the most important.
    pub(super) fn shown(&self, show: &[String]) -> Vec<String> {
        if !show.is_empty() {
            let fits = |pattern: &String| {
                let names = self.names.iter();
                names
                    .filter(|name| crate::scenario::fits(pattern, name))
                    .cloned()
                    .collect::<Vec<_>>()
            };
            return show.iter().flat_map(fits).collect();
        }
        let names = self.names.iter().filter_map(|name| name.strip_suffix(".completed"));
        let consumers: Vec<&str> = names.filter(|place| *place != "all").collect();
        let mut wanted: Vec<String> = Vec::new();
        if consumers.len() <= CONSUMERS {
            for consumer in &consumers {
                for what in
                    ["time_s", "goodput_bps", "loss_event_percent", "timeouts", "retransmissions"]
                {
                    wanted.push(format!("{consumer}.{what}"));
                }
            }
        } else {
            let of_all =
                ["completed", "delay_mean_s", "goodput_mean_bps", "timeouts", "retransmissions"];
            wanted.extend(of_all.map(|what| format!("all.{what}")));
        }
        if consumers.len() > 1 {
            wanted.push("all.jain".into());
        }
        let nonzero = IF_ANY.iter().filter(|name| self.nonzero.contains(*name));
        wanted.extend(nonzero.map(|name| (*name).to_owned()));
        wanted.retain(|name| self.names.contains(name.as_str()));
        wanted
    }
}
