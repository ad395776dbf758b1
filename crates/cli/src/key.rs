//! `recoup key`: signing keys.
pub(crate) mod args;

pub(crate) use args::KeyArgs;

use crate::error::{Exit, Failure};
use crate::output::{self, Stream};
use args::{KeyAction, KeyFormatArg, KeyKindArg};
use recoup::trust;
use recoup_io::clock::unix_time;
use recoup_io::key::{Issue, KeyEntry, KeyStore, KeyStoreError, KeyType, Origin, date};
use recoup_packet::name::Name;
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Limit of key files, in bytes.
const MAX_KEY_FILE: u64 = 1 << 20;

/// Runs the command.
pub(crate) fn run(args: &KeyArgs) -> Result<(), Failure> {
    let store = KeyStore::open_default();
    match &args.action {
        KeyAction::New { identity, kind } => create(&store, identity, (*kind).into()),
        KeyAction::Import { file, identity, passphrase_file } => {
            import(&store, file, identity.as_ref(), passphrase_file.as_deref())
        }
        KeyAction::Export { name, public, format, passphrase_file, insecure, output } => {
            let open = *public || *insecure;
            let text = export(&store, name, (*public, open), *format, passphrase_file.as_deref())?;
            write(text.as_bytes(), output.as_deref(), *public)
        }
        KeyAction::Delete { name } => {
            let name = store.delete(name).map_err(|error| key_failure(&error))?;
            output::print(format!("{name}\n").as_bytes())
        }
        KeyAction::Default { name } => {
            made(&store.choose(name).map_err(|error| key_failure(&error))?)
        }
        KeyAction::SignRequest { name, output } => {
            let text = store.request(name).map_err(|error| key_failure(&error))?;
            write(text.as_bytes(), output.as_deref(), true)
        }
        KeyAction::Issue { request, signer, issuer, days, output } => {
            let (signer, issuer) = (signer.clone(), issuer.clone());
            let lifetime_s = u64::from(*days) * DAY_S;
            let issue = Issue { signer, issuer, lifetime_s };
            let issued = store.issue(&read(request)?, &issue);
            let (name, text) = issued.map_err(|error| named(request, &key_failure(&error)))?;
            output::eprint(&format!("issued {name}"));
            write(text.as_bytes(), output.as_deref(), true)
        }
        KeyAction::List { json } => list(&store, *json),
    }
}

/// Seconds of a day.
const DAY_S: u64 = 86_400;
/// A certificate that is valid no longer than that is worth a warning, in days.
const SOON_DAYS: u64 = 30;

/// Warning about a certificate that is valid until then, if it has expired or soon will.
pub(crate) fn expiry(until_s: u64) -> Option<String> {
    let now = unix_time().as_secs();
    match until_s.checked_sub(now).map(|left| left / DAY_S) {
        None => Some("has expired; import a new one (`recoup key sign-request`)".into()),
        Some(0) => Some("expires within a day".into()),
        Some(days) if days <= SOON_DAYS => Some(format!("expires in {days} days")),
        Some(_) => None,
    }
}

fn create(store: &KeyStore, identity: &Name, kind: KeyType) -> Result<(), Failure> {
    let entries = store.list().map_err(|error| key_failure(&error))?;
    let before = entries.iter().filter(|entry| entry.identity() == *identity).count();
    let entry = store.generate(identity, kind).map_err(|error| key_failure(&error))?;
    // The new key becomes the default, in place of an earlier choice.
    let entry = match before {
        0 => entry,
        _ => store.choose(&entry.name.to_string()).map_err(|error| key_failure(&error))?,
    };
    if before > 0 {
        output::eprint(&format!(
            "recoup: {identity} has older keys, which stay; it signs with the new one from here on \
             (`recoup key default` chooses another, `recoup key delete` removes one)"
        ));
    }
    made(&entry)
}

/// The exit code and message for an error of the key store.
pub(crate) fn key_failure(error: &KeyStoreError) -> Failure {
    recoup::Error::from(error).into()
}

fn made(entry: &KeyEntry) -> Result<(), Failure> {
    output::print(format!("{}\n", entry.name).as_bytes())
}

fn import(
    store: &KeyStore,
    file: &Path,
    identity: Option<&Name>,
    passphrase_file: Option<&Path>,
) -> Result<(), Failure> {
    let bytes = read(file)?;
    let certificate = store.import_certificate(&bytes);
    if let Some(name) = certificate.map_err(|error| named(file, &key_failure(&error)))? {
        return output::print(format!("{name}\n").as_bytes());
    }
    let passphrase = passphrase(passphrase_file)?;
    let entry = store.import(&bytes, identity, passphrase.as_deref());
    let entry = entry.map_err(|error| match error {
        KeyStoreError::IdentityNeeded => {
            Failure::usage(error.to_string()).advise("name its owner with --identity NAME")
        }
        KeyStoreError::PasswordNeeded => {
            named(file, &key_failure(&error)).advise(give_passphrase())
        }
        _ => named(file, &key_failure(&error)),
    })?;
    made(&entry)
}

fn give_passphrase() -> String {
    let variable = trust::PASSPHRASE;
    format!("give it with --passphrase-file FILE or in the environment variable {variable}")
}

fn named(file: &Path, failure: &Failure) -> Failure {
    Failure { message: format!("{}: {}", file.display(), failure.message), ..failure.clone() }
}

fn export(
    store: &KeyStore,
    name: &str,
    (public, open): (bool, bool),
    format: KeyFormatArg,
    passphrase_file: Option<&Path>,
) -> Result<String, Failure> {
    let passphrase = passphrase(passphrase_file)?;
    let text = match (public, format, passphrase.as_deref()) {
        (true, ..) => store.export_certificate(name),
        (false, KeyFormatArg::Pem, passphrase) => {
            store.export_pem(name, passphrase).map(|text| text.to_string())
        }
        (false, KeyFormatArg::Safebag, Some(passphrase)) => store.export_safe_bag(name, passphrase),
        (false, KeyFormatArg::Safebag, None) => {
            return Err(Failure::usage("a SafeBag is encrypted with a passphrase")
                .advise(give_passphrase()));
        }
    };
    let mut text = text.map_err(|error| key_failure(&error))?;
    if !open && passphrase.is_none() {
        return Err(Failure::usage("a private key is exported with a passphrase")
            .advise(format!("{}; --insecure leaves it unencrypted", give_passphrase())));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if file.as_os_str() == "-" {
        io::stdin().lock().take(MAX_KEY_FILE).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|f| f.take(MAX_KEY_FILE).read_to_end(&mut bytes))
    };
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::file("read", file.display(), &error)),
    }
}

/// Writes a file that only its owner can read, and never overwrites one.
pub(crate) fn write(bytes: &[u8], file: Option<&Path>, public: bool) -> Result<(), Failure> {
    let Some(path) = file else {
        return output::print(bytes);
    };
    let mode = if public { 0o644 } else { 0o600 };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let write = |mut file: File| file.write_all(bytes).inspect_err(|_| drop(fs::remove_file(path)));
    match opened.and_then(write) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let message = format!("{} is there already", path.display());
            Err(Failure::new(Exit::Local, message).advise("remove it, or choose another name"))
        }
        Err(error) => Err(Failure::file("write", path.display(), &error)),
    }
}

fn passphrase(file: Option<&Path>) -> Result<Option<String>, Failure> {
    let Some(path) = file else {
        return Ok(trust::passphrase());
    };
    let text = String::from_utf8(read(path)?).map_err(|_| {
        Failure::new(Exit::Local, format!("{} is not text", path.display()))
            .advise("put the passphrase into its first line")
    })?;
    Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
}

/// A key in `recoup key list --json`.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    identity: String,
    signature: Option<String>,
    certificate: Option<String>,
    is_default: bool,
    /// Last second of the certificate's validity, as `YYYYMMDDThhmmss`, UTC.
    valid_until: Option<String>,
    /// Warning about the certificate.
    #[serde(skip)]
    warning: Option<String>,
    place: PathBuf,
}

impl From<&KeyEntry> for Listed {
    fn from(entry: &KeyEntry) -> Self {
        let (Origin::Store(place) | Origin::KeyChain(place)) = entry.origin.clone();
        Self {
            name: entry.name.to_string(),
            identity: entry.identity().to_string(),
            signature: entry.signature_type.map(|kind| format!("{kind:?}")),
            certificate: entry.certificate.as_ref().map(|data| data.name().to_string()),
            is_default: entry.is_default,
            valid_until: entry.valid_until().map(date),
            warning: entry.valid_until().and_then(expiry),
            place,
        }
    }
}

fn list(store: &KeyStore, json: bool) -> Result<(), Failure> {
    let entries = store.list().map_err(|error| key_failure(&error))?;
    let listed: Vec<_> = entries.iter().map(Listed::from).collect();
    if json {
        return output::json(&listed, Stream::Out);
    }
    if listed.is_empty() {
        output::eprint("there are no keys yet; `recoup key new NAME` makes one");
    }
    let line = |key: &Listed| {
        let signature = key.signature.as_deref().unwrap_or("unreadable");
        let default = if key.is_default { "  default" } else { "" };
        let warning = key.warning.iter().map(|warning| format!("  {warning}")).collect::<String>();
        format!("{}  {signature}  {}{default}{warning}\n", key.name, key.place.display())
    };
    output::print(listed.iter().map(line).collect::<String>().as_bytes())
}

impl From<KeyKindArg> for KeyType {
    fn from(arg: KeyKindArg) -> Self {
        match arg {
            KeyKindArg::Ecdsa => Self::Ecdsa,
            KeyKindArg::Ed25519 => Self::Ed25519,
            KeyKindArg::Hmac => Self::Hmac,
            KeyKindArg::Rsa => Self::Rsa,
        }
    }
}
