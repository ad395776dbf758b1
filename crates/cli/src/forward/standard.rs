//! The default configuration: listeners at the standard addresses.
use super::config::Listen;
use recoup_io::config::Surroundings;
use recoup_io::face::FaceUri;
use recoup_io::port::has_both_families;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Ports of NDN over UDP, TCP and WebSocket, at all addresses of both families.
const PORTS: [&str; 3] = ["udp6://[::]:6363", "tcp6://[::]:6363", "ws://[::]:9696"];
/// The standard ports without IPv6.
const PORTS_V4: [&str; 3] = ["udp4://0.0.0.0:6363", "tcp4://0.0.0.0:6363", "ws://0.0.0.0:9696"];
/// Folder of the system-wide socket.
const RUN: &str = "/run";

/// The configuration as the text of a file.
pub(super) fn text() -> String {
    with(Surroundings::of_process().socket_to_serve(), has_both_families())
}

fn with(socket: Option<PathBuf>, both_families: bool) -> String {
    let ports = if both_families { PORTS } else { PORTS_V4 };
    let socket = socket.map(|path| format!("unix://{}", path.display()));
    let places = socket.into_iter().chain(ports.map(str::to_owned));
    places.map(|uri| format!("[[listen]]\nuri = {uri:?}\n")).collect()
}

/// Makes the system-wide socket writable for all users, as NFD does.
pub(super) fn let_everybody_in(listen: &[Listen]) {
    for Listen { uri, .. } in listen {
        if let FaceUri::Unix(path) = uri
            && path.starts_with(Path::new(RUN).join("nfd"))
        {
            // If this fails, only the user of the forwarder can connect.
            let _ = set_permissions(path, Permissions::from_mode(0o666));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::config::ForwardConfig;

    #[test]
    fn standard_configuration_is_valid_without_socket_or_ipv6() {
        for (socket, places) in [(None, 3), (Some("/run/user/7/nfd/nfd.sock"), 4)] {
            for both_families in [false, true] {
                let text = with(socket.map(PathBuf::from), both_families);
                let config = ForwardConfig::parse("standard", &text).unwrap();
                assert_eq!(config.listen.len(), places, "{text}");
                let in_v6 = |it: &&Listen| it.uri.address().is_some_and(|ip| ip.is_ipv6());
                let in_v6 = config.listen.iter().filter(in_v6).count();
                assert_eq!(in_v6, if both_families { 3 } else { 0 }, "{text}");
            }
        }
    }
}
