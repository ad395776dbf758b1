//! `cargo xtask survive`: attacks on a forwarder, beside a client of it that must be served meanwhile.
//!
//! Random names, malformed packets and datagrams of many addresses flood it. Peers are idle or slow, faces and applications
//! come and go, disks are full, and readers never read. The client is `recoup ping`, once a millisecond.

use crate::bench::binary;
use crate::chore::Outcome;
use crate::process::{Running, Scratch, forward, listen, within};
use crate::soak::flood::element;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write, read_to_string};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: cargo xtask survive [--interests N] [--faces N]";
/// Address of the status page.
const STATUS: &str = "127.0.0.1:19695";
/// The attack that fills tables and the content store.
const FLOOD: &str = "flood of random names";
/// Share of the client's Interests that must be answered.
const SERVED: f64 = 0.9;
/// Growth of the resident memory by an attack that is no leak, in megabytes.
const GROWTH: f64 = 20.0;
/// Growth of the resident memory in the last quarter of a flood, as a share. A byte kept of each of 100 million Interests
/// would add 25 MB.
const FLAT: f64 = 0.05;
/// Interests of a flood after which tables and the content store are full.
const FILLS: u64 = 10_000_000;
/// Time after which no earlier Interest is pending.
const LIFETIME: Duration = Duration::from_secs(5);
const SECOND: Duration = Duration::from_secs(1);
/// Datagrams of an attack, and how many are sent before a pause: what a socket's buffer holds.
const DATAGRAMS: u64 = 50_000;
const BURST: u64 = 100;
/// Streams that do one thing wrong each.
const STREAMS: usize = 200;
/// Applications that register a prefix and are killed.
const APPLICATIONS: usize = 200;

/// Whether an attack was withstood, and its figures.
type Finding = Outcome<(bool, String)>;

/// An attack on a fresh forwarder.
struct Attack {
    name: &'static str,
    /// More for `[node]` of its configuration.
    node: &'static str,
    run: fn(&mut Stage) -> Finding,
}

const fn attack(name: &'static str, run: fn(&mut Stage) -> Finding) -> Attack {
    Attack { name, node: "", run }
}

const ATTACKS: [Attack; 12] = [
    attack("alone", |_| {
        sleep(3 * SECOND);
        Ok((true, String::new()))
    }),
    attack(FLOOD, flood),
    attack("malformed packets", |stage| {
        // An Interest whose name is longer than the Interest, with other bytes behind each time.
        send(stage, "malformed", |number| {
            [&[5, 12, 7, 200][..], &number.to_be_bytes(), &[0; 2]].concat()
        })
    }),
    attack("endless fragments", |stage| {
        send(stage, "fragment", |number| {
            let fields = [(0x52, &[0][..]), (0x53, &[2]), (0x50, &[0x5A; 100])];
            let fields = fields.map(|(kind, value)| element(kind, value)).concat();
            element(0x64, &[element(0x51, &(2 * number).to_be_bytes()), fields].concat())
        })
    }),
    attack("garbage and oversize", garbage),
    attack("slow streams", slow_streams),
    attack("datagrams of many addresses", many_addresses),
    attack("idle connections", idle),
    attack("slow readers of the status page", readers),
    attack("faces that come and go", |stage| {
        let opened = come_and_go(stage, stage.faces)?;
        sleep(LIFETIME);
        let left = look()?["faces"].as_array().map_or(0, Vec::len);
        Ok((left < 10, format!("{opened} opened and closed, {left} left")))
    }),
    attack("applications that are killed", applications),
    Attack {
        node: "capture = \"/dev/full\"\n",
        ..attack("captures, disk full", |_| {
            sleep(2 * SECOND);
            let failures = count(&look()?, "/captures/failures");
            Ok((failures == 1, format!("{failures} captures given up")))
        })
    },
];

/// A forwarder under attack.
struct Stage {
    recoup: PathBuf,
    scratch: Scratch,
    running: Running,
    /// Its addresses, beside the Unix socket.
    udp: String,
    tcp: String,
    /// The responder of the client.
    responder: Option<Running>,
    /// A neighbour that never answers, behind the prefix `/hole`.
    hole: UdpSocket,
    interests: u64,
    faces: u64,
}

/// Runs all attacks and prints a line of each.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut interests, mut faces) = (100_000_000, 100_000);
    for pair in arguments.chunks(2) {
        let number = pair.get(1).and_then(|word| word.parse().ok()).ok_or(USAGE)?;
        match pair[0] {
            "--interests" => interests = number,
            "--faces" => faces = number,
            _ => return Err(USAGE.into()),
        }
    }
    let mut stage = Stage::set(binary()?, interests, faces)?;
    let mut failed = Vec::new();
    for Attack { name, node, run } in ATTACKS {
        // The former forwarder is killed while it works.
        stage.restart(node)?;
        let client = stage.client(&stage.scratch.unix("node"), "1ms")?;
        let before = stage.running.megabytes("VmRSS:");
        let (holds, what) = run(&mut stage)?;
        let served = answered(client)?;
        let grown = stage.running.megabytes("VmRSS:") - before;
        let holds = holds && served >= SERVED && (grown < GROWTH || name == FLOOD);
        let verdict = if holds { "holds" } else { "DOES NOT" };
        println!(
            "{name:<36} {verdict:<9} client {:5.1} %, memory {grown:+5.1} MB; {what}",
            100.0 * served
        );
        failed.extend((!holds).then_some(name));
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("not withstood: {}", failed.join(", "))),
    }
}

impl Stage {
    fn set(recoup: PathBuf, interests: u64, faces: u64) -> Outcome<Self> {
        let (scratch, hole) = (Scratch::make()?, UdpSocket::bind("127.0.0.1:0").map_err(failed)?);
        let running = Running::start(Command::new("sleep").arg("0"))?;
        let (udp, tcp, responder) = Default::default();
        Ok(Self { recoup, scratch, running, udp, tcp, responder, hole, interests, faces })
    }

    /// Starts the forwarder and the responder anew, with more for `[node]` and more arguments.
    fn restart(&mut self, more: &str) -> Outcome {
        self.running.kill();
        let socket = self.scratch.unix("node");
        let places = [socket.as_str(), "udp4://127.0.0.1:0", "tcp4://127.0.0.1:0"];
        let hole = self.hole.local_addr().map_err(failed)?;
        let text = format!(
            "[node]\nmetrics = \"{STATUS}\"\n{more}{}[[face]]\nname = \"hole\"\nuri = \"udp://{hole}\"\n\
             [[route]]\nprefix = \"/hole\"\nface = \"hole\"\n",
            places.map(listen).concat()
        );
        let config = self.scratch.path("node.toml");
        let (running, uris) = forward(&self.recoup, &config, &text, &[])?;
        self.running = running;
        let place = |kind: &str| {
            let uri = uris.iter().find_map(|uri| uri.strip_prefix(kind));
            uri.map(str::to_owned).ok_or_else(|| format!("the forwarder has no {kind}"))
        };
        (self.udp, self.tcp) = (place("udp4://")?, place("tcp4://")?);
        self.responder = Some(self.respond(&socket, "/bench")?);
        Ok(())
    }

    fn respond(&self, face: &str, prefix: &str) -> Outcome<Running> {
        let mut ping = Command::new(&self.recoup);
        ping.args(["ping", "--serve", prefix, "--json", "--face", face]).stderr(Stdio::null());
        Running::announced(&mut ping).map(|(running, _)| running)
    }

    /// A client that counts its answers.
    fn client(&self, face: &str, interval: &str) -> Outcome<Running> {
        let mut ping = Command::new(&self.recoup);
        ping.args(["ping", "/bench", "--json", "-t", "2s", "-i", interval, "--face", face]);
        ping.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        ping.spawn().map(Running).map_err(failed)
    }

    fn unix_stream(&self) -> Outcome<UnixStream> {
        UnixStream::connect(self.scratch.path("node")).map_err(failed)
    }
}

/// Ends a client; the share of its Interests that was answered.
fn answered(mut client: Running) -> Outcome<f64> {
    kill_process(Pid::from_child(&client.0), Signal::INT).map_err(|error| error.to_string())?;
    let output = client.0.stdout.take().ok_or("no standard output")?;
    let printed = read_to_string(output).map_err(failed)?;
    let document: Value = serde_json::from_str(&printed)
        .map_err(|_| format!("the client ended early: {printed:?}"))?;
    Ok(1.0 - document["lost_share"].as_f64().unwrap_or(1.0))
}

/// The status of the forwarder, a moment old at most.
fn look() -> Outcome<Value> {
    // A document is shown again for a while.
    sleep(Duration::from_millis(300));
    let ask = || -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(STATUS)?;
        stream.set_read_timeout(Some(10 * SECOND))?;
        stream.write_all(
            b"GET /status.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        )?;
        let printed = read_to_string(stream)?;
        let body = printed.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        Ok(serde_json::from_str(body)?)
    };
    ask().map_err(|error| format!("{STATUS}: {error}"))
}

fn count(status: &Value, path: &str) -> u64 {
    status.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}

/// Drops since an earlier status, by reason.
fn drops(before: &Value, after: &Value) -> BTreeMap<String, u64> {
    let all = after["drops"].as_object().into_iter().flatten();
    let since = all.map(|(reason, many)| {
        let former = before["drops"][reason.as_str()].as_u64().unwrap_or_default();
        (reason.clone(), many.as_u64().unwrap_or_default() - former)
    });
    since.filter(|(_, many)| *many > 0).collect()
}

fn failed(error: std::io::Error) -> String {
    error.to_string()
}

/// An Interest below a prefix of one component.
fn interest(prefix: &str, number: u64) -> Vec<u8> {
    let number = number.to_be_bytes();
    let name = [element(8, prefix.as_bytes()), element(8, &number)].concat();
    element(5, &[element(7, &name), element(10, &number[4..])].concat())
}

/// One face sends Interests with random, unanswered names at full speed.
fn flood(stage: &mut Stage) -> Finding {
    let before = look()?;
    let mut stream = stage.unix_stream()?;
    let mut answers = stream.try_clone().map_err(failed)?;
    // Answers are read, so that back-pressure never stops the flood.
    std::thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
    let (begun, mut memory, mut batch) = (Instant::now(), Vec::new(), Vec::new());
    for number in 0..stage.interests {
        // Each number once, in no order.
        batch.extend(interest("hole", number.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        if number % 1_024 == 1_023 || number + 1 == stage.interests {
            stream.write_all(&batch).map_err(failed)?;
            batch.clear();
            if number >= stage.interests / 4 * 3 {
                memory.push(stage.running.megabytes("VmRSS:"));
            }
        }
    }
    let rate = stage.interests as f64 / begun.elapsed().as_secs_f64() / 1e3;
    sleep(LIFETIME + SECOND);
    let after = look()?;
    let drops = drops(&before, &after);
    let reasons = ["too-many-pending", "no-face", "no-route", "too-fast"];
    let dropped: u64 = reasons.iter().filter_map(|reason| drops.get(*reason)).sum();
    let [ended, former] = [&after, &before].map(|it| count(it, "/status/unsatisfied"));
    let adds_up = ended - former + dropped == stage.interests;
    let [first, last] = [memory.first(), memory.last()].map(|it| it.copied().unwrap_or(f64::NAN));
    let is_flat = last <= first * (1.0 + FLAT);
    let what = format!(
        "{rate:.0} k a second, memory {first:.1} to {last:.1}; unanswered {}, {drops:?}",
        ended - former
    );
    Ok((adds_up && (is_flat || stage.interests < FILLS), what))
}

/// Sends many datagrams, all of which the forwarder must drop for this reason.
fn send(stage: &mut Stage, reason: &str, datagram: fn(u64) -> Vec<u8>) -> Finding {
    let (before, begun) = (look()?, Instant::now());
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(failed)?;
    for number in 0..DATAGRAMS {
        socket.send_to(&datagram(number), stage.udp.as_str()).map_err(failed)?;
        if number % BURST == 0 {
            sleep(Duration::from_millis(2));
        }
    }
    // The last incomplete packet is dropped when its time is over.
    loop {
        let drops = drops(&before, &look()?);
        let is_dropped = drops.get(reason) == Some(&DATAGRAMS);
        if is_dropped || begun.elapsed() > 4 * LIFETIME {
            return Ok((is_dropped, format!("{DATAGRAMS} sent, {drops:?}")));
        }
    }
}

/// Streams of something else, and of packets that are announced as longer than any.
fn garbage(stage: &mut Stage) -> Finding {
    let mut closed = 0;
    for number in 0..STREAMS {
        let bytes: &[u8] = match number % 4 {
            0 => b"GET / HTTP/1.1\r\n\r\n",
            1 => &[6, 253, 0x40, 0],
            2 => &[5, 255, 255, 255, 255, 255, 255, 255, 255, 255],
            _ => &[0x64, 254, 0x7F, 0, 0, 0],
        };
        let mut stream = TcpStream::connect(stage.tcp.as_str()).map_err(failed)?;
        stream.set_read_timeout(Some(2 * SECOND)).map_err(failed)?;
        stream.write_all(bytes).map_err(failed)?;
        closed += usize::from(match stream.read(&mut [0; 16]) {
            Ok(read) => read == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        });
    }
    Ok((closed == STREAMS, format!("{closed} of {STREAMS} closed")))
}

/// Streams with a byte now and then, and never a whole packet.
fn slow_streams(stage: &mut Stage) -> Finding {
    let streams = (0..STREAMS).map(|_| TcpStream::connect(stage.tcp.as_str()));
    let mut streams = streams.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut write = |bytes: &[u8]| streams.iter_mut().try_for_each(|it| it.write_all(bytes));
    write(&[5, 253, 0x20, 0]).map_err(failed)?;
    for _ in 0..20 {
        write(&[7]).map_err(failed)?;
        sleep(Duration::from_millis(100));
    }
    Ok((true, format!("{STREAMS} streams of single bytes")))
}

/// Interests from more than a thousand addresses at once, then 5,000 addresses a second for four seconds.
fn many_addresses(stage: &mut Stage) -> Finding {
    let idle = Some(Duration::from_millis(100));
    let mut application = stage.unix_stream()?;
    let mut neighbour = TcpStream::connect(stage.tcp.as_str()).map_err(failed)?;
    application.set_read_timeout(idle).map_err(failed)?;
    neighbour.set_read_timeout(idle).map_err(failed)?;
    sleep(2 * SECOND);
    let send_from = |number: u32| -> Outcome {
        let [_, a, b, c] = number.to_be_bytes();
        let socket = UdpSocket::bind((Ipv4Addr::new(127, 1 + a, b, c), 0)).map_err(failed)?;
        let sent = socket.send_to(&interest("hole", number.into()), stage.udp.as_str());
        sent.map(drop).map_err(failed)
    };
    (0..1_100).try_for_each(send_from)?;
    let newcomer = stage.client(&format!("udp://{}", stage.udp), "20ms")?;
    for round in 0..400 {
        (0..50).try_for_each(|number| send_from(2_000 + 50 * round + number))?;
        sleep(Duration::from_millis(10));
    }
    let served = answered(newcomer)?;
    let listed = look()?["faces"].as_array().map_or(0, Vec::len);
    let open = [is_open(&mut application), is_open(&mut neighbour)];
    let what = format!("new peer over UDP {:.1} %, {listed} faces, open {open:?}", 100.0 * served);
    Ok((open == [true; 2] && listed < 50 && served >= 0.8, what))
}

/// Whether the other end keeps an idle stream open.
fn is_open(stream: &mut impl Read) -> bool {
    let read = stream.read(&mut [0; 16]);
    read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

/// Idle connections from five addresses to a forwarder with fewer descriptors.
fn idle(stage: &mut Stage) -> Finding {
    let (socket, path) = (stage.scratch.unix("limited"), stage.scratch.path("limited.toml"));
    std::fs::write(&path, listen(&socket) + &listen("tcp4://127.0.0.1:0")).map_err(failed)?;
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 1024; exec \"$0\" \"$@\""]).arg(&stage.recoup);
    limited.args(["forward", "--json", "--config"]).arg(path).stderr(Stdio::null());
    let (_running, printed) = Running::announced(&mut limited)?;
    let mut uris = printed["faces"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let tcp = uris.find_map(|uri| uri.strip_prefix("tcp4://")).ok_or("no TCP")?;
    let to: SocketAddr = tcp.parse().map_err(|_| format!("{tcp} is no address"))?;
    let _responder = stage.respond(&socket, "/bench")?;
    let connections = (0..1_280_u16).map(|number| connect_from((number / 256) as u8, to));
    let _idle: Vec<OwnedFd> = connections.collect::<Result<_, _>>().map_err(failed)?;
    sleep(2 * SECOND);
    let served = [socket, format!("tcp://{tcp}")].map(|face| {
        let mut ping = Command::new(&stage.recoup);
        ping.args(["ping", "/bench", "-c", "5", "-i", "50ms", "-t", "2s", "-q", "--face", &face]);
        within(ping.stderr(Stdio::null()), 10 * SECOND).is_ok()
    });
    Ok((served == [true; 2], format!("next application and TCP peer served: {served:?}")))
}

/// A connection from 127.0.0.2 and so on, which may never be accepted.
fn connect_from(address: u8, to: SocketAddr) -> std::io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddr::from(([127, 0, 0, 2 + address], 0)))?;
    match rustix::net::connect(&socket, &to) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// Readers of the status page that never read, or never end their request.
fn readers(_: &mut Stage) -> Finding {
    let mut open = Vec::new();
    for request in [&b"G"[..], b"GET / HTTP/1.1\r\nHost: localhost\r\n"].repeat(32) {
        let mut stream = TcpStream::connect(STATUS).map_err(failed)?;
        // An earlier one may have been ended for it by now.
        let _ = stream.write_all(request);
        open.push(stream);
    }
    let begun = Instant::now();
    let answered = look().is_ok();
    Ok((answered && begun.elapsed() < 2 * SECOND, format!("a page takes {:.1?}", begun.elapsed())))
}

/// Opens faces, by Unix and by TCP in turn, and closes each after an Interest. Returns the number of those opened.
fn come_and_go(stage: &Stage, faces: u64) -> Outcome<u64> {
    let mut opened = 0;
    for number in 0..faces {
        let interest = interest("hole", number);
        let by_unix = || stage.unix_stream()?.write_all(&interest).map_err(failed);
        let by_tcp = || TcpStream::connect(stage.tcp.as_str())?.write_all(&interest);
        match number % 2 {
            0 => by_unix()?,
            // Local ports are all in use for a while.
            _ => by_tcp().or_else(|_| by_unix())?,
        }
        opened += 1;
    }
    Ok(opened)
}

/// Applications register a prefix and are killed.
fn applications(stage: &mut Stage) -> Finding {
    let socket = stage.scratch.unix("node");
    let before = count(&look()?, "/status/fib_entries");
    for number in 0..APPLICATIONS {
        drop(stage.respond(&socket, &format!("/application/{number}"))?);
    }
    sleep(LIFETIME);
    let left = count(&look()?, "/status/fib_entries").saturating_sub(before);
    Ok((left == 0, format!("{APPLICATIONS} registered and killed, {left} routes left")))
}
