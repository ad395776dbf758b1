//! Verification and signing: verifiers and signers by name.
use crate::error::{Error, ErrorKind, Result};
use recoup_io::clock::unix_time;
use recoup_io::key::{Encryption, KeyStore};
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::signature::{
    AutoVerifier, DigestVerifier, KeyVerifier, NoVerifier, PublicKey, SignatureType, Signer,
    Verifier, sha256,
};
use recoup_transport::fetch::FetchOptions;
use recoup_transport::serve::ServeOptions;
use recoup_trust::access::Decrypting;
use recoup_trust::schema::{self, CompileError, Functions, Schema, SchemaError};
use recoup_trust::{Manifests, Policy, TrustStore};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

pub use recoup_transport::fetch::Verify;
pub use recoup_trust as policy;

/// The environment variable with the passphrase of an encrypted key.
pub const PASSPHRASE: &str = "RECOUP_PASSPHRASE";

/// The stores of certificates and the readers of encrypted content that one client has opened. The files of a folder verify
/// each certificate once. A file of a key or schema that has changed since opens another store.
#[derive(Default)]
pub(crate) struct Opened {
    /// By what they trust, and the digests of that.
    stores: Mutex<Vec<(Trusted, Arc<TrustStore>)>>,
    /// By their policy and the digests of its files.
    readers: Mutex<Vec<(String, Arc<Reader>)>>,
}

/// Anchors and a schema, and their digests.
type Trusted = (Verify, Vec<[u8; 32]>);

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opened")
    }
}

/// Checks that the keys which `options` name can be read.
///
/// # Errors
/// [`ErrorKind::Local`]: a key cannot be read.
pub fn check(options: &FetchOptions) -> Result<()> {
    Opened::default().reader(options).map(drop)
}

/// Verifies, and decrypts.
type Reader = Decrypting<Arc<dyn Verifier>>;

/// The value of `key`, which `open` makes at first. The latest few stay.
fn once<K: PartialEq, V>(
    opened: &Mutex<Vec<(K, Arc<V>)>>,
    key: K,
    open: impl FnOnce() -> Result<V>,
) -> Result<Arc<V>> {
    /// More than a program uses in turn.
    const MOST: usize = 16;
    let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, there)) = opened.iter().find(|(known, _)| *known == key) {
        return Ok(Arc::clone(there));
    }
    if opened.len() >= MOST {
        opened.remove(0);
    }
    let new = Arc::new(open()?);
    opened.push((key, Arc::clone(&new)));
    Ok(new)
}

impl Opened {
    /// The verifier that `verify` names.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the key cannot be read.
    pub(crate) fn verifier(&self, verify: &Verify) -> Result<Box<dyn Verifier>> {
        Ok(match verify {
            Verify::Auto => Box::new(AutoVerifier),
            Verify::Digest => Box::new(DigestVerifier),
            Verify::None => Box::new(NoVerifier),
            Verify::Key(which) => Box::new(Manifests::new(KeyVerifier(public_key(which)?))),
            Verify::Trust { anchors, schema } => {
                let open = || trust_store(anchors, schema.as_deref());
                let key = (verify.clone(), fingerprints(verify));
                Box::new(Manifests::new(once(&self.stores, key, open)?))
            }
        })
    }

    /// The verifier that `options` name, which decrypts if they have a key for that.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: a key cannot be read.
    pub(crate) fn reader(&self, options: &FetchOptions) -> Result<Box<dyn Verifier>> {
        let Some(which) = &options.decrypt else {
            return self.verifier(&options.verify);
        };
        let open = || {
            let member = KeyStore::open_default().member(which, passphrase().as_deref());
            let member = member.map_err(|error| Error::from(&error))?;
            let reader = Decrypting::new(Arc::from(self.verifier(&options.verify)?), member);
            Ok(match options.verify.names_authors() {
                true => reader.with_verified_authors(),
                false => reader,
            })
        };
        Ok(Box::new(once(&self.readers, requirement(options), open)?))
    }
}

/// The keys that a producer with `options` needs to encrypt content below `prefix`, if it encrypts.
///
/// # Errors
/// [`ErrorKind::Local`]: there is no such group, or a key cannot be read. [`ErrorKind::Usage`]: AES-CBC without a signature.
pub fn encryption(options: &ServeOptions, prefix: &Name) -> Result<Option<Encryption>> {
    let Some(group) = &options.encrypt else {
        return Ok(None);
    };
    let signer = signer(&options.sign)?;
    if options.encrypt_cbc && signer.signature_type() == SignatureType::DigestSha256 {
        return Err(Error::usage("AES-CBC does not detect changes, and a digest proves no author")
            .with_remedy("sign with a key, or encrypt without CBC"));
    }
    let encryption = KeyStore::open_default().encryption(group, prefix, signer.as_ref());
    let encryption = encryption.map_err(|error| Error::from(&error))?;
    let key = match options.encrypt_cbc {
        true => encryption.key.with_cbc(),
        false => encryption.key,
    };
    Ok(Some(Encryption { key, ..encryption }))
}

/// A store of certificates that trusts `anchors`, each a file or the name of a key in the key store; `schema` is the file of
/// a trust schema.
///
/// # Errors
/// [`ErrorKind::Local`]: a file cannot be read or used.
pub fn trust_store(anchors: &[String], schema: Option<&str>) -> Result<TrustStore> {
    let policy = match schema {
        Some(path) => Policy::Schema(read_schema(Path::new(path))?),
        None => Policy::Hierarchical,
    };
    let anchors = anchors.iter().map(|anchor| certificate(anchor)).collect::<Result<_>>()?;
    let store = TrustStore::new(policy, anchors, Box::new(|| unix_time().as_secs()));
    store.map_err(|error| Error::new(ErrorKind::Local, error.to_string()))
}

/// The certificate that `which` names: a file, or a key of the key store.
///
/// # Errors
/// [`ErrorKind::Local`]: the certificate cannot be read.
pub fn certificate(which: &str) -> Result<Data> {
    KeyStore::open_default().certificate(which).map_err(|error| (&error).into())
}

/// The trust schema in a file, compiled or as text. It may call `$eq` and `$eq_type`.
///
/// # Errors
/// [`ErrorKind::Local`]: the file cannot be read, or holds no schema.
pub fn read_schema(path: &Path) -> Result<Schema> {
    let bytes = schema_file(path)?;
    let model = match bytes.first() {
        Some(&COMPILED) => schema::model::Model::decode(&bytes).map_err(SchemaError::from),
        _ => Ok(compile(path, &bytes)?),
    };
    let schema = model.and_then(|model| Schema::new(model, Functions::standard()));
    schema.map_err(|error| {
        let unknown = matches!(error, SchemaError::UnknownFunctions(_));
        let failure = Error::new(ErrorKind::Local, format!("{}: {error}", path.display()));
        match unknown {
            true => {
                failure.with_remedy("it has $eq and $eq_type; programs add others with the library")
            }
            false => failure.with_remedy("compile the text with `recoup trust compile`"),
        }
    })
}

/// First byte of a compiled schema.
const COMPILED: u8 = 0x61;

/// Compiles the text of a trust schema.
///
/// # Errors
/// [`ErrorKind::Local`]: the file cannot be read, or its text is no schema.
pub fn compile_schema(path: &Path) -> Result<schema::model::Model> {
    compile(path, &schema_file(path)?)
}

fn compile(path: &Path, bytes: &[u8]) -> Result<schema::model::Model> {
    let place = path.display();
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Error::new(ErrorKind::Local, format!("{place} is neither a compiled trust schema nor text"))
    })?;
    schema::compile(text).map_err(|error: CompileError| {
        let schema::compile::Place { line, column } = error.place;
        Error::new(ErrorKind::Local, format!("{place}:{line}:{column}: {}", error.message))
    })
}

fn schema_file(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = schema::MAX_MODEL_BYTES as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(|error| Error::file("read", path.display(), &error))?;
    Ok(bytes)
}

/// The signer that `which` names: `digest`, a key of the key store, or a file.
///
/// # Errors
/// [`ErrorKind::Local`]: the key cannot be read.
pub fn signer(which: &str) -> Result<Box<dyn Signer>> {
    let store = KeyStore::open_default();
    store.signer_with_password(which, passphrase().as_deref()).map_err(|error| (&error).into())
}

/// The certificate of the key that `which` names, and those of its issuers that are in the key store: what consumers need to
/// verify what the key signs. Nothing for `digest` and for keys without a certificate.
///
/// # Errors
/// [`ErrorKind::Local`]: the key store cannot be read.
pub fn chain(which: &str) -> Result<Vec<Data>> {
    KeyStore::open_default().chain(which).map_err(|error| (&error).into())
}

/// The public key that `which` names: a key of the key store, or a file.
///
/// # Errors
/// [`ErrorKind::Local`]: the key cannot be read.
pub fn public_key(which: &str) -> Result<PublicKey> {
    let key = KeyStore::open_default().public_key(which, passphrase().as_deref());
    key.map_err(|error| (&error).into())
}

/// How content is verified and decrypted, with digests of the keys and the schema that this refers to: what another run
/// must have in common to rely on what a run has verified. A file of another key may take the place of a file.
pub fn requirement(options: &FetchOptions) -> String {
    fingerprints(&options.verify).iter().fold(options.policy(), |text, digest| {
        digest.iter().take(8).fold(text + " #", |text, byte| text + &format!("{byte:02x}"))
    })
}

/// Digests of the keys, certificates and schemas that `verify` names, as they are now.
fn fingerprints(verify: &Verify) -> Vec<[u8; 32]> {
    let sources: Vec<&str> = match verify {
        Verify::Key(which) => vec![which],
        Verify::Trust { anchors, schema } => {
            anchors.iter().chain(schema).map(AsRef::as_ref).collect()
        }
        _ => Vec::new(),
    };
    sources.into_iter().filter_map(fingerprint).collect()
}

/// The digest of a file, or of the certificate of a key in the key store.
fn fingerprint(which: &str) -> Option<[u8; 32]> {
    let mut bytes = Vec::new();
    let file = File::open(which).ok().filter(|file| file.metadata().is_ok_and(|it| it.is_file()));
    match file {
        Some(file) => drop(file.take(schema::MAX_MODEL_BYTES as u64).read_to_end(&mut bytes)),
        None => bytes = certificate(which).ok()?.wire().to_vec(),
    }
    Some(sha256(&bytes))
}

/// The passphrase of encrypted keys, if [`PASSPHRASE`] is set.
pub fn passphrase() -> Option<String> {
    std::env::var(PASSPHRASE).ok().filter(|text| !text.is_empty())
}
