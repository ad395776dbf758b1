//! Errors of keys.

use recoup_packet::signature::KeyError;
use std::io;
use std::path::{Path, PathBuf};

/// A key that cannot be found, read, used or written; the message names the cause and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// A system call failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// Attempted action, a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Neither a key, an identity nor a file has this name.
    #[error("there is no key, identity or PEM file named {wanted}; {known}")]
    NotFound {
        /// Requested identity or key.
        wanted: String,
        /// Available keys, as half a sentence.
        known: String,
    },
    /// A key of this name is there already.
    #[error("the key {0} is in the store already; `recoup key delete` removes it")]
    Exists(String),
    /// Bytes of another kind than hoped for.
    #[error("this is not {0}")]
    NotUnderstood(&'static str),
    /// A file holds none of the forms of a key.
    #[error(
        "{} holds no key that can be read; it may hold PEM text, an NDN certificate or a SafeBag, \
         the latter two binary or in base64", .0.display()
    )]
    UnknownForm(PathBuf),
    /// A file of the store cannot be used.
    #[error("{} in the key store is damaged: {reason}; repair it or move it away", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The rule that the file breaks.
        reason: String,
    },
    /// A file has a public key where a private one is needed.
    #[error("{} holds only a public key; signing needs the private one", .0.display())]
    OnlyPublic(PathBuf),
    /// A key came without a name.
    #[error("the key comes without a name")]
    IdentityNeeded,
    /// A shared secret, or a key whose certificate is missing.
    #[error("this key has no certificate; export it as PEM instead")]
    NoCertificate,
    /// The key is encrypted.
    #[error("the key is encrypted")]
    PasswordNeeded,
    /// The passphrase does not open the key.
    #[error("the passphrase is wrong, or the encrypted key is damaged")]
    WrongPassword,
    /// Opening would take hours or gigabytes.
    #[error("the file requires an unreasonable effort to try its passphrase; it may be malicious")]
    TooCostly,
    /// The key cannot be encoded in the requested form.
    #[error("the key cannot be encoded")]
    Encryption,
    /// The certificate in a bag belongs to another key.
    #[error("private key and certificate do not belong together; export them again")]
    Mismatch,
    /// The key is one of ndn-cxx, whose key chain is only read.
    #[error("the key {0} is kept by ndn-cxx; change it with ndnsec")]
    Foreign(String),
    /// An identity with several keys.
    #[error("{0} has several keys; name one of them (`recoup key list`)")]
    Ambiguous(String),
    /// Another key signed a request.
    #[error("the request {0} is not signed by its own key")]
    NotOwned(String),
    /// There is no such certificate.
    #[error("there is no certificate named {0}; name a key of the key store, or a file")]
    NoSuchCertificate(String),
    /// A certificate for another key than the one of that name.
    #[error("the certificate {0} is about another key than the one of that name in the store")]
    OtherKey(String),
    /// A certificate's name has no `KEY` component where it should.
    #[error("{0} is not a certificate name; it must read /<identity>/KEY/<key>/<issuer>/<version>")]
    NotCertificateName(String),
    /// There is no group of that name.
    #[error(
        "there is no group {0}; `recoup group new` makes one, and a file may hold the key of another's group"
    )]
    NoGroup(String),
    /// Only the public key of a group is here.
    #[error("only the public key of {0} is here; add members where its private key is kept")]
    OnlyKek(String),
    /// A key of another kind cannot decrypt.
    #[error("encryption needs an RSA key; make one with `recoup key new NAME --type rsa`")]
    NotRsa,
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The operating system gave no random bytes.
    #[error("the operating system gives no random numbers: {0}")]
    Entropy(String),
    /// An ndn-cxx key chain cannot be read.
    #[error("cannot read the key chain {}: {reason}", path.display())]
    KeyChain {
        /// Its database.
        path: PathBuf,
        /// Message of the database library.
        reason: String,
    },
}

impl KeyStoreError {
    /// An error of the operating system while it tried to `action` (a verb) the file at `path`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
