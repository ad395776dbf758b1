//! Codes by which a share is found and verified.
//!
//! A code is the beginning of the SHA-256 digest of the public key with which everything in the share is signed: 60 bits in
//! twelve characters (Crockford's alphabet, which leaves out i, l, o and u). A machine with the code therefore knows the
//! key. Another key with the same code takes 2^60 attempts, and a share lives for minutes.
//!
//! Only keys of Ed25519 have codes, in their one encoding (RFC 8410). Each attempt then costs a key: a key of RSA, for
//! example, has many encodings and exponents, which cost no more than a digest each.
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of a code.
const LENGTH: usize = 12;
/// A SubjectPublicKeyInfo of Ed25519 begins so; 32 bytes of the key follow.
const ED25519: &[u8] = &[0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];
/// Bytes of the key itself.
const ED25519_BYTES: usize = 32;
/// Characters between two hyphens.
const GROUP: usize = 4;

/// A code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code(String);

impl Code {
    /// The code of a public key, a SubjectPublicKeyInfo in DER; `None` if it is no key of Ed25519.
    pub(crate) fn of_key(spki: &[u8]) -> Option<Self> {
        let key = spki.strip_prefix(ED25519)?;
        (key.len() == ED25519_BYTES).then(|| Self::of_bytes(spki))
    }

    fn of_bytes(spki: &[u8]) -> Self {
        let digest = Sha256::digest(spki);
        let beginning =
            digest.iter().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let letter = |place: usize| {
            let index = beginning >> (59 - 5 * place) & 31;
            char::from(ALPHABET.get(index as usize).copied().unwrap_or_default())
        };
        Self((0..LENGTH).map(letter).collect())
    }

    /// The code without hyphens: a component of a name, and the name of a service.
    pub(crate) fn bare(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, letter) in self.0.chars().enumerate() {
            let hyphen = if place > 0 && place % GROUP == 0 { "-" } else { "" };
            write!(f, "{hyphen}{letter}")?;
        }
        Ok(())
    }
}

impl FromStr for Code {
    type Err = String;

    /// Reads a code as people type it: with or without hyphens, in capitals, with O for 0 and l for 1.
    fn from_str(text: &str) -> Result<Self, String> {
        let characters = text.chars().filter(|letter| !matches!(letter, '-' | ' '));
        let characters = characters.map(|letter| match letter.to_ascii_lowercase() {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        });
        let bare: String = characters.collect();
        let is_code = bare.len() == LENGTH && bare.bytes().all(|byte| ALPHABET.contains(&byte));
        is_code.then_some(Self(bare)).ok_or_else(|| {
            "a code has twelve characters, such as k7fq-2mzp-8xwd; `recoup share` prints it"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_the_beginning_of_a_digest() {
        // SHA-256 of "abc" begins with ba7816bf8f01cfea (FIPS 180-4, example).
        let code = Code::of_bytes(b"abc");
        assert_eq!(code.bare(), "q9w1dfwf077y");
        assert_eq!(code.to_string(), "q9w1-dfwf-077y");
    }

    #[test]
    fn only_ed25519_keys_have_codes() {
        let spki = [ED25519, &[7; ED25519_BYTES]].concat();
        assert_eq!(Code::of_key(&spki), Some(Code::of_bytes(&spki)));
        let ed448 = [&[0x30, 0x43, 0x30, 5, 6, 3, 0x2b, 0x65, 0x71, 3, 0x3a, 0][..], &[7; 57]];
        let p256 = [&[0x30, 0x59, 0x30, 0x13, 6, 7][..], &[0x2a; 85]];
        let longer = [&spki[..], &[0]].concat();
        for other in [&spki[..43], &longer, &ed448.concat(), &p256.concat(), b""] {
            assert_eq!(Code::of_key(other), None, "{other:?}");
        }
    }

    #[test]
    fn codes_are_read_as_people_type_them() {
        let code: Code = "q9w1-dfwf-077y".parse().unwrap();
        for text in ["q9w1dfwf077y", "Q9W1-DFWF-O77Y", "q9wl dfwf 077y", "q9wI-dfwf-o77y"] {
            assert_eq!(text.parse::<Code>().unwrap(), code, "{text}");
        }
        for text in ["", "q9w1-dfwf", "q9w1-dfwf-077u", "q9w1-dfwf-077yy", "q9w1-dfwf-077é"] {
            assert!(text.parse::<Code>().is_err(), "{text}");
        }
    }
}
