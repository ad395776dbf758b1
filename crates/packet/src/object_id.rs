//! Object identifiers: which content a segment belongs to.
//!
//! A name with a version should name one content. If a number is used twice, caches hold segments of both contents under
//! the same names. Therefore each segment carries the identifier of its content in MetaInfo, below its signature, and so do
//! manifests and the metadata of the object. A consumer accepts segments of one identifier only.
//!
//! Packets of producers that know no identifier have none.

use std::fmt;
use std::str::FromStr;

/// Bytes of an identifier.
pub const OBJECT_ID_BYTES: usize = 16;

/// Identifies one content. Equal identifiers mean equal content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectId([u8; OBJECT_ID_BYTES]);

impl ObjectId {
    /// The identifier with these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; OBJECT_ID_BYTES]) -> Self {
        Self(bytes)
    }

    /// The identifier that begins a digest.
    #[must_use]
    pub fn of_digest(digest: &[u8; 32]) -> Self {
        let mut bytes = [0; OBJECT_ID_BYTES];
        bytes.iter_mut().zip(digest).for_each(|(byte, digest)| *byte = *digest);
        Self(bytes)
    }

    /// The value of an element; `None` if the element has another length.
    #[must_use]
    #[inline]
    pub fn read(value: &[u8]) -> Option<Self> {
        value.try_into().ok().map(Self)
    }

    /// Its bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; OBJECT_ID_BYTES] {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    /// Hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

/// The text is no identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an object identifier has 32 hexadecimal digits")]
pub struct NoObjectId;

impl FromStr for ObjectId {
    type Err = NoObjectId;

    fn from_str(text: &str) -> Result<Self, NoObjectId> {
        let (digits, []) = text.as_bytes().as_chunks::<2>() else {
            return Err(NoObjectId);
        };
        let mut bytes = [0; OBJECT_ID_BYTES];
        if digits.len() != bytes.len() {
            return Err(NoObjectId);
        }
        let value = |digit: u8| char::from(digit).to_digit(16).ok_or(NoObjectId);
        for (byte, [high, low]) in bytes.iter_mut().zip(digits) {
            *byte = (value(*high)? << 4 | value(*low)?) as u8;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_an_identifier_is_read_back() {
        let id = ObjectId::new(*b"0123456789abcde\xff");
        assert_eq!(id.to_string(), "303132333435363738396162636465ff");
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in
            ["", "30", "303132333435363738396162636465f", "3031323334353637383961626364650g"]
        {
            assert_eq!(text.parse::<ObjectId>(), Err(NoObjectId), "{text}");
        }
    }
}
