//! Scenario files: networks, workloads and sweeps as text.
//!
//! A file is read by [`ScenarioFile::parse`], which reports all problems at once, each with its line, its key and a
//! remedy. It stands for one or more [`Point`]s of a sweep. Each of them is a [`Scenario`], and that with a seed is a
//! [`Network`] that can be simulated. `docs/scenario.md` explains every key.
//!
//! The module opens no file: the caller brings the files that a scenario names.
mod compile;
mod file;
mod law;
mod layout;
mod ndn;
mod path;
mod pattern;
mod seeds;
mod sweep;
mod trace_file;
mod workload;

pub use file::arena::{Arena, Situation};
pub use file::record::Record;
pub use pattern::fits;
pub use seeds::Seeds;
pub use sweep::Point;

use file::{Content, SECTIONS};
use recoup_config::problem::{self, Origin, Problem, Problems};
use recoup_config::tree::{Table, Tree, Value};
use recoup_config::{print, schema};
use recoup_core::spec::family::versions_in;
use recoup_sim::network::{Network, RoutePlan};
use recoup_sim::pcap::CaptureOptions;
use recoup_wifi::motion::plan::MotionPlan;
use std::borrow::Cow;
use sweep::Axes;

/// A scenario file with the settings that were given beside it.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    given: Table,
    content: Content,
    sweep: Table,
    axes: Axes,
}

/// Reads the text of a file that a scenario names.
///
/// The error is what goes into the message, after the name of the file.
pub type FileReader<'a> = &'a dyn Fn(&str) -> Result<String, String>;

impl ScenarioFile {
    /// Reads a file; `settings` are `path=value`, and replace values of the file.
    ///
    /// # Errors
    /// All mistakes that can be detected without the named files; those of values of a sweep that do not go together are
    /// those of their [`scenario`](Self::scenario).
    pub fn parse(text: &str, settings: &[String]) -> Result<Self, Problems> {
        let mut given = Table::parse(text)?;
        let mut problems = Problems::default();
        for (number, setting) in (0..).zip(settings) {
            if let Err(problem) = set(&mut given, setting, Origin::Setting(number)) {
                problems.push(problem);
            }
        }
        let mut content = file::read(&given, false, &mut problems);
        // Each point has a copy of the rest.
        content.normal.remove("sweep");
        let sweep = match given.remove("sweep") {
            None => Table::default(),
            Some(Tree { value: Value::Table(sweep), .. }) => sweep,
            Some(other) => {
                problems.add(other.origin, "sweep", "is no table; write [sweep]");
                Table::default()
            }
        };
        let axes = match sweep::axes(&sweep, &SECTIONS) {
            Ok(axes) => axes,
            Err(more) => {
                more.list().iter().cloned().for_each(|problem| problems.push(problem));
                Axes::default()
            }
        };
        let file = Self { given, content, sweep, axes };
        file.check_values(&mut problems);
        problems.or(file)
    }

    /// The JSON Schema of scenario files.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schema::of("Scenario of Recoup", |problems| {
            file::read(&Table::default(), false, problems);
        })
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.content.title
    }

    /// The seeds of the file.
    pub fn seeds(&self) -> &Seeds {
        &self.content.seeds
    }

    /// How it is judged as a case of the arena; `None` if it is none.
    pub fn arena(&self) -> Option<&Arena> {
        self.content.arena.as_ref()
    }

    /// The points of its sweep, made one by one; one if there is no sweep.
    pub fn points(&self) -> impl ExactSizeIterator<Item = Point> + '_ {
        // No number below the count lacks its point.
        (0..self.axes.count()).map(move |number| self.axes.point(number).unwrap_or_default())
    }

    /// The point with that number, from 0.
    pub fn point(&self, number: usize) -> Option<Point> {
        self.axes.point(number)
    }

    /// The scenario of a point.
    ///
    /// # Errors
    /// Its problems, files that cannot be read included.
    pub fn scenario(&self, point: &Point, files: FileReader<'_>) -> Result<Scenario, Problems> {
        let mut problems = Problems::default();
        let mut given = self.given_at(point, &mut problems).into_owned();
        let (mut read, traces) = trace_file::put_lists(&mut given, files, &mut problems);
        let mut content = file::read(&given, true, &mut problems);
        content.read_traces(&traces);
        if let Some(name) = content.topology.file.clone() {
            match files(&name.value) {
                Ok(text) => {
                    read.insert_str(0, &text);
                    content.topology.text = Some(text);
                }
                Err(what) => {
                    let what = format!("{}: {what}", name.value);
                    problems.add(name.origin, "topology.file", what);
                }
            }
        }
        read_motions(&mut content, files, &mut read, &mut problems);
        // Text takes a fifth of the memory of a table, and a sweep has many points.
        let text = document_without_labels(&std::mem::take(&mut content.normal));
        problems.or(Scenario { content, text, files: read })
    }

    /// The whole file with its settings, in normal form: every default of applications and nodes is
    /// written out, so that the text means the same when a default is changed one day.
    pub fn to_toml(&self) -> String {
        let mut table = self.content.normal.clone();
        if !self.sweep.is_empty() {
            table.insert("sweep", Value::Table(self.sweep.clone()).into());
        }
        print::document(&table)
    }

    /// The common part of all points, in normal form: without title, seeds, judgement and sweep.
    pub fn base(&self) -> String {
        document_without_labels(&self.content.normal)
    }

    fn given_at(&self, point: &Point, problems: &mut Problems) -> Cow<'_, Table> {
        let mut given = Cow::Borrowed(&self.given);
        for (steps, tree) in &point.settings {
            if let Err(problem) = path::set(given.to_mut(), steps, tree) {
                problems.push(problem);
            }
        }
        given
    }

    /// Problems of each value of the sweep, beside the first values of the other axes.
    fn check_values(&self, problems: &mut Problems) {
        for point in self.axes.each_value() {
            let mut here = Problems::default();
            file::read(&self.given_at(&point, &mut here), true, &mut here);
            here.list().iter().cloned().for_each(|problem| problems.push(problem));
        }
    }
}

/// Reads the files that motions of nodes are in.
fn read_motions(
    content: &mut Content,
    files: FileReader<'_>,
    read: &mut String,
    problems: &mut Problems,
) {
    let plans = content.motions().filter_map(|tree| {
        let plan = MotionPlan::parse(&tree.value.to_string()).ok()?;
        Some((plan.file()?.to_owned(), tree.origin))
    });
    let named: Vec<_> = plans.collect();
    for (name, origin) in named {
        if content.motions.contains_key(&name) {
            continue;
        }
        match files(&name) {
            Ok(text) => {
                read.push_str(&text);
                content.motions.insert(name, text);
            }
            Err(what) => problems.add(origin, "motion", format!("{name}: {what}")),
        }
    }
}

fn set(given: &mut Table, setting: &str, origin: Origin) -> Result<(), Problem> {
    let wrong = |what: String| Problem::new(origin, "", what);
    let (path, value) = setting
        .split_once('=')
        .ok_or_else(|| wrong("write a setting as path=value, such as link.delay=10ms".into()))?;
    let steps = path::parse(path).map_err(wrong)?;
    let known = SECTIONS.contains(&steps[0].as_str());
    if !known {
        let near = match problem::hint(&steps[0], SECTIONS) {
            none if none.is_empty() => {
                format!(
                    "; a path begins with a table, such as `fetch.congestion`; {}",
                    problem::listed(SECTIONS)
                )
            }
            near => near,
        };
        return Err(wrong(format!("`{}` is not known{near}", steps[0])));
    }
    path::set(given, &steps, &path::value(value, origin))
}

/// One point of a sweep, complete: what is run, once for each seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    content: Content,
    /// All fields in normal form, without labels.
    text: String,
    /// Contents of the files that it names.
    files: String,
}

impl Scenario {
    /// The records to make.
    pub fn record(&self) -> &Record {
        &self.content.record
    }

    /// The capture of its network; `None` if there is none.
    pub fn capture(&self, network: &Network) -> Option<CaptureOptions> {
        compile::capture(&self.content.record, network)
    }

    /// The network for a seed.
    ///
    /// # Errors
    /// Its problems: unknown names, unreachable nodes.
    pub fn network(&self, seed: u64) -> Result<Network, Problems> {
        compile::compile(&self.content, seed)
    }

    /// Routes of every node to every other, of which node `x` answers what is below `/x`, by the scenario's metric and
    /// choice of next hops.
    ///
    /// # Errors
    /// A link that does not join two nodes.
    pub fn routes_to_all(&self, network: &Network) -> Result<Vec<RoutePlan>, Problems> {
        compile::routes_to_all(&self.content, network)
    }

    /// Warnings: parts of the topology's file without a place, and valid parts of its network that are probably not
    /// meant; a line each.
    pub fn warnings(&self, network: &Network) -> Vec<String> {
        let mut warnings = self.content.topology.notes();
        warnings.extend(compile::warnings(network));
        warnings
    }

    /// All that decides what happens, as text: two scenarios with equal texts run alike. Titles and
    /// seeds and the arena's judgement are not part of it, files are.
    pub fn identity(&self) -> String {
        let mut text = format!("{}\n{}", self.text, self.files());
        for (name, version) in versions_in(&text) {
            text.push_str(&format!("\n{name}: {version}"));
        }
        text
    }

    /// Registered algorithms in the scenario, with their versions.
    pub fn registered(&self) -> Vec<(&'static str, String)> {
        versions_in(&self.text)
    }

    /// Contents of the files that the scenario names; may be empty.
    pub fn files(&self) -> &str {
        &self.files
    }
}

/// The text without what does not change what happens.
fn document_without_labels(table: &Table) -> String {
    let mut table = table.clone();
    for key in ["title", "seeds", "arena", "sweep"] {
        table.remove(key);
    }
    print::document(&table)
}

#[cfg(test)]
mod tests;
