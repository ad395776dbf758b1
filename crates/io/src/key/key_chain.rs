//! The key chain of ndn-cxx: its database `pib.db` and the files of its private keys. Only read, never written.

use super::store::KeyEntry;
use super::{KeyStoreError, PrivateKey, form};
use recoup_packet::name::Name;
use recoup_packet::signature::sha256;
use std::fs;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// All keys of the key chain in `folder`; none if there is no key chain.
#[cfg(not(feature = "keychain"))]
pub(super) fn list(_folder: &Path) -> Result<Vec<KeyEntry>, KeyStoreError> {
    Ok(Vec::new())
}

/// All keys of the key chain in `folder`; none if there is no key chain.
#[cfg(feature = "keychain")]
pub(super) fn list(folder: &Path) -> Result<Vec<KeyEntry>, KeyStoreError> {
    let path = folder.join("pib.db");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let rows = database::rows(&path).map_err(|error| KeyStoreError::KeyChain {
        path: path.clone(),
        reason: error.to_string(),
    })?;
    let mut entries: Vec<_> = rows.into_iter().filter_map(|row| row.entry(folder)).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// The private key named `name`.
pub(super) fn private_key(folder: &Path, name: &Name) -> Result<PrivateKey, KeyStoreError> {
    let path = key_file(folder, name);
    let text = fs::read_to_string(&path).map(Zeroizing::new);
    let text = text.map_err(KeyStoreError::io("read", &path))?;
    let der = form::from_base64(&text).ok_or_else(|| KeyStoreError::UnknownForm(path.clone()))?;
    PrivateKey::from_der(&der)
}

/// `ndnsec-key-file/<SHA-256 of the Name element>.privkey`.
fn key_file(folder: &Path, name: &Name) -> PathBuf {
    let mut wire = Vec::new();
    name.encode(&mut wire);
    let digest: String = sha256(&wire).iter().map(|byte| format!("{byte:02x}")).collect();
    folder.join("ndnsec-key-file").join(digest + ".privkey")
}

#[cfg(feature = "keychain")]
mod database {
    use super::super::store::{KeyEntry, Origin};
    use bytes::Bytes;
    use recoup_packet::data::Data;
    use recoup_packet::name::Name;
    use rusqlite::{Connection, OpenFlags, Row};
    use std::path::Path;

    const QUERY: &str = "\
        SELECT keys.key_name, keys.is_default, certificates.certificate_data FROM keys
        LEFT JOIN certificates ON certificates.key_id = keys.id AND certificates.is_default = 1";

    /// One key of the database.
    pub(super) struct KeyRow {
        name: Vec<u8>,
        is_default: bool,
        certificate: Option<Vec<u8>>,
    }

    pub(super) fn rows(path: &Path) -> rusqlite::Result<Vec<KeyRow>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(path, flags)?;
        let mut statement = database.prepare(QUERY)?;
        let read = |row: &Row<'_>| {
            Ok(KeyRow { name: row.get(0)?, is_default: row.get(1)?, certificate: row.get(2)? })
        };
        statement.query_map([], read)?.collect()
    }

    impl KeyRow {
        /// The entry; `None` if its name cannot be understood.
        pub(super) fn entry(self, folder: &Path) -> Option<KeyEntry> {
            let name = Name::decode(Bytes::from(self.name)).ok()?;
            let certificate = self.certificate.and_then(|wire| Data::decode(wire.into()).ok());
            let key = super::private_key(folder, &name);
            Some(KeyEntry {
                name,
                signature_type: key.ok().map(|key| key.signature_type()),
                certificate,
                origin: Origin::KeyChain(folder.to_owned()),
                is_default: self.is_default,
            })
        }
    }
}
