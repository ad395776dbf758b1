//! `cargo xtask dist`: the files of a release, in `target/bundle`.
//!
//! | folder or file | content |
//! |---|---|
//! | `recoup`, `man`, `completions` | the command, and what it writes about itself |
//! | `static/recoup` | the command with musl, without any library |
//! | `share` | files as packages have them: compressed, with fixed names |
//! | `release` | packages, archives, the bill of materials and `SHA256SUMS` |
//!
//! The bytes depend on the commit and the versions of the tools alone: times are that of the
//! commit, and paths of the machine are replaced. `--twice` proves it. `--guided` gives that up for speed ([`guide`]).

mod archive;
mod bill;
mod guide;
mod notice;
mod package;
pub(crate) mod program;
mod root;
mod share;
mod twice;

use crate::chore::{Outcome, capture, command, metadata, root};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package of the command.
const PACKAGE: &str = "recoup-cli";

/// Builds everything; see [`Plan`].
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let plan = Plan::parse(arguments)?;
    let release = Release::new(&plan)?;
    build(&release)?;
    if plan.twice {
        twice::compare(&release, &plan)?;
    }
    if plan.try_out {
        root::try_out(&release)?;
    }
    Ok(())
}

/// The options of the chore.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// Cargo's profile of the programs.
    profile: String,
    /// The address of the folder where the release files will be, for the Homebrew formula.
    url: Option<String>,
    /// Arrange the programs by a profile of the command at work.
    is_guided: bool,
    /// Build in a second folder as well, and compare each file.
    twice: bool,
    /// Install, run and remove the packages in a clean Debian.
    try_out: bool,
}

impl Plan {
    fn parse(arguments: &[&str]) -> Outcome<Self> {
        let profile = "dist".to_string();
        let mut plan = Self { profile, url: None, is_guided: false, twice: false, try_out: false };
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let mut value = |meaning: &str| {
                let value = rest.next().filter(|value| !value.starts_with('-'));
                value.map(ToString::to_string).ok_or_else(|| format!("{word} needs {meaning}"))
            };
            match *word {
                "--profile" => plan.profile = value("a profile of Cargo.toml")?,
                "--url" => plan.url = Some(value("the address of a folder")?),
                "--guided" => plan.is_guided = true,
                "--twice" => plan.twice = true,
                "--try" => plan.try_out = true,
                other => {
                    return Err(format!(
                        "dist has no {other:?}; there are --profile, --url, --guided, --twice and --try"
                    ));
                }
            }
        }
        if plan.is_guided && plan.twice {
            return Err(
                "a guided release is not the same twice; leave out --guided or --twice".into()
            );
        }
        Ok(plan)
    }
}

/// Values that all parts of a release share.
struct Release {
    version: String,
    profile: String,
    url: Option<String>,
    is_guided: bool,
    /// Seconds since 1970 of the commit, or of the variable `SOURCE_DATE_EPOCH`.
    date: u64,
    /// `target/bundle`: a fixed place, since manifests name it.
    folder: PathBuf,
}

impl Release {
    fn new(plan: &Plan) -> Outcome<Self> {
        let metadata = metadata()?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.into_iter().find(|package| package["name"] == PACKAGE);
        let version = package.and_then(|package| package["version"].as_str());
        Ok(Self {
            version: version.ok_or("cargo metadata has no version of the command")?.to_string(),
            profile: plan.profile.clone(),
            url: plan.url.clone(),
            is_guided: plan.is_guided,
            date: date()?,
            folder: root().join("target/bundle"),
        })
    }

    /// The folder of the files that are delivered.
    fn files(&self) -> PathBuf {
        self.folder.join("release")
    }

    /// A command that takes times from the commit.
    fn dated(&self, mut command: Command) -> Command {
        command.env("SOURCE_DATE_EPOCH", self.date.to_string());
        command
    }

    /// The date as one point in time, like `2026-11-26T09:00:00Z`.
    fn iso_date(&self) -> Outcome<String> {
        let at = format!("@{}", self.date);
        let printed = capture(command("date").args(["-u", "-d", &at, "+%Y-%m-%dT%H:%M:%SZ"]))?;
        Ok(printed.trim().to_string())
    }

    /// The name of the folder in an archive, and of the archive without its ending.
    fn stem(&self, system: Option<&str>) -> String {
        match system {
            Some(system) => format!("recoup-{}-{}-{system}", self.version, std::env::consts::ARCH),
            None => format!("recoup-{}", self.version),
        }
    }
}

/// The date of the release, which stands for all times in its files.
fn date() -> Outcome<u64> {
    let text = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text,
        Err(_) => capture(command("git").args(["log", "-1", "--format=%ct"]))?,
    };
    text.trim().parse().map_err(|_| format!("{text:?} is no number of seconds since 1970"))
}

fn build(release: &Release) -> Outcome {
    let files = release.files();
    let _ = fs::remove_dir_all(&release.folder);
    for folder in [&files, &release.folder.join("empty")] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    program::build(release)?;
    share::write_texts(release)?;
    package::debian(release)?;
    package::rpm(release)?;
    archive::binary(release)?;
    archive::source(release)?;
    archive::formula(release)?;
    archive::image(release)?;
    bill::write_bill(release)?;
    let sums = sums(&files)?;
    for (name, size, _) in &sums {
        println!("{:>12} {name}", format!("{size} bytes"));
    }
    let lines: String = sums.iter().map(|(name, _, sum)| format!("{sum}  {name}\n")).collect();
    write(&files.join("SHA256SUMS"), lines)?;
    println!("the release is in {}", files.display());
    Ok(())
}

/// Name, size and SHA-256 digest of each file of a folder, by name.
fn sums(folder: &Path) -> Outcome<Vec<(String, usize, String)>> {
    let error = |error| format!("{}: {error}", folder.display());
    let mut sums = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let bytes = fs::read(entry.path()).map_err(error)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        sums.push((name, bytes.len(), digest(&bytes)));
    }
    sums.sort();
    Ok(sums)
}

/// The SHA-256 digest of bytes, in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> Outcome {
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_any_order() {
        let plan = Plan::parse(&["--try", "--profile", "release"]).unwrap();
        assert_eq!((plan.profile.as_str(), plan.try_out, plan.twice), ("release", true, false));
        assert_eq!(Plan::parse(&[]).unwrap().profile, "dist");
        assert!(Plan::parse(&["--profile", "--try"]).unwrap_err().contains("needs a profile"));
        assert!(Plan::parse(&["deb"]).is_err());
        assert!(Plan::parse(&["--guided"]).unwrap().is_guided);
        assert!(Plan::parse(&["--guided", "--twice"]).is_err());
    }

    #[test]
    fn digest_is_that_of_the_standard() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(b""), empty);
    }
}
