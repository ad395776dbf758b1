//! Many peers at once: descriptors are short, and connections stay idle.
use crate::forward::unix;
use crate::place::{Ends, Place, kill, noise, until};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A forwarder under limits of the shell, whose log is in the file `log`.
struct Limited<'a> {
    place: &'a Place,
    process: Ends,
    listening: Value,
}

impl<'a> Limited<'a> {
    /// Starts a forwarder that listens on Unix, TCP and UDP behind `ulimit`, with more in its configuration.
    fn start(place: &'a Place, ulimit: &str, more: &str) -> Self {
        let listen = [unix(place), "tcp://127.0.0.1:0".into(), "udp://127.0.0.1:0".into()];
        let listen = listen.map(|uri| format!("[[listen]]\nuri = \"{uri}\"\n")).concat();
        let node = "[node]\nmetrics = \"127.0.0.1:0\"\n";
        place.write("node.toml", format!("{node}{more}{listen}").as_bytes());
        let recoup = place.command("forward --config node.toml --json");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{ulimit}; exec \"$@\""), "sh"]).arg(recoup.get_program());
        command.args(recoup.get_args()).stdin(Stdio::null()).stdout(Stdio::piped());
        command.current_dir(place.path("")).stderr(File::create(place.path("log")).unwrap());
        let mut child = command.spawn().expect("the shell runs");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("it prints its address");
        let listening = serde_json::from_str(&line).unwrap_or_else(|_| {
            panic!("{line}{}", String::from_utf8_lossy(&place.read("log")));
        });
        Self { place, process: Ends(child), listening }
    }

    /// The address of the listener of that kind.
    fn address(&self, scheme: &str) -> SocketAddr {
        let faces = self.listening["faces"].as_array().expect("faces");
        let mut faces = faces.iter().filter_map(|face| face.as_str());
        let uri = faces.find(|face| face.starts_with(scheme)).expect("such a listener");
        uri.split_once("://").expect("a URI").1.parse().expect("an address")
    }

    fn status(&self) -> Value {
        let page = self.listening["metrics"].as_str().expect("a page");
        let address = page.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).expect("the page answers");
        write!(stream, "GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the page is whole");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).expect("a document")
    }

    /// Number of log lines with this text.
    fn logged(&self, piece: &str) -> usize {
        let logged = String::from_utf8(self.place.read("log")).expect("text");
        logged.lines().filter(|line| line.contains(piece)).count()
    }

    /// Fetches `/data` by way of a face.
    fn fetch(&self, uri: &str) {
        let words = format!("fetch /data -q --no-progress-timeout 300s --face {uri}");
        assert_eq!(self.place.run(&words).succeeds().stdout, self.place.read("data"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn soft_limit_of_descriptors_is_raised() {
    let place = Place::new();
    let forwarder = Limited::start(&place, "ulimit -Sn 64", "");
    let process = forwarder.process.0.id();
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let numbers: Vec<_> = line.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers[0], numbers[1], "{line}");
    let tcp = forwarder.address("tcp");
    let _open: Vec<_> = (0..100).map(|_| TcpStream::connect(tcp).unwrap()).collect();
    until("all of them are faces", || {
        forwarder.status()["faces"].as_array().map_or(0, Vec::len) > 100
    });
    kill(&forwarder.process.0, "TERM");
}

#[test]
fn exhausted_descriptors_close_idle_connections() {
    let place = Place::with("data", &noise(50_000));
    // Sockets of this side take what is not reserved for connections.
    let face =
        |number| format!("[[face]]\nname = \"{number}\"\nuri = \"udp://127.0.0.1:{number}\"\n");
    let faces: String = (20_000..20_040).map(face).collect();
    let more = format!("log = \"json\"\n{faces}");
    let forwarder = Limited::start(&place, "ulimit -n 100", &more);
    let tcp = forwarder.address("tcp");
    let connect = || TcpStream::connect(tcp).unwrap();
    let mut idle: Vec<_> = (0..60).map(|_| connect()).collect();
    std::thread::sleep(Duration::from_millis(1_500));
    idle.extend((0..5).map(|_| connect()));
    let face = unix(&place);
    let _server = place.serve(&format!("serve data --name /data --face {face}"));
    forwarder.fetch(&face);
    forwarder.fetch(&format!("tcp4://{tcp}"));
    until("a shortage", || {
        forwarder.status()["admission"]["descriptor_shortages"].as_u64() > Some(0)
    });
    until("the line", || forwarder.logged("\"short\":\"descriptors\"") > 0);
    assert_eq!(forwarder.logged("\"short\":\"descriptors\""), 1, "once in an episode");
}
