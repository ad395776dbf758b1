//! `recoup serve`: a file, a folder or standard input under a name.
pub(crate) mod args;
mod hint;
pub(crate) mod report;

pub use args::ServeArgs;

use crate::error::Failure;
use crate::format;
use crate::key;
use crate::output;
use crate::stop::Stop;
use crate::terminal::path_line;
use hint::Commands;
use recoup::serve::Notice;
use recoup::uplink::Uplink;
use recoup::{Client, Event, Server, trust};
use recoup_io::library::Version;
use recoup_io::source::{SourceError, Spool};
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_transport::serve::Source;
use recoup_transport::time::Instant as TransportInstant;
use recoup_trust::Certificate;
use report::{Listening, Served};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Interval between two looks at signals.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the command.
pub fn run(args: &ServeArgs) -> Result<(), Failure> {
    let begun = Instant::now();
    let is_input = args.path.as_os_str() == "-";
    let input = is_input.then(|| spool(args)).transpose();
    let input = input.map_err(recoup::Error::from)?;
    let stop = Stop::polled()?;
    let server = start(args, input, &stop).map_err(|error| stop.end(error.into()))?;
    warn_of_expiry(args, &trust::chain(&args.options.sign)?);
    warn_of_scope(&args.name);
    begin(args, &server)?;
    let stopped = until_stopped(&server, &stop);
    end(args, server, begun, stopped)
}

/// Starts the server, which is reachable then.
fn start(args: &ServeArgs, input: Option<Spool>, stop: &Stop) -> recoup::Result<Server> {
    let mut builder = Client::builder().recovery(args.recovery).stopped_by(stop.flag());
    builder = match args.listen.is_empty() {
        true => builder.uplink(Uplink::find(args.face.as_ref())?).connect_on_demand(),
        false => builder.alone(),
    };
    if args.verbose {
        builder = builder.on_link(|event| output::eprint(&event.to_string()));
    }
    let client = builder.connect()?;
    let (quiet, shown) = (args.quiet, Shown::of(args));
    let server = client
        .serve(&args.name)
        .options(args.options.clone())
        .manifests(args.manifest)
        .hidden(args.hidden)
        .listen_at(args.listen.iter().cloned())
        .on_notice(move |notice| show_notice(&notice, quiet))
        .on_event(move |now, event| shown.show(now, event));
    match input {
        Some(input) => server.spool(input),
        None if args.path.is_dir() => server.folder(&args.path),
        None => server.file(&args.path),
    }
}

/// Warns if not all consumers reach a producer of this name.
pub(crate) fn warn_of_scope(name: &Name) {
    if let Some(warning) = recoup::serve::scope_warning(name) {
        output::eprint(&format!("recoup: {warning}"));
    }
}

fn show_notice(notice: &Notice, quiet: bool) {
    let line = match notice {
        // A server that cannot answer is no matter of --quiet.
        Notice::Unreadable(error) => error.to_string(),
        Notice::Unpublished(key, error) => {
            format!("keys below {key} are not published: {}", Failure::of(error))
        }
        _ if quiet => return,
        Notice::NoSnapshot(why) => format!("{why} (reported once)"),
        Notice::LeftOut(line) => line.clone(),
        _ => return,
    };
    output::eprint(&format!("recoup: {line}"));
}

/// Warns of certificates that have expired or soon will.
fn warn_of_expiry(args: &ServeArgs, certificates: &[Data]) {
    let certificates = certificates.iter().filter_map(|data| Certificate::new(data.clone()).ok());
    for certificate in certificates.filter(|_| !args.quiet) {
        if let Some(warning) = key::expiry(certificate.not_after()) {
            output::eprint(&format!("recoup: the certificate {} {warning}", certificate.name()));
        }
    }
}

/// Goes on until a signal comes.
///
/// # Errors
/// No consumer reaches the server any more.
pub(crate) fn until_stopped(server: &Server, stop: &Stop) -> Result<(), Failure> {
    while stop.wanted().is_none() {
        if let Some(error) = server.error() {
            return Err(error.into());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// The events that are shown.
struct Shown {
    path: PathBuf,
    version: Version,
    quiet: bool,
    verbose: bool,
}

impl Shown {
    fn of(args: &ServeArgs) -> Self {
        let ServeArgs { path, options, quiet, verbose, .. } = args;
        let (path, version) = (path.clone(), options.version);
        Self { path, version, quiet: *quiet, verbose: *verbose }
    }

    fn show(&self, now: TransportInstant, event: &Event) {
        if matches!(event, Event::SourceEnded) && !self.quiet {
            let next = match self.version {
                Version::Modified => {
                    "a new fetch gets the new version; --snapshot serves files that change"
                }
                _ => "its number stands for no other content; restart serve for the new content",
            };
            let path = path_line(&self.path);
            output::eprint(&format!(
                "recoup: {path} changed: the version served so far has ended; {next}"
            ));
        }
        if self.verbose {
            output::eprint(&crate::fetch::observer::line(now, event));
        }
    }
}

fn begin(args: &ServeArgs, server: &Server) -> Result<(), Failure> {
    let commands = Commands::new(&args.name, &args.path, server.endpoint());
    if args.json {
        return output::json_line(&Listening::new(server, commands.all()));
    }
    if !args.quiet {
        output::eprint(&format!(
            "serving {} as {} at {}; Ctrl-C ends it\n{commands}",
            path_line(&args.path),
            server.name(),
            server.faces().join(", ")
        ));
    }
    Ok(())
}

fn end(
    args: &ServeArgs,
    server: Server,
    begun: Instant,
    stopped: Result<(), Failure>,
) -> Result<(), Failure> {
    let mut served = Served::new(&server);
    // The last answers leave.
    drop(server);
    served.elapsed_s = begun.elapsed().as_secs_f64();
    served.error = stopped.as_ref().err().cloned();
    if args.json {
        output::json_line(&served)?;
    } else if !args.quiet {
        output::eprint(&served.to_string());
    }
    stopped
}

/// Standard input, kept in a file without a name, so that it may be larger than memory.
fn spool(args: &ServeArgs) -> Result<Spool, SourceError> {
    let input = &mut std::io::stdin().lock();
    let spool = Spool::fill(input, &Spool::default_folder(), u64::MAX, &mut |_| true)?;
    if args.verbose {
        output::eprint(&format!("read {} from standard input", format::bytes(spool.len())));
    }
    Ok(spool)
}
