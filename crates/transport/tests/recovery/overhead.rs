//! Overhead of WLDR in bytes.
use crate::pair::{acquainted, converse, ms};
use bytes::{Bytes, BytesMut};
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::tlv::{self, typ};

fn bytes_of(header: LpHeader, packet: &Bytes) -> usize {
    let mut out = BytesMut::new();
    LpPacket { header, fragment: Some(packet.clone()) }.encode(&mut out);
    out.len()
}

#[test]
fn number_takes_at_most_sixteen_bytes() {
    let (mut a, mut b) = acquainted("wldr");
    let mut worst = 0;
    for length in [10, 100, 245, 260, 1_200, 1_400, 8_000] {
        let mut packet = BytesMut::new();
        tlv::put_tlv(&mut packet, typ::DATA, &vec![0; length]);
        let packet = packet.freeze();
        for _ in 0..1_000 {
            let frame = a.send(ms(1), 1);
            b.receive(ms(1), &frame);
            let mut header = LpHeader::default();
            frame.tag.write(&mut header);
            worst = worst.max(bytes_of(header, &packet) - packet.len());
        }
        // There is no query before 128 frames have left, and then one.
        assert!(converse(ms(1), &mut a, &mut b).len() <= 2, "frames of its own");
    }
    assert_eq!(worst, 16);
}

#[test]
fn numbers_have_a_constant_width() {
    let (mut a, mut b) = acquainted("wldr(ring=16)");
    let widths: std::collections::BTreeSet<_> = (0..70_000_u64)
        .map(|packet| {
            let frame = a.send(ms(1), packet);
            b.receive(ms(1), &frame);
            let mut header = LpHeader::default();
            frame.tag.write(&mut header);
            header.encoded_len()
        })
        .collect();
    assert_eq!(widths.into_iter().collect::<Vec<_>>(), [8]);
}
