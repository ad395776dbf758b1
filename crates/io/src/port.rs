//! Ports over UDP that several sockets may have.
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// A socket at an address and port of ours (port 0: any that is free) that others made so may share. What arrives is for
/// one that is connected to its sender, if there is one. Nobody else can have the port, or is given it by chance, so that
/// it can be held for another process.
///
/// # Errors
/// If the address is not ours, or somebody has it who shares it with nobody.
pub fn shared(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    // Elsewhere that only shares a port among different addresses.
    #[cfg(all(unix, not(target_os = "linux")))]
    socket.set_reuse_port(true)?;
    socket.bind(&local.into())?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Duration;

    #[test]
    fn who_is_connected_gets_what_its_peer_sends_and_others_cannot_have_the_port() {
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
