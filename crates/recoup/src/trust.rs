//! Verification and signing: verifiers and signers by name.
use crate::error::Result;
use recoup_io::key::KeyStore;
use recoup_packet::signature::{
    AutoVerifier, DigestVerifier, KeyVerifier, NoVerifier, PublicKey, Signer, Verifier,
};
use std::fmt;
use std::str::FromStr;

/// The environment variable with the passphrase of an encrypted key.
pub const PASSPHRASE: &str = "RECOUP_PASSPHRASE";

/// How content is verified. Parses from and prints as `auto`, `digest`, `key=FILE` or `none`.
///
/// ```
/// use recoup::Verify;
/// assert_eq!("key=publisher.cert".parse(), Ok(Verify::Key("publisher.cert".into())));
/// assert_eq!(Verify::default(), Verify::Auto);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// A digest is checked where there is one; a signature by an unknown key counts as not verified.
    #[default]
    Auto,
    /// Nothing but content with a correct digest is accepted.
    Digest,
    /// Nothing but content signed by this key is accepted: a file (PEM, certificate, SafeBag), or the name of a key in the
    /// key store.
    Key(String),
    /// Everything is accepted.
    None,
}

impl FromStr for Verify {
    type Err = String;
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "digest" => Ok(Self::Digest),
            "none" => Ok(Self::None),
            _ => match text.strip_prefix("key=") {
                Some(key) if !key.is_empty() => Ok(Self::Key(key.to_owned())),
                _ => Err("write auto, digest, key=FILE or none".into()),
            },
        }
    }
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Digest => f.write_str("digest"),
            Self::None => f.write_str("none"),
            Self::Key(key) => write!(f, "key={key}"),
        }
    }
}

impl Verify {
    /// The verifier.
    ///
    /// # Errors
    /// [`ErrorKind::Local`](crate::ErrorKind::Local): the key cannot be read.
    pub fn verifier(&self) -> Result<Box<dyn Verifier>> {
        Ok(match self {
            Self::Auto => Box::new(AutoVerifier),
            Self::Digest => Box::new(DigestVerifier),
            Self::None => Box::new(NoVerifier),
            Self::Key(which) => Box::new(KeyVerifier(public_key(which)?)),
        })
    }
}

/// The signer that `which` names: `digest`, a key of the key store, or a file.
///
/// # Errors
/// [`ErrorKind::Local`](crate::ErrorKind::Local): the key cannot be read.
pub fn signer(which: &str) -> Result<Box<dyn Signer>> {
    let store = KeyStore::open_default();
    store.signer_with_password(which, passphrase().as_deref()).map_err(|error| (&error).into())
}

/// The public key that `which` names: a key of the key store, or a file.
///
/// # Errors
/// [`ErrorKind::Local`](crate::ErrorKind::Local): the key cannot be read.
pub fn public_key(which: &str) -> Result<PublicKey> {
    let key = KeyStore::open_default().public_key(which, passphrase().as_deref());
    key.map_err(|error| (&error).into())
}

/// The passphrase of encrypted keys, if [`PASSPHRASE`] is set.
pub fn passphrase() -> Option<String> {
    std::env::var(PASSPHRASE).ok().filter(|text| !text.is_empty())
}
