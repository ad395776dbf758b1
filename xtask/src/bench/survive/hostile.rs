//! Peers that mean harm, or do it.
use super::super::forward::numbers;
use super::{LIFETIME, SERVED, Stage, list, share};
use crate::chore::Outcome;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Datagrams that are sent before a pause: what a socket's buffer holds.
const BURST: u64 = 100;
const PAUSE: Duration = Duration::from_millis(2);
const DATAGRAMS: u64 = 50_000;
/// Streams that do one thing wrong each.
const STREAMS: usize = 200;

fn failed(error: std::io::Error) -> String {
    error.to_string()
}

/// Sends many datagrams; reports their fate and the service of other clients.
fn send(
    stage: &mut Stage,
    leg: &'static str,
    reason: &str,
    datagram: impl Fn(u64) -> Vec<u8>,
) -> Outcome {
    let before = stage.status.look()?;
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(failed)?;
    let offer = stage.begin_offer(3)?;
    for number in 0..DATAGRAMS {
        socket.send_to(&datagram(number), stage.udp.as_str()).map_err(failed)?;
        if number % BURST == 0 {
            std::thread::sleep(PAUSE);
        }
    }
    let offer = offer.wait_with_output().map_err(failed)?;
    let served = share(&numbers(&String::from_utf8_lossy(&offer.stdout)));
    // The last incomplete packet is dropped when its time is over.
    let begun = Instant::now();
    let (drops, dropped) = loop {
        let drops = stage.status.look()?.drops_since(&before);
        let dropped = drops.get(reason).copied().unwrap_or_default();
        if dropped == DATAGRAMS || begun.elapsed() > LIFETIME {
            break (drops, dropped);
        }
    };
    let what = format!("{DATAGRAMS} sent = {}; others {:.1} %", list(&drops), 100.0 * served);
    stage.find(leg, dropped == DATAGRAMS && served >= SERVED, what);
    Ok(())
}

/// Packets that begin well and are none.
pub(super) fn malformed(stage: &mut Stage) -> Outcome {
    // An Interest whose name is longer than the Interest, with ever other bytes behind.
    send(stage, "malformed packets", "malformed", |number| {
        [&[5, 12, 7, 200][..], &number.to_be_bytes(), &[0; 2]].concat()
    })
}

/// First fragments of ever other packets, which never become whole.
pub(super) fn fragments(stage: &mut Stage) -> Outcome {
    send(stage, "endless fragments", "fragment", |number| {
        let fragment = [0x5A; 100];
        let sequence = (2 * number).to_be_bytes();
        let fields: [&[u8]; 6] =
            [&[0x51, 8], &sequence, &[0x52, 1, 0], &[0x53, 1, 2], &[0x50, 100], &fragment];
        let fields = fields.concat();
        [&[0x64, fields.len() as u8][..], &fields].concat()
    })
}

/// Streams of something else, and of packets that are announced as longer than any.
pub(super) fn streams(stage: &mut Stage) -> Outcome {
    let mut ended = 0;
    for number in 0..STREAMS {
        let bytes: &[u8] = match number % 4 {
            0 => b"GET / HTTP/1.1\r\n\r\n",
            1 => &[6, 253, 0x40, 0],
            2 => &[5, 255, 255, 255, 255, 255, 255, 255, 255, 255],
            _ => &[0x64, 254, 0x7F, 0, 0, 0],
        };
        let mut stream = TcpStream::connect(stage.tcp.as_str()).map_err(failed)?;
        stream.set_read_timeout(Some(Duration::from_secs(2))).map_err(failed)?;
        stream.write_all(bytes).map_err(failed)?;
        ended += usize::from(match stream.read(&mut [0; 16]) {
            Ok(read) => read == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        });
    }
    let what = format!("{ended} of {STREAMS} closed");
    stage.find("garbage and oversize", ended == STREAMS, what);
    Ok(())
}

/// Streams on which an byte comes now and then, and never a whole packet.
pub(super) fn slow(stage: &mut Stage) -> Outcome {
    let before = stage.resident_mb();
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        let mut stream = TcpStream::connect(stage.tcp.as_str()).map_err(failed)?;
        stream.write_all(&[5, 253, 0x20, 0]).map_err(failed)?;
        streams.push(stream);
    }
    let offer = stage.begin_offer(3)?;
    for _ in 0..20 {
        for stream in &mut streams {
            stream.write_all(&[7]).map_err(failed)?;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let offer = offer.wait_with_output().map_err(failed)?;
    let served = share(&numbers(&String::from_utf8_lossy(&offer.stdout)));
    let after = stage.resident_mb();
    let what = format!(
        "{STREAMS} streams of single bytes; memory {before:.1} to {after:.1} MB; others {:.1} %",
        100.0 * served
    );
    stage.find("slow loris", served >= SERVED && after < before + 20.0, what);
    Ok(())
}

/// Opens faces, by Unix and by TCP in turn, and closes them after an Interest; how many could be opened.
pub(super) fn come_and_go(socket: &Path, tcp: &str, faces: u64) -> Outcome<u64> {
    let mut opened = 0;
    for number in 0..faces {
        let mut interest = vec![5, 24, 7, 16, 8, 4];
        interest.extend_from_slice(b"hole");
        interest.extend_from_slice(&[8, 8]);
        interest.extend_from_slice(&number.to_be_bytes());
        interest.extend_from_slice(&[10, 4, 1, 2, 3, 4]);
        let sent = match number % 2 {
            0 => UnixStream::connect(socket).and_then(|mut it| it.write_all(&interest)),
            _ => TcpStream::connect(tcp).and_then(|mut it| it.write_all(&interest)),
        };
        match sent {
            Ok(()) => opened += 1,
            // Local ports are all in use for a while, or the forwarder has not come to accept the others.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
                UnixStream::connect(socket)
                    .and_then(|mut it| it.write_all(&interest))
                    .map_err(failed)?;
                opened += 1;
            }
            Err(error) => return Err(format!("face {number}: {error}")),
        }
    }
    Ok(opened)
}
