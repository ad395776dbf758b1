//! URIs of faces as forwarders list them.
//!
//! Source: NFD's wiki page "FaceMgmt", "canonical FaceUri". ndnd also accepts incomplete URIs, which it completes.
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

/// The port of NDN over UDP and TCP.
const PORT: u16 = 6363;

/// A URI with the family of its address and a port: `udp4://192.0.2.7:6363` for `udp://192.0.2.7`.
///
/// Host names and unknown schemes are left unchanged.
#[must_use]
pub fn canonical_uri(uri: &str) -> Cow<'_, str> {
    complete(uri).map_or(Cow::Borrowed(uri), Cow::Owned)
}

fn complete(uri: &str) -> Option<String> {
    let (scheme, authority) = uri.split_once("://")?;
    let (transport, family) = ["udp", "tcp"]
        .into_iter()
        .find_map(|transport| Some((transport, scheme.strip_prefix(transport)?)))?;
    let to = address(authority.strip_suffix('/').unwrap_or(authority))?;
    let found = if to.is_ipv4() { "4" } else { "6" };
    (family.is_empty() || family == found).then(|| format!("{transport}{found}://{to}"))
}

fn address(authority: &str) -> Option<SocketAddr> {
    let bare = || {
        let inner = authority.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let ip: IpAddr = inner.unwrap_or(authority).parse().ok()?;
        Some(SocketAddr::new(ip, PORT))
    };
    authority.parse().ok().or_else(bare)
}

#[cfg(test)]
mod tests {
    use super::canonical_uri;

    #[test]
    fn family_and_port_are_completed() {
        for (given, listed) in [
            ("udp://192.0.2.7:7000", "udp4://192.0.2.7:7000"),
            ("tcp://192.0.2.7", "tcp4://192.0.2.7:6363"),
            ("udp4://192.0.2.7/", "udp4://192.0.2.7:6363"),
            ("udp://[2001:db8::1]", "udp6://[2001:db8::1]:6363"),
            ("tcp://[2001:DB8:0::1]:7", "tcp6://[2001:db8::1]:7"),
        ] {
            assert_eq!(canonical_uri(given), listed);
        }
    }

    #[test]
    fn canonical_uris_are_unchanged() {
        for uri in [
            "udp4://192.0.2.7:6363",
            "udp6://192.0.2.7:6363",
            "udp://node.example:6363",
            "ws://192.0.2.7:9696",
            "unix:///run/nfd/nfd.sock",
            "fd://9",
            "udp://",
            "",
        ] {
            assert_eq!(canonical_uri(uri), uri);
        }
    }
}
