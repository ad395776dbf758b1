//! The key store: a folder of private keys and certificates.
//!
//! Each key is a file `<digest of its name>.pem`, readable by its owner only, with a line `Name: …` before the PEM
//! block; its certificate, in base64, stands beside it as `.ndncert`.

use super::form::{self, Form};
use super::{KeyStoreError, PrivateKey, certificate, key_chain, safe_bag};
use recoup_packet::data::Data;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{
    DigestSigner, EcdsaSigner, KeyLocator, PublicKey, SignatureType, Signer, sha256,
};
use recoup_trust::Certificate;
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// The word that stands for signing without a key.
const DIGEST: &str = "digest";
/// Before a SubjectPublicKeyInfo in base64 that stands in the place of a file.
const INLINE: &str = "spki:";

/// Type of key to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// ECDSA over P-256: understood by every NDN implementation.
    Ecdsa,
    /// Ed25519: faster; not understood by ndn-cxx.
    Ed25519,
    /// HMAC-SHA256 with a shared secret of 32 bytes.
    Hmac,
    /// RSA of 2,048 bits: slow; the only kind that decrypts, for members of groups.
    Rsa,
}

/// Where a key is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In this store: the file of the private key.
    Store(PathBuf),
    /// In an ndn-cxx key chain: its folder.
    KeyChain(PathBuf),
}

/// A key that the store knows.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    /// The key's name, `/<identity>/KEY/<key>`.
    pub name: Name,
    /// Kind of the signatures that it makes; `None` if the private key cannot be read.
    pub signature_type: Option<SignatureType>,
    /// Its certificate; shared secrets have none.
    pub certificate: Option<Data>,
    /// Where it is kept.
    pub origin: Origin,
    /// Whether it is the one to use where only the identity is named.
    pub is_default: bool,
}

impl KeyEntry {
    /// The last second in which its certificate is valid, since 1970-01-01 UTC.
    #[must_use]
    pub fn valid_until(&self) -> Option<u64> {
        let certificate = Certificate::new(self.certificate.clone()?);
        certificate.ok().map(|certificate| certificate.not_after())
    }

    /// The name of the key's owner.
    #[must_use]
    pub fn identity(&self) -> Name {
        self.name.prefix(self.name.len().saturating_sub(2))
    }
}

/// Keys in a folder, and those of an ndn-cxx key chain behind them.
#[derive(Clone, Debug)]
pub struct KeyStore {
    pub(super) folder: PathBuf,
    key_chain: Option<PathBuf>,
}

impl KeyStore {
    /// The store in `folder`, which is made when the first key is written.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), key_chain: None }
    }

    /// The user's store, `$XDG_DATA_HOME/recoup/keys`, with the ndn-cxx key chain in `~/.ndn` behind it.
    ///
    /// Without `$XDG_DATA_HOME` it is `~/.local/share/recoup/keys` (XDG Base Directory Specification).
    #[must_use]
    pub fn open_default() -> Self {
        // Where `$HOME` is not set, that of the user database.
        let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("."));
        let data = std::env::var_os("XDG_DATA_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| home.join(".local/share"));
        Self::open(&data.join("recoup/keys")).with_key_chain(&home.join(".ndn"))
    }

    /// Looks into the ndn-cxx key chain in `folder` too, for reading only.
    #[must_use]
    pub fn with_key_chain(self, folder: &Path) -> Self {
        Self { key_chain: Some(folder.to_owned()), ..self }
    }

    /// The folder of the store.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a key for `identity`, with a certificate that it signs itself.
    pub fn generate(&self, identity: &Name, typ: KeyType) -> Result<KeyEntry, KeyStoreError> {
        let key = match typ {
            KeyType::Ed25519 => PrivateKey::Ed25519(random::<32>()?.to_vec().into()),
            KeyType::Hmac => PrivateKey::Hmac(random::<32>()?.to_vec().into()),
            KeyType::Rsa => PrivateKey::generate_rsa()?,
            KeyType::Ecdsa => loop {
                let secret = random::<32>()?;
                // One number in four thousand million is no scalar of the group.
                if EcdsaSigner::new(&*secret, KeyLocator::Name(&[])).is_ok() {
                    break PrivateKey::Ecdsa(secret.to_vec().into());
                }
            },
        };
        let name = key_name(identity, &*random::<8>()?);
        self.add(&key, &name, None)
    }

    /// Takes over a key from bytes of any known form: PEM (PKCS#8 plain or encrypted, SEC 1, PKCS#1), DER, a SafeBag
    /// in binary or base64, or ndnd's text.
    ///
    /// A key that comes without a name becomes one of `identity`.
    pub fn import(
        &self,
        bytes: &[u8],
        identity: Option<&Name>,
        password: Option<&str>,
    ) -> Result<KeyEntry, KeyStoreError> {
        let form = Form::read(bytes.to_vec().into(), password)?;
        let Some(Form::Private(key, stated, certificate)) = form else {
            return Err(KeyStoreError::NotUnderstood(
                "a private key; it may be PEM text, DER, or a SafeBag in binary or base64",
            ));
        };
        let name = match (stated, identity) {
            (Some(name), None) => name,
            (_, Some(identity)) if certificate.is_none() => {
                key_name(identity, sha256(&fingerprint(&key)?).get(..8).unwrap_or_default())
            }
            (Some(name), Some(_)) => name,
            (None, _) => return Err(KeyStoreError::IdentityNeeded),
        };
        self.add(&key, &name, certificate)
    }

    /// The key as PEM text: PKCS#8, encrypted if there is a `password`.
    pub fn export_pem(
        &self,
        which: &str,
        password: Option<&str>,
    ) -> Result<Zeroizing<String>, KeyStoreError> {
        let (key, ..) = self.find_private(which, None)?;
        match password {
            Some(password) => key.to_encrypted_pem(password, &*random()?),
            None => key.to_pem(),
        }
    }

    /// The key and its certificate as a SafeBag in base64, as `ndnsec import` reads it.
    pub fn export_safe_bag(&self, which: &str, password: &str) -> Result<String, KeyStoreError> {
        let (key, _, certificate) = self.find_private(which, None)?;
        let certificate = certificate.ok_or(KeyStoreError::NoCertificate)?;
        let bag = safe_bag::encode(&certificate, &key, password, &*random()?)?;
        Ok(form::to_base64(&bag))
    }

    /// The key's certificate in base64, as `ndnsec cert-dump` prints it.
    pub fn export_certificate(&self, which: &str) -> Result<String, KeyStoreError> {
        let entry = self.find(which)?.ok_or_else(|| self.not_found(which))?;
        let certificate = entry.certificate.ok_or(KeyStoreError::NoCertificate)?;
        Ok(form::to_base64(&certificate.wire()))
    }

    /// All keys: those of the store, then those of the key chain; each ordered by name.
    pub fn list(&self) -> Result<Vec<KeyEntry>, KeyStoreError> {
        let mut entries = self.list_own()?;
        if let Some(folder) = &self.key_chain {
            entries.extend(key_chain::list(folder)?);
        }
        Ok(entries)
    }

    /// A signer: `which` is the word `digest`, the name of a key, certificate or identity, or the path of a file with a
    /// private key.
    pub fn signer(&self, which: &str) -> Result<Box<dyn Signer>, KeyStoreError> {
        self.signer_with_password(which, None)
    }

    /// As [`signer`](Self::signer), for files that are encrypted.
    pub fn signer_with_password(
        &self,
        which: &str,
        password: Option<&str>,
    ) -> Result<Box<dyn Signer>, KeyStoreError> {
        if which == DIGEST {
            return Ok(Box::new(DigestSigner));
        }
        let (key, name, certificate) = self.find_private(which, password)?;
        // A consumer can fetch the certificate by this name.
        match certificate.map(|data| data.name().clone()).or(name) {
            Some(name) => Ok(key.signer(KeyLocator::Name(name.value()))?),
            None => Ok(key.signer(KeyLocator::Digest(&sha256(&fingerprint(&key)?)))?),
        }
    }

    /// A key to verify with: `which` is the name of a key, certificate or identity, or the path of a file as for
    /// [`load_public_key`](super::load_public_key).
    pub fn public_key(
        &self,
        which: &str,
        password: Option<&str>,
    ) -> Result<PublicKey, KeyStoreError> {
        if let Some(text) = which.strip_prefix(INLINE) {
            let der = form::from_base64(text)
                .ok_or(KeyStoreError::NotUnderstood("a public key in base64"))?;
            return Ok(PublicKey::from_spki(&der)?);
        }
        if let Some(entry) = self.find(which)? {
            return match entry.certificate {
                Some(certificate) => Ok(PublicKey::from_certificate(&certificate)?),
                None => Ok(load_private(&entry)?.public_key()?),
            };
        }
        match Path::new(which) {
            path if path.is_file() => super::load_public_key(path, password),
            _ => Err(self.not_found(which)),
        }
    }

    /// The entry that `which` names; `None` if it names none.
    pub(super) fn find(&self, which: &str) -> Result<Option<KeyEntry>, KeyStoreError> {
        let Ok(name) = which.parse::<Name>() else {
            return Ok(None);
        };
        let find = |entries: Vec<KeyEntry>| {
            let of_key = |entry: &&KeyEntry| entry.name.is_prefix_of(&name);
            let of_identity = |entry: &&KeyEntry| entry.is_default && entry.identity() == name;
            entries.iter().find(of_key).or_else(|| entries.iter().find(of_identity)).cloned()
        };
        // A key chain that cannot be read must not stand in the way of the store's own keys.
        match (find(self.list_own()?), &self.key_chain) {
            (None, Some(folder)) => Ok(find(key_chain::list(folder)?)),
            (found, _) => Ok(found),
        }
    }

    /// The private key that `which` names or that its file holds, with name and certificate where they are known.
    pub(super) fn find_private(
        &self,
        which: &str,
        password: Option<&str>,
    ) -> Result<(PrivateKey, Option<Name>, Option<Data>), KeyStoreError> {
        if let Some(entry) = self.find(which)? {
            let key = load_private(&entry)?;
            return Ok((key, Some(entry.name), entry.certificate));
        }
        let path = Path::new(which);
        if !path.is_file() {
            return Err(self.not_found(which));
        }
        match Form::load(path, password)? {
            Form::Private(key, name, certificate) => Ok((key, name, certificate)),
            _ => Err(KeyStoreError::OnlyPublic(path.to_owned())),
        }
    }

    pub(super) fn not_found(&self, which: &str) -> KeyStoreError {
        let names = self.list().unwrap_or_default();
        let identities = names.iter().map(|entry| entry.identity().to_string());
        let names: Vec<_> = identities.collect::<BTreeSet<_>>().into_iter().collect();
        let known = match &names[..] {
            [] => "there are no keys yet: make one with `recoup key new`".into(),
            names => format!("there are keys of {}", names.join(", ")),
        };
        KeyStoreError::NotFound { wanted: which.into(), known }
    }

    pub(super) fn list_own(&self) -> Result<Vec<KeyEntry>, KeyStoreError> {
        let files = match fs::read_dir(&self.folder) {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(KeyStoreError::io("read", &self.folder)(error)),
        };
        let mut entries = Vec::new();
        for file in files {
            let path = file.map_err(KeyStoreError::io("read", &self.folder))?.path();
            if path.extension().is_some_and(|extension| extension == "pem") {
                entries.push(read_entry(&path)?);
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        mark_defaults(&mut entries);
        self.mark_chosen(&mut entries);
        Ok(entries)
    }

    pub(super) fn make_folder(&self) -> Result<(), KeyStoreError> {
        let make = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        make.map_err(KeyStoreError::io("make the folder", &self.folder))
    }

    /// Writes a key and its certificate; signs a certificate if the key has none.
    fn add(
        &self,
        key: &PrivateKey,
        name: &Name,
        certificate: Option<Data>,
    ) -> Result<KeyEntry, KeyStoreError> {
        let certificate = match (certificate, key) {
            (Some(certificate), _) => Some(certificate),
            (None, PrivateKey::Hmac(_)) => None,
            (None, _) => Some(certificate::self_signed(key, name, now_ms())?),
        };
        let path = self.folder.join(file_name(name));
        self.make_folder()?;
        let text = Zeroizing::new(format!("Name: {name}\n{}", *key.to_pem()?));
        write_new(&path, text.as_bytes()).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => KeyStoreError::Exists(name.to_string()),
            _ => KeyStoreError::io("write", &path)(error),
        })?;
        if let Some(certificate) = &certificate {
            let beside = path.with_extension("ndncert");
            let text = form::to_base64(&certificate.wire());
            let _ = fs::remove_file(&beside);
            write_new(&beside, text.as_bytes()).map_err(|error| {
                // Half of it would stand in the way of another attempt.
                let _ = fs::remove_file(&path);
                KeyStoreError::io("write", &beside)(error)
            })?;
        }
        read_entry(&path).map(|entry| KeyEntry { is_default: true, ..entry })
    }
}

/// `/<identity>/KEY/<id in hexadecimal>`.
fn key_name(identity: &Name, id: &[u8]) -> Name {
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    identity.append(Component::generic(b"KEY")).append(Component::generic(id.as_bytes()))
}

/// Identifies a key.
fn fingerprint(key: &PrivateKey) -> Result<Vec<u8>, KeyStoreError> {
    match key {
        PrivateKey::Hmac(secret) => Ok(sha256(secret).to_vec()),
        _ => Ok(key.to_spki()?),
    }
}

pub(super) fn file_name(name: &Name) -> String {
    let digest = sha256(name.value());
    let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    digest + ".pem"
}

fn read_entry(path: &Path) -> Result<KeyEntry, KeyStoreError> {
    let damaged = |reason: &dyn std::fmt::Display| KeyStoreError::Damaged {
        path: path.to_owned(),
        reason: reason.to_string(),
    };
    let form = Form::load(path, None).map_err(|error| damaged(&error))?;
    let Form::Private(key, Some(name), _) = form else {
        return Err(damaged(&"it holds no named private key"));
    };
    let beside = path.with_extension("ndncert");
    let certificate = match beside.exists() {
        false => None,
        true => match Form::load(&beside, None).map_err(|error| damaged(&error))? {
            Form::Certificate(data) => Some(data),
            _ => return Err(damaged(&"the file beside it holds no certificate")),
        },
    };
    let (signature_type, origin) = (Some(key.signature_type()), Origin::Store(path.to_owned()));
    Ok(KeyEntry { name, signature_type, certificate, origin, is_default: false })
}

/// An identity's newest key is its default: by its certificate's version, then by its file's time.
fn mark_defaults(entries: &mut [KeyEntry]) {
    let age = |(index, entry): (usize, &KeyEntry)| {
        let version = entry.certificate.as_ref().and_then(|data| data.name().last()?.is_version());
        let (Origin::Store(path) | Origin::KeyChain(path)) = &entry.origin;
        let modified = fs::metadata(path).and_then(|data| data.modified()).ok();
        (entry.identity(), version, modified, index)
    };
    let mut ages: Vec<_> = entries.iter().enumerate().map(age).collect();
    ages.sort();
    for (at, (identity, .., index)) in ages.iter().enumerate() {
        let newest = ages.get(at + 1).is_none_or(|(next, ..)| next != identity);
        entries[*index].is_default = newest;
    }
}

fn load_private(entry: &KeyEntry) -> Result<PrivateKey, KeyStoreError> {
    match &entry.origin {
        Origin::KeyChain(folder) => key_chain::private_key(folder, &entry.name),
        Origin::Store(path) => match Form::load(path, None)? {
            Form::Private(key, ..) => Ok(key),
            _ => Err(KeyStoreError::OnlyPublic(path.clone())),
        },
    }
}

/// A file that cannot be written whole, as on a full disk, is none: it would stand in the way of all keys.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

pub(super) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, KeyStoreError> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|error| KeyStoreError::Entropy(error.to_string()))?;
    Ok(bytes)
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as u64
}
