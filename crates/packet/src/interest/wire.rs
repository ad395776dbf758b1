//! Encoding and decoding of Interests.

use super::plain::Plain;
use super::{Interest, InterestSignature, MAX_FORWARDING_HINTS, is_parameters_digest};
use crate::name::{self, Name};
use crate::signature::{SignatureInfo, sha256};
use crate::tlv::{self, DecodeError, Reader, Tlv, typ};
use bytes::{BufMut, Bytes, BytesMut};
use std::time::Duration;

impl Interest {
    /// Appends the whole Interest packet.
    pub fn encode(&self, out: &mut BytesMut) {
        self.encode_with_hop_limit(out, self.hop_limit);
    }

    /// Appends the whole Interest packet with another hop limit, which must be present exactly if
    /// the Interest has one.
    pub fn encode_with_hop_limit(&self, out: &mut BytesMut, hop_limit: Option<u8>) {
        debug_assert_eq!(self.hop_limit.is_some(), hop_limit.is_some(), "only the value changes");
        if !self.encode_plain(out, hop_limit) {
            self.encode_any(out, hop_limit);
        }
    }

    /// Appends an Interest of any layout.
    #[inline(never)]
    pub(super) fn encode_any(&self, out: &mut BytesMut, hop_limit: Option<u8>) {
        let len = self.value_len();
        out.reserve(tlv::tlv_len(typ::INTEREST, len));
        tlv::put_header(out, typ::INTEREST, len);
        self.name.encode(out);
        if self.can_be_prefix {
            tlv::put_header(out, typ::CAN_BE_PREFIX, 0);
        }
        if self.must_be_fresh {
            tlv::put_header(out, typ::MUST_BE_FRESH, 0);
        }
        if !self.forwarding_hint.is_empty() {
            tlv::put_header(out, typ::FORWARDING_HINT, self.hint_len());
            self.forwarding_hint.iter().for_each(|name| name.encode(out));
        }
        if let Some(nonce) = self.nonce {
            // Each call checks the capacity of the buffer.
            let [a, b, c, d] = nonce.to_be_bytes();
            out.put_slice(&[typ::NONCE as u8, 4, a, b, c, d]);
        }
        if let Some(ms) = self.lifetime_ms() {
            tlv::put_nni_tlv(out, typ::INTEREST_LIFETIME, ms);
        }
        if let Some(hop_limit) = self.hop_limit.and(hop_limit) {
            out.put_slice(&[typ::HOP_LIMIT as u8, 1, hop_limit]);
        }
        self.put_parameters(out);
    }

    /// Bytes of the whole Interest packet.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        tlv::tlv_len(typ::INTEREST, self.value_len())
    }

    /// The whole Interest packet in a buffer of its own.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.encoded_len());
        self.encode(&mut out);
        out.freeze()
    }

    fn value_len(&self) -> usize {
        let hint = match self.forwarding_hint.len() {
            0 => 0,
            _ => tlv::tlv_len(typ::FORWARDING_HINT, self.hint_len()),
        };
        self.name.encoded_len()
            + usize::from(self.can_be_prefix) * tlv::tlv_len(typ::CAN_BE_PREFIX, 0)
            + usize::from(self.must_be_fresh) * tlv::tlv_len(typ::MUST_BE_FRESH, 0)
            + hint
            + self.nonce.map_or(0, |_| tlv::tlv_len(typ::NONCE, 4))
            + self.lifetime_ms().map_or(0, |ms| tlv::nni_tlv_len(typ::INTEREST_LIFETIME, ms))
            + self.hop_limit.map_or(0, |_| tlv::tlv_len(typ::HOP_LIMIT, 1))
            + self.parameters_len()
    }

    fn hint_len(&self) -> usize {
        self.forwarding_hint.iter().map(Name::encoded_len).sum()
    }

    #[inline]
    pub(super) fn lifetime_ms(&self) -> Option<u64> {
        let lifetime = self.lifetime?;
        let ms = u64::from(lifetime.subsec_nanos().div_ceil(1_000_000));
        Some(lifetime.as_secs().saturating_mul(1_000).saturating_add(ms))
    }

    fn parameters_len(&self) -> usize {
        let Some(parameters) = &self.parameters else {
            return 0;
        };
        let tail = match (&self.tail, &self.signature) {
            (Some(tail), _) => tail.len(),
            (None, Some(signature)) => {
                tlv::tlv_len(typ::INTEREST_SIGNATURE_INFO, signature.bytes.0.len())
                    + tlv::tlv_len(typ::INTEREST_SIGNATURE_VALUE, signature.bytes.1.len())
            }
            (None, None) => 0,
        };
        tlv::tlv_len(typ::APPLICATION_PARAMETERS, parameters.len()) + tail
    }

    /// Appends the bytes that the digest in the name covers: from ApplicationParameters to the end.
    fn put_parameters(&self, out: &mut impl BufMut) {
        let Some(parameters) = &self.parameters else {
            return;
        };
        tlv::put_tlv(out, typ::APPLICATION_PARAMETERS, parameters);
        match (&self.tail, &self.signature) {
            (Some(tail), _) => out.put_slice(tail),
            (None, Some(signature)) => {
                tlv::put_tlv(out, typ::INTEREST_SIGNATURE_INFO, &signature.bytes.0);
                tlv::put_tlv(out, typ::INTEREST_SIGNATURE_VALUE, &signature.bytes.1);
            }
            (None, None) => {}
        }
    }

    pub(super) fn parameters_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.parameters_len());
        self.put_parameters(&mut bytes);
        bytes
    }

    /// Name without digest, parameters, and the elements up to the InterestSignatureInfo `info`.
    pub(super) fn signed_bytes(&self, info: &[u8]) -> Vec<u8> {
        let room = self.name.value().len() + self.parameters_len() + info.len() + 8;
        let mut bytes = Vec::with_capacity(room);
        for component in self.name.components().filter(|it| !is_parameters_digest(it)) {
            component.encode(&mut bytes);
        }
        if let Some(parameters) = &self.parameters {
            tlv::put_tlv(&mut bytes, typ::APPLICATION_PARAMETERS, parameters);
        }
        match &self.tail {
            Some(tail) => bytes.put_slice(up_to_signature_info(tail)),
            None => tlv::put_tlv(&mut bytes, typ::INTEREST_SIGNATURE_INFO, info),
        }
        bytes
    }

    /// Decodes one whole Interest packet; names, parameters and signature share `wire`.
    ///
    /// The digest component in the name is checked against the parameters.
    pub fn decode(wire: Bytes) -> Result<Self, DecodeError> {
        let mut interest = Self::new(Name::root());
        interest.decode_in_place(&wire, |bytes| wire.slice_ref(bytes))?;
        Ok(interest)
    }

    /// Decodes as [`decode`](Self::decode) into this Interest, unchanged on an error. `keep` copies
    /// or shares the bytes to keep: for most Interests the name alone.
    #[inline]
    pub fn decode_in_place(
        &mut self,
        wire: &[u8],
        keep: impl FnOnce(&[u8]) -> Bytes,
    ) -> Result<(), DecodeError> {
        match Plain::read(wire) {
            Some(plain) => plain.write_to(self, keep),
            None => *self = decode_any(wire, keep)?,
        }
        Ok(())
    }
}

/// Decodes an Interest of any layout.
#[inline(never)]
pub(super) fn decode_any(
    wire: &[u8],
    keep: impl FnOnce(&[u8]) -> Bytes,
) -> Result<Interest, DecodeError> {
    let mut elements = Elements::default();
    elements.read(wire)?;
    if !elements.is_plain() {
        return elements.into_interest(wire, keep(wire));
    }
    let name = Name::known(keep(elements.name.value), elements.components as usize);
    Ok(elements.around(name))
}

fn up_to_signature_info(tail: &[u8]) -> &[u8] {
    let mut reader = Reader::new(tail);
    while let Ok(Some(tlv)) = reader.read() {
        if tlv.typ == typ::INTEREST_SIGNATURE_INFO {
            break;
        }
    }
    tail.get(..reader.offset()).unwrap_or_default()
}

/// Rank of a known element in the prescribed order.
fn rank(typ: u64) -> Option<u8> {
    Some(match typ {
        typ::CAN_BE_PREFIX => 1,
        typ::MUST_BE_FRESH => 2,
        typ::FORWARDING_HINT => 3,
        typ::NONCE => 4,
        typ::INTEREST_LIFETIME => 5,
        typ::HOP_LIMIT => 6,
        typ::APPLICATION_PARAMETERS => 7,
        typ::INTEREST_SIGNATURE_INFO => 8,
        typ::INTEREST_SIGNATURE_VALUE => 9,
        _ => return None,
    })
}

/// Spans of an Interest's elements, and the values of elements without bytes to keep.
#[derive(Default)]
struct Elements<'a> {
    name: Tlv<'a>,
    components: u32,
    may_have_digest: bool,
    can_be_prefix: bool,
    must_be_fresh: bool,
    hint: Option<Tlv<'a>>,
    nonce: Option<u32>,
    lifetime_ms: Option<u64>,
    hop_limit: Option<u8>,
    parameters: Option<Tlv<'a>>,
    /// An unknown element followed the parameters.
    foreign: bool,
    info: Option<Tlv<'a>>,
    value: Option<Tlv<'a>>,
    /// Offset after the Interest.
    end: usize,
}

impl<'a> Elements<'a> {
    /// Reads the elements of a whole packet. Fills `self`, which is too large to return.
    #[inline]
    fn read(&mut self, wire: &'a [u8]) -> Result<(), DecodeError> {
        let mut outer = Reader::new(wire);
        let packet = outer.expect(typ::INTEREST, "an Interest packet")?;
        outer.finish()?;
        let mut reader = packet.reader();
        self.name = reader.expect(typ::NAME, "a Name")?;
        let checked = name::check(&self.name)?;
        if checked.count == 0 {
            return Err(self.name.error("a name with at least one component"));
        }
        (self.components, self.may_have_digest) = (checked.count, checked.may_have_digest);
        self.end = packet.end();
        let mut last_rank = 0;
        while let Some(tlv) = reader.read()? {
            match rank(tlv.typ).filter(|rank| *rank > last_rank) {
                Some(rank) => {
                    last_rank = rank;
                    self.take(&tlv)?;
                }
                None => {
                    self.foreign |= self.parameters.is_some();
                    tlv.skip_unless_critical()?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, tlv: &Tlv<'a>) -> Result<(), DecodeError> {
        match tlv.typ {
            typ::CAN_BE_PREFIX => {
                tlv.empty()?;
                self.can_be_prefix = true;
            }
            typ::MUST_BE_FRESH => {
                tlv.empty()?;
                self.must_be_fresh = true;
            }
            typ::FORWARDING_HINT => self.hint = Some(*tlv),
            typ::NONCE => self.nonce = Some(u32::from_be_bytes(tlv.array("a Nonce of 4 bytes")?)),
            typ::INTEREST_LIFETIME => self.lifetime_ms = Some(tlv.number()?),
            typ::HOP_LIMIT => {
                let [hop_limit] = tlv.array("a HopLimit of 1 byte")?;
                self.hop_limit = Some(hop_limit);
            }
            typ::APPLICATION_PARAMETERS => self.parameters = Some(*tlv),
            typ::INTEREST_SIGNATURE_INFO => {
                SignatureInfo::check(tlv)?;
                self.info = Some(*tlv);
            }
            _ => self.value = Some(*tlv),
        }
        Ok(())
    }

    /// Whether the name is the only element with bytes, and has no digest.
    #[inline]
    fn is_plain(&self) -> bool {
        !self.may_have_digest
            && self.hint.is_none()
            && self.parameters.is_none()
            && self.info.is_none()
            && self.value.is_none()
    }

    /// An Interest with this name and the elements that have no bytes.
    #[inline]
    fn around(&self, name: Name) -> Interest {
        Interest {
            name,
            can_be_prefix: self.can_be_prefix,
            must_be_fresh: self.must_be_fresh,
            forwarding_hint: Vec::new(),
            nonce: self.nonce,
            lifetime: self.lifetime_ms.map(Duration::from_millis),
            hop_limit: self.hop_limit,
            parameters: None,
            signature: None,
            tail: None,
        }
    }

    /// The whole Interest, sharing `kept`, the bytes of `wire`; checks rules that concern several
    /// elements.
    #[inline(never)]
    fn into_interest(self, wire: &[u8], kept: Bytes) -> Result<Interest, DecodeError> {
        let of = |tlv: Tlv<'_>| kept.slice(tlv.range());
        let name = Name::known(of(self.name), self.components as usize);
        let mut interest = self.around(name);
        if let Some(hint) = &self.hint {
            interest.forwarding_hint = forwarding_hint(&kept, hint)?;
        }
        interest.parameters = self.parameters.map(of);
        interest.signature = match (self.info, self.value) {
            (Some(info), Some(value)) => Some(InterestSignature::new(of(info), of(value))),
            (None, None) => None,
            _ => {
                let expected = "InterestSignatureInfo and -Value, or neither";
                return Err(DecodeError::at(self.end, expected));
            }
        };
        let mut digests = interest.name.components().filter(is_parameters_digest);
        let digest = digests.next();
        if digests.next().is_some() {
            return Err(self.name.error("at most one ParametersSha256DigestComponent"));
        }
        match (self.parameters, digest) {
            (Some(parameters), Some(digest)) => {
                let covered = wire.get(parameters.offset..self.end).unwrap_or_default();
                if digest.value() != sha256(covered) {
                    return Err(self.name.error("the digest of the parameters"));
                }
                let tail = || Box::new(kept.slice(parameters.end()..self.end));
                interest.tail = self.foreign.then(tail);
            }
            (None, None) if interest.signature.is_some() => {
                return Err(DecodeError::at(
                    self.end,
                    "ApplicationParameters before the signature",
                ));
            }
            (None, None) => {}
            (Some(_), None) => {
                return Err(self.name.error("a ParametersSha256DigestComponent"));
            }
            (None, Some(_)) => return Err(DecodeError::at(self.end, "ApplicationParameters")),
        }
        Ok(interest)
    }
}

fn forwarding_hint(wire: &Bytes, hint: &Tlv<'_>) -> Result<Vec<Name>, DecodeError> {
    let mut reader = hint.reader();
    let mut names = Vec::new();
    while let Some(tlv) = reader.read()? {
        match tlv.typ {
            typ::NAME if names.len() == MAX_FORWARDING_HINTS => {
                return Err(tlv.error("at most 32 names in a ForwardingHint"));
            }
            typ::NAME => names.push(Name::share(wire, &tlv)?),
            _ => tlv.skip_unless_critical()?,
        }
    }
    if names.is_empty() {
        return Err(hint.error("at least one name inside"));
    }
    Ok(names)
}
