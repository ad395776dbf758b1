//! Name-based access control: content that only the members of a group can read.
//!
//! A group has a pair of RSA keys. Its public part, the *key encryption key* (KEK), is published. Its private part, the *key
//! decryption key* (KDK), is published once for each member, encrypted for that member. A producer encrypts content with a
//! *content key* (CK), and publishes that key encrypted by the KEK. So a producer needs no secret of the group, and a
//! consumer none of the producer.
//!
//! | packet | name |
//! |---|---|
//! | KEK | `<namespace>/NAC/<dataset>/KEK/<id>` |
//! | KDK | `<namespace>/NAC/<dataset>/KDK/<id>/ENCRYPTED-BY/<member>/KEY/<id>` |
//! | CK | `<prefix>/CK/<id>/ENCRYPTED-BY/<name of the KEK>` |
//!
//! Source: NAC specification (named-data/name-based-access-control, `docs/spec.rst`). RSA-OAEP has SHA-1, as in NDNts
//! (`@ndn/nac`) and ndn-cxx. Content is encrypted by AES-GCM-SIV, which those do not have; AES-CBC, which they have, is read,
//! and written on request.
//!
//! A content key serves names below its `<prefix>` alone. The group's public key is known to all, so that anybody can make a
//! content key: encryption proves nothing about the author.
//!
//! Sans-IO, and without keys of its own: [`Decrypting`] is a verifier that names missing keys as it names missing
//! certificates, and a [`Member`] opens them.
mod cipher;
mod content;
mod decrypting;
pub mod name;

pub use cipher::{CipherError, ContentKey};
pub use content::EncryptedContent;
pub use decrypting::{Decrypting, GroupKey, MAX_KEYS, Member, NO_AUTHOR, UNREADABLE};
