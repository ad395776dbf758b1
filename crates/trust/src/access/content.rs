//! The element `EncryptedContent`.
use super::name::is_content_key;
use recoup_packet::name::Name;
use recoup_packet::tlv::{self, DecodeError, Reader, typ};

const ENCRYPTED_CONTENT: u64 = 0x82;
const PAYLOAD: u64 = 0x84;
const IV: u64 = 0x85;
const PAYLOAD_KEY: u64 = 0x86;
/// Bytes of an initialization vector.
pub(super) const IV_BYTES: usize = 16;

/// Encrypted bytes, and how they are decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncryptedContent<'a> {
    /// The encrypted bytes: content, a content key, or for a KDK a SafeBag.
    pub payload: &'a [u8],
    /// Initialization vector of encrypted content.
    pub iv: Option<&'a [u8]>,
    /// For a KDK: the passphrase of the SafeBag, encrypted.
    pub payload_key: Option<&'a [u8]>,
    /// For encrypted content: the value of the name of its content key.
    pub key: Option<&'a [u8]>,
}

impl<'a> EncryptedContent<'a> {
    /// Content key or KDK.
    #[must_use]
    pub fn of(payload: &'a [u8]) -> Self {
        Self { payload, iv: None, payload_key: None, key: None }
    }

    /// Reads the element that is all of `bytes`.
    ///
    /// # Errors
    /// The bytes are another element, or more than one.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut outer = Reader::new(bytes);
        let element = outer.expect(ENCRYPTED_CONTENT, "EncryptedContent")?;
        outer.finish()?;
        let mut inner = element.reader();
        // The value of a KDK is an element, too, which the caller reads.
        let payload = inner.expect(PAYLOAD, "EncryptedPayload")?;
        let mut this = Self::of(&bytes[payload.range()]);
        let mut before = PAYLOAD;
        while let Some(field) = inner.read()? {
            let place = match field.typ {
                IV if before < IV => &mut this.iv,
                PAYLOAD_KEY if before < PAYLOAD_KEY => &mut this.payload_key,
                typ::NAME if this.key.is_none() => &mut this.key,
                _ => {
                    field.skip_unless_critical()?;
                    continue;
                }
            };
            *place = Some(&bytes[field.range()]);
            before = if field.typ == typ::NAME { u64::MAX } else { field.typ };
        }
        Ok(this)
    }

    /// Whether the content of a segment is encrypted.
    #[must_use]
    pub fn is_in(content: &'a [u8]) -> bool {
        let key = Self::decode(content).ok().and_then(|element| element.key_name());
        key.is_some_and(|key| is_content_key(&key))
    }

    /// The name of the content key, if it has one.
    #[must_use]
    pub fn key_name(&self) -> Option<Name> {
        Name::from_value(self.key?.to_vec().into()).ok()
    }

    /// The element.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut inner = Vec::with_capacity(self.payload.len() + 256);
        tlv::put_tlv(&mut inner, PAYLOAD, self.payload);
        let fields = [(IV, self.iv), (PAYLOAD_KEY, self.payload_key), (typ::NAME, self.key)];
        for (typ, value) in fields {
            value.into_iter().for_each(|value| tlv::put_tlv(&mut inner, typ, value));
        }
        let mut bytes = Vec::with_capacity(inner.len() + 4);
        tlv::put_tlv(&mut bytes, ENCRYPTED_CONTENT, &inner);
        bytes
    }

    /// Length of the element of encrypted content, in bytes.
    pub(super) fn encoded_len(payload: usize, key: &Name) -> usize {
        let inner = tlv::tlv_len(PAYLOAD, payload)
            + tlv::tlv_len(IV, IV_BYTES)
            + tlv::tlv_len(typ::NAME, key.value().len());
        tlv::tlv_len(ENCRYPTED_CONTENT, inner)
    }

    /// Writes the element of encrypted content; `fill` writes the payload of that many bytes. `into` has the
    /// [encoded length](Self::encoded_len).
    pub(super) fn write(
        mut into: &mut [u8],
        key: &Name,
        iv: &[u8; IV_BYTES],
        payload: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let inner = tlv::tlv_len(PAYLOAD, payload)
            + tlv::tlv_len(IV, IV_BYTES)
            + tlv::tlv_len(typ::NAME, key.value().len());
        tlv::put_header(&mut into, ENCRYPTED_CONTENT, inner);
        tlv::put_header(&mut into, PAYLOAD, payload);
        let (encrypted, mut rest) = into.split_at_mut(payload);
        fill(encrypted);
        tlv::put_tlv(&mut rest, IV, iv);
        tlv::put_tlv(&mut rest, typ::NAME, key.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn element_round_trips() {
        let key: Name = "/a/CK/1".parse().unwrap();
        let iv = [7; 16];
        let whole = EncryptedContent {
            iv: Some(&iv),
            key: Some(key.value()),
            ..EncryptedContent::of(b"payload")
        };
        let bytes = whole.encode();
        assert_eq!(EncryptedContent::decode(&bytes), Ok(whole));
        assert_eq!(whole.key_name(), Some(key.clone()));
        assert_eq!(bytes.len(), EncryptedContent::encoded_len(7, &key));
        assert!(EncryptedContent::is_in(&bytes) && !EncryptedContent::is_in(b"payload"));
        assert!(!EncryptedContent::is_in(&EncryptedContent::of(b"key").encode()));
        let mut written = vec![0; bytes.len()];
        let fill = |into: &mut [u8]| into.copy_from_slice(b"payload");
        EncryptedContent::write(&mut written, &key, &iv, 7, fill);
        assert_eq!(written, bytes);
    }

    #[test]
    fn shortened_element_is_an_error() {
        let bytes = EncryptedContent::of(b"payload").encode();
        for len in 0..bytes.len() {
            assert!(EncryptedContent::decode(&bytes[..len]).is_err(), "{len}");
        }
        assert!(EncryptedContent::decode(&[&bytes[..], &[1]].concat()).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut framed = vec![0x82, bytes.len() as u8];
            framed.extend_from_slice(&bytes);
            for bytes in [&bytes, &framed] {
                if let Ok(read) = EncryptedContent::decode(bytes) {
                    let _ = read.key_name();
                }
            }
        }
    }
}
