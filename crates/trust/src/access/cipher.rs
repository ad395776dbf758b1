//! Content keys: AES-CBC with PKCS #7 padding (RFC 5652, 6.3).
use super::content::{EncryptedContent, IV_BYTES};
use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use bytes::{Bytes, BytesMut};
use recoup_packet::name::Name;
use recoup_packet::signature::{Encrypter, HmacSigner, KeyLocator, Signer, sha256};
use zeroize::Zeroizing;

/// Bytes of a block.
const BLOCK: usize = 16;

/// Content that cannot be decrypted, or a key of a wrong length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    /// Neither 16, 24 nor 32 bytes.
    #[error("a content key has 16, 24 or 32 bytes")]
    KeyLength,
    /// No blocks, no initialization vector, or a wrong padding.
    #[error("cannot be decrypted with its content key")]
    Content,
}

/// A key that encrypts and decrypts content.
///
/// The initialization vector is a keyed digest of name and content. So content has the same encrypted form each time, and
/// signatures and caches stay valid; a reader of encrypted packets learns only whether the same name had the same content.
///
/// ```
/// use recoup_packet::signature::Encrypter;
/// use recoup_trust::access::{ContentKey, EncryptedContent};
/// let key = ContentKey::new("/site/CK/1".parse()?, &[7; 32])?;
/// let mut bytes = vec![0; key.encrypted_len(6)];
/// key.encrypt(&"/site/report/seg=0".parse()?, b"secret", &mut bytes);
/// assert_eq!(key.decrypt(&EncryptedContent::decode(&bytes)?)?, "secret");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContentKey {
    name: Name,
    secret: Zeroizing<Vec<u8>>,
    /// Makes initialization vectors.
    derive: HmacSigner,
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
        let mut derived = Zeroizing::new([0; 32]);
        HmacSigner::new(secret, NOWHERE).sign(b"initialization vectors", &mut *derived);
        let derive = HmacSigner::new(&*derived, NOWHERE);
        Ok(Self { name, secret: Zeroizing::new(secret.to_vec()), derive })
    }

    /// The name by which content refers to it.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    fn iv(&self, name: &Name, content: &[u8]) -> [u8; IV_BYTES] {
        let message = [&sha256(content)[..], name.value()].concat();
        let mut digest = [0; 32];
        self.derive.sign(&message, &mut digest);
        std::array::from_fn(|at| digest[at])
    }

    /// The content of an element.
    ///
    /// # Errors
    /// [`CipherError::Content`].
    pub fn decrypt(&self, element: &EncryptedContent<'_>) -> Result<Bytes, CipherError> {
        let iv: &[u8; IV_BYTES] =
            element.iv.and_then(|iv| iv.try_into().ok()).ok_or(CipherError::Content)?;
        let mut content = BytesMut::from(element.payload);
        let decrypted = match self.secret.len() {
            16 => decrypt::<Aes128>(&self.secret, iv, &mut content),
            24 => decrypt::<Aes192>(&self.secret, iv, &mut content),
            _ => decrypt::<Aes256>(&self.secret, iv, &mut content),
        };
        content.truncate(decrypted.ok_or(CipherError::Content)?);
        Ok(content.freeze())
    }
}

impl Encrypter for ContentKey {
    fn encrypted_len(&self, bytes: usize) -> usize {
        EncryptedContent::encoded_len((bytes / BLOCK + 1) * BLOCK, &self.name)
    }

    fn fitting(&self, bytes: usize) -> Option<usize> {
        let mut blocks = bytes / BLOCK;
        while blocks > 0 && EncryptedContent::encoded_len(blocks * BLOCK, &self.name) > bytes {
            blocks -= 1;
        }
        (blocks > 0).then(|| blocks * BLOCK - 1)
    }

    fn encrypt(&self, name: &Name, content: &[u8], into: &mut [u8]) {
        let iv = self.iv(name, content);
        let payload = (content.len() / BLOCK + 1) * BLOCK;
        EncryptedContent::write(into, &self.name, &iv, payload, |into| {
            match self.secret.len() {
                16 => encrypt::<Aes128>(&self.secret, &iv, content, into),
                24 => encrypt::<Aes192>(&self.secret, &iv, content, into),
                _ => encrypt::<Aes256>(&self.secret, &iv, content, into),
            };
        });
    }
}

const NOWHERE: KeyLocator<'_> = KeyLocator::Name(&[]);

fn encrypt<C>(key: &[u8], iv: &[u8; IV_BYTES], content: &[u8], into: &mut [u8])
where
    C: aes::cipher::BlockCipherEncrypt + KeyInit,
    cbc::Encryptor<C>: KeyIvInit + BlockModeEncrypt,
{
    let cipher = cbc::Encryptor::<C>::new_from_slices(key, iv);
    let written = cipher.ok().and_then(|it| it.encrypt_padded_b2b::<Pkcs7>(content, into).ok());
    debug_assert!(written.is_some(), "key, vector and space have the right lengths");
}

/// Length of the content, at the beginning of `bytes`.
fn decrypt<C>(key: &[u8], iv: &[u8; IV_BYTES], bytes: &mut [u8]) -> Option<usize>
where
    C: aes::cipher::BlockCipherDecrypt + KeyInit,
    cbc::Decryptor<C>: KeyIvInit + BlockModeDecrypt,
{
    let cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    cipher.decrypt_padded::<Pkcs7>(bytes).ok().map(<[u8]>::len)
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

    fn key(bytes: usize) -> ContentKey {
        ContentKey::new("/site/CK/1".parse().unwrap(), &vec![7; bytes]).unwrap()
    }

    fn encrypted(key: &ContentKey, name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; key.encrypted_len(content.len())];
        key.encrypt(&name.parse().unwrap(), content, &mut bytes);
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
    fn vector_follows_from_name_and_content() {
        let key = key(32);
        let first = encrypted(&key, "/a", b"content");
        assert_eq!(encrypted(&key, "/a", b"content"), first);
        assert_ne!(encrypted(&key, "/b", b"content"), first);
        assert_ne!(encrypted(&key, "/a", b"contenT"), first);
    }

    #[test]
    fn damaged_content_is_an_error_or_other_content() {
        let key = key(32);
        let bytes = encrypted(&key, "/a", b"content");
        let element = EncryptedContent::decode(&bytes).unwrap();
        for broken in [
            EncryptedContent { iv: None, ..element },
            EncryptedContent { iv: Some(&[0; 15]), ..element },
            EncryptedContent { payload: &element.payload[1..], ..element },
            EncryptedContent { payload: &[], ..element },
        ] {
            assert_eq!(key.decrypt(&broken), Err(CipherError::Content));
        }
        let other = ContentKey::new(Name::root(), &[8; 32]).unwrap();
        assert_ne!(other.decrypt(&element).ok().as_deref(), Some(&b"content"[..]));
    }

    proptest! {
        #[test]
        fn content_round_trips(
            size in prop_oneof![Just(16), Just(24), Just(32)],
            content in proptest::collection::vec(any::<u8>(), 0..600),
        ) {
            let key = key(size);
            let bytes = encrypted(&key, "/a", &content);
            let element = EncryptedContent::decode(&bytes).unwrap();
            prop_assert_eq!(&key.decrypt(&element).unwrap()[..], &content[..]);
            prop_assert_eq!(element.key_name(), Some(key.name().clone()));
        }

        #[test]
        fn fitting_content_is_the_most(bytes in 0_usize..9_000) {
            let key = key(32);
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
