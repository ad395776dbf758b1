//! A label and a packet, and nothing else: the frames of a link with WLDR while nothing is lost.
//!
//! They are encoded and decoded here without a link header, which would cost more than all the rest of the recovery.
//! The encoding is that of [`Tag::write`](super::Tag::write) and `LpPacket`; a test compares both.
use super::Label;
use recoup_packet::lp::field;
use recoup_packet::tlv::typ;

/// Most bytes of a head: type and length of the frame, the label, type and length of the packet.
const MAX_HEAD_BYTES: usize = 16;

/// Type and length of the field with the label.
const FIELD: [u8; 4] = [
    0xfd,
    (field::WLDR_SEQUENCE >> 8) as u8,
    field::WLDR_SEQUENCE as u8,
    super::tag::LABEL_BYTES as u8,
];
const FIELD_BYTES: usize = FIELD.len() + super::tag::LABEL_BYTES;
/// From here on a length takes three bytes.
const LONG: u16 = 0xfd;
const LP_PACKET: u8 = typ::LP_PACKET as u8;
const FRAGMENT: u8 = typ::FRAGMENT as u8;

/// Bytes before a packet in its frame; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    bytes: [u8; MAX_HEAD_BYTES],
    len: u8,
}

impl Head {
    /// The head of a packet of that many bytes; `None` if the label or the packet is longer than usual.
    #[must_use]
    pub fn new(label: Label, packet_bytes: usize) -> Option<Self> {
        let inner = u16::try_from(packet_bytes + length_bytes(packet_bytes) + 1 + FIELD_BYTES);
        let (None, Ok(inner)) = (label.origin, inner) else {
            return None;
        };
        // Each part is a number, with its bits.
        let short = |typ: u8, length: u16| match length < LONG {
            true => (u128::from(typ) << 8 | u128::from(length), 16),
            false => (u128::from(typ) << 24 | u128::from(LONG) << 16 | u128::from(length), 32),
        };
        let label = u128::from(u32::from_be_bytes(FIELD)) << 32
            | u128::from(u32::from_be_bytes(label.first_bytes()));
        let ((front, front_bits), (back, back_bits)) =
            (short(LP_PACKET, inner), short(FRAGMENT, packet_bytes as u16));
        let bits = front_bits + 64 + back_bits;
        let bytes = ((front << 64 | label) << back_bits | back) << (128 - bits);
        let (bytes, len) = (bytes.to_be_bytes(), (bits / 8) as u8);
        Some(Self { bytes, len })
    }

    /// The encoded head.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

/// Bytes of a length.
const fn length_bytes(length: usize) -> usize {
    if length < LONG as usize { 1 } else { 3 }
}

/// The label of such a frame, and the offset of its packet; `None` for any other frame.
#[must_use]
pub fn read(frame: &[u8]) -> Option<(Label, usize)> {
    let rest = whole(frame, LP_PACKET)?;
    let rest = rest.strip_prefix(&FIELD)?;
    let (label, rest) = rest.split_first_chunk()?;
    let packet = whole(rest, FRAGMENT)?;
    Some((Label::of_first(*label), frame.len() - packet.len()))
}

/// The value of an element of that type which takes all the bytes, with its length in the shortest form.
fn whole(bytes: &[u8], typ: u8) -> Option<&[u8]> {
    let (length, value) = match bytes {
        [first, 0xfd, high, low, value @ ..] if *first == typ => {
            let length = usize::from(u16::from_be_bytes([*high, *low]));
            (Some(length).filter(|it| *it >= 0xfd)?, value)
        }
        [first, short, value @ ..] if *first == typ && *short < 0xfd => {
            (usize::from(*short), value)
        }
        _ => return None,
    };
    (length == value.len()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::recovery::Tag;
    use bytes::{Bytes, BytesMut};
    use recoup_packet::lp::{LpHeader, LpPacket};

    fn written(label: Label, packet: &Bytes) -> BytesMut {
        let mut header = LpHeader::default();
        Tag { label: Some(label), ..Tag::default() }.write(&mut header);
        let mut out = BytesMut::new();
        LpPacket { header, fragment: Some(packet.clone()) }.encode(&mut out);
        out
    }

    #[test]
    fn lean_frame_equals_the_link_header() {
        let label = Label { epoch: 0xab, number: 0x12_34_56, origin: None };
        for bytes in [1, 100, 240, 241, 242, 243, 252, 253, 254, 1_200, 8_800, 65_000] {
            let packet = Bytes::from(vec![6; bytes]);
            let frame = written(label, &packet);
            let head = Head::new(label, bytes).unwrap();
            assert_eq!([head.bytes(), &packet].concat(), frame, "{bytes} bytes");
            assert_eq!(read(&frame), Some((label, frame.len() - bytes)), "{bytes} bytes");
        }
        assert_eq!(Head::new(label, 65_536), None);
        assert_eq!(Head::new(Label { origin: Some(1), ..label }, 10), None);
    }

    #[test]
    fn other_frames_have_a_link_header() {
        let label = Label { epoch: 1, number: 2, origin: None };
        let packet = Bytes::from_static(&[5, 1, 0]);
        let again = written(Label { origin: Some(1), ..label }, &packet);
        let right = written(label, &packet);
        let long = [&[100, 0xfd, 0, right.len() as u8 - 2], &right[2..]].concat();
        let cut = &right[..right.len() - 1];
        for frame in [&again[..], &long, cut, &packet, &[], &[100, 0], &[100, 3, 80, 1, 5]] {
            assert_eq!(read(frame), None, "{frame:?}");
        }
    }
}
