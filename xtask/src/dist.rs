//! `cargo xtask dist`: what a package ships beside the binary.

use crate::chore::{Outcome, cargo, show, target_directory};

/// Lets the command write its own man pages and shell completions into `target/dist`.
pub(crate) fn run() -> Outcome {
    let folder = target_directory()?.join("dist");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut recoup = cargo(&["run", "--quiet", "--release", "--package", "recoup", "--"]);
    show(recoup.arg("generate").arg(&folder))?;
    println!("man pages and completions are in {}", folder.display());
    Ok(())
}
