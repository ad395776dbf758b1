//! Fetch commands for the served names, in the form that a user types.
use recoup::serve::Endpoint;
use recoup_io::face::{Authority, FaceUri, Family};
use recoup_io::port::outward_address;
use recoup_packet::name::Name;
use std::ffi::OsStr;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// Stands for an address that is not known.
const UNKNOWN_ADDRESS: &str = "ADDRESS";

/// Commands for users of this machine and for those of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Commands {
    local: Vec<String>,
    remote: Vec<String>,
}

impl Commands {
    /// Commands that fetch `name`, served from `path`.
    pub(super) fn new(name: &Name, path: &Path, endpoint: &Endpoint) -> Self {
        let mut commands = Self::default();
        let (local, remote) = fetches(name, path);
        if matches!(
            endpoint,
            Endpoint::DirectPort(_) | Endpoint::Forwarder { is_default: true, .. }
        ) {
            commands.local.push(local);
            return commands;
        }
        let by =
            |fetch: &str, face: &FaceUri| format!("{fetch} --face {}", quoted(&face.to_string()));
        for face in endpoint.faces() {
            let (near, far) = from_where(face);
            commands.local.extend(near.map(|face| by(&local, &face)));
            commands.remote.extend(far.map(|face| by(&remote, &face)));
        }
        commands
    }

    /// All complete commands; first the commands for this machine.
    pub(super) fn all(&self) -> Vec<String> {
        let all = self.local.iter().chain(&self.remote);
        all.filter(|command| !command.contains(UNKNOWN_ADDRESS)).cloned().collect()
    }
}

impl fmt::Display for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.local.iter().map(|command| ("fetch it with", command));
        let remote = self.remote.iter().map(|command| ("from other machines", command));
        for (place, (from, command)) in local.chain(remote).enumerate() {
            let end = if place == 0 { "" } else { "\n" };
            write!(f, "{end}{from}: {command}")?;
        }
        Ok(())
    }
}

/// The commands of this machine, where the original is in the way, and of others.
fn fetches(name: &Name, path: &Path) -> (String, String) {
    let recursive = if path.is_dir() { "-r " } else { "" };
    let fetch = |output: &str| {
        format!("recoup fetch {recursive}{} -o {}", quoted(&name.to_string()), quoted(output))
    };
    if path.as_os_str() == "-" {
        let fetch = format!("recoup fetch {} -o -", quoted(&name.to_string()));
        return (fetch.clone(), fetch);
    }
    let path = path.canonicalize().unwrap_or_default();
    let text = |part: Option<&OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let copy = match text(path.extension()) {
        Some(extension) if recursive.is_empty() => format!("copy.{extension}"),
        _ => "copy".to_owned(),
    };
    let original = text(path.file_name()).unwrap_or_else(|| copy.clone());
    (fetch(&copy), fetch(&original))
}

/// The face for consumers of this machine, and for consumers of other machines.
fn from_where(face: &FaceUri) -> (Option<FaceUri>, Option<FaceUri>) {
    match face.address() {
        Some(ip) if ip.is_unspecified() => {
            let at = |address: &str, family| at(face, address, family);
            // A listener at all addresses of IPv6 is one at all addresses of IPv4, too.
            let outward = outward_address(false);
            let outward = if ip.is_ipv6() { outward.or(outward_address(true)) } else { outward };
            let remote = outward.map_or(UNKNOWN_ADDRESS.into(), |address| address.to_string());
            let local: IpAddr = match ip {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            };
            (Some(at(&local.to_string(), Family::Any)), Some(at(&remote, Family::Any)))
        }
        Some(ip) if !ip.is_loopback() => (None, Some(face.clone())),
        _ => (Some(face.clone()), None),
    }
}

/// The face with another host.
fn at(face: &FaceUri, host: &str, family: Family) -> FaceUri {
    let at = |to: &Authority| Authority { host: host.to_owned(), port: to.port, family };
    match face {
        FaceUri::Udp(to) => FaceUri::Udp(at(to)),
        FaceUri::Tcp(to) => FaceUri::Tcp(at(to)),
        FaceUri::WebSocket(to, path) => FaceUri::WebSocket(at(to), path.clone()),
        other => other.clone(),
    }
}

/// A word as a shell reads it. Control characters would reach a terminal, so that a word with any is replaced.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:=%+@,".contains(c);
    let begins_plainly = !word.starts_with('-');
    match word {
        _ if word.chars().any(char::is_control) => "copy".into(),
        _ if word.chars().all(is_plain) && begins_plainly && !word.is_empty() => word.to_owned(),
        _ if begins_plainly => format!("'{}'", word.replace('\'', "'\\''")),
        _ => format!("'./{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(path: &str, endpoint: &Endpoint) -> Commands {
        Commands::new(&"/a/b".parse().unwrap(), Path::new(path), endpoint)
    }

    fn listeners(faces: &[&str]) -> Endpoint {
        Endpoint::Listeners(faces.iter().map(|face| face.parse().unwrap()).collect())
    }

    fn forwarder(face: &str, is_default: bool) -> Endpoint {
        Endpoint::Forwarder { face: face.parse().unwrap(), is_default }
    }

    #[test]
    fn a_default_place_needs_no_face() {
        let face = "udp4://127.0.0.1:6364";
        for endpoint in [Endpoint::DirectPort(face.parse().unwrap()), forwarder(face, true)] {
            let commands = commands("-", &endpoint);
            assert_eq!(commands.to_string(), "fetch it with: recoup fetch /a/b -o -");
        }
        let named = commands("-", &forwarder("unix:///run/x.sock", false));
        assert_eq!(named.all(), ["recoup fetch /a/b -o - --face unix:///run/x.sock"]);
    }

    #[test]
    fn a_wildcard_listener_names_two_addresses() {
        let commands = commands("-", &listeners(&["tcp4://0.0.0.0:7000"]));
        assert_eq!(commands.local, ["recoup fetch /a/b -o - --face tcp://127.0.0.1:7000"]);
        let [remote] = commands.remote.as_slice() else { panic!("{commands}") };
        assert!(!remote.contains("0.0.0.0") && remote.ends_with(":7000"), "{remote}");
        let commands = super::tests::commands("-", &listeners(&["udp4://192.0.2.7:6363"]));
        let expected = "from other machines: recoup fetch /a/b -o - --face udp4://192.0.2.7:6363";
        assert_eq!(commands.to_string(), expected);
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("movie.mkv"), "movie.mkv");
        assert_eq!(quoted("it's here"), "'it'\\''s here'");
        assert_eq!(quoted("-rf"), "'./-rf'");
        assert_eq!(quoted("a\u{1b}[2J"), "copy");
        assert_eq!(quoted("$(x)"), "'$(x)'");
    }

    #[test]
    fn the_original_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("my photos.d");
        std::fs::create_dir(&inner).unwrap();
        let faces = ["udp4://127.0.0.1:7000", "udp4://192.0.2.7:7000"];
        let commands = commands(inner.to_str().unwrap(), &listeners(&faces));
        let [local, remote] = commands.all().try_into().unwrap();
        assert_eq!(local, "recoup fetch -r /a/b -o copy --face udp4://127.0.0.1:7000");
        assert_eq!(remote, "recoup fetch -r /a/b -o 'my photos.d' --face udp4://192.0.2.7:7000");
        std::fs::write(folder.path().join("movie.mkv"), b"x").unwrap();
        let movie = folder.path().join("movie.mkv");
        let direct = Endpoint::DirectPort("udp://127.0.0.1".parse().unwrap());
        let commands = super::tests::commands(movie.to_str().unwrap(), &direct);
        assert_eq!(commands.all(), ["recoup fetch /a/b -o copy.mkv"]);
    }
}
