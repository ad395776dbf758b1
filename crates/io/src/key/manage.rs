//! Certificates of keys: requested, issued, taken in, and found; keys deleted and chosen.
//!
//! A certificate beside a private key is that key's; one without is that of an issuer, kept so that a producer can publish it.

use super::form::{self, Form};
use super::store::{file_name, now_ms, write_new};
use super::{KeyEntry, KeyStore, KeyStoreError, Origin, certificate};
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::signature::{KeyLocator, Signer};
use recoup_trust::certificate::locator;
use std::fs;
use std::path::{Path, PathBuf};

/// Most certificates of a chain.
const MAX_CHAIN: usize = 16;

/// Content of a certificate to issue.
#[derive(Clone, Debug)]
pub struct Issue {
    /// The key of the issuer: its name in the key store, or its file.
    pub signer: String,
    /// The issuer's component of the certificate's name.
    pub issuer: String,
    /// How long it is valid from now on, in seconds.
    pub lifetime_s: u64,
}

impl KeyStore {
    /// Removes a key, named by itself or by its identity if that has one key only, with its certificate. Returns its name.
    ///
    /// # Errors
    /// There is no such key, or it is one of ndn-cxx, or its file cannot be removed.
    pub fn delete(&self, which: &str) -> Result<Name, KeyStoreError> {
        let entry = self.find(which)?.ok_or_else(|| self.not_found(which))?;
        let Origin::Store(path) = &entry.origin else {
            return Err(KeyStoreError::Foreign(entry.name.to_string()));
        };
        let same = |other: &&KeyEntry| other.identity() == entry.identity();
        if !entry.name.is_prefix_of(&which.parse().unwrap_or_default())
            && self.list_own()?.iter().filter(same).count() > 1
        {
            return Err(KeyStoreError::Ambiguous(which.to_owned()));
        }
        fs::remove_file(path).map_err(KeyStoreError::io("remove", path))?;
        let beside = path.with_extension("ndncert");
        if beside.exists() {
            fs::remove_file(&beside).map_err(KeyStoreError::io("remove", &beside))?;
        }
        Ok(entry.name)
    }

    /// Makes a key the one that its identity signs with.
    ///
    /// # Errors
    /// There is no such key, or it is one of ndn-cxx, or the choice cannot be written.
    pub fn choose(&self, which: &str) -> Result<KeyEntry, KeyStoreError> {
        let entry = self.find(which)?.ok_or_else(|| self.not_found(which))?;
        if matches!(entry.origin, Origin::KeyChain(_)) {
            return Err(KeyStoreError::Foreign(entry.name.to_string()));
        }
        replace(&self.choice(&entry.identity()), entry.name.to_string().as_bytes())?;
        Ok(KeyEntry { is_default: true, ..entry })
    }

    /// The file with the name of the key that an identity signs with.
    fn choice(&self, identity: &Name) -> PathBuf {
        self.folder.join(file_name(identity)).with_extension("default")
    }

    /// Marks the keys that were chosen as defaults, instead of the newest ones.
    pub(super) fn mark_chosen(&self, entries: &mut [KeyEntry]) {
        for at in 0..entries.len() {
            let identity = entries[at].identity();
            let chosen = fs::read_to_string(self.choice(&identity)).unwrap_or_default();
            if entries[at].name.to_string() == chosen {
                for entry in entries.iter_mut().filter(|entry| entry.identity() == identity) {
                    entry.is_default = entry.name.to_string() == chosen;
                }
            }
        }
    }

    /// A request for a certificate of a key: one that the key has signed itself, now, in base64.
    ///
    /// # Errors
    /// There is no such key, or it is a shared secret.
    pub fn request(&self, which: &str) -> Result<String, KeyStoreError> {
        let (key, name, _) = self.find_private(which, None)?;
        let name = name.ok_or(KeyStoreError::IdentityNeeded)?;
        let request = certificate::self_signed(&key, &name, now_ms())?;
        Ok(form::to_base64(&request.wire()))
    }

    /// A certificate for the key in `request`, in base64.
    ///
    /// # Errors
    /// The request is no certificate, its key did not sign it, or the issuer has no key or certificate.
    pub fn issue(&self, request: &[u8], issue: &Issue) -> Result<(Name, String), KeyStoreError> {
        let form = Form::read(request.to_vec().into(), None)?;
        let Some(Form::Certificate(request)) = form else {
            return Err(KeyStoreError::NotUnderstood(
                "a request for a certificate; make one with `recoup key sign-request`",
            ));
        };
        let key = recoup_packet::signature::PublicKey::from_certificate(&request)?;
        if !key.verify(request.signed_portion(), request.signature_value()) {
            return Err(KeyStoreError::NotOwned(request.name().to_string()));
        }
        let (key, _, own) = self.find_private(&issue.signer, None)?;
        let own = own.ok_or(KeyStoreError::NoCertificate)?;
        let signer: Box<dyn Signer> = key.signer(KeyLocator::Name(own.name().value()))?;
        let now = now_ms();
        let period = (now / 1000, (now / 1000).saturating_add(issue.lifetime_s));
        let made = certificate::issued(&request, signer, issue.issuer.as_bytes(), now, period)?;
        Ok((made.name().clone(), form::to_base64(&made.wire())))
    }

    /// Takes in a certificate; `None` if the bytes hold something else. That of a key of the store becomes the key's, any
    /// other one that of an issuer. Returns its name.
    ///
    /// # Errors
    /// If the certificate is about another key, its name is wrong, or the file cannot be written.
    pub fn import_certificate(&self, bytes: &[u8]) -> Result<Option<Name>, KeyStoreError> {
        let form = Form::read(bytes.to_vec().into(), None);
        let Ok(Some(Form::Certificate(data))) = form else {
            return Ok(None);
        };
        let name = certificate::key_name(&data)?;
        recoup_packet::signature::PublicKey::from_certificate(&data)?;
        if let Some(entry) = self.list_own()?.iter().find(|entry| entry.name == name) {
            let (key, ..) = self.find_private(&entry.name.to_string(), None)?;
            if !certificate::belongs_to(&data, &key)? {
                return Err(KeyStoreError::OtherKey(data.name().to_string()));
            }
        }
        let path = self.folder.join(file_name(&name)).with_extension("ndncert");
        self.make_folder()?;
        replace(&path, form::to_base64(&data.wire()).as_bytes())?;
        Ok(Some(data.name().clone()))
    }

    /// The certificate that `which` names: that of a key of the store, or a file.
    ///
    /// # Errors
    /// There is none.
    pub fn certificate(&self, which: &str) -> Result<Data, KeyStoreError> {
        if let Some(entry) = self.find(which)? {
            return entry.certificate.ok_or(KeyStoreError::NoCertificate);
        }
        if let Ok(name) = which.parse::<Name>()
            && let Some(data) = self.issuers().into_iter().find(|it| name.is_prefix_of(it.name()))
        {
            return Ok(data);
        }
        let path = Path::new(which);
        if !path.is_file() {
            return Err(KeyStoreError::NoSuchCertificate(which.to_owned()));
        }
        match Form::load(path, None)? {
            Form::Certificate(data) | Form::Private(_, _, Some(data)) => Ok(data),
            Form::Private(..) | Form::Public(_) => Err(KeyStoreError::NoCertificate),
        }
    }

    /// The certificate of the key that `which` names, and those of its issuers that are here, the nearest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn chain(&self, which: &str) -> Result<Vec<Data>, KeyStoreError> {
        let Some(own) = self.find(which)?.and_then(|entry| entry.certificate) else {
            return Ok(Vec::new());
        };
        let mut others = self.issuers();
        others.extend(self.list()?.into_iter().filter_map(|entry| entry.certificate));
        let mut chain = vec![own];
        while let Some(last) = chain.last().filter(|_| chain.len() < MAX_CHAIN)
            && let Some(signer) = locator(last)
            && let Some(next) = others.iter().find(|it| signer.is_prefix_of(it.name()))
            && chain.iter().all(|known| known.name() != next.name())
        {
            chain.push(next.clone());
        }
        Ok(chain)
    }

    /// Certificates of keys whose private parts are elsewhere.
    fn issuers(&self) -> Vec<Data> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let paths = files.map(|file| file.path()).filter(|path| {
            path.extension().is_some_and(|extension| extension == "ndncert")
                && !path.with_extension("pem").exists()
        });
        let mut found: Vec<Data> = paths
            .filter_map(|path| match Form::load(&path, None) {
                Ok(Form::Certificate(data)) => Some(data),
                _ => None,
            })
            .collect();
        found.sort_by(|a, b| a.name().cmp(b.name()));
        found
    }
}

/// Writes a file whole, or leaves it as it was.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), KeyStoreError> {
    let fresh = path.with_extension("new");
    let _ = fs::remove_file(&fresh);
    write_new(&fresh, bytes).map_err(KeyStoreError::io("write", &fresh))?;
    fs::rename(&fresh, path).map_err(KeyStoreError::io("write", path))
}
