//! Packages for Debian and for distributions with RPM. What is in them stands in `crates/cli/Cargo.toml`.

use super::{PACKAGE, Release};
use crate::chore::{Outcome, command, quiet};
use crate::tool::Tool;

/// Without its default features it compresses by the program `xz`.
const DEB: Tool =
    Tool { name: "cargo-deb", version: "3.8.0", arguments: &["--no-default-features"] };
const RPM: Tool = Tool { name: "cargo-generate-rpm", version: "0.21.1", arguments: &[] };

/// `recoup_VERSION-1_ARCHITECTURE.deb`.
pub(super) fn debian(release: &Release) -> Outcome {
    let mut deb = release.dated(command(DEB.install()?));
    deb.args(["--package", PACKAGE, "--no-build", "--no-strip", "--locked"]);
    quiet(deb.args(["--quiet", "--output"]).arg(release.files()))
}

/// `recoup-VERSION-1.ARCHITECTURE.rpm`.
pub(super) fn rpm(release: &Release) -> Outcome {
    let mut rpm = release.dated(command(RPM.install()?));
    rpm.args(["--package", "crates/cli", "--auto-req", "builtin", "--output"]);
    quiet(rpm.arg(release.files()))
}
