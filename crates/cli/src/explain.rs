//! `recoup explain`: why a segment was late, from a folder of results.
mod args;

pub(crate) use args::ExplainArgs;

use crate::error::Failure;
use crate::output::{self, Stream};
use args::parse_wanted;
use recoup_lab::explain::{Kept, explain};
use recoup_studies::study::Scale;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let wanted = parse_wanted(&args.segment)?;
    let kept = Kept::open(&args.result, args.files.as_deref(), built_in())?;
    let chosen = kept.choose(&args.at, args.seed)?;
    let (consumer, story) = explain(&kept, &chosen, args.application.as_deref(), wanted)?;
    let story = story.ok_or_else(|| {
        Failure::usage(format!("{consumer} never requested {}", args.segment))
            .advise("segments count from 0; a name is that of a Data packet")
    })?;
    match args.json {
        true => output::json(&story, Stream::Out),
        false => output::print(story.to_string().as_bytes()),
    }
}

/// Files that scenarios of studies name.
fn built_in() -> Vec<(&'static str, &'static str)> {
    let studies = recoup_studies::all().into_iter();
    let experiments = studies.flat_map(|study| study.experiments(Scale::Check));
    experiments.flat_map(|experiment| experiment.files).copied().collect()
}
