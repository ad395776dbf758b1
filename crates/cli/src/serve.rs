//! `recoup serve`: a file, a folder or standard input under a name.
pub(crate) mod args;
pub(crate) mod report;

pub(crate) use args::ServeArgs;

use crate::error::{Exit, Failure};
use crate::format;
use crate::output;
use crate::session::Session;
use crate::trust;
use args::{UnknownArg, VersionArg};
use recoup_io::clock::unix_time;
use recoup_io::face::FaceUri;
use recoup_io::library::{FileLibrary, FolderLibrary, SpoolLibrary, Version};
use recoup_io::source::{SourceError, Spool};
use recoup_packet::name::Name;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::serve::{Form, Library, Serve, ServeConfig, Source, Unknown};
use recoup_transport::time::{Duration, Instant};
use report::{Listening, Served};

/// How long a cache may call metadata fresh: short, so that a new version is found soon.
const METADATA_FRESHNESS: Duration = Duration::from_millis(10);
/// How long the last answers may take to leave.
const FAREWELL: Duration = Duration::from_millis(500);

/// Runs the command.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let signer = trust::signer(&args.sign)?;
    let library = library(args)?;
    let mut session = Session::new(args.verbose)?;
    session.set_recovery(args.recovery);
    let config = ServeConfig {
        prefix: args.name.clone(),
        convention: args.convention.into(),
        segment_bytes: args.segment_size,
        freshness: args.freshness,
        metadata_freshness: METADATA_FRESHNESS,
        unknown: match args.unknown {
            UnknownArg::Nack => Unknown::Nack,
            UnknownArg::Silent => Unknown::Silence,
        },
        form: Form::Encoded,
        signer,
        epoch_micros: unix_time().as_micros() as u64,
    };
    let mut serve = Serve::new(config, library);
    let Some(object) = serve.resolve(&Name::root()) else {
        let message = format!("{} cannot be served as {}", args.path.display(), args.name);
        return Err(Failure::new(Exit::Local, message).advise(
            "can it still be read, and is the name shorter than a packet of 8800 octets?",
        ));
    };
    let app = session.attach(Box::new(serve), vec![args.name.clone()]);
    let faces = reach(args, &mut session)?;
    begin(args, &object, &faces)?;
    let mut served = Served::new(&object, &faces);
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
        output::tell(&format!(
            "recoup: {} changed: the version served so far has ended; whoever asks anew gets the new one",
            args.path.display()
        ));
    }
    if args.verbose {
        output::tell(&crate::fetch::observer::line(now, event));
    }
}

/// Becomes reachable. Returns where.
fn reach(args: &ServeArgs, session: &mut Session) -> Result<Vec<FaceUri>, Failure> {
    session.reach(&args.listen, args.face.as_ref(), &args.name)
}

fn begin(args: &ServeArgs, object: &Name, faces: &[FaceUri]) -> Result<(), Failure> {
    if args.json {
        return output::json_line(&Listening::new(object, faces));
    }
    if !args.quiet {
        let faces: Vec<_> = faces.iter().map(ToString::to_string).collect();
        output::tell(&format!(
            "serving {} as {object} at {}; Ctrl-C ends it",
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
    let failed = |error| match error {
        SourceError::Io { action, path, source } => Failure::file(action, path.display(), &source),
        other => Failure::new(Exit::Local, other.to_string()),
    };
    if path.as_os_str() == "-" {
        return Ok(Box::new(SpoolLibrary::new(spool(args).map_err(failed)?, version)));
    }
    if path.is_dir() {
        return Ok(Box::new(FolderLibrary::new(path, version).map_err(failed)?));
    }
    Ok(Box::new(FileLibrary::new(path, version).map_err(failed)?))
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
