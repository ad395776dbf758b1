//! How a face is written: `udp://host:6363`, `tcp://host`, `unix:///run/nfd/nfd.sock`, …
use super::FaceError;
use crate::interface;
use recoup_transport::spec::nearest;
use recoup_transport::unit;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// Port of NDN over UDP and TCP, registered with IANA.
pub const DEFAULT_PORT: u16 = 6363;
/// Port of NDN's multicast groups of UDP, 224.0.23.170 and ff02::1234.
pub const DEFAULT_MULTICAST_PORT: u16 = 56_363;
/// Port of NDN over WebSocket, as NFD and ndnd listen on.
pub const DEFAULT_WEBSOCKET_PORT: u16 = 9696;

/// Address families that a host name may resolve to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4 or IPv6.
    Any,
    /// IPv4 only (`udp4`, `tcp4`).
    V4,
    /// IPv6 only (`udp6`, `tcp6`).
    V6,
}

/// A host and a port, not yet resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    /// Name or address; an IPv6 address stands here without brackets.
    pub host: String,
    /// Port; 0 when listening means any.
    pub port: u16,
    /// Kinds of address allowed.
    pub family: Family,
}

/// Where a face leads, or where to listen for peers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FaceUri {
    /// `udp://host:port`, `udp4://…`, `udp6://…`: unicast datagrams.
    Udp(Authority),
    /// `tcp://host:port`, `tcp4://…`, `tcp6://…`.
    Tcp(Authority),
    /// `unix:///path/to/socket`: a Unix stream socket.
    Unix(PathBuf),
    /// `ws://host:port/path`.
    WebSocket(Authority, String),
    /// `memory://name`: another driver in this process.
    Memory(String),
    /// `ether://[01:00:5e:00:17:aa]`: a station, or a group of stations, on Ethernet.
    Ether([u8; 6]),
    /// `dev://eth0`: an interface of Ethernet, where stations are listened to.
    Dev(String),
}

/// A face's text could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a face: {reason}{}", suggested(.intended.as_ref()))]
pub struct FaceUriError {
    /// The text.
    pub text: String,
    /// The rule that the text breaks.
    pub reason: &'static str,
    /// The face that was probably meant.
    pub intended: Option<String>,
}

fn suggested(intended: Option<&String>) -> String {
    intended.map_or_else(String::new, |face| format!("; did you mean {face}?"))
}

const ANY_PORT: &str = "port 0 is no destination: name the port of the peer";
const NO_ETHER: &str = "after ether:// stand six bytes in brackets: [01:00:5e:00:17:aa]";
// What leads to a neighbour inside this process is for programs that hold both ends, not for people.
const SCHEMES: &str = "it must begin with udp://, tcp://, unix://, ws://, ether:// or dev:// \
                       (udp4, udp6, tcp4 and tcp6 choose the kind of address)";

const NO_SCHEME: &str = "a face begins with udp://, tcp://, unix://, ws://, ether:// or dev://";

impl FaceUri {
    /// Whether it leads to a medium by itself and not to a socket of a peer: a multicast group, or anything on Ethernet.
    #[must_use]
    pub fn is_medium(&self) -> bool {
        match self {
            Self::Udp(to) => to.address().is_some_and(|address| address.is_multicast()),
            Self::Ether(_) => true,
            _ => false,
        }
    }

    /// Whether the face is a stream, which delivers everything in order or ends.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Unix(_) | Self::WebSocket(..) | Self::Memory(_))
    }

    /// Whether the URI names a multi-access medium.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        match self {
            // The first bit on the wire marks a group address.
            Self::Ether([first, ..]) => first & 1 == 1,
            other => other.is_medium(),
        }
    }

    /// A copy of this face for each address of its host. May wait for the resolver.
    ///
    /// # Errors
    /// If the name is unknown or has no address of the family.
    pub fn each(&self) -> Result<Vec<Self>, FaceError> {
        let all = |to: &Authority| {
            let mut all: Vec<Authority> = Vec::new();
            for address in to.resolve()?.into_iter().map(Authority::from) {
                if !all.contains(&address) {
                    all.push(address);
                }
            }
            Ok::<_, FaceError>(all)
        };
        Ok(match self {
            Self::Udp(to) => all(to)?.into_iter().map(Self::Udp).collect(),
            Self::Tcp(to) => all(to)?.into_iter().map(Self::Tcp).collect(),
            Self::WebSocket(to, path) => {
                all(to)?.into_iter().map(|to| Self::WebSocket(to, path.clone())).collect()
            }
            Self::Unix(_) | Self::Memory(_) | Self::Ether(_) | Self::Dev(_) => vec![self.clone()],
        })
    }

    /// Whether the system chooses the port, as only a listener may.
    #[must_use]
    pub fn is_any_port(&self) -> bool {
        matches!(self, Self::Udp(to) | Self::Tcp(to) | Self::WebSocket(to, _) if to.port == 0)
    }

    /// Whether the URI can name a peer.
    pub(crate) fn check_far(&self) -> Result<(), FaceUriError> {
        match self.is_any_port() {
            true => {
                let (text, reason) = (self.to_string(), ANY_PORT);
                Err(FaceUriError { text, reason, intended: None })
            }
            false => Ok(()),
        }
    }

    /// The numeric address, if no lookup is needed.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Udp(to) | Self::Tcp(to) | Self::WebSocket(to, _) => to.address(),
            Self::Unix(_) | Self::Memory(_) | Self::Ether(_) | Self::Dev(_) => None,
        }
    }
}

impl FromStr for FaceUri {
    type Err = FaceUriError;

    fn from_str(text: &str) -> Result<Self, FaceUriError> {
        parse(text).map_err(|reason| {
            let intended = intended(text);
            let reason = if intended.is_some() { NO_SCHEME } else { reason };
            FaceUriError { text: text.chars().take(200).collect(), reason, intended }
        })
    }
}

/// The face that a text without a known scheme stands for: the nearest scheme, a socket for a path, a port of this machine, or UDP for a host.
fn intended(text: &str) -> Option<String> {
    const KNOWN: [&str; 9] = ["udp", "udp4", "udp6", "tcp", "tcp4", "tcp6", "unix", "ws", "ether"];
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, _))
            if KNOWN.contains(&scheme) || ["dev", "memory", "wss"].contains(&scheme) =>
        {
            return None;
        }
        Some(("http" | "https", rest)) => ("ws", rest),
        Some((scheme, rest)) => (nearest(scheme, KNOWN)?, rest),
        None if text.starts_with('/') => ("unix", text),
        None if unit::whole::<u16>(text.strip_prefix(':').unwrap_or(text)).is_some() => {
            return Some(format!("udp://127.0.0.1:{}", text.trim_start_matches(':')));
        }
        None => match text.split_once(":/") {
            Some((scheme, rest)) => (nearest(scheme, KNOWN)?, rest.trim_start_matches('/')),
            None => ("udp", text),
        },
    };
    let bare_v6 = rest.parse::<Ipv6Addr>().is_ok();
    let host = if bare_v6 { format!("[{rest}]") } else { rest.to_owned() };
    // A single word may be anything: a host has a dot or a port, or is this machine.
    let is_host = bare_v6 || host == "localhost" || host.contains(['.', ':', '/', '[']);
    let face = format!("{scheme}://{host}");
    (is_host && parse(&face).is_ok() && face.len() <= 200).then_some(face)
}

fn parse(text: &str) -> Result<FaceUri, &'static str> {
    let (scheme, rest) = text.split_once("://").ok_or(SCHEMES)?;
    let authority = |family| authority(rest, DEFAULT_PORT, family);
    match scheme {
        "udp" => udp(rest, Family::Any),
        "udp4" => udp(rest, Family::V4),
        "udp6" => udp(rest, Family::V6),
        "tcp" => authority(Family::Any).map(FaceUri::Tcp),
        "tcp4" => authority(Family::V4).map(FaceUri::Tcp),
        "tcp6" => authority(Family::V6).map(FaceUri::Tcp),
        "unix" => unix(rest),
        "ws" => web_socket(rest),
        "wss" => Err("encrypted WebSockets (wss) are not supported; use ws://"),
        "memory" if rest.is_empty() => Err("a name is missing after memory://"),
        "memory" => Ok(FaceUri::Memory(rest.to_owned())),
        "dev" => dev(rest),
        "ether" => ether(rest).ok_or(NO_ETHER).map(FaceUri::Ether),
        _ => Err(SCHEMES),
    }
}

/// Groups have a port of their own.
fn udp(rest: &str, family: Family) -> Result<FaceUri, &'static str> {
    let to = FaceUri::Udp(authority(rest, DEFAULT_PORT, family)?);
    match to.is_medium() {
        true => authority(rest, DEFAULT_MULTICAST_PORT, family).map(FaceUri::Udp),
        false => Ok(to),
    }
}

/// The name of an interface: 1 to 15 bytes (IFNAMSIZ).
fn dev(name: &str) -> Result<FaceUri, &'static str> {
    let fits = |byte: u8| byte > b' ' && byte != b'/' && byte != 127;
    match (1..16).contains(&name.len()) && name.bytes().all(fits) {
        true => Ok(FaceUri::Dev(name.to_owned())),
        false => Err("after dev:// stands the name of an interface: dev://eth0"),
    }
}

/// Six bytes in hexadecimal digits between brackets.
fn ether(rest: &str) -> Option<[u8; 6]> {
    let text = rest.strip_prefix('[')?.strip_suffix(']')?;
    let byte = |digits: &str| {
        let plain = digits.len() == 2 && digits.bytes().all(|it| it.is_ascii_hexdigit());
        plain.then(|| u8::from_str_radix(digits, 16).ok())?
    };
    let bytes: Vec<u8> = text.split(':').map(byte).collect::<Option<_>>()?;
    bytes.try_into().ok()
}

/// An address of Ethernet, as it stands in a face.
pub(crate) fn ether_text(address: [u8; 6]) -> String {
    let bytes = address.map(|byte| format!("{byte:02x}"));
    format!("[{}]", bytes.join(":"))
}

fn unix(path: &str) -> Result<FaceUri, &'static str> {
    match path {
        "" | "/" => Err("the path of the socket is missing after unix://"),
        path if path.contains('\0') => Err("a path cannot contain a zero byte"),
        path => Ok(FaceUri::Unix(PathBuf::from(path))),
    }
}

fn web_socket(rest: &str) -> Result<FaceUri, &'static str> {
    let (address, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    if path.bytes().any(|byte| byte <= b' ' || byte == 127) {
        return Err("the path contains a space or a control character");
    }
    Ok(FaceUri::WebSocket(
        authority(address, DEFAULT_WEBSOCKET_PORT, Family::Any)?,
        path.to_owned(),
    ))
}

fn authority(text: &str, default: u16, family: Family) -> Result<Authority, &'static str> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => bracketed(rest)?,
        None => match text.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err("an IPv6 address needs brackets: [::1]:6363");
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.is_empty() {
        return Err("the host is missing");
    }
    if host.bytes().any(|byte| byte <= b' ' || byte == 127 || byte == b'/' || byte == b'@') {
        return Err("the host contains a character that no host has");
    }
    let port = match port {
        None => default,
        Some(port) => unit::whole(port).ok_or("the port must be a number from 0 to 65535")?,
    };
    Ok(Authority { host: host.to_owned(), port, family })
}

fn bracketed(rest: &str) -> Result<(&str, Option<&str>), &'static str> {
    let (host, after) = rest.split_once(']').ok_or("the closing bracket is missing")?;
    let bare = host.split_once('%').map_or(host, |(address, _)| address);
    if bare.parse::<Ipv6Addr>().is_err() {
        return Err("between the brackets must stand an IPv6 address");
    }
    match after.strip_prefix(':') {
        Some(port) => Ok((host, Some(port))),
        None if after.is_empty() => Ok((host, None)),
        None => Err("after the bracket may only stand a colon and a port"),
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for FaceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(to) => write!(f, "udp{}://{to}", to.family.digit()),
            Self::Tcp(to) => write!(f, "tcp{}://{to}", to.family.digit()),
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::WebSocket(to, path) => write!(f, "ws://{to}{path}"),
            Self::Memory(name) => write!(f, "memory://{name}"),
            Self::Ether(address) => write!(f, "ether://{}", ether_text(*address)),
            Self::Dev(interface) => write!(f, "dev://{interface}"),
        }
    }
}

impl Family {
    fn digit(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::V4 => "4",
            Self::V6 => "6",
        }
    }

    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    fn allows(self, address: &SocketAddr) -> bool {
        match self {
            Self::Any => true,
            Self::V4 => address.is_ipv4(),
            Self::V6 => address.is_ipv6(),
        }
    }
}

impl Authority {
    /// The host, if it is an address.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.host.split('%').next()?.parse().ok()
    }

    /// The addresses that the host stands for, in the resolver's order. May wait for the resolver.
    ///
    /// # Errors
    /// If the name is unknown or has no address of the family.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>, FaceError> {
        let unknown = |source| FaceError::Resolve { host: self.host.clone(), source: Some(source) };
        let all = (self.host.as_str(), self.port).to_socket_addrs().map_err(unknown)?;
        let usable: Vec<_> = all.filter(|address| self.family.allows(address)).collect();
        match usable.is_empty() {
            true => Err(FaceError::Resolve { host: self.host.clone(), source: None }),
            false => Ok(usable),
        }
    }
}

impl From<SocketAddr> for Authority {
    /// An address that means something on one interface only is written with its name: `fe80::1%eth0`.
    fn from(address: SocketAddr) -> Self {
        let ip = address.ip().to_canonical();
        let scope = match address {
            SocketAddr::V6(v6) if v6.scope_id() != 0 => Some(v6.scope_id()),
            _ => None,
        };
        let interface = scope.map(|it| interface::name_of(it).unwrap_or_else(|| it.to_string()));
        Self {
            host: interface.map_or_else(|| ip.to_string(), |name| format!("{ip}%{name}")),
            port: address.port(),
            family: Family::of(address.ip()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(text: &str) -> String {
        text.parse::<FaceUri>().unwrap().to_string()
    }

    #[test]
    fn every_kind_is_read_and_written_back() {
        for text in [
            "udp://example.net:6363",
            "udp4://127.0.0.1:1",
            "udp6://[::1]:6363",
            "tcp4://10.0.0.1:65535",
            "unix:///run/nfd/nfd.sock",
            "ws://localhost:9696/",
            "ws://[fe80::1]:80/a/b?c=d",
            "memory://pair",
            "udp6://[ff02::1234%eth0]:56363",
            "ether://[01:00:5e:00:17:aa]",
            "dev://eth0.7",
        ] {
            assert_eq!(round(text), text);
        }
        assert_eq!(round("ether://[02:00:5E:00:17:AA]"), "ether://[02:00:5e:00:17:aa]");
    }

    #[test]
    fn multi_access_uris_are_recognised() {
        let kind = |text: &str| {
            let uri: FaceUri = text.parse().unwrap();
            (uri.is_medium(), uri.is_shared())
        };
        for text in ["udp4://224.0.23.170", "udp6://[ff02::1234%lo]", "ether://[33:33:00:00:12:34]"]
        {
            assert_eq!(kind(text), (true, true), "{text}");
        }
        assert_eq!(kind("ether://[02:00:00:00:00:01]"), (true, false));
        for text in ["udp4://192.0.2.7", "udp://example.net", "tcp4://224.0.23.170", "memory://x"] {
            assert_eq!(kind(text), (false, false), "{text}");
        }
    }

    #[test]
    fn ports_have_defaults() {
        assert_eq!(round("udp://example.net"), "udp://example.net:6363");
        assert_eq!(round("udp4://224.0.23.170"), "udp4://224.0.23.170:56363");
        assert_eq!(round("udp4://224.0.23.170:7"), "udp4://224.0.23.170:7");
        assert_eq!(round("tcp6://[::1]/"), "tcp6://[::1]:6363");
        assert_eq!(round("ws://example.net"), "ws://example.net:9696/");
    }

    #[test]
    fn malformed_uris_are_rejected_with_a_reason() {
        for text in [
            "",
            "udp",
            "udp:/x",
            "http://x",
            "udp://",
            "udp://:1",
            "udp://a:b",
            "udp://a:70000",
            "udp://a:+6363",
            "udp://::1",
            "udp://[::1",
            "udp://[::1]6",
            "udp://[host]:1",
            "udp://a b",
            "unix://",
            "wss://a",
            "ws://a/ b",
            "memory://",
            "udp://a@b:1",
            "ether://01:00:5e:00:17:aa",
            "ether://[01:00:5e:00:17]",
            "ether://[01:00:5e:00:17:+a]",
            "ether://[01:00:5e:00:17:aa]:1",
            "dev://",
            "dev://eth0/1",
            "dev://longer-than-names-are",
        ] {
            let error = text.parse::<FaceUri>().unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn face_without_its_scheme_is_suggested() {
        let intended = |text: &str| text.parse::<FaceUri>().unwrap_err().intended;
        for (text, face) in [
            ("10.77.0.1", "udp://10.77.0.1"),
            ("10.77.0.1:6364", "udp://10.77.0.1:6364"),
            ("::1", "udp://[::1]"),
            ("localhost", "udp://localhost"),
            ("6363", "udp://127.0.0.1:6363"),
            (":6363", "udp://127.0.0.1:6363"),
            ("example.net", "udp://example.net"),
            ("upd://10.77.0.1", "udp://10.77.0.1"),
            ("TCP://10.77.0.1", "tcp://10.77.0.1"),
            ("udp:/10.77.0.1", "udp://10.77.0.1"),
            ("/run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
            ("http://example.net:9696", "ws://example.net:9696"),
        ] {
            assert_eq!(intended(text).as_deref(), Some(face), "{text}");
        }
        for text in
            ["", "movie", "udp://", "udp://a b", "wss://a.net", "a b.c", "gopher://a.net", "+6363"]
        {
            assert_eq!(intended(text), None, "{text}");
        }
    }

    #[test]
    fn link_local_address_names_its_interface() {
        let written = |scope| {
            let address = std::net::SocketAddrV6::new("fe80::1".parse().unwrap(), 7, 0, scope);
            FaceUri::Udp(Authority::from(SocketAddr::V6(address))).to_string()
        };
        assert_eq!(written(0), "udp6://[fe80::1]:7");
        // The loopback interface is the first.
        assert!(["udp6://[fe80::1%lo]:7", "udp6://[fe80::1%1]:7"].contains(&written(1).as_str()));
        assert_eq!(written(u32::MAX), "udp6://[fe80::1%4294967295]:7");
    }

    #[test]
    fn host_name_matches_each_of_its_addresses() {
        let each = |text: &str| -> Vec<String> {
            let uri: FaceUri = text.parse().unwrap();
            uri.each().unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(each("udp://127.0.0.1:7"), ["udp4://127.0.0.1:7"]);
        assert_eq!(each("ws://[::1]:7/x"), ["ws://[::1]:7/x"]);
        assert_eq!(each("unix:///x"), ["unix:///x"]);
        let local = each("tcp4://localhost:7");
        assert!(local.contains(&"tcp4://127.0.0.1:7".to_owned()), "{local:?}");
    }

    #[test]
    fn port_0_is_for_listeners() {
        for text in ["udp4://127.0.0.1:0", "tcp://localhost:0", "ws://[::1]:0"] {
            let uri: FaceUri = text.parse().unwrap();
            assert!(uri.check_far().unwrap_err().to_string().contains("port 0"), "{text}");
        }
        assert!("unix:///x".parse::<FaceUri>().unwrap().check_far().is_ok());
    }

    #[test]
    fn a_family_filters_addresses() {
        let to = |family| Authority { host: "127.0.0.1".into(), port: 1, family };
        assert_eq!(to(Family::V4).resolve().unwrap().len(), 1);
        assert!(matches!(to(Family::V6).resolve(), Err(FaceError::Resolve { source: None, .. })));
    }
}
