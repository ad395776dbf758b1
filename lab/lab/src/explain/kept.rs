//! The run that is meant, in a folder of results that is only read.
use crate::campaign::{Campaign, Stage};
use crate::folder;
use crate::journal::Row;
use crate::source::Source;
use crate::{Error, ErrorKind};
use recoup_sim::network::Network;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Content of the folder.
#[derive(Debug)]
pub struct Kept {
    /// The folder.
    pub folder: PathBuf,
    source: Arc<Source>,
    campaign: Campaign,
    rows: Vec<Row>,
}

/// A run in it.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// Its scenario.
    pub stage: &'a Stage,
    /// The kept row of the run.
    pub row: &'a Row,
}

impl Kept {
    /// Reads a folder. Files that the scenario names are looked for in `files`, or beside the folder, and among the
    /// texts `built_in`, by name.
    ///
    /// # Errors
    /// If it holds no results, or a file is missing.
    pub fn open(
        path: &Path,
        files: Option<&Path>,
        built_in: Vec<(&'static str, &'static str)>,
    ) -> Result<Self, Error> {
        let (scenario, rows) = folder::read(path)?;
        let beside = || path.canonicalize().ok().and_then(|it| it.parent().map(Path::to_owned));
        let folder = files.map(Path::to_owned).or_else(beside).unwrap_or_default();
        let name = path.join("scenario.toml").display().to_string();
        let source = Arc::new(Source::kept(&name, folder, built_in, &scenario)?);
        let campaign = Campaign::new(&source, None)?;
        Ok(Self { folder: path.to_owned(), source, campaign, rows })
    }

    /// Runs that are kept in memory.
    pub fn of(source: Arc<Source>, campaign: Campaign, rows: Vec<Row>) -> Self {
        Self { folder: PathBuf::from("memory"), source, campaign, rows }
    }

    /// Title of the scenario, or else the name of the folder.
    pub fn title(&self) -> &str {
        let name = || self.folder.file_name().and_then(|name| name.to_str());
        Some(self.source.file.title()).filter(|it| !it.is_empty()).or_else(name).unwrap_or("run")
    }

    /// The seeds of the runs.
    pub fn seeds(&self) -> &[u64] {
        &self.campaign.seeds
    }

    /// The runs.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The first run that has these values on axes of the sweep and that seed, or the lowest.
    ///
    /// # Errors
    /// If there is none.
    pub fn choose(&self, at: &[String], seed: Option<u64>) -> Result<Chosen<'_>, Error> {
        let mut wanted = Vec::new();
        for text in at {
            wanted.push(text.split_once('=').ok_or_else(|| {
                Error::usage(format!("`{text}` has no value"))
                    .with_remedy("write --at AXIS=VALUE, such as --at link.delay='10 ms'")
            })?);
        }
        let has = |stage: &&Stage| {
            let own = |(axis, value): &(&str, &str)| {
                stage.point.values.iter().any(|(a, v)| a == axis.trim() && v == value.trim())
            };
            wanted.iter().all(own)
        };
        let stages: Vec<_> = self.campaign.points.iter().filter(has).collect();
        if stages.is_empty() {
            return Err(self.no_such_point());
        }
        let of_stage = |stage: &&Stage| {
            let rows = self.rows.iter().filter(|row| row.point == stage.key);
            rows.filter(|row| seed.is_none_or(|seed| row.seed == seed)).min_by_key(|row| row.seed)
        };
        let mut runs =
            stages.into_iter().filter_map(|stage| Some(Chosen { stage, row: of_stage(&stage)? }));
        runs.next().ok_or_else(|| {
            Error::usage(format!("no such run is kept in {}", self.folder.display())).with_remedy(
                "choose one of runs.csv there; results of another version of recoup: \
                     run the scenario again with --fresh",
            )
        })
    }

    /// The network of a run.
    ///
    /// # Errors
    /// If it cannot be built, which it could when the results were made.
    pub fn network(&self, chosen: &Chosen<'_>) -> Result<Network, Error> {
        let network = chosen.stage.scenario()?.network(chosen.row.seed);
        network.map_err(|problems| self.source.failure(&problems))
    }

    fn no_such_point(&self) -> Error {
        let labels = self.campaign.points.iter().map(|stage| stage.point.label());
        let labels: Vec<_> = labels.filter(|label| !label.is_empty()).take(5).collect();
        let failure = Error::new(ErrorKind::Usage, "no point of the sweep has these values");
        match labels.is_empty() {
            true => failure.with_remedy("nothing is varied: leave --at out"),
            false => failure.with_remedy(format!("there is, for example, {}", labels.join("; "))),
        }
    }
}
