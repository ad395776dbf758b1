//! `cargo xtask dist`: what a package ships beside the binary.

use crate::chore::{Outcome, capture, cargo, show, target_directory};
use std::fs;
use std::process::Command;

/// The shells, and what their completion scripts are called.
const SCRIPTS: [(&str, &str); 5] = [
    ("bash", "recoup.bash"),
    ("zsh", "_recoup"),
    ("fish", "recoup.fish"),
    ("elvish", "recoup.elv"),
    ("powershell", "recoup.ps1"),
];

/// Lets the command write its own man pages and shell completions into `target/dist`.
pub(crate) fn run() -> Outcome {
    let folder = target_directory()?.join("dist");
    let completions = folder.join("completions");
    fs::create_dir_all(&completions).map_err(|error| error.to_string())?;
    show(generate(&["man"]).arg(folder.join("man")))?;
    for (shell, file) in SCRIPTS {
        let script = capture(&mut generate(&["completions", shell]))?;
        fs::write(completions.join(file), script).map_err(|error| error.to_string())?;
    }
    println!("man pages and completions are in {}", folder.display());
    Ok(())
}

fn generate(what: &[&str]) -> Command {
    let mut recoup = cargo(&["run", "--quiet", "--release", "--package", "recoup", "--"]);
    recoup.arg("generate").args(what);
    recoup
}
