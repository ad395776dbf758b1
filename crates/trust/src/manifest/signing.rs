//! Keys that sign manifests, and the names that they may sign.
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::signature::{KeyVerifier, Verifier};

/// Verifiers that know which names a key may sign.
pub trait Signing: Verifier {
    /// A key whose signature was verified.
    type Key: Send + Sync;

    /// The key that signed `manifest`, which is verified. `None` if the key is not valid now.
    fn key_of(&self, manifest: &Data) -> Option<Self::Key>;

    /// Whether the key may certainly sign each segment of `object`, whatever its number.
    fn covers(&self, key: &Self::Key, object: &Name) -> bool;

    /// Whether the key is valid now.
    ///
    /// # Errors
    /// The reason, as the end of "the packet …".
    fn is_valid(&self, key: &Self::Key) -> Result<(), &'static str>;

    /// Whether the key may sign a packet named `name`.
    ///
    /// # Errors
    /// The reason, as the end of "the packet …".
    fn may_sign(&self, key: &Self::Key, name: &Name) -> Result<(), &'static str>;
}

impl Signing for KeyVerifier {
    type Key = ();

    fn key_of(&self, _: &Data) -> Option<()> {
        Some(())
    }

    fn covers(&self, (): &(), _: &Name) -> bool {
        true
    }

    fn is_valid(&self, (): &()) -> Result<(), &'static str> {
        Ok(())
    }

    fn may_sign(&self, (): &(), _: &Name) -> Result<(), &'static str> {
        Ok(())
    }
}
