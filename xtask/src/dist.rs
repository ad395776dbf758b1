//! `cargo xtask dist`: what a package ships: the command, man pages and shell completions.
//!
//! Panic messages hold the paths of source files. To hide the machine and its user, the build
//! replaces private folders, and its output is searched for them. Cargo's `trim-paths` would
//! replace them, but is not stable.

use crate::chore::{Outcome, capture, cargo, root, show, target_directory};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shells, and what their completion scripts are called.
const SCRIPTS: [(&str, &str); 5] = [
    ("bash", "recoup.bash"),
    ("zsh", "_recoup"),
    ("fish", "recoup.fish"),
    ("elvish", "recoup.elv"),
    ("powershell", "recoup.ps1"),
];

/// Builds the command, and lets it write its own man pages and shell completions, all into `target/bundle`.
pub(crate) fn run() -> Outcome {
    let target = target_directory()?;
    let folder = target.join("bundle");
    let completions = folder.join("completions");
    fs::create_dir_all(&completions).map_err(|error| error.to_string())?;
    let recoup = folder.join("recoup");
    let built = build(&target)?;
    fs::copy(&built, &recoup).map_err(|error| format!("{}: {error}", built.display()))?;
    show(Command::new(&recoup).args(["generate", "man"]).arg(folder.join("man")))?;
    for (shell, file) in SCRIPTS {
        let script = capture(Command::new(&recoup).args(["generate", "completions", shell]))?;
        fs::write(completions.join(file), script).map_err(|error| error.to_string())?;
    }
    println!("the command, man pages and completions are in {}", folder.display());
    Ok(())
}

/// Builds the command without private paths, in a folder of its own since other flags make other objects.
fn build(target: &Path) -> Outcome<PathBuf> {
    let folders = private_folders()?;
    let folder = target.join("bundle-build");
    let mut build = cargo(&["build", "--profile", "dist", "--locked", "--package", "recoup-cli"]);
    build.args(["--features", "gateway"]).arg("--target-dir").arg(&folder);
    let map = |option: &str, (from, to): &(PathBuf, &str)| {
        let mut flag = OsString::from(option);
        flag.push(from);
        flag.push(format!("={to}"));
        flag
    };
    let rust = flags("RUSTFLAGS", folders.iter().map(|it| map("--remap-path-prefix=", it)));
    build.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", rust.join(OsStr::new("\x1f")));
    let c = flags("CFLAGS", folders.iter().map(|it| map("-ffile-prefix-map=", it)));
    build.env("CFLAGS", c.join(OsStr::new(" ")));
    show(&mut build)?;
    let recoup = folder.join("dist/recoup");
    let program = fs::read(&recoup).map_err(|error| format!("{}: {error}", recoup.display()))?;
    match folders.iter().find_map(|(folder, _)| path_below(&program, folder)) {
        None => Ok(recoup),
        Some(path) => Err(format!("the command holds a path of this machine: {path}")),
    }
}

/// Folders that must not stand in a program, and their replacements; of two that match the compiler takes the later one.
fn private_folders() -> Outcome<Vec<(PathBuf, &'static str)>> {
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
fn path_below(program: &[u8], folder: &Path) -> Option<String> {
    let beginning = [folder.as_os_str().as_bytes(), b"/"].concat();
    let at = program.windows(beginning.len()).position(|piece| piece == beginning)?;
    let path = program.get(at..)?.iter().take(200);
    let path = path.take_while(|byte| byte.is_ascii_graphic());
    Some(path.map(|byte| char::from(*byte)).collect())
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
    fn the_container_is_built_by_the_pinned_toolchain() {
        let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
        let toolchain = read("rust-toolchain.toml");
        let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = ")).unwrap();
        let channel = channel.trim_matches('"');
        let container = read("packaging/Containerfile");
        assert!(
            container.contains(&format!("FROM docker.io/library/rust:{channel}-slim-bookworm AS"))
        );
        assert!(container.contains(&format!("RUSTUP_TOOLCHAIN={channel}\n")));
    }
}
