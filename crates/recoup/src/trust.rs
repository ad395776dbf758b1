//! Verification and signing: verifiers and signers by name.
use crate::error::Result;
use recoup_io::key::KeyStore;
use recoup_packet::signature::{
    AutoVerifier, DigestVerifier, KeyVerifier, NoVerifier, PublicKey, Signer, Verifier,
};

pub use recoup_transport::fetch::Verify;

/// The environment variable with the passphrase of an encrypted key.
pub const PASSPHRASE: &str = "RECOUP_PASSPHRASE";

/// The verifier that `verify` names.
///
/// # Errors
/// [`ErrorKind::Local`](crate::ErrorKind::Local): the key cannot be read.
pub fn verifier(verify: &Verify) -> Result<Box<dyn Verifier>> {
    Ok(match verify {
        Verify::Auto => Box::new(AutoVerifier),
        Verify::Digest => Box::new(DigestVerifier),
        Verify::None => Box::new(NoVerifier),
        Verify::Key(which) => Box::new(KeyVerifier(public_key(which)?)),
    })
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
