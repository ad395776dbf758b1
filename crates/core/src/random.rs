//! Chance, drawn from a seed: every part that needs it owns a named substream.
//!
//! A substream is derived from the *name* of its parent stream, never from how much was drawn
//! before. Adding a part therefore never shifts another part's draws, and two algorithms compared
//! on one seed meet the same losses.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number
//! generators", 2021), seeded by SplitMix64. It is not for secrets.
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rng {
    identity: u64,
    generator: Xoshiro256PlusPlus,
}

impl Rng {
    /// The stream of the seed `seed`.
    pub fn from_seed(seed: u64) -> Self {
        Self { identity: seed, generator: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The independent stream called `name` below this one, the same however much was drawn here.
    pub fn substream(&self, name: &str) -> Self {
        Self::from_seed(mix(fnv1a(name.as_bytes()) ^ mix(self.identity)))
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        self.generator.next_u32()
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// The next number in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next whole number below `n`, each equally likely; 0 if `n` is 0.
    ///
    /// Lemire, "Fast Random Integer Generation in an Interval", 2019.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let unfair = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= unfair {
                return (product >> 64) as u64;
            }
        }
    }
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
#[must_use]
#[inline]
pub fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(mut rng: Rng) -> [u64; 4] {
        std::array::from_fn(|_| rng.next_u64())
    }

    #[test]
    fn a_seed_gives_the_same_numbers_again() {
        assert_eq!(draw(Rng::from_seed(7)), draw(Rng::from_seed(7)));
        assert_ne!(draw(Rng::from_seed(7)), draw(Rng::from_seed(8)));
    }

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        assert_eq!(Rng::from_seed(0).next_u64(), 5_987_356_902_031_041_503);
    }

    #[test]
    fn substream_does_not_depend_on_earlier_draws() {
        let mut drawn = Rng::from_seed(7);
        drawn.next_u64();
        let fresh = Rng::from_seed(7);
        assert_eq!(draw(drawn.substream("link/3/loss")), draw(fresh.substream("link/3/loss")));
    }

    #[test]
    fn substreams_of_different_names_or_parents_differ() {
        let rng = Rng::from_seed(7);
        assert_ne!(draw(rng.substream("a")), draw(rng.substream("b")));
        assert_ne!(draw(rng.substream("a")), draw(rng.clone()));
        assert_ne!(draw(rng.substream("a")), draw(rng.substream("a").substream("a")));
        assert_ne!(draw(rng.substream("a")), draw(Rng::from_seed(8).substream("a")));
    }

    #[test]
    fn draws_cover_their_range() {
        let mut rng = Rng::from_seed(1);
        let mut seen = [0_u32; 5];
        for _ in 0..5_000 {
            seen[rng.below(5) as usize] += 1;
            assert!((0.0..1.0).contains(&rng.unit_f64()));
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
        assert_eq!((rng.below(0), rng.below(1)), (0, 0));
    }
}
