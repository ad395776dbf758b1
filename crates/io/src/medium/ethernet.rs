//! Ethernet without IP: frames of NDN's EtherType to one station, or to a group of stations on one interface.
//!
//! Source: NFD, `daemon/face/ethernet-transport.cpp` and `ethernet-protocol.hpp` (EtherType 0x8624, group
//! 01:00:5e:00:17:aa); packet(7).
//!
//! A socket receives its EtherType on one interface, filtered in the kernel to the frames of its
//! face. A group is joined through the IPv4 group with the same Ethernet address: NDN's is that of
//! 224.0.23.170.
//!
//! Differences: on-demand stations share the socket of their interface ([`StationReceiver`]), which separates
//! them by address; NFD opens a filtered socket for each.
use super::{Medium, MediumLink, Received};
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
const HEADER_BYTES: usize = 14;
/// Shortest frame without its checksum (IEEE 802.3). Virtual links do not fill shorter ones up, and NFD discards them.
const LEAST_BYTES: usize = 60;
/// The kind of hardware that has such addresses (ARPHRD_ETHER).
const ETHERNET: u16 = 1;
/// The first bytes of groups that stand for groups of IPv4 (RFC 1112, section 6.4).
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
        buffer_bytes: usize,
    ) -> io::Result<Self> {
        let interface = medium.interface.as_deref().ok_or_else(|| {
            wrong("Ethernet needs to know its interface: interface = \"eth0\"".to_owned())
        })?;
        let filter = if is_group(peer) { Filter::Group(peer) } else { Filter::Station(peer) };
        let card = Card::open(interface, filter, buffer_bytes)?;
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

    fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        self.card.receive(buffer)
    }

    fn mtu(&self) -> usize {
        self.card.mtu
    }

    fn local_address(&self) -> Option<SocketAddr> {
        None
    }
}

/// Receives from all stations that send to this one on an interface.
#[derive(Debug)]
pub(crate) struct StationReceiver {
    card: Arc<Card>,
    buffer: Box<[u8]>,
}

impl StationReceiver {
    /// Listens on the interface of that name.
    pub(super) fn open(interface: &str, buffer_bytes: usize) -> io::Result<Self> {
        let card = Arc::new(Card::open(interface, Filter::Any, buffer_bytes)?);
        let buffer = vec![0; HEADER_BYTES + LARGEST_FRAME_RECEIVED].into_boxed_slice();
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
    pub(crate) fn receive(&mut self) -> io::Result<Option<(EtherAddress, Bytes)>> {
        let Some(Received { frame, sender }) = self.card.receive(&mut self.buffer)? else {
            return Ok(None);
        };
        let [_, _, station @ ..] = sender.to_be_bytes();
        let frame = self.buffer.get(frame).unwrap_or_default();
        Ok(Some((station, Bytes::copy_from_slice(frame))))
    }

    /// A sender to one station; [`receive`](Self::receive) receives from it.
    pub(crate) fn link_to(&self, station: EtherAddress) -> Box<dyn Link> {
        let card = Arc::clone(&self.card);
        Box::new(MediumLink::deaf(Ethernet { card, _membership: None, peer: station }))
    }
}

#[cfg(test)]
impl StationReceiver {
    /// Treats the output of any socket as Ethernet frames with header.
    pub(crate) fn over(socket: Socket, own: EtherAddress) -> Self {
        socket.set_nonblocking(true).unwrap();
        let card = Card { socket, filter: Filter::Any, own, mtu: 1_500 };
        Self { card: Arc::new(card), buffer: vec![0; 2_000].into_boxed_slice() }
    }
}

/// Frames that a socket receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    /// Frames to a group.
    Group(EtherAddress),
    /// Frames from one station to this one.
    Station(EtherAddress),
    /// Frames from any station to this one.
    Any,
}

impl Filter {
    /// Destination, and source if it is a single station, of the frames for station `own`.
    fn addresses(self, own: EtherAddress) -> (EtherAddress, Option<EtherAddress>) {
        match self {
            Self::Group(group) => (group, None),
            Self::Station(peer) => (own, Some(peer)),
            Self::Any => (own, None),
        }
    }
}

/// A socket below IP on one interface.
#[derive(Debug)]
struct Card {
    socket: Socket,
    filter: Filter,
    own: EtherAddress,
    mtu: usize,
}

impl Card {
    fn open(interface: &str, filter: Filter, buffer_bytes: usize) -> io::Result<Self> {
        let protocol = Protocol::from(i32::from(ETHER_TYPE.to_be()));
        let socket = Socket::new(Domain::PACKET, Type::RAW, Some(protocol)).map_err(forbidden)?;
        let link = interface::link(interface)?;
        let own = link.addr().filter(|_| link.hatype() == ETHERNET);
        let own = own.ok_or_else(|| wrong(format!("{interface} is no Ethernet")))?;
        socket.set_nonblocking(true)?;
        let (to, from) = filter.addresses(own);
        let program =
            program(to, from).into_iter().map(|(code, jt, jf, k)| SockFilter::new(code, jt, jf, k));
        socket.attach_filter(&program.collect::<Vec<_>>())?;
        bind(socket.as_raw_fd(), &link)?;
        // The system grants what it pleases.
        let _ = socket.set_recv_buffer_size(buffer_bytes);
        let _ = socket.set_send_buffer_size(buffer_bytes);
        forget_before(&socket);
        Ok(Self { socket, filter, own, mtu: interface::mtu(interface) })
    }

    fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let length = (&self.socket).read(buffer)?;
        let Some((header, frame)) =
            buffer.get(..length).and_then(|it| it.split_at_checked(HEADER_BYTES))
        else {
            return Ok(None);
        };
        let (to, rest) = header.split_at(6);
        let from = &rest[..6];
        if !self.is_for_us(to, from) {
            return Ok(None);
        }
        let sender = from.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let frame = HEADER_BYTES..HEADER_BYTES + unpadded(frame);
        Ok(Some(Received { frame, sender }))
    }

    /// Checks a frame that arrived before the filter was set. A group never sends, and own frames
    /// are ignored.
    fn is_for_us(&self, to: &[u8], from: &[u8]) -> bool {
        let (wanted, sender) = self.filter.addresses(self.own);
        let is_station = from.first().is_some_and(|first| first & 1 == 0);
        to == wanted && sender.is_none_or(|it| from == it) && from != self.own && is_station
    }
}

/// An instruction of the kernel's filters: what to do, how far to go on if it holds and if it does not, with which number.
type Instruction = (u16, u8, u8, u32);

/// The filter for frames to one address, and from one if that is given (Linux, `Documentation/networking/filter.rst`).
fn program(to: EtherAddress, from: Option<EtherAddress>) -> Vec<Instruction> {
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
    let mut bytes = [to.as_slice(), &from, &ETHER_TYPE.to_be_bytes(), frame].concat();
    bytes.resize(bytes.len().max(LEAST_BYTES), 0);
    bytes
}

/// Strips the padding of short frames.
fn unpadded(frame: &[u8]) -> usize {
    let length = tlv::frame_len(frame).ok().flatten();
    length.filter(|length| *length <= frame.len()).unwrap_or(frame.len())
}

/// Discards frames received before the socket was bound to its interface.
fn forget_before(socket: &Socket) {
    let mut buffer = [0; HEADER_BYTES + LARGEST_FRAME_RECEIVED];
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
    fn padding_of_a_short_frame_is_stripped() {
        let frame = [0x06, 0x03, 1, 2, 3];
        let sent = framed([1; 6], [2; 6], &frame);
        assert_eq!((sent.len(), &sent[..HEADER_BYTES][12..]), (60, &[0x86, 0x24][..]));
        assert_eq!((unpadded(&frame), unpadded(&sent[HEADER_BYTES..])), (5, 5));
        assert_eq!(framed([1; 6], [2; 6], &[7; 1_500]).len(), 1_514);
        assert_eq!(unpadded(&[0x06, 0xFF]), 2, "what is no element is judged by the node");
    }

    /// Whether a filter takes a frame.
    fn takes(program: &[Instruction], frame: &[u8]) -> bool {
        let (mut place, mut loaded) = (0, 0);
        loop {
            let (code, if_so, if_not, number) = program[place];
            let bytes = |length| &frame[number as usize..][..length];
            place += 1;
            match code {
                0x20 => loaded = u32::from_be_bytes(bytes(4).try_into().unwrap()),
                0x28 => loaded = u16::from_be_bytes(bytes(2).try_into().unwrap()).into(),
                0x15 => place += usize::from(if loaded == number { if_so } else { if_not }),
                _ => return number != 0,
            }
        }
    }

    #[test]
    fn filter_accepts_one_station_or_all() {
        let [own, peer, other] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [2, 9, 0, 0, 0, 2]];
        let frame = |to, from| framed(to, from, &[6, 0]);
        let one = program(own, Some(peer));
        assert!(takes(&one, &frame(own, peer)));
        assert!(!takes(&one, &frame(own, other)) && !takes(&one, &frame(other, peer)));
        let all = program(own, None);
        assert!(takes(&all, &frame(own, peer)) && takes(&all, &frame(own, other)));
        assert!(!takes(&all, &frame([0xFF; 6], peer)));
    }

    #[test]
    fn open_reports_errors_before_sending() {
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
