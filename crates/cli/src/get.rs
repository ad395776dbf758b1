//! `recoup get`: what another machine of the local network shares.
mod args;

pub(crate) use args::GetArgs;

use crate::error::{Exit, Failure};
use crate::fetch::{self, FetchArgs};
use crate::share;
use crate::stop::Stop;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use recoup::{Client, FetchOptions, Verify};
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an address is tried before the next one is.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the command.
pub(crate) fn run(args: &GetArgs) -> Result<(), Failure> {
    let stop = Stop::polled()?;
    let found = share::find(&args.code, args.wait, &|| stop.wanted())?;
    let file = format!("/{}", found.file).parse::<Name>().ok().filter(|it| it.len() == 1);
    let file = file.ok_or_else(|| {
        let message = format!("the share announces {:?}, which is no name of a file", found.file);
        Failure::new(Exit::Verification, message)
    })?;
    let name = file.get(0).map(|file| share::name_of(&args.code, file)).unwrap_or_default();
    let verify = Verify::Key(format!("spki:{}", BASE64_STANDARD.encode(&found.key)));
    let (face, is_folder) = reachable(&found.faces, &name, &verify)?;
    let mut fetch = FetchArgs::new(name);
    fetch.options.verify = verify;
    fetch.face = Some(face);
    fetch.recursive = is_folder;
    fetch.resume = args.resume;
    (fetch.quiet, fetch.json) = (args.quiet, args.json);
    fetch.output = Some(output(args, &fetch.name)?);
    fetch::run(fetch)
}

/// The first face that answers, and whether a folder is shared.
fn reachable(faces: &[FaceUri], name: &Name, verify: &Verify) -> Result<(FaceUri, bool), Failure> {
    let mut failure = Failure::new(Exit::Unreachable, "the share has no address");
    for face in faces {
        let options = FetchOptions {
            no_progress: PATIENCE,
            verify: verify.clone(),
            ..FetchOptions::default()
        };
        let client = Client::builder().face(face.to_string()).options(options).connect();
        match client.and_then(|client| client.head(name.clone())) {
            Ok(info) => return Ok((face.clone(), info.is_folder)),
            Err(error) => failure = error.into(),
        }
    }
    Err(failure)
}

/// Where the content goes: by default into the current folder under its own name, and over nothing that is there.
fn output(args: &GetArgs, name: &Name) -> Result<PathBuf, Failure> {
    if let Some(output) = &args.output {
        return Ok(output.clone());
    }
    let last = name.last();
    let text = last.as_ref().and_then(|last| std::str::from_utf8(last.value()).ok());
    let is_name = |text: &&str| !matches!(*text, "" | "." | "..") && !text.contains(['/', '\0']);
    let path = text.filter(is_name).map(|text| Path::new(text).to_owned()).ok_or_else(|| {
        Failure::new(Exit::Verification, "the share announces a name that no file can have")
            .advise("name a file with -o")
    })?;
    if path.symlink_metadata().is_ok() && !args.resume {
        let message = format!("{} exists", path.display());
        return Err(Failure::new(Exit::Local, message).advise("name another file with -o"));
    }
    Ok(path)
}
