//! A face on the command line: a number or a URI.
use crate::error::{Failure, face_failure};
use recoup_io::face::{Authority, FaceUri};
use recoup_transport::unit;
use std::net::IpAddr;
use std::str::FromStr;

/// A face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaceRef {
    /// Its number.
    Number(u64),
    /// Its URI.
    Uri(FaceUri),
    /// A URI that only the forwarder understands.
    Text(String),
}

impl FromStr for FaceRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(number) = unit::whole(text) {
            return Ok(Self::Number(number));
        }
        match text.parse::<FaceUri>() {
            Ok(FaceUri::Unix(_) | FaceUri::Memory(_) | FaceUri::Ether(_) | FaceUri::Dev(_)) => {
                Ok(Self::Text(text.to_owned()))
            }
            Ok(uri) => Ok(Self::Uri(uri)),
            Err(_) if text.contains("://") => Ok(Self::Text(text.to_owned())),
            Err(error) => Err(format!("it is no number of a face, and {error}")),
        }
    }
}

/// The faces to a peer: one face, or all that lead to its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// One face.
    Face(FaceRef),
    /// An IP address or an Ethernet station, as remote URIs have it.
    Host(String),
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.trim_matches(['[', ']']);
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(Self::Host(address.to_string()));
        }
        // hostapd names stations without brackets.
        match format!("ether://[{bare}]").parse::<FaceUri>() {
            Ok(FaceUri::Ether(_)) => Ok(Self::Host(bare.to_lowercase())),
            _ => text.parse().map(Self::Face),
        }
    }
}

impl Peer {
    /// Whether a remote URI leads to this host.
    pub(crate) fn is_at(&self, uri: &str) -> bool {
        let Self::Host(host) = self else { return false };
        let authority = uri.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split('/').next().unwrap_or_default();
        match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((inner, _)) => inner == host,
            None => authority.rsplit_once(':').map_or(authority, |(own, _)| own) == host,
        }
    }
}

/// The URI with an address instead of a host name, as forwarders write it.
pub(crate) fn canonical(uri: &FaceUri) -> Result<String, Failure> {
    let resolve = |to: &Authority| {
        let all = to.resolve().map_err(|error| face_failure(&error))?;
        let first = all.first().copied().map(Authority::from);
        first.ok_or_else(|| Failure::usage(format!("{uri} has no address")))
    };
    Ok(match uri {
        FaceUri::Udp(to) => FaceUri::Udp(resolve(to)?).to_string(),
        FaceUri::Tcp(to) => FaceUri::Tcp(resolve(to)?).to_string(),
        FaceUri::WebSocket(to, path) => FaceUri::WebSocket(resolve(to)?, path.clone()).to_string(),
        FaceUri::Unix(_) | FaceUri::Memory(_) | FaceUri::Ether(_) | FaceUri::Dev(_) => {
            uri.to_string()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_is_a_face_or_an_address() {
        let read = |text: &str| text.parse::<Peer>().unwrap();
        assert_eq!(read("262"), Peer::Face(FaceRef::Number(262)));
        assert!(matches!(read("udp4://192.0.2.7:6363"), Peer::Face(FaceRef::Uri(_))));
        assert!("north".parse::<Peer>().is_err());
        let v4 = read("192.0.2.7");
        assert!(v4.is_at("udp4://192.0.2.7:6363") && v4.is_at("ws://192.0.2.7:9696/x"));
        assert!(
            !v4.is_at("udp4://192.0.2.70:6363") && !v4.is_at("fd://20") && !v4.is_at("dev://x")
        );
        assert!(read("2001:db8::1").is_at("udp6://[2001:db8::1]:6363"));
        for text in ["02:00:00:00:00:0A", "[02:00:00:00:00:0a]"] {
            assert!(read(text).is_at("ether://[02:00:00:00:00:0a]"), "{text}");
        }
    }

    #[test]
    fn face_is_a_number_or_a_uri() {
        assert_eq!("262".parse(), Ok(FaceRef::Number(262)));
        assert!("+262".parse::<FaceRef>().is_err());
        assert_eq!("fd://20".parse(), Ok(FaceRef::Text("fd://20".into())));
        assert!(matches!("udp4://192.0.2.7".parse(), Ok(FaceRef::Uri(_))));
        let error = "north".parse::<FaceRef>().unwrap_err();
        assert!(error.contains("no number of a face"), "{error}");
        let uri = "udp://192.0.2.7".parse().unwrap();
        assert_eq!(canonical(&uri).unwrap(), "udp4://192.0.2.7:6363");
    }
}
