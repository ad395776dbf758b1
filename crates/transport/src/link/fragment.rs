//! Cuts packets into frames that fit the link.
//!
//! Source: NDNLPv2, "Indexed Fragmentation": consecutive sequence numbers, FragIndex and FragCount
//! in every fragment, all other fields in the first one only.
//!
//! Differences: none. Every fragment but the last fills the MTU (one byte less where FragIndex is shorter than
//! FragCount). The frames of a packet can thus be sent as one batch of equal ones.
use super::MAX_FRAGMENTS;
use bytes::{Bytes, BytesMut};
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::tlv::{self, typ};

/// Most bytes of one allocation of memory for frames, unless a single frame is longer.
const REGION_BYTES: usize = 64 << 10;
/// Frames of equal length in one allocation. A server has a fragmenter for each client, and most of them only write
/// acknowledgements.
const REGION_FRAMES: usize = 32;

/// The packet cannot be split into at most [`MAX_FRAGMENTS`] frames of the link's MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet of {packet_bytes} bytes does not fit {MAX_FRAGMENTS} frames of {mtu} bytes")]
pub struct MtuTooSmall {
    /// MTU of the link, bytes.
    pub mtu: usize,
    /// Bytes of the packet.
    pub packet_bytes: usize,
}

/// Splits packets into frames for one adjacency.
#[derive(Debug)]
pub struct Fragmenter {
    mtu: usize,
    next_sequence: u64,
    /// Frames are written here and split off. The memory is reused once they are dropped.
    buffer: BytesMut,
}

/// Division of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    count: u64,
    /// Bytes of the packet in the first fragment.
    first: usize,
    /// Bytes of the packet in every other fragment; the last may have less.
    other: usize,
}

impl Fragmenter {
    /// A fragmenter for frames of at most `mtu` bytes; sequence numbers begin at `first_sequence`.
    pub fn new(mtu: usize, first_sequence: u64) -> Self {
        Self { mtu, next_sequence: first_sequence, buffer: BytesMut::new() }
    }

    /// Longest frame, bytes.
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// Sets the longest frame, bytes.
    pub fn set_mtu(&mut self, mtu: usize) {
        self.mtu = mtu;
    }

    /// Passes the frames of `packet` to `out`, in order: the bare packet if `header` is empty and it fits, one link
    /// frame if that fits, fragments otherwise.
    ///
    /// # Errors
    /// The MTU is too small; `out` was not called then.
    pub fn fragment(
        &mut self,
        header: LpHeader,
        packet: Bytes,
        mut out: impl FnMut(Bytes),
    ) -> Result<(), MtuTooSmall> {
        if packet.len() <= self.mtu && header.is_empty() {
            out(packet);
            return Ok(());
        }
        let whole = LpPacket { header, fragment: Some(packet) };
        if whole.encoded_len() <= self.mtu {
            out(self.encode(&whole));
            return Ok(());
        }
        self.cut(whole, 0, |fragmenter, frame| out(fragmenter.encode(&frame)))
    }

    /// Passes the frames of `packet` to `out` before they are encoded, with space for fields of up to `free_bytes`
    /// bytes in each: one link frame if that fits, fragments otherwise.
    ///
    /// # Errors
    /// The MTU is too small; `out` was not called then.
    pub fn fragment_with_space(
        &mut self,
        header: LpHeader,
        packet: Bytes,
        free_bytes: usize,
        mut out: impl FnMut(LpPacket),
    ) -> Result<(), MtuTooSmall> {
        let fields = header.encoded_len() + free_bytes;
        let whole = LpPacket { header, fragment: Some(packet) };
        let fragment = whole.fragment.as_ref().map_or(0, Bytes::len);
        if frame_len(fields, fragment) <= self.mtu {
            out(whole);
            return Ok(());
        }
        self.cut(whole, free_bytes, |_, frame| out(frame))
    }

    /// Encodes a frame.
    pub fn encode(&mut self, frame: &LpPacket) -> Bytes {
        let length = frame.encoded_len();
        if self.buffer.capacity() < length {
            self.buffer.reserve(region_bytes(length));
        }
        frame.encode(&mut self.buffer);
        self.buffer.split().freeze()
    }

    fn cut(
        &mut self,
        whole: LpPacket,
        free_bytes: usize,
        mut out: impl FnMut(&mut Self, LpPacket),
    ) -> Result<(), MtuTooSmall> {
        let LpPacket { mut header, fragment } = whole;
        let mut rest = fragment.unwrap_or_default();
        let error = MtuTooSmall { mtu: self.mtu, packet_bytes: rest.len() };
        let cut = self.plan(&mut header, free_bytes, rest.len()).ok_or(error)?;
        let mut capacity = cut.first;
        for index in 0..cut.count {
            self.number(&mut header, index, cut.count);
            self.next_sequence = self.next_sequence.wrapping_add(1);
            let fragment = Some(rest.split_to(capacity.min(rest.len())));
            let frame = LpPacket { header: std::mem::take(&mut header), fragment };
            out(self, frame);
            capacity = cut.other;
        }
        Ok(())
    }

    /// Adds the fields of fragment `index` to `header`.
    fn number(&self, header: &mut LpHeader, index: u64, count: u64) {
        header.sequence = Some(self.next_sequence);
        header.frag_index = Some(index);
        header.frag_count = Some(count);
    }

    /// Division of `length` bytes, if possible.
    ///
    /// More fragments have longer numbers: numbers of one byte are tried first, then two.
    fn plan(&self, header: &mut LpHeader, free_bytes: usize, length: usize) -> Option<Cut> {
        [u64::from(u8::MAX), MAX_FRAGMENTS].into_iter().find_map(|most| {
            self.number(header, most, most);
            let first = self.capacity(header.encoded_len() + free_bytes)?;
            let mut other = LpHeader::default();
            self.number(&mut other, most, most);
            let other = self.capacity(other.encoded_len() + free_bytes)?;
            let count = 1 + length.saturating_sub(first).div_ceil(other) as u64;
            (2..=most).contains(&count).then_some(Cut { count, first, other })
        })
    }

    /// Bytes of a packet that fit a frame beside `fields` bytes of fields; at least one.
    fn capacity(&self, fields: usize) -> Option<usize> {
        // The least overhead first, then that of the actual lengths.
        let most = self.mtu.checked_sub(fields + 4)?;
        (most.saturating_sub(16)..=most)
            .rev()
            .find(|it| *it > 0 && frame_len(fields, *it) <= self.mtu)
    }
}

/// Bytes of an allocation for frames of this length: a power of two, since memory is reused for frames of similar length.
fn region_bytes(frame: usize) -> usize {
    (REGION_FRAMES * frame).next_power_of_two().min(REGION_BYTES).max(frame)
}

/// Bytes of a frame with this many bytes of fields and of a packet.
fn frame_len(fields: usize, packet: usize) -> usize {
    tlv::tlv_len(typ::LP_PACKET, fields + tlv::tlv_len(typ::FRAGMENT, packet))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Data packet, valid in its outermost TLV only.
    fn packet(length: usize) -> Bytes {
        let mut packet = BytesMut::new();
        let overhead = (1..6).find(|it| tlv::tlv_len(typ::DATA, length - it) == length);
        let value = vec![7; length - overhead.expect("a length that a TLV can have")];
        tlv::put_tlv(&mut packet, typ::DATA, &value);
        packet.freeze()
    }

    fn fragment(mtu: usize, header: &LpHeader, length: usize) -> Result<Vec<Bytes>, MtuTooSmall> {
        let mut frames = Vec::new();
        let mut fragmenter = Fragmenter::new(mtu, u64::MAX);
        fragmenter.fragment(header.clone(), packet(length), |frame| frames.push(frame))?;
        Ok(frames)
    }

    fn marked() -> LpHeader {
        LpHeader { congestion_mark: Some(1), ..LpHeader::default() }
    }

    #[test]
    fn small_packets_are_not_fragmented() {
        assert_eq!(fragment(1200, &LpHeader::default(), 1200).unwrap(), [packet(1200)]);
        let frames = fragment(1213, &marked(), 1200).unwrap();
        assert_eq!((frames.len(), frames[0].len()), (1, 1213));
        let frame = LpPacket::decode(frames[0].clone()).unwrap();
        assert_eq!((frame.header, frame.fragment), (marked(), Some(packet(1200))));
    }

    #[test]
    fn fragments_fill_the_mtu_with_consecutive_numbers() {
        let frames = fragment(1400, &marked(), 8000).unwrap();
        let lengths: Vec<_> = frames.iter().map(Bytes::len).collect();
        assert_eq!(lengths[..5], [1400; 5]);
        assert!(lengths.len() == 6 && lengths[5] <= 1400, "{lengths:?}");
        for (index, frame) in frames.into_iter().enumerate() {
            let header = LpPacket::decode(frame).unwrap().header;
            assert_eq!(header.sequence, Some((index as u64).wrapping_sub(1)));
            assert_eq!((header.frag_index, header.frag_count), (Some(index as u64), Some(6)));
            assert_eq!(header.congestion_mark, (index == 0).then_some(1));
        }
    }

    #[test]
    fn short_frames_take_little_memory() {
        for (frame, bytes) in
            [(50, 2_048), (1_400, 64 << 10), (8_000, 64 << 10), (1 << 20, 1 << 20)]
        {
            assert_eq!(region_bytes(frame), bytes, "{frame}");
        }
        let mut fragmenter = Fragmenter::new(1_400, 0);
        fragmenter.encode(&LpPacket::default());
        assert!(fragmenter.buffer.capacity() < 256);
    }

    #[test]
    fn frames_fit_with_added_fields() {
        for (length, count) in [(1_364, 1), (1_365, 2), (8_000, 6)] {
            let mut fragmenter = Fragmenter::new(1_400, 0);
            let mut frames = Vec::new();
            let header = LpHeader::default();
            fragmenter
                .fragment_with_space(header, packet(length), 28, |frame| frames.push(frame))
                .unwrap();
            assert_eq!(frames.len(), count, "{length}");
            for mut frame in frames {
                frame.header.ignorable.set(852, Bytes::from(vec![0; 24]));
                let frame_bytes = fragmenter.encode(&frame);
                assert!(frame_bytes.len() <= 1_400 && LpPacket::decode(frame_bytes) == Ok(frame));
            }
        }
    }

    #[test]
    fn too_small_mtu_is_an_error() {
        for mtu in [0, 1, 20, 26] {
            let error = fragment(mtu, &LpHeader::default(), 8000).unwrap_err();
            assert_eq!(error, MtuTooSmall { mtu, packet_bytes: 8000 });
        }
        assert!(fragment(60, &LpHeader::default(), 8000).is_ok());
        let token = LpHeader { pit_token: Some(Bytes::from(vec![1; 32])), ..LpHeader::default() };
        assert!(fragment(45, &token, 300).is_err());
    }
}
