//! `recoup sim`: scenarios, in simulated time.
//!
//! The parts of it serve whoever runs scenarios: a [`source::Source`] is read, a [`campaign::Campaign`]
//! makes the runs of it on all cores and keeps them in a [`folder::ResultFolder`], a
//! [`report::Report`] sums them up.
pub(crate) mod args;
pub(crate) mod campaign;
mod digest;
mod explain;
pub(crate) mod folder;
pub(crate) mod journal;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod source;
mod table;

pub(crate) use args::SimArgs;

use crate::error::Failure;
use crate::output::{self, Stream};
use crate::stop::Stop;
use args::Format;
use campaign::{Campaign, Manner};
use progress::Progress;
use report::Report;
use run::Worlds;
use source::Source;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

/// Runs the command.
pub(crate) fn run(args: &SimArgs) -> Result<(), Failure> {
    if args.format == Format::Parquet && cfg!(not(feature = "parquet")) {
        return Err(Failure::usage("this recoup was built without the feature `parquet`")
            .advise("use --format csv"));
    }
    let source = Source::open(&args.file, &args.settings)?;
    let campaign = Campaign::new(&source, args.seeds.as_ref())?;
    let jobs = args.jobs.map_or_else(cores, NonZeroUsize::get);
    if args.explain {
        return explain::explain(&source, &campaign, jobs, args);
    }
    if !args.quiet {
        warn(&campaign);
    }
    let out = args.out.clone().unwrap_or_else(|| default_folder(&args.file));
    let stop = Stop::polled()?;
    let mut folder = campaign.folder(&out, args.fresh, args.format)?;
    let mut progress = Progress::new(!args.quiet);
    let manner = Manner { jobs, stop: &stop };
    let result = campaign.run(&mut folder, manner, &Worlds, &mut progress);
    let elapsed = progress.finish();
    result?;
    let (name, title) = (&source.name, source.file.title());
    let report = Report::new(name, title, &campaign, &folder, progress.made, &args.show);
    if args.json {
        return output::json(&report, Stream::Out);
    }
    if !args.quiet {
        output::print(format!("{report}\n").as_bytes())?;
        if progress.made > 0 {
            let speed = report::speed(elapsed, progress.hops, progress.busy_s);
            let runs = if progress.made == 1 { "run" } else { "runs" };
            output::tell(&format!("{} {runs} in {speed}", progress.made));
        }
    }
    Ok(())
}

/// What is allowed and probably not meant, once for all points.
fn warn(campaign: &Campaign) {
    let mut said: Vec<String> = Vec::new();
    for stage in &campaign.points {
        let seed = campaign.seeds.first().copied().unwrap_or_default();
        let Ok(network) = stage.scenario.network(seed) else { continue };
        for warning in stage.scenario.warnings(&network) {
            if !said.contains(&warning) {
                output::tell(&format!("warning: {warning}"));
                said.push(warning);
            }
        }
    }
}

pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// `line.toml` has its results in `line-results`.
fn default_folder(file: &Path) -> PathBuf {
    let stem = file.file_stem().filter(|stem| *stem != "-").map(|stem| stem.to_string_lossy());
    PathBuf::from(format!("{}-results", stem.as_deref().unwrap_or("sim")))
}
