//! The Python package: its wheel, built and installed into fresh environments, and its tests.
//!
//! `target/python/tools` has the pinned tools of `python/requirements.txt`; `target/python/fresh` is made anew each time and has
//! the wheel alone.

use crate::artefact::{self, WHEEL};
use crate::chore::{Outcome, cargo, command, quiet, root, show, target_directory, watch};
use crate::leg::Tally;
use crate::peer::python;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest minor version of Python 3 that the wheel supports.
const OLDEST: u32 = 11;

/// A Python with the tools, as a virtual environment.
pub(crate) struct Tools {
    folder: PathBuf,
}

/// Installs the tools unless they are there already.
pub(crate) fn install() -> Outcome<Tools> {
    let python = python(OLDEST)?;
    let folder = target_directory()?.join("python");
    let tools = folder.join("tools");
    let list = root().join("python/requirements.txt");
    let wanted = fs::read_to_string(&list).map_err(|error| format!("requirements: {error}"))?;
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).ok().as_deref() != Some(&wanted) {
        println!("installing maturin and the tools of its tests into {}", tools.display());
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        environment(python, &tools)?;
        quiet(pip(&tools).arg("-r").arg(list))
            .map_err(|error| format!("the tools for Python could not be installed\n{error}"))?;
        fs::write(&stamp, wanted).map_err(|error| error.to_string())?;
    }
    Ok(Tools { folder })
}

impl Tools {
    /// Builds the wheel, checks the code, and runs the tests.
    pub(crate) fn check(&self, tally: &mut Tally) -> Outcome {
        let tools = self.folder.join("tools");
        self.check_code(&tools)?;
        let wheel = build(&tools)?;
        self.try_alone(&wheel)?;
        quiet(pip(&tools).args(["--force-reinstall", "--no-deps"]).arg(&wheel))?;
        // Away from the sources, which have no extension module beside them. Other modules are their own stubs.
        let mut stubs = run(&tools, "stubtest");
        quiet(stubs.args(["recoup._native", "--ignore-missing-stub"]).current_dir(&self.folder))?;
        test(&tools, "not heavy", tally)
    }

    /// Runs the tests that take long: notebooks, and sweeps on a cluster.
    pub(crate) fn check_heavy(&self, tally: &mut Tally) -> Outcome {
        let tools = self.folder.join("tools");
        let wheel = build(&tools)?;
        quiet(pip(&tools).args(["--force-reinstall", "--no-deps"]).arg(&wheel))?;
        test(&tools, "heavy", tally)
    }

    /// Installs the package with a command of a page, and runs the tests.
    pub(crate) fn check_package(&self, line: &str, tree: &Path, tally: &mut Tally) -> Outcome {
        println!("{line}");
        let tools = self.folder.join("tools");
        let _ = quiet(command(tools.join("bin/pip")).args(["uninstall", "--yes", "recoup"]));
        quiet(with_cargo(&mut artefact::spoken(line, tools.join("bin/pip"), tree)))?;
        test(&tools, "not heavy", tally)
    }

    /// Format, lints and types.
    fn check_code(&self, tools: &Path) -> Outcome {
        show(run(tools, "ruff").args(["format", "--check", "--quiet", "--no-cache", "."]))?;
        show(run(tools, "ruff").args(["check", "--quiet", "--no-cache", "."]))?;
        let cache = self.folder.join("mypy");
        quiet(run(tools, "mypy").arg("--cache-dir").arg(cache).arg("recoup"))
    }

    /// In an environment with nothing else, the command runs and the package is imported.
    fn try_alone(&self, wheel: &Path) -> Outcome {
        let fresh = self.folder.join("fresh");
        let _ = fs::remove_dir_all(&fresh);
        environment(python(OLDEST)?, &fresh)?;
        quiet(pip(&fresh).arg(wheel))?;
        quiet(command(fresh.join("bin/recoup")).arg("--version"))?;
        let probe = "import recoup, sys; sys.exit('numpy' in sys.modules)";
        quiet(command(fresh.join("bin/python")).args(["-c", probe]))
    }
}

/// Builds the wheel with the command of the page, from a copy of the files that git has.
fn build(tools: &Path) -> Outcome<PathBuf> {
    let tree = artefact::tree("artefacts/tree")?;
    let wheels = tree.join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    println!("{WHEEL}");
    quiet(with_cargo(&mut artefact::spoken(WHEEL, tools.join("bin/maturin"), &tree)))?;
    let entries = fs::read_dir(&wheels).map_err(|error| error.to_string())?;
    let mut found = entries.filter_map(|entry| Some(entry.ok()?.path()));
    found.next().ok_or_else(|| "maturin made no wheel".into())
}

/// A command that runs the cargo of this chore.
fn with_cargo(command: &mut Command) -> &mut Command {
    match cargo(&[]).get_program().to_str() {
        Some(cargo) => command.env("CARGO", cargo),
        None => command,
    }
}

/// Runs the tests with these marks.
fn test(tools: &Path, marks: &str, tally: &mut Tally) -> Outcome {
    let mut tests = run(tools, "pytest");
    watch(tests.args(["-p", "no:cacheprovider", "-m", marks]), |line| add_pytest(tally, line))
}

fn environment(python: &str, folder: &Path) -> Outcome {
    quiet(command(python).args(["-m", "venv"]).arg(folder)).map_err(|error| {
        format!("this Python cannot make a virtual environment (python3-venv missing?)\n{error}")
    })
}

fn pip(environment: &Path) -> Command {
    let mut pip = command(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip
}

/// A tool, run in the folder of the package.
fn run(environment: &Path, tool: &str) -> Command {
    let mut command = command(environment.join("bin").join(tool));
    command.current_dir(root().join("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Adds what the last line of pytest counts, such as `2 failed, 17 passed, 1 skipped in 3.20s`.
fn add_pytest(tally: &mut Tally, line: &str) {
    let line = line.trim_matches(['=', ' ']);
    let Some((counts, _)) = line.split_once(" in ") else { return };
    for count in counts.split(", ") {
        let Some((number, word)) = count.split_once(' ') else { continue };
        let Ok(number) = number.parse::<u64>() else { continue };
        match word {
            "passed" => tally.passed += number,
            "failed" | "error" | "errors" => tally.failed += number,
            "skipped" => tally.ignored += number,
            _ => {}
        }
    }
}
