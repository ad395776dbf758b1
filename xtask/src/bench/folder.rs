//! How long a folder of many small files takes to reach the disk, beside a local copy of it.

use super::process::{Running, same, transfer_limit};
use super::row::{Aim, Row};
use super::timed::capture;
use crate::chore::{Outcome, command, target_directory};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const FILES: u64 = 500;
const FOLDERS: u64 = 10;
/// Bytes of all files together.
const BYTES: u64 = 33_000_000;
/// A fetch may take this multiple of `cp -r` and `sync`.
const AIM: f64 = 1.5;

/// A folder on the disk that goes away with its owner.
struct Disk(PathBuf);

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Seconds of both, and their ratio, `runs` times in turn.
pub(crate) fn rows(recoup: &Path, runs: usize) -> Outcome<Vec<Row>> {
    let disk = Disk(target_directory()?.join(format!("bench-folder-{}", std::process::id())));
    let (source, copy) = (disk.0.join("source"), disk.0.join("copy"));
    fill(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    let socket = format!("unix://{}", disk.0.join("socket").display());
    let mut serve = Command::new(recoup);
    serve.arg("serve").arg(&source).args(["--name", "/bench", "--json", "--listen", &socket]);
    let (_server, face) = Running::serve(&mut serve)?;
    let (mut local, mut fetched) = (Vec::new(), Vec::new());
    for turn in 1..=runs {
        eprintln!("run {turn} of {runs}: folder");
        let mut copying = command("sh");
        copying.args(["-c", "cp -r \"$0\" \"$1\" && sync"]).arg(&source).arg(&copy);
        local.push(timed(&mut copying, &source, &copy)?);
        let mut fetch = Command::new(recoup);
        fetch.args(["fetch", "/bench", "-r", "-q", "--face", &face, "-o"]).arg(&copy);
        fetched.push(timed(&mut fetch, &source, &copy)?);
    }
    let ratios = fetched.iter().zip(&local).map(|(fetch, local)| fetch / local).collect();
    let files = format!("{FILES} files, {} MB", BYTES / 1_000_000);
    let rows = [
        Row::of("folder", format!("limit: cp -r and sync, {files}"), "s", local, None),
        Row::of("folder", format!("recoup fetch -r, {files}"), "s", fetched, None),
        Row::of("folder", "the same over cp -r and sync", "×", ratios, Some(Aim::AtMost(AIM))),
    ];
    Ok(rows.into_iter().flatten().collect())
}

/// Seconds of a command that makes `copy` of the folder `source`, with nothing else to be written. Compares both, and removes the
/// copy.
fn timed(command: &mut Command, source: &Path, copy: &Path) -> Outcome<f64> {
    rustix::fs::sync();
    let start = Instant::now();
    capture(command, transfer_limit(BYTES))?;
    let took = start.elapsed().as_secs_f64();
    let compared = (0..FILES).try_for_each(|number| {
        let (one, other) = (source.join(path(number)), copy.join(path(number)));
        match same(&one, &other).map_err(|error| format!("{}: {error}", other.display()))? {
            true => Ok(()),
            false => Err(format!("{} differs", other.display())),
        }
    });
    compared?;
    fs::remove_dir_all(copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    Ok(took)
}

/// Path of a file in the folder.
fn path(number: u64) -> PathBuf {
    PathBuf::from(format!("folder{}/file{number}", number % FOLDERS))
}

fn fill(folder: &Path) -> std::io::Result<()> {
    for number in 0..FILES {
        let path = folder.join(path(number));
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        // From a fifth of the mean to nearly twice of it.
        super::process::fill(&path, BYTES / FILES * (number % 10 + 1) * 2 / 11)?;
    }
    Ok(())
}
