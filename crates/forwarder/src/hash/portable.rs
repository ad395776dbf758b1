//! The hash function of names on machines with 32-bit words, such as WebAssembly: the values that foldhash has on 64-bit ones.
//!
//! Source: foldhash 0.2 (Orson Peters), the variant `fast` for byte strings. Difference: its 32-bit variant replaces
//! the product of 128 bits by an approximation that hashes otherwise. Here the product is exact on every machine, and
//! words are little-endian. So the digest of a simulation does not depend on the machine.
use std::array;

/// Digits of the fractional part of π, as foldhash has them.
const FACTOR: u64 = 0xbe54_66cf_34e9_0c6c;
/// Bits that are set in each secret, for a factor of 0 would absorb all input.
const ONES: u64 = 1 << 63 | 1 << 31 | 1;

/// Secrets that follow from a seed.
#[derive(Clone, Debug)]
pub(super) struct Secrets([u64; 6]);

impl Secrets {
    pub(super) fn from_u64(seed: u64) -> Self {
        let mut last = seed;
        Self(array::from_fn(|_| {
            last = (0..3).fold(last, |value, _| fold(value, FACTOR));
            last | ONES
        }))
    }
}

/// Hash of `bytes` with `start` as the seed.
pub(super) fn hash(bytes: &[u8], start: u64, secrets: &Secrets) -> u64 {
    let start = start.rotate_right(bytes.len() as u32);
    if bytes.len() <= 16 { short(bytes, start, secrets) } else { long(bytes, start, secrets) }
}

/// The product of 128 bits, its halves joined by exclusive or.
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// At most 16 bytes: two words, which may overlap.
fn short(bytes: &[u8], start: u64, Secrets(secrets): &Secrets) -> u64 {
    let (first, last) = match bytes {
        [] => (0, 0),
        [first, ..] if bytes.len() < 4 => {
            let (middle, last) = (bytes[bytes.len() / 2], bytes[bytes.len() - 1]);
            (u64::from(*first), u64::from(last) << 8 | u64::from(middle))
        }
        _ if bytes.len() < 8 => (word(bytes, 0, 4), word(bytes, bytes.len() - 4, 4)),
        _ => (word(bytes, 0, 8), word(bytes, bytes.len() - 8, 8)),
    };
    fold(start ^ first, secrets[1] ^ last)
}

/// More than 16 bytes: blocks from the front into six or four lanes, and the last 128 bytes from both ends into two.
fn long(mut bytes: &[u8], start: u64, Secrets(secrets): &Secrets) -> u64 {
    let mut lanes = secrets.map(|secret| start.wrapping_add(secret));
    lanes[0] = start;
    for (count, most) in [(6, 256), (4, 128)] {
        if bytes.len() <= most {
            continue;
        }
        while bytes.len() > most {
            for (at, lane) in lanes.iter_mut().enumerate().take(count) {
                let (near, far) = (word(bytes, 8 * at, 8), word(bytes, 8 * (count + at), 8));
                *lane = fold(near ^ *lane, far ^ secrets[0]);
            }
            bytes = &bytes[16 * count..];
        }
        lanes[0] ^= lanes[count - 2];
        lanes[1] ^= lanes[count - 1];
    }
    for round in (0..4).take_while(|round| bytes.len() >= 32 * round) {
        let (near, far) = (16 * round, bytes.len() - 16 * round);
        lanes[0] = fold(word(bytes, near, 8) ^ lanes[0], word(bytes, far - 16, 8) ^ secrets[0]);
        lanes[1] = fold(word(bytes, near + 8, 8) ^ lanes[1], word(bytes, far - 8, 8) ^ secrets[0]);
    }
    lanes[0] ^ lanes[1]
}

/// So many bytes from `at` on, little-endian.
fn word(bytes: &[u8], at: usize, count: usize) -> u64 {
    let mut word = [0; 8];
    word[..count].copy_from_slice(&bytes[at..at + count]);
    u64::from_le_bytes(word)
}

#[cfg(all(test, target_pointer_width = "64", target_endian = "little"))]
mod tests {
    use super::*;
    use foldhash::SharedSeed;
    use foldhash::fast::FoldHasher;
    use std::hash::Hasher;

    #[test]
    fn every_length_hashes_as_on_64_bits() {
        for seed in [0, 0x5eed, u64::MAX] {
            let (secrets, expected) = (Secrets::from_u64(seed), SharedSeed::from_u64(seed));
            for length in 0..700_usize {
                let bytes: Vec<u8> = (0..length).map(|at| (at * at + length) as u8).collect();
                let mut hasher = FoldHasher::with_seed(seed ^ 77, &expected);
                hasher.write(&bytes);
                assert_eq!(hash(&bytes, seed ^ 77, &secrets), hasher.finish(), "{length} bytes");
            }
        }
    }
}
