//! Interests as octets.

use super::{Interest, InterestSignature, MAX_FORWARDING_HINTS, is_parameters_digest};
use crate::name::{self, Name};
use crate::signature::{SignatureInfo, sha256};
use crate::tlv::{self, DecodeError, Reader, Tlv, typ};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::ops::Range;
use std::time::Duration;

impl Interest {
    /// Appends the whole Interest packet.
    pub fn encode(&self, out: &mut BytesMut) {
        self.encode_with_hop_limit(out, self.hop_limit);
    }

    /// Appends the whole Interest packet as it is after some hops: with this hop limit in the place of its own, which
    /// must be there if and only if that is.
    pub fn encode_with_hop_limit(&self, out: &mut BytesMut, hop_limit: Option<u8>) {
        debug_assert_eq!(self.hop_limit.is_some(), hop_limit.is_some(), "only the value changes");
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
            tlv::put_tlv(out, typ::NONCE, &nonce.to_be_bytes());
        }
        if let Some(ms) = self.lifetime_ms() {
            tlv::put_nni_tlv(out, typ::INTEREST_LIFETIME, ms);
        }
        if let Some(hop_limit) = self.hop_limit.and(hop_limit) {
            tlv::put_tlv(out, typ::HOP_LIMIT, &[hop_limit]);
        }
        self.put_parameters(out);
    }

    /// Octets of the whole Interest packet.
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

    fn lifetime_ms(&self) -> Option<u64> {
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
                tlv::tlv_len(typ::INTEREST_SIGNATURE_INFO, signature.octets.0.len())
                    + tlv::tlv_len(typ::INTEREST_SIGNATURE_VALUE, signature.octets.1.len())
            }
            (None, None) => 0,
        };
        tlv::tlv_len(typ::APPLICATION_PARAMETERS, parameters.len()) + tail
    }

    /// Appends what the digest in the name covers: from ApplicationParameters to the end.
    fn put_parameters(&self, out: &mut impl BufMut) {
        let Some(parameters) = &self.parameters else {
            return;
        };
        tlv::put_tlv(out, typ::APPLICATION_PARAMETERS, parameters);
        match (&self.tail, &self.signature) {
            (Some(tail), _) => out.put_slice(tail),
            (None, Some(signature)) => {
                tlv::put_tlv(out, typ::INTEREST_SIGNATURE_INFO, &signature.octets.0);
                tlv::put_tlv(out, typ::INTEREST_SIGNATURE_VALUE, &signature.octets.1);
            }
            (None, None) => {}
        }
    }

    pub(super) fn parameters_octets(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(self.parameters_len());
        self.put_parameters(&mut octets);
        octets
    }

    /// Name without digest, parameters, and all up to the InterestSignatureInfo `info`.
    pub(super) fn signed_octets(&self, info: &[u8]) -> Vec<u8> {
        let room = self.name.value().len() + self.parameters_len() + info.len() + 8;
        let mut octets = Vec::with_capacity(room);
        for component in self.name.components().filter(|it| !is_parameters_digest(it)) {
            component.encode(&mut octets);
        }
        if let Some(parameters) = &self.parameters {
            tlv::put_tlv(&mut octets, typ::APPLICATION_PARAMETERS, parameters);
        }
        match &self.tail {
            Some(tail) => octets.put_slice(up_to_signature_info(tail)),
            None => tlv::put_tlv(&mut octets, typ::INTEREST_SIGNATURE_INFO, info),
        }
        octets
    }

    /// Decodes one whole Interest packet; names, parameters and signature share `wire`.
    ///
    /// The digest component in the name is checked against the parameters.
    pub fn decode(wire: Bytes) -> Result<Self, DecodeError> {
        let (mut interest, name, components) = Self::decode_nameless(&wire)?;
        // What is left of the octets becomes the name: nobody else has to be counted among those who share them.
        let mut value = wire;
        value.truncate(name.end);
        value.advance(name.start);
        interest.name = Name::known(value, components);
        Ok(interest)
    }

    /// Everything but the name; where its TLV-VALUE stands, and of how many components it is.
    fn decode_nameless(wire: &Bytes) -> Result<(Self, Range<usize>, usize), DecodeError> {
        let mut outer = Reader::new(wire);
        let packet = outer.expect(typ::INTEREST, "an Interest packet")?;
        outer.finish()?;
        let mut reader = packet.reader();
        let name = reader.expect(typ::NAME, "a Name")?;
        let components = name::check(&mut name.reader())? as usize;
        if components == 0 {
            return Err(name.error("a name with at least one component"));
        }
        let mut parse = Parse::new(wire, Self::new(Name::root()));
        while let Some(tlv) = reader.read()? {
            parse.take(&tlv)?;
        }
        Ok((parse.finish(&name, components, packet.end())?, name.range(), components))
    }
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

/// Where a known element stands among the others.
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

/// An Interest of which some elements were read.
struct Parse<'a> {
    wire: &'a Bytes,
    interest: Interest,
    last_rank: u8,
    /// Where ApplicationParameters start and end.
    parameters: Option<(usize, usize)>,
    /// Whether something unknown followed the parameters.
    foreign: bool,
    info: Option<Bytes>,
    value: Option<Bytes>,
}

impl<'a> Parse<'a> {
    fn new(wire: &'a Bytes, interest: Interest) -> Self {
        Self {
            wire,
            interest,
            last_rank: 0,
            parameters: None,
            foreign: false,
            info: None,
            value: None,
        }
    }

    fn take(&mut self, tlv: &Tlv<'_>) -> Result<(), DecodeError> {
        let Some(rank) = rank(tlv.typ).filter(|rank| *rank > self.last_rank) else {
            self.foreign |= self.parameters.is_some();
            return tlv.skip_unless_critical();
        };
        self.last_rank = rank;
        let interest = &mut self.interest;
        match tlv.typ {
            typ::CAN_BE_PREFIX => {
                tlv.empty()?;
                interest.can_be_prefix = true;
            }
            typ::MUST_BE_FRESH => {
                tlv.empty()?;
                interest.must_be_fresh = true;
            }
            typ::FORWARDING_HINT => interest.forwarding_hint = forwarding_hint(self.wire, tlv)?,
            typ::NONCE => {
                interest.nonce = Some(u32::from_be_bytes(tlv.array("a Nonce of 4 octets")?))
            }
            typ::INTEREST_LIFETIME => {
                interest.lifetime = Some(Duration::from_millis(tlv.number()?))
            }
            typ::HOP_LIMIT => {
                let [hop_limit] = tlv.array("a HopLimit of 1 octet")?;
                interest.hop_limit = Some(hop_limit);
            }
            typ::APPLICATION_PARAMETERS => {
                self.parameters = Some((tlv.offset, tlv.end()));
                interest.parameters = Some(self.wire.slice(tlv.range()));
            }
            typ::INTEREST_SIGNATURE_INFO => self.info = Some(self.signature_info(tlv)?),
            _ => self.value = Some(self.wire.slice(tlv.range())),
        }
        Ok(())
    }

    fn signature_info(&self, tlv: &Tlv<'_>) -> Result<Bytes, DecodeError> {
        SignatureInfo::read(&mut tlv.reader())?;
        Ok(self.wire.slice(tlv.range()))
    }

    /// Checks what only the whole Interest can tell, which ends at octet `end` and whose name has so many components.
    fn finish(
        self,
        name: &Tlv<'_>,
        components: usize,
        end: usize,
    ) -> Result<Interest, DecodeError> {
        let mut interest = self.interest;
        interest.signature = match (self.info, self.value) {
            (Some(info), Some(value)) => Some(InterestSignature::new(info, value)),
            (None, None) => None,
            _ => {
                return Err(DecodeError::at(end, "InterestSignatureInfo and -Value, or neither"));
            }
        };
        // Most have none of this, which most names show without being taken apart.
        let plain = self.parameters.is_none() && interest.signature.is_none();
        let least = typ::PARAMETERS_SHA256_DIGEST as u8 + 1;
        if plain && Reader::new(name.value).skip_short(least) == components {
            return Ok(interest);
        }
        let shared = Name::known(self.wire.slice(name.range()), components);
        let mut digests = shared.components().filter(is_parameters_digest);
        let digest = digests.next();
        if digests.next().is_some() {
            return Err(name.error("at most one ParametersSha256DigestComponent"));
        }
        match (self.parameters, digest) {
            (Some((start, parameters_end)), Some(digest)) => {
                if digest.value() != sha256(self.wire.get(start..end).unwrap_or_default()) {
                    return Err(name.error("the digest of the parameters"));
                }
                interest.tail =
                    self.foreign.then(|| Box::new(self.wire.slice(parameters_end..end)));
            }
            (None, None) if interest.signature.is_some() => {
                return Err(DecodeError::at(end, "ApplicationParameters before the signature"));
            }
            (None, None) => {}
            (Some(_), None) => return Err(name.error("a ParametersSha256DigestComponent")),
            (None, Some(_)) => return Err(DecodeError::at(end, "ApplicationParameters")),
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
