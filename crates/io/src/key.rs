//! Keys: creation, storage, and exchange with other software.

mod certificate;
mod error;
mod form;
mod group;
mod key_chain;
mod manage;
mod private;
mod rsa;
mod safe_bag;
mod store;

pub use error::KeyStoreError;
pub use form::load_public_key;
pub use group::Encryption;
pub use manage::Issue;
pub use private::PrivateKey;
pub use recoup_trust::certificate::date;
pub use store::{KeyEntry, KeyStore, KeyType, Origin};
