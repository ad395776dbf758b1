//! The only source of true randomness: seeds for the machines' generators, and key material.

/// The operating system gave no random octets.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random octets: {0}")]
pub struct EntropyError(getrandom::Error);

/// Fills `octets` with randomness from the operating system.
///
/// # Errors
/// If the operating system has none to give.
pub fn fill(octets: &mut [u8]) -> Result<(), EntropyError> {
    getrandom::fill(octets).map_err(EntropyError)
}

/// A fresh seed for a node's generator, so that nobody outside can foresee its nonces and hashes.
///
/// # Errors
/// If the operating system has no randomness to give.
pub fn seed() -> Result<u64, EntropyError> {
    let mut octets = [0; 8];
    fill(&mut octets)?;
    Ok(u64::from_ne_bytes(octets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_seeds_differ() {
        assert_ne!(seed().unwrap(), seed().unwrap());
    }
}
