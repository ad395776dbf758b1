//! Hosts for which a gateway answers.
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The hosts for which a gateway answers: addresses of this machine, `localhost`, and further names.
///
/// A browser sends the host of the page. A foreign page whose host name leads to this machine (DNS rebinding) cannot read
/// content through the gateway, because its name is not among these.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Arc<BTreeSet<String>>);

impl FromIterator<String> for Hosts {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self(Arc::new(names.into_iter().map(|name| name.to_ascii_lowercase()).collect()))
    }
}

impl Hosts {
    /// Whether `authority`, the field `Host` of a request, is one of them. Any address is: only names can be rebound.
    #[must_use]
    pub fn contains(&self, authority: &str) -> bool {
        let Some(host) = host_of(authority) else { return false };
        let is_address = host.parse::<IpAddr>().is_ok()
            || host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).is_some_and(is_ipv6);
        let host = host.to_ascii_lowercase();
        is_address || host == "localhost" || self.0.contains(&host)
    }
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

/// The host of `host` or `host:port`.
fn host_of(authority: &str) -> Option<&str> {
    let end = authority.find(']').map_or(0, |end| end + 1);
    let (host, port) = match authority[end..].find(':') {
        Some(colon) => (&authority[..end + colon], &authority[end + colon + 1..]),
        None => (authority, ""),
    };
    port.bytes().all(|byte| byte.is_ascii_digit()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_is_answered_and_foreign_names_are_not() {
        let hosts: Hosts = ["Data.example".to_owned()].into_iter().collect();
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:8080",
            "192.0.2.7",
            "[::1]:8080",
            "[::1]",
            "data.example:80",
        ] {
            assert!(hosts.contains(host), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example:80", "", "localhost:80@evil", "[::1", "::1]"]
        {
            assert!(!hosts.contains(host), "{host}");
        }
    }
}
