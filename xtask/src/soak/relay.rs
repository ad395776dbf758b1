//! A lossy link: a relay of datagrams that drops, duplicates, reorders and changes them.

use super::random::Random;
use crate::chore::Outcome;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Longest datagram.
const LARGEST: usize = 65_536;
/// Unit of shares: one of so many datagrams.
const SHARE: u64 = 10_000;

/// Shares of datagrams with an impairment, in 1/10,000.
#[derive(Debug, Default)]
pub(super) struct Impairment {
    pub(super) lost: AtomicU32,
    pub(super) changed: AtomicU32,
    pub(super) duplicated: AtomicU32,
    /// Sent after the next datagram.
    pub(super) reordered: AtomicU32,
}

/// A relay, whose threads end with the process.
#[derive(Debug)]
pub(super) struct Relay {
    pub(super) impairment: Arc<Impairment>,
}

impl Relay {
    /// Relays between the first client of `listen` and `far`.
    pub(super) fn start(listen: &str, far: &str, random: Random) -> Outcome<Self> {
        let bind = |at: &str| UdpSocket::bind(at).map_err(|error| format!("{at}: {error}"));
        let (near, out) = (Arc::new(bind(listen)?), Arc::new(bind("127.0.0.1:0")?));
        let far: SocketAddr = far.parse().map_err(|_| format!("{far}: no address"))?;
        let impairment = Arc::new(Impairment::default());
        let client = Arc::new(Mutex::new(None));
        let (from, to, it) = (Arc::clone(&near), Arc::clone(&out), Arc::clone(&impairment));
        let (known, stream) = (Arc::clone(&client), random.stream(1));
        std::thread::spawn(move || {
            relay(&from, &to, &it, &stream, |sender| {
                *known.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
                Some(far)
            });
        });
        let (it, stream) = (Arc::clone(&impairment), random.stream(2));
        std::thread::spawn(move || {
            relay(&out, &near, &it, &stream, |_| {
                *client.lock().unwrap_or_else(PoisonError::into_inner)
            });
        });
        Ok(Self { impairment })
    }
}

/// Relays one direction.
fn relay(
    from: &UdpSocket,
    to: &UdpSocket,
    impairment: &Impairment,
    random: &Random,
    mut receiver: impl FnMut(SocketAddr) -> Option<SocketAddr>,
) {
    let mut buffer = vec![0; LARGEST];
    let mut late: Option<Vec<u8>> = None;
    let happens =
        |share: &AtomicU32| random.next() % SHARE < u64::from(share.load(Ordering::Relaxed));
    loop {
        // An error is of a datagram before: its receiver was not there.
        let Ok((length, sender)) = from.recv_from(&mut buffer) else { continue };
        let datagram = &mut buffer[..length];
        let Some(address) = receiver(sender) else { continue };
        if happens(&impairment.lost) || datagram.is_empty() {
            continue;
        }
        if happens(&impairment.changed) {
            datagram[random.below(length)] ^= 1 << random.below(8);
        }
        if late.is_none() && happens(&impairment.reordered) {
            late = Some(datagram.to_vec());
            continue;
        }
        for _ in 0..=u8::from(happens(&impairment.duplicated)) {
            let _ = to.send_to(datagram, address);
        }
        if let Some(late) = late.take() {
            let _ = to.send_to(&late, address);
        }
    }
}
