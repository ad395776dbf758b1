//! Basics of every chore: the folder of the tree, and running commands.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A chore succeeds, or fails with one message.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// The root of the source tree.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A command run from the root of the tree.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The cargo that runs this chore.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments);
    cargo
}

/// `cargo metadata` of this workspace, without dependencies of dependencies.
pub(crate) fn metadata() -> Outcome<Value> {
    let text = capture(&mut cargo(&["metadata", "--format-version=1", "--no-deps"]))?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

/// The folder of a package of this workspace.
pub(crate) fn package(name: &str) -> Outcome<PathBuf> {
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages.into_iter().find(|it| it["name"] == name);
    let manifest = manifest.and_then(|it| it["manifest_path"].as_str());
    let folder = manifest.and_then(|path| Path::new(path).parent());
    folder.map(Path::to_path_buf).ok_or_else(|| format!("the workspace has no package {name}"))
}

/// The files that git has, or would add, among those of these patterns; by default all.
pub(crate) fn files(patterns: &[&str]) -> Outcome<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let list = capture(command("git").args(arguments).args(patterns))?;
    let there = list.split_terminator('\0').filter(|path| root().join(path).is_file());
    Ok(there.map(str::to_owned).collect())
}

/// The folder that cargo builds into.
pub(crate) fn target_directory() -> Outcome<PathBuf> {
    let metadata = metadata()?;
    let directory = metadata["target_directory"].as_str();
    directory.map(PathBuf::from).ok_or_else(|| "cargo metadata names no target folder".into())
}

/// Runs a command; its output is shown only if it fails.
pub(crate) fn quiet(command: &mut Command) -> Outcome {
    capture(command).map(drop)
}

/// Runs a command and returns its standard output.
pub(crate) fn capture(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| format!("{}: {error}", spelled(command)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} failed ({}):\n{}", spelled(command), output.status, printed.trim_end()))
}

/// Runs a command in the open.
pub(crate) fn show(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("{}: {error}", spelled(command)))?;
    finish(command, status)
}

/// Runs a command in the open and hands each line of its standard output to `watch` as well.
pub(crate) fn watch(command: &mut Command, mut watch: impl FnMut(&str)) -> Outcome {
    command.stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", spelled(command)))?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            watch(&line);
        }
    }
    let status = child.wait().map_err(|error| format!("{}: {error}", spelled(command)))?;
    finish(command, status)
}

fn finish(command: &Command, status: std::process::ExitStatus) -> Outcome {
    if status.success() {
        return Ok(());
    }
    Err(format!("{} failed ({status})", spelled(command)))
}

/// The command as a user types it, without the folder of its program.
pub(crate) fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
