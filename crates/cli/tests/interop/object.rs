//! Served and fetched objects, at the sizes of segmentation's edge cases.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Content per segment, in bytes.
pub(crate) const SEGMENT: usize = 8000;

/// The version in each object's name.
pub(crate) const VERSION: u64 = 1_700_000_000_123;

/// A file, and the name under which it is served.
pub(crate) struct Object {
    /// Its bytes.
    pub(crate) content: Vec<u8>,
    /// Its path.
    pub(crate) file: PathBuf,
    /// Its name without a version.
    pub(crate) name: String,
}

impl Object {
    /// Writes an object of that many bytes, which look random and are the same each time.
    pub(crate) fn of(size: usize, folder: &Path) -> Self {
        let mut state = size as u64 ^ 0x9E37_79B9_7F4A_7C15;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let content: Vec<u8> = (0..size).map(next).collect();
        let file = folder.join(format!("{size}"));
        fs::write(&file, &content).expect("the test's folder can be written");
        Self { content, file, name: format!("/recoup/{size}") }
    }

    /// One object for each edge, in the test's folder.
    pub(crate) fn edges(folder: &Path) -> Vec<Self> {
        let sizes = [0, 1, SEGMENT, SEGMENT + 1, 8_000_000];
        sizes.into_iter().map(|size| Self::of(size, folder)).collect()
    }

    /// The name with the version, as all software writes it.
    pub(crate) fn versioned(&self) -> String {
        format!("{}/v={VERSION}", self.name)
    }

    /// The number of segments: an empty object has one.
    pub(crate) fn segments(&self) -> usize {
        self.content.len().div_ceil(SEGMENT).max(1)
    }

    /// SHA-256 of the content, in hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        Sha256::digest(&self.content).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
