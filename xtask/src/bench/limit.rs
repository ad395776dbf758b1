//! Limits of the machine, without any protocol.

use super::Case;
use super::process::Room;
use super::sample::Sample;
use crate::chore::Outcome;
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use sha2::{Digest, Sha256};
use socket2::SockRef;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, IoSliceMut, Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long each limit is measured.
const SPAN: Duration = Duration::from_millis(400);

/// Idle time after which a receiver is done.
const SILENCE: Duration = Duration::from_millis(100);

/// Socket buffer that the applications request, too.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;

const BUFFER_BYTES: usize = 1 << 16;

/// The limits that a transfer meets.
pub(crate) fn cases(bytes: u64, room: &Room) -> Vec<Case> {
    let copy = room.copy.clone();
    vec![
        case("limit: UDP, 8000 bytes, one per call", || plain_udp(8000)),
        case("limit: UDP, 8000 bytes, offload", || offloaded_udp(8000)),
        case("limit: UDP, 1300 bytes, one per call", || plain_udp(1300)),
        case("limit: UDP, 1300 bytes, offload", || offloaded_udp(1300)),
        case("limit: Unix stream", unix_stream),
        case("limit: SHA-256 on one core, 8000 bytes", || Ok(sha256(8000))),
        case("limit: SHA-256 on one core, 1300 bytes", || Ok(sha256(1300))),
        case("limit: writing the file", move || writing(bytes, &copy)),
    ]
}

fn case(name: &str, mut run: impl FnMut() -> io::Result<Sample> + 'static) -> Case {
    let run = move || -> Outcome<Sample> { run().map_err(|error| error.to_string()) };
    Case { name: name.to_string(), run: Box::new(run) }
}

fn loopback() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    SockRef::from(&socket).set_recv_buffer_size(SOCKET_BUFFER_BYTES)?;
    SockRef::from(&socket).set_send_buffer_size(SOCKET_BUFFER_BYTES)?;
    socket.set_read_timeout(Some(SILENCE))?;
    Ok(socket)
}

fn plain_udp(datagram: usize) -> io::Result<Sample> {
    let (sender, receiver) = (loopback()?, loopback()?);
    sender.connect(receiver.local_addr()?)?;
    let receiving = thread::spawn(move || {
        let mut buffer = vec![0; BUFFER_BYTES];
        received(|| receiver.recv(&mut buffer))
    });
    let content = vec![0x5A; datagram];
    let start = Instant::now();
    while start.elapsed() < SPAN {
        sender.send(&content)?;
    }
    joined(receiving)
}

fn offloaded_udp(datagram: usize) -> io::Result<Sample> {
    let (sender, receiver) = (loopback()?, loopback()?);
    let sending = UdpSocketState::new(UdpSockRef::from(&sender))?;
    let receiving = UdpSocketState::new(UdpSockRef::from(&receiver))?;
    let destination = receiver.local_addr()?;
    // The state made the sockets non-blocking; here each has a thread to itself.
    sender.set_nonblocking(false)?;
    receiver.set_nonblocking(false)?;
    let receiving = thread::spawn(move || {
        let mut buffer = vec![0; BUFFER_BYTES];
        received(|| {
            let mut meta = [RecvMeta::default()];
            let mut slices = [IoSliceMut::new(&mut buffer)];
            receiving.recv(UdpSockRef::from(&receiver), &mut slices, &mut meta)?;
            Ok(meta[0].len)
        })
    });
    let largest = usize::from(u16::MAX) - 28;
    let segments = sending.max_gso_segments().min(largest / datagram).max(1);
    let contents = vec![0x5A; datagram * segments];
    let segment_size = Some(datagram);
    let transmit =
        Transmit { destination, ecn: None, contents: &contents, segment_size, src_ip: None };
    let start = Instant::now();
    while start.elapsed() < SPAN {
        sending.try_send(UdpSockRef::from(&sender), &transmit)?;
    }
    joined(receiving)
}

fn unix_stream() -> io::Result<Sample> {
    let (mut sender, mut receiver) = UnixStream::pair()?;
    let receiving = thread::spawn(move || {
        let mut buffer = vec![0; 4 * BUFFER_BYTES];
        received(|| match receiver.read(&mut buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            other => other,
        })
    });
    let content = vec![0x5A; BUFFER_BYTES];
    let start = Instant::now();
    while start.elapsed() < SPAN {
        sender.write_all(&content)?;
    }
    drop(sender);
    joined(receiving)
}

/// Counts what arrives until nothing more does; the time runs from the first arrival to the last.
fn received(mut receive: impl FnMut() -> io::Result<usize>) -> Sample {
    let mut bytes = 0;
    let mut first = None;
    let mut last = Instant::now();
    while let Ok(count) = receive() {
        bytes += count as u64;
        last = Instant::now();
        first.get_or_insert(last);
    }
    let took = last - first.unwrap_or(last);
    Sample::of(bytes, took.max(Duration::from_nanos(1)))
}

fn joined(thread: thread::JoinHandle<Sample>) -> io::Result<Sample> {
    thread.join().map_err(|_| io::Error::other("the receiving thread failed"))
}

fn sha256(message: usize) -> Sample {
    let content = vec![0x5A; message];
    let mut bytes = 0;
    let start = Instant::now();
    while start.elapsed() < SPAN {
        for _ in 0..64 {
            black_box(Sha256::digest(black_box(&content)));
            bytes += message as u64;
        }
    }
    Sample::of(bytes, start.elapsed())
}

fn writing(bytes: u64, path: &Path) -> io::Result<Sample> {
    let _ = std::fs::remove_file(path);
    let content = vec![0x5A; BUFFER_BYTES];
    let start = Instant::now();
    let mut file = File::create(path)?;
    for _ in 0..bytes / BUFFER_BYTES as u64 {
        file.write_all(&content)?;
    }
    let took = start.elapsed();
    std::fs::remove_file(path)?;
    Ok(Sample::of(bytes / BUFFER_BYTES as u64 * BUFFER_BYTES as u64, took))
}
