//! `recoup share`: a file or folder for other machines of the local network, by a short code.
mod args;
mod code;
mod lan;

pub(crate) use args::ShareArgs;
pub(crate) use code::Code;
pub(crate) use lan::{Offer, Search};

use crate::error::{Exit, Failure};
use crate::output;
use crate::stop::Stop;
use crate::terminal::path_line;
use recoup::{Client, Server, reason};
use recoup_io::entropy;
use recoup_io::face::FaceUri;
use recoup_io::key::PrivateKey;
use recoup_io::port::has_both_families;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::KeyLocator;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The first component of the names of shares.
const PREFIX: &[u8] = b"share";
/// Interval between two looks at signals.
const LOOK: Duration = Duration::from_millis(100);

/// The document of a share that has begun.
#[derive(Serialize)]
struct Shared<'a> {
    event: &'static str,
    code: String,
    name: String,
    faces: &'a [String],
}

/// Runs the command.
pub(crate) fn run(args: &ShareArgs) -> Result<(), Failure> {
    let stop = Stop::polled()?;
    let file = file_of(&args.path)?;
    let key = key()?;
    let spki = key.to_spki().map_err(|error| Failure::new(Exit::Other, error.to_string()))?;
    let code = Code::of_key(&spki)
        .ok_or_else(|| Failure::new(Exit::Other, "the key of the share has no code"))?;
    let name = name_of(&code, Component::generic(&file));
    let server = serve(args, &name, &key)?;
    let listening = listening(&server).unwrap_or((args.port, false));
    let shown = name.suffix(2).to_string();
    let shown = shown.trim_start_matches('/');
    if !lan::is_announceable(shown) {
        let message = format!("the name {} is too long for an announcement", args.path.display());
        return Err(Failure::new(Exit::Local, message).advise("give the file a shorter name"));
    }
    let _announcement = lan::announce(&code, listening, &spki, shown)?;
    if args.json {
        let (code, name) = (code.to_string(), name.to_string());
        output::json_line(&Shared { event: "shared", code, name, faces: server.faces() })?;
    } else {
        output::print(format!("{code}\n").as_bytes())?;
    }
    if !args.quiet && !args.json {
        let path = path_line(&args.path);
        output::eprint(&format!("sharing {path}; on another machine: recoup get {code}"));
    }
    while stop.wanted().is_none() {
        std::thread::sleep(LOOK);
    }
    if !args.quiet && !args.json {
        output::eprint(&format!("sent {}", crate::format::bytes(server.summary().bytes)));
    }
    Ok(())
}

/// The name of what is shared.
pub(crate) fn name_of(code: &Code, file: Component<'_>) -> Name {
    let components = [Component::generic(PREFIX), Component::generic(code.bare().as_bytes()), file];
    components.into_iter().collect()
}

/// The last component of a path that exists.
fn file_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let canonical = path.canonicalize().map_err(|error| {
        let message = format!("cannot share {}: {}", path.display(), reason(&error));
        Failure::new(Exit::Local, message).advise("check the path")
    })?;
    let file = canonical.file_name().map(|file| file.as_encoded_bytes().to_vec());
    file.ok_or_else(|| Failure::usage("the root of the file system cannot be shared"))
}

/// A key for this share alone.
fn key() -> Result<PrivateKey, Failure> {
    let mut seed = vec![0; 32];
    entropy::fill(&mut seed).map_err(|error| Failure::new(Exit::Other, error.to_string()))?;
    Ok(PrivateKey::Ed25519(seed.into()))
}

fn serve(args: &ShareArgs, name: &Name, key: &PrivateKey) -> Result<Server, Failure> {
    let locator = name.prefix(2).append(Component::generic(b"KEY"));
    let signer = key.signer(KeyLocator::Name(locator.value()));
    let signer = signer.map_err(|error| Failure::new(Exit::Other, error.to_string()))?;
    let client = Client::builder().alone().connect()?;
    let builder = client.serve(name.clone()).signer(signer).manifests(true).hidden(args.hidden);
    let any = if has_both_families() { "[::]" } else { "0.0.0.0" };
    let builder = builder.listen(&format!("udp://{any}:{}", args.port))?;
    Ok(match args.path.is_dir() {
        true => builder.folder(&args.path)?,
        false => builder.file(&args.path)?,
    })
}

/// The port at which it listens, and whether at addresses of IPv6 as well as of IPv4.
fn listening(server: &Server) -> Option<(u16, bool)> {
    match server.faces().first()?.parse().ok()? {
        FaceUri::Udp(at) => Some((at.port, at.address().is_some_and(|ip| ip.is_ipv6()))),
        _ => None,
    }
}
