//! Registration with real forwarders: with NFD if `RECOUP_PEER_NFD` names its binary, with ndnd's if
//! `RECOUP_PEER_NDND` does. Each runs on a Unix socket of its own.
use recoup_forwarder::node::Node;
use recoup_io::driver::Driver;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::Report;
use recoup_transport::management::{ManagementError, Scope};
use recoup_transport::random::Rng;
use recoup_transport::registration::{Registration, RegistrationConfig};
use std::ffi::OsString;
use std::fs::{self, File};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant, SystemTime};

const NFD: &str = "\
general {}
tables {}
face_system { unix { path SOCKET } }
authorizations { authorize { certfile any privileges { faces fib strategy-choice } } }
rib { localhost_security { trust-anchor { type ANCHOR } } }
";

const NDND: &str = "\
core: { log_level: INFO }
faces:
  udp: { enabled_unicast: false, enabled_multicast: false, port_unicast: PORT }
  tcp: { enabled: false, port_unicast: PORT }
  unix: { enabled: true, socket_path: SOCKET }
  websocket: { enabled: false }
  http3: { enabled: false }
mgmt: { allow_localhop: false }
";

/// A forwarder that ends with the test.
struct Forwarder {
    folder: tempfile::TempDir,
    process: Child,
}

impl Forwarder {
    fn start(binary: &OsString, arguments: &[&str], config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let socket = folder.path().join("socket");
        let config = config.replace("SOCKET", socket.to_str().unwrap());
        let path = folder.path().join("config.yml");
        fs::write(&path, config.replace("PORT", &port.to_string())).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let process = Command::new(binary)
            .args(arguments)
            .arg(&path)
            .env("HOME", folder.path())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let forwarder = Self { folder, process };
        forwarder.wait_for(&socket);
        forwarder
    }

    fn wait_for(&self, socket: &Path) {
        let start = Instant::now();
        while !socket.exists() {
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "it does not start:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Outcome for each prefix, in order.
    fn register(&self, prefixes: &[&str]) -> Vec<(String, Result<(), ManagementError>)> {
        let mut driver = Driver::new().unwrap();
        let mut node = Node::deterministic(0);
        let socket = self.folder.path().join("socket");
        driver.connect(&format!("unix://{}", socket.display()).parse().unwrap()).unwrap();
        let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let registration = Registration::new(RegistrationConfig {
            prefixes: prefixes.iter().map(|prefix| prefix.parse().unwrap()).collect(),
            scope: Scope::Localhost,
            signer: Box::new(DigestSigner),
            cost: 0,
            time_of_day: driver.time_of_day(),
            rng: Rng::from_seed(epoch.subsec_nanos().into()),
        });
        node.attach(driver.now(), Box::new(registration), Vec::new());
        let mut outcomes = Vec::new();
        let start = Instant::now();
        while outcomes.len() < prefixes.len() {
            let turn = driver.turn(&mut node, &mut |_, _, output| {
                if let Report::Registered { prefix, outcome } = output {
                    outcomes.push((prefix.to_string(), outcome.map_err(|error| *error)));
                }
            });
            turn.unwrap();
            assert!(start.elapsed() < Duration::from_secs(120), "no outcome:\n{}", self.log());
        }
        outcomes
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn nfd(anchor: &str) -> Option<Forwarder> {
    let Some(binary) = std::env::var_os("RECOUP_PEER_NFD") else {
        eprintln!("skipped: RECOUP_PEER_NFD does not name the program nfd");
        return None;
    };
    Some(Forwarder::start(&binary, &["--config"], &NFD.replace("ANCHOR", anchor)))
}

#[test]
fn nfd_accepts_prefixes() {
    let Some(forwarder) = nfd("any") else { return };
    let long: String = "/x".repeat(33);
    let outcomes = forwarder.register(&["/a/v=1", "/b", "/", &long]);
    assert_eq!(outcomes[0], ("/a/v=1".to_owned(), Ok(())), "{}", forwarder.log());
    assert_eq!(outcomes[1], ("/b".to_owned(), Ok(())));
    assert_eq!(outcomes[2], ("/".to_owned(), Ok(())));
    assert!(
        matches!(outcomes[3].1, Err(ManagementError::Rejected { code: 414, .. })),
        "{:?}",
        outcomes[3]
    );
}

#[test]
fn nfd_without_trust_anchor_is_explained() {
    let Some(forwarder) = nfd("dir\n dir /nowhere") else {
        return;
    };
    let outcomes = forwarder.register(&["/a"]);
    let Err(error) = &outcomes[0].1 else { panic!("accepted: {}", forwarder.log()) };
    assert!(error.to_string().contains("rib.localhost_security"), "{error}\n{}", forwarder.log());
}

#[test]
fn ndnd_accepts_prefixes() {
    let Some(binary) = std::env::var_os("RECOUP_PEER_NDND") else {
        eprintln!("skipped: RECOUP_PEER_NDND does not name the program ndnd");
        return;
    };
    let forwarder = Forwarder::start(&binary, &["fw", "run"], NDND);
    let outcomes = forwarder.register(&["/a/v=1", "/b"]);
    let expected = [("/a/v=1".to_owned(), Ok(())), ("/b".to_owned(), Ok(()))];
    assert_eq!(outcomes, expected, "{}", forwarder.log());
}
