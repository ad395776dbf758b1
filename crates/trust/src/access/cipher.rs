//! Content keys.
//!
//! Content is encrypted by AES-256-GCM-SIV (RFC 8452). Its tag covers the content and the name of the packet, version and
//! segment number included. A consumer therefore rejects a segment that was altered or renamed.
//!
//! | input | value |
//! |---|---|
//! | key | HMAC-SHA256 of the content key over [`PURPOSE`] and the content key's name |
//! | nonce | first 12 bytes of the SHA-256 of the packet's name |
//! | associated data | the packet's name |
//!
//! *Nonces.* A producer has no memory of what it encrypted before a restart, and its segments must have the same
//! encrypted form each time: kept signatures and caches depend on it. So the nonce follows from the name, and other
//! content under the same name repeats a nonce. AES-GCM and ChaCha20-Poly1305 would then reveal the difference of two
//! contents and the key of their tags. GCM-SIV reveals only whether name and content were equal: its counter begins
//! with the tag. The nonce of a name derives further keys, so few packets share a key.
//!
//! *Keys.* The name of the content key is part of the derivation. If an attacker publishes the encrypted content key under
//! another name, the consumer gets a key that decrypts nothing. AES-CBC uses the content key itself. So answers about the
//! one cipher reveal nothing about content that was encrypted by the other.
//!
//! *AES-CBC* with PKCS #7 padding (RFC 5652, 6.3) is what NDNts and ndn-cxx have. Nothing shows that the encrypted bytes are
//! those of the author, and an answer that depends on the padding reveals content. Only content of a verified author is decrypted
//! so ([`Decrypting`](super::Decrypting)).
//!
//! *Failures.* All reasons are one error, after the same work: decryption of the whole payload.
use super::content::EncryptedContent;
use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm_siv::{AeadInOut, Aes256GcmSiv};
use bytes::{Bytes, BytesMut};
use recoup_packet::name::Name;
use recoup_packet::signature::{Encrypter, HmacSigner, KeyLocator, Signer, sha256};
use zeroize::Zeroizing;

/// Bytes of a block, of an initialization vector of CBC, and of a tag.
const BLOCK: usize = 16;
/// Bytes of a nonce.
const NONCE: usize = 12;
/// The number of AES-256-GCM-SIV in packets.
const GCM_SIV: &[u8] = &[1];
/// Purpose for which the key of AES-256-GCM-SIV is derived.
const PURPOSE: &[u8] = b"recoup AES-256-GCM-SIV ";

/// Content that cannot be decrypted, or a key of a wrong length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    /// Neither 16, 24 nor 32 bytes.
    #[error("a content key has 16, 24 or 32 bytes")]
    KeyLength,
    /// A wrong tag or padding, a vector or payload of a wrong length, or an unknown cipher.
    #[error("cannot be decrypted with its content key")]
    Content,
}

/// A key that encrypts and decrypts content.
///
/// Content of one name has the same encrypted form each time, so that signatures and caches stay valid. A reader of encrypted
/// packets learns whether the same name had the same content.
///
/// ```
/// use recoup_packet::signature::Encrypter;
/// use recoup_trust::access::{ContentKey, EncryptedContent};
/// let (key, name) = (ContentKey::new("/site/CK/1".parse()?, &[7; 32])?, "/site/report/seg=0".parse()?);
/// let mut bytes = vec![0; key.encrypted_len(6)];
/// key.encrypt(&name, b"secret", &mut bytes);
/// assert_eq!(key.decrypt(&name, &EncryptedContent::decode(&bytes)?)?, "secret");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContentKey {
    name: Name,
    secret: Zeroizing<Vec<u8>>,
    aead: Aes256GcmSiv,
    /// Makes initialization vectors of CBC, if content is encrypted by it.
    cbc: Option<HmacSigner>,
}

impl ContentKey {
    /// The key with these bytes, to which encrypted content refers by `name`.
    ///
    /// # Errors
    /// [`CipherError::KeyLength`].
    pub fn new(name: Name, secret: &[u8]) -> Result<Self, CipherError> {
        if ![16, 24, 32].contains(&secret.len()) {
            return Err(CipherError::KeyLength);
        }
        let derived = derived(secret, &[PURPOSE, name.value()].concat());
        let aead = Aes256GcmSiv::new((&*derived).into());
        Ok(Self { name, secret: Zeroizing::new(secret.to_vec()), aead, cbc: None })
    }

    /// This content key, which then encrypts by AES-CBC for readers that have nothing else. Consumers must verify the
    /// author.
    #[must_use]
    pub fn with_cbc(self) -> Self {
        let derived = derived(&self.secret, b"initialization vectors");
        Self { cbc: Some(HmacSigner::new(&*derived, NOWHERE)), ..self }
    }

    /// The name by which content refers to it.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The content of an element in the packet `name`.
    ///
    /// # Errors
    /// [`CipherError::Content`].
    pub fn decrypt(
        &self,
        name: &Name,
        element: &EncryptedContent<'_>,
    ) -> Result<Bytes, CipherError> {
        let content = match element.is_cbc() {
            true => self.decrypt_cbc(element),
            false => self.open(name, element),
        };
        content.ok_or(CipherError::Content)
    }

    /// Content by AES-GCM-SIV. An element of a wrong form costs as much as one with a wrong tag.
    fn open(&self, name: &Name, element: &EncryptedContent<'_>) -> Option<Bytes> {
        let nonce: Option<[u8; NONCE]> = element.iv.and_then(|iv| iv.try_into().ok());
        let is_whole = element.payload.len() >= BLOCK && element.cipher == Some(GCM_SIV);
        let mut content = BytesMut::from(element.payload);
        content.resize(element.payload.len().max(BLOCK), 0);
        let tag = content.split_off(content.len() - BLOCK);
        let tag: [u8; BLOCK] = tag[..].try_into().ok()?;
        let (vector, place) = (nonce.unwrap_or_default(), content.as_mut().into());
        let opened =
            self.aead.decrypt_inout_detached(&vector.into(), name.value(), place, &tag.into());
        (opened.is_ok() && nonce.is_some() && is_whole).then(|| content.freeze())
    }

    /// Content by AES-CBC. A payload of a wrong length costs as much as one with a wrong padding.
    fn decrypt_cbc(&self, element: &EncryptedContent<'_>) -> Option<Bytes> {
        let iv: &[u8; BLOCK] = element.iv?.try_into().ok()?;
        let length = element.payload.len().next_multiple_of(BLOCK).max(BLOCK);
        let mut content = BytesMut::from(element.payload);
        content.resize(length, 0);
        match self.secret.len() {
            16 => decrypt::<Aes128>(&self.secret, iv, &mut content),
            24 => decrypt::<Aes192>(&self.secret, iv, &mut content),
            _ => decrypt::<Aes256>(&self.secret, iv, &mut content),
        }
        let unpadded = unpadded_len(&content).filter(|_| element.payload.len() == length);
        content.truncate(unpadded?);
        Some(content.freeze())
    }

    /// The vector of CBC: a keyed digest of name and content.
    fn cbc_vector(derive: &HmacSigner, name: &Name, content: &[u8]) -> [u8; BLOCK] {
        let message = [&sha256(content)[..], name.value()].concat();
        let mut digest = [0; 32];
        derive.sign(&message, &mut digest);
        std::array::from_fn(|at| digest[at])
    }

    /// An element of this key, without payload.
    fn element<'a>(&'a self, iv: &'a [u8]) -> EncryptedContent<'a> {
        let cipher = self.cbc.is_none().then_some(GCM_SIV);
        let key = Some(self.name.value().as_ref());
        EncryptedContent { iv: Some(iv), cipher, key, ..EncryptedContent::of(&[]) }
    }

    /// Bytes of the payload with so much content.
    fn payload_len(&self, bytes: usize) -> usize {
        if self.cbc.is_some() { (bytes / BLOCK + 1) * BLOCK } else { bytes + BLOCK }
    }
}

impl Encrypter for ContentKey {
    fn encrypted_len(&self, bytes: usize) -> usize {
        let iv: &[u8] = if self.cbc.is_some() { &[0; BLOCK] } else { &[0; NONCE] };
        self.element(iv).encoded_len(self.payload_len(bytes))
    }

    fn fitting(&self, bytes: usize) -> Option<usize> {
        // CBC fills the last block; longer content has longer headers.
        let mut content = bytes.checked_sub(self.encrypted_len(0))? + BLOCK;
        while self.encrypted_len(content) > bytes {
            content -= 1;
        }
        Some(content)
    }

    fn encrypt(&self, name: &Name, content: &[u8], into: &mut [u8]) {
        let payload = self.payload_len(content.len());
        let Some(derive) = &self.cbc else {
            let digest = sha256(name.value());
            return self
                .element(&digest[..NONCE])
                .write(into, payload, |into| self.seal(name, content, into));
        };
        let iv = Self::cbc_vector(derive, name, content);
        self.element(&iv).write(into, payload, |into| match self.secret.len() {
            16 => encrypt::<Aes128>(&self.secret, &iv, content, into),
            24 => encrypt::<Aes192>(&self.secret, &iv, content, into),
            _ => encrypt::<Aes256>(&self.secret, &iv, content, into),
        });
    }
}

impl ContentKey {
    /// Encrypts by AES-GCM-SIV; the tag is last.
    fn seal(&self, name: &Name, content: &[u8], into: &mut [u8]) {
        let (place, tag) = into.split_at_mut(content.len());
        place.copy_from_slice(content);
        let digest = sha256(name.value());
        let nonce: [u8; NONCE] = std::array::from_fn(|at| digest[at]);
        let made = self.aead.encrypt_inout_detached(&nonce.into(), name.value(), place.into());
        debug_assert!(made.is_ok(), "a packet is shorter than the limit of the cipher");
        tag.copy_from_slice(&made.unwrap_or_default());
    }
}

const NOWHERE: KeyLocator<'_> = KeyLocator::Name(&[]);

/// A key for one purpose.
fn derived(secret: &[u8], purpose: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut derived = Zeroizing::new([0; 32]);
    HmacSigner::new(secret, NOWHERE).sign(purpose, &mut *derived);
    derived
}

fn encrypt<C>(key: &[u8], iv: &[u8; BLOCK], content: &[u8], into: &mut [u8])
where
    C: aes::cipher::BlockCipherEncrypt + KeyInit,
    cbc::Encryptor<C>: KeyIvInit + BlockModeEncrypt,
{
    let cipher = cbc::Encryptor::<C>::new_from_slices(key, iv);
    let written = cipher.ok().and_then(|it| it.encrypt_padded_b2b::<Pkcs7>(content, into).ok());
    debug_assert!(written.is_some(), "key, vector and space have the right lengths");
}

/// Decrypts whole blocks.
fn decrypt<C>(key: &[u8], iv: &[u8; BLOCK], blocks: &mut [u8])
where
    C: aes::cipher::BlockCipherDecrypt + KeyInit,
    cbc::Decryptor<C>: KeyIvInit + BlockModeDecrypt,
{
    let cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).ok();
    let done = cipher.map(|it| it.decrypt_padded::<NoPadding>(blocks).is_ok());
    debug_assert_eq!(done, Some(true), "key, vector and blocks have the right lengths");
}

/// Length of the content before its padding. Each padding costs the same time.
fn unpadded_len(blocks: &[u8]) -> Option<usize> {
    let (last, tail) = (*blocks.last()?, blocks.last_chunk::<BLOCK>()?);
    let count = usize::from(last);
    let wrong = tail
        .iter()
        .enumerate()
        .fold(0, |wrong, (at, byte)| wrong | (u8::from(at + count >= BLOCK) * (byte ^ last)));
    let is_right = (wrong == 0) & (1..=BLOCK).contains(&count);
    is_right.then(|| blocks.len() - count)
}

impl std::fmt::Debug for ContentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ContentKey({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn n(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    fn key(bytes: usize) -> ContentKey {
        ContentKey::new(n("/site/CK/1"), &vec![7; bytes]).unwrap()
    }

    fn encrypted(key: &ContentKey, name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; key.encrypted_len(content.len())];
        key.encrypt(&n(name), content, &mut bytes);
        bytes
    }

    #[test]
    fn key_has_a_length_of_aes() {
        for bytes in [0, 15, 17, 33] {
            let key = ContentKey::new(Name::root(), &vec![0; bytes]);
            assert_eq!(key.err(), Some(CipherError::KeyLength), "{bytes}");
        }
    }

    #[test]
    fn form_follows_from_name_and_content() {
        for key in [key(32), key(32).with_cbc()] {
            let first = encrypted(&key, "/a", b"content");
            assert_eq!(encrypted(&key, "/a", b"content"), first);
            assert_ne!(encrypted(&key, "/b", b"content"), first);
            assert_ne!(encrypted(&key, "/a", b"contenT"), first);
        }
    }

    #[test]
    fn other_content_of_a_name_reveals_no_difference() {
        let payload = |content| {
            let bytes = encrypted(&key(32), "/a", content);
            EncryptedContent::decode(&bytes).unwrap().payload.to_vec()
        };
        let (first, second) = (payload(&[0; 64]), payload(&[1; 64]));
        let equal = first.iter().zip(&second).filter(|(first, second)| *first ^ *second == 1);
        assert!(equal.count() < 8, "the two key streams differ");
    }

    #[test]
    fn changed_byte_is_one_error() {
        let (key, name) = (key(32), n("/site/report/v=1/seg=0"));
        let bytes = encrypted(&key, "/site/report/v=1/seg=0", &[9; 40]);
        for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            // The name of the key chooses the key, which is tried as the same one here.
            if let Ok(element) = EncryptedContent::decode(&changed)
                && element.key_name().as_ref() == Some(key.name())
            {
                assert_eq!(key.decrypt(&name, &element), Err(CipherError::Content), "{at} {bit}");
            }
        }
        let element = EncryptedContent::decode(&bytes).unwrap();
        for other in ["/site/report/v=1/seg=1", "/site/report/v=2/seg=0", "/site/v=1/seg=0"] {
            assert_eq!(key.decrypt(&n(other), &element), Err(CipherError::Content), "{other}");
        }
        let renamed = ContentKey::new(n("/other/CK/1"), &[7; 32]).unwrap();
        assert_eq!(renamed.decrypt(&name, &element), Err(CipherError::Content));
    }

    #[test]
    fn damaged_content_of_cbc_is_an_error() {
        let key = key(32).with_cbc();
        let bytes = encrypted(&key, "/a", b"content");
        let element = EncryptedContent::decode(&bytes).unwrap();
        for broken in [
            EncryptedContent { iv: None, ..element },
            EncryptedContent { iv: Some(&[0; 15]), ..element },
            EncryptedContent { payload: &element.payload[1..], ..element },
            EncryptedContent { payload: &[], ..element },
            EncryptedContent { cipher: Some(&[2]), ..element },
        ] {
            assert_eq!(key.decrypt(&n("/a"), &broken), Err(CipherError::Content));
        }
        let other = ContentKey::new(Name::root(), &[8; 32]).unwrap();
        assert_ne!(other.decrypt(&n("/a"), &element).ok().as_deref(), Some(&b"content"[..]));
    }

    #[test]
    fn padding_is_that_of_pkcs_7() {
        for count in 0..=255_u8 {
            let mut blocks = [count; 2 * BLOCK];
            let right = (1..=16).contains(&count);
            assert_eq!(unpadded_len(&blocks), right.then(|| 32 - usize::from(count)), "{count}");
            for at in BLOCK..2 * BLOCK - 1 {
                blocks[at] ^= 0x40;
                let is_padding = at >= 2 * BLOCK - usize::from(count).min(BLOCK);
                assert_eq!(unpadded_len(&blocks).is_some(), right && !is_padding, "{count} {at}");
                blocks[at] ^= 0x40;
            }
        }
    }

    proptest! {
        #[test]
        fn content_round_trips(
            size in prop_oneof![Just(16), Just(24), Just(32)],
            cbc: bool,
            content in proptest::collection::vec(any::<u8>(), 0..600),
        ) {
            let key = if cbc { key(size).with_cbc() } else { key(size) };
            let bytes = encrypted(&key, "/a", &content);
            let element = EncryptedContent::decode(&bytes).unwrap();
            prop_assert_eq!(&key.decrypt(&n("/a"), &element).unwrap()[..], &content[..]);
            prop_assert_eq!(element.key_name(), Some(key.name().clone()));
        }

        #[test]
        fn fitting_content_is_the_most(bytes in 0_usize..9_000, cbc: bool) {
            let key = if cbc { key(32).with_cbc() } else { key(32) };
            match key.fitting(bytes) {
                Some(content) => {
                    prop_assert!(key.encrypted_len(content) <= bytes);
                    prop_assert!(key.encrypted_len(content + 1) > bytes);
                }
                None => prop_assert!(key.encrypted_len(0) > bytes),
            }
        }
    }
}
