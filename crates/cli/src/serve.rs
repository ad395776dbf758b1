//! `recoup serve`: a file, a folder or standard input under a name.
pub(crate) mod args;
mod hint;
pub(crate) mod report;

pub(crate) use args::ServeArgs;

use crate::error::{Exit, Failure};
use crate::format;
use crate::output;
use crate::session::{Reached, Session};
use args::{UnknownArg, VersionArg};
use hint::Commands;
use recoup::trust;
use recoup_io::clock::unix_time;
use recoup_io::library::{FileLibrary, FolderLibrary, SpoolLibrary, Version};
use recoup_io::source::{Snapshots, SourceError, Spool};
use recoup_packet::name::Name;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::serve::{Library, Serve, ServeConfig, Source, Unknown};
use recoup_transport::time::{Duration, Instant};
use report::{Listening, Served};

/// How long the last answers may take to leave.
const FAREWELL: Duration = Duration::from_millis(500);

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let signer = trust::signer(&args.sign)?;
    let library = library(args)?;
    let mut session = Session::new(args.verbose)?;
    session.set_recovery(args.recovery);
    let config = ServeConfig {
        convention: args.convention.into(),
        segment_bytes: args.segment_size as usize,
        freshness: args.freshness,
        unknown: match args.unknown {
            UnknownArg::Nack => Unknown::Nack,
            UnknownArg::Silent => Unknown::Silence,
        },
        ..recoup::serve::config(args.name.clone(), signer)
    };
    let mut serve = Serve::new(config, library);
    let Some(object) = serve.resolve(&Name::root()) else {
        let message = format!("{} cannot be served as {}", args.path.display(), args.name);
        return Err(Failure::new(Exit::Local, message).advise(
            "can it still be read, and is the name shorter than a packet of 8800 octets?",
        ));
    };
    let app = session.attach(Box::new(serve), vec![args.name.clone()]);
    let reached = session.reach(&args.listen, args.face.as_ref(), &args.name)?;
    begin(args, &object, &reached)?;
    let mut served = Served::new(&object, &reached.faces);
    let stopped = until_stopped(args, &mut session, app, &mut served);
    session.driver.finish(FAREWELL);
    end(args, &session, served, stopped)
}

fn until_stopped(
    args: &ServeArgs,
    session: &mut Session,
    app: recoup_forwarder::face::AppId,
    served: &mut Served,
) -> Result<(), Failure> {
    while session.stop.wanted().is_none() {
        session.turn(app, &mut |now, output| {
            if let Report::Event(event) = output {
                served.count(&event);
                tell(args, now, &event);
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn tell(args: &ServeArgs, now: Instant, event: &Event) {
    if matches!(event, Event::SourceEnded) && !args.quiet {
        let next = match args.version {
            VersionArg::Mtime => {
                "a new fetch gets the new version; --snapshot serves files that change"
            }
            _ => "its number stands for no other content; restart serve for the new content",
        };
        let path = args.path.display();
        output::tell(&format!(
            "recoup: {path} changed: the version served so far has ended; {next}"
        ));
    }
    if args.verbose {
        output::tell(&crate::fetch::observer::line(now, event));
    }
}

fn begin(args: &ServeArgs, object: &Name, reached: &Reached) -> Result<(), Failure> {
    let commands = Commands::new(&args.name, &args.path, reached);
    if args.json {
        return output::json_line(&Listening::new(object, &reached.faces, commands.all()));
    }
    if !args.quiet {
        let faces: Vec<_> = reached.faces.iter().map(ToString::to_string).collect();
        output::tell(&format!(
            "serving {} as {object} at {}; Ctrl-C ends it\n{commands}",
            args.path.display(),
            faces.join(", ")
        ));
    }
    Ok(())
}

fn end(
    args: &ServeArgs,
    session: &Session,
    mut served: Served,
    stopped: Result<(), Failure>,
) -> Result<(), Failure> {
    served.elapsed_s = session.driver.now().as_secs_f64();
    served.error = stopped.as_ref().err().cloned();
    if args.json {
        output::json_line(&served)?;
    } else if !args.quiet {
        output::tell(&served.to_string());
    }
    stopped
}

fn library(args: &ServeArgs) -> Result<Box<dyn Library>, Failure> {
    let path = args.path.as_path();
    let version = match args.version {
        VersionArg::Mtime => Version::Modified,
        VersionArg::Now => Version::Fixed(unix_time().as_micros() as u64),
        VersionArg::Number(number) => Version::Fixed(number),
        VersionArg::None => Version::None,
    };
    let failed = |error| Failure::from(recoup::Error::from(error));
    if path.as_os_str() == "-" {
        return Ok(Box::new(SpoolLibrary::new(spool(args).map_err(failed)?, version)));
    }
    let snapshots = args.snapshot.map(|limit| {
        let quiet = args.quiet;
        Snapshots::new(Spool::default_folder(), limit, move |error| {
            if !quiet {
                output::tell(&format!("recoup: {error} (said once)"));
            }
        })
    });
    if path.is_dir() {
        return Ok(Box::new(FolderLibrary::new(path, version, snapshots).map_err(failed)?));
    }
    Ok(Box::new(FileLibrary::new(path, version, snapshots).map_err(failed)?))
}

/// Standard input, kept in a file without a name, so that it may be larger than memory.
fn spool(args: &ServeArgs) -> Result<Spool, SourceError> {
    let input = &mut std::io::stdin().lock();
    let spool = Spool::fill(input, &Spool::default_folder(), u64::MAX, &mut |_| true)?;
    if args.verbose {
        output::tell(&format!("read {} from standard input", format::octets(spool.len())));
    }
    Ok(spool)
}
