//! Programs of other projects that chores run: pinned, built once, in `target/tools`.

use crate::chore::{Outcome, capture, cargo, command, quiet, target_directory};
use std::fs;
use std::path::{Path, PathBuf};

/// A program that `cargo install` builds.
pub(crate) struct Tool {
    /// The package, which is also the name of its program, but for an ending `-cli`.
    pub(crate) name: &'static str,
    /// The version that is installed.
    pub(crate) version: &'static str,
    /// Further arguments of `cargo install`.
    pub(crate) arguments: &'static [&'static str],
}

impl Tool {
    /// Installs the program unless its version is there already, and returns its path.
    pub(crate) fn install(&self) -> Outcome<PathBuf> {
        let Self { name, version, .. } = self;
        let folder = target_directory()?.join("tools");
        let program = folder.join("bin").join(self.program());
        if self.is_installed(&program) {
            return Ok(program);
        }
        println!("installing {name} {version} into {}", folder.display());
        let build = folder.join(format!("build-{name}"));
        // A registry may lack what the lock file of a program names.
        let installed = self.build(&folder, &build, &["--locked"]);
        let installed = installed.or_else(|_| self.build(&folder, &build, &[]));
        // Objects of a program that is built once.
        let _ = fs::remove_dir_all(&build);
        installed.map_err(|error| format!("{name} cannot be installed\n{error}"))?;
        Ok(program)
    }

    fn build(&self, folder: &Path, build: &Path, locked: &[&str]) -> Outcome {
        let Self { name, version, arguments } = self;
        let mut install = cargo(&["install", name, "--quiet", "--debug"]);
        install.args(locked).args(*arguments).args(["--version", version, "--root"]).arg(folder);
        quiet(install.arg("--target-dir").arg(build))
    }

    fn program(&self) -> &'static str {
        self.name.trim_end_matches("-cli")
    }

    fn is_installed(&self, program: &Path) -> bool {
        let answer = capture(command(program).arg("--version")).unwrap_or_default();
        answer.trim_end().trim_start_matches(self.program()).trim_matches([' ', 'v'])
            == self.version
    }
}
