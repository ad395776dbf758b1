//! Peers that misbehave, and many of them.
use crate::harness::*;
use bytes::Bytes;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::face::{CloseReason, DropReason, FaceChange, FaceError};
use recoup_transport::time::Duration;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tungstenite::ClientRequestBuilder;

#[test]
fn garbage_and_oversized_frames_close_the_face() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let at = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap().address.unwrap();
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], &[6, 253, 0x40, 0], &[6, 253, 0, 1], &[0]] {
        let mut peer = TcpStream::connect(at).unwrap();
        peer.write_all(bytes).unwrap();
        let before = machine.downs.len();
        turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() > before);
        // The end of the connection informs the peer.
        assert!(matches!(peer.read(&mut [0; 10]), Ok(0) | Err(_)));
    }
    let events = changes(&mut driver);
    let reasons: Vec<_> = events
        .iter()
        .filter_map(|change| match change {
            FaceChange::Down { reason, retry: None } => Some(reason.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons.len(), 4);
    assert!(reasons[0].contains("no NDN packet") && reasons[1].contains("16388 bytes"));
    assert_eq!(driver.faces().count(), 0);
}

#[test]
fn partial_frame_is_never_delivered() {
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
fn peer_that_does_not_read_blocks_no_other() {
    let options = DriverOptions { backlog_bytes: 1 << 20, ..impatient() };
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
    assert!(driver.now().since(start) < Duration::from_secs(120));
    let counters = driver.counters(face).unwrap();
    assert!(counters.dropped(DropReason::Backlog) > 1_000);
    assert_eq!(counters.dropped(DropReason::Backlog) + counters.frames_out, 2_000);
    // The other peer is served meanwhile, and the deaf one gets whole frames when it reads again.
    let mut other = UnixStream::connect(&path).unwrap();
    other.write_all(&frame(50)).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 1);
    let reader = std::thread::spawn(move || {
        let (mut deaf, mut bytes) = (deaf, Vec::new());
        deaf.read_to_end(&mut bytes).map(|_| bytes)
    });
    driver.finish(Duration::from_secs(120));
    driver.close(face);
    let bytes = reader.join().unwrap().unwrap();
    assert_eq!(bytes.len(), 8_000 * counters.frames_out as usize);
    assert!(bytes.chunks(8_000).all(|chunk| chunk == frame(8_000)));
}

/// Connects to the listener at `at` of this kind, and keeps the connection without reading.
fn connect_deaf(kind: &str, at: &str) -> std::thread::JoinHandle<Box<dyn std::any::Any + Send>> {
    let (kind, at) = (kind.to_owned(), at.to_owned());
    std::thread::spawn(move || -> Box<dyn std::any::Any + Send> {
        match &*kind {
            "unix" => Box::new(UnixStream::connect(at).unwrap()),
            "tcp" => Box::new(TcpStream::connect(at).unwrap()),
            _ => {
                let stream = TcpStream::connect(&at).unwrap();
                Box::new(tungstenite::client(format!("ws://{at}/"), stream).unwrap().0)
            }
        }
    })
}

#[test]
fn connection_that_takes_nothing_ends() {
    for kind in ["unix", "tcp", "ws"] {
        let stall = Duration::from_millis(200);
        let options = DriverOptions { stream_stall: stall, ..impatient() };
        let mut driver = bounded(Driver::with_options(options).unwrap());
        let mut machine = Recorder::default();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nfd.sock").display().to_string();
        let listened = match kind {
            "unix" => driver.listen(&uri(&format!("unix://{path}"))).unwrap(),
            _ => driver.listen(&uri(&format!("{kind}://127.0.0.1:0"))).unwrap(),
        };
        let at = listened.address.map_or(path, |address| address.to_string());
        let deaf = connect_deaf(kind, &at);
        turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 1);
        let _deaf = deaf.join().unwrap();
        // A WebSocket keeps less than the system does: it is filled in several turns.
        for _ in 0..40 {
            (0..100).for_each(|_| machine.send(machine.ups[0].0, frame(8_000)));
            driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
        }
        turn_until(&mut driver, &mut machine, |machine, _| machine.downs.len() == 1);
        let ended = FaceChange::Down { reason: CloseReason::Stalled(stall), retry: None };
        assert!(changes(&mut driver).contains(&ended), "{kind}");
    }
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
    let events = changes(&mut driver);
    assert!(
        events.iter().any(|change| matches!(
            change,
            FaceChange::Down { reason: CloseReason::TooLong { .. }, .. }
        )),
        "{events:?}"
    );
}

#[test]
fn page_of_another_machine_is_not_local() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let at = driver.listen(&uri("ws://127.0.0.1:0/")).unwrap().address.unwrap();
    for (origin, local) in [
        (None, true),
        (Some("http://localhost:5173"), true),
        (Some("https://example.net"), false),
        (Some("null"), false),
        (Some("http://localhost:80@evil.example"), false),
    ] {
        let client = std::thread::spawn(move || {
            let request = ClientRequestBuilder::new(format!("ws://{at}/").parse().unwrap());
            let request = match origin {
                Some(origin) => request.with_header("Origin", origin),
                None => request,
            };
            tungstenite::client(request, TcpStream::connect(at).unwrap()).unwrap()
        });
        let before = machine.ups.len();
        turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() > before);
        let face = machine.ups[before].0;
        assert_eq!(driver.attributes(face).unwrap().local, local, "{origin:?}");
        assert_eq!(driver.describe(face).unwrap().local, local, "{origin:?}");
        drop(client.join().unwrap());
    }
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
    let options = DriverOptions { on_demand_faces: 3, faces: 16, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let mut machine = Recorder::default();
    let handle = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap();
    let mut peers: Vec<_> =
        (0..3).map(|_| TcpStream::connect(handle.address.unwrap()).unwrap()).collect();
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 2);
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    assert_eq!(peers[2].read(&mut [0]).unwrap(), 0);
    // An eighth of all faces is for peers of one kind.
    for _ in 0..14 {
        driver.connect(&handle.uri).unwrap();
    }
    assert!(matches!(driver.connect(&handle.uri), Err(FaceError::TooMany { limit: 16, .. })));
}

#[test]
fn websocket_handshake_with_another_server_fails_in_time() {
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
fn one_address_cannot_exhaust_the_face_limit() {
    let options = DriverOptions { faces_per_address: 3, on_demand_faces: 5, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let at = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
    let mut machine = Recorder::default();
    let greedy: Vec<_> = (0..10).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    for peer in &greedy {
        peer.send_to(&interest(50), at).unwrap();
    }
    let rejected = |driver: &Driver| driver.totals().dropped(DropReason::NoRoom);
    turn_until(&mut driver, &mut machine, |_, driver| rejected(driver) == 7);
    assert_eq!(machine.frames.len(), 3);
    let other = UdpSocket::bind("127.0.0.2:0").unwrap();
    other.send_to(&interest(50), at).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 4);
    // The longest idle face gives way to another of the same address.
    std::thread::sleep(Duration::from_millis(1_100));
    greedy[9].send_to(&interest(50), at).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 5);
    assert_eq!((machine.downs.len(), driver.faces().count()), (1, 4));
}
