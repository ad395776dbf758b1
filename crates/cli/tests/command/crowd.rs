//! Many peers at once: Interests from many addresses, connections that stay idle, and applications that quit.
use crate::forward::{forwarder, unix};
use crate::place::{Ends, Place, kill, noise, until};
use recoup_packet::interest::Uniqueness;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{ControlParameters, Scope, register_command};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// An Interest that no face answers.
fn interest(number: u32) -> Vec<u8> {
    let number = number.to_be_bytes();
    let parts: [&[u8]; 6] = [&[5, 22, 7, 14, 8, 6], b"absent", &[8, 4], &number, &[10, 4], &number];
    parts.concat()
}

/// Sends an Interest from each of many addresses of this machine.
fn send_from_many(to: SocketAddr, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let [_, a, b, c] = number.to_be_bytes();
        let from = Ipv4Addr::new(127, 1 + a, b, c);
        let socket = UdpSocket::bind((from, 0)).expect("an address of this machine");
        let _ = socket.send_to(&interest(number), to);
    }
}

/// Whether the other end has not closed a stream.
fn is_open(stream: &mut (impl Read + ?Sized)) -> bool {
    let read = stream.read(&mut [0; 16]);
    read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

const MOMENT: Duration = Duration::from_millis(100);

#[test]
fn datagrams_from_many_addresses_close_no_face() {
    let place = Place::new();
    place.write("data", &noise(100_000));
    let forwarder = Limited::start(&place, "true", "");
    let face = unix(&place);
    let _server = place.serve(&format!("serve data --name /data --face {face}"));
    let mut application = UnixStream::connect(place.path("socket")).unwrap();
    let mut neighbour = TcpStream::connect(forwarder.address("tcp")).unwrap();
    application.set_read_timeout(Some(MOMENT)).unwrap();
    neighbour.set_read_timeout(Some(MOMENT)).unwrap();
    std::thread::sleep(Duration::from_millis(1_200));
    let udp = forwarder.address("udp");
    send_from_many(udp, 0..1_100);
    let ended = AtomicBool::new(false);
    let faces = std::thread::scope(|scope| {
        scope.spawn(|| {
            // 5,000 a second at most: a busy machine makes them fewer, and never a burst of what is due.
            for round in 0_u32.. {
                let begun = Instant::now();
                send_from_many(udp, 10_000 + round * 50..10_050 + round * 50);
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10).saturating_sub(begun.elapsed()));
            }
        });
        let carried = std::panic::catch_unwind(|| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(3) {
                forwarder.fetch(&face);
            }
            forwarder.fetch(&format!("udp4://{udp}"));
            // A busy machine takes a while to fill the table of newcomers.
            until("a newcomer's eviction", || {
                forwarder.status()["admission"]["newcomers_evicted"].as_u64() > Some(0)
            });
            forwarder.status()["faces"].as_array().map_or(0, Vec::len)
        });
        ended.store(true, Ordering::Relaxed);
        carried.expect("the fetches succeed")
    });
    assert!(is_open(&mut application), "the face of the local application was closed");
    assert!(is_open(&mut neighbour), "the face of the TCP peer was closed");
    assert!(faces < 20, "{faces} faces are listed");
}

#[test]
fn idle_connections_are_evicted() {
    let place = Place::new();
    place.write("data", &noise(50_000));
    let forwarder = Limited::start(&place, "ulimit -n 160", "");
    let tcp = forwarder.address("tcp");
    let mut idle = Vec::new();
    for number in 0..5 * 40_u32 {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        let socket = socket.expect("a socket");
        let from = SocketAddr::from(([127, 0, 0, 2 + (number / 40) as u8], 0));
        socket.bind(&from.into()).expect("an address of this machine");
        socket.connect(&tcp.into()).expect("the kernel accepts");
        idle.push(socket);
    }
    std::thread::sleep(Duration::from_millis(1_500));
    let face = unix(&place);
    let server = place.serve(&format!("serve data --name /data --face {face}"));
    forwarder.fetch(&face);
    forwarder.fetch(&format!("tcp4://{tcp}"));
    until("an eviction", || {
        let status = forwarder.status();
        let evicted = status["admission"]["evicted"].as_u64();
        evicted.max(status["drops"]["face-no-room"].as_u64()) > Some(0)
    });
    until("the line", || forwarder.logged("idle connections") > 0);
    assert_eq!(forwarder.logged("idle connections"), 1, "once in an episode");
    drop((idle, server));
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
    let place = Place::new();
    place.write("data", &noise(50_000));
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

/// A command that registers a prefix for the application that sends it.
fn registration(prefix: &str, nonce: u32) -> Vec<u8> {
    let parameters = ControlParameters { name: prefix.parse().ok(), ..Default::default() };
    let bytes = u64::from(nonce).to_be_bytes();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    let time = u64::try_from(now.as_millis()).ok();
    let unique = Uniqueness { nonce: Some(&bytes), time, seq_num: None };
    let mut command = register_command(Scope::Localhost, &parameters, &DigestSigner, unique);
    command.nonce = Some(nonce);
    command.to_bytes().to_vec()
}

#[test]
fn routes_of_applications_that_quit_are_removed() {
    let place = Place::new();
    place.write("data", &noise(50_000));
    let unix = unix(&place);
    let forwarder = forwarder(&place, "node.toml", &[&unix], "");
    let producer = place.serve(&format!("serve data --name /data --face {unix}"));
    for number in 1..=600 {
        // It quits before it is answered.
        let mut application = UnixStream::connect(place.path("socket")).expect("it listens");
        application.write_all(&registration(&format!("/app/{number}"), number)).expect("room");
    }
    let ctl =
        |words: &str| place.run(&format!("ctl --json --face {unix} {words}")).succeeds().document();
    until("the applications are gone", || ctl("face list").as_array().unwrap().len() <= 3);
    let routes = ctl("route list");
    assert_eq!(routes.as_array().map(Vec::len), Some(1), "{routes}");
    let fetched = place.run(&format!("fetch /data -q --face {unix}")).succeeds();
    assert!(fetched.stdout == noise(50_000));
    assert_eq!(producer.stop("INT").0, Some(0));
    assert_eq!(forwarder.stop("TERM").1["prefixes"], 0);
}
