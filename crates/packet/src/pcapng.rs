//! Captures of frames on links as a pcapng stream, for Wireshark and other readers.
//!
//! [`Writer`] writes each frame at once and buffers nothing. Each interface is an Ethernet;
//! [`ethernet`] makes the header of an NDN packet's frame. Times are nanoseconds.
//!
//! Source: draft-ietf-opsawg-pcapng (section header, interface description and enhanced packet
//! blocks). Differences: none.
use std::io::{self, Write};

/// LINKTYPE_ETHERNET.
const LINK_TYPE: u16 = 1;
/// EtherType of NDN.
const ETHER_TYPE: [u8; 2] = [0x86, 0x24];
/// Bytes of an Ethernet header.
pub const ETHERNET_BYTES: usize = 14;

/// The Ethernet header of an NDN packet. Stations have locally administered addresses, `02:00` and
/// their number.
#[must_use]
pub fn ethernet(to: u32, from: u32) -> [u8; ETHERNET_BYTES] {
    let mut header = [0; ETHERNET_BYTES];
    let address = |number: u32| [0x02, 0x00].into_iter().chain(number.to_be_bytes());
    let bytes = address(to).chain(address(from)).chain(ETHER_TYPE);
    header.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    header
}

/// Description of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// `if_name`.
    pub name: &'a str,
    /// Free text.
    pub description: &'a str,
    /// Bits per second; 0 if unlimited or unknown.
    pub rate_bits: u64,
    /// Captured bytes of each frame; `None` means all.
    pub frame_bytes: Option<u32>,
}

/// Direction of a frame through an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Inbound.
    In,
    /// Outbound.
    Out,
}

/// A captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedFrame<'a> {
    /// Number of the interface in the order of descriptions, from 0.
    pub interface: u32,
    /// Nanoseconds since 1970-01-01 UTC, or since the start of a simulation.
    pub nanos: u64,
    /// The whole frame, in pieces.
    pub pieces: &'a [&'a [u8]],
    /// Captured bytes.
    pub kept: u32,
    /// Direction, if known.
    pub direction: Option<Direction>,
    /// `opt_comment`.
    pub comment: Option<&'a str>,
}

/// Writes a pcapng stream.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
    interfaces: u32,
    bytes: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a stream; `application` is the name of the writing program.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W, application: &str) -> io::Result<Self> {
        const ORDER: u32 = 0x1A2B_3C4D;
        const VERSION: [u16; 2] = [1, 0];
        const UNKNOWN_LENGTH: u64 = u64::MAX;
        let mut writer = Self { out, block: Vec::new(), interfaces: 0, bytes: 0 };
        writer.block.extend(ORDER.to_le_bytes());
        writer.block.extend(VERSION.iter().flat_map(|part| part.to_le_bytes()));
        writer.block.extend(UNKNOWN_LENGTH.to_le_bytes());
        writer.put_option(option::APPLICATION, application.as_bytes());
        writer.end_options();
        writer.write_block(block::SECTION)?;
        Ok(writer)
    }

    /// Describes the next interface and returns its number.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn interface(&mut self, interface: &Interface<'_>) -> io::Result<u32> {
        const NANOSECONDS: u8 = 9;
        self.block.extend(LINK_TYPE.to_le_bytes());
        self.block.extend([0, 0]);
        self.block.extend(interface.frame_bytes.unwrap_or(0).to_le_bytes());
        self.put_option(option::NAME, interface.name.as_bytes());
        self.put_option(option::DESCRIPTION, interface.description.as_bytes());
        if interface.rate_bits > 0 {
            self.put_option(option::SPEED, &interface.rate_bits.to_le_bytes());
        }
        self.put_option(option::TIME_RESOLUTION, &[NANOSECONDS]);
        self.end_options();
        self.write_block(block::INTERFACE)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn frame(&mut self, frame: &CapturedFrame<'_>) -> io::Result<()> {
        let whole: usize = frame.pieces.iter().map(|piece| piece.len()).sum();
        let whole = u32::try_from(whole).unwrap_or(u32::MAX);
        let (kept, nanos) = (whole.min(frame.kept), frame.nanos);
        let fields = [frame.interface, (nanos >> 32) as u32, nanos as u32, kept, whole];
        self.block.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
        let mut left = kept as usize;
        for piece in frame.pieces {
            let piece = piece.get(..left).unwrap_or(piece);
            self.block.extend_from_slice(piece);
            left -= piece.len();
        }
        pad(&mut self.block);
        if let Some(comment) = frame.comment {
            self.put_option(option::COMMENT, comment.as_bytes());
        }
        if let Some(direction) = frame.direction {
            self.put_option(option::FLAGS, &flags(direction).to_le_bytes());
        }
        if frame.comment.is_some() || frame.direction.is_some() {
            self.end_options();
        }
        self.write_block(block::PACKET)
    }

    /// Bytes written so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Flushes the output.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The underlying writer; does not flush.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn put_option(&mut self, code: u16, value: &[u8]) {
        let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.block.extend(code.to_le_bytes());
        self.block.extend(length.to_le_bytes());
        self.block.extend(value.iter().take(usize::from(length)));
        pad(&mut self.block);
    }

    fn end_options(&mut self) {
        self.block.extend([0; 4]);
    }

    /// Writes `block`, with type and length around it.
    fn write_block(&mut self, kind: u32) -> io::Result<()> {
        const AROUND: usize = 12;
        let length = (self.block.len() + AROUND) as u32;
        self.bytes += u64::from(length);
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.block.clear();
        self.out.write_all(&length.to_le_bytes())
    }
}

/// Types of blocks.
mod block {
    pub(super) const SECTION: u32 = 0x0A0D_0D0A;
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const PACKET: u32 = 6;
}

/// Codes of options.
mod option {
    pub(super) const COMMENT: u16 = 1;
    pub(super) const NAME: u16 = 2;
    /// Option of a packet block.
    pub(super) const FLAGS: u16 = 2;
    pub(super) const DESCRIPTION: u16 = 3;
    /// Option of a section header.
    pub(super) const APPLICATION: u16 = 4;
    pub(super) const SPEED: u16 = 8;
    pub(super) const TIME_RESOLUTION: u16 = 9;
}

/// The two lowest bits of a packet's flags.
fn flags(direction: Direction) -> u32 {
    match direction {
        Direction::In => 1,
        Direction::Out => 2,
    }
}

/// Pads with zeros to the next multiple of four bytes.
fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_block_has_lengths_and_direction_flags() {
        let mut writer = Writer::new(Vec::new(), "test").unwrap();
        let interface =
            Interface { name: "f", description: "g", rate_bits: 0, frame_bytes: Some(16) };
        assert_eq!(writer.interface(&interface).unwrap(), 0);
        let before = writer.bytes() as usize;
        let header = ethernet(0, 7);
        let pieces: [&[u8]; 2] = [&header, &[0x05, 0x01, 0x00]];
        let (nanos, direction) = ((3 << 32) + 4, Some(Direction::Out));
        let frame = CapturedFrame {
            interface: 0,
            nanos,
            pieces: &pieces,
            kept: 16,
            direction,
            comment: None,
        };
        writer.frame(&frame).unwrap();
        let bytes = writer.bytes() as usize;
        let mut block = writer.into_inner();
        assert_eq!(block.len(), bytes);
        block.drain(..before);
        let word = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().unwrap());
        assert_eq!((word(0), word(4) as usize, word(block.len() - 4)), (6, block.len(), word(4)));
        // Interface, time, captured bytes, original bytes.
        assert_eq!([8, 12, 16, 20, 24].map(word), [0, 3, 4, 16, 17]);
        assert_eq!(&block[28..44], [&header[..], &[0x05, 0x01]].concat());
        // Flags of four bytes, and the end of options.
        assert_eq!([44, 48, 52].map(word), [(4 << 16) + 2, 2, 0]);
    }

    #[test]
    fn ethernet_header_has_both_stations_and_the_ethertype() {
        let header = ethernet(0x0102_0304, 9);
        assert_eq!(header, [2, 0, 1, 2, 3, 4, 2, 0, 0, 0, 0, 9, 0x86, 0x24]);
    }
}
