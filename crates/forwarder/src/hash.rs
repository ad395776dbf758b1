//! Hashes of names, equal in all nodes of one simulation.
//!
//! Remote nodes choose names, so all secrets of the hash function follow from the seed; a driver of real faces draws
//! it from the system's entropy. The function is foldhash (Orson Peters): deterministic for a seed, but different on
//! machines with 32-bit words.
use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;
pub(crate) use recoup_transport::random::mix;
use std::hash::Hasher;

/// Hashes the bytes of names; equal seeds give equal hashes.
#[derive(Clone, Debug)]
pub struct NameHasher {
    start: u64,
    secrets: SharedSeed,
}

impl NameHasher {
    /// A hasher with this seed. On real networks peers must not know it.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { start: mix(seed), secrets: SharedSeed::from_u64(seed) }
    }

    /// Hash of the TLV-VALUE of a name.
    #[must_use]
    #[inline]
    pub fn hash(&self, value: &[u8]) -> u64 {
        let mut hasher = FoldHasher::with_seed(self.start, &self.secrets);
        hasher.write(value);
        hasher.finish()
    }
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
