//! Hosts that browsers name in `Host` and `Origin`: nothing but `host[:port]`, with a scheme in front of an origin.
//!
//! Source: RFC 9110, section 7.2; RFC 6454, section 7. Difference: user information and paths are rejected instead of ignored, for
//! `http://localhost:80@evil.example` is a page of evil.example.
use recoup_transport::unit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host<'a> {
    Name(&'a str),
    Address(IpAddr),
}

impl<'a> Host<'a> {
    /// The host of `host` or `host:port`; `None` if the text is anything else.
    pub(crate) fn of_authority(text: &'a str) -> Option<Self> {
        let (host, rest) = match text.strip_prefix('[') {
            Some(inside) => {
                let (address, rest) = inside.split_once(']')?;
                (Self::Address(address.parse::<Ipv6Addr>().ok()?.into()), rest)
            }
            None => {
                let (name, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
                let address = name.parse::<Ipv4Addr>().map(|it| Self::Address(it.into()));
                (address.or_else(|_| name_of(name).ok_or(())).ok()?, rest)
            }
        };
        (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(host)
    }

    /// The host of an origin, `scheme://host` or `scheme://host:port`; `None` if the text is anything else.
    pub(crate) fn of_origin(text: &'a str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let is_scheme = |it: &str| {
            let rest = it.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it));
            it.starts_with(|it: char| it.is_ascii_alphabetic()) && rest
        };
        if is_scheme(scheme) { Self::of_authority(authority) } else { None }
    }

    /// Whether the host is this machine: `localhost`, or an address that leads back.
    pub(crate) fn is_this_machine(self) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Self::Address(address) => address.to_canonical().is_loopback(),
        }
    }
}

fn name_of(text: &str) -> Option<Host<'_>> {
    let is_letter = |it: u8| it.is_ascii_alphanumeric() || b"-._".contains(&it);
    (!text.is_empty() && text.bytes().all(is_letter)).then_some(Host::Name(text))
}

fn is_port(text: &str) -> bool {
    unit::whole::<u16>(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authority_is_a_host_and_a_port() {
        let address = |text: &str| Some(Host::Address(text.parse().unwrap()));
        for (text, host) in [
            ("localhost", Some(Host::Name("localhost"))),
            ("example.net:80", Some(Host::Name("example.net"))),
            ("192.0.2.7:9695", address("192.0.2.7")),
            ("[2001:db8::7]", address("2001:db8::7")),
            ("[::1]:80", address("::1")),
        ] {
            assert_eq!(Host::of_authority(text), host, "{text}");
        }
        for text in [
            "",
            ":80",
            "::1",
            "[::1",
            "[::1]]",
            "[localhost]",
            "[127.0.0.1]",
            "localhost:",
            "localhost:+80",
            "localhost:65536",
            "localhost/",
            "user@localhost",
            "localhost:80@evil.example",
            "local host",
        ] {
            assert_eq!(Host::of_authority(text), None, "{text}");
        }
    }

    #[test]
    fn origin_has_a_scheme() {
        assert!(Host::of_origin("http://localhost:80").is_some_and(Host::is_this_machine));
        assert!(Host::of_origin("https://example.net").is_some_and(|it| !it.is_this_machine()));
        for text in ["null", "localhost", "://localhost", "1://localhost", "ht tp://localhost"] {
            assert_eq!(Host::of_origin(text), None, "{text}");
        }
    }
}
