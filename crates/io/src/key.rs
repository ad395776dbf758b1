//! Keys: making them, keeping them, and exchanging them with other software.

mod error;
mod private;
mod rsa;

pub use error::KeyStoreError;
pub use private::PrivateKey;
