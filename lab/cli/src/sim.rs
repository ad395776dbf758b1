//! `recoup sim`: scenarios, in simulated time.
pub(crate) mod args;
mod figures;
pub(crate) mod progress;

pub(crate) use args::SimArgs;

use crate::error::Failure;
use crate::explain::{built_in, show};
use crate::output::{self, Stream};
use crate::running;
use crate::stop::Stop;
use crate::terminal::path_line;
use progress::Progress;
use recoup_lab::campaign::{Campaign, Runner, Share};
use recoup_lab::executor::{Executor, Threads};
use recoup_lab::explain::Kept;
use recoup_lab::preview::Preview;
use recoup_lab::pulse::Pulse;
use recoup_lab::report::{self, DRAWN, Report};
use recoup_lab::simulate::{Followed, Simulations};
use recoup_lab::source::Source;
use recoup_lab::table::Format;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// Runs the command.
pub(crate) fn run(args: &SimArgs) -> Result<(), Failure> {
    if args.format == Format::Parquet && cfg!(not(feature = "parquet")) {
        return Err(Failure::usage("this recoup was built without the feature `parquet`")
            .advise("use --format csv"));
    }
    let source = Source::open(&args.file, &args.settings)?;
    let out = args.out.clone().unwrap_or_else(|| default_folder(args));
    let mut campaign = match args.explain || args.fresh {
        true => Campaign::new(&source, args.seeds.as_ref())?,
        false => Campaign::in_folder(&source, args.seeds.as_ref(), &out)?,
    };
    campaign.share = args.shard;
    let threads = threads(args.jobs);
    if args.explain {
        let seeds = args.seeds.as_ref().unwrap_or(source.file.seeds());
        let preview = Preview::new(&source, &campaign, seeds, threads.parallelism())?;
        return match args.json {
            true => output::json(&preview, Stream::Out),
            false => output::print(preview.to_string().as_bytes()),
        };
    }
    if !args.quiet {
        let warnings = campaign.warnings.iter();
        warnings.for_each(|warning| output::eprint(&format!("warning: {warning}")));
    }
    let stop = Stop::polled()?;
    let mut folder = campaign.folder(&out, args.fresh, args.format)?;
    for other in &args.merge {
        let merged = campaign.merge(&mut folder, other)?;
        if !args.quiet {
            output::eprint(&format!("{}: {merged} runs taken over", path_line(other)));
        }
    }
    let mut progress = Progress::new(!args.quiet);
    let pulse = Arc::new(Pulse::default());
    let followed = Followed(&pulse);
    let mut runner: &dyn Runner = &Simulations;
    if args.live {
        progress = progress.with_live_view(Arc::clone(&pulse));
        runner = &followed;
    }
    let result = running::campaign(&stop, &threads, |execution| {
        campaign.run(&mut folder, execution, runner, &mut progress)
    });
    let elapsed = progress.finish();
    result?;
    let report = Report::new(&source, &campaign, &folder, progress.made, &args.show)?;
    let page = |path: &PathBuf| {
        let kept = Kept::open(folder.path(), args.file.parent(), built_in())?;
        let first = kept.choose(&[], None)?;
        show(&kept, &first, path)
    };
    let page = args.page.as_ref().map(page).transpose()?;
    let figures = figures::write(&report.swept()?, source.file.title(), folder.path())?;
    if args.json {
        return output::json(&report, Stream::Out);
    }
    if !args.quiet {
        output::print(format!("{report}\n").as_bytes())?;
        if progress.made > 0 {
            let speed = report::speed(elapsed, progress.hops, progress.busy_s);
            let runs = if progress.made == 1 { "run" } else { "runs" };
            output::eprint(&format!("{} {runs} in {speed}", progress.made));
        }
        match figures {
            Some(path) => output::eprint(&format!("figures: {}", path_line(&path))),
            None if campaign.points.len() > DRAWN => {
                output::eprint(&format!("figures: none, since there are more than {DRAWN} points"));
            }
            None => {}
        }
        page.iter().for_each(|line| output::eprint(line));
    }
    Ok(())
}

/// So many threads, or one for each core.
pub(crate) fn threads(wanted: Option<NonZeroUsize>) -> Threads {
    wanted.map_or_else(Threads::default, |wanted| Threads(wanted.get()))
}

/// `line.toml` has its results in `line-results`, and a share of them in `line-results-3-of-40`.
fn default_folder(args: &SimArgs) -> PathBuf {
    let stem = args.file.file_stem().filter(|stem| *stem != "-").map(|stem| stem.to_string_lossy());
    let stem = stem.as_deref().unwrap_or("sim");
    match args.shard {
        Some(Share { number, count }) => format!("{stem}-results-{number}-of-{count}").into(),
        None => format!("{stem}-results").into(),
    }
}
