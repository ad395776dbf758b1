//! Shares on the local network: announced and found by DNS-SD over multicast DNS (RFC 6763, RFC 6762).
//!
//! An announcement is no proof of anything: it claims an address, a key and a name of the
//! content. The code proves the key, and the key proves the content.
use super::code::Code;
use crate::error::{Exit, Failure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mdns_sd::{ResolvedService, ServiceDaemon, ServiceEvent, ServiceInfo};
use recoup_io::face::FaceUri;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The type of the service.
const TYPE: &str = "_recoup-share._udp.local.";
/// Longest value of a property: a string of a TXT record has 255 bytes, its key included (RFC 6763, 6.1).
const MAX_VALUE_BYTES: usize = 240;
/// Longest time for the goodbye packet of an announcement.
const GOODBYE: Duration = Duration::from_millis(500);
/// Interval between two looks at signals.
const LOOK: Duration = Duration::from_millis(200);

/// A share that is announced until this value is dropped.
pub(super) struct Announcement {
    daemon: ServiceDaemon,
    name: String,
}

/// A share that was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Faces of the machine that has it, the most likely first.
    pub faces: Vec<FaceUri>,
    /// Its public key, which has the code.
    pub key: Vec<u8>,
    /// Name of the file or folder, a component of a URI.
    pub file: String,
}

fn failed(error: &mdns_sd::Error) -> Failure {
    Failure::new(Exit::Local, format!("multicast DNS does not work here: {error}"))
        .advise("is the machine connected to a network?")
}

/// Announces a share: its code, its UDP port, its public key and what it is called.
pub(super) fn announce(
    code: &Code,
    port: u16,
    key: &[u8],
    file: &str,
) -> Result<Announcement, Failure> {
    let daemon = ServiceDaemon::new().map_err(|error| failed(&error))?;
    let host = format!("recoup-{}.local.", code.bare());
    let encoded = BASE64_STANDARD.encode(key);
    let properties = [("key", encoded.as_str()), ("file", file)];
    let info = ServiceInfo::new(TYPE, code.bare(), &host, "", port, &properties[..]);
    let info = info.map_err(|error| failed(&error))?.enable_addr_auto();
    let name = info.get_fullname().to_owned();
    daemon.register(info).map_err(|error| failed(&error))?;
    Ok(Announcement { daemon, name })
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // Others learn that it is gone.
        if let Ok(gone) = self.daemon.unregister(&self.name) {
            let _ = gone.recv_timeout(GOODBYE);
        }
        let _ = self.daemon.shutdown();
    }
}

/// Whether a file can have this name in an announcement.
pub(super) fn is_announceable(file: &str) -> bool {
    file.len() <= MAX_VALUE_BYTES
}

/// Looks for the share with this code for so long. Announcements with another key are passed over.
pub(crate) fn find(
    code: &Code,
    patience: Duration,
    is_cancelled: &dyn Fn() -> Option<Failure>,
) -> Result<Found, Failure> {
    let daemon = ServiceDaemon::new().map_err(|error| failed(&error))?;
    let events = daemon.browse(TYPE).map_err(|error| failed(&error))?;
    let end = Instant::now() + patience;
    let mut has_impostor = false;
    let found = loop {
        if let Some(failure) = is_cancelled() {
            break Err(failure);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break Err(nothing(code, has_impostor));
        }
        let Ok(ServiceEvent::ServiceResolved(service)) = events.recv_timeout(left.min(LOOK)) else {
            continue;
        };
        match claim(&service) {
            Some(claim) if Code::of_key(&claim.key) == *code => break Ok(claim),
            _ => has_impostor |= service.fullname.starts_with(code.bare()),
        }
    };
    let _ = daemon.shutdown();
    found
}

fn nothing(code: &Code, has_impostor: bool) -> Failure {
    if has_impostor {
        let message =
            format!("another machine announces {code} with a key that does not have this code");
        return Failure::new(Exit::Verification, message).advise("check the code");
    }
    Failure::new(Exit::NotFound, format!("no machine of this network shares {code}")).advise(
        "check the code, that `recoup share` still runs, and that both machines are in one network",
    )
}

/// The claim of an announcement; `None` if it is none of ours.
fn claim(service: &ResolvedService) -> Option<Found> {
    let key = BASE64_STANDARD.decode(service.get_property_val_str("key")?).ok()?;
    let file = service.get_property_val_str("file").filter(|file| is_announceable(file))?;
    let mut addresses: Vec<_> = service.get_addresses().iter().map(|it| it.to_ip_addr()).collect();
    addresses.sort_by_key(|address| (is_link_local(address), address.is_ipv6(), *address));
    let face = |address: IpAddr| match address {
        IpAddr::V4(address) => format!("udp://{address}:{}", service.port).parse().ok(),
        IpAddr::V6(address) => format!("udp://[{address}]:{}", service.port).parse().ok(),
    };
    let faces: Vec<_> = addresses.into_iter().filter_map(face).collect();
    Some(Found { faces, key, file: file.to_owned() })
}

/// Addresses that only mean something beside an interface.
fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}
