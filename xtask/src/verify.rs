//! `cargo xtask verify KEY`: whether a kept result of a study can be made again.
//!
//! Runs of `docs/studies/KEY` are drawn at random, made again from scratch, and their digests compared
//! (`recoup study verify`). The leg `verify` of `cargo xtask test` does it for each study within a budget of time.
//! Results that were kept without digests are named as stale.

use crate::chore::{Outcome, command, root, show};
use crate::digest;
use std::path::{Path, PathBuf};

/// Kept results, one folder a study.
const STUDIES: &str = "docs/studies";
/// The file with the digests of a kept result.
const DIGESTS: &str = "digests.csv";
/// Seconds of runs that the leg spends on each study.
const SECONDS: &str = "7";

/// `KEY [--runs N] [--draw SEED] …`: options of `recoup study verify`.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let Some((key, options)) = arguments.split_first().filter(|(key, _)| !key.starts_with('-'))
    else {
        return Err(
            "usage: cargo xtask verify KEY [--runs N] [--draw SEED] [--seconds N] [--jobs N]"
                .into(),
        );
    };
    verify(&digest::binary()?, key, options)
}

fn verify(binary: &Path, key: &str, options: &[&str]) -> Outcome {
    let mut verify = command(binary);
    verify.args(["study", "verify", key, "--kept"]).arg(folder(key)).args(options);
    show(&mut verify)
}

fn folder(key: &str) -> PathBuf {
    Path::new(STUDIES).join(key)
}

/// Fails if a run of a kept result differs today; returns the studies whose results have no digests.
pub(crate) fn check() -> Outcome<Vec<String>> {
    let binary = digest::binary()?;
    let mut stale = Vec::new();
    let mut failed = Vec::new();
    for path in digest::sorted(&root().join(STUDIES))?.iter().filter(|path| path.is_dir()) {
        let key = digest::file_name(path);
        if !path.join(DIGESTS).exists() {
            println!("{key}: stale, its result was kept without digests");
            stale.push(key);
        } else if let Err(error) = verify(&binary, &key, &["--seconds", SECONDS]) {
            failed.push(error);
        }
    }
    match failed.is_empty() {
        true => Ok(stale),
        false => Err(failed.join("\n")),
    }
}
