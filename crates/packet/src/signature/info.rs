//! SignatureInfo and InterestSignatureInfo: what a packet says about its signature.

use bytes::BufMut;

/// Kind of a signature (TLV SignatureType 27).
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
    /// 200: no security at all, for tests.
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

/// Where the key of a signature is found (TLV KeyLocator 28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLocator<'a> {
    /// Name of the key or of its certificate: the TLV-VALUE octets of the Name.
    Name(&'a [u8]),
    /// SHA-256 of the key: the TLV-VALUE octets of the KeyDigest.
    Digest(&'a [u8]),
}

/// A key locator that owns its octets, for signers.
#[derive(Clone, Debug)]
pub(super) struct Locator {
    is_digest: bool,
    octets: Vec<u8>,
}

impl Locator {
    pub(super) fn borrow(&self) -> KeyLocator<'_> {
        if self.is_digest {
            KeyLocator::Digest(&self.octets)
        } else {
            KeyLocator::Name(&self.octets)
        }
    }
}

impl From<KeyLocator<'_>> for Locator {
    fn from(locator: KeyLocator<'_>) -> Self {
        match locator {
            KeyLocator::Name(value) => Self {
                is_digest: false,
                octets: value.to_vec(),
            },
            KeyLocator::Digest(value) => Self {
                is_digest: true,
                octets: value.to_vec(),
            },
        }
    }
}

/// When a certificate is valid (TLV ValidityPeriod 253), in UTC, each bound as `YYYYMMDDThhmmss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity<'a> {
    /// First second of validity.
    pub not_before: &'a [u8],
    /// Last second of validity.
    pub not_after: &'a [u8],
}

/// What a packet says about its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureInfo<'a> {
    /// Kind of the signature.
    pub typ: SignatureType,
    /// Where its key is found.
    pub key_locator: Option<KeyLocator<'a>>,
    /// Interests only: octets that make the Interest unique.
    pub nonce: Option<&'a [u8]>,
    /// Interests only: when it was signed, in milliseconds since 1970-01-01 UTC.
    pub time: Option<u64>,
    /// Interests only: a number that grows with each Interest signed by one key.
    pub seq_num: Option<u64>,
    /// Certificates only.
    pub validity: Option<Validity<'a>>,
}

/// A SignatureInfo that cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("signature info, octet {offset}: expected {expected}")]
pub struct Malformed {
    /// Octets from the start of the SignatureInfo's TLV-VALUE.
    pub offset: usize,
    /// What should stand there.
    pub expected: &'static str,
}

const SIGNATURE_TYPE: u64 = 27;
const KEY_LOCATOR: u64 = 28;
const KEY_DIGEST: u64 = 29;
const NAME: u64 = 7;
const SIGNATURE_NONCE: u64 = 38;
const SIGNATURE_TIME: u64 = 40;
const SIGNATURE_SEQ_NUM: u64 = 42;
const VALIDITY_PERIOD: u64 = 253;
const NOT_BEFORE: u64 = 254;
const NOT_AFTER: u64 = 255;

impl<'a> SignatureInfo<'a> {
    /// A SignatureInfo with these two elements only.
    #[must_use]
    pub fn new(typ: SignatureType, key_locator: Option<KeyLocator<'a>>) -> Self {
        Self {
            typ,
            key_locator,
            nonce: None,
            time: None,
            seq_num: None,
            validity: None,
        }
    }

    /// Decodes the TLV-VALUE of a SignatureInfo (22) or InterestSignatureInfo (44).
    pub fn decode(value: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Walk { all: value, at: 0 };
        let (typ, number, at) = reader.next()?.ok_or(Malformed {
            offset: 0,
            expected: "SignatureType",
        })?;
        if typ != SIGNATURE_TYPE {
            return Err(Malformed {
                offset: at,
                expected: "SignatureType",
            });
        }
        let mut info = Self::new(number_of(number, at)?.into(), None);
        while let Some((typ, value, at)) = reader.next()? {
            info.take(typ, value, at)?;
        }
        Ok(info)
    }

    fn take(&mut self, typ: u64, value: &'a [u8], at: usize) -> Result<(), Malformed> {
        match typ {
            KEY_LOCATOR if self.key_locator.is_none() => self.key_locator = key_locator(value, at)?,
            SIGNATURE_NONCE if self.nonce.is_none() => self.nonce = Some(value),
            SIGNATURE_TIME if self.time.is_none() => self.time = Some(number_of(value, at)?),
            SIGNATURE_SEQ_NUM if self.seq_num.is_none() => {
                self.seq_num = Some(number_of(value, at)?);
            }
            VALIDITY_PERIOD if self.validity.is_none() => {
                self.validity = Some(validity(value, at)?)
            }
            _ if typ > 31 && typ.is_multiple_of(2) => {}
            _ => {
                return Err(Malformed {
                    offset: at,
                    expected: "no unknown critical element",
                });
            }
        }
        Ok(())
    }

    /// Octets of the element's TLV-VALUE.
    #[must_use]
    pub fn value_len(&self) -> usize {
        let mut count = Count(0);
        self.put_value(&mut count);
        count.0
    }

    /// Octets of the whole element of type `element` (22 in Data, 44 in Interests).
    #[must_use]
    pub fn encoded_len(&self, element: u64) -> usize {
        let value_len = self.value_len();
        varnum_len(element) + varnum_len(value_len as u64) + value_len
    }

    /// Appends the whole element of type `element` (22 in Data, 44 in Interests).
    pub fn encode(&self, element: u64, out: &mut impl BufMut) {
        put_varnum(&mut Octets(out), element);
        put_varnum(&mut Octets(out), self.value_len() as u64);
        self.put_value(&mut Octets(out));
    }

    fn put_value(&self, out: &mut impl Sink) {
        put_number(out, SIGNATURE_TYPE, self.typ.number());
        match self.key_locator {
            Some(KeyLocator::Name(value)) => put_nested(out, KEY_LOCATOR, NAME, value),
            Some(KeyLocator::Digest(value)) => put_nested(out, KEY_LOCATOR, KEY_DIGEST, value),
            None => {}
        }
        if let Some(nonce) = self.nonce {
            put_tlv(out, SIGNATURE_NONCE, nonce);
        }
        if let Some(time) = self.time {
            put_number(out, SIGNATURE_TIME, time);
        }
        if let Some(seq_num) = self.seq_num {
            put_number(out, SIGNATURE_SEQ_NUM, seq_num);
        }
        if let Some(validity) = self.validity {
            let (from, to) = (validity.not_before, validity.not_after);
            put_varnum(out, VALIDITY_PERIOD);
            put_varnum(
                out,
                (tlv_len(NOT_BEFORE, from.len()) + tlv_len(NOT_AFTER, to.len())) as u64,
            );
            put_tlv(out, NOT_BEFORE, from);
            put_tlv(out, NOT_AFTER, to);
        }
    }
}

fn key_locator(value: &[u8], base: usize) -> Result<Option<KeyLocator<'_>>, Malformed> {
    let mut reader = Walk { all: value, at: 0 };
    let inner = reader.next().map_err(|e| Malformed {
        offset: base + e.offset,
        ..e
    })?;
    match inner {
        Some((NAME, name, _)) => Ok(Some(KeyLocator::Name(name))),
        Some((KEY_DIGEST, digest, _)) => Ok(Some(KeyLocator::Digest(digest))),
        _ => Ok(None),
    }
}

fn validity(value: &[u8], base: usize) -> Result<Validity<'_>, Malformed> {
    let mut reader = Walk { all: value, at: 0 };
    let mut bound = |wanted: u64, expected| match reader.next() {
        Ok(Some((typ, value, _))) if typ == wanted && value.len() == 15 => Ok(value),
        _ => Err(Malformed {
            offset: base,
            expected,
        }),
    };
    let not_before = bound(NOT_BEFORE, "NotBefore of 15 octets")?;
    let not_after = bound(NOT_AFTER, "NotAfter of 15 octets")?;
    Ok(Validity {
        not_before,
        not_after,
    })
}

fn number_of(value: &[u8], offset: usize) -> Result<u64, Malformed> {
    match value.len() {
        1 | 2 | 4 | 8 => Ok(value
            .iter()
            .fold(0, |sum, octet| sum << 8 | u64::from(*octet))),
        _ => Err(Malformed {
            offset,
            expected: "a number of 1, 2, 4 or 8 octets",
        }),
    }
}

/// Type, value, offset.
type Element<'a> = (u64, &'a [u8], usize);

struct Walk<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    fn next(&mut self) -> Result<Option<Element<'a>>, Malformed> {
        if self.at == self.all.len() {
            return Ok(None);
        }
        let start = self.at;
        let typ = self.varnum()?;
        let len = self.varnum()?;
        let end = usize::try_from(len)
            .ok()
            .and_then(|len| self.at.checked_add(len));
        let value = end
            .and_then(|end| self.all.get(self.at..end))
            .ok_or(Malformed {
                offset: self.at,
                expected: "as many octets as TLV-LENGTH says",
            })?;
        self.at += value.len();
        Ok(Some((typ, value, start)))
    }

    fn varnum(&mut self) -> Result<u64, Malformed> {
        let bad = Malformed {
            offset: self.at,
            expected: "a number in its shortest form",
        };
        let first = *self.all.get(self.at).ok_or(bad)?;
        let (len, least) = match first {
            ..253 => (0, 0),
            253 => (2, 253),
            254 => (4, 0x1_0000),
            255 => (8, 0x1_0000_0000),
        };
        self.at += 1;
        if len == 0 {
            return Ok(u64::from(first));
        }
        let octets = self.all.get(self.at..self.at + len).ok_or(bad)?;
        self.at += len;
        let number = octets
            .iter()
            .fold(0, |sum, octet| sum << 8 | u64::from(*octet));
        if number < least { Err(bad) } else { Ok(number) }
    }
}

trait Sink {
    fn put(&mut self, octets: &[u8]);
}

struct Count(usize);

impl Sink for Count {
    fn put(&mut self, octets: &[u8]) {
        self.0 += octets.len();
    }
}

struct Octets<'a, B>(&'a mut B);

impl<B: BufMut> Sink for Octets<'_, B> {
    fn put(&mut self, octets: &[u8]) {
        self.0.put_slice(octets);
    }
}

fn varnum_len(number: u64) -> usize {
    match number {
        0..253 => 1,
        253..0x1_0000 => 3,
        0x1_0000..0x1_0000_0000 => 5,
        _ => 9,
    }
}

fn put_varnum(out: &mut impl Sink, number: u64) {
    match varnum_len(number) {
        1 => out.put(&[number as u8]),
        3 => {
            out.put(&[253]);
            out.put(&(number as u16).to_be_bytes());
        }
        5 => {
            out.put(&[254]);
            out.put(&(number as u32).to_be_bytes());
        }
        _ => {
            out.put(&[255]);
            out.put(&number.to_be_bytes());
        }
    }
}

fn tlv_len(typ: u64, value_len: usize) -> usize {
    varnum_len(typ) + varnum_len(value_len as u64) + value_len
}

fn put_tlv(out: &mut impl Sink, typ: u64, value: &[u8]) {
    put_varnum(out, typ);
    put_varnum(out, value.len() as u64);
    out.put(value);
}

fn put_nested(out: &mut impl Sink, outer: u64, inner: u64, value: &[u8]) {
    put_varnum(out, outer);
    put_varnum(out, tlv_len(inner, value.len()) as u64);
    put_tlv(out, inner, value);
}

fn put_number(out: &mut impl Sink, typ: u64, number: u64) {
    let octets = number.to_be_bytes();
    let len = match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    put_tlv(out, typ, &octets[8 - len..]);
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
        assert_eq!(SignatureInfo::decode(&wire[2..]), Ok(info));
        for cut in 1..wire.len() - 2 {
            let _ = SignatureInfo::decode(&wire[2..2 + cut]);
        }
    }

    #[test]
    fn a_digest_info_is_five_octets() {
        let mut wire = Vec::new();
        SignatureInfo::new(SignatureType::DigestSha256, None).encode(22, &mut wire);
        assert_eq!(wire, [22, 3, 27, 1, 0]);
    }

    #[test]
    fn an_unknown_critical_element_is_an_error() {
        assert!(SignatureInfo::decode(&[27, 1, 0, 33, 0]).is_err());
        assert!(SignatureInfo::decode(&[27, 1, 0, 126, 0]).is_ok());
    }
}
