//! How long a folder of many small files takes to reach the disk, beside a local copy of it.

use super::process::{Running, transfer_limit};
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
        local.push(timed(&mut copying, &copy)?);
        let mut fetch = Command::new(recoup);
        fetch.args(["fetch", "/bench", "-r", "-q", "--face", &face, "-o"]).arg(&copy);
        fetched.push(timed(&mut fetch, &copy)?);
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

/// Seconds of a command that makes the folder `copy`, with nothing else to be written, which is removed.
fn timed(command: &mut Command, copy: &Path) -> Outcome<f64> {
    rustix::fs::sync();
    let start = Instant::now();
    capture(command, transfer_limit(BYTES))?;
    let took = start.elapsed().as_secs_f64();
    let count = count(copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    if count != FILES {
        return Err(format!("{count} of {FILES} files arrived"));
    }
    fs::remove_dir_all(copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    Ok(took)
}

fn fill(folder: &Path) -> std::io::Result<()> {
    for number in 0..FILES {
        let inner = folder.join(format!("folder{}", number % FOLDERS));
        fs::create_dir_all(&inner)?;
        // From a tenth of the mean to nearly twice of it.
        let bytes = BYTES / FILES * (number % 10 + 1) * 2 / 11;
        fs::write(inner.join(format!("file{number}")), vec![number as u8; bytes as usize])?;
    }
    Ok(())
}

/// Files in a folder and those in it.
fn count(folder: &Path) -> std::io::Result<u64> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        count += if path.is_dir() { self::count(&path)? } else { 1 };
    }
    Ok(count)
}
