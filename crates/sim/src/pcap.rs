//! Captures: the packets of a world as a pcapng stream with their real octets, for Wireshark.
//!
//! Each direction of a link is an interface of its own (`r1-r2.forth`), with Ethernet frames of
//! EtherType 0x8624 in it; a node's address is `02:00` and its number. A packet is captured when it
//! arrives at the far end, or when it is lost: then its comment says why. Nacks, congestion marks and other
//! link fields make it an LpPacket, everything else travels bare. Packets that nodes discard, and frames that
//! are not NDN's, are not captured. Times are nanoseconds since the beginning of the run.
//!
//! A described Data packet is encoded for the capture: its content is zeros, and so is its signature. A capture
//! is written as the world runs and keeps nothing; it can be thinned by choosing links and by cutting
//! packets ([`CaptureOptions`]).
//!
//! Source: draft-ietf-opsawg-pcapng (section header, interface description and enhanced packet blocks).
//! Differences: none.
use crate::network::{LinkId, Network, NodeId};
use crate::observe::{Observation, Observer};
use crate::record::place::{Channel, Places};
use bytes::BytesMut;
use recoup_forwarder::packet::Packet;
use recoup_packet::lp::LpPacket;
use recoup_transport::time::Instant;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// EtherType of NDN.
const ETHER_TYPE: [u8; 2] = [0x86, 0x24];
/// LINKTYPE_ETHERNET.
const LINK_TYPE: u16 = 1;
/// Octets of an Ethernet header.
const HEADER_LEN: usize = 14;

/// What is captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureOptions {
    /// On which links; empty means on all.
    pub links: BTreeSet<LinkId>,
    /// Octets of a frame that are kept; `None` means all.
    pub frame_octets: Option<u32>,
}

/// Writes captured packets.
#[derive(Debug)]
pub struct Capture<W> {
    out: W,
    places: Places,
    /// The interface of each channel that is captured.
    interfaces: Vec<Option<u32>>,
    frame_octets: u32,
    pool: BytesMut,
    frame: BytesMut,
    block: Vec<u8>,
    packets: u64,
    failed: Option<io::Error>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of a world made from `network`.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(network: &Network, options: &CaptureOptions, out: W) -> io::Result<Self> {
        let mut capture = Self {
            out,
            places: Places::new(network),
            interfaces: Vec::new(),
            frame_octets: options.frame_octets.unwrap_or(u32::MAX),
            pool: BytesMut::new(),
            frame: BytesMut::new(),
            block: Vec::new(),
            packets: 0,
            failed: None,
        };
        capture.write_section()?;
        let mut count = 0;
        for (channel, plan) in capture.places.channels().zip(channel_rates(network)) {
            let wanted = options.links.is_empty() || options.links.contains(&channel.link);
            capture.interfaces.push(wanted.then_some(count));
            if wanted {
                count += 1;
                capture.write_interface(channel, plan, options.frame_octets)?;
            }
        }
        Ok(capture)
    }

    /// How many packets were captured.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first thing that `out` complained of; nothing was written after that.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => {
                self.out.flush()?;
                Ok(self.out)
            }
        }
    }

    fn write_section(&mut self) -> io::Result<()> {
        const ORDER: u32 = 0x1A2B_3C4D;
        const VERSION: [u16; 2] = [1, 0];
        const UNKNOWN_LENGTH: u64 = u64::MAX;
        self.block.extend(ORDER.to_le_bytes());
        self.block.extend(VERSION.iter().flat_map(|part| part.to_le_bytes()));
        self.block.extend(UNKNOWN_LENGTH.to_le_bytes());
        self.put_option(option::APPLICATION, b"recoup sim");
        self.end_options();
        self.write_block(block::SECTION)
    }

    fn write_interface(
        &mut self,
        channel: Channel,
        rate_bits: u64,
        frame_octets: Option<u32>,
    ) -> io::Result<()> {
        const NANOSECONDS: u8 = 9;
        let name = format!("{}.{}", self.places.link(channel.link), channel.direction_name());
        let node = |id: Option<NodeId>| id.map_or("?", |id| self.places.node(id));
        let (from, to) = (self.places.sender(channel), self.places.receiver(channel));
        let description = format!("{} to {}", node(from), node(to));
        self.block.extend(LINK_TYPE.to_le_bytes());
        self.block.extend([0, 0]);
        self.block.extend(frame_octets.unwrap_or(0).to_le_bytes());
        self.put_option(option::NAME, name.as_bytes());
        self.put_option(option::DESCRIPTION, description.as_bytes());
        if rate_bits > 0 {
            self.put_option(option::SPEED, &rate_bits.to_le_bytes());
        }
        self.put_option(option::TIME_RESOLUTION, &[NANOSECONDS]);
        self.end_options();
        self.write_block(block::INTERFACE)
    }

    fn capture(&mut self, now: Instant, channel: Channel, packet: &Packet, comment: Option<&str>) {
        let interface = self.interfaces.get(channel.index()).copied().flatten();
        let Some(interface) = interface.filter(|_| self.failed.is_none()) else {
            return;
        };
        self.lay_out(channel, packet);
        self.packets += 1;
        if let Err(error) = self.write_packet(now, interface, comment) {
            self.failed = Some(error);
        }
    }

    /// Puts the Ethernet frame together.
    fn lay_out(&mut self, channel: Channel, packet: &Packet) {
        self.frame.clear();
        self.frame.extend(address(self.places.receiver(channel)));
        self.frame.extend(address(self.places.sender(channel)));
        self.frame.extend(ETHER_TYPE);
        let fragment = Some(packet.to_wire(&mut self.pool));
        LpPacket { header: packet.link_header(), fragment }.encode(&mut self.frame);
        debug_assert_eq!(self.frame.len(), HEADER_LEN + packet.octets(), "{}", packet.name());
    }

    fn write_packet(
        &mut self,
        now: Instant,
        interface: u32,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let whole = self.frame.len() as u32;
        let kept = whole.min(self.frame_octets);
        let nanos = now.as_nanos();
        let fields = [interface, (nanos >> 32) as u32, nanos as u32, kept, whole];
        self.block.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
        self.block.extend(&self.frame[..kept as usize]);
        pad(&mut self.block);
        if let Some(comment) = comment {
            self.put_option(option::COMMENT, comment.as_bytes());
            self.end_options();
        }
        self.write_block(block::PACKET)
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

    /// Writes what is in `block`, with type and length around it.
    fn write_block(&mut self, kind: u32) -> io::Result<()> {
        const AROUND: usize = 12;
        let length = ((self.block.len() + AROUND) as u32).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.block.clear();
        self.out.write_all(&length)
    }
}

impl<W: Write> Observer for Capture<W> {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Arrived { link, direction, packet } => {
                self.capture(now, Channel::new(link, direction), packet, None);
            }
            Observation::Lost { link, direction, packet, reason } => {
                let comment = format!("lost: {}", reason.name());
                self.capture(now, Channel::new(link, direction), packet, Some(&comment));
            }
            _ => {}
        }
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
    pub(super) const DESCRIPTION: u16 = 3;
    /// Of a section.
    pub(super) const APPLICATION: u16 = 4;
    pub(super) const SPEED: u16 = 8;
    pub(super) const TIME_RESOLUTION: u16 = 9;
}

/// Zeros up to the next multiple of four octets.
fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

/// A locally administered address with a node's number.
fn address(node: Option<NodeId>) -> [u8; 6] {
    let [a, b, c, d] = node.map_or(u32::MAX, |node| node.0).to_be_bytes();
    [0x02, 0x00, a, b, c, d]
}

/// Bits per second of each channel, in the order of [`Channel::index`].
fn channel_rates(network: &Network) -> Vec<u64> {
    network.links.iter().flat_map(|link| [link.forth.rate_bits, link.back.rate_bits]).collect()
}

#[cfg(test)]
mod tests;
