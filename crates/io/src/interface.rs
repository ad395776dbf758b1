//! The network interfaces of this machine, with their addresses and a signal of changes.
//!
//! A netlink socket reports only *that* something has changed. All state is read anew, so a lost
//! notification does no harm.
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::LinkAddr;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Notices of links, IPv4 addresses and IPv6 addresses (RTMGRP_LINK, …_IPV4_IFADDR, …_IPV6_IFADDR).
const GROUPS: u32 = 0x1 | 0x10 | 0x100;
/// MTU of Ethernet if the system does not report one.
const ETHERNET_MTU: usize = 1_500;

/// The interfaces as they are at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interfaces {
    /// By name, those that carry something.
    up: BTreeMap<String, BTreeSet<IpAddr>>,
}

impl Interfaces {
    /// Asks the system.
    ///
    /// # Errors
    /// If the system does not list its interfaces.
    pub(crate) fn of_system() -> io::Result<Self> {
        let mut up: BTreeMap<String, BTreeSet<IpAddr>> = BTreeMap::new();
        let carries = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
        for entry in getifaddrs()?.filter(|entry| entry.flags.contains(carries)) {
            let addresses = up.entry(entry.interface_name).or_default();
            let Some(address) = entry.address else {
                continue;
            };
            let v4 = address.as_sockaddr_in().map(|at| IpAddr::V4(at.ip()));
            addresses.extend(v4.or_else(|| address.as_sockaddr_in6().map(|at| at.ip().into())));
        }
        Ok(Self { up })
    }

    /// Whether an interface is there, is up, and has something on its other side.
    pub(crate) fn is_up(&self, name: &str) -> bool {
        self.up.contains_key(name)
    }

    /// The addresses of interfaces that are up.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = IpAddr> + '_ {
        self.up.values().flatten().copied()
    }

    /// Whether an interface that is up has this address. Every loopback address is there, whichever is written down.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_loopback() || self.up.values().any(|addresses| addresses.contains(&address))
    }
}

/// Reports changes of interfaces.
#[derive(Debug)]
pub(crate) struct InterfaceWatch {
    socket: OwnedFd,
}

impl InterfaceWatch {
    /// Begins watching.
    ///
    /// # Errors
    /// If the system has no such notices or denies them.
    pub(crate) fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket =
            rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, GROUPS))?;
        Ok(Self { socket })
    }

    /// To be waited on.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Discards all notices. An overflow counts as a change.
    pub(crate) fn clear(&self) {
        let mut buffer = [0_u8; 8_192];
        loop {
            match rustix::net::recv(&self.socket, &mut buffer, RecvFlags::DONTWAIT) {
                Ok(_) | Err(rustix::io::Errno::NOBUFS | rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

/// Name of an interface.
pub(crate) fn name_of(index: u32) -> Option<String> {
    let kind = (AddressFamily::INET6, SocketType::DGRAM);
    let socket = rustix::net::socket(kind.0, kind.1, None).ok()?;
    rustix::net::netdevice::index_to_name(socket, index).ok()
}

/// The address of an interface below IP.
///
/// # Errors
/// If the interface does not exist, or lacks a link-layer address.
pub(crate) fn link(name: &str) -> io::Result<LinkAddr> {
    let of_name = getifaddrs()?.filter(|entry| entry.interface_name == name);
    let mut links = of_name.filter_map(|entry| entry.address?.as_link_addr().copied());
    links.next().ok_or_else(|| {
        io::Error::new(ErrorKind::NotFound, format!("there is no interface called {name}"))
    })
}

/// Longest frame that an interface carries, in bytes, without the header of the link.
pub(crate) fn mtu(name: &str) -> usize {
    let path = format!("/sys/class/net/{name}/mtu");
    let reported = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
    reported.unwrap_or(ETHERNET_MTU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_its_address() {
        let interfaces = Interfaces::of_system().unwrap();
        assert!(interfaces.up["lo"].contains(&"127.0.0.1".parse().unwrap()));
        assert!(interfaces.has("::ffff:127.0.0.2".parse().unwrap()));
        assert!(!interfaces.has("192.0.2.77".parse().unwrap()));
        assert!(interfaces.is_up("lo") && !interfaces.is_up("no-such-if"));
        assert!(mtu("lo") >= ETHERNET_MTU && mtu("no-such-if") == ETHERNET_MTU);
    }

    #[test]
    fn a_missing_interface_is_named() {
        assert!(link("no-such-if").unwrap_err().to_string().contains("no-such-if"));
        let lo = link("lo").unwrap();
        assert_eq!(lo.addr(), Some([0; 6]));
        assert_eq!(name_of(lo.ifindex() as u32).as_deref(), Some("lo"));
        assert_eq!(name_of(u32::MAX), None);
    }
}
