//! `recoup serve`: a file, a folder or standard input under a name.
pub(crate) mod args;
mod hint;
pub(crate) mod report;

pub use args::ServeArgs;

use crate::error::{Exit, Failure};
use crate::format;
use crate::key;
use crate::output;
use crate::session::{At, Reached, Session};
use crate::terminal::path_line;
use hint::Commands;
use recoup::trust;
use recoup::uplink::Uplink;
use recoup_io::key::Encryption;
use recoup_io::library::{FileLibrary, FolderLibrary, SpoolLibrary, Version};
use recoup_io::source::{Snapshots, SourceError, Spool};
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::signature::{DigestSigner, SignatureType, Signer};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::serve::{Library, Serve, ServeConfig, Source};
use recoup_transport::time::{Duration, Instant};
use recoup_trust::Certificate;
use report::{Listening, Served};
use std::sync::Arc;

/// How long the last answers may take to leave.
const END_GRACE: Duration = Duration::from_millis(500);

/// Runs the command.
pub fn run(args: &ServeArgs) -> Result<(), Failure> {
    let (signer, manifest_signer) = signers(args)?;
    let library = library(args)?;
    let mut session = Session::new(args.verbose)?;
    session.set_recovery(args.recovery);
    let (encrypter, packets, prefixes) = match trust::encryption(&args.options, &args.name)? {
        Some(Encryption { key, packets, prefixes }) => (Some(Arc::new(key)), packets, prefixes),
        None => (None, Vec::new(), Vec::new()),
    };
    let config = ServeConfig {
        manifest_signer,
        encrypter: encrypter.map(|key| key as _),
        ..recoup::serve::config(&args.options, args.name.clone(), signer)
    };
    let mut serve = Serve::new(config, library);
    let Some(object) = recoup::serve::resolved(&mut serve, &args.name) else {
        let message = format!("{} cannot be served as {}", args.path.display(), args.name);
        return Err(Failure::new(Exit::Local, message)
            .advise("can it still be read, and is the name shorter than a packet of 8800 bytes?"));
    };
    let certificates = trust::chain(&args.options.sign)?;
    warn_of_expiry(args, &certificates);
    let mut also = recoup::serve::published_prefixes(&args.name, &certificates);
    also.extend(prefixes.into_iter().filter(|it| !args.name.is_prefix_of(it)));
    serve.publish([certificates, packets].concat());
    let prefixes = [std::slice::from_ref(&args.name), &also].concat();
    let app = session.attach(Box::new(serve), prefixes);
    let reached =
        session.reach(&args.listen, args.face.as_ref(), &args.name, &args.options.sign)?;
    if matches!(reached.at, At::Forwarder { .. }) {
        register_certificates(args, &mut session, &also)?;
    }
    begin(args, &object, &reached)?;
    let mut served = Served::new(&object, &reached.faces);
    let stopped = until_stopped(args, &mut session, app, &mut served);
    session.driver.finish(END_GRACE);
    end(args, &session, served, stopped)
}

/// A signer of packets, or of segments and of manifests.
type Signers = (Box<dyn Signer>, Option<Box<dyn Signer>>);

/// The signer of packets; with manifests that of segments, and that of manifests.
fn signers(args: &ServeArgs) -> Result<Signers, Failure> {
    let signer = trust::signer(&args.options.sign)?;
    if !args.manifest {
        return Ok((signer, None));
    }
    if signer.signature_type() == SignatureType::DigestSha256 {
        return Err(Failure::usage("a manifest with a digest only proves nothing")
            .advise("name a key (--sign KEY)"));
    }
    Ok((Box::new(DigestSigner), Some(signer)))
}

/// Registers the names of keys, so that consumers reach their certificates. Without that, content can still be served.
fn register_certificates(
    args: &ServeArgs,
    session: &mut Session,
    keys: &[Name],
) -> Result<(), Failure> {
    let uplink = Uplink::find(args.face.as_ref())?.signed_by(&args.options.sign);
    let stop = session.stop.clone();
    for key in keys {
        let check = &mut |_: &mut _| stop.wanted().map_or(Ok(()), Err::<(), Failure>);
        match session.register(&uplink, key, check) {
            Err(failure) if failure.exit != Exit::Cancelled => {
                output::eprint(&format!("recoup: keys below {key} are not published: {failure}"))
            }
            registered => registered?,
        }
    }
    Ok(())
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
                show(args, now, &event);
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn show(args: &ServeArgs, now: Instant, event: &Event) {
    if matches!(event, Event::SourceEnded) && !args.quiet {
        let next = match args.options.version {
            Version::Modified => {
                "a new fetch gets the new version; --snapshot serves files that change"
            }
            _ => "its number stands for no other content; restart serve for the new content",
        };
        let path = path_line(&args.path);
        output::eprint(&format!(
            "recoup: {path} changed: the version served so far has ended; {next}"
        ));
    }
    if args.verbose {
        output::eprint(&crate::fetch::observer::line(now, event));
    }
}

fn begin(args: &ServeArgs, object: &Name, reached: &Reached) -> Result<(), Failure> {
    let commands = Commands::new(&args.name, &args.path, reached);
    if args.json {
        return output::json_line(&Listening::new(object, &reached.faces, commands.all()));
    }
    if !args.quiet {
        let faces: Vec<_> = reached.faces.iter().map(ToString::to_string).collect();
        output::eprint(&format!(
            "serving {} as {object} at {}; Ctrl-C ends it\n{commands}",
            path_line(&args.path),
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
        output::eprint(&served.to_string());
    }
    stopped
}

fn library(args: &ServeArgs) -> Result<Box<dyn Library>, Failure> {
    let path = args.path.as_path();
    let version = args.options.version;
    let failed = |error| Failure::from(recoup::Error::from(error));
    if path.as_os_str() == "-" {
        return Ok(Box::new(SpoolLibrary::new(spool(args).map_err(failed)?, version)));
    }
    let snapshots = args.options.snapshot.map(|limit| {
        let quiet = args.quiet;
        Snapshots::new(Spool::default_folder(), limit, move |error| {
            if !quiet {
                output::eprint(&format!("recoup: {error} (reported once)"));
            }
        })
    });
    // A server that cannot answer is no matter of --quiet.
    let report = |error: &SourceError| {
        output::eprint(&format!("recoup: {}", recoup::Error::from(error)));
    };
    if path.is_dir() {
        let library = FolderLibrary::new(path, version, snapshots).map_err(failed)?;
        let library = library.with_hidden(args.hidden).reporting(report);
        let quiet = args.quiet;
        return Ok(Box::new(library.noticing(move |line| {
            if !quiet {
                output::eprint(&format!("recoup: {line}"));
            }
        })));
    }
    Ok(Box::new(FileLibrary::new(path, version, snapshots).map_err(failed)?.reporting(report)))
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
