//! A flood from one address: Interests with random names, malformed packets, and Data that was never requested.

use super::random::Random;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Packets between two pauses, and the pause.
const BURST: usize = 64;
const PAUSE: Duration = Duration::from_millis(2);
const TARGETS: [&str; 3] = ["127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003"];

/// Sends for so long, in a thread of its own.
pub(super) fn start(time: Duration, random: Random) {
    let until = Instant::now() + time;
    std::thread::spawn(move || {
        let Ok(socket) = UdpSocket::bind("127.0.0.1:0") else { return };
        while Instant::now() < until {
            for _ in 0..BURST {
                // The target may be down, and its buffer full.
                let _ = socket.send_to(&packet(&random), random.one(&TARGETS));
            }
            std::thread::sleep(PAUSE);
        }
    });
}

fn packet(random: &Random) -> Vec<u8> {
    match random.below(4) {
        0 => {
            let mut bytes = vec![0; random.below(200)];
            random.fill(&mut bytes);
            bytes
        }
        1 => forged_data(random),
        _ => {
            let nonce = random.next().to_le_bytes();
            element(5, &[name(random), element(10, &nonce[..4])].concat())
        }
    }
}

/// Data with a digest of nothing, below the prefix of the servers.
fn forged_data(random: &Random) -> Vec<u8> {
    let signature = [element(22, &element(27, &[0])), element(23, &[0; 32])].concat();
    element(6, &[name(random), element(21, b"forged"), signature].concat())
}

/// A random name below the prefix of a server.
fn name(random: &Random) -> Vec<u8> {
    let server = random.one(&["steady", "mortal", "direct"]);
    let number = (random.below(10)).to_string();
    let last = random.next().to_be_bytes();
    let components: [&[u8]; 5] = [b"soak", b"author", server.as_bytes(), number.as_bytes(), &last];
    element(7, &components.map(|it| element(8, it)).concat())
}

/// An element with a type and a length below 253.
pub(crate) fn element(kind: u8, value: &[u8]) -> Vec<u8> {
    [&[kind, value.len() as u8], value].concat()
}
