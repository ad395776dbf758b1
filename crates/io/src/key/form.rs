//! Recognising what a key file holds.

use super::{KeyStoreError, PrivateKey, certificate, safe_bag};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::signature::PublicKey;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Key files are smaller than this, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Accepts text with or without `=` at its end.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Contents of a key file.
pub(super) enum Form {
    /// A private key, with its name and certificate if the file has them.
    Private(PrivateKey, Option<Name>, Option<Data>),
    /// A public key without a name.
    Public(PublicKey),
    /// A certificate.
    Certificate(Data),
}

impl Form {
    /// Reads the file at `path`.
    pub(super) fn load(path: &Path, password: Option<&str>) -> Result<Self, KeyStoreError> {
        let mut bytes = Vec::new();
        fs::File::open(path)
            .and_then(|file| file.take(MAX_SIZE).read_to_end(&mut bytes))
            .map_err(KeyStoreError::io("read", path))?;
        Self::read(bytes.into(), password)
            .transpose()
            .unwrap_or_else(|| Err(KeyStoreError::UnknownForm(path.to_owned())))
    }

    /// Reads bytes of any known form; `None` if they have none.
    pub(super) fn read(
        bytes: Bytes,
        password: Option<&str>,
    ) -> Result<Option<Self>, KeyStoreError> {
        match bytes.first() {
            Some(0x06 | 0x80) => return Self::from_tlv(bytes, password).map(Some),
            Some(0x30) => return Self::from_der(&bytes).map(Some),
            _ => {}
        }
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Ok(None);
        };
        if text.contains("-----BEGIN ") {
            return Self::from_pem(text, password).map(Some);
        }
        match from_base64(text) {
            Some(bytes) if matches!(bytes.first(), Some(0x06 | 0x80)) => {
                Self::from_tlv(bytes, password).map(Some)
            }
            Some(bytes) if bytes.first() == Some(&0x30) => Self::from_der(&bytes).map(Some),
            _ => Ok(None),
        }
    }

    fn from_tlv(bytes: Bytes, password: Option<&str>) -> Result<Self, KeyStoreError> {
        if safe_bag::is_safe_bag(&bytes) {
            let password = password.ok_or(KeyStoreError::PasswordNeeded)?;
            let (certificate, key) = safe_bag::decode(&bytes, password)?;
            let name = certificate::key_name(&certificate)?;
            return Ok(Self::Private(key, Some(name), Some(certificate)));
        }
        let data =
            Data::decode(bytes).map_err(|_| KeyStoreError::NotUnderstood("an NDN certificate"))?;
        Ok(Self::Certificate(data))
    }

    fn from_der(der: &[u8]) -> Result<Self, KeyStoreError> {
        if let Ok(key) = PublicKey::from_spki(der) {
            return Ok(Self::Public(key));
        }
        Ok(Self::Private(PrivateKey::from_der(der)?, None, None))
    }

    fn from_pem(text: &str, password: Option<&str>) -> Result<Self, KeyStoreError> {
        if text.contains("PUBLIC KEY-----") {
            return Ok(Self::Public(PublicKey::from_pem(text)?));
        }
        if let Some(bytes) = ndn_block(text, "NDN CERT") {
            return Self::from_tlv(bytes, None);
        }
        if let Some(bytes) = ndn_block(text, "NDN KEY") {
            let data = Data::decode(bytes)
                .map_err(|_| KeyStoreError::NotUnderstood("a private key of ndnd"))?;
            let key = PrivateKey::from_der(data.content())?;
            return Ok(Self::Private(key, Some(data.name().clone()), None));
        }
        let key = PrivateKey::from_pem(text, password)?;
        Ok(Self::Private(key, stated_name(text), None))
    }
}

/// The bytes in `text`, which is base64 with any white space in it.
pub(super) fn from_base64(text: &str) -> Option<Bytes> {
    let dense: String = text.split_ascii_whitespace().collect();
    BASE64.decode(dense).ok().map(Bytes::from)
}

/// `bytes` as base64 in lines of 64 characters, as ndnsec writes it.
pub(super) fn to_base64(bytes: &[u8]) -> String {
    let dense = BASE64.encode(bytes);
    let mut text = String::with_capacity(dense.len() + dense.len() / 64 + 1);
    for (at, character) in dense.chars().enumerate() {
        if at % 64 == 0 && at > 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text.push('\n');
    text
}

/// The bytes of the block labelled `label`: ndnd's text form, in which header lines and an empty line come first.
fn ndn_block(text: &str, label: &str) -> Option<Bytes> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (block, _) = rest.split_once(&format!("-----END {label}-----"))?;
    from_base64(&block.lines().filter(|line| !line.contains(':')).collect::<String>())
}

/// The name in a line `Name: …` before the key.
fn stated_name(text: &str) -> Option<Name> {
    let (before, _) = text.split_once("-----BEGIN ")?;
    before.lines().find_map(|line| line.strip_prefix("Name: "))?.trim().parse().ok()
}

/// Reads the public key in the file at `path`: PEM (public or private), an NDN certificate or a SafeBag (binary or
/// base64), or DER. Encrypted forms need `password`.
pub fn load_public_key(path: &Path, password: Option<&str>) -> Result<PublicKey, KeyStoreError> {
    match Form::load(path, password)? {
        Form::Public(key) => Ok(key),
        Form::Private(key, ..) => Ok(key.public_key()?),
        Form::Certificate(data) => Ok(PublicKey::from_certificate(&data)?),
    }
}
