//! UDP ports that several sockets share, and dual-stack sockets.
use crate::interface::Interfaces;
use socket2::{Domain, Protocol, Socket, Type};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// A socket at a local address and port (port 0: any free one) that other sockets made by this
/// function may share. A frame goes to the socket that is connected to its sender, if there is one.
/// No other program can get the port, so it can be held for another process.
///
/// # Errors
/// If the address is not local, or in use without sharing.
pub fn shared(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    // Elsewhere that only shares a port among different addresses.
    #[cfg(all(unix, not(target_os = "linux")))]
    socket.set_reuse_port(true)?;
    socket.bind(&local.into())?;
    Ok(socket.into())
}

/// Whether a socket at all addresses of IPv6 is one at all addresses of IPv4, too. Where the system does not speak IPv6 there is
/// none.
#[must_use]
pub fn has_both_families() -> bool {
    at(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))).is_ok()
}

/// An address by which other machines reach this one: the source address toward the default route, or else an address of an
/// interface that is neither loopback nor confined to one link. `None` if there is none of this family.
#[must_use]
pub fn outward_address(is_ipv6: bool) -> Option<IpAddr> {
    let is_outward = |address: &IpAddr| {
        let is_confined = match address {
            IpAddr::V4(v4) => v4.is_link_local(),
            IpAddr::V6(v6) => v6.is_unicast_link_local(),
        };
        let is_family = address.is_ipv6() == is_ipv6;
        is_family && !is_confined && !address.is_loopback() && !address.is_unspecified()
    };
    let assigned = || Interfaces::of_system().ok()?.addresses().find(is_outward);
    routed(is_ipv6).filter(is_outward).or_else(assigned)
}

/// The source address toward the default route. Connecting a UDP socket sends no packet.
fn routed(is_ipv6: bool) -> Option<IpAddr> {
    // Addresses for documentation (RFC 5737, RFC 3849), which have no route of their own.
    let (any, far): (IpAddr, IpAddr) = match is_ipv6 {
        false => (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into()),
        true => {
            let far = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
            (Ipv6Addr::UNSPECIFIED.into(), far.into())
        }
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((far, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// The process that has a local port of UDP or TCP, as far as this process may see it: its name and number.
#[must_use]
pub fn holder(port: u16, is_udp: bool) -> Option<String> {
    let tables = if is_udp { ["udp", "udp6"] } else { ["tcp", "tcp6"] };
    let tables = tables.iter().filter_map(|it| fs::read_to_string(format!("/proc/net/{it}")).ok());
    let inodes: Vec<String> = tables.flat_map(|table| inodes(&table, port, is_udp)).collect();
    let is_number = |process: &fs::DirEntry| {
        process.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok())
    };
    let has_socket = |process: &fs::DirEntry| {
        let sockets = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        let mut sockets = sockets.filter_map(|fd| fs::read_link(fd.path()).ok());
        sockets.any(|it| inodes.iter().any(|inode| *it == *format!("socket:[{inode}]")))
    };
    let process = fs::read_dir("/proc").ok()?.flatten().filter(is_number).find(has_socket)?;
    let name = fs::read_to_string(process.path().join("comm")).ok()?;
    Some(format!("{}, process {}", name.trim_end(), process.file_name().display()))
}

/// The sockets at a port, in a table of the system (proc(5)): bound ones of UDP, listening ones of TCP.
fn inodes(table: &str, port: u16, is_udp: bool) -> Vec<String> {
    let (end, state) = (format!(":{port:04X}"), if is_udp { "07" } else { "0A" });
    let socket = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, _, of) = (fields.next()?, fields.next()?, fields.next()?);
        (local.ends_with(&end) && of == state).then(|| fields.nth(5).map(str::to_owned))?
    };
    table.lines().filter_map(socket).collect()
}

/// An unshared UDP socket.
pub(crate) fn at(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    make_dual_stack(&socket, local)?;
    socket.bind(&local.into())?;
    Ok(socket.into())
}

/// Makes a socket at all IPv6 addresses receive IPv4, whatever the system's default. Must precede
/// `bind`.
pub(crate) fn make_dual_stack(socket: &Socket, local: SocketAddr) -> io::Result<()> {
    match local.ip() {
        IpAddr::V6(ip) if ip.is_unspecified() => socket.set_only_v6(false),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    #[cfg(target_os = "linux")]
    fn holder_of_a_port_is_named() {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let tcp = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let ours = format!(", process {}", std::process::id());
        let ports = [(udp.local_addr(), true), (tcp.local_addr(), false)];
        for (port, is_udp) in ports.map(|(at, is_udp)| (at.unwrap().port(), is_udp)) {
            let named = holder(port, is_udp).unwrap();
            assert!(named.ends_with(&ours), "{named}");
        }
    }

    #[test]
    fn an_outward_address_is_not_loopback() {
        for is_ipv6 in [false, true] {
            let Some(address) = outward_address(is_ipv6) else { continue };
            assert_eq!(address.is_ipv6(), is_ipv6);
            assert!(!address.is_loopback() && !address.is_unspecified(), "{address}");
        }
    }

    #[test]
    fn connected_socket_gets_its_peers_frames() {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let peer = UdpSocket::bind(any).unwrap();
        let held = shared(any).unwrap();
        let port = held.local_addr().unwrap();
        assert!(UdpSocket::bind(port).is_err());
        let ours = shared(port).unwrap();
        ours.connect(peer.local_addr().unwrap()).unwrap();
        ours.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        peer.send_to(b"to us", port).unwrap();
        let mut buffer = [0; 10];
        assert_eq!(ours.recv(&mut buffer).unwrap(), 5);
    }
}
