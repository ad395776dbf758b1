//! Captures: the packets of a simulation as a pcapng stream with their real bytes, for Wireshark.
//!
//! Each direction of a link is an interface of its own (`r1-r2.forth`), with Ethernet frames of EtherType 0x8624 in it.
//! A node's address is `02:00` and its number. A packet is captured when it arrives at the far end, or when it is lost:
//! then its comment gives the reason. Nacks, congestion marks and other link fields make it an LpPacket; other packets
//! are bare. Packets that nodes discard, and frames of other protocols, are not captured. Times are nanoseconds since
//! the beginning of the run.
//!
//! A described Data packet is encoded for the capture: its content is zeros, and so is its signature. A capture is
//! written during the run and keeps nothing. [`CaptureOptions`] thin it by choosing links and by cutting packets.
//!
//! The format is [`recoup_packet::pcapng`]'s.
use crate::network::{LinkId, Network, NodeId};
use crate::observe::{Observation, Observer};
use crate::record::place::{Channel, Places};
use bytes::BytesMut;
use recoup_forwarder::packet::Packet;
use recoup_packet::lp::LpPacket;
use recoup_packet::pcapng::{CapturedFrame, ETHERNET_BYTES, Interface, Writer, ethernet};
use recoup_transport::time::Instant;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Links and bytes to capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureOptions {
    /// The links; empty means all.
    pub links: BTreeSet<LinkId>,
    /// Bytes of a frame that are kept; `None` means all.
    pub frame_bytes: Option<u32>,
}

/// Writes captured packets.
#[derive(Debug)]
pub struct Capture<W> {
    out: Writer<W>,
    places: Places,
    /// The interface of each channel that is captured.
    interfaces: Vec<Option<u32>>,
    frame_bytes: u32,
    pool: BytesMut,
    frame: BytesMut,
    packets: u64,
    failed: Option<io::Error>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture of a simulation of `network`.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn new(network: &Network, options: &CaptureOptions, out: W) -> io::Result<Self> {
        let mut capture = Self {
            out: Writer::new(out, "recoup sim")?,
            places: Places::new(network),
            interfaces: Vec::new(),
            frame_bytes: options.frame_bytes.unwrap_or(u32::MAX),
            pool: BytesMut::new(),
            frame: BytesMut::new(),
            packets: 0,
            failed: None,
        };
        for (channel, plan) in capture.places.channels().zip(channel_rates(network)) {
            let wanted = options.links.is_empty() || options.links.contains(&channel.link);
            let number = match wanted {
                true => Some(capture.write_interface(channel, plan, options.frame_bytes)?),
                false => None,
            };
            capture.interfaces.push(number);
        }
        Ok(capture)
    }

    /// Number of captured packets.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// Ends the capture; returns the first error of `out`, after which nothing was written.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => {
                self.out.flush()?;
                Ok(self.out.into_inner())
            }
        }
    }

    fn write_interface(
        &mut self,
        channel: Channel,
        rate_bits: u64,
        frame_bytes: Option<u32>,
    ) -> io::Result<u32> {
        let name = format!("{}.{}", self.places.link(channel.link), channel.direction_name());
        let node = |id: Option<NodeId>| id.map_or("?", |id| self.places.node(id));
        let (from, to) = (self.places.sender(channel), self.places.receiver(channel));
        let description = format!("{} to {}", node(from), node(to));
        let (name, description) = (name.as_str(), description.as_str());
        self.out.interface(&Interface { name, description, rate_bits, frame_bytes })
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
        let station = |node: Option<NodeId>| node.map_or(u32::MAX, |node| node.0);
        let (from, to) = (self.places.sender(channel), self.places.receiver(channel));
        self.frame.extend(ethernet(station(to), station(from)));
        let fragment = Some(packet.to_wire(&mut self.pool));
        LpPacket { header: packet.link_header(), fragment }.encode(&mut self.frame);
        debug_assert_eq!(self.frame.len(), ETHERNET_BYTES + packet.bytes(), "{}", packet.name());
    }

    fn write_packet(
        &mut self,
        now: Instant,
        interface: u32,
        comment: Option<&str>,
    ) -> io::Result<()> {
        let (nanos, kept, pieces) = (now.as_nanos(), self.frame_bytes, [&self.frame[..]]);
        let pieces = pieces.as_slice();
        self.out.frame(&CapturedFrame { interface, nanos, pieces, kept, direction: None, comment })
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

/// Bits per second of each channel, in the order of [`Channel::index`].
fn channel_rates(network: &Network) -> Vec<u64> {
    network.links.iter().flat_map(|link| [link.forth.rate_bits, link.back.rate_bits]).collect()
}

#[cfg(test)]
mod tests;
