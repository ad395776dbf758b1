//! Ethernet without IP: frames of NDN's EtherType to one station, or to a group of stations on one interface.
//!
//! Source: NFD, `daemon/face/ethernet-transport.cpp` and `ethernet-protocol.hpp` (EtherType 0x8624, group
//! 01:00:5e:00:17:aa); packet(7).
//!
//! The socket hears its EtherType on one interface, so no filter is needed. A group is joined by way of the IPv4 group that
//! has the same address on Ethernet: NDN's is that of 224.0.23.170.
use super::{Heard, Medium};
use crate::face::uri::ether_text;
use crate::face::{FaceUri, LARGEST_FRAME_RECEIVED, MediumOptions};
use crate::interface;
use nix::sys::socket::{LinkAddr, bind};
use recoup_packet::tlv;
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// NDN's EtherType, registered with IEEE.
const ETHER_TYPE: u16 = 0x8624;
/// Destination, source, EtherType.
const HEADER_OCTETS: usize = 14;
/// Shortest frame without its checksum (IEEE 802.3). Virtual links do not fill shorter ones up, and NFD discards them.
const LEAST_OCTETS: usize = 60;
/// The kind of hardware that has such addresses (ARPHRD_ETHER).
const ETHERNET: u16 = 1;
/// The first octets of groups that stand for groups of IPv4 (RFC 1112, section 6.4).
const IPV4_GROUPS: [u8; 3] = [0x01, 0x00, 0x5E];

/// A station, or a group of them, on one interface.
#[derive(Debug)]
pub(super) struct Ethernet {
    socket: Socket,
    /// Keeps us in the group.
    _membership: Option<UdpSocket>,
    own: [u8; 6],
    peer: [u8; 6],
    mtu: usize,
}

impl Ethernet {
    /// Opens what leads to `peer`, a station or a group.
    pub(super) fn open(
        peer: [u8; 6],
        medium: &MediumOptions,
        buffer_octets: usize,
    ) -> io::Result<Self> {
        let interface = medium.interface.as_deref().ok_or_else(|| {
            wrong("Ethernet needs to know its interface: interface = \"eth0\"".to_owned())
        })?;
        let protocol = Protocol::from(i32::from(ETHER_TYPE.to_be()));
        let socket = Socket::new(Domain::PACKET, Type::RAW, Some(protocol)).map_err(forbidden)?;
        let link = interface::link(interface)?;
        let own = link.addr().filter(|_| link.hatype() == ETHERNET);
        let own = own.ok_or_else(|| wrong(format!("{interface} is no Ethernet")))?;
        socket.set_nonblocking(true)?;
        bind(socket.as_raw_fd(), &link)?;
        // The system grants what it pleases.
        let _ = socket.set_recv_buffer_size(buffer_octets);
        let _ = socket.set_send_buffer_size(buffer_octets);
        forget_before(&socket);
        let membership = if is_group(peer) { Some(join(peer, &link)?) } else { None };
        let mtu = interface::mtu(interface);
        Ok(Self { socket, _membership: membership, own, peer, mtu })
    }

    fn is_for_us(&self, to: &[u8], from: &[u8]) -> bool {
        match is_group(self.peer) {
            true => to == self.peer && from != self.own,
            false => to == self.own && from == self.peer,
        }
    }
}

impl Medium for Ethernet {
    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn send(&self, frame: &[u8]) -> io::Result<()> {
        (&self.socket).write(&framed(self.peer, self.own, frame)).map(|_| ())
    }

    fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Heard>> {
        let length = (&self.socket).read(buffer)?;
        let Some((header, frame)) =
            buffer.get(..length).and_then(|it| it.split_at_checked(HEADER_OCTETS))
        else {
            return Ok(None);
        };
        let (to, rest) = header.split_at(6);
        let from = &rest[..6];
        if !self.is_for_us(to, from) {
            return Ok(None);
        }
        let sender = from.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
        let frame = HEADER_OCTETS..HEADER_OCTETS + unpadded(frame);
        Ok(Some(Heard { frame, sender }))
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn local_address(&self) -> Option<SocketAddr> {
        None
    }
}

/// Whether several stations have this address.
fn is_group(address: [u8; 6]) -> bool {
    FaceUri::Ether(address).is_shared()
}

/// A frame as it is sent, filled up if it is short.
fn framed(to: [u8; 6], from: [u8; 6], frame: &[u8]) -> Vec<u8> {
    let mut octets = [to.as_slice(), &from, &ETHER_TYPE.to_be_bytes(), frame].concat();
    octets.resize(octets.len().max(LEAST_OCTETS), 0);
    octets
}

/// Short frames are filled up by whoever sends them: how much of one is the packet.
fn unpadded(frame: &[u8]) -> usize {
    let said = tlv::frame_len(frame).ok().flatten();
    said.filter(|length| *length <= frame.len()).unwrap_or(frame.len())
}

/// What was received before the socket knew its interface may be another's.
fn forget_before(socket: &Socket) {
    let mut buffer = [0; HEADER_OCTETS + LARGEST_FRAME_RECEIVED];
    while (&*socket).read(&mut buffer).is_ok() {}
}

/// Has the interface listen to a group.
fn join(group: [u8; 6], link: &LinkAddr) -> io::Result<UdpSocket> {
    let [a, b, c, high, middle, low] = group;
    if [a, b, c] != IPV4_GROUPS || high >= 0x80 {
        let what =
            format!("{} is no group that can be joined: 01:00:5e:00:17:aa is", ether_text(group));
        return Err(wrong(what));
    }
    let index = u32::try_from(link.ifindex()).map_err(|_| ErrorKind::NotFound)?;
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    let group = Ipv4Addr::new(224, high, middle, low);
    socket.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(index))?;
    Ok(socket.into())
}

fn wrong(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, what)
}

fn forbidden(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            let what = "Ethernet faces need the capability CAP_NET_RAW";
            io::Error::new(ErrorKind::PermissionDenied, what)
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_up_a_short_frame_is_no_part_of_it() {
        let frame = [0x06, 0x03, 1, 2, 3];
        let sent = framed([1; 6], [2; 6], &frame);
        assert_eq!((sent.len(), &sent[..HEADER_OCTETS][12..]), (60, &[0x86, 0x24][..]));
        assert_eq!((unpadded(&frame), unpadded(&sent[HEADER_OCTETS..])), (5, 5));
        assert_eq!(framed([1; 6], [2; 6], &[7; 1_500]).len(), 1_514);
        assert_eq!(unpadded(&[0x06, 0xFF]), 2, "what is no element is judged by the node");
    }

    #[test]
    fn what_cannot_be_opened_is_said_before_anything_is_sent() {
        let open = |address, interface: Option<&str>| {
            let medium =
                MediumOptions { interface: interface.map(Into::into), ..Default::default() };
            Ethernet::open(address, &medium, 1 << 16).map(|_| ()).unwrap_err().to_string()
        };
        assert!(open([2, 0, 0, 0, 0, 1], None).contains("interface = \"eth0\""));
        let missing = open([2, 0, 0, 0, 0, 1], Some("no-such-if"));
        assert!(missing.contains("no-such-if") || missing.contains("CAP_NET_RAW"), "{missing}");
    }
}
