//! Short digests of texts and of this program.
use recoup_core::figure::hex;
use recoup_packet::signature::sha256;
use std::fs;

/// The first 16 digits of a text's SHA-256.
pub fn of_text(text: &str) -> String {
    of(text.as_bytes())
}

/// The same of this program, or nothing if it cannot be read.
pub fn of_program() -> Option<String> {
    let program = fs::read(std::env::current_exe().ok()?).ok()?;
    Some(of(&program))
}

fn of(octets: &[u8]) -> String {
    hex(&sha256(octets)[..8])
}
