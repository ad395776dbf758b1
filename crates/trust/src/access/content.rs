//! The element `EncryptedContent`.
use super::name::is_content_key;
use recoup_packet::name::Name;
use recoup_packet::tlv::{self, DecodeError, Reader, typ};

const ENCRYPTED_CONTENT: u64 = 0x82;
const PAYLOAD: u64 = 0x84;
const IV: u64 = 0x85;
const PAYLOAD_KEY: u64 = 0x86;
/// Not of NAC. Not critical: a reader that ignores it rejects the length of the vector.
const CIPHER: u64 = 0x88;

/// Bytes of an initialization vector of AES-CBC; other ciphers have other lengths.
const CBC_VECTOR: usize = 16;

/// Encrypted bytes, and how they are decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncryptedContent<'a> {
    /// The encrypted bytes: content, a content key, or for a KDK a SafeBag.
    pub payload: &'a [u8],
    /// Initialization vector of encrypted content.
    pub iv: Option<&'a [u8]>,
    /// For a KDK: the passphrase of the SafeBag, encrypted.
    pub payload_key: Option<&'a [u8]>,
    /// Number of the cipher; without it, the content is encrypted by AES-CBC.
    pub cipher: Option<&'a [u8]>,
    /// For encrypted content: the value of the name of its content key.
    pub key: Option<&'a [u8]>,
}

impl<'a> EncryptedContent<'a> {
    /// Content key or KDK.
    #[must_use]
    pub fn of(payload: &'a [u8]) -> Self {
        Self { payload, iv: None, payload_key: None, cipher: None, key: None }
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
                CIPHER if before < CIPHER => &mut this.cipher,
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

    /// Whether it has the form of content that is encrypted by AES-CBC.
    pub(super) fn is_cbc(&self) -> bool {
        self.cipher.is_none() && self.iv.is_some_and(|iv| iv.len() == CBC_VECTOR)
    }

    /// The element.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.encoded_len(self.payload.len())];
        self.write(&mut bytes, self.payload.len(), |into| into.copy_from_slice(self.payload));
        bytes
    }

    fn fields(&self) -> [(u64, Option<&'a [u8]>); 4] {
        [
            (IV, self.iv),
            (PAYLOAD_KEY, self.payload_key),
            (CIPHER, self.cipher),
            (typ::NAME, self.key),
        ]
    }

    fn inner_len(&self, payload: usize) -> usize {
        let fields = self.fields().into_iter().filter_map(|(typ, it)| Some((typ, it?.len())));
        fields.fold(tlv::tlv_len(PAYLOAD, payload), |sum, (typ, len)| sum + tlv::tlv_len(typ, len))
    }

    /// Length of the element if its payload has so many bytes, in bytes.
    pub(super) fn encoded_len(&self, payload: usize) -> usize {
        tlv::tlv_len(ENCRYPTED_CONTENT, self.inner_len(payload))
    }

    /// Writes the element; `fill` writes the payload of that many bytes. `into` has the
    /// [encoded length](Self::encoded_len).
    pub(super) fn write(&self, mut into: &mut [u8], payload: usize, fill: impl FnOnce(&mut [u8])) {
        tlv::put_header(&mut into, ENCRYPTED_CONTENT, self.inner_len(payload));
        tlv::put_header(&mut into, PAYLOAD, payload);
        let (encrypted, mut rest) = into.split_at_mut(payload);
        fill(encrypted);
        for (typ, value) in self.fields() {
            value.into_iter().for_each(|value| tlv::put_tlv(&mut rest, typ, value));
        }
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
            cipher: Some(&[1]),
            key: Some(key.value()),
            ..EncryptedContent::of(b"payload")
        };
        let bytes = whole.encode();
        assert_eq!(EncryptedContent::decode(&bytes), Ok(whole));
        assert_eq!(whole.key_name(), Some(key.clone()));
        assert_eq!(bytes.len(), whole.encoded_len(7));
        assert!(EncryptedContent::is_in(&bytes) && !EncryptedContent::is_in(b"payload"));
        assert!(!EncryptedContent::is_in(&EncryptedContent::of(b"key").encode()));
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
