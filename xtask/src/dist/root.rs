//! The packages in a clean Debian, the static program and the image in an empty root.

use super::Release;
use crate::chore::{Outcome, command, quiet, show, target_directory};
use std::fs;
use std::path::Path;

/// The release of Debian that the packages are tried in.
const SUITE: &str = "bookworm";

/// Packages that the trial needs beside the smallest system: shells for their completions, a reader of manuals.
const WANTED: &str = "man-db,zsh,fish,systemd,dbus";

/// Where a Debian machine has its sources of packages.
const SOURCES: &str = "/etc/apt/sources.list.d/debian.sources";

/// The trial, which prints its commands.
const SCRIPT: &str = include_str!("try.sh");

/// Makes a clean Debian, and runs the trial in namespaces without a network.
pub(super) fn try_out(release: &Release) -> Outcome {
    if !rustix::process::geteuid().is_root() {
        return Err("--try makes a file system with owners: it needs root".to_string());
    }
    let folder = target_directory()?.join("bundle-try");
    let clean = folder.join("clean.tar");
    if !clean.exists() {
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        make(&clean)?;
    }
    let root = folder.join("root");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    quiet(command("tar").arg("--extract").arg("--directory").arg(&root).arg("--file").arg(&clean))?;
    let mut trial = command("unshare");
    trial.args(["--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child", "--", "sh", "-c"]);
    trial.arg(SCRIPT).arg("try").arg(&root).arg(release.files()).arg(&release.version);
    let outcome = show(&mut trial);
    let _ = fs::remove_dir_all(&root);
    outcome
}

/// Makes the clean system from the package mirror of this machine.
fn make(archive: &Path) -> Outcome {
    println!("making a clean Debian {SUITE}");
    let mut make = command("mmdebstrap");
    let unfinished = archive.with_extension("part.tar");
    make.args(["--variant=minbase", &format!("--include={WANTED}"), SUITE]).arg(&unfinished);
    if Path::new(SOURCES).exists() {
        make.arg(SOURCES);
    }
    quiet(&mut make)
        .map_err(|error| format!("apt install mmdebstrap, if it is missing\n{error}"))?;
    fs::rename(&unfinished, archive).map_err(|error| format!("{}: {error}", archive.display()))
}
