//! Many peers at once: datagrams from many addresses, idle connections, and slow readers of the status page.
use super::super::forward::{Producer, listen_at, numbers, unix};
use super::super::process::Running;
use super::{SERVED, STATUS, Stage, share};
use crate::chore::{Outcome, command};
use socket2::{Domain, Socket, Type};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

/// Interests that come within 50 ms, from as many addresses: 44 kB with their headers.
const BURST: u32 = 1_100;
/// Interests a second after that, each from another address.
const RATE: u32 = 5_000;
const FLOOD: Duration = Duration::from_secs(4);
/// Interests of a peer over UDP that wants to be served meanwhile.
const ASKED: u32 = 50;
/// Addresses with idle connections, connections of each, and the limit of descriptors.
const ADDRESSES: u8 = 5;
const CONNECTIONS: u32 = 256;
const DESCRIPTORS: u32 = 1_024;
/// Readers that keep a connection to the status page.
const READERS: usize = 64;
/// Idle time below which a face is never closed.
const SILENCE: Duration = Duration::from_millis(1_500);

fn failed(error: std::io::Error) -> String {
    error.to_string()
}

/// An Interest below a prefix of one component.
fn interest(prefix: &[u8], number: u32) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let name = [&[8, prefix.len() as u8], prefix, &[8, 4], &bytes].concat();
    let inside = [&[7, name.len() as u8], name.as_slice(), &[10, 4], &bytes].concat();
    [&[5, inside.len() as u8], inside.as_slice()].concat()
}

/// Sends an unanswered Interest from the address of this number.
fn send_from(number: u32, to: &str) -> Outcome {
    let [_, a, b, c] = number.to_be_bytes();
    let socket = UdpSocket::bind((Ipv4Addr::new(127, 1 + a, b, c), 0)).map_err(failed)?;
    socket.send_to(&interest(b"hole", number), to).map(drop).map_err(failed)
}

/// Whether the other end keeps an idle stream open.
fn is_open(stream: &mut impl Read) -> bool {
    let read = stream.read(&mut [0; 16]);
    read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

/// Datagrams from many addresses: at once, and then for a while.
pub(super) fn datagrams(stage: &mut Stage) -> Outcome {
    let moment = Some(Duration::from_millis(100));
    let mut application = UnixStream::connect(&stage.socket).map_err(failed)?;
    let mut neighbour = TcpStream::connect(stage.tcp.as_str()).map_err(failed)?;
    application.set_read_timeout(moment).map_err(failed)?;
    neighbour.set_read_timeout(moment).map_err(failed)?;
    std::thread::sleep(SILENCE);
    let udp = stage.udp.clone();
    (0..BURST).try_for_each(|number| send_from(number, &udp))?;
    let offer = stage.begin_offer(FLOOD.as_secs().saturating_sub(1))?;
    let answered = std::thread::scope(|scope| -> Outcome<u32> {
        let peer = scope.spawn(|| ask(&udp));
        let begun = Instant::now();
        for round in 1.. {
            if begun.elapsed() >= FLOOD {
                break;
            }
            (0..RATE / 100).try_for_each(|number| send_from(round * 100 + BURST + number, &udp))?;
            let due = Duration::from_millis(10) * round;
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
        }
        peer.join().map_err(|_| "the peer failed")?
    })?;
    let offer = offer.wait_with_output().map_err(failed)?;
    let served = share(&numbers(&String::from_utf8_lossy(&offer.stdout)));
    let faces = stage.status.look()?.faces;
    let open = [is_open(&mut application), is_open(&mut neighbour)];
    let what = format!(
        "{BURST} at once, then {RATE} a second; local face {}, TCP face {}, {faces} listed",
        state(open[0]),
        state(open[1])
    );
    stage.find("datagrams: faces", open == [true; 2] && faces < 50, what);
    let what =
        format!("{:.1} % over Unix; {answered} of {ASKED} to a new peer over UDP", 100.0 * served);
    let holds = served >= SERVED && answered >= ASKED * 9 / 10;
    stage.find("datagrams: others served", holds, what);
    Ok(())
}

fn state(open: bool) -> &'static str {
    if open { "open" } else { "closed" }
}

/// Asks over UDP one after the other; how many Interests were answered, a second time at most.
fn ask(udp: &str) -> Outcome<u32> {
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(failed)?;
    socket.connect(udp).map_err(failed)?;
    socket.set_read_timeout(Some(Duration::from_millis(200))).map_err(failed)?;
    let mut answered = 0;
    for number in 0..ASKED {
        for _ in 0..2 {
            socket.send(&interest(b"bench", number)).map_err(failed)?;
            let mut frame = [0; 9_000];
            if socket.recv(&mut frame).is_ok_and(|length| length > 0) && frame[0] == 6 {
                answered += 1;
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(answered)
}

/// Idle connections to a forwarder with few descriptors.
pub(super) fn idle(stage: &mut Stage) -> Outcome {
    let (socket, path) = (stage.room.path("limited-socket"), stage.room.path("limited.toml"));
    let listen = listen_at(&unix(&socket)) + &listen_at("tcp4://127.0.0.1:0");
    fs::write(&path, listen).map_err(failed)?;
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {DESCRIPTORS}; exec \"$0\" \"$@\"")]);
    limited.arg(&stage.recoup).args(["forward", "--json", "--config"]).arg(path);
    let (_running, printed) = Running::listen(&mut limited)?;
    let faces = printed["faces"].as_array().into_iter().flatten().filter_map(|it| it.as_str());
    let tcp = faces.filter_map(|it| it.strip_prefix("tcp4://")).next().ok_or("no TCP")?;
    let mut producer = command(&stage.blast);
    let _producer = Producer::start(producer.arg("produce").arg(&socket).arg("/bench"))?;
    let mut open = Vec::new();
    for number in 0..u32::from(ADDRESSES) * CONNECTIONS {
        open.push(connect_from((number / CONNECTIONS) as u8, tcp)?);
    }
    std::thread::sleep(SILENCE);
    let patience = Duration::from_secs(2);
    let mut local = UnixStream::connect(&socket).map_err(failed)?;
    local.set_read_timeout(Some(patience)).map_err(failed)?;
    let local = is_answered(&mut local);
    let to = tcp.parse().map_err(|_| format!("{tcp} is no address"))?;
    let remote = TcpStream::connect_timeout(&to, patience).is_ok_and(|mut remote| {
        remote.set_read_timeout(Some(patience)).is_ok() && is_answered(&mut remote)
    });
    let word = |served| if served { "served" } else { "not served" };
    let what = format!(
        "{ADDRESSES} times {CONNECTIONS} of {DESCRIPTORS} descriptors; next application {}, next TCP peer {}",
        word(local),
        word(remote)
    );
    stage.find("idle connections", local && remote, what);
    Ok(())
}

fn connect_from(address: u8, to: &str) -> Outcome<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).map_err(failed)?;
    socket.bind(&SocketAddr::from(([127, 0, 0, 2 + address], 0)).into()).map_err(failed)?;
    let to: SocketAddr = to.parse().map_err(|_| format!("{to} is no address"))?;
    // A listener that accepts no more lets its queue fill up.
    match socket.connect_timeout(&to.into(), Duration::from_millis(200)) {
        Err(error) if !matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
            Err(failed(error))
        }
        _ => Ok(socket),
    }
}

fn is_answered(stream: &mut (impl Read + Write)) -> bool {
    let mut first = [0];
    stream.write_all(&interest(b"bench", 7)).is_ok()
        && stream.read(&mut first).is_ok_and(|length| length == 1)
        && first == [6]
}

/// Readers of the status page that never read, or never end their request.
pub(super) fn readers(stage: &mut Stage) -> Outcome {
    let mut open = Vec::new();
    for number in 0..READERS {
        let mut stream = TcpStream::connect(STATUS).map_err(failed)?;
        let request: &[u8] = match number % 2 {
            0 => b"G",
            _ => b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        };
        // An earlier one may have been ended for it by now.
        let _ = stream.write_all(request);
        open.push(stream);
    }
    let begun = Instant::now();
    let answered = stage.status.look().is_ok();
    let (took, end) = (begun.elapsed(), if answered { "takes" } else { "does not come within" });
    let what = format!("{READERS} slow readers; a page {end} {:.1} s", took.as_secs_f64());
    stage.find("status page", answered && took < Duration::from_secs(2), what);
    Ok(())
}
