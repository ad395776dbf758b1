//! `recoup explain`: why a segment was late, from a folder of results.
mod args;

pub(crate) use args::ExplainArgs;

use crate::error::Failure;
use crate::output::{self, Stream};
use crate::terminal::path_line;
use args::parse_wanted;
use recoup_lab::explain::{Chosen, Kept, Story, explain, explain_slowest, page};
use recoup_studies::study::Scale;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let kept = Kept::open(&args.result, args.files.as_deref(), built_in())?;
    let chosen = kept.choose(&args.at, args.seed)?;
    if let Some(path) = &args.page {
        return output::print(format!("{}\n", show(&kept, &chosen, path)?).as_bytes());
    }
    let application = args.application.as_deref();
    let Some(segment) = &args.segment else {
        let most = args.worst.unwrap_or(1).into();
        let (consumer, stories) = explain_slowest(&kept, &chosen, application, most)?;
        return match args.json {
            true => output::json(&stories, Stream::Out),
            false => output::print(verdicts(args, &consumer, &stories).as_bytes()),
        };
    };
    let wanted = parse_wanted(segment)?;
    let (consumer, story) = explain(&kept, &chosen, application, wanted)?;
    let story = story.ok_or_else(|| {
        Failure::usage(format!("{consumer} never requested {segment}"))
            .advise("segments count from 0; a name is that of a Data packet")
    })?;
    match args.json {
        true => output::json(&story, Stream::Out),
        false => output::print(story.to_string().as_bytes()),
    }
}

/// Writes the page of a run; returns a line about it.
pub(crate) fn show(kept: &Kept, chosen: &Chosen, path: &Path) -> Result<String, Failure> {
    let extent = page(kept, chosen, path)?;
    Ok(format!("page: {}; {extent}", path_line(path)))
}

/// A line for each of the slowest segments, and how to see more of the first.
fn verdicts(args: &ExplainArgs, consumer: &str, stories: &[Story]) -> String {
    let Some(worst) = stories.first() else { return format!("{consumer} requested nothing\n") };
    let width = stories.iter().map(|it| it.segment().to_string().len()).max().unwrap_or(0);
    let line =
        |story: &Story| format!("segment {:>width$}  {}\n", story.segment(), story.verdict());
    let lines: String = stories.iter().map(line).collect();
    let result = args.result.display();
    format!("{lines}\nfor the timeline of the first: recoup explain {result} {}\n", worst.segment())
}

/// Files that scenarios of studies name.
pub(crate) fn built_in() -> Vec<(&'static str, &'static str)> {
    let studies = recoup_studies::all().into_iter();
    let experiments = studies.flat_map(|study| study.experiments(Scale::Check));
    experiments.flat_map(|experiment| experiment.files).copied().collect()
}
