//! The command, built for this system with its C library, and with musl for any Linux.
//!
//! Panic messages hold the paths of source files. To hide the machine and its user, the build
//! replaces private folders, and its output is searched for them. Cargo's `trim-paths` would
//! replace them, but is not stable.

use super::{PACKAGE, Release, copy, guide};
use crate::chore::{Outcome, cargo, command, quiet, root, show, target_directory};
use crate::targets;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The features of a released command, beside the default ones.
pub(crate) const FEATURES: &str = "gateway";

/// Cargo's name of this machine with a C library.
pub(super) fn target(library: &str) -> String {
    format!("{}-unknown-linux-{library}", std::env::consts::ARCH)
}

/// Purpose of a build.
pub(super) enum Build {
    /// For the release, by this profile if there is one.
    Release(Option<PathBuf>),
    /// To make a profile: each run writes its counts into this folder.
    Counted(PathBuf),
}

/// Builds both programs and copies them into the folder of the release.
pub(super) fn build(release: &Release) -> Outcome {
    let musl = target("musl");
    prepare(&musl)?;
    let profile = if release.is_guided { Some(guide::profile(release)?) } else { None };
    let purpose = Build::Release(profile);
    let fixed = release.folder.join("static");
    fs::create_dir_all(&fixed).map_err(|error| format!("{}: {error}", fixed.display()))?;
    copy(
        &without_paths(compile(release, &target("gnu"), &purpose)?)?,
        &release.folder.join("recoup"),
    )?;
    let program = without_paths(compile(release, &musl, &purpose)?)?;
    let bytes = fs::read(&program).map_err(|error| format!("{}: {error}", program.display()))?;
    if names_a_loader(&bytes) {
        return Err(format!("{} needs a dynamic loader: it is not static", program.display()));
    }
    copy(&program, &fixed.join("recoup"))
}

/// Makes sure of the parts that the toolchain and the system need for musl.
fn prepare(target: &str) -> Outcome {
    if quiet(command("musl-gcc").arg("--version")).is_err() {
        return Err("the static program needs musl-gcc: apt install musl-tools".to_string());
    }
    targets::install(target)
}

/// Builds the command, in a folder of its own since other flags make other objects.
pub(super) fn compile(release: &Release, target: &str, purpose: &Build) -> Outcome<PathBuf> {
    let folders = private_folders()?;
    let (folder, flag) = match purpose {
        Build::Release(None) => ("bundle-build", None),
        Build::Release(Some(profile)) => ("bundle-guided", Some(("-Cprofile-use=", profile))),
        Build::Counted(counts) => ("bundle-counted", Some(("-Cprofile-generate=", counts))),
    };
    let folder = target_directory()?.join(folder);
    let Release { profile, .. } = release;
    let mut build = release.dated(cargo(&["build", "--locked", "--package", PACKAGE]));
    build.args(["--features", FEATURES, "--profile", profile, "--target", target]);
    build.arg("--target-dir").arg(&folder);
    // Names of functions would be a third of the program.
    build.arg("--config").arg(format!("profile.{profile}.strip=\"symbols\""));
    let map = |option: &str, (from, to): &(PathBuf, &str)| {
        let mut flag = OsString::from(option);
        flag.push(from);
        flag.push(format!("={to}"));
        flag
    };
    let guide = flag.map(|(option, path)| {
        let mut flag = OsString::from(option);
        flag.push(path);
        flag
    });
    let hidden = folders.iter().map(|it| map("--remap-path-prefix=", it));
    let rust = flags("RUSTFLAGS", hidden.chain(guide));
    build.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", rust.join(OsStr::new("\x1f")));
    let c = flags("CFLAGS", folders.iter().map(|it| map("-ffile-prefix-map=", it)));
    build.env("CFLAGS", c.join(OsStr::new(" ")));
    show(&mut build)?;
    Ok(folder.join(target).join(profile).join("recoup"))
}

/// The program, unless it holds private paths.
fn without_paths(recoup: PathBuf) -> Outcome<PathBuf> {
    let program = fs::read(&recoup).map_err(|error| format!("{}: {error}", recoup.display()))?;
    match private_folders()?.iter().find_map(|(folder, _)| path_below(&program, folder)) {
        None => Ok(recoup),
        Some(path) => Err(format!("the command holds a path of this machine: {path}")),
    }
}

/// Folders that must not stand in a program, and their replacements; of two that match the compiler takes the later one.
pub(crate) fn private_folders() -> Outcome<Vec<(PathBuf, &'static str)>> {
    let home = std::env::home_dir().filter(|home| home.components().count() > 1);
    let registry = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let registry = registry.or_else(|| Some(home.as_ref()?.join(".cargo")));
    let mut folders: Vec<_> = home.map(|home| (home, "/home")).into_iter().collect();
    folders.extend(registry.map(|registry| (registry, "/cargo")));
    folders.push((root(), "/recoup"));
    Ok(folders)
}

/// The flags in a variable of the environment, and more.
fn flags(variable: &str, more: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let given = std::env::var(variable).unwrap_or_default();
    given.split_whitespace().map(OsString::from).chain(more).collect()
}

/// The first path in a program that lies in `folder`.
pub(crate) fn path_below(program: &[u8], folder: &Path) -> Option<String> {
    let beginning = [folder.as_os_str().as_bytes(), b"/"].concat();
    let at = program.windows(beginning.len()).position(|piece| piece == beginning)?;
    let path = program.get(at..)?.iter().take(200);
    let path = path.take_while(|byte| byte.is_ascii_graphic());
    Some(path.map(|byte| char::from(*byte)).collect())
}

/// Whether an ELF program has a segment that names its dynamic loader.
fn names_a_loader(program: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    let number = |at: usize, size: usize| -> Option<u64> {
        let bytes = program.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    };
    // Little-endian ELF of 64 bits: the table's place, the size of its rows and their number.
    let table = || Some((number(32, 8)?, number(54, 2)?, number(56, 2)?));
    let Some((start, size, rows)) = table() else {
        return false;
    };
    let kind = |row: u64| number(usize::try_from(start + row * size).ok()?, 4);
    (0..rows).any(|row| kind(row) == Some(u64::from(INTERPRETER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_path_in_a_program_is_found() {
        let program = b"\x7fELF\0src/main.rs\0/home/alice/.cargo/registry/x.rs\0/home/alicex/y";
        let found = |folder: &str| path_below(program, Path::new(folder));
        assert_eq!(found("/home/alice").as_deref(), Some("/home/alice/.cargo/registry/x.rs"));
        assert_eq!(found("/home/bob"), None);
        assert_eq!(found("/home/ali"), None, "only whole components count");
    }

    #[test]
    fn a_dynamic_program_names_its_loader() {
        let mut program = vec![0; 64 + 2 * 56];
        program[32] = 64;
        program[54] = 56;
        program[56] = 2;
        program[64] = 1;
        assert!(!names_a_loader(&program));
        program[64 + 56] = 3;
        assert!(names_a_loader(&program));
        assert!(!names_a_loader(b"\x7fELF"));
    }
}
