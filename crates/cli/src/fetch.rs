//! `recoup fetch`: named content into a file, a folder or a pipe.
pub(crate) mod args;
mod default_name;
mod folder;
pub(crate) mod observer;
mod outcome;
pub(crate) mod plan;
pub(crate) mod report;
mod several;
pub(crate) mod sink;
pub(crate) mod traced;
pub(crate) mod transfer;
mod wait;

pub use args::{FetchArgs, TrustArgs};
pub(crate) use default_name::file_name;

use crate::error::Failure;
use crate::format;
use crate::output::{self, Stream};
use crate::session::{self, Session};
use crate::statistic::Statistics;
use folder::{Folders, Mode};
use observer::Observer;
use plan::Plan;
use recoup::FetchSummary;
use recoup::download::Earlier;
use recoup::name::check_length;
use recoup::options::in_order;
use recoup::uplink::Uplink;
use recoup_forwarder::face::Agreement;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::time::Duration;
use report::Report;
use sink::{FileSink, PipeSink, Sink};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use traced::TraceFile;
use transfer::Transfers;

/// Advice if content came encrypted.
const ENCRYPTED: &str =
    "hint: the content is encrypted; members of its group read it with --decrypt KEY";

/// Advice if decrypted content may be of anybody.
const ANY_AUTHOR: &str = "warning: anybody can encrypt for a group, and cut content short; \
    --verify key=FILE or --trust FILE checks the author";

/// Where to go on after a failure, if there is a place.
pub(crate) type Elsewhere<'a> = &'a mut dyn FnMut(&Failure) -> Option<FaceUri>;

/// Runs the command.
pub fn run(mut args: FetchArgs) -> Result<(), Failure> {
    match &args.names[..] {
        [name] => {
            args.name = name.clone();
            run_by(args, &mut |_| None)
        }
        _ => several::run(args),
    }
}

/// Runs the command; what a face leaves undone is fetched from the next one.
pub(crate) fn run_by(mut args: FetchArgs, elsewhere: Elsewhere<'_>) -> Result<(), Failure> {
    args.trust.settle(&mut args.options);
    wait::apply(&mut args);
    check(&args)?;
    let uplink = wait::toward(&args)?;
    let reserved = default_name::complete(&mut args)?;
    let outcome = run_over(uplink, &args, elsewhere);
    if let (Err(_), Some(reserved)) = (&outcome, reserved) {
        reserved.release();
    }
    outcome
}

/// Finds what is wrong with the options, before anything is made or waited for.
fn check(args: &FetchArgs) -> Result<(), Failure> {
    check_length(&args.name)?;
    Plan::new(args)?;
    if args.traces() && args.jobs.is_some() {
        let message = "the lines of -vv do not name their file: --jobs is 1 with them";
        return Err(Failure::usage(message).advise("leave --jobs out, or one -v"));
    }
    default_name::check(args)?;
    check_output(args)
}

/// Runs the command over the face, with its complete options.
fn run_over(mut uplink: Uplink, args: &FetchArgs, elsewhere: Elsewhere<'_>) -> Result<(), Failure> {
    let plan = Plan::new(args)?;
    let statistics = args.statistics.as_deref().map(Statistics::create).transpose()?;
    let traces = args.trace.iter().map(|path| TraceFile::create(path, &args.name));
    let traces = traces.collect::<Result<_, _>>()?;
    let mut observer = Observer::new(statistics, !args.quiet, args.traces()).tracing_into(traces);
    if args.live {
        observer = observer.with_live_view();
    }
    if args.output.as_deref().is_none_or(is_dash) {
        observer = observer.beside_content();
    }
    let mut fetched = fetch(args, &plan, &uplink, args.earlier(), &mut observer);
    while let Err(failure) = &fetched
        && let Some(face) = elsewhere(failure)
    {
        uplink = uplink.by(face);
        fetched = fetch(args, &plan, &uplink, Earlier::Resume, &mut observer);
    }
    let finished = observer.finish();
    if fetched.is_ok() {
        fetched = finished.and(fetched);
    }
    report(args, &plan, &uplink, &observer, &fetched)?;
    let on_stderr = args.json && args.output.as_deref().is_none_or(is_dash);
    fetched
        .map(|_| ())
        .map_err(|failure| Failure { reported: on_stderr || failure.reported, ..failure })
}

/// Result of a fetch.
struct Fetched {
    object: Name,
    before: u64,
    total: Duration,
}

fn fetch(
    args: &FetchArgs,
    plan: &Plan<'_>,
    uplink: &Uplink,
    earlier: Earlier,
    observer: &mut Observer,
) -> Result<Fetched, Failure> {
    let mut session = Session::of_consumer(&uplink.uri, args.traces())?;
    let fetched = fetch_by(&mut session, args, plan, uplink, earlier, observer);
    observer.link_recovery = session.link_recovery();
    fetched
}

fn fetch_by(
    session: &mut Session,
    args: &FetchArgs,
    plan: &Plan<'_>,
    uplink: &Uplink,
    earlier: Earlier,
    observer: &mut Observer,
) -> Result<Fetched, Failure> {
    session.set_recovery(args.recovery);
    if let Some(within) = args.connect_timeout {
        session.driver.set_connect_timeout(within);
    }
    let mut config = plan.config(args.name.clone(), session::seed()?)?;
    session.set_patience(args.wait.unwrap_or_default(), !args.quiet);
    let outlet = args.output.as_deref().filter(|path| !is_dash(path) && is_outlet(path));
    let target = args.output.as_deref().filter(|path| !is_direct(path));
    let target = target.map(sink::destination).transpose()?;
    let target = target.as_deref();
    let sink: Option<Box<dyn Sink>> = match target {
        Some(_) if args.recursive => None,
        Some(target) => {
            let requirement = plan.requirement();
            Some(Box::new(FileSink::new(target, requirement, &mut config, earlier, None)?))
        }
        None => {
            config.delivery = in_order();
            let waker = session.driver.waker();
            Some(Box::new(PipeSink::new(outlet, move || waker.wake())?))
        }
    };
    if !sink.as_ref().is_some_and(|sink| sink.is_complete()) {
        session.connect(uplink)?;
    }
    let before = config.held.iter().map(|run| run.end - run.start).sum();
    let object = match (sink, target) {
        (Some(sink), _) => transfer::run(session, config, sink, observer, args.max_size)?.0,
        (None, target) => {
            let mode = Mode { earlier, verbose: args.verbose > 0, jobs: args.jobs() };
            let transfers = Transfers::new(session, observer, args.max_size);
            let target = target.unwrap_or(Path::new("."));
            Folders::new(transfers, plan, mode)?.run(&args.name, target)?
        }
    };
    let total = Duration::from_nanos(session.driver.now().as_nanos());
    Ok(Fetched { object, before, total })
}

/// Whether the path names standard output, whose descriptor is written to: a file behind it is not replaced.
fn is_dash(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Whether the path names a pipe or a terminal, or a device that takes bytes such as `/dev/null`: it is written to, and not
/// replaced.
fn is_outlet(path: &Path) -> bool {
    let kind = std::fs::metadata(path).map(|there| there.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_char_device())
}

/// Whether content is written to what the path names, in order.
fn is_direct(path: &Path) -> bool {
    is_dash(path) || is_outlet(path)
}

fn check_output(args: &FetchArgs) -> Result<(), Failure> {
    let is_direct = match args.output.as_deref() {
        Some(path) => is_direct(path),
        None => !default_name::is_used(args),
    };
    let options = [(args.resume, "--resume"), (args.restart, "--restart"), (args.recursive, "-r")];
    let needing = options.iter().find(|(given, _)| *given);
    if let Some((_, option)) = needing.filter(|_| is_direct) {
        return Err(Failure::usage(format!("{option} needs a place in the file system"))
            .advise("name it with --output (-o)"));
    }
    Ok(())
}

fn report(
    args: &FetchArgs,
    plan: &Plan<'_>,
    uplink: &Uplink,
    observer: &Observer,
    fetched: &Result<Fetched, Failure>,
) -> Result<(), Failure> {
    let total = fetched.as_ref().map_or(observer.tally.elapsed(), |fetched| fetched.total);
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    let mut summary = FetchSummary {
        segments_before: fetched.as_ref().map_or(0, |fetched| fetched.before),
        held_bytes: observer.held_bytes,
        ..FetchSummary::new(&observer.tally, &plan.choice, &plan.verification(), total)
    };
    summary.kept = observer.is_kept && !args.recursive;
    summary.verification.held_not_verified = observer.held_not_verified;
    let summary = if uplink.uri.is_stream() { summary.over_stream() } else { summary };
    let report = Report {
        name: args.name.to_string(),
        object: fetched.as_ref().ok().map(|fetched| fetched.object.to_string()),
        output: output.display().to_string(),
        face: uplink.uri.to_string(),
        complete: fetched.is_ok(),
        error: fetched.as_ref().err().cloned(),
        files: observer.files,
        link_recovery: observer.link_recovery.name(),
        ..Report::new(summary)
    };
    if args.json {
        let content_there = is_dash(output);
        return output::json(&report, if content_there { Stream::Err } else { Stream::Out });
    }
    if fetched.is_err() || args.quiet {
        return Ok(());
    }
    let columns = output::columns();
    if args.verbose > 0 {
        output::eprint(&fitted(report.to_string(), columns, report::LABEL));
    }
    output::eprint(&outcome::line(&report, columns));
    let is_plain =
        matches!(uplink.uri, FaceUri::Udp(_)) && observer.link_recovery != Agreement::Agreed;
    let options = &args.options;
    let any_author = options.decrypt.is_some() && !options.verify.names_authors();
    let hints = [
        outcome::hint(&report, is_plain),
        observer.is_encrypted.then_some(ENCRYPTED),
        any_author.then_some(ANY_AUTHOR),
    ];
    for hint in hints.into_iter().flatten() {
        output::eprint(&fitted(hint.to_owned(), columns, 0));
    }
    Ok(())
}

/// A text in lines that fit the terminal, if it is one.
fn fitted(text: String, columns: Option<usize>, indent: usize) -> String {
    match columns {
        Some(columns) => format::wrapped(&text, columns, indent),
        None => text,
    }
}
