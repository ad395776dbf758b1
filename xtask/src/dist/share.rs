//! Texts that the command writes about itself, and others beside it, as packages have them.

use super::{Release, copy, notice, write};
use crate::chore::{Outcome, capture, command, root, show};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// The shells, and what their completion scripts are called.
const SCRIPTS: [(&str, &str); 5] = [
    ("bash", "recoup.bash"),
    ("zsh", "_recoup"),
    ("fish", "recoup.fish"),
    ("elvish", "recoup.elv"),
    ("powershell", "recoup.ps1"),
];

/// Files of the tree that the RPM package has.
const AS_THEY_ARE: [&str; 6] = [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "packaging/recoup-forward.service",
    "packaging/recoup-hostapd-action.sh",
    "packaging/recoup-wpa-action.sh",
];

/// Writes man pages, completions, the list of changes and licences of linked libraries.
pub(super) fn write_texts(release: &Release) -> Outcome {
    let recoup = release.folder.join("recoup");
    let man = release.folder.join("man");
    let completions = release.folder.join("completions");
    let share = release.folder.join("share");
    for folder in [&completions, &share.join("man")] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    show(release.dated(Command::new(&recoup)).args(["generate", "man"]).arg(&man))?;
    for (shell, file) in SCRIPTS {
        let script = capture(Command::new(&recoup).args(["generate", "completions", shell]))?;
        write(&completions.join(file), script)?;
    }
    for page in fs::read_dir(&man).map_err(|error| format!("{}: {error}", man.display()))? {
        let page = page.map_err(|error| format!("{}: {error}", man.display()))?;
        compress(&page.path(), &share.join("man"))?;
    }
    let notices = release.folder.join("third-party.txt");
    write(&notices, notice::text()?)?;
    compress(&notices, &share)?;
    let changes = share.join("changelog");
    write(&changes, fs::read(root().join("CHANGELOG.md")).map_err(|error| error.to_string())?)?;
    compress(&changes, &share)?;
    let debian = share.join("changelog.Debian");
    let zone = ["-u", "-R", "-d", &format!("@{}", release.date)];
    let date = capture(command("date").env("LC_ALL", "C").args(zone))?;
    write(&debian, entry(&release.version, date.trim()))?;
    compress(&debian, &share)?;
    for file in AS_THEY_ARE.map(|file| root().join(file)) {
        copy(&file, &share.join(file.file_name().unwrap_or_default()))?;
    }
    date_all(&release.folder, SystemTime::UNIX_EPOCH + Duration::from_secs(release.date))
}

/// The list of changes that Debian wants of a package: its versions, by date.
fn entry(version: &str, date: &str) -> String {
    format!(
        "recoup ({version}-1) stable; urgency=medium\n\n  * Recoup {version}: see changelog.gz.\n\n \
         -- The Recoup developers <>  {date}\n"
    )
}

/// Gives all files in a folder one time, which packages of RPM take from them.
fn date_all(folder: &Path, date: SystemTime) -> Outcome {
    let error = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        match path.is_dir() {
            true => date_all(&path, date)?,
            false => File::open(&path).and_then(|file| file.set_modified(date)).map_err(error)?,
        }
    }
    Ok(())
}

/// Writes `folder/NAME.gz` without a time and a name in it.
fn compress(file: &Path, folder: &Path) -> Outcome {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let to = folder.join(format!("{name}.gz"));
    let output = File::create(&to).map_err(|error| format!("{}: {error}", to.display()))?;
    show(command("gzip").args(["-9", "-n", "-c"]).arg(file).stdout(output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_changes_have_this_version() {
        let changes = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert!(changes.contains(&format!("\n## {version}\n")), "CHANGELOG.md lacks {version}");
        assert!(entry("1.2.3", "Thu, 01 Jan 1970").starts_with("recoup (1.2.3-1) stable;"));
    }
}
