//! Names as text.
//!
//! Source: NDN packet format v0.3, section "NDN URI Scheme", and naming conventions revision 3 for
//! the words in front of numbers. A URI begins with `/`, after an optional `ndn:`.

use super::{Component, Name, component};
use crate::tlv::typ;
use bytes::{BufMut, BytesMut};
use std::fmt::{self, Write};
use std::str::FromStr;

const DIGEST_WORDS: [(&str, u16); 2] = [
    ("sha256digest", typ::IMPLICIT_SHA256_DIGEST as u16),
    ("params-sha256", typ::PARAMETERS_SHA256_DIGEST as u16),
];

const NUMBER_WORDS: [(&str, u16); 5] = [
    ("seg", typ::SEGMENT_NAME_COMPONENT as u16),
    ("off", typ::BYTE_OFFSET_NAME_COMPONENT as u16),
    ("v", typ::VERSION_NAME_COMPONENT as u16),
    ("t", typ::TIMESTAMP_NAME_COMPONENT as u16),
    ("seq", typ::SEQUENCE_NUM_NAME_COMPONENT as u16),
];

/// A malformed URI.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The first character is not a slash; with the name that was probably meant.
    #[error("a name begins with '/', or 'ndn:/'{}", suggestion(.0.as_deref()))]
    NoSlash(Option<String>),
    /// Two slashes with nothing between.
    #[error("the name has an empty component, between two slashes; leave one slash out")]
    EmptyComponent,
    /// One or two periods, which are steps of a path and no component.
    #[error(
        "component {0:?}: names have no steps as paths have; leave it out, or write '...{0}' for periods"
    )]
    OnlyPeriods(String),
    /// A percent sign without two hexadecimal digits.
    #[error("component {0:?}: '%' must be followed by two hexadecimal digits")]
    BadPercent(String),
    /// The part before the equals sign is not a type.
    #[error(
        "component {0:?}: before '=' stands a type from 1 to 65535, or one of sha256digest, params-sha256, seg, off, v, t, seq; write '%3D' for '=' itself"
    )]
    BadType(String),
    /// The part after the equals sign is not a decimal number.
    #[error("component {0:?}: a decimal number was expected behind '='")]
    BadNumber(String),
    /// A digest has 64 hexadecimal digits.
    #[error("component {0:?}: a digest has 64 hexadecimal digits")]
    BadDigest(String),
}

/// The end of a message that suggests a name, if there is one.
fn suggestion(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

/// The name that a text without its first slash stands for, if it can be one.
fn with_slash(text: &str) -> Option<String> {
    let is_plain = !text.is_empty() && !text.contains([' ', ':']);
    let name = format!("/{text}");
    (is_plain && name.parse::<Name>().is_ok()).then_some(name)
}

impl FromStr for Name {
    type Err = UriError;

    fn from_str(uri: &str) -> Result<Self, UriError> {
        let path = uri.strip_prefix("ndn:").unwrap_or(uri);
        let slash = path.strip_prefix('/');
        let path = slash.ok_or_else(|| UriError::NoSlash(with_slash(path)))?;
        let mut name = Self::root();
        if path.is_empty() {
            return Ok(name);
        }
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut value = BytesMut::with_capacity(path.len() * 2);
        for text in path.split('/') {
            put_component(&mut value, text)?;
            name.count += 1;
        }
        name.value = value.freeze();
        Ok(name)
    }
}

fn put_component(out: &mut BytesMut, text: &str) -> Result<(), UriError> {
    if text.is_empty() {
        return Err(UriError::EmptyComponent);
    }
    let Some((word, rest)) = text.split_once('=') else {
        Component::generic(&unescape(text, text)?).encode(out);
        return Ok(());
    };
    let find =
        |words: &[(&str, u16)]| words.iter().find(|(known, _)| *known == word).map(|it| it.1);
    if let Some(typ) = find(&NUMBER_WORDS) {
        let number = decimal(rest).ok_or_else(|| UriError::BadNumber(text.into()))?;
        Component::number(typ, None, number).encode(out);
    } else if let Some(typ) = find(&DIGEST_WORDS) {
        let digest = unhex(rest).ok_or_else(|| UriError::BadDigest(text.into()))?;
        Component::borrowed(typ, &digest).encode(out);
    } else {
        put_numbered(out, text, word, rest)?;
    }
    Ok(())
}

fn put_numbered(out: &mut BytesMut, text: &str, word: &str, rest: &str) -> Result<(), UriError> {
    let typ = decimal(word).and_then(|typ| u16::try_from(typ).ok()).filter(|typ| *typ != 0);
    let typ = typ.ok_or_else(|| UriError::BadType(text.into()))?;
    let value = unescape(rest, text)?;
    let component = Component::new(typ, &value).ok_or_else(|| UriError::BadDigest(text.into()))?;
    component.encode(out);
    Ok(())
}

/// A number without sign and leading zeros.
fn decimal(text: &str) -> Option<u64> {
    let canonical = text == "0" || text.starts_with(|first: char| ('1'..='9').contains(&first));
    text.parse().ok().filter(|_| canonical)
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = hex_pair(pair)?;
    }
    Some(digest)
}

fn hex_pair(pair: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let [high, low] = *pair else { return None };
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

/// Decodes percent escapes and strips the three additional periods; `whole` is for the error.
fn unescape(text: &str, whole: &str) -> Result<Vec<u8>, UriError> {
    let mut value = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            value.put_u8(*first);
            continue;
        }
        let byte = tail.get(..2).and_then(hex_pair);
        value.put_u8(byte.ok_or_else(|| UriError::BadPercent(whole.into()))?);
        rest = tail.get(2..).unwrap_or_default();
    }
    if value.iter().all(|byte| *byte == b'.') {
        let kept = value.len().checked_sub(3).ok_or_else(|| UriError::OnlyPeriods(whole.into()))?;
        value.truncate(kept);
    }
    Ok(value)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_char('/');
        }
        self.components().try_for_each(|component| write!(f, "/{component}"))
    }
}

impl fmt::Display for Component<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let find = |words: &[(&'static str, u16)]| {
            words.iter().find(|it| it.1 == self.typ()).map(|it| it.0)
        };
        if let (Some(word), Some(number)) =
            (find(&NUMBER_WORDS), component::shortest_nni(self.value()))
        {
            return write!(f, "{word}={number}");
        }
        if let Some(word) = find(&DIGEST_WORDS) {
            write!(f, "{word}=")?;
            return self.value().iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
        if u64::from(self.typ()) != typ::GENERIC_NAME_COMPONENT {
            write!(f, "{}=", self.typ())?;
        }
        escape(f, self.value())
    }
}

fn escape(f: &mut fmt::Formatter<'_>, value: &[u8]) -> fmt::Result {
    if value.iter().all(|byte| *byte == b'.') {
        f.write_str("...")?;
    }
    value.iter().try_for_each(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            f.write_char(char::from(*byte))
        }
        _ => write!(f, "%{byte:02X}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_uri_survives_parsing_and_printing() {
        let digest = "0123456789abcdef".repeat(4);
        for uri in [
            "/",
            "/a/b.c/d-e_f~",
            "/...",
            "/..../a",
            "/%00%FF%20%3D",
            "/32=metadata/v=1700000000000/seg=0",
            "/off=1/t=2/seq=3",
            "/9=.../50=%00%00/300=x",
            &format!("/a/sha256digest={digest}"),
            &format!("/a/params-sha256={digest}"),
        ] {
            assert_eq!(uri.parse::<Name>().unwrap().to_string(), uri);
        }
    }

    #[test]
    fn different_uris_may_be_equal_names() {
        for (uri, canonical) in [
            ("ndn:/a", "/a"),
            ("/a/", "/a"),
            ("ndn:/", "/"),
            ("/8=a", "/a"),
            ("/%61", "/a"),
            ("/54=%05", "/v=5"),
            ("/a+b", "/a%2Bb"),
            ("/é", "/%C3%A9"),
            ("/a=b".replace('=', "%3d").as_str(), "/a%3Db"),
        ] {
            assert_eq!(uri.parse::<Name>().unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn errors_suggest_the_intended_name() {
        let message = |uri: &str| uri.parse::<Name>().unwrap_err().to_string();
        assert!(message("movie").ends_with("; did you mean '/movie'?"));
        assert!(message("ndn:a/b/").ends_with("; did you mean '/a/b/'?"));
        for no_name in ["", "ndn:", "http://x", "a b", "udp:x", "a//b"] {
            assert!(!message(no_name).contains("did you mean"), "{no_name}");
        }
        for empty in ["//x", "//", "/a//b", "/a//"] {
            assert!(message(empty).contains("has an empty component"), "{empty}");
        }
        assert_eq!("/a/.....".parse::<Name>().unwrap().to_string(), "/a/.....");
        assert!(message("/a/..").contains("write '.....' for periods"));
    }

    #[test]
    fn malformed_uri_is_an_error_with_its_reason() {
        let short = "/sha256digest=00".to_string();
        for uri in [
            "",
            "a",
            "ndn:",
            "http://x",
            "//",
            "/a//b",
            "/.",
            "/..",
            "/%2E",
            "/%",
            "/%1",
            "/%zz",
            "/%é",
            "/=a",
            "/0=a",
            "/65536=a",
            "/08=a",
            "/+8=a",
            "/x=1",
            "/seg=",
            "/seg=-1",
            "/seg=01",
            "/v=18446744073709551616",
            &short,
            "/1=a",
            "/32=",
        ] {
            let error = uri.parse::<Name>().expect_err(uri);
            assert!(!error.to_string().is_empty());
        }
    }
}
