//! `recoup fetch`: named content into a file, a folder or a pipe.
pub(crate) mod args;
mod default_name;
pub(crate) mod observer;
mod outcome;
mod outlet;
pub(crate) mod report;
mod several;
pub(crate) mod traced;

pub use args::{FetchArgs, TrustArgs};
pub(crate) use default_name::file_name;

use crate::error::{Failure, kept};
use crate::format;
use crate::output::{self, Stream};
use crate::stop::Stop;
use crate::terminal::path_line;
use observer::Observer;
use outlet::Outlet;
use recoup::name::check_length;
use recoup::patience::{Absent, Patience};
use recoup::uplink::Uplink;
use recoup::{ActiveFetch, Client, Earlier, FetchStats, FetchSummary, Files, Partial, trust};
use recoup_forwarder::face::Agreement;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use report::Report;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Advice if content came encrypted.
const ENCRYPTED: &str =
    "hint: the content is encrypted; members of its group read it with --decrypt KEY";

/// Advice if decrypted content may be of anybody.
const ANY_AUTHOR: &str = "warning: anybody can encrypt for a group, and cut content short; \
    --verify key=FILE or --trust FILE checks the author";

/// Interval between two drawings of the progress line.
const LOOK: Duration = Duration::from_millis(100);
/// Most entries of a folder that are reported one by one when they are skipped.
const MAX_REPORTED: u64 = 20;

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
    args.settle()?;
    check(&args)?;
    let stop = Stop::polled()?;
    let toward = Uplink::toward(args.face.as_ref(), &args.name, &mut patience(&args, &stop));
    let uplink = toward.map_err(|error| stop.end(error.into()))?;
    let reserved = default_name::complete(&mut args)?;
    let outcome = run_over(uplink, &args, &stop, elsewhere);
    if let (Err(_), Some(reserved)) = (&outcome, reserved) {
        reserved.release();
    }
    outcome
}

/// Finds what is wrong with the options, before anything is made or waited for.
fn check(args: &FetchArgs) -> Result<(), Failure> {
    check_length(&args.name)?;
    trust::check(&args.options)?;
    if args.traces() && args.jobs.is_some() {
        let message = "the lines of -vv do not name their file: --jobs is 1 with them";
        return Err(Failure::usage(message).advise("leave --jobs out, or one -v"));
    }
    default_name::check(args)?;
    check_output(args)
}

/// The patience of `--wait`, which is reported once.
fn patience(args: &FetchArgs, stop: &Stop) -> Patience {
    let patience = Patience::new(args.wait.unwrap_or_default()).stopped_by(stop.flag());
    match args.quiet {
        true => patience,
        false => patience.reporting(|it: &Absent| output::eprint(&format!("waiting for {it}"))),
    }
}

/// The state of the command, over all faces.
#[derive(Default)]
struct Progress {
    stats: FetchStats,
    object: Option<Name>,
    files: Option<Files>,
    link_recovery: Agreement,
}

/// Runs the command over the face, with its complete options.
fn run_over(
    mut uplink: Uplink,
    args: &FetchArgs,
    stop: &Stop,
    elsewhere: Elsewhere<'_>,
) -> Result<(), Failure> {
    let observer = Observer::new(args)?;
    let mut progress = Progress::default();
    let mut fetched = fetch(args, &uplink, stop, args.earlier(), &observer, &mut progress);
    while let Err(failure) = &fetched
        && let Some(face) = elsewhere(failure)
    {
        uplink = uplink.by(face);
        fetched = fetch(args, &uplink, stop, Earlier::Resume, &observer, &mut progress);
    }
    let finished = observer.finish();
    if fetched.is_ok() {
        fetched = finished.and(fetched);
    }
    report(args, &uplink, progress, &fetched)?;
    let on_stderr = args.json && args.output.as_deref().is_none_or(is_dash);
    fetched.map_err(|failure| Failure { reported: on_stderr || failure.reported, ..failure })
}

fn fetch(
    args: &FetchArgs,
    uplink: &Uplink,
    stop: &Stop,
    earlier: Earlier,
    observer: &Observer,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut builder = Client::builder()
        .uplink(uplink.clone())
        .options(args.options.clone())
        .recovery(args.recovery)
        .patience(patience(args, stop))
        .stopped_by(stop.flag())
        .allow_local_names(true)
        .only_fetches()
        .connect_on_demand();
    if let Some(within) = args.connect_timeout {
        builder = builder.connect_timeout(within);
    }
    if args.traces() {
        builder = builder.on_link(|event| output::eprint(&event.to_string()));
    }
    let client = builder.connect()?;
    let target = args.output.as_deref().filter(|path| !is_direct(path));
    let fetched = match target {
        Some(target) if args.recursive => {
            folder(&client, args, earlier, observer, target, progress)
        }
        target => one(&client, args, earlier, observer, target, progress),
    };
    progress.link_recovery = client.link_recovery().unwrap_or_default();
    progress.stats.run.total = match &fetched {
        Ok(()) => begun.elapsed(),
        Err(_) => progress.stats.elapsed(),
    };
    fetched.map_err(|failure| stop.end(failure))
}

/// Fetches one object into a file, or in order to standard output, a pipe or a device.
fn one(
    client: &Client,
    args: &FetchArgs,
    earlier: Earlier,
    observer: &Observer,
    target: Option<&Path>,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut fetch = client.fetch(&args.name).earlier(earlier).on_changed(report_changed);
    if let Some(range) = args.range {
        fetch = fetch.segments(range);
    }
    fetch = args.max_size.into_iter().fold(fetch, |it, bytes| it.max_size(bytes));
    fetch = args.limit_rate.into_iter().fold(fetch, |it, rate| it.limit_rate(rate));
    fetch = args.connect_timeout.into_iter().fold(fetch, |it, within| it.connect_timeout(within));
    if let Some(mut record) = observer.recorder() {
        fetch = fetch.on_event(move |now, event| record(now, event));
    }
    let Some(target) = target else {
        let path = args.output.as_deref().filter(|path| !is_dash(path));
        let outlet = Outlet::new(path, observer.line());
        let failure = outlet.failure();
        let fetched = finish(&fetch.start_writer(outlet)?, args, observer, progress);
        let written = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        return written.map_or(fetched, Err);
    };
    let fetch = fetch.start_file(target).map_err(|error| {
        let failure = Failure::from(error);
        if target.is_dir() { failure.advise("name a file after -o") } else { failure }
    })?;
    finish(&fetch, args, observer, progress)
}

/// Waits for the end of a fetch, and shows its progress.
fn finish(
    fetch: &ActiveFetch,
    args: &FetchArgs,
    observer: &Observer,
    progress: &mut Progress,
) -> Result<(), Failure> {
    while !fetch.wait_for(LOOK) && !observer.has_failed() {
        observer.show(None, &fetch.progress());
    }
    // A fetch that has ended is left as it is.
    let ended = fetch.cancel();
    let stats = fetch.summary().stats;
    progress.stats.add(&stats);
    progress.object = fetch.object().or(progress.object.take());
    conclude(ended.err(), args, observer, &stats)
}

/// The failure of a table, or that of the fetch in words of the command line.
fn conclude(
    error: Option<recoup::Error>,
    args: &FetchArgs,
    observer: &Observer,
    stats: &FetchStats,
) -> Result<(), Failure> {
    let kept = error.as_ref().and_then(kept);
    if let Some(failure) = observer.take_failure() {
        return Err(failure.advised(kept));
    }
    let Some(error) = error else {
        return Ok(());
    };
    let mut failure = Failure::of(&error);
    match args.max_size {
        Some(most) if error.is_condition() && error.is_permanent() => {
            failure.message =
                format!("the content is larger than --max-size permits ({most} bytes)");
            failure = failure.advise("permit more if the producer may send as much");
        }
        _ if error.is_usage() => failure = failure.advise("choose another --range"),
        _ if error.is_timeout() && stats.segments > 0 => {
            let bytes = format::bytes(stats.content_bytes);
            let segments = stats.segments;
            let before = format!("{segments} segments ({bytes}) had arrived before");
            failure = failure.advised(Some(before));
        }
        _ => {}
    }
    Err(failure.advised(kept))
}

/// Fetches a folder, with everything in it.
fn folder(
    client: &Client,
    args: &FetchArgs,
    earlier: Earlier,
    observer: &Observer,
    target: &Path,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let mut fetch = client.fetch_folder(&args.name).earlier(earlier).jobs(args.jobs());
    fetch = args.max_size.into_iter().fold(fetch, |it, bytes| it.max_size(bytes));
    fetch = args.limit_rate.into_iter().fold(fetch, |it, rate| it.limit_rate(rate));
    fetch = args.connect_timeout.into_iter().fold(fetch, |it, within| it.connect_timeout(within));
    if let Some(mut record) = observer.recorder() {
        fetch = fetch.on_event(move |now, event| record(now, event));
    }
    if args.verbose > 0 {
        fetch =
            fetch.on_file(|name, path| output::eprint(&format!("{name} -> {}", path_line(path))));
    }
    let (line, mut skipped) = (observer.line(), 0);
    let mut fetch = fetch
        .on_changed(report_changed)
        .on_skipped(move |entry, error| {
            if skipped < MAX_REPORTED {
                line.eprint(&format!("skipped {entry}: {}", error.message()));
            }
            skipped += 1;
        })
        .start_folder(target)?;
    progress.files = Some(Files::default());
    while !fetch.wait_for(LOOK) && !observer.has_failed() {
        let now = fetch.progress();
        observer.show(Some(now.files), &now.fetches);
    }
    let ended = if observer.has_failed() { fetch.cancel() } else { fetch.finish() };
    let mut stats = fetch.summary().stats;
    // They are of single files.
    (stats.run.is_kept, stats.run.segments_before) = (false, 0);
    progress.stats.add(&stats);
    progress.files = Some(fetch.progress().files);
    progress.object = fetch.object().or(progress.object.take());
    conclude(ended.err(), args, observer, &FetchStats::default())
}

/// Prints that a part of an unfinished download is fetched again.
fn report_changed(partial: &Partial) {
    output::eprint(&format!(
        "{} has changed since it was written: {} are fetched again",
        path_line(&partial.path),
        format::bytes(partial.bytes)
    ));
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
    uplink: &Uplink,
    progress: Progress,
    fetched: &Result<(), Failure>,
) -> Result<(), Failure> {
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    let Progress { mut stats, object, files, link_recovery } = progress;
    stats.run.is_stream = uplink.uri.is_stream();
    if fetched.is_err() {
        stats.run.segments_before = 0;
    }
    let report = Report {
        command: "fetch",
        name: args.name.to_string(),
        object: object.filter(|_| fetched.is_ok()).map(|object| object.to_string()),
        output: output.display().to_string(),
        face: uplink.uri.to_string(),
        link_recovery: link_recovery.name(),
        complete: fetched.is_ok(),
        files,
        summary: FetchSummary::new(stats, &args.options),
        error: fetched.as_ref().err().cloned(),
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
    let is_plain = matches!(uplink.uri, FaceUri::Udp(_)) && link_recovery != Agreement::Agreed;
    let options = &args.options;
    let any_author = options.decrypt.is_some() && !options.verify.names_authors();
    let hints = [
        outcome::hint(&report, is_plain),
        report.summary.stats.run.is_encrypted.then_some(ENCRYPTED),
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
