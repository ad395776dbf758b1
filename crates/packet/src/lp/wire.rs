//! Encoding and decoding of link frames.

use super::{Ignorable, LpHeader, LpPacket, MAX_ACKS, MAX_PIT_TOKEN_LEN};
use crate::nack::NackReason;
use crate::tlv::{self, DecodeError, Reader, Tlv, typ};
use bytes::{BufMut, Bytes};

/// Value of a field.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(u64),
    /// Always eight bytes.
    Fixed(u64),
    Bytes(&'a [u8]),
    Nack(NackReason),
    CachePolicy(u64),
}

impl Value<'_> {
    fn encoded_len(self, typ: u64) -> usize {
        match self {
            Self::Number(number) => tlv::nni_tlv_len(typ, number),
            Self::Fixed(_) => tlv::tlv_len(typ, 8),
            Self::Bytes(bytes) => tlv::tlv_len(typ, bytes.len()),
            Self::Nack(reason) => reason.encoded_len(),
            Self::CachePolicy(policy) => {
                tlv::tlv_len(typ, tlv::nni_tlv_len(typ::CACHE_POLICY_TYPE, policy))
            }
        }
    }

    fn put(self, typ: u64, out: &mut impl BufMut) {
        match self {
            Self::Number(number) => tlv::put_nni_tlv(out, typ, number),
            Self::Fixed(number) => tlv::put_tlv(out, typ, &number.to_be_bytes()),
            Self::Bytes(bytes) => tlv::put_tlv(out, typ, bytes),
            Self::Nack(reason) => reason.encode(out),
            Self::CachePolicy(policy) => {
                tlv::put_header(out, typ, tlv::nni_tlv_len(typ::CACHE_POLICY_TYPE, policy));
                tlv::put_nni_tlv(out, typ::CACHE_POLICY_TYPE, policy);
            }
        }
    }
}

impl LpHeader {
    /// Calls `take` for each field in the order of types, which is the order on the wire.
    fn each<'a>(&'a self, mut take: impl FnMut(u64, Value<'a>)) {
        let number = |number: &Option<u64>| number.map(Value::Number);
        let bytes = |bytes: &'a Option<Bytes>| bytes.as_deref().map(Value::Bytes);
        let acks = self.acks.iter().map(|ack| (typ::ACK, Some(Value::Fixed(*ack))));
        let before_acks = [
            (typ::SEQUENCE, self.sequence.map(Value::Fixed)),
            (typ::FRAG_INDEX, number(&self.frag_index)),
            (typ::FRAG_COUNT, number(&self.frag_count)),
            (typ::PIT_TOKEN, bytes(&self.pit_token)),
            (typ::NACK, self.nack.map(Value::Nack)),
            (typ::INCOMING_FACE_ID, number(&self.incoming_face_id)),
            (typ::NEXT_HOP_FACE_ID, number(&self.next_hop_face_id)),
            (typ::CACHE_POLICY, self.cache_policy.map(Value::CachePolicy)),
            (typ::CONGESTION_MARK, number(&self.congestion_mark)),
        ];
        let after_acks = [
            (typ::TX_SEQUENCE, self.tx_sequence.map(Value::Fixed)),
            (typ::NON_DISCOVERY, self.non_discovery.then_some(Value::Bytes(&[]))),
            (typ::PREFIX_ANNOUNCEMENT, bytes(&self.prefix_announcement)),
        ];
        let mut done = 0;
        for (typ, value) in before_acks.into_iter().chain(acks).chain(after_acks) {
            let Some(value) = value else { continue };
            self.ignorable
                .between(done, typ)
                .for_each(|(typ, value)| take(typ, Value::Bytes(value)));
            take(typ, value);
            done = typ;
        }
        self.ignorable
            .between(done, u64::MAX)
            .for_each(|(typ, value)| take(typ, Value::Bytes(value)));
    }

    /// Bytes of all fields.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let mut len = 0;
        self.each(|typ, value| len += value.encoded_len(typ));
        len
    }

    /// Appends all fields.
    pub fn encode(&self, out: &mut impl BufMut) {
        self.each(|typ, value| value.put(typ, out));
    }

    /// Takes one field of a frame; `wire` is the frame.
    fn take(&mut self, tlv: &Tlv<'_>, wire: &Bytes) -> Result<(), DecodeError> {
        match tlv.typ {
            typ::SEQUENCE => self.sequence = Some(fixed(tlv)?),
            typ::FRAG_INDEX => self.frag_index = Some(tlv.number()?),
            typ::FRAG_COUNT => self.frag_count = Some(tlv.number()?),
            typ::PIT_TOKEN if !(1..=MAX_PIT_TOKEN_LEN).contains(&tlv.value.len()) => {
                return Err(tlv.error("a PitToken of 1 to 32 bytes"));
            }
            typ::PIT_TOKEN => self.pit_token = Some(wire.slice(tlv.range())),
            typ::NACK => self.nack = Some(NackReason::decode(tlv)?),
            typ::INCOMING_FACE_ID => self.incoming_face_id = Some(tlv.number()?),
            typ::NEXT_HOP_FACE_ID => self.next_hop_face_id = Some(tlv.number()?),
            typ::CACHE_POLICY => {
                let policy = tlv.reader().expect(typ::CACHE_POLICY_TYPE, "a CachePolicyType")?;
                self.cache_policy = Some(policy.number()?);
            }
            typ::CONGESTION_MARK => self.congestion_mark = Some(tlv.number()?),
            typ::ACK if self.acks.len() == MAX_ACKS => return Err(tlv.error("at most 5500 Acks")),
            typ::ACK => self.acks.push(fixed(tlv)?),
            typ::TX_SEQUENCE => self.tx_sequence = Some(fixed(tlv)?),
            typ::NON_DISCOVERY => {
                tlv.empty()?;
                self.non_discovery = true;
            }
            typ::PREFIX_ANNOUNCEMENT => self.prefix_announcement = Some(wire.slice(tlv.range())),
            other if Ignorable::allows(other) => {
                self.ignorable.push(other, wire.slice(tlv.range()))
            }
            _ => return Err(tlv.error("a link field that is known or may be ignored")),
        }
        Ok(())
    }
}

impl LpPacket {
    /// Whether a frame begins like a packet without link fields.
    #[must_use]
    pub fn is_bare(wire: &[u8]) -> bool {
        is_network_packet(wire)
    }

    /// Decodes one whole frame; all parts share `wire`.
    ///
    /// A bare Interest or Data is accepted undecoded.
    pub fn decode(wire: Bytes) -> Result<Self, DecodeError> {
        if is_network_packet(&wire) {
            return Ok(Self::bare(wire));
        }
        let mut outer = Reader::new(&wire);
        let frame = outer.expect(typ::LP_PACKET, "an Interest, a Data packet or an LpPacket")?;
        outer.finish()?;
        let mut packet = Self::default();
        let mut reader = frame.reader();
        let mut last = 0;
        while let Some(tlv) = reader.read()? {
            if packet.fragment.is_some() {
                return Err(tlv.error("nothing after the Fragment"));
            }
            if tlv.typ == typ::FRAGMENT {
                packet.fragment = Some(wire.slice(tlv.range()));
                continue;
            }
            if tlv.typ < last || tlv.typ == last && last != typ::ACK {
                return Err(tlv.error("fields in the order of their types, each once"));
            }
            last = tlv.typ;
            packet.header.take(&tlv, &wire)?;
        }
        Ok(packet)
    }
}

fn fixed(tlv: &Tlv<'_>) -> Result<u64, DecodeError> {
    Ok(u64::from_be_bytes(tlv.array("a number of 8 bytes")?))
}

/// Whether the bytes begin like an Interest or a Data packet.
pub(super) fn is_network_packet(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| matches!(u64::from(*first), typ::INTEREST | typ::DATA))
}

/// Whether NDNLPv2 defines this type in the range of ignorable fields.
pub(super) fn is_defined(typ: u64) -> bool {
    matches!(
        typ,
        typ::NACK
            | typ::INCOMING_FACE_ID
            | typ::NEXT_HOP_FACE_ID
            | typ::CACHE_POLICY
            | typ::CONGESTION_MARK
            | typ::ACK
            | typ::TX_SEQUENCE
            | typ::NON_DISCOVERY
            | typ::PREFIX_ANNOUNCEMENT
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;

    fn encoded(packet: &LpPacket) -> Bytes {
        let mut out = BytesMut::new();
        packet.encode(&mut out);
        assert_eq!(out.len(), packet.encoded_len());
        out.freeze()
    }

    #[test]
    fn packet_without_fields_is_sent_bare() {
        let packet = LpPacket::bare(Bytes::from_static(&[5, 0]));
        assert_eq!(encoded(&packet), [5, 0][..]);
        assert_eq!(LpPacket::decode(encoded(&packet)), Ok(packet));
        let wrapped = LpPacket::decode(Bytes::from_static(&[100, 4, 80, 2, 5, 0]));
        assert_eq!(wrapped, Ok(LpPacket::bare(Bytes::from_static(&[5, 0]))));
    }

    #[test]
    fn a_frame_without_fragment_is_idle() {
        let idle = LpPacket::decode(Bytes::from_static(&[100, 0])).unwrap();
        assert!(idle.header.is_empty() && idle.fragment.is_none());
        let header = LpHeader { acks: vec![3], ..LpHeader::default() };
        let packet = LpPacket { header, fragment: None };
        assert_eq!(LpPacket::decode(encoded(&packet)), Ok(packet));
    }

    #[test]
    fn unknown_fields_are_kept_or_rejected_by_type() {
        let decode = |typ: u64| {
            let mut value = Vec::new();
            tlv::put_tlv(&mut value, typ, b"x");
            let mut wire = Vec::new();
            tlv::put_tlv(&mut wire, typ::LP_PACKET, &value);
            LpPacket::decode(wire.into())
        };
        for typ in [804, 808, 852, 956] {
            assert_eq!(decode(typ).unwrap().header.ignorable.get(typ).unwrap(), &b"x"[..]);
        }
        for typ in [1, 21, 79, 84, 99, 799, 801, 802, 803, 805, 853, 854, 959, 960, 1000] {
            assert!(decode(typ).is_err(), "{typ}");
        }
    }

    #[test]
    fn disorder_and_repetition_are_errors() {
        let sequence = [81, 8, 0, 0, 0, 0, 0, 0, 0, 1];
        let index = [82, 1, 0];
        let unknown = [253, 3, 0x54, 0];
        let fragment = [80, 1, 5];
        for (parts, right) in [
            (vec![&sequence[..], &index, &unknown, &fragment], true),
            (vec![&index[..], &sequence], false),
            (vec![&sequence[..], &sequence], false),
            (vec![&unknown[..], &unknown], false),
            (vec![&fragment[..], &index], false),
            (vec![&fragment[..], &fragment], false),
        ] {
            let mut wire = Vec::new();
            tlv::put_tlv(&mut wire, typ::LP_PACKET, &parts.concat());
            assert_eq!(LpPacket::decode(wire.into()).is_ok(), right, "{parts:?}");
        }
    }

    #[test]
    fn a_nack_without_a_reason_has_reason_none() {
        let packet = LpPacket::decode(Bytes::from_static(&[100, 8, 253, 3, 32, 0, 80, 2, 5, 0]));
        assert_eq!(packet.unwrap().header.nack, Some(NackReason::None));
        let coded = [100, 13, 253, 3, 32, 5, 253, 3, 33, 1, 150, 80, 2, 5, 0];
        let packet = LpPacket::decode(Bytes::copy_from_slice(&coded)).unwrap();
        assert_eq!(packet.header.nack, Some(NackReason::NoRoute));
        assert_eq!(encoded(&packet), coded[..]);
    }
}
