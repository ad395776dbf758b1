//! SignatureInfo and InterestSignatureInfo.

use crate::tlv::{self, DecodeError, Reader, Tlv, typ};
use bytes::BufMut;

/// SignatureType (TLV 27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureType {
    /// 0: plain SHA-256.
    DigestSha256,
    /// 1: RSASSA-PKCS1-v1_5 with SHA-256.
    Sha256WithRsa,
    /// 3: ECDSA with SHA-256, DER signature.
    Sha256WithEcdsa,
    /// 4: HMAC with SHA-256.
    HmacWithSha256,
    /// 5: Ed25519.
    Ed25519,
    /// 200: no security, for tests.
    Null,
    /// A number that this version does not know.
    Other(u64),
}

impl SignatureType {
    /// The number on the wire.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::DigestSha256 => 0,
            Self::Sha256WithRsa => 1,
            Self::Sha256WithEcdsa => 3,
            Self::HmacWithSha256 => 4,
            Self::Ed25519 => 5,
            Self::Null => 200,
            Self::Other(number) => number,
        }
    }
}

impl From<u64> for SignatureType {
    fn from(number: u64) -> Self {
        match number {
            0 => Self::DigestSha256,
            1 => Self::Sha256WithRsa,
            3 => Self::Sha256WithEcdsa,
            4 => Self::HmacWithSha256,
            5 => Self::Ed25519,
            200 => Self::Null,
            other => Self::Other(other),
        }
    }
}

/// KeyLocator (TLV 28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLocator<'a> {
    /// Name of the key or of its certificate, as TLV-VALUE.
    Name(&'a [u8]),
    /// SHA-256 of the key, as TLV-VALUE of the KeyDigest.
    Digest(&'a [u8]),
}

/// A key locator that owns its bytes, for signers.
#[cfg(feature = "signatures")]
#[derive(Clone, Debug)]
pub(super) struct Locator {
    is_digest: bool,
    bytes: Vec<u8>,
}

#[cfg(feature = "signatures")]
impl Locator {
    pub(super) fn borrow(&self) -> KeyLocator<'_> {
        if self.is_digest { KeyLocator::Digest(&self.bytes) } else { KeyLocator::Name(&self.bytes) }
    }
}

#[cfg(feature = "signatures")]
impl From<KeyLocator<'_>> for Locator {
    fn from(locator: KeyLocator<'_>) -> Self {
        match locator {
            KeyLocator::Name(value) => Self { is_digest: false, bytes: value.to_vec() },
            KeyLocator::Digest(value) => Self { is_digest: true, bytes: value.to_vec() },
        }
    }
}

/// ValidityPeriod of a certificate (TLV 253), in UTC, each limit as `YYYYMMDDThhmmss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity<'a> {
    /// First second of validity.
    pub not_before: &'a [u8],
    /// Last second of validity.
    pub not_after: &'a [u8],
}

/// SignatureInfo of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureInfo<'a> {
    /// SignatureType.
    pub typ: SignatureType,
    /// KeyLocator.
    pub key_locator: Option<KeyLocator<'a>>,
    /// Interests only: bytes that make the Interest unique.
    pub nonce: Option<&'a [u8]>,
    /// Interests only: time of signing, in milliseconds since 1970-01-01 UTC.
    pub time: Option<u64>,
    /// Interests only: a number that grows with each Interest signed by one key.
    pub seq_num: Option<u64>,
    /// Certificates only.
    pub validity: Option<Validity<'a>>,
}

impl<'a> SignatureInfo<'a> {
    /// A SignatureInfo with these two elements only.
    #[must_use]
    pub fn new(typ: SignatureType, key_locator: Option<KeyLocator<'a>>) -> Self {
        Self { typ, key_locator, nonce: None, time: None, seq_num: None, validity: None }
    }

    /// Decodes the TLV-VALUE of a SignatureInfo (22) or InterestSignatureInfo (44).
    #[inline]
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        // Digests have only a type.
        if let [typ, 1, number] = value
            && u64::from(*typ) == typ::SIGNATURE_TYPE
        {
            return Ok(Self::new(u64::from(*number).into(), None));
        }
        Self::read(&mut Reader::new(value))
    }

    /// The type alone, of a TLV-VALUE as [`decode`](Self::decode) takes it.
    #[inline]
    pub(crate) fn first_type(value: &[u8]) -> Option<SignatureType> {
        let number = match value {
            [typ, 1, number, ..] if u64::from(*typ) == typ::SIGNATURE_TYPE => u64::from(*number),
            _ => Reader::new(value).read().ok()??.number().ok()?,
        };
        Some(number.into())
    }

    /// Decodes the remaining elements of `reader`: the inside of a SignatureInfo or
    /// InterestSignatureInfo.
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let number = reader.expect(typ::SIGNATURE_TYPE, "a SignatureType")?.number()?;
        let mut info = Self::new(number.into(), None);
        // The numbers of known elements increase in their prescribed order.
        let mut last = typ::SIGNATURE_TYPE;
        while let Some(tlv) = reader.read()? {
            if tlv.typ > last && info.take(&tlv)? {
                last = tlv.typ;
            } else {
                tlv.skip_unless_critical()?;
            }
        }
        Ok(info)
    }

    /// Checks a SignatureInfo or InterestSignatureInfo element with as little decoding as possible.
    #[inline]
    pub(crate) fn check(element: &Tlv<'a>) -> Result<(), DecodeError> {
        // Digests have only a type.
        if matches!(element.value, [typ, 1, _] if u64::from(*typ) == typ::SIGNATURE_TYPE) {
            return Ok(());
        }
        Self::read(&mut element.reader()).map(|_| ())
    }

    /// Stores an element and returns whether it is known.
    fn take(&mut self, tlv: &Tlv<'a>) -> Result<bool, DecodeError> {
        match tlv.typ {
            typ::KEY_LOCATOR => self.key_locator = key_locator(tlv)?,
            typ::SIGNATURE_NONCE => self.nonce = Some(tlv.value),
            typ::SIGNATURE_TIME => self.time = Some(tlv.number()?),
            typ::SIGNATURE_SEQ_NUM => self.seq_num = Some(tlv.number()?),
            typ::VALIDITY_PERIOD => self.validity = Some(validity(tlv)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Bytes of the element's TLV-VALUE.
    #[must_use]
    pub fn value_len(&self) -> usize {
        let locator = match self.key_locator {
            Some(KeyLocator::Name(value)) => nested_len(typ::KEY_LOCATOR, typ::NAME, value),
            Some(KeyLocator::Digest(value)) => nested_len(typ::KEY_LOCATOR, typ::KEY_DIGEST, value),
            None => 0,
        };
        let number = |typ, number: Option<u64>| number.map_or(0, |it| tlv::nni_tlv_len(typ, it));
        tlv::nni_tlv_len(typ::SIGNATURE_TYPE, self.typ.number())
            + locator
            + self.nonce.map_or(0, |it| tlv::tlv_len(typ::SIGNATURE_NONCE, it.len()))
            + number(typ::SIGNATURE_TIME, self.time)
            + number(typ::SIGNATURE_SEQ_NUM, self.seq_num)
            + self.validity.map_or(0, |it| tlv::tlv_len(typ::VALIDITY_PERIOD, it.value_len()))
    }

    /// Bytes of the whole element of type `element` (22 in Data, 44 in Interests).
    #[must_use]
    pub fn encoded_len(&self, element: u64) -> usize {
        tlv::tlv_len(element, self.value_len())
    }

    /// Appends the whole element of type `element` (22 in Data, 44 in Interests).
    pub fn encode(&self, element: u64, out: &mut impl BufMut) {
        tlv::put_header(out, element, self.value_len());
        tlv::put_nni_tlv(out, typ::SIGNATURE_TYPE, self.typ.number());
        match self.key_locator {
            Some(KeyLocator::Name(value)) => put_nested(out, typ::KEY_LOCATOR, typ::NAME, value),
            Some(KeyLocator::Digest(value)) => {
                put_nested(out, typ::KEY_LOCATOR, typ::KEY_DIGEST, value);
            }
            None => {}
        }
        if let Some(nonce) = self.nonce {
            tlv::put_tlv(out, typ::SIGNATURE_NONCE, nonce);
        }
        if let Some(time) = self.time {
            tlv::put_nni_tlv(out, typ::SIGNATURE_TIME, time);
        }
        if let Some(seq_num) = self.seq_num {
            tlv::put_nni_tlv(out, typ::SIGNATURE_SEQ_NUM, seq_num);
        }
        if let Some(validity) = self.validity {
            tlv::put_header(out, typ::VALIDITY_PERIOD, validity.value_len());
            tlv::put_tlv(out, typ::NOT_BEFORE, validity.not_before);
            tlv::put_tlv(out, typ::NOT_AFTER, validity.not_after);
        }
    }
}

impl Validity<'_> {
    fn value_len(&self) -> usize {
        tlv::tlv_len(typ::NOT_BEFORE, self.not_before.len())
            + tlv::tlv_len(typ::NOT_AFTER, self.not_after.len())
    }
}

/// An unknown kind of locator counts as none: verifiers only use known keys.
fn key_locator<'a>(locator: &Tlv<'a>) -> Result<Option<KeyLocator<'a>>, DecodeError> {
    Ok(match locator.reader().read()? {
        Some(tlv) if tlv.typ == typ::NAME => Some(KeyLocator::Name(tlv.value)),
        Some(tlv) if tlv.typ == typ::KEY_DIGEST => Some(KeyLocator::Digest(tlv.value)),
        _ => None,
    })
}

fn validity<'a>(period: &Tlv<'a>) -> Result<Validity<'a>, DecodeError> {
    let mut reader = period.reader();
    let mut bound = |typ, expected| match reader.expect(typ, expected)? {
        tlv if tlv.value.len() == 15 => Ok(tlv.value),
        tlv => Err(tlv.error(expected)),
    };
    let not_before = bound(typ::NOT_BEFORE, "a NotBefore of 15 bytes")?;
    let not_after = bound(typ::NOT_AFTER, "a NotAfter of 15 bytes")?;
    Ok(Validity { not_before, not_after })
}

fn nested_len(outer: u64, inner: u64, value: &[u8]) -> usize {
    tlv::tlv_len(outer, tlv::tlv_len(inner, value.len()))
}

fn put_nested(out: &mut impl BufMut, outer: u64, inner: u64, value: &[u8]) {
    tlv::put_header(out, outer, tlv::tlv_len(inner, value.len()));
    tlv::put_tlv(out, inner, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_survives_encoding_and_decoding() {
        let info = SignatureInfo {
            typ: SignatureType::Sha256WithEcdsa,
            key_locator: Some(KeyLocator::Name(&[8, 1, b'a'])),
            nonce: Some(&[1, 2, 3, 4]),
            time: Some(1_700_000_000_000),
            seq_num: Some(7),
            validity: Some(Validity {
                not_before: b"20200101T000000",
                not_after: b"20300101T000000",
            }),
        };
        let mut wire = Vec::new();
        info.encode(44, &mut wire);
        assert_eq!(wire.len(), info.encoded_len(44));
        assert_eq!(wire.len(), 2 + info.value_len());
        assert_eq!(SignatureInfo::decode(&wire[2..]), Ok(info));
        for cut in 1..wire.len() - 2 {
            let _ = SignatureInfo::decode(&wire[2..2 + cut]);
        }
    }

    #[test]
    fn digest_info_is_five_bytes() {
        let mut wire = Vec::new();
        SignatureInfo::new(SignatureType::DigestSha256, None).encode(22, &mut wire);
        assert_eq!(wire, [22, 3, 27, 1, 0]);
    }

    #[test]
    fn an_unknown_critical_element_is_an_error() {
        assert!(SignatureInfo::decode(&[27, 1, 0, 33, 0]).is_err());
        assert!(SignatureInfo::decode(&[27, 1, 0, 126, 0]).is_ok());
        assert!(SignatureInfo::decode(&[27, 1, 0, 28, 0, 28, 0]).is_err(), "critical and repeated");
        assert!(SignatureInfo::decode(&[28, 0, 27, 1, 0]).is_err(), "misplaced");
        assert!(SignatureInfo::decode(&[]).is_err());
    }
}
