//! Ethernet without IP: frames of NDN's EtherType to one station, or to a group of stations on one interface.
//!
//! Source: NFD, `daemon/face/ethernet-transport.cpp` and `ethernet-protocol.hpp` (EtherType 0x8624, group
//! 01:00:5e:00:17:aa); packet(7).
//!
//! A socket hears its EtherType on one interface, and a filter in the kernel leaves it what is for its face. A group is joined
//! by way of the IPv4 group that has the same address on Ethernet: NDN's is that of 224.0.23.170.
//!
//! Differences: stations that speak to us first share the socket of the interface where they were heard ([`Ear`]), which
//! knows them by their addresses; NFD opens one for each, with a filter against all others.
use super::{Heard, Medium, MediumLink};
use crate::face::uri::ether_text;
use crate::face::{FaceUri, LARGEST_FRAME_RECEIVED, MediumOptions};
use crate::interface;
use crate::link::Link;
use bytes::Bytes;
use nix::sys::socket::{LinkAddr, bind};
use recoup_packet::tlv;
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, SockFilter, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;

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

/// The address of a station, or of a group of them.
pub(crate) type EtherAddress = [u8; 6];

/// A station, or a group of them, on one interface.
#[derive(Debug)]
pub(super) struct Ethernet {
    card: Arc<Card>,
    /// Keeps us in the group.
    _membership: Option<UdpSocket>,
    peer: EtherAddress,
}

impl Ethernet {
    /// Opens what leads to `peer`, a station or a group.
    pub(super) fn open(
        peer: EtherAddress,
        medium: &MediumOptions,
        buffer_octets: usize,
    ) -> io::Result<Self> {
        let interface = medium.interface.as_deref().ok_or_else(|| {
            wrong("Ethernet needs to know its interface: interface = \"eth0\"".to_owned())
        })?;
        let hears = if is_group(peer) { Hears::Group(peer) } else { Hears::Station(peer) };
        let card = Card::open(interface, hears, buffer_octets)?;
        let membership = match is_group(peer) {
            true => Some(join(peer, &interface::link(interface)?)?),
            false => None,
        };
        Ok(Self { card: Arc::new(card), _membership: membership, peer })
    }
}

impl Medium for Ethernet {
    fn fd(&self) -> BorrowedFd<'_> {
        self.card.socket.as_fd()
    }

    fn send(&self, frame: &[u8]) -> io::Result<()> {
        (&self.card.socket).write(&framed(self.peer, self.card.own, frame)).map(|_| ())
    }

    fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Heard>> {
        self.card.receive(buffer)
    }

    fn mtu(&self) -> usize {
        self.card.mtu
    }

    fn local_address(&self) -> Option<SocketAddr> {
        None
    }
}

/// Hears all stations that speak to us on one interface.
#[derive(Debug)]
pub(crate) struct Ear {
    card: Arc<Card>,
    buffer: Box<[u8]>,
}

impl Ear {
    /// Listens on the interface of that name.
    pub(super) fn open(interface: &str, buffer_octets: usize) -> io::Result<Self> {
        let card = Arc::new(Card::open(interface, Hears::Everybody, buffer_octets)?);
        let buffer = vec![0; HEADER_OCTETS + LARGEST_FRAME_RECEIVED].into_boxed_slice();
        Ok(Self { card, buffer })
    }

    /// To be waited on.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.card.socket.as_fd()
    }

    /// The next frame, and whose it is; `None` for what is not for us.
    ///
    /// # Errors
    /// Of the kind `WouldBlock` if nothing waits; others if the interface is gone.
    pub(crate) fn hear(&mut self) -> io::Result<Option<(EtherAddress, Bytes)>> {
        let Some(Heard { frame, sender }) = self.card.receive(&mut self.buffer)? else {
            return Ok(None);
        };
        let [_, _, station @ ..] = sender.to_be_bytes();
        let frame = self.buffer.get(frame).unwrap_or_default();
        Ok(Some((station, Bytes::copy_from_slice(frame))))
    }

    /// What is said to one station; what that says comes by way of [`hear`](Self::hear).
    pub(crate) fn link_to(&self, station: EtherAddress) -> Box<dyn Link> {
        let card = Arc::clone(&self.card);
        Box::new(MediumLink::deaf(Ethernet { card, _membership: None, peer: station }))
    }
}

#[cfg(test)]
impl Ear {
    /// Hears what comes out of any socket as frames of Ethernet, header included.
    pub(crate) fn over(socket: Socket, own: EtherAddress) -> Self {
        socket.set_nonblocking(true).unwrap();
        let card = Card { socket, hears: Hears::Everybody, own, mtu: 1_500 };
        Self { card: Arc::new(card), buffer: vec![0; 2_000].into_boxed_slice() }
    }
}

/// Whom a socket hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hears {
    /// All others who speak to a group.
    Group(EtherAddress),
    /// What one station says to us.
    Station(EtherAddress),
    /// What any station says to us.
    Everybody,
}

impl Hears {
    /// Whom the frames are for, and who sent them if that is one, for a station called `own`.
    fn addresses(self, own: EtherAddress) -> (EtherAddress, Option<EtherAddress>) {
        match self {
            Self::Group(group) => (group, None),
            Self::Station(peer) => (own, Some(peer)),
            Self::Everybody => (own, None),
        }
    }
}

/// A socket below IP on one interface.
#[derive(Debug)]
struct Card {
    socket: Socket,
    hears: Hears,
    own: EtherAddress,
    mtu: usize,
}

impl Card {
    fn open(interface: &str, hears: Hears, buffer_octets: usize) -> io::Result<Self> {
        let protocol = Protocol::from(i32::from(ETHER_TYPE.to_be()));
        let socket = Socket::new(Domain::PACKET, Type::RAW, Some(protocol)).map_err(forbidden)?;
        let link = interface::link(interface)?;
        let own = link.addr().filter(|_| link.hatype() == ETHERNET);
        let own = own.ok_or_else(|| wrong(format!("{interface} is no Ethernet")))?;
        socket.set_nonblocking(true)?;
        let (to, from) = hears.addresses(own);
        let filter =
            filter(to, from).into_iter().map(|(code, jt, jf, k)| SockFilter::new(code, jt, jf, k));
        socket.attach_filter(&filter.collect::<Vec<_>>())?;
        bind(socket.as_raw_fd(), &link)?;
        // The system grants what it pleases.
        let _ = socket.set_recv_buffer_size(buffer_octets);
        let _ = socket.set_send_buffer_size(buffer_octets);
        forget_before(&socket);
        Ok(Self { socket, hears, own, mtu: interface::mtu(interface) })
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

    /// A socket may hold what came before it had its filter. A group says nothing to us by our own mouth, and is no
    /// station.
    fn is_for_us(&self, to: &[u8], from: &[u8]) -> bool {
        let (wanted, sender) = self.hears.addresses(self.own);
        let is_station = from.first().is_some_and(|first| first & 1 == 0);
        to == wanted && sender.is_none_or(|it| from == it) && from != self.own && is_station
    }
}

/// An instruction of the kernel's filters: what to do, how far to go on if it holds and if it does not, with which number.
type Instruction = (u16, u8, u8, u32);

/// The filter for frames to one address, and from one if that is given (Linux, `Documentation/networking/filter.rst`).
fn filter(to: EtherAddress, from: Option<EtherAddress>) -> Vec<Instruction> {
    const LOAD_WORD: u16 = 0x20;
    const LOAD_HALF: u16 = 0x28;
    const IS: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let is = |at: u32, [a, b, c, d, e, f]: EtherAddress| {
        let (word, half) =
            (u32::from_be_bytes([a, b, c, d]), u32::from(u16::from_be_bytes([e, f])));
        [(LOAD_WORD, at, word), (LOAD_HALF, at + 4, half)]
    };
    let comparisons: Vec<_> =
        is(0, to).into_iter().chain(from.into_iter().flat_map(|from| is(6, from))).collect();
    let mut program = Vec::new();
    for (place, (load, at, wanted)) in comparisons.iter().enumerate() {
        // Behind what is left to be compared stands the end of a frame that is taken, and then that of one that is not.
        let to_the_end = 2 * (comparisons.len() - place - 1) + 1;
        program.push((*load, 0, 0, *at));
        program.push((IS, 0, to_the_end as u8, *wanted));
    }
    program.extend([(RETURN, 0, 0, u32::MAX), (RETURN, 0, 0, 0)]);
    program
}

/// Whether several stations have this address.
fn is_group(address: EtherAddress) -> bool {
    FaceUri::Ether(address).is_shared()
}

/// A frame as it is sent, filled up if it is short.
pub(crate) fn framed(to: EtherAddress, from: EtherAddress, frame: &[u8]) -> Vec<u8> {
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
fn join(group: EtherAddress, link: &LinkAddr) -> io::Result<UdpSocket> {
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

    /// Whether a filter takes a frame.
    fn takes(program: &[Instruction], frame: &[u8]) -> bool {
        let (mut place, mut loaded) = (0, 0);
        loop {
            let (code, if_so, if_not, number) = program[place];
            let octets = |length| &frame[number as usize..][..length];
            place += 1;
            match code {
                0x20 => loaded = u32::from_be_bytes(octets(4).try_into().unwrap()),
                0x28 => loaded = u16::from_be_bytes(octets(2).try_into().unwrap()).into(),
                0x15 => place += usize::from(if loaded == number { if_so } else { if_not }),
                _ => return number != 0,
            }
        }
    }

    #[test]
    fn a_filter_takes_what_one_station_says_to_us_or_what_all_do() {
        let [own, peer, other] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [2, 9, 0, 0, 0, 2]];
        let frame = |to, from| framed(to, from, &[6, 0]);
        let one = filter(own, Some(peer));
        assert!(takes(&one, &frame(own, peer)));
        assert!(!takes(&one, &frame(own, other)) && !takes(&one, &frame(other, peer)));
        let all = filter(own, None);
        assert!(takes(&all, &frame(own, peer)) && takes(&all, &frame(own, other)));
        assert!(!takes(&all, &frame([0xFF; 6], peer)));
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
