//! Short digests of texts and of this program.
use foldhash::quality::FixedState;
use recoup_core::figure::hex;
use recoup_packet::signature::sha256;
use std::fs;
use std::hash::BuildHasher;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The file that identifies this program, where it is not the executable.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The first 16 digits of a text's SHA-256.
pub fn of_text(text: &str) -> String {
    hex(&sha256(text.as_bytes())[..8])
}

/// Digest of this program; `None` if it cannot be read. Only this program compares it, so a fast hash will do: SHA-256 of the
/// file takes longer than many a simulation.
pub fn of_program() -> Option<String> {
    static DIGEST: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let path = PROGRAM.get().cloned().or_else(|| std::env::current_exe().ok())?;
        Some(format!("{:016x}", FixedState::default().hash_one(fs::read(path).ok()?)))
    };
    DIGEST.get_or_init(read).clone()
}

/// Identifies this program by the content of that file: of a library in the process of an interpreter. The first call holds.
pub fn set_program(path: PathBuf) {
    let _ = PROGRAM.set(path);
}
