//! The run that is meant, in a folder of results that is only read.
use crate::campaign::Stage;
use crate::folder;
use crate::journal::{Row, Rows};
use crate::scenario::Point;
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
    runs: Runs,
}

/// Where the runs are.
#[derive(Debug)]
enum Runs {
    Journal(Rows),
    Memory(Arc<[Row]>),
}

impl Runs {
    /// The run of a point with that seed, or the lowest.
    fn of(&self, point: &str, seed: Option<u64>) -> Result<Option<Row>, Error> {
        match self {
            Self::Journal(rows) => match seed.or_else(|| rows.least_seed(point)) {
                Some(seed) => rows.find(point, seed),
                None => Ok(None),
            },
            Self::Memory(rows) => {
                let is_meant =
                    |row: &&Row| row.point == point && seed.is_none_or(|it| row.seed == it);
                Ok(rows.iter().filter(is_meant).min_by_key(|row| row.seed).cloned())
            }
        }
    }
}

/// A run in it.
#[derive(Debug)]
pub struct Chosen {
    /// Its scenario.
    pub stage: Stage,
    /// The kept row of the run.
    pub row: Row,
}

impl Kept {
    /// Reads a folder. Files that the scenario names are looked for in `files`, or beside the folder, and among the
    /// texts `built_in`, by name.
    ///
    /// # Errors
    /// If it holds no results.
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
        Ok(Self { folder: path.to_owned(), source, runs: Runs::Journal(rows) })
    }

    /// Runs that are kept in memory.
    pub fn of(source: Arc<Source>, rows: Arc<[Row]>) -> Self {
        Self { folder: PathBuf::from("memory"), source, runs: Runs::Memory(rows) }
    }

    /// Title of the scenario, or else the name of the folder.
    pub fn title(&self) -> &str {
        let name = || self.folder.file_name().and_then(|name| name.to_str());
        Some(self.source.file.title()).filter(|it| !it.is_empty()).or_else(name).unwrap_or("run")
    }

    /// The first run that has these values on axes of the sweep and that seed, or the lowest.
    ///
    /// # Errors
    /// If there is none, or a file is missing.
    pub fn choose(&self, at: &[String], seed: Option<u64>) -> Result<Chosen, Error> {
        let mut wanted = Vec::new();
        for text in at {
            wanted.push(text.split_once('=').ok_or_else(|| {
                Error::usage(format!("`{text}` has no value"))
                    .with_remedy("write --at AXIS=VALUE, such as --at link.delay='10 ms'")
            })?);
        }
        let has = |point: &Point| {
            let own = |(axis, value): &(&str, &str)| {
                point.values.iter().any(|(a, v)| a == axis.trim() && v == value.trim())
            };
            wanted.iter().all(own)
        };
        let mut points = self.source.file.points().filter(has).peekable();
        if points.peek().is_none() {
            return Err(self.no_such_point());
        }
        for point in points {
            let stage = Stage::of(&self.source, point.number)?;
            if let Some(row) = self.runs.of(&stage.key, seed)? {
                return Ok(Chosen { stage, row });
            }
        }
        let message = format!("no such run is kept in {}", self.folder.display());
        Err(Error::usage(message).with_remedy(
            "choose one of runs.csv there; results of another version of recoup: \
             run the scenario again with --fresh",
        ))
    }

    /// The network of a run.
    ///
    /// # Errors
    /// If it cannot be built, which it could when the results were made.
    pub fn network(&self, chosen: &Chosen) -> Result<Network, Error> {
        let network = chosen.stage.scenario()?.network(chosen.row.seed);
        network.map_err(|problems| self.source.failure(&problems))
    }

    fn no_such_point(&self) -> Error {
        let labels = self.source.file.points().map(|point| point.label());
        let labels: Vec<_> = labels.filter(|label| !label.is_empty()).take(5).collect();
        let failure = Error::new(ErrorKind::Usage, "no point of the sweep has these values");
        match labels.is_empty() {
            true => failure.with_remedy("nothing is varied: leave --at out"),
            false => failure.with_remedy(format!("there is, for example, {}", labels.join("; "))),
        }
    }
}
