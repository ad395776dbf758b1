//! `recoup fetch`: named content into a file, a folder or a pipe.
pub(crate) mod args;
mod folder;
pub(crate) mod observer;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod sink;
pub(crate) mod transfer;

pub(crate) use args::FetchArgs;

use crate::error::Failure;
use crate::output::{self, Stream};
use crate::session::{self, Session, Way};
use crate::statistic::Statistics;
use folder::{Folders, Manner};
use observer::Observer;
use plan::Plan;
use recoup_packet::name::Name;
use recoup_transport::fetch::{Delivery, FetchConfig};
use recoup_transport::time::Duration;
use report::Report;
use sink::{FileSink, PipeSink, Sink};
use std::io::IsTerminal;
use std::path::Path;

/// Octets that may wait for a slow reader or for their turn.
const REORDER_BYTES: u64 = 16 << 20;

/// In order, with a bound on what waits.
pub(crate) fn in_order() -> Delivery {
    Delivery::Ordered { limit_bytes: REORDER_BYTES }
}

/// Runs the command.
pub(crate) fn run(args: &FetchArgs) -> Result<(), Failure> {
    let plan = Plan::new(args)?;
    check_output(args)?;
    let way = Way::find(args.face.as_ref())?;
    let statistics = args.statistics.as_deref().map(Statistics::create).transpose()?;
    let mut observer = Observer::new(statistics, !args.quiet, args.verbose);
    let mut fetched = fetch(args, &plan, &way, &mut observer);
    let finished = observer.finish();
    if fetched.is_ok() {
        fetched = finished.and(fetched);
    }
    report(args, &plan, &way, &observer, &fetched)?;
    let on_stderr = args.json && args.output.as_deref().is_none_or(is_dash);
    fetched.map(|_| ()).map_err(|failure| Failure { told: on_stderr, ..failure })
}

/// What came of it.
struct Fetched {
    object: Name,
    before: u64,
    total: Duration,
}

fn fetch(
    args: &FetchArgs,
    plan: &Plan<'_>,
    way: &Way,
    observer: &mut Observer,
) -> Result<Fetched, Failure> {
    let mut session = Session::new(args.verbose)?;
    session.set_recovery(args.recovery);
    let mut config = plan.config(args.name.clone(), session::seed()?)?;
    let target = args.output.as_deref().filter(|path| !is_dash(path));
    let target = target.map(sink::destination).transpose()?;
    let target = target.as_deref();
    let sink: Box<dyn Sink> = match target {
        Some(target) if !args.recursive => {
            resume(&mut config, target, args.resume)?;
            let range = (config.first, config.last);
            Box::new(FileSink::new(target, &plan.verification(), range, args.resume)?)
        }
        Some(_) => Box::new(sink::MemorySink::new(0)),
        None => {
            config.delivery = in_order();
            Box::new(PipeSink::new(session.driver.waker())?)
        }
    };
    session.connect(way)?;
    let before = config.held.iter().map(|run| run.end - run.start).sum();
    let object = match target.filter(|_| args.recursive) {
        Some(target) => {
            let manner = Manner { resume: args.resume, verbose: args.verbose, jobs: args.jobs() };
            Folders::new(&mut session, observer, plan, manner).run(&args.name, target)?
        }
        None => transfer::run(&mut session, config, sink, observer)?.0,
    };
    let total = Duration::from_nanos(session.driver.now().as_nanos());
    Ok(Fetched { object, before, total })
}

/// Continues the version that an interrupted download holds, without asking for a newer one.
pub(crate) fn resume(config: &mut FetchConfig, target: &Path, wanted: bool) -> Result<(), Failure> {
    if !wanted {
        return Ok(());
    }
    let Some(unfinished) = sink::unfinished(target)? else {
        return Ok(());
    };
    if config.name.is_prefix_of(&unfinished.object) {
        config.name = unfinished.object;
        config.discover = false;
        config.held = unfinished.held;
    }
    Ok(())
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn check_output(args: &FetchArgs) -> Result<(), Failure> {
    let dash = args.output.as_deref().is_some_and(is_dash);
    if args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::usage("the content would fill the terminal")
            .advise("name a file with -o FILE, pipe it on, or insist with -o -"));
    }
    if dash && (args.resume || args.recursive) {
        let option = if args.resume { "--resume" } else { "-r" };
        return Err(Failure::usage(format!("{option} needs a place in the file system"))
            .advise("name it with -o"));
    }
    Ok(())
}

fn report(
    args: &FetchArgs,
    plan: &Plan<'_>,
    way: &Way,
    observer: &Observer,
    fetched: &Result<Fetched, Failure>,
) -> Result<(), Failure> {
    let total = fetched.as_ref().map_or(observer.tally.elapsed(), |fetched| fetched.total);
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    let report = Report {
        name: args.name.to_string(),
        object: fetched.as_ref().ok().map(|fetched| fetched.object.to_string()),
        output: output.display().to_string(),
        face: way.uri.to_string(),
        complete: fetched.is_ok(),
        segments_before: fetched.as_ref().map_or(0, |fetched| fetched.before),
        error: fetched.as_ref().err().cloned(),
        files: observer.files,
        ..Report::new(&observer.tally, &plan.choice, &plan.verification(), total)
    };
    if args.json {
        let content_there = is_dash(output);
        return output::json(&report, if content_there { Stream::Err } else { Stream::Out });
    }
    if !args.quiet && fetched.is_ok() {
        output::tell(&report.to_string());
    }
    Ok(())
}
