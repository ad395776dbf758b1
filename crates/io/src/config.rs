//! The client configuration that NDN programs on one machine share: address of the forwarder,
//! location of keys.
//!
//! Locations and order are those of ndn-cxx (manual page `ndn-client.conf`): an environment variable,
//! `~/.ndn/client.conf`, the system-wide `ndn/client.conf`, a default. Each setting carries its [`Origin`], so that a
//! message can name the line of the setting.
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Longest configuration file that is read, in bytes.
pub const MAX_CONFIG_BYTES: u64 = 1 << 20;

const SYSTEM_FILES: [&str; 2] = ["/usr/local/etc/ndn/client.conf", "/etc/ndn/client.conf"];
const RUN_SOCKET: &str = "/run/nfd/nfd.sock";
const LEGACY_SOCKETS: [&str; 2] = ["/var/run/nfd/nfd.sock", "/var/run/nfd.sock"];

/// The settings that ndn-cxx programs share, each with the place it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// URI of the face to the local forwarder, such as `unix:///run/nfd/nfd.sock`.
    pub transport: Setting,
    /// Locator of the public key store, such as `pib-sqlite3:/home/me/.ndn`; `None`: the default.
    pub pib: Option<Setting>,
    /// Locator of the private key store, such as `tpm-file:/home/me/.ndn`; `None`: the default.
    pub tpm: Option<Setting>,
}

/// A value and the place it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// As written there, without surrounding white space.
    pub value: String,
    /// The place.
    pub origin: Origin,
}

/// Where a [`Setting`] comes from. Prints as the end of a sentence: "taken from …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This environment variable.
    Variable(&'static str),
    /// This line, counted from 1, of this file.
    File(PathBuf, usize),
    /// Nothing is configured; a socket exists at this default place.
    Found,
    /// Nothing is configured and none of these default places has a socket; the first was taken.
    Assumed(Vec<PathBuf>),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the environment variable {name}"),
            Self::File(path, line) => write!(f, "{}, line {line}", path.display()),
            Self::Found => f.write_str("the default places"),
            Self::Assumed(tried) => {
                f.write_str("the default places, none of which has a socket:")?;
                tried.iter().enumerate().try_for_each(|(i, path)| {
                    write!(f, "{} {}", if i == 0 { "" } else { "," }, path.display())
                })
            }
        }
    }
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there but cannot be read.
    #[error("cannot read the client configuration {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A line is neither `key=value`, nor a comment, nor a section.
    #[error(
        "{}, line {line}: expected key=value, a comment beginning with ; or #, or a [section]",
        path.display()
    )]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// The file is longer than [`MAX_CONFIG_BYTES`].
    #[error("{} is longer than {MAX_CONFIG_BYTES} bytes: this is no client configuration", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
}

/// Variables and file system of the process, or a substitute.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// Put before every absolute path that is looked at; empty for the real file system.
    pub root: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Self {
        let names = ["NDN_CLIENT_TRANSPORT", "NDN_CLIENT_PIB", "NDN_CLIENT_TPM"];
        let variables = names
            .into_iter()
            .chain(["HOME", "XDG_RUNTIME_DIR"])
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
            .collect();
        Self { variables, root: PathBuf::new() }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    fn absolute_variable(&self, name: &str) -> Option<&Path> {
        self.variable(name).map(Path::new).filter(|path| path.is_absolute())
    }

    fn real(&self, path: &Path) -> PathBuf {
        if self.root.as_os_str().is_empty() {
            return path.to_owned();
        }
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn config_files(&self) -> Vec<PathBuf> {
        let home = self.absolute_variable("HOME").map(|home| home.join(".ndn/client.conf"));
        home.into_iter().chain(SYSTEM_FILES.map(PathBuf::from)).collect()
    }

    /// The sockets that a forwarder of this user may have: of the system, of the session, and in the home folder for users
    /// without a session, such as those of a container or of `su`.
    fn places(&self) -> impl Iterator<Item = PathBuf> {
        let below = |name, path| self.absolute_variable(name).map(|folder| folder.join(path));
        let session = below("XDG_RUNTIME_DIR", "nfd/nfd.sock");
        let home = below("HOME", ".ndn/nfd.sock");
        std::iter::once(PathBuf::from(RUN_SOCKET)).chain(session).chain(home)
    }

    fn sockets(&self) -> Vec<PathBuf> {
        self.places().chain(LEGACY_SOCKETS.map(PathBuf::from)).collect()
    }

    /// Where a forwarder of this user is to listen, so that others find it: at the first of the default places whose
    /// folder is there, or can be made, and lets a file be made in it. `None` if there is none.
    #[must_use]
    pub fn socket_to_serve(&self) -> Option<PathBuf> {
        let may_write = |path: &PathBuf| {
            let folder = path.parent();
            folder.is_some_and(|folder| {
                std::fs::create_dir_all(folder).is_ok() && tempfile::tempfile_in(folder).is_ok()
            })
        };
        self.places().map(|path| self.real(&path)).find(may_write)
    }

    fn default_transport(&self) -> Setting {
        let sockets = self.sockets();
        let found = sockets.iter().find(|path| self.real(path).exists());
        let path = found.or(sockets.first()).map(|path| self.real(path)).unwrap_or_default();
        let value = format!("unix://{}", path.display());
        let origin = if found.is_some() { Origin::Found } else { Origin::Assumed(sockets) };
        Setting { value, origin }
    }
}

impl ClientConfig {
    /// Reads the configuration of this process.
    ///
    /// # Errors
    /// [`ConfigError`] if the file that counts cannot be read or is malformed. That no file is
    /// there is no error.
    pub fn load() -> Result<Self, ConfigError> {
        Self::read(&Surroundings::of_process())
    }

    /// Reads the configuration from `surroundings`. Only the first file that exists counts, also
    /// for keys that it does not set, as in ndn-cxx.
    ///
    /// # Errors
    /// As [`ClientConfig::load`].
    pub fn read(surroundings: &Surroundings) -> Result<Self, ConfigError> {
        let mut file = first_file(surroundings)?;
        let mut setting = |variable: &'static str, key: &str| {
            let set = surroundings.variable(variable).map(|value| Setting {
                value: value.to_owned(),
                origin: Origin::Variable(variable),
            });
            set.or_else(|| file.remove(key).filter(|setting| !setting.value.is_empty()))
        };
        Ok(Self {
            transport: setting("NDN_CLIENT_TRANSPORT", "transport")
                .unwrap_or_else(|| surroundings.default_transport()),
            pib: setting("NDN_CLIENT_PIB", "pib"),
            tpm: setting("NDN_CLIENT_TPM", "tpm"),
        })
    }
}

fn first_file(surroundings: &Surroundings) -> Result<BTreeMap<String, Setting>, ConfigError> {
    for path in surroundings.config_files() {
        if let Some(text) = read_bounded(&surroundings.real(&path))? {
            return parse(&path, &text);
        }
    }
    Ok(BTreeMap::new())
}

/// The file's text, or `None` if there is no such file.
fn read_bounded(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
        opened => opened.map_err(unreadable)?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_CONFIG_BYTES {
        return Err(ConfigError::TooLong { path: path.to_owned() });
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The keys before the first section; the first of equal keys counts.
fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, Setting>, ConfigError> {
    let mut settings = BTreeMap::new();
    let mut in_section = false;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, content) in (1..).zip(text.lines().map(str::trim)) {
        if content.is_empty() || content.starts_with([';', '#']) {
            continue;
        }
        if content.starts_with('[') && content.ends_with(']') {
            in_section = true;
            continue;
        }
        let Some((key, value)) = content.split_once('=') else {
            return Err(ConfigError::Syntax { path: path.to_owned(), line });
        };
        if !in_section {
            let origin = Origin::File(path.to_owned(), line);
            let setting = Setting { value: value.trim().to_owned(), origin };
            settings.entry(key.trim().to_owned()).or_insert(setting);
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Host {
        dir: tempfile::TempDir,
        surroundings: Surroundings,
    }

    impl Host {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let variables = [("HOME".to_owned(), "/home/me".to_owned())].into();
            let surroundings = Surroundings { variables, root: dir.path().to_owned() };
            Self { dir, surroundings }
        }

        fn file(self, path: &str, text: &str) -> Self {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            self
        }

        fn variable(mut self, name: &str, value: &str) -> Self {
            self.surroundings.variables.insert(name.to_owned(), value.to_owned());
            self
        }

        fn read(&self) -> Result<ClientConfig, ConfigError> {
            ClientConfig::read(&self.surroundings)
        }
    }

    const HOME_CONF: &str = "home/me/.ndn/client.conf";

    #[test]
    fn the_variable_wins_over_the_file() {
        let host = Host::new()
            .file(HOME_CONF, "transport=tcp://a:1")
            .variable("NDN_CLIENT_TRANSPORT", "udp://b:2");
        let transport = host.read().unwrap().transport;
        assert_eq!(transport.value, "udp://b:2");
        assert_eq!(transport.origin.to_string(), "the environment variable NDN_CLIENT_TRANSPORT");
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let host = Host::new()
            .file(HOME_CONF, "transport=tcp://a:1")
            .variable("NDN_CLIENT_TRANSPORT", " ");
        assert_eq!(host.read().unwrap().transport.value, "tcp://a:1");
    }

    #[test]
    fn user_file_overrides_the_system_file() {
        let host = Host::new()
            .file(
                HOME_CONF,
                "; comment\r\n# another\r\n\r\n transport = tcp://a:1 \r\npib=pib-sqlite3:/p\r\n",
            )
            .file("etc/ndn/client.conf", "transport=tcp://etc:1\ntpm=tpm-file:/t");
        let config = host.read().unwrap();
        assert_eq!(config.transport.value, "tcp://a:1");
        assert_eq!(config.transport.origin.to_string(), "/home/me/.ndn/client.conf, line 4");
        assert_eq!(config.pib.unwrap().value, "pib-sqlite3:/p");
        assert_eq!(config.tpm, None, "only the first file counts");
    }

    #[test]
    fn first_existing_socket_is_the_default() {
        let host = Host::new()
            .variable("XDG_RUNTIME_DIR", "/run/user/7")
            .file("run/user/7/nfd/nfd.sock", "");
        let transport = host.read().unwrap().transport;
        assert!(transport.value.ends_with("/run/user/7/nfd/nfd.sock"), "{}", transport.value);
        assert_eq!(transport.origin, Origin::Found);
    }

    #[test]
    fn default_without_a_socket_lists_the_attempts() {
        let transport = Host::new().variable("XDG_RUNTIME_DIR", "/x").read().unwrap().transport;
        assert!(transport.value.starts_with("unix:///"), "{}", transport.value);
        assert!(transport.value.ends_with("/run/nfd/nfd.sock"));
        let text = transport.origin.to_string();
        assert!(
            text.contains(
                "/run/nfd/nfd.sock, /x/nfd/nfd.sock, /home/me/.ndn/nfd.sock, /var/run/nfd"
            ),
            "{text}"
        );
    }

    #[test]
    fn an_empty_or_commented_transport_means_the_default() {
        for text in ["", "transport=\n", ";transport=tcp://a:1\n", "[s]\ntransport=tcp://a:1\n"] {
            let config = Host::new().file(HOME_CONF, text).read().unwrap();
            assert!(matches!(config.transport.origin, Origin::Assumed(_)), "{text:?}");
        }
    }

    #[test]
    fn a_malformed_line_is_named() {
        let error = Host::new().file(HOME_CONF, "pib=x\nnonsense\n").read().unwrap_err();
        assert!(error.to_string().contains("client.conf, line 2"), "{error}");
    }

    #[test]
    fn hostile_files_are_bounded_and_never_panic() {
        let long = "a".repeat(MAX_CONFIG_BYTES as usize + 1);
        let error = Host::new().file(HOME_CONF, &long).read().unwrap_err();
        assert!(matches!(error, ConfigError::TooLong { .. }));
        let host = Host::new().file(HOME_CONF, "");
        fs::write(host.dir.path().join(HOME_CONF), [b't', b'=', 0xff, 0, 0xc3]).unwrap();
        assert!(host.read().is_ok());
    }

    #[test]
    fn unreadable_file_is_an_error() {
        let host = Host::new();
        fs::create_dir_all(host.dir.path().join(HOME_CONF)).unwrap();
        assert!(matches!(host.read(), Err(ConfigError::Unreadable { .. })));
    }

    #[test]
    fn relative_homes_are_ignored() {
        let host = Host::new().variable("HOME", "..").variable("XDG_RUNTIME_DIR", "x");
        let Origin::Assumed(tried) = host.read().unwrap().transport.origin else {
            panic!("nothing is configured")
        };
        assert!(tried.iter().all(|path| path.is_absolute()));
    }

    #[test]
    fn forwarder_listens_where_clients_search() {
        let mut host = Host::new();
        let served = host.surroundings.socket_to_serve();
        assert_eq!(served, Some(host.dir.path().join("run/nfd/nfd.sock")));
        // A file where the folder should be.
        fs::remove_dir_all(host.dir.path().join("run")).unwrap();
        fs::write(host.dir.path().join("run"), "").unwrap();
        let served = host.surroundings.socket_to_serve().unwrap();
        assert_eq!(served, host.dir.path().join("home/me/.ndn/nfd.sock"), "without a session");
        fs::write(&served, "").unwrap();
        let found = ClientConfig::read(&host.surroundings).unwrap().transport.value;
        assert_eq!(found, format!("unix://{}", served.display()));
        fs::remove_file(&served).unwrap();
        let variable = ("XDG_RUNTIME_DIR".to_owned(), "/user/7".to_owned());
        host.surroundings.variables.extend([variable]);
        let served = host.surroundings.socket_to_serve().unwrap();
        assert_eq!(served, host.dir.path().join("user/7/nfd/nfd.sock"));
        fs::write(&served, "").unwrap();
        let found = ClientConfig::read(&host.surroundings).unwrap().transport.value;
        assert_eq!(found, format!("unix://{}", served.display()));
        host.surroundings.variables.clear();
        assert_eq!(host.surroundings.socket_to_serve(), None);
    }
}
