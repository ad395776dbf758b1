//! A UDP multicast group on one link.
//!
//! Source: NFD, `daemon/face/multicast-udp-transport.cpp` (two sockets, a time to live of 1) and its default groups
//! 224.0.23.170 and ff02::1234, port 56363.
//!
//! Differences: frames leave from a port of their own instead of the group's. Hence nodes on one
//! machine are distinguishable and a node recognises its own frames.
//!
//! As in NFD the longest packet leaves in one datagram, which IP cuts where the link is narrower: NFD puts no fragments of
//! NDNLPv2 together that come from a group.
use super::{Medium, Received};
use crate::face::{LARGEST_FRAME_SENT, MediumOptions};
use rustix::net::{netdevice, sockopt};
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// A group that was joined on one interface.
#[derive(Debug)]
pub(super) struct Group {
    /// Receives frames to the group.
    receiver: UdpSocket,
    /// Speaks to the group.
    sender: UdpSocket,
    /// Source address of own frames.
    own: SocketAddr,
}

impl Group {
    /// Joins `group` on the interface of that name, or on the one that the system chooses.
    pub(super) fn join(
        group: SocketAddr,
        medium: &MediumOptions,
        buffer_bytes: usize,
    ) -> io::Result<Self> {
        let new = || Socket::new(Domain::for_address(group), Type::DGRAM, Some(Protocol::UDP));
        let (receiver, sender) = (new()?, new()?);
        let index = match &medium.interface {
            Some(name) => netdevice::name_to_index(&receiver, name)?,
            None => 0,
        };
        let group = on_link(group, index);
        receiver.set_reuse_address(true)?;
        match group {
            SocketAddr::V4(at) => {
                receiver.join_multicast_v4_n(at.ip(), &InterfaceIndexOrAddress::Index(index))?;
                let any = &Ipv4Addr::UNSPECIFIED;
                sockopt::set_ip_multicast_if_with_ifindex(&sender, any, any, index)?;
                sender.set_multicast_loop_v4(medium.loopback)?;
                // What was joined on another interface is for another face.
                receiver.set_multicast_all_v4(false)?;
            }
            SocketAddr::V6(at) if at.scope_id() == 0 => return Err(no_interface()),
            SocketAddr::V6(at) => {
                receiver.set_only_v6(true)?;
                receiver.join_multicast_v6(at.ip(), at.scope_id())?;
                sender.set_multicast_if_v6(at.scope_id())?;
                sender.set_multicast_loop_v6(medium.loopback)?;
            }
        }
        // The system grants what it pleases.
        let _ = receiver.set_recv_buffer_size(buffer_bytes);
        let _ = sender.set_send_buffer_size(buffer_bytes);
        receiver.bind(&group.into())?;
        sender.connect(&group.into())?;
        let (receiver, sender) = (UdpSocket::from(receiver), UdpSocket::from(sender));
        receiver.set_nonblocking(true)?;
        sender.set_nonblocking(true)?;
        let own = sender.local_addr()?;
        Ok(Self { receiver, sender, own })
    }
}

impl Medium for Group {
    fn fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }

    fn send(&self, frame: &[u8]) -> io::Result<()> {
        self.sender.send(frame).map(|_| ())
    }

    fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let (length, from) = self.receiver.recv_from(buffer)?;
        let is_own = (from.ip(), from.port()) == (self.own.ip(), self.own.port());
        Ok((!is_own).then(|| Received { frame: 0..length, sender: number(from) }))
    }

    fn mtu(&self) -> usize {
        LARGEST_FRAME_SENT
    }

    fn local_address(&self) -> Option<SocketAddr> {
        Some(self.own)
    }
}

/// An address of IPv6 means something on one interface only.
fn on_link(group: SocketAddr, index: u32) -> SocketAddr {
    match group {
        SocketAddr::V6(at) if index != 0 => {
            SocketAddrV6::new(*at.ip(), at.port(), at.flowinfo(), index).into()
        }
        group => group,
    }
}

fn no_interface() -> io::Error {
    let what = "a group of IPv6 needs an interface: interface = \"eth0\", or [ff02::1234%eth0]";
    io::Error::new(ErrorKind::InvalidInput, what)
}

/// Number of a sender; nodes of one link differ in the lower half of an IPv6 address.
fn number(from: SocketAddr) -> u64 {
    let port = u64::from(from.port()) << 48;
    match from.ip() {
        IpAddr::V4(ip) => port ^ u64::from(u32::from(ip)),
        IpAddr::V6(ip) => port ^ folded(ip),
    }
}

fn folded(ip: Ipv6Addr) -> u64 {
    let whole = u128::from(ip);
    (whole >> 64) as u64 ^ whole as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_differ_by_address_and_by_port() {
        let of = |text: &str| number(text.parse().unwrap());
        let all =
            ["192.0.2.1:1", "192.0.2.2:1", "192.0.2.1:2", "[fe80::1]:1", "[fe80::2]:1"].map(of);
        for (place, one) in all.iter().enumerate() {
            assert!(!all[..place].contains(one));
        }
    }

    #[test]
    fn ipv6_group_needs_an_interface() {
        let group = "[ff02::1234]:56363".parse().unwrap();
        let failed = Group::join(group, &MediumOptions::default(), 1 << 16).unwrap_err();
        assert!(failed.to_string().contains("needs an interface"), "{failed}");
    }
}
