//! SafeBag: a certificate and its encrypted private key in one TLV, as ndn-cxx exchanges keys.
//!
//! Source: ndn-cxx documentation, "SafeBag format".

use super::private::ROUNDS;
use super::{KeyStoreError, PrivateKey, certificate};
use bytes::Bytes;
use recoup_packet::data::Data;
use recoup_packet::tlv::{self, Reader, typ};

const SAFE_BAG: u64 = 128;
const ENCRYPTED_KEY: u64 = 129;

/// Encodes a SafeBag; `salt` must never have been used before.
pub(super) fn encode(
    certificate: &Data,
    key: &PrivateKey,
    password: &str,
    salt: &[u8; 32],
) -> Result<Vec<u8>, KeyStoreError> {
    encode_with(certificate, key, password, salt, ROUNDS)
}

/// As [`encode`], with so many rounds of PBKDF2.
pub(super) fn encode_with(
    certificate: &Data,
    key: &PrivateKey,
    password: &str,
    salt: &[u8; 32],
    rounds: u32,
) -> Result<Vec<u8>, KeyStoreError> {
    let encrypted = key.encrypt_pkcs8(password, salt, rounds)?;
    let mut inner = certificate.wire().to_vec();
    tlv::put_tlv(&mut inner, ENCRYPTED_KEY, &encrypted);
    let mut bag = Vec::new();
    tlv::put_tlv(&mut bag, SAFE_BAG, &inner);
    Ok(bag)
}

/// Whether `bytes` begin like a SafeBag.
pub(super) fn is_safe_bag(bytes: &[u8]) -> bool {
    bytes.first() == Some(&(SAFE_BAG as u8))
}

/// Opens a SafeBag and checks that its parts belong together.
pub(super) fn decode(bag: &Bytes, password: &str) -> Result<(Data, PrivateKey), KeyStoreError> {
    let (certificate, encrypted) = split(bag)?;
    let key = PrivateKey::from_encrypted_pkcs8(&encrypted, password)?;
    if !certificate::belongs_to(&certificate, &key)? {
        return Err(KeyStoreError::Mismatch);
    }
    Ok((certificate, key))
}

/// Certificate and encrypted key.
pub(super) fn split(bag: &Bytes) -> Result<(Data, Bytes), KeyStoreError> {
    let parts = || {
        let mut outer = Reader::new(bag);
        let safe_bag = outer.expect(SAFE_BAG, "a SafeBag")?;
        outer.finish()?;
        let mut inner = safe_bag.reader();
        let certificate = inner.expect(typ::DATA, "a certificate")?;
        let encrypted = inner.expect(ENCRYPTED_KEY, "an encrypted key")?;
        inner.finish()?;
        let data = Data::decode(bag.slice(certificate.whole()))?;
        Ok::<_, tlv::DecodeError>((data, bag.slice(encrypted.range())))
    };
    parts().map_err(|_| KeyStoreError::NotUnderstood("a SafeBag"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::name::Name;

    #[test]
    fn bag_round_trips_and_detects_flipped_bits() {
        let key = PrivateKey::Ecdsa(vec![7; 32].into());
        let name: Name = "/a/KEY/k".parse().unwrap();
        let certificate = certificate::self_signed(&key, &name, 1_000_000_000_000).unwrap();
        let bag: Bytes = encode(&certificate, &key, "secret", &[3; 32]).unwrap().into();
        assert!(is_safe_bag(&bag));
        let (read, opened) = decode(&bag, "secret").unwrap();
        assert_eq!(read, certificate);
        assert_eq!(opened.to_spki(), key.to_spki());
        assert!(matches!(decode(&bag, "wrong"), Err(KeyStoreError::WrongPassword)));
        for len in 0..bag.len() {
            assert!(split(&bag.slice(..len)).is_err());
        }
        for bit in 0..bag.len() * 8 {
            let mut changed = bag.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            let _ = split(&changed.into());
        }
        let other = PrivateKey::Ecdsa(vec![8; 32].into());
        let bag = encode(&certificate, &other, "secret", &[3; 32]).unwrap();
        assert!(matches!(decode(&bag.into(), "secret"), Err(KeyStoreError::Mismatch)));
    }
}
