//! Shares on the local network: announced and found by DNS-SD over multicast DNS (RFC 6763, RFC 6762).
//!
//! An announcement is no proof of anything: it claims an address, a key and a name of the
//! content. The code proves the key, and the key proves the content. A stranger can repeat the
//! key with an address of its own, so every announcement with the key counts, not the first one.
use super::code::Code;
use crate::error::{Exit, Failure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mdns_sd::{
    IfKind, Receiver, ResolvedService, ScopedIp, ServiceDaemon, ServiceEvent, ServiceInfo,
};
use recoup_io::face::FaceUri;
use std::collections::HashSet;
use std::net::IpAddr;
use std::time::Duration;

/// The type of the service.
const TYPE: &str = "_recoup-share._udp.local.";
/// Longest value of a property: a string of a TXT record has 255 bytes, its key included (RFC 6763, 6.1).
const MAX_VALUE_BYTES: usize = 240;
/// Longest time for the goodbye packet of an announcement.
const GOODBYE: Duration = Duration::from_millis(500);
/// Most addresses of one announcement that count.
const MAX_ADDRESSES: usize = 16;
/// Most offers of one search that count.
const MAX_OFFERS: usize = 1_024;

/// A share that is announced until this value is dropped.
pub(super) struct Announcement {
    daemon: ServiceDaemon,
    name: String,
}

/// A place of a share, according to its announcement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Offer {
    /// Announced face of the machine that has the share.
    pub face: FaceUri,
    /// Its public key, which has the code.
    pub key: Vec<u8>,
    /// Name of the file or folder, a component of a URI.
    pub file: String,
}

fn failed(error: &mdns_sd::Error) -> Failure {
    Failure::new(Exit::Local, format!("multicast DNS does not work here: {error}"))
        .advise("is the machine connected to a network?")
}

/// Announces a share: its code, its UDP port, its public key and what it is called. Only addresses of a family on which the
/// share listens are announced.
pub(super) fn announce(
    code: &Code,
    (port, has_ipv6): (u16, bool),
    key: &[u8],
    file: &str,
) -> Result<Announcement, Failure> {
    let daemon = ServiceDaemon::new().map_err(|error| failed(&error))?;
    let host = format!("recoup-{}.local.", code.bare());
    let encoded = BASE64_STANDARD.encode(key);
    let properties = [("key", encoded.as_str()), ("file", file)];
    let info = ServiceInfo::new(TYPE, code.bare(), &host, "", port, &properties[..]);
    let mut info = info.map_err(|error| failed(&error))?.enable_addr_auto();
    if !has_ipv6 {
        info.set_interfaces(vec![IfKind::IPv4]);
    }
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

/// The search for a share, until it is dropped.
pub(crate) struct Search {
    daemon: ServiceDaemon,
    events: Receiver<ServiceEvent>,
    code: Code,
    known: HashSet<Offer>,
    has_impostor: bool,
}

impl Search {
    /// Begins to look for the share with this code.
    pub(crate) fn begin(code: &Code) -> Result<Self, Failure> {
        let daemon = ServiceDaemon::new().map_err(|error| failed(&error))?;
        let events = daemon.browse(TYPE).map_err(|error| failed(&error))?;
        Ok(Self { daemon, events, code: code.clone(), known: HashSet::new(), has_impostor: false })
    }

    /// Offers that were announced since the last call. Announcements with another key are passed over.
    pub(crate) fn offers(&mut self) -> Vec<Offer> {
        let mut new = Vec::new();
        while let Ok(event) = self.events.try_recv() {
            let ServiceEvent::ServiceResolved(service) = event else {
                continue;
            };
            for offer in self.claims(&service) {
                if self.known.len() < MAX_OFFERS && self.known.insert(offer.clone()) {
                    new.push(offer);
                }
            }
        }
        new
    }

    fn claims(&mut self, service: &ResolvedService) -> Vec<Offer> {
        // The properties may arrive later than the addresses.
        let Some(text) = service.get_property_val_str("key") else {
            return Vec::new();
        };
        let key = BASE64_STANDARD.decode(text).ok();
        let key = key.filter(|key| Code::of_key(key).as_ref() == Some(&self.code));
        let file = service.get_property_val_str("file").filter(|file| is_announceable(file));
        let (Some(key), Some(file)) = (key, file) else {
            self.has_impostor |= service.fullname.starts_with(self.code.bare());
            return Vec::new();
        };
        let faces = service.get_addresses().iter().filter_map(|at| face(at, service.port));
        let offer = |face| Offer { face, key: key.clone(), file: file.to_owned() };
        faces.take(MAX_ADDRESSES).map(offer).collect()
    }

    /// The failure of a search without an offer.
    pub(crate) fn nothing(&self) -> Failure {
        let code = &self.code;
        if self.has_impostor {
            let message =
                format!("another machine announces {code} with a key that does not have this code");
            return Failure::new(Exit::Verification, message).advise("check the code");
        }
        Failure::new(Exit::NotFound, format!("no machine of this network shares {code}")).advise(
            "check the code, that `recoup share` still runs, and that both machines are in one network",
        )
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        let _ = self.daemon.shutdown();
    }
}

/// The face of an announced address. A link-local address of IPv6 is one only with the interface on which it was announced.
/// `None` if no other machine can be there.
fn face(address: &ScopedIp, port: u16) -> Option<FaceUri> {
    let (ip, interfaces) = match address {
        ScopedIp::V4(v4) => (IpAddr::V4(*v4.addr()), v4.interface_ids()),
        ScopedIp::V6(v6) => (IpAddr::V6(*v6.addr()), std::slice::from_ref(v6.scope_id())),
        _ => return None,
    };
    let is_broadcast = matches!(ip, IpAddr::V4(v4) if v4.is_broadcast());
    let is_own = || interfaces.iter().flat_map(|it| it.get_addrs()).any(|own| own.is_loopback());
    if ip.is_unspecified() || ip.is_multicast() || is_broadcast || (ip.is_loopback() && !is_own()) {
        return None;
    }
    face_at(ip, interfaces.first().map(|it| it.name.as_str()), port)
}

fn face_at(ip: IpAddr, interface: Option<&str>, port: u16) -> Option<FaceUri> {
    let text = match ip {
        IpAddr::V4(v4) => format!("udp4://{v4}:{port}"),
        IpAddr::V6(v6) if v6.is_unicast_link_local() => {
            let interface = interface.filter(|name| !name.is_empty())?;
            format!("udp6://[{v6}%{interface}]:{port}")
        }
        IpAddr::V6(v6) => format!("udp6://[{v6}]:{port}"),
    };
    text.parse().ok().filter(|_| port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_address_has_its_interface() {
        let face = |ip: &str, interface| {
            face_at(ip.parse().unwrap(), interface, 7).map(|face| face.to_string())
        };
        assert_eq!(face("fe80::1", Some("eth0")).as_deref(), Some("udp6://[fe80::1%eth0]:7"));
        assert_eq!(face("fe80::1", None), None);
        assert_eq!(face("fe80::1", Some("")), None);
        assert_eq!(face("2001:db8::1", Some("eth0")).as_deref(), Some("udp6://[2001:db8::1]:7"));
        assert_eq!(face("192.0.2.1", Some("eth0")).as_deref(), Some("udp4://192.0.2.1:7"));
        assert_eq!(face_at("192.0.2.1".parse().unwrap(), None, 0), None);
    }

    #[test]
    fn address_that_no_machine_has_is_no_face() {
        for ip in
            ["0.0.0.0", "255.255.255.255", "224.0.0.251", "127.0.0.1", "::", "ff02::fb", "::1"]
        {
            let address = ScopedIp::from(ip.parse::<IpAddr>().unwrap());
            assert_eq!(face(&address, 7), None, "{ip}");
        }
    }
}
