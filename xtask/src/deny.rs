//! Checks dependencies against `deny.toml` by a pinned cargo-deny in `target/tools`.

use crate::chore::{Outcome, cargo, command, quiet};
use crate::tool::Tool;
use std::path::{Path, PathBuf};

/// If this is set in the environment, a cargo-deny that cannot be installed is a failure, not a skip.
pub(crate) const REQUIRE: &str = "RECOUP_REQUIRE_DENY";

/// The program that checks.
const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", arguments: &[] };

/// The checks that need no network; `advisories` fetches a database.
const CHECKS: [&str; 3] = ["licenses", "bans", "sources"];

/// Installs cargo-deny unless it is there already, and returns its path.
pub(crate) fn install() -> Outcome<PathBuf> {
    DENY.install()
}

/// Checks the tree of dependencies.
pub(crate) fn check(tool: &Path) -> Outcome {
    // Of all systems: cargo-deny itself does without a network.
    quiet(&mut cargo(&["fetch", "--locked"]))?;
    let mut deny = command(tool);
    deny.args(["--offline", "--locked", "check", "--hide-inclusion-graph"]).args(CHECKS);
    crate::chore::show(&mut deny)
}
