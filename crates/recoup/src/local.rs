//! Producers and consumers of one machine without a forwarder: each producer listens at a port of its own, and a consumer
//! finds the one that has a name.
use crate::error::Result;
use crate::session;
use recoup_io::face::{Authority, FaceUri, Family};
use recoup_io::locate::{locate, locate_served};
use recoup_packet::interest::Interest;
use recoup_packet::metadata;
use recoup_packet::name::Name;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

/// UDP ports of producers, lowest first: NDN's port, and those behind it for further producers.
const PORTS: RangeInclusive<u16> = 6363..=6378;
/// Longest wait for the answers of several producers over the loopback interface.
const PATIENCE: Duration = Duration::from_millis(200);

/// The faces at which a producer may listen, in the order in which they are taken.
pub fn faces() -> impl Iterator<Item = FaceUri> {
    addresses().map(face)
}

/// The first of these faces.
pub fn first_face() -> FaceUri {
    face(address(*PORTS.start()))
}

/// The face of the producer that has `name`; the first face if there is none.
///
/// # Errors
/// If the system has no entropy.
pub fn face_of(name: &Name) -> Result<FaceUri> {
    let located = locate(&addresses().collect::<Vec<_>>(), &question(name)?, PATIENCE);
    Ok(located.map_or_else(first_face, face))
}

/// The face of the producer that has `name`, once there is one.
///
/// # Errors
/// If the system has no entropy.
pub fn served_face(name: &Name) -> Result<Option<FaceUri>> {
    let located = locate_served(&addresses().collect::<Vec<_>>(), &question(name)?, PATIENCE);
    Ok(located.map(face))
}

/// The Interest by which a producer of `name` is known.
fn question(name: &Name) -> Result<Interest> {
    let mut interest = Interest::new(metadata::discovery_name(name));
    (interest.can_be_prefix, interest.must_be_fresh) = (true, true);
    (interest.nonce, interest.lifetime) = (Some(session::seed()?.next_u32()), Some(PATIENCE));
    Ok(interest)
}

/// The ports in words, such as `6363 to 6378`.
pub fn ports() -> String {
    format!("{} to {}", PORTS.start(), PORTS.end())
}

fn addresses() -> impl Iterator<Item = SocketAddr> {
    PORTS.map(address)
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn face(address: SocketAddr) -> FaceUri {
    let (host, port) = (address.ip().to_string(), address.port());
    FaceUri::Udp(Authority { host, port, family: Family::Any })
}
