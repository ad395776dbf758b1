//! Hashes of names, equal in all nodes of one simulation.
//!
//! Remote nodes choose names, so all secrets of the hash function follow from the seed; a driver of real faces draws
//! it from the system's entropy. The function is foldhash (Orson Peters), on every machine that of 64-bit words.
#[cfg(any(test, not(target_pointer_width = "64")))]
mod portable;

pub(crate) use recoup_transport::random::mix;

#[cfg(target_pointer_width = "64")]
use foldhash::SharedSeed as Secrets;
#[cfg(not(target_pointer_width = "64"))]
use portable::{Secrets, hash};

/// Hashes the bytes of names; equal seeds give equal hashes.
#[derive(Clone, Debug)]
pub struct NameHasher {
    start: u64,
    secrets: Secrets,
}

impl NameHasher {
    /// A hasher with this seed. On real networks peers must not know it.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { start: mix(seed), secrets: Secrets::from_u64(seed) }
    }

    /// Hash of the TLV-VALUE of a name.
    #[must_use]
    #[inline]
    pub fn hash(&self, value: &[u8]) -> u64 {
        hash(value, self.start, &self.secrets)
    }
}

#[cfg(target_pointer_width = "64")]
#[inline]
fn hash(bytes: &[u8], start: u64, secrets: &Secrets) -> u64 {
    use std::hash::Hasher;
    let mut hasher = foldhash::fast::FoldHasher::with_seed(start, secrets);
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_depend_on_bytes_and_seed_only() {
        let (one, same, other) = (NameHasher::new(1), NameHasher::new(1), NameHasher::new(2));
        for value in [&b""[..], b"\x08\x01a", &[7; 300]] {
            assert_eq!(one.hash(value), same.hash(value));
            assert_ne!(one.hash(value), other.hash(value));
        }
        assert_ne!(one.hash(b"\x08\x01a"), one.hash(b"\x08\x01b"));
    }
}
