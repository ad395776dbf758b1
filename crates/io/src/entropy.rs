//! The only source of true randomness: seeds for the machines' generators, and key material.

/// The operating system gave no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random bytes: {0}")]
pub struct EntropyError(getrandom::Error);

/// Fills `bytes` with randomness from the operating system.
///
/// # Errors
/// If the operating system has none to give.
pub fn fill(bytes: &mut [u8]) -> Result<(), EntropyError> {
    getrandom::fill(bytes).map_err(EntropyError)
}

/// A fresh seed for a node's generator: nonces and hash keys must be unpredictable.
///
/// # Errors
/// If the operating system has no randomness to give.
pub fn seed() -> Result<u64, EntropyError> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_seeds_differ() {
        assert_ne!(seed().unwrap(), seed().unwrap());
    }
}
