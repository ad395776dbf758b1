//! Finds the local server of a name, where no forwarder runs.
//!
//! Each server receives the Interest. Among the servers with an open socket, the one with the best
//! answer is chosen: content, then an application Nack, then silence, then a network Nack. Among
//! equals the first wins.
use bytes::Bytes;
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::tlv::typ;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cmp::Reverse;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Longest answer that is read; metadata is far shorter.
const ANSWER_BYTES: usize = 9_000;

/// The answer of a place, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// No socket is bound there.
    Unreachable,
    /// A network Nack: the name is not served there.
    Unrouted,
    /// No answer yet.
    Silent,
    /// An application Nack: there is a producer for the name, but no such content.
    Absent,
    /// Data.
    Content,
}

/// The server of `interest`, by answers within `patience`; `None` if no server has an open socket.
/// A single open socket is chosen without waiting.
#[must_use]
pub fn locate(
    places: &[SocketAddr],
    interest: &Interest,
    patience: Duration,
) -> Option<SocketAddr> {
    let probes = ask(places, interest, patience, |probes| probes.len() <= 1);
    best(&probes).map(|probe| probe.place)
}

/// As [`locate`], but `None` also if the best answer is a network Nack: no place serves the name yet.
#[must_use]
pub fn locate_served(
    places: &[SocketAddr],
    interest: &Interest,
    patience: Duration,
) -> Option<SocketAddr> {
    let probes = ask(places, interest, patience, <[Probe]>::is_empty);
    best(&probes).filter(|probe| probe.answer > Answer::Unrouted).map(|probe| probe.place)
}

/// Sends the Interest to all servers and reads answers until they suffice or number `enough`.
/// Servers without an open socket are left out.
fn ask(
    places: &[SocketAddr],
    interest: &Interest,
    patience: Duration,
    enough: fn(&[Probe]) -> bool,
) -> Vec<Probe> {
    let packet = interest.to_bytes();
    let probes = places.iter().filter_map(|place| Probe::send(*place, &packet).ok());
    let mut probes: Vec<Probe> = probes.collect();
    let deadline = Instant::now() + patience;
    loop {
        probes.iter_mut().for_each(|probe| probe.receive(interest));
        probes.retain(|probe| probe.answer != Answer::Unreachable);
        let left = deadline.saturating_duration_since(Instant::now());
        let is_over = enough(&probes) || is_decided(&probes) || left.is_zero();
        if is_over || wait(&probes, left).is_err() {
            return probes;
        }
    }
}

fn best(probes: &[Probe]) -> Option<&Probe> {
    let ranked = probes.iter().enumerate();
    ranked.max_by_key(|(rank, it)| (it.answer, Reverse(*rank))).map(|(_, probe)| probe)
}

fn is_decided(probes: &[Probe]) -> bool {
    probes.iter().any(|probe| probe.answer == Answer::Content)
        || probes.iter().all(|probe| probe.answer != Answer::Silent)
}

fn wait(probes: &[Probe], left: Duration) -> io::Result<()> {
    let silent = probes.iter().filter(|probe| probe.answer == Answer::Silent);
    let mut polled: Vec<PollFd<'_>> =
        silent.map(|probe| PollFd::new(&probe.socket, PollFlags::IN)).collect();
    let timeout =
        Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
    poll(&mut polled, Some(&timeout))?;
    Ok(())
}

/// An Interest to one place.
struct Probe {
    place: SocketAddr,
    socket: UdpSocket,
    answer: Answer,
}

impl Probe {
    fn send(place: SocketAddr, packet: &Bytes) -> io::Result<Self> {
        let any = match place {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let socket = UdpSocket::bind(any)?;
        socket.set_nonblocking(true)?;
        socket.connect(place)?;
        let answer = match socket.send(packet) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Answer::Unreachable,
            sent => sent.map(|_| Answer::Silent)?,
        };
        Ok(Self { place, socket, answer })
    }

    fn receive(&mut self, interest: &Interest) {
        if self.answer != Answer::Silent {
            return;
        }
        let mut buffer = [0; ANSWER_BYTES];
        match self.socket.recv(&mut buffer) {
            Ok(length) => {
                let frame = Bytes::copy_from_slice(buffer.get(..length).unwrap_or_default());
                self.answer = judge(frame, interest).unwrap_or(Answer::Silent);
            }
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                self.answer = Answer::Unreachable;
            }
            Err(_) => {}
        }
    }
}

/// The meaning of a frame, if it is an answer to the Interest.
fn judge(frame: Bytes, interest: &Interest) -> Option<Answer> {
    let LpPacket { header, fragment } = LpPacket::decode(frame).ok()?;
    let packet = fragment?;
    if header.nack.is_some() {
        let nacked = Interest::decode(packet).ok()?;
        return (nacked.name == interest.name).then_some(Answer::Unrouted);
    }
    if u64::from(*packet.first()?) != typ::DATA {
        return None;
    }
    let data = Data::decode(packet).ok()?;
    let answer = match data.content_type() {
        ContentType::Nack => Answer::Absent,
        _ => Answer::Content,
    };
    interest.name.is_prefix_of(data.name()).then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::lp::LpHeader;
    use recoup_packet::nack::NackReason;
    use recoup_packet::signature::DigestSigner;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn interest() -> Interest {
        let mut interest = Interest::new("/a/b".parse().unwrap());
        (interest.can_be_prefix, interest.nonce) = (true, Some(7));
        interest
    }

    fn data(content_type: ContentType) -> Bytes {
        let name = "/a/b/c".parse().unwrap();
        DataBuilder::new(&name).content_type(content_type).build(b"x", &DigestSigner).wire()
    }

    fn nack() -> Bytes {
        let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
        let mut frame = BytesMut::new();
        LpPacket { header, fragment: Some(interest().to_bytes()) }.encode(&mut frame);
        frame.freeze()
    }

    /// A place that answers with these frames.
    fn server(answers: Vec<Bytes>) -> SocketAddr {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let place = socket.local_addr().unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        std::thread::spawn(move || {
            let (_, from) = socket.recv_from(&mut [0; 1_000]).unwrap();
            for answer in answers {
                socket.send_to(&answer, from).unwrap();
            }
            // Stays bound while others are asked.
            std::thread::sleep(PATIENCE);
        });
        place
    }

    fn closed() -> SocketAddr {
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap()
    }

    #[test]
    fn the_place_with_content_is_chosen() {
        let noise = Bytes::from_static(&[6, 200, 1, 2]);
        let [first, second, third] = [
            server(vec![nack()]),
            server(vec![data(ContentType::Nack)]),
            server(vec![noise, data(ContentType::Blob)]),
        ];
        let places = [closed(), first, second, third];
        assert_eq!(locate(&places, &interest(), PATIENCE), Some(third));
    }

    #[test]
    fn silent_server_is_preferred_to_a_network_nack() {
        let [nacks, silent] = [server(vec![nack()]), server(Vec::new())];
        let places = [nacks, closed(), silent];
        let patience = Duration::from_millis(100);
        assert_eq!(locate(&places, &interest(), patience), Some(silent));
        let both = [server(vec![data(ContentType::Nack)]), server(Vec::new())];
        assert_eq!(locate(&both, &interest(), patience), Some(both[0]));
        let serving = |place| locate_served(&[closed(), place], &interest(), patience);
        assert_eq!(serving(server(vec![nack()])), None);
        let silent = server(Vec::new());
        assert_eq!(serving(silent), Some(silent));
    }

    #[test]
    fn a_single_open_place_is_chosen_at_once() {
        let silent = server(Vec::new());
        let begun = Instant::now();
        let patience = 60 * PATIENCE;
        assert_eq!(locate(&[closed(), silent], &interest(), patience), Some(silent));
        assert_eq!(locate(&[closed(), closed()], &interest(), patience), None);
        assert!(begun.elapsed() < patience / 2);
    }

    #[test]
    fn data_of_another_name_is_no_answer() {
        let other = "/a/c".parse().unwrap();
        let other = DataBuilder::new(&other).build(b"x", &DigestSigner).wire();
        assert_eq!(judge(other, &interest()), None);
        assert_eq!(judge(data(ContentType::Blob), &interest()), Some(Answer::Content));
        assert_eq!(judge(Bytes::from_static(b"\x64\x02\xff\xff"), &interest()), None);
    }
}
