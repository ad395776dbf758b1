//! Who vouches for content: verifiers and signers by what the command line says.
use crate::error::{Exit, Failure};
use crate::fetch::args::Verify;
use recoup_io::key::{KeyStore, KeyStoreError};
use recoup_packet::signature::{
    AutoVerifier, DigestVerifier, KeyVerifier, NoVerifier, PublicKey, Signer, Verifier,
};

/// The environment variable with the passphrase of an encrypted key.
pub(crate) const PASSPHRASE: &str = "RECOUP_PASSPHRASE";

/// The judge that `verify` describes.
pub(crate) fn verifier(verify: &Verify) -> Result<Box<dyn Verifier>, Failure> {
    Ok(match verify {
        Verify::Auto => Box::new(AutoVerifier),
        Verify::Digest => Box::new(DigestVerifier),
        Verify::None => Box::new(NoVerifier),
        Verify::Key(which) => Box::new(KeyVerifier(public_key(which)?)),
    })
}

/// The signer that `which` names: `digest`, a key of the store, or a file.
pub(crate) fn signer(which: &str) -> Result<Box<dyn Signer>, Failure> {
    let store = KeyStore::open_default();
    store.signer_with_password(which, passphrase().as_deref()).map_err(|error| failure(&error))
}

/// The public key that `which` names: a key of the store, or a file.
pub(crate) fn public_key(which: &str) -> Result<PublicKey, Failure> {
    let key = KeyStore::open_default().public_key(which, passphrase().as_deref());
    key.map_err(|error| failure(&error))
}

fn passphrase() -> Option<String> {
    std::env::var(PASSPHRASE).ok().filter(|text| !text.is_empty())
}

/// The exit code and the line for a failure of the key store.
pub(crate) fn failure(error: &KeyStoreError) -> Failure {
    let failure = Failure::new(Exit::Local, error.to_string());
    match error {
        KeyStoreError::PasswordNeeded => {
            failure.advise(format!("put its passphrase into the environment variable {PASSPHRASE}"))
        }
        _ => failure,
    }
}
