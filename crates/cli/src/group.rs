//! `recoup group`: the readers of encrypted content.
pub(crate) mod args;

pub(crate) use args::GroupArgs;

use crate::error::Failure;
use crate::key::{key_failure, write};
use crate::output::{self, Stream};
use args::GroupAction;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use recoup::trust;
use recoup_io::key::{KeyStore, KeyStoreError};
use serde::Serialize;

/// Runs the command.
pub(crate) fn run(args: &GroupArgs) -> Result<(), Failure> {
    let store = KeyStore::open_default();
    let failure = |error: KeyStoreError| key_failure(&error);
    match &args.action {
        GroupAction::New { group } => {
            let entry = store.new_group(group).map_err(failure)?;
            output::print(format!("{}\n", entry.name).as_bytes())
        }
        GroupAction::Add { group, members } => {
            for member in members {
                let certificate = trust::certificate(member)?;
                let name = store.grant(group, &certificate).map_err(failure)?;
                output::print(format!("{name}\n").as_bytes())?;
            }
            Ok(())
        }
        GroupAction::List { group, json } => list(&store, group, *json),
        GroupAction::Export { group, sign, output } => {
            let signer = trust::signer(sign)?;
            let kek = store.kek(group, signer.as_ref()).map_err(failure)?;
            let text = format!("{}\n", BASE64_STANDARD.encode(kek.wire()));
            write(text.as_bytes(), output.as_deref(), true)
        }
    }
}

/// A group in `recoup group list --json`.
#[derive(Debug, Serialize)]
struct Listed {
    key: String,
    members: Vec<String>,
}

fn list(store: &KeyStore, group: &str, json: bool) -> Result<(), Failure> {
    let (key, members) = store.members(group).map_err(|error| key_failure(&error))?;
    let members: Vec<String> = members.iter().map(ToString::to_string).collect();
    if json {
        return output::json(&Listed { key: key.to_string(), members }, Stream::Out);
    }
    if members.is_empty() {
        output::eprint("the group has no members yet; `recoup group add` adds one");
    }
    output::print(members.iter().map(|name| format!("{name}\n")).collect::<String>().as_bytes())
}
