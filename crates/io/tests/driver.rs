//! The driver against real sockets: every kind of face, and peers that misbehave.
use bytes::Bytes;
use recoup_forwarder::drop;
use recoup_forwarder::face::{AppId, FaceForm, FaceId};
use recoup_forwarder::node::{Input, Machine, Output};
use recoup_io::driver::{Driver, DriverOptions, ListenerHandle};
use recoup_io::face::{CloseReason, DropReason, FaceChange, FaceError, FaceUri};
use recoup_io::memory;
use recoup_packet::tlv;
use recoup_transport::application::Report;
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Remembers what it was told, and sends back every frame if asked to.
#[derive(Default)]
struct Recorder {
    echo: bool,
    ups: Vec<(FaceId, usize, bool, Option<u64>)>,
    downs: Vec<FaceId>,
    frames: Vec<(FaceId, Bytes)>,
    outputs: VecDeque<Output>,
    deadline: Option<Instant>,
    fired: Vec<Instant>,
}

impl Recorder {
    fn send(&mut self, face: FaceId, frame: impl Into<Bytes>) {
        self.outputs.push_back(Output::Send { face, frame: frame.into() });
    }
}

impl Machine for Recorder {
    fn handle(&mut self, _now: Instant, input: Input) {
        match input {
            Input::FaceUp { face, attributes } => {
                let FaceForm::Wire { mtu } = attributes.form else {
                    panic!("{attributes:?}");
                };
                self.ups.push((face, mtu, attributes.upstream, attributes.receive_budget));
            }
            Input::FaceDown { face } => self.downs.push(face),
            Input::Frame { face, frame } if self.echo => self.send(face, frame),
            Input::Frame { face, frame } => self.frames.push((face, frame)),
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Output> {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.fired.push(now);
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

fn uri(text: &str) -> FaceUri {
    text.parse().unwrap()
}

/// A Data-shaped frame of `length` octets in all.
fn frame(length: usize) -> Vec<u8> {
    let header = if length < 255 { 2 } else { 4 };
    let mut octets = Vec::new();
    tlv::put_tlv(&mut octets, tlv::typ::DATA, &vec![0x5A; length - header]);
    octets
}

/// An Interest-shaped frame: what opens an on-demand UDP face.
fn interest(length: u8) -> Vec<u8> {
    let mut octets = vec![5, length - 2];
    octets.resize(usize::from(length), 1);
    octets
}

fn impatient() -> DriverOptions {
    DriverOptions {
        connect_timeout: Duration::from_secs(2),
        reconnect_after: Duration::from_millis(10),
        ..DriverOptions::default()
    }
}

fn driver() -> Driver {
    bounded(Driver::with_options(impatient()).unwrap())
}

fn bounded(mut driver: Driver) -> Driver {
    driver.set_longest_wait(Some(Duration::from_millis(20)));
    driver
}

/// Turns until `done`, and fails after some seconds.
fn turn_until<M: Machine>(
    driver: &mut Driver,
    machine: &mut M,
    done: impl Fn(&M, &Driver) -> bool,
) {
    let end = driver.now() + Duration::from_secs(20);
    while !done(machine, driver) {
        assert!(driver.now() < end, "it did not happen in time");
        driver.turn(machine, &mut |_, _, _| {}).unwrap();
    }
}

fn changes(driver: &mut Driver) -> Vec<FaceChange> {
    std::iter::from_fn(|| driver.next_event()).map(|event| event.change).collect()
}

/// A driver in a thread of its own that sends everything back.
struct Echo {
    handle: ListenerHandle,
    stop: Arc<AtomicBool>,
    waker: recoup_io::waker::Waker,
    thread: Option<JoinHandle<Driver>>,
}

impl Echo {
    fn listen(at: &str) -> Self {
        let mut driver = Driver::with_options(impatient()).unwrap();
        let handle = driver.listen(&uri(at)).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (waker, stopped) = (driver.waker(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let mut machine = Recorder { echo: true, ..Recorder::default() };
            while !stopped.load(Ordering::Relaxed) {
                driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
            }
            driver
        });
        Self { handle, stop, waker, thread: Some(thread) }
    }

    fn stop(mut self) -> Driver {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        self.thread.take().unwrap().join().unwrap()
    }
}

/// Sends frames of many lengths to an echo and expects them back in order.
fn exchange(at: &str) {
    let echo = Echo::listen(at);
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let face = driver.connect(&echo.handle.uri).unwrap();
    let lengths = [60, 60, 60, 8_000, 8_000, 8_000, 8_000, 1_300, 1_301, 1_300, 4, 8_800, 4];
    // The first frame opens the peer's face.
    machine.send(face, interest(2));
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 1);
    for _ in 0..20 {
        machine.frames.clear();
        for length in lengths {
            machine.send(face, frame(length));
        }
        turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == lengths.len());
        let found: Vec<_> = machine.frames.iter().map(|(_, frame)| frame.len()).collect();
        assert_eq!(found, lengths);
        assert!(
            machine.frames.iter().all(|(from, echo)| *from == face && **echo == frame(echo.len()))
        );
    }
    let counters = driver.counters(face).unwrap();
    assert_eq!((counters.frames_in, counters.frames_out), (261, 261));
    assert_eq!(counters.octets_in, counters.octets_out);
    assert_eq!(counters.dropped_total(), 0);
    assert_eq!(machine.ups.len(), 1);
    let (up, mtu, upstream, _) = machine.ups[0];
    assert_eq!((up, mtu, upstream), (face, 8_800, true));
    let peer = echo.stop();
    assert_eq!(peer.totals().frames_in, 261);
}

#[test]
fn frames_come_back_over_udp() {
    exchange("udp4://127.0.0.1:0");
    exchange("udp6://[::1]:0");
}

#[test]
fn answers_leave_from_the_address_that_was_asked() {
    let echo = Echo::listen("udp4://0.0.0.0:0");
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let port = echo.handle.address.unwrap().port();
    let face = driver.connect(&uri(&format!("udp4://127.0.0.3:{port}"))).unwrap();
    machine.send(face, interest(60));
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 1);
    echo.stop();
}

#[test]
fn frames_come_back_over_tcp() {
    exchange("tcp4://127.0.0.1:0");
    exchange("tcp6://[::1]:0");
}

#[test]
fn frames_come_back_over_unix_sockets() {
    let folder = tempfile::tempdir().unwrap();
    exchange(&format!("unix://{}/nfd.sock", folder.path().display()));
}

#[test]
fn frames_come_back_over_websockets() {
    exchange("ws://127.0.0.1:0/");
}

#[test]
fn frames_come_back_within_the_process() {
    exchange("memory://an echo");
}

#[test]
fn both_ends_of_a_pair_can_be_attached() {
    let (left, right) = memory::pair(1 << 20).unwrap();
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let left = driver.attach(left, true).unwrap();
    let right = driver.attach(right, false).unwrap();
    machine.send(left, frame(100));
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 1);
    assert_eq!(machine.frames[0].0, right);
    driver.close(left);
    turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() == 2);
}

#[test]
fn a_receive_budget_is_known_for_datagrams_and_streams() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let listener = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap();
    let datagrams = driver.connect(&uri("udp4://127.0.0.1:9")).unwrap();
    let stream = driver.connect(&listener.uri).unwrap();
    assert!(driver.attributes(datagrams).unwrap().receive_budget.unwrap() >= 64 * 1024);
    let backlog = DriverOptions::default().backlog_octets as u64;
    let of_stream = driver.attributes(stream).unwrap().receive_budget;
    assert_eq!(of_stream, Some(backlog));
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 3);
}

#[test]
fn timers_fire_on_time_and_wakers_interrupt() {
    let (mut driver, mut machine) = (Driver::new().unwrap(), Recorder::default());
    let due = driver.now() + Duration::from_millis(30);
    machine.deadline = Some(due);
    while machine.fired.is_empty() {
        driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    }
    let late = machine.fired[0].since(due);
    assert!(machine.fired[0] >= due && late < Duration::from_secs(2), "{late:?}");
    let waker = driver.waker();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        waker.wake();
    });
    assert!(driver.turn(&mut machine, &mut |_, _, _| {}).unwrap().woken);
    thread.join().unwrap();
    driver.set_longest_wait(Some(Duration::from_millis(1)));
    assert!(!driver.turn(&mut machine, &mut |_, _, _| {}).unwrap().woken);
}

#[test]
fn what_the_machine_tells_its_applications_owner_is_handed_on() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let content = Report::Content { segment: 3, content: Bytes::from_static(b"hello") };
    machine.outputs.push_back(Output::App { app: AppId(7), report: content });
    let mut told = Vec::new();
    driver.turn(&mut machine, &mut |_, app, output| told.push((app, output))).unwrap();
    assert!(matches!(told[..], [(AppId(7), Report::Content { segment: 3, .. })]));
    let reason = drop::DropReason::Malformed;
    machine.outputs.push_back(Output::Dropped { face: None, kind: None, reason });
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    assert_eq!(driver.node_drops().get(&reason), Some(&1));
}

#[test]
fn frames_that_cannot_be_sent_are_counted_with_their_reason() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let face = driver.connect(&uri("udp4://127.0.0.1:9")).unwrap();
    machine.send(face, Bytes::new());
    machine.send(face, frame(8_801));
    machine.send(FaceId(99), frame(10));
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    let counters = driver.counters(face).unwrap();
    assert_eq!(counters.dropped(DropReason::Empty), 1);
    assert_eq!(counters.dropped(DropReason::TooLong), 1);
    assert_eq!(driver.totals().dropped(DropReason::NoFace), 1);
}

#[test]
fn datagrams_that_start_no_conversation_open_no_face() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let at = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    for octets in [&b""[..], b"\x00", b"GET /", &frame(100)] {
        peer.send_to(octets, at).unwrap();
    }
    turn_until(&mut driver, &mut machine, |_, driver| {
        driver.totals().dropped(DropReason::Unsolicited) == 3
            && driver.totals().dropped(DropReason::Empty) == 1
    });
    assert!(machine.ups.is_empty() && machine.frames.is_empty());
    peer.send_to(&interest(20), at).unwrap();
    peer.send_to(b"", at).unwrap();
    peer.send_to(b"any garbage is the node's to judge", at).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 2);
    assert_eq!(machine.ups.len(), 1);
    assert!(!machine.ups[0].2);
}

#[test]
fn too_many_udp_peers_evict_the_longest_silent_one() {
    let options = DriverOptions { on_demand_faces: 3, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let mut machine = Recorder::default();
    let at = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
    let peers: Vec<_> = (0..5).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    for peer in &peers[..4] {
        peer.send_to(&interest(20), at).unwrap();
    }
    // Those heard a moment ago stay, whoever comes.
    turn_until(&mut driver, &mut machine, |_, driver| {
        driver.totals().dropped(DropReason::Unsolicited) == 1
    });
    assert_eq!(machine.frames.len(), 3);
    let later = driver.now() + Duration::from_millis(1_100);
    turn_until(&mut driver, &mut machine, |_, driver| driver.now() > later);
    peers[4].send_to(&interest(20), at).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 4);
    assert_eq!(machine.downs, [machine.ups[0].0]);
    let evicted = FaceChange::Down { reason: CloseReason::Evicted, retry: None };
    assert_eq!(changes(&mut driver).iter().filter(|change| **change == evicted).count(), 1);
}

#[test]
fn silent_connections_do_not_keep_newcomers_out() {
    let options = DriverOptions { on_demand_faces: 3, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let mut machine = Recorder::default();
    let at = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap().address.unwrap();
    let _silent: Vec<_> = (0..3).map(|_| TcpStream::connect(at).unwrap()).collect();
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 3);
    let later = driver.now() + Duration::from_millis(1_100);
    turn_until(&mut driver, &mut machine, |_, driver| driver.now() > later);
    let mut newcomer = TcpStream::connect(at).unwrap();
    newcomer.write_all(&interest(20)).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 1);
    assert_eq!(machine.downs, [machine.ups[0].0]);
}

#[test]
fn silent_udp_peers_are_forgotten() {
    let options = DriverOptions { udp_idle: Duration::from_millis(200), ..impatient() };
    let mut driver = Driver::with_options(options).unwrap();
    let mut machine = Recorder::default();
    let at = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    for round in 1..3 {
        peer.send_to(&interest(20), at).unwrap();
        turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() == round);
        assert_eq!((machine.ups.len(), driver.faces().count()), (round, 0));
    }
}

#[test]
fn a_listener_of_both_families_answers_ipv4_peers() {
    let echo = Echo::listen("udp6://[::]:0");
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let port = echo.handle.address.unwrap().port();
    for host in ["127.0.0.3", "[::1]"] {
        let face = driver.connect(&uri(&format!("udp://{host}:{port}"))).unwrap();
        machine.frames.clear();
        (0..20).for_each(|_| machine.send(face, interest(200)));
        turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 20);
    }
    echo.stop();
}

#[test]
fn a_forwarder_that_stays_away_costs_one_timer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = uri(&format!("ws://{}/", listener.local_addr().unwrap()));
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        drop(tungstenite::accept(stream).unwrap());
        // Whoever comes again is turned away in the middle of the handshake.
        for _ in 0..4 {
            drop(listener.accept().unwrap());
        }
    });
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let face = driver.connect(&at).unwrap();
    let mut downs = 0;
    while downs < 6 {
        driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
        let told = changes(&mut driver);
        downs +=
            told.iter().filter(|c| matches!(c, FaceChange::Down { retry: Some(_), .. })).count();
    }
    server.join().unwrap();
    assert_eq!((machine.ups.len(), &machine.downs[..]), (1, &[face][..]));
}

#[test]
fn a_udp_peer_that_vanishes_is_reported_once_and_found_again() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = peer.local_addr().unwrap();
    drop(peer);
    let face = driver.connect(&uri(&format!("udp4://{at}"))).unwrap();
    for _ in 0..5 {
        machine.send(face, interest(30));
        driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
        driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    }
    let told = changes(&mut driver);
    let unreachable = told.iter().filter(|change| matches!(change, FaceChange::Unreachable(_)));
    assert_eq!(unreachable.count(), 1, "{told:?}");
    let peer = UdpSocket::bind(at).unwrap();
    machine.send(face, interest(30));
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    let mut buffer = [0; 100];
    let (length, from) = peer.recv_from(&mut buffer).unwrap();
    peer.send_to(&buffer[..length], from).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 1);
    assert!(machine.downs.is_empty());
}

#[test]
fn a_stream_is_opened_again_under_the_same_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nfd.sock");
    let at = uri(&format!("unix://{}", path.display()));
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let face = driver.connect(&at).unwrap();
    drop(listener.accept().unwrap());
    turn_until(&mut driver, &mut machine, |machine, _| machine.downs == [face]);
    machine.send(face, frame(10));
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 2);
    assert_eq!(driver.counters(face).unwrap().dropped(DropReason::Down), 1);
    assert_eq!(machine.ups[1].0, face);
    let (mut peer, _) = listener.accept().unwrap();
    machine.send(face, frame(10));
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    let mut octets = [0; 10];
    peer.read_exact(&mut octets).unwrap();
    // Without a forwarder the pauses grow.
    drop((listener, peer));
    std::fs::remove_file(&path).unwrap();
    turn_until(&mut driver, &mut machine, |_, driver| driver.counters(face).is_some());
    let end = driver.now() + Duration::from_millis(500);
    turn_until(&mut driver, &mut machine, |_, driver| driver.now() > end);
    let pauses: Vec<_> = changes(&mut driver)
        .into_iter()
        .filter_map(|change| match change {
            FaceChange::Down { retry, .. } => retry,
            _ => None,
        })
        .collect();
    assert!(pauses.len() < 12 && pauses.last().unwrap() > &Duration::from_millis(80), "{pauses:?}");
}

#[test]
fn a_tcp_face_is_opened_again_too() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = uri(&format!("tcp://{}", listener.local_addr().unwrap()));
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let face = driver.connect(&at).unwrap();
    drop(listener.accept().unwrap());
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 2);
    assert_eq!((machine.ups[1].0, machine.downs.len()), (face, 1));
}

#[test]
fn garbage_and_oversized_frames_close_the_face_with_a_reason() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let at = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap().address.unwrap();
    for octets in [&b"GET / HTTP/1.1\r\n"[..], &[6, 253, 0x40, 0], &[6, 253, 0, 1], &[0]] {
        let mut peer = TcpStream::connect(at).unwrap();
        peer.write_all(octets).unwrap();
        let before = machine.downs.len();
        turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() > before);
        // The peer is told by the end of its connection.
        assert!(matches!(peer.read(&mut [0; 10]), Ok(0) | Err(_)));
    }
    let told = changes(&mut driver);
    let reasons: Vec<_> = told
        .iter()
        .filter_map(|change| match change {
            FaceChange::Down { reason, retry: None } => Some(reason.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons.len(), 4);
    assert!(reasons[0].contains("no NDN packet") && reasons[1].contains("16388 octets"));
    assert_eq!(driver.faces().count(), 0);
}

#[test]
fn half_a_frame_is_waited_for_and_never_delivered() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let at = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap().address.unwrap();
    let mut peer = TcpStream::connect(at).unwrap();
    peer.write_all(&frame(100)).unwrap();
    peer.write_all(&frame(100)[..99]).unwrap();
    peer.shutdown(Shutdown::Write).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() == 1);
    assert_eq!(machine.frames.len(), 1);
}

#[test]
fn a_peer_that_does_not_read_loses_frames_and_holds_up_nobody() {
    let options = DriverOptions { backlog_octets: 1 << 20, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nfd.sock");
    driver.listen(&uri(&format!("unix://{}", path.display()))).unwrap();
    let mut machine = Recorder::default();
    let deaf = UnixStream::connect(&path).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 1);
    let face = machine.ups[0].0;
    for _ in 0..2_000 {
        machine.send(face, frame(8_000));
    }
    let start = driver.now();
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    assert!(driver.now().since(start) < Duration::from_secs(2));
    let counters = driver.counters(face).unwrap();
    assert!(counters.dropped(DropReason::Backlog) > 1_000);
    assert_eq!(counters.dropped(DropReason::Backlog) + counters.frames_out, 2_000);
    // The other peer is served meanwhile, and the deaf one gets whole frames when it reads again.
    let mut other = UnixStream::connect(&path).unwrap();
    other.write_all(&frame(50)).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 1);
    let reader = std::thread::spawn(move || {
        let (mut deaf, mut octets) = (deaf, Vec::new());
        deaf.read_to_end(&mut octets).map(|_| octets)
    });
    driver.finish(Duration::from_secs(10));
    driver.close(face);
    let octets = reader.join().unwrap().unwrap();
    assert_eq!(octets.len(), 8_000 * counters.frames_out as usize);
    assert!(octets.chunks(8_000).all(|chunk| chunk == frame(8_000)));
}

#[test]
fn websocket_peers_may_be_slow_rude_or_wrong() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let handle = driver.listen(&uri("ws://127.0.0.1:0/")).unwrap();
    let at = handle.address.unwrap();
    // No handshake at all, an HTTP request for something else, and silence.
    let mut rude = TcpStream::connect(at).unwrap();
    rude.write_all(b"\x05\x03abc\r\n\r\n").unwrap();
    let mut lost = TcpStream::connect(at).unwrap();
    lost.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let silent = TcpStream::connect(at).unwrap();
    turn_until(&mut driver, &mut machine, |_, driver| driver.faces().count() == 3);
    turn_until(&mut driver, &mut machine, |_, driver| driver.faces().count() == 0);
    assert!(machine.ups.is_empty() && machine.downs.is_empty());
    drop((rude, lost, silent));
    // A text message is dropped, an oversized one ends the face.
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let client = std::thread::spawn(move || {
        let stream = TcpStream::connect(at).unwrap();
        let (mut socket, _) = tungstenite::client(format!("ws://{at}/"), stream).unwrap();
        socket.send("text".into()).unwrap();
        socket.send(tungstenite::Message::Ping(Bytes::from_static(b"?"))).unwrap();
        socket.send(tungstenite::Message::binary(interest(60))).unwrap();
        socket.send(tungstenite::Message::binary(Vec::new())).unwrap();
        let _ = socket.send(tungstenite::Message::binary(vec![6; 20_000]));
        while !stopped.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    });
    turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() == 1);
    stop.store(true, Ordering::Relaxed);
    client.join().unwrap();
    assert_eq!(machine.frames.len(), 1);
    assert_eq!(driver.totals().dropped(DropReason::Text), 1);
    assert_eq!(driver.totals().dropped(DropReason::Empty), 1);
    let told = changes(&mut driver);
    assert!(
        told.iter().any(|change| matches!(
            change,
            FaceChange::Down { reason: CloseReason::TooLong { .. }, .. }
        )),
        "{told:?}"
    );
}

#[test]
fn a_thousand_faces_come_and_go() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let streams = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap().address.unwrap();
    let datagrams = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap();
    for _ in 0..10 {
        let peers: Vec<_> = (0..50).map(|_| TcpStream::connect(streams).unwrap()).collect();
        let senders: Vec<_> = (0..50).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        for sender in &senders {
            sender.send_to(&interest(9), datagrams.address.unwrap()).unwrap();
        }
        for mut peer in &peers {
            peer.write_all(&interest(9)).unwrap();
        }
        let expected = machine.frames.len() + 100;
        turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == expected);
        drop(peers);
        let left: Vec<_> = driver.faces().collect();
        left.into_iter().for_each(|face| driver.close(face));
    }
    turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() == 1_000);
    assert_eq!((machine.ups.len(), driver.faces().count()), (1_000, 0));
    assert_eq!(driver.totals().frames_in, 1_000);
    driver.close_listener(datagrams.id);
    UdpSocket::bind(datagrams.address.unwrap()).unwrap();
}

#[test]
fn connections_beyond_the_bound_are_closed_at_once() {
    let options = DriverOptions { on_demand_faces: 2, faces: 3, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let mut machine = Recorder::default();
    let handle = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap();
    let mut peers: Vec<_> =
        (0..3).map(|_| TcpStream::connect(handle.address.unwrap()).unwrap()).collect();
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 2);
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    assert_eq!(peers[2].read(&mut [0]).unwrap(), 0);
    driver.connect(&handle.uri).unwrap();
    assert!(matches!(driver.connect(&handle.uri), Err(FaceError::TooMany { limit: 3, .. })));
}

#[test]
fn a_failed_connection_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = driver();
    let mut error = |at: String| driver.connect(&uri(&at)).unwrap_err().to_string();
    let path = folder.path().join("nfd.sock");
    assert!(error(format!("unix://{}", path.display())).contains("is a forwarder running"));
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(error(format!("unix://{}", path.display())).contains("may have stopped"));
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(error(format!("tcp://{free}")).contains("nobody listens"));
    assert!(error(format!("ws://{free}/")).contains("nobody listens"));
    assert!(error("memory://nobody".into()).contains("nobody"));
    assert!(error("tcp6://127.0.0.1".into()).contains("no usable address"));
    assert!(error("udp://no.such.host.invalid".into()).contains("no.such.host.invalid"));
}

#[test]
fn a_websocket_server_that_is_none_is_refused_in_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("ws://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap();
        listener.accept().unwrap()
    });
    let mut driver = driver();
    assert!(driver.connect(&uri(&at)).unwrap_err().to_string().contains("404"));
    assert!(driver.connect(&uri(&at)).unwrap_err().to_string().contains("no answer within"));
    server.join().unwrap();
}

#[test]
fn listening_where_somebody_listens_is_refused() {
    let (mut first, mut second) = (driver(), driver());
    for at in ["tcp4://127.0.0.1:0", "udp4://127.0.0.1:0", "ws://127.0.0.1:0"] {
        let handle = first.listen(&uri(at)).unwrap();
        let error = second.listen(&handle.uri).unwrap_err();
        assert!(error.to_string().contains("another program"), "{error}");
    }
    let error = first.listen(&uri("udp4://192.0.2.1:0")).unwrap_err();
    assert!(error.to_string().contains("no such address"), "{error}");
}
