//! Short digests of texts and of this program.
use foldhash::quality::FixedState;
use recoup_core::figure::hex;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A program is read in pieces of this length in bytes: it is larger than most results.
const PIECE: u64 = 64 << 10;

/// The file that identifies this program, where it is not the executable.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The first 16 digits of a text's SHA-256.
pub fn of_text(text: &str) -> String {
    let mut digest = TextDigest::default();
    digest.push(text);
    digest.finish()
}

/// The digest of a text that comes in parts.
#[derive(Debug, Default)]
pub(crate) struct TextDigest(Sha256);

impl TextDigest {
    pub(crate) fn push(&mut self, text: &str) {
        self.0.update(text);
    }

    pub(crate) fn finish(self) -> String {
        let digest: [u8; 32] = self.0.finalize().into();
        hex(&digest[..8])
    }
}

/// Digest of this program; `None` if it cannot be read. Only this program compares it, so a fast hash will do: SHA-256 of the
/// file takes longer than many a simulation.
pub fn of_program() -> Option<String> {
    static DIGEST: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let path = PROGRAM.get().cloned().or_else(|| std::env::current_exe().ok())?;
        of_file(&path).ok()
    };
    DIGEST.get_or_init(read).clone()
}

/// Digest of a file, by the same hash.
pub(crate) fn of_file(path: &Path) -> io::Result<String> {
    let (mut file, mut piece) = (File::open(path)?, Vec::new());
    let mut hasher = FixedState::default().build_hasher();
    while file.by_ref().take(PIECE).read_to_end(&mut piece)? > 0 {
        hasher.write(&piece);
        piece.clear();
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Identifies this program by the content of that file: of a library in the process of an interpreter. The first call holds.
pub fn set_program(path: PathBuf) {
    let _ = PROGRAM.set(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_of_a_program_covers_each_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let digest = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            of_file(&path).unwrap()
        };
        let long = vec![7; 3 * PIECE as usize];
        let mut digests = vec![digest(&long), digest(&long[1..]), digest(b"")];
        for at in [0, PIECE as usize, long.len() - 1] {
            let mut other = long.clone();
            other[at] = 8;
            digests.push(digest(&other));
        }
        assert_eq!(digest(&long), digests[0]);
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), 6);
    }
}
