//! A folder of results: what was run, and what came of it.
//!
//! ```text
//! scenario.toml           the scenario as it was run, defaults written out
//! versions.json           which program ran it
//! journal.jsonl           a line for each run that has ended: what a later command goes on from
//! runs.csv, runs.parquet  a row for each run: values of the sweep, seed, digest, metrics
//! tables/NAME/POINT-SEED.parquet   records
//! captures/POINT-SEED.pcapng       packets
//! .checked                what a later command of this program need not check or write again
//! ```
//!
//! Whatever ends the process, at any moment, a later one goes on with what is complete: the journal is
//! only appended to, everything else is written under another name and then renamed.
mod runs;

pub use runs::runs;

use super::table;
use crate::journal::{Journal, Row, Rows, point_number};
use crate::table::Format;
use crate::{Error, ErrorKind};
use recoup_config::tree::{Table as Tree, Value};
use recoup_io::outlet::Outlet;
use recoup_sim::record::Table;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Use of a folder.
#[derive(Clone, Debug)]
pub struct Purpose<'a> {
    /// The scenario in normal form.
    pub text: &'a str,
    /// Digest of it and of the files that it names, without title, seeds and sweep.
    pub digest: &'a str,
    /// The registered algorithms of the scenario with their versions; the digest covers them.
    pub algorithms: &'a BTreeMap<String, String>,
    /// Begin anew.
    pub fresh: bool,
    /// Form of the tables.
    pub format: Format,
}

/// A folder in use.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    format: Format,
    versions: Versions,
    /// Held as long as the folder is in use.
    _lock: File,
    /// The runs that have ended.
    pub journal: Journal,
}

/// Versions of the programs and inputs that made the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Versions {
    recoup: String,
    /// Digests of the programs that ran alike.
    builds: Vec<String>,
    scenario: String,
    /// Versions of algorithms that a process has registered, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    algorithms: BTreeMap<String, String>,
}

const SCENARIO: &str = "scenario.toml";
const VERSIONS: &str = "versions.json";
const JOURNAL: &str = "journal.jsonl";
const LOCK: &str = ".lock";
/// Record of a campaign.
pub(crate) const RECORD: &str = ".checked";
const TABLES: &str = "tables";
const CAPTURES: &str = "captures";
const OTHER: &str = "choose another folder with --out, or begin anew with --fresh";

impl ResultFolder {
    /// Opens a folder to go on in it, or makes it.
    ///
    /// # Errors
    /// If it is used by another process, holds something else, or results of another scenario.
    pub fn open(path: &Path, purpose: &Purpose<'_>) -> Result<Self, Error> {
        fs::create_dir_all(path)
            .map_err(|error| Error::file("make the folder", path.display(), &error))?;
        let known = path.join(VERSIONS).exists();
        if !known && !is_unused(path)? {
            let message = format!("{} holds other files than results", path.display());
            return Err(Error::new(ErrorKind::Local, message)
                .with_remedy("choose another folder with --out"));
        }
        let lock = lock(path)?;
        if purpose.fresh {
            clear(path)?;
        }
        let versions = match path.join(VERSIONS).exists() {
            true => continued(path, purpose)?,
            false => begun(path, purpose)?,
        };
        let journal = Journal::open(&path.join(JOURNAL), &|row| has_files(path, row))?;
        let (path, format) = (path.to_owned(), purpose.format);
        Ok(Self { path, format, versions, _lock: lock, journal })
    }

    /// Whether a folder has no results yet, or those of the scenario with that digest.
    pub fn is_for(path: &Path, digest: &str) -> bool {
        let Ok(text) = fs::read(path.join(VERSIONS)) else { return true };
        serde_json::from_slice::<Versions>(&text).is_ok_and(|versions| versions.scenario == digest)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what is here was run by this program, or by one that ran alike.
    pub fn is_of_this_program(&self, build: &str) -> bool {
        self.journal.rows.is_empty() || self.versions.builds.iter().any(|other| other == build)
    }

    /// Notes that this program ran something, or runs alike.
    pub fn add_program(&mut self, build: &str) -> Result<(), Error> {
        if !self.versions.builds.iter().any(|other| other == build) {
            self.versions.builds.push(build.to_owned());
            write_versions(&self.path, &self.versions)?;
        }
        Ok(())
    }

    /// Place and format of tables, for the runner of simulations.
    pub fn shelf(&self) -> Shelf {
        let (folder, captures) = (self.path.join(TABLES), self.path.join(CAPTURES));
        Shelf { folder, captures, format: self.format }
    }

    /// The files of a run, relative to the folder, and their lengths in bytes.
    pub(crate) fn files(&self, point: &str, seed: u64) -> Result<BTreeMap<String, u64>, Error> {
        let tables = self.path.join(TABLES);
        let tables = if tables.is_dir() { names(&tables)? } else { Vec::new() };
        let extension = self.format.extension();
        let tables =
            tables.iter().map(|name| format!("{TABLES}/{name}/{point}-{seed}.{extension}"));
        let all = tables.chain([format!("{CAPTURES}/{point}-{seed}.pcapng")]);
        let found = all.filter_map(|name| {
            let there = fs::metadata(self.path.join(&name)).ok()?;
            Some((name, there.len()))
        });
        Ok(found.collect())
    }

    /// Copies the records and the capture of a run from another folder.
    pub(crate) fn copy_files(&self, other: &Path, point: &str, seed: u64) -> Result<(), Error> {
        let stem = format!("{point}-{seed}.");
        let mut folders = vec![PathBuf::from(CAPTURES)];
        let tables = other.join(TABLES);
        if tables.is_dir() {
            folders.extend(names(&tables)?.into_iter().map(|name| Path::new(TABLES).join(name)));
        }
        for folder in folders {
            let (from, to) = (other.join(&folder), self.path.join(&folder));
            if !from.is_dir() {
                continue;
            }
            for name in names(&from)?.into_iter().filter(|name| name.starts_with(&stem)) {
                fs::create_dir_all(&to)
                    .map_err(|error| Error::file("make the folder", to.display(), &error))?;
                let draft = Draft::of(&to.join(&name));
                draft.keep(fs::copy(from.join(&name), &draft.part))?;
            }
        }
        Ok(())
    }
}

/// Whether the files of a run are there, as long as they were. A run without them is made again.
fn has_files(folder: &Path, row: &Row) -> bool {
    row.files.iter().all(|(name, bytes)| {
        fs::metadata(folder.join(name)).is_ok_and(|there| there.is_file() && there.len() == *bytes)
    })
}

/// The scenario and the runs in a folder, which is only read and may be in use.
///
/// # Errors
/// If it holds no results.
pub fn read(path: &Path) -> Result<(String, Rows), Error> {
    if !path.join(VERSIONS).exists() {
        let message = format!("{} holds no results", path.display());
        return Err(Error::new(ErrorKind::Local, message).with_remedy(
            "name a folder that `recoup sim` wrote; of a study, that of an experiment",
        ));
    }
    let file = path.join(SCENARIO);
    let text =
        fs::read_to_string(&file).map_err(|error| Error::file("read", file.display(), &error))?;
    Ok((text, Rows::open(&path.join(JOURNAL))?))
}

/// The runs in a folder whose files are there, by the numbers of their points and their seeds.
pub(crate) fn complete(path: &Path) -> Result<HashSet<(u64, u64)>, Error> {
    let mut complete = HashSet::new();
    for row in read(path)?.1.iter() {
        let row = row?;
        if has_files(path, &row) {
            complete.insert((point_number(&row.point), row.seed));
        }
    }
    Ok(complete)
}

/// The programs that made the results in a folder.
///
/// # Errors
/// If it holds no results.
pub fn builds(path: &Path) -> Result<Vec<String>, Error> {
    versions(path).map(|versions| versions.builds)
}

fn versions(path: &Path) -> Result<Versions, Error> {
    let file = path.join(VERSIONS);
    let text = fs::read(&file).map_err(|error| Error::file("read", file.display(), &error))?;
    serde_json::from_slice(&text).map_err(|error| {
        let message = format!("{} cannot be understood: {error}", file.display());
        Error::new(ErrorKind::Local, message).with_remedy(OTHER)
    })
}

/// Where tables are put.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
    captures: PathBuf,
    format: Format,
}

impl Shelf {
    /// Writes the tables of a run, each with the values of the sweep and the seed in front.
    pub fn put(
        &self,
        point: &str,
        seed: u64,
        values: &[(String, String)],
        tables: &[Table],
    ) -> Result<(), Error> {
        for table in tables {
            let folder = self.folder.join(&table.name);
            fs::create_dir_all(&folder)
                .map_err(|error| Error::file("make the folder", folder.display(), &error))?;
            let path = folder.join(format!("{point}-{seed}.{}", self.format.extension()));
            let whole = table::labelled(table, values, seed);
            atomically(&path, |out| table::write(&whole, self.format, out))?;
        }
        Ok(())
    }
}

impl Shelf {
    /// Format of the tables.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes a record of a run that another process has made, which is a file in the [format](Self::format) of the tables.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put_file(
        &self,
        table: &str,
        point: &str,
        seed: u64,
        content: &[u8],
    ) -> Result<(), Error> {
        let folder = self.folder.join(table);
        fs::create_dir_all(&folder)
            .map_err(|error| Error::file("make the folder", folder.display(), &error))?;
        let path = folder.join(format!("{point}-{seed}.{}", self.format.extension()));
        atomically(&path, |out| out.write_all(content))
    }

    /// Begins the capture of a run.
    pub fn begin_capture(&self, point: &str, seed: u64) -> Result<(Draft, File), Error> {
        fs::create_dir_all(&self.captures)
            .map_err(|error| Error::file("make the folder", self.captures.display(), &error))?;
        Draft::begin(&self.captures.join(format!("{point}-{seed}.pcapng")))
    }
}

/// A file that bears another name until it is complete; a device or a pipe is written directly ([`Outlet`]).
#[derive(Debug)]
pub struct Draft {
    part: PathBuf,
    path: PathBuf,
}

impl Draft {
    /// Begins a file.
    pub fn begin(path: &Path) -> Result<(Self, File), Error> {
        let draft = Self::of(path);
        let file = File::create(&draft.part).map_err(|error| draft.failure(&error))?;
        Ok((draft, file))
    }

    fn of(path: &Path) -> Self {
        match Outlet::of(path) {
            Outlet::Direct(path) => Self { part: path.clone(), path },
            Outlet::Replaced(path) => {
                let mut part = path.as_os_str().to_owned();
                part.push(".part");
                Self { part: part.into(), path }
            }
        }
    }

    /// Gives the file its name if it was written.
    pub fn keep<T>(&self, written: io::Result<T>) -> Result<(), Error> {
        let kept = written.and_then(|_| match self.part == self.path {
            true => Ok(()),
            false => fs::rename(&self.part, &self.path),
        });
        kept.map_err(|error| self.failure(&error))
    }

    /// Removes what was written, but no device.
    pub fn discard(&self) {
        if self.part != self.path {
            // It has no name that anything else looks for.
            let _ = fs::remove_file(&self.part);
        }
    }

    /// The file cannot be written.
    pub fn failure(&self, error: &io::Error) -> Error {
        Error::file("write", self.path.display(), error)
    }
}

/// Writes a file under another name and renames it when it is complete.
fn atomically(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Error> {
    let draft = Draft::of(path);
    let written =
        File::create(&draft.part).and_then(|mut file| write(&mut file).and_then(|()| file.flush()));
    draft.keep(written)
}

/// Names of what is in a folder, as far as they are text.
fn names(path: &Path) -> Result<Vec<String>, Error> {
    let failed = |error| Error::file("list", path.display(), &error);
    let entries = fs::read_dir(path).map_err(failed)?;
    let names = entries.map(|entry| Ok(entry.map_err(failed)?.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect()
}

fn is_unused(path: &Path) -> Result<bool, Error> {
    let failed = |error| Error::file("list", path.display(), &error);
    for entry in fs::read_dir(path).map_err(failed)? {
        if entry.map_err(failed)?.file_name() != LOCK {
            return Ok(false);
        }
    }
    Ok(true)
}

fn lock(path: &Path) -> Result<File, Error> {
    let lock = File::create(path.join(LOCK))
        .map_err(|error| Error::file("write to", path.display(), &error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            let message = format!("another process is running in {}", path.display());
            Err(Error::new(ErrorKind::Local, message)
                .with_remedy("wait for it, or choose another folder with --out"))
        }
        // Some file systems have no locks; then it is the user's care.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(lock),
        Err(TryLockError::Error(error)) => {
            Err(Error::file("lock", path.join(LOCK).display(), &error))
        }
    }
}

/// Removes results, and nothing else.
fn clear(path: &Path) -> Result<(), Error> {
    // Without its versions file a folder does not count as a result folder, so this file is removed last.
    let files = [RECORD, JOURNAL, "runs.csv", "runs.parquet", SCENARIO];
    for name in files {
        gone(fs::remove_file(path.join(name)), &path.join(name))?;
    }
    for name in [TABLES, CAPTURES] {
        gone(fs::remove_dir_all(path.join(name)), &path.join(name))?;
    }
    gone(fs::remove_file(path.join(VERSIONS)), &path.join(VERSIONS))
}

fn gone(removed: io::Result<()>, path: &Path) -> Result<(), Error> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::file("remove", path.display(), &error))
        }
        _ => Ok(()),
    }
}

fn begun(path: &Path, purpose: &Purpose<'_>) -> Result<Versions, Error> {
    let versions = Versions {
        recoup: env!("CARGO_PKG_VERSION").to_owned(),
        builds: Vec::new(),
        scenario: purpose.digest.to_owned(),
        algorithms: purpose.algorithms.clone(),
    };
    write_versions(path, &versions)?;
    write_scenario(path, purpose.text)?;
    Ok(versions)
}

fn continued(path: &Path, purpose: &Purpose<'_>) -> Result<Versions, Error> {
    let versions = versions(path)?;
    if versions.scenario != purpose.digest {
        let old = fs::read_to_string(path.join(SCENARIO)).unwrap_or_default();
        let what = difference(&old, purpose.text)
            .or_else(|| changed_algorithm(&versions, purpose))
            .unwrap_or_else(|| "a file that it names, or what a default means, has changed".into());
        let message = format!("{} holds results of another scenario: {what}", path.display());
        return Err(Error::new(ErrorKind::Local, message).with_remedy(OTHER));
    }
    // Seeds and the sweep may have grown.
    write_scenario(path, purpose.text)?;
    Ok(versions)
}

fn write_versions(path: &Path, versions: &Versions) -> Result<(), Error> {
    atomically(&path.join(VERSIONS), |out| {
        serde_json::to_writer_pretty(&mut *out, versions).map_err(io::Error::other)?;
        out.write_all(b"\n")
    })
}

fn write_scenario(path: &Path, text: &str) -> Result<(), Error> {
    atomically(&path.join(SCENARIO), |out| out.write_all(text.as_bytes()))
}

/// The first algorithm that has another version now.
fn changed_algorithm(versions: &Versions, purpose: &Purpose<'_>) -> Option<String> {
    let changed = |(name, old): (&String, &String)| {
        let is_changed = purpose.algorithms.get(name).is_some_and(|now| now != old);
        is_changed
            .then(|| format!("the algorithm `{name}`, or something that it reaches, has changed"))
    };
    versions.algorithms.iter().find_map(changed)
}

/// The first field in which two scenarios differ.
fn difference(old: &str, new: &str) -> Option<String> {
    let fields = |text: &str| {
        let mut fields = BTreeMap::new();
        if let Ok(mut table) = Tree::parse(text) {
            ["title", "seeds", "arena", "sweep"].iter().for_each(|key| drop(table.remove(key)));
            flatten("", &Value::Table(table), &mut fields);
        }
        fields
    };
    let (old, new) = (fields(old), fields(new));
    let path = old.keys().chain(new.keys()).find(|path| old.get(*path) != new.get(*path))?;
    let shown = |fields: &BTreeMap<String, String>| {
        fields.get(path).map_or_else(|| "not given".to_owned(), |value| format!("`{value}`"))
    };
    Some(format!("{path} is {} there and {} here", shown(&old), shown(&new)))
}

fn flatten(path: &str, value: &Value, fields: &mut BTreeMap<String, String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Table(table) => table
            .entries()
            .iter()
            .for_each(|entry| flatten(&below(&entry.key), &entry.tree.value, fields)),
        Value::List(list) if list.iter().any(|one| matches!(one.value, Value::Table(_))) => {
            for (number, one) in (1..).zip(list) {
                flatten(&below(&format!("{number}")), &one.value, fields);
            }
        }
        value => {
            fields.insert(path.to_owned(), value.to_string());
        }
    }
}

#[cfg(test)]
mod tests;
