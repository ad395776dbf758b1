//! Encoding and decoding are inverse for any packet; no bytes cause a panic.

use bytes::{Bytes, BytesMut};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use recoup_packet::data::{
    ContentType, Data, DataBuilder, DescribeError, SignatureShape, Template,
};
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::lp::{Ignorable, LpHeader, LpPacket};
use recoup_packet::metadata::Metadata;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::{AutoVerifier, DigestSigner, SignatureType, Verifier, sha256};
use recoup_packet::tlv::{self, Reader};
use std::time::Duration;

/// Type and value of a component.
fn component() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let typ = prop_oneof![Just(8), Just(32), Just(50), Just(54), 3..=u16::MAX];
    prop_oneof![
        6 => (typ, vec(any::<u8>(), 0..12)),
        1 => (Just(8), vec(Just(b'.'), 0..5)),
        1 => (1..=2_u16, vec(any::<u8>(), 32)),
        1 => (Just(50), any::<u64>().prop_map(nni)),
        1 => (Just(8), vec(any::<u8>(), 250..260)),
    ]
}

fn nni(number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    tlv::put_nni(&mut bytes, number);
    bytes
}

fn name_of(parts: &[(u16, Vec<u8>)]) -> Name {
    parts.iter().map(|(typ, value)| Component::new(*typ, value).expect("a component")).collect()
}

fn name() -> impl Strategy<Value = Name> {
    vec(component(), 0..6).prop_map(|parts| name_of(&parts))
}

/// A name for an Interest: not empty, and without a digest of parameters.
fn interest_name() -> impl Strategy<Value = Name> {
    let parts = vec(component().prop_filter("no digest", |part| part.0 != 2), 1..6);
    parts.prop_map(|parts| name_of(&parts))
}

fn bytes(most: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..most).prop_map(Bytes::from)
}

prop_compose! {
    fn interest()(
        name in interest_name(),
        flags in any::<(bool, bool)>(),
        hint in vec(name(), 0..3),
        nonce in any::<Option<u32>>(),
        lifetime in any::<Option<u64>>(),
        hop_limit in any::<Option<u8>>(),
        parameters in option::of(bytes(300)),
        unique in option::of((option::of(vec(any::<u8>(), 1..9)), any::<Option<u64>>(), any::<Option<u64>>())),
    ) -> Interest {
        let mut interest = Interest::new(name);
        (interest.can_be_prefix, interest.must_be_fresh) = flags;
        interest.forwarding_hint = hint;
        interest.nonce = nonce;
        interest.lifetime = lifetime.map(Duration::from_millis);
        interest.hop_limit = hop_limit;
        match (parameters, unique) {
            (Some(parameters), Some((nonce, time, seq_num))) => {
                let unique = Uniqueness { nonce: nonce.as_deref(), time, seq_num };
                interest.sign(parameters, &DigestSigner, unique)
            }
            (Some(parameters), None) => interest.with_parameters(parameters),
            (None, _) => interest,
        }
    }
}

fn header_numbers() -> impl Strategy<Value = [Option<u64>; 8]> {
    proptest::array::uniform8(any::<Option<u64>>())
}

prop_compose! {
    fn header()(
        numbers in header_numbers(),
        token in option::of(vec(any::<u8>(), 1..=32)),
        nack in option::of(prop_oneof![0..200_u64, any::<u64>()]),
        acks in vec(any::<u64>(), 0..4),
        non_discovery in any::<bool>(),
        announcement in option::of(bytes(300)),
        ignorable in vec((prop_oneof![Just(804), Just(808), (852..960_u64).prop_map(|it| it & !3)], bytes(20)), 0..4),
    ) -> LpHeader {
        let [sequence, frag_index, frag_count, incoming, next_hop, policy, mark, tx_sequence] = numbers;
        let mut fields = Ignorable::default();
        ignorable.into_iter().for_each(|(typ, value)| fields.set(typ, value));
        LpHeader {
            sequence, frag_index, frag_count, acks, non_discovery, tx_sequence,
            pit_token: token.map(Bytes::from),
            nack: nack.map(NackReason::from),
            incoming_face_id: incoming,
            next_hop_face_id: next_hop,
            cache_policy: policy,
            congestion_mark: mark,
            prefix_announcement: announcement,
            ignorable: fields,
        }
    }
}

prop_compose! {
    fn metadata()(
        versioned in name(),
        numbers in header_numbers(),
        object_type in option::of(bytes(20)),
        object_id in option::of(any::<[u8; 16]>().prop_map(ObjectId::new)),
    ) -> Metadata {
        let [final_block, segment_size, size, mode, atime_ns, btime_ns, ctime_ns, mtime_ns] = numbers;
        Metadata {
            versioned, final_block, segment_size, size, mode, atime_ns, btime_ns, ctime_ns, mtime_ns, object_type, object_id,
        }
    }
}

fn shape() -> impl Strategy<Value = SignatureShape> {
    let signed = (any::<u64>(), option::of(0..300_usize), 0..300_usize).prop_map(
        |(typ, key_locator_bytes, value_bytes)| SignatureShape::Signed {
            typ: SignatureType::from(typ),
            key_locator_bytes,
            value_bytes,
        },
    );
    let total = (300..3_000_usize).prop_map(|packet_bytes| SignatureShape::Total { packet_bytes });
    prop_oneof![Just(SignatureShape::Digest), signed, total]
}

/// All parameters of a described packet.
#[derive(Clone, Debug)]
struct Description {
    name: Name,
    content_type: ContentType,
    freshness: Duration,
    final_block: Option<Component<'static>>,
    content_bytes: usize,
    signature: SignatureShape,
}

impl Description {
    fn data(&self) -> Result<Data, DescribeError> {
        Template::new(self.content_type, self.freshness, self.final_block, self.signature)
            .describe(self.name.clone(), self.content_bytes)
    }
}

prop_compose! {
    fn description()(
        name in name(),
        content_type in prop_oneof![0..10_u64, any::<u64>()],
        freshness_ms in prop_oneof![Just(0), any::<u64>()],
        last in option::of(prop_oneof![0..300_u64, any::<u64>()]),
        content_bytes in prop_oneof![0..300_usize, Just(8_000), Just(65_536)],
        signature in shape(),
    ) -> Description {
        Description {
            name,
            content_type: ContentType::from(content_type),
            freshness: Duration::from_millis(freshness_ms),
            final_block: last.map(Component::segment),
            content_bytes,
            signature,
        }
    }
}

proptest! {
    #[test]
    fn described_packet_equals_its_encoding(description in description()) {
        let Ok(data) = description.data() else {
            let padded = matches!(description.signature, SignatureShape::Total { .. });
            prop_assert!(padded, "only padding can fail here");
            return Ok(());
        };
        prop_assert!(data.is_described());
        let wire = data.wire();
        prop_assert_eq!(wire.len(), data.encoded_len());
        if let SignatureShape::Total { packet_bytes } = description.signature {
            prop_assert_eq!(wire.len(), packet_bytes);
        }
        let read = Data::decode(wire).unwrap();
        prop_assert!(!read.is_described());
        prop_assert_eq!(data.name(), read.name());
        prop_assert_eq!(data.name(), &description.name);
        prop_assert_eq!(data.content_type(), read.content_type());
        prop_assert_eq!(data.freshness(), read.freshness());
        prop_assert_eq!(data.final_block(), read.final_block());
        prop_assert_eq!(data.content(), read.content());
        prop_assert_eq!(data.content_bytes(), read.content_bytes());
        prop_assert_eq!(read.content().len(), description.content_bytes);
        prop_assert_eq!(data.signature_info(), read.signature_info());
        prop_assert_eq!(data.implicit_digest(), read.implicit_digest());
        prop_assert_eq!(AutoVerifier.verify_batch(&[&data]), AutoVerifier.verify_batch(&[&read]));
        prop_assert_eq!(&data, &read);
        prop_assert_eq!(data.signature_value(), read.signature_value());
        prop_assert_eq!(data.signed_portion(), read.signed_portion());
        // Again, from the bytes that the last two calls encoded.
        prop_assert_eq!(data.wire(), read.wire());
        prop_assert_eq!(&description.data().unwrap(), &data);
    }

    #[test]
    fn described_packets_compare_by_their_encoding(a in description(), b in description(), same in any::<u8>()) {
        let mut b = b;
        // Random packets are never equal: share most parts.
        let take = |bit: u8| same & (1 << bit) != 0 || same > 100;
        if take(0) { b.name = a.name.clone(); }
        if take(1) { b.content_type = a.content_type; }
        if take(2) { b.freshness = a.freshness; }
        if take(3) { b.final_block = a.final_block; }
        if take(4) { b.content_bytes = a.content_bytes; }
        if take(5) { b.signature = a.signature; }
        if let (Ok(a), Ok(b)) = (a.data(), b.data()) {
            prop_assert_eq!(a == b, a.wire() == b.wire());
            let read = Data::decode(b.wire()).unwrap();
            prop_assert_eq!(a == read, a == b);
            prop_assert_eq!(read == a, a == b);
        }
    }

    #[test]
    fn a_name_survives_encoding(name in name()) {
        let mut out = BytesMut::new();
        name.encode(&mut out);
        prop_assert_eq!(out.len(), name.encoded_len());
        let read = Name::decode(out.freeze()).unwrap();
        prop_assert_eq!(read.len(), read.components().count());
        prop_assert_eq!(&read.components().collect::<Name>(), &name);
        prop_assert_eq!(read, name);
    }

    #[test]
    fn a_name_survives_being_written_as_text(name in name()) {
        prop_assert_eq!(name.to_string().parse::<Name>().unwrap(), name);
    }

    #[test]
    fn any_text_is_a_name_or_an_error(text in "(ndn:)?/?([./%=a-f0-9é]|seg=|v=|sha256digest=){0,20}") {
        if let Ok(name) = text.parse::<Name>() {
            prop_assert_eq!(name.to_string().parse::<Name>().unwrap(), name.clone());
            prop_assert_eq!(Name::from_value(name.value().clone()).unwrap(), name);
        }
    }

    #[test]
    fn byte_order_is_canonical_order(a in name(), b in name()) {
        // Component by component, by type, then length, then value; a prefix comes first.
        let by_components = a.components().cmp(b.components());
        prop_assert_eq!(a.cmp(&b), by_components);
        prop_assert_eq!(b.cmp(&a), by_components.reverse());
        prop_assert_eq!(a == b, by_components.is_eq());
    }

    #[test]
    fn prefix_of_a_name_is_prefix_of_bytes(a in name(), b in name(), count in 0..7_usize) {
        let prefix = a.prefix(count);
        prop_assert_eq!(prefix.len(), count.min(a.len()));
        prop_assert!(prefix.is_prefix_of(&a));
        prop_assert_eq!(prefix.join(&a.suffix(count)), a.clone());
        let by_components = a.len() <= b.len() && a.components().eq(b.components().take(a.len()));
        prop_assert_eq!(a.is_prefix_of(&b), by_components);
    }

    #[test]
    fn an_interest_survives_encoding(interest in interest()) {
        let wire = interest.to_bytes();
        prop_assert_eq!(wire.len(), interest.encoded_len());
        let read = Interest::decode(wire.clone()).unwrap();
        prop_assert_eq!(read.to_bytes(), wire);
        prop_assert_eq!(read, interest);
    }

    #[test]
    fn data_survive_encoding(
        name in name(),
        content_type in any::<u64>(),
        freshness_ms in any::<u64>(),
        last in option::of(component()),
        content in bytes(600),
    ) {
        let mut builder = DataBuilder::new(&name)
            .content_type(ContentType::from(content_type))
            .freshness(Duration::from_millis(freshness_ms));
        let last = last.as_ref().map(|(typ, value)| Component::new(*typ, value).unwrap());
        if let Some(component) = last {
            builder = builder.final_block(component);
        }
        let built = builder.build(&content, &DigestSigner);
        let read = Data::decode(built.wire()).unwrap();
        for data in [&built, &read] {
            prop_assert_eq!(data.name(), &name);
            prop_assert_eq!(data.content_type().number(), content_type);
            prop_assert_eq!(data.freshness(), Duration::from_millis(freshness_ms));
            prop_assert_eq!(data.final_block(), last);
            prop_assert_eq!(data.content_bytes(), &content);
            prop_assert_eq!(data.signature_value(), sha256(data.signed_portion()));
        }
        prop_assert_eq!(built, read);
    }

    #[test]
    fn a_link_frame_survives_encoding(header in header(), fragment in option::of(bytes(300))) {
        prop_assume!(!header.is_empty());
        let packet = LpPacket { header, fragment };
        let mut out = BytesMut::new();
        packet.encode(&mut out);
        prop_assert_eq!(out.len(), packet.encoded_len());
        prop_assert_eq!(LpPacket::decode(out.freeze()).unwrap(), packet);
    }

    #[test]
    fn metadata_survive_encoding(metadata in metadata()) {
        prop_assert_eq!(Metadata::decode(metadata.to_bytes()).unwrap(), metadata);
    }

    #[test]
    fn arbitrary_bytes_cause_no_panic(bytes in bytes(200), first in prop_oneof![Just(5_u8), Just(6), Just(7), Just(100)]) {
        let mut wire = Vec::new();
        tlv::put_tlv(&mut wire, first.into(), &bytes);
        let wire = Bytes::from(wire);
        let _ = (Interest::decode(wire.clone()), Data::decode(wire.clone()), LpPacket::decode(wire.clone()));
        let _ = (Name::decode(wire.clone()), Metadata::decode(wire), Metadata::decode(bytes));
    }

    #[test]
    fn a_frame_ends_where_its_element_ends(typ in 1..=u32::MAX, value in bytes(300), more in bytes(5)) {
        let mut stream = Vec::new();
        tlv::put_tlv(&mut stream, typ.into(), &value);
        let len = stream.len();
        let header = len - value.len();
        stream.extend_from_slice(&more);
        for seen in 0..stream.len() {
            let expected = (seen >= header).then_some(len);
            prop_assert_eq!(tlv::frame_len(&stream[..seen]), Ok(expected));
        }
        let mut reader = Reader::new(&stream[..len]);
        prop_assert_eq!(reader.read().unwrap().unwrap().value, &value);
        prop_assert!(reader.is_empty());
    }
}
