//! Shared by the fuzz targets: bytes read as the steps of a test, and records with checksums, which a fuzzer cannot guess.

/// Bytes from which choices are made, one after the other. After the last one, each choice is 0.
#[derive(Debug)]
pub struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all bytes are used up.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// A number below `n`; `n` is at most 256.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n.max(1)
    }

    /// A number of 16 bits.
    pub fn number(&mut self) -> u64 {
        u64::from(self.byte()) << 8 | u64::from(self.byte())
    }

    /// One of several.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A length of two bytes, and as many bytes, or all that are left.
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = (self.number() as usize).min(self.0.len());
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// A journal of a download with these lines and the last one that makes it whole.
#[must_use]
pub fn journal(lines: &[u8]) -> Vec<u8> {
    let mut out = lines.to_vec();
    out.extend(format!("crc32 {:08x}\n", crc32fast::hash(lines)).as_bytes());
    out
}
