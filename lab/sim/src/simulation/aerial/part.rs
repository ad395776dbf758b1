//! Packets that are longer than the medium's largest: IP sends them in parts, and all of them have to arrive.
//!
//! Source: RFC 791, section 3.2: each part has a header of 20 bytes and, but for the last, a multiple of 8 bytes.
//!
//! Differences: parts of one lane do not overtake each other, so one packet is put together at a time.
use recoup_wifi::StationId;
use std::collections::BTreeMap;

/// Bytes of an IPv4 header.
const HEADER: u32 = 20;

/// A part of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Number of the packet in its lane.
    pub(super) packet: u64,
    /// Number of its parts.
    pub(super) of: u32,
}

/// Bytes of each part of a packet of `bytes`, its IP header included; `largest` is what a frame may carry.
pub(super) fn cut(bytes: u32, largest: Option<u32>) -> impl Iterator<Item = u32> {
    let room = largest.map_or(u32::MAX, |largest| largest.saturating_sub(HEADER).max(8) / 8 * 8);
    let whole = largest.is_none_or(|largest| bytes <= largest);
    let content = bytes.saturating_sub(HEADER);
    let count = if whole { 1 } else { content.div_ceil(room) };
    (0..count).map(move |number| match whole {
        true => bytes,
        false => HEADER + (content - number * room).min(room),
    })
}

/// Packets that have arrived in part, by lane and receiver.
#[derive(Debug, Default)]
pub(super) struct Parts {
    sent: u64,
    arrived: BTreeMap<(usize, u32), (u64, u32)>,
}

impl Parts {
    /// Numbers a packet that is sent in so many parts.
    pub(super) fn number(&mut self, of: u32) -> Part {
        self.sent += 1;
        Part { packet: self.sent, of }
    }

    /// A part arrived; whether all of its packet have.
    pub(super) fn take(&mut self, lane: usize, at: StationId, part: Part) -> bool {
        let (packet, count) = self.arrived.entry((lane, at.0)).or_default();
        if *packet != part.packet {
            (*packet, *count) = (part.packet, 0);
        }
        *count += 1;
        *count == part.of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_headers_and_whole_eights() {
        let of = |bytes, largest| cut(bytes, largest).collect::<Vec<_>>();
        assert_eq!(of(1_500, Some(1_500)), [1_500]);
        assert_eq!(of(1_501, Some(1_500)), [1_500, 21]);
        assert_eq!(of(4_524, Some(1_500)), [1_500, 1_500, 1_500, 84]);
        assert_eq!(of(9_000, None), [9_000]);
        assert_eq!(of(60, Some(50)), [44, 36]);
        assert_eq!(of(40, Some(1)), [28, 28, 24]);
    }

    #[test]
    fn packet_is_whole_after_its_last_part() {
        let (mut parts, at) = (Parts::default(), StationId(3));
        let (one, other) = (parts.number(3), parts.number(2));
        assert_eq!([one, one, one].map(|part| parts.take(0, at, part)), [false, false, true]);
        assert!(!parts.take(0, at, one), "of the next only one arrives");
        assert_eq!([other, other].map(|part| parts.take(0, at, part)), [false, true]);
        assert_eq!([other, one].map(|part| parts.take(1, at, part)), [false, false]);
    }
}
