//! Hashing names, alike in all nodes of one world.
//!
//! Names are chosen by whoever sends packets, so all secrets of the hash function follow from the
//! seed; a driver of real faces draws it from the system's entropy. The function is foldhash (Orson
//! Peters): deterministic for a seed, though other on machines with 32-bit words.
use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;
pub(crate) use recoup_transport::random::mix;
use std::hash::Hasher;

/// Hashes the bytes of names; the same seed gives the same hashes.
#[derive(Clone, Debug)]
pub struct NameHasher {
    start: u64,
    secrets: SharedSeed,
}

impl NameHasher {
    /// A hasher for this seed. On real networks it must be one that peers cannot know.
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
    fn hashes_follow_from_octets_and_seed_alone() {
        let (one, same, other) = (NameHasher::new(1), NameHasher::new(1), NameHasher::new(2));
        for value in [&b""[..], b"\x08\x01a", &[7; 300]] {
            assert_eq!(one.hash(value), same.hash(value));
            assert_ne!(one.hash(value), other.hash(value));
        }
        assert_ne!(one.hash(b"\x08\x01a"), one.hash(b"\x08\x01b"));
    }
}
