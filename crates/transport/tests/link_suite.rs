//! Invariants of any packet over any link: fragments fit, and yield the same packet.
use bytes::{BufMut, Bytes, BytesMut};
use proptest::prelude::*;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::tlv::{self, typ};
use recoup_transport::link::{Fragmenter, Reassembler, ReassemblyLimits};
use recoup_transport::time::Instant;

fn packet() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..8_700).prop_map(|content| {
        let mut packet = BytesMut::new();
        tlv::put_tlv(&mut packet, typ::DATA, &content);
        packet.freeze()
    })
}

fn header() -> impl Strategy<Value = LpHeader> {
    let token = prop::option::of(prop::collection::vec(any::<u8>(), 1..32).prop_map(Bytes::from));
    let private = prop::option::of(prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes::from));
    let mark = prop::option::of(1..300_u64);
    (token, mark, private).prop_map(|(pit_token, congestion_mark, private)| {
        let mut header = LpHeader { pit_token, congestion_mark, ..LpHeader::default() };
        if let Some(value) = private {
            header.ignorable.set(852, value);
        }
        header
    })
}

/// A fragment of an attacker: colliding numbers, any length.
fn hostile() -> impl Strategy<Value = (LpHeader, Bytes)> {
    let number =
        || prop::option::of(prop_oneof![8 => 0..8_u64, 1 => any::<u64>(), 1 => 390..402_u64]);
    let payload = prop_oneof![4 => 0..40_usize, 1 => 0..9_000_usize];
    (number(), number(), number(), payload).prop_map(
        |(sequence, frag_index, frag_count, length)| {
            let header = LpHeader { sequence, frag_index, frag_count, ..LpHeader::default() };
            (header, Bytes::from(vec![0; length]))
        },
    )
}

proptest! {
    #[test]
    fn fragments_fit_and_reassemble_in_any_order(
        packet in packet(),
        header in header(),
        mtu in 150..9_100_usize,
        first_sequence: u64,
        order in prop::collection::vec(any::<prop::sample::Index>(), 400),
    ) {
        let mut frames = Vec::new();
        let mut fragmenter = Fragmenter::new(mtu, first_sequence);
        fragmenter.fragment(header.clone(), packet.clone(), |frame| frames.push(frame)).unwrap();
        prop_assert!(frames.iter().all(|frame| frame.len() <= mtu));
        // All but the last are full. One byte more may cost three, if it lifts a TLV-LENGTH over 252. That may happen
        // to the fragment and to the frame around it.
        prop_assert!(frames.iter().rev().skip(1).all(|frame| frame.len() + 4 >= mtu));

        let (mut reassembler, mut result) = (Reassembler::default(), None);
        for index in order.iter().take(frames.len()) {
            prop_assert!(result.is_none());
            let frame = LpPacket::decode(frames.swap_remove(index.index(frames.len()))).unwrap();
            let payload = frame.fragment.unwrap();
            result = reassembler.accept(Instant::ZERO, frame.header, payload).unwrap();
        }
        prop_assert_eq!(result, Some((header, packet)));
        prop_assert_eq!((reassembler.incomplete(), reassembler.held_bytes()), (0, 0));
    }

    #[test]
    fn hostile_fragments_never_exceed_the_bounds(
        fragments in prop::collection::vec((hostile(), 0..100_u64), 0..300),
    ) {
        let limits = ReassemblyLimits { packets: 4, bytes: 20_000, ..ReassemblyLimits::default() };
        let mut reassembler = Reassembler::new(limits);
        let (mut now, mut accepted, mut gone) = (Instant::ZERO, 0, 0);
        for ((header, payload), wait) in fragments {
            now += std::time::Duration::from_millis(wait);
            let count = header.frag_count.unwrap_or(1);
            match reassembler.accept(now, header, payload) {
                Ok(Some(_)) if count > 1 => (accepted, gone) = (accepted + 1, gone + count),
                Ok(None) => accepted += 1,
                _ => {}
            }
            prop_assert!(reassembler.incomplete() <= limits.packets);
            prop_assert!(reassembler.held_bytes() <= limits.bytes);
        }
        // Each fragment was used, expired or evicted.
        reassembler.expire(Instant::MAX);
        let discarded = reassembler.take_discarded();
        prop_assert_eq!(accepted, gone + discarded.expired + discarded.evicted);
        prop_assert_eq!((reassembler.incomplete(), reassembler.held_bytes()), (0, 0));
    }
}

#[test]
fn the_memory_of_frames_is_used_again() {
    let mut packet = BytesMut::new();
    tlv::put_tlv(&mut packet, typ::DATA, &[1; 8_000]);
    let packet = packet.freeze();
    let mut fragmenter = Fragmenter::new(1_400, 0);
    let mut places = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let mut out = BytesMut::new();
        let header = LpHeader::default();
        let result = fragmenter.fragment(header, packet.clone(), |frame| {
            places.insert(frame.as_ptr() as usize >> 16);
            out.put_slice(&frame);
        });
        assert!(result.is_ok() && out.len() > 8_000);
    }
    assert!(places.len() <= 2, "{} regions of 64 KiB", places.len());
}
