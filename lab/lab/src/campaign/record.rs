//! A record of a campaign in its folder: points were checked, and tables are written.
//!
//! Without it a command checks each point of a sweep anew, and writes the tables again. It holds for one program, scenario
//! file and first seed, with the same files beside it. Whatever it does not cover or is damaged makes all be done anew.
use super::stage::Shared;
use super::{Campaign, Stages};
use crate::Error;
use crate::digest;
use crate::folder::ResultFolder;
use crate::journal::point_number;
use crate::scenario::Seeds;
use crate::source::Source;
use foldhash::quality::FixedState;
use recoup_core::spec::family::versions_in;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// Most bytes of a record.
const MOST_BYTES: u64 = 16 << 20;

/// All that decides which points a campaign has, and whether they are valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Basis {
    /// Digest of program, scenario file with its settings, and first seed; none if the program cannot be read.
    digest: Option<String>,
    /// Hashes of the files that the scenario names.
    files: BTreeMap<String, u64>,
}

/// First line of a record. A line with the digest of each point follows.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    basis: Basis,
    /// Digest of the campaign.
    scenario: String,
    warnings: Vec<String>,
    /// Hash of the digests of all points.
    points: u64,
    /// Hash of the journal from which the tables were made.
    journal: u64,
    /// Digests of the tables of runs.
    tables: BTreeMap<String, String>,
}

impl Basis {
    pub(super) fn new(source: &Source, seeds: &[u64]) -> Self {
        let first = seeds.first().copied().unwrap_or_default();
        let text = |program| digest::of_text(&format!("{program}\n{first}\n{}", source.digest()));
        Self { digest: digest::of_program().map(text), files: BTreeMap::new() }
    }

    /// Notes the content of a file. One that has changed meanwhile gets a hash that no content has again.
    pub(super) fn note(&mut self, name: &str, content: &str) {
        let hash = hash_of(content);
        let noted = self.files.entry(name.to_owned()).or_insert(hash);
        *noted = if *noted == hash { hash } else { !hash };
    }

    /// Whether all is as this states it.
    fn holds(&self, source: &Source, seeds: &[u64]) -> bool {
        let is_same = |(name, hash): (&String, &u64)| {
            source.read(name).is_ok_and(|content| hash_of(&content) == *hash)
        };
        let is_known = self.digest.is_some() && self.digest == Self::new(source, seeds).digest;
        is_known && self.files.iter().all(is_same)
    }
}

fn hash_of(content: &str) -> u64 {
    FixedState::default().hash_one(content)
}

impl Record {
    /// Whether it is in the folder, whose tables are as they were written.
    pub(super) fn is_in(&self, folder: &ResultFolder) -> bool {
        let Some((mut kept, _)) = lines(folder.path()) else { return false };
        let tables = std::mem::take(&mut kept.tables);
        let is_same = |(name, digest): (&str, String)| tables.get(name) == Some(&digest);
        *self == kept && folder.tables().is_ok_and(|now| now.into_iter().all(is_same))
    }

    /// Writes it with the digests of the tables.
    pub(super) fn write(mut self, folder: &ResultFolder, points: &Stages) -> Result<(), Error> {
        let tables = folder.tables()?.into_iter();
        self.tables = tables.map(|(name, digest)| (name.to_owned(), digest)).collect();
        folder.write_record(|out| {
            let mut out = BufWriter::new(out);
            serde_json::to_writer(&mut out, &self).map_err(io::Error::other)?;
            writeln!(out)?;
            points.keys().iter().try_for_each(|key| writeln!(out, "{key:016x}"))?;
            out.flush()
        })
    }
}

/// Record of a folder, with the lines of its points.
fn lines(folder: &Path) -> Option<(Record, impl Iterator<Item = io::Result<String>>)> {
    let file = File::open(folder.join(crate::folder::RECORD)).ok()?;
    let mut lines = BufReader::new(file.take(MOST_BYTES)).lines();
    let record = serde_json::from_str(&lines.next()?.ok()?).ok()?;
    Some((record, lines))
}

fn hash_of_points(keys: &[u64]) -> u64 {
    keys.iter().fold(0, |hash, key| FixedState::with_seed(hash).hash_one(key))
}

impl Campaign {
    /// As [`new`](Self::new), for results in the folder at `path`. Points that it records for this program, scenario and
    /// first seed are not checked again.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_folder(source: &Source, seeds: Option<&Seeds>, path: &Path) -> Result<Self, Error> {
        Self::recorded(source, seeds, path).map_or_else(|| Self::new(source, seeds), Ok)
    }

    pub(super) fn recorded(source: &Source, seeds: Option<&Seeds>, path: &Path) -> Option<Self> {
        let seeds: Vec<_> = seeds.unwrap_or(source.file.seeds()).iter().collect();
        let text = source.file.to_toml();
        let (record, mut lines) = lines(path)?;
        if !record.basis.holds(source, &seeds) || !versions_in(&text).is_empty() {
            return None;
        }
        let source = Arc::new(source.clone());
        let count = source.file.points().len();
        let mut points = Stages::new(&source, count);
        for number in 0..count {
            let key = point_number(&lines.next()?.ok()?);
            // Runs of the first points share their scenarios.
            if number < Shared::MOST {
                points.push(number, source.scenario(&source.file.point(number)?).ok()?);
            } else {
                points.push_known(number, key, &[]);
            }
            (points.key(number) == Some(key)).then_some(())?;
        }
        let is_whole = lines.next().is_none() && hash_of_points(points.keys()) == record.points;
        let Record { basis, scenario: digest, warnings, .. } = record;
        let (replaces_changed_points, share, algorithms) = (false, None, BTreeMap::new());
        is_whole.then_some(Self {
            points,
            seeds,
            warnings,
            replaces_changed_points,
            share,
            text,
            digest,
            algorithms,
            basis,
        })
    }

    /// Record for a folder whose tables are written; nothing where it would not cover all that points depend on.
    pub(super) fn record(&self, folder: &ResultFolder) -> Option<Record> {
        let is_covered = self.algorithms.is_empty() && self.basis.digest.is_some();
        (is_covered && self.points.are_all()).then(|| Record {
            basis: self.basis.clone(),
            scenario: self.digest.clone(),
            warnings: self.warnings.clone(),
            points: hash_of_points(self.points.keys()),
            journal: folder.journal.rows.hash(),
            tables: BTreeMap::new(),
        })
    }
}
