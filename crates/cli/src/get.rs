//! `recoup get`: what another machine of the local network shares.
mod args;
mod attempt;

pub(crate) use args::GetArgs;

use crate::error::{Exit, Failure};
use crate::fetch::{self, FetchArgs};
use crate::output;
use crate::stop::Stop;
use attempt::Attempts;
use recoup_packet::name::Name;
use std::path::PathBuf;
use std::time::Duration;

/// How long a face may give no content before others are tried.
const NO_PROGRESS: Duration = Duration::from_secs(10);
/// How long the others are tried then: as long as a fetch waits without progress, in all.
const FURTHER: Duration = Duration::from_secs(50);

/// Runs the command.
pub(crate) fn run(args: &GetArgs) -> Result<(), Failure> {
    let stop = Stop::polled()?;
    let mut attempts = Attempts::begin(&args.code, args.wait)?;
    let mut found = attempts.next(&stop)?;
    let mut fetch = FetchArgs::new(found.name.clone());
    fetch.options.verify = found.verify.clone();
    fetch.options.no_progress = NO_PROGRESS;
    fetch.face = Some(found.offer.face.clone());
    fetch.recursive = found.is_folder;
    (fetch.resume, fetch.restart) = (args.resume, args.restart);
    fetch.limit_rate = args.limit_rate;
    (fetch.quiet, fetch.json) = (args.quiet, args.json);
    fetch.output = Some(output(args, &fetch.name)?);
    // Its proof may have been a repetition of what another machine signed.
    fetch::run_by(fetch, &mut |failure| {
        if !matches!(failure.exit, Exit::TimedOut | Exit::Unreachable | Exit::NotFound) {
            return None;
        }
        attempts.set_aside(&found.offer, FURTHER);
        found = attempts.next(&stop).ok().filter(|other| other.name == found.name)?;
        Some(found.offer.face.clone())
    })
}

/// Where the content goes: by default into the current folder, under its own name as [`fetch`] would write it, and over
/// nothing that is there.
fn output(args: &GetArgs, name: &Name) -> Result<PathBuf, Failure> {
    if let Some(output) = &args.output {
        return Ok(output.clone());
    }
    let plain = fetch::file_name(name).ok_or_else(|| {
        Failure::new(Exit::Verification, "the share announces a name that no file can have")
            .advise("name a file with -o")
    })?;
    let path = PathBuf::from(&plain);
    let own = name.last().is_some_and(|last| last.value() == plain.as_bytes());
    if !own && !args.quiet {
        output::eprint(&format!("writing to {plain}"));
    }
    if path.symlink_metadata().is_ok() && !args.resume && !args.restart {
        let message = format!("{} exists", path.display());
        return Err(Failure::new(Exit::Local, message).advise("name another file with -o"));
    }
    Ok(path)
}
