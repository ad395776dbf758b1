//! Peers that are silent, vanish, and come back.
use crate::harness::*;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::face::{CloseReason, DropReason, FaceChange};
use recoup_transport::time::Duration;
use std::io::Read;
use std::net::{TcpStream, UdpSocket};

#[test]
fn datagrams_that_start_no_conversation_open_no_face() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let at = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    for bytes in [&b""[..], b"\x00", b"GET /", &frame(100)] {
        peer.send_to(bytes, at).unwrap();
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
fn answered_udp_peers_evict_the_longest_silent() {
    let options = DriverOptions { on_demand_faces: 3, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let mut machine = Recorder::default();
    let at = driver.listen(&uri("udp4://127.0.0.1:0")).unwrap().address.unwrap();
    let peers: Vec<_> = (0..4).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    for (index, peer) in peers.iter().enumerate() {
        peer.send_to(&interest(20), at).unwrap();
        turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() > index);
        machine.answer(machine.frames[index].0);
        turn_until(&mut driver, &mut machine, |machine, _| machine.outputs.is_empty());
        peer.recv(&mut [0; 100]).expect("newcomers are answered");
    }
    // Recently active ones stay, and the last one stays a newcomer.
    let up =
        |driver: &mut Driver| changes(driver).iter().filter(|it| **it == FaceChange::Up).count();
    assert_eq!((up(&mut driver), machine.downs.len()), (3, 0));
    let faces: Vec<_> = machine.frames.iter().map(|(face, _)| *face).collect();
    let provisional = |driver: &Driver| {
        faces.iter().map(|face| Some(driver.attributes(*face)?.provisional)).collect::<Vec<_>>()
    };
    assert_eq!(provisional(&driver), [Some(false), Some(false), Some(false), Some(true)]);
    let later = driver.now() + Duration::from_millis(1_100);
    turn_until(&mut driver, &mut machine, |_, driver| driver.now() > later);
    machine.answer(faces[3]);
    turn_until(&mut driver, &mut machine, |machine, _| !machine.downs.is_empty());
    assert_eq!(machine.downs, [faces[0]]);
    assert_eq!(provisional(&driver), [None, Some(false), Some(false), Some(false)]);
    let evicted = FaceChange::Down { reason: CloseReason::Evicted, retry: None };
    assert_eq!(changes(&mut driver).iter().filter(|change| **change == evicted).count(), 1);
    assert_eq!(driver.admission().evicted, 1);
}

#[test]
fn face_in_use_is_not_evicted() {
    let options = DriverOptions { on_demand_faces: 2, ..impatient() };
    let mut driver = bounded(Driver::with_options(options).unwrap());
    let mut machine = Recorder::default();
    let at = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap().address.unwrap();
    let _silent: Vec<_> = (0..2).map(|_| TcpStream::connect(at).unwrap()).collect();
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 2);
    let faces = [machine.ups[0].0, machine.ups[1].0];
    machine.uses.entry(faces[0]).or_default().routes = true;
    machine.uses.entry(faces[1]).or_default().pending = true;
    let later = driver.now() + Duration::from_millis(1_100);
    turn_until(&mut driver, &mut machine, |_, driver| driver.now() > later);
    let mut third = TcpStream::connect(at).unwrap();
    turn_until(&mut driver, &mut machine, |_, driver| {
        driver.totals().dropped(DropReason::NoRoom) == 1
    });
    assert_eq!(third.read(&mut [0]).unwrap(), 0);
    machine.uses.remove(&faces[1]);
    let later = driver.now() + Duration::from_millis(1_100);
    turn_until(&mut driver, &mut machine, |_, driver| driver.now() > later);
    let _fourth = TcpStream::connect(at).unwrap();
    turn_until(&mut driver, &mut machine, |machine, _| machine.ups.len() == 3);
    assert_eq!(machine.downs, [faces[1]]);
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
    if !recoup_io::port::has_both_families() {
        return eprintln!("skipped: no IPv6");
    }
    for scheme in ["udp", "tcp"] {
        let echo = Echo::listen(&format!("{scheme}6://[::]:0"));
        let (mut driver, mut machine) = (driver(), Recorder::default());
        let port = echo.handle.address.unwrap().port();
        for host in ["127.0.0.3", "[::1]"] {
            let face = driver.connect(&uri(&format!("{scheme}://{host}:{port}"))).unwrap();
            machine.frames.clear();
            (0..20).for_each(|_| machine.send(face, interest(200)));
            turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 20);
        }
        echo.stop();
    }
}

#[test]
fn a_forwarder_that_stays_away_costs_one_timer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = uri(&format!("ws://{}/", listener.local_addr().unwrap()));
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        drop(tungstenite::accept(stream).unwrap());
        // A returning peer is rejected during the handshake.
        for _ in 0..4 {
            drop(listener.accept().unwrap());
        }
    });
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let face = driver.connect(&at).unwrap();
    let mut downs = 0;
    while downs < 6 {
        driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
        let events = changes(&mut driver);
        downs +=
            events.iter().filter(|c| matches!(c, FaceChange::Down { retry: Some(_), .. })).count();
    }
    server.join().unwrap();
    assert_eq!((machine.ups.len(), &machine.downs[..]), (1, &[face][..]));
}

#[test]
fn vanished_udp_peer_is_reported_once() {
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
    let events = changes(&mut driver);
    let unreachable = events.iter().filter(|change| matches!(change, FaceChange::Unreachable(_)));
    assert_eq!(unreachable.count(), 1, "{events:?}");
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
fn stream_is_reopened_under_its_face_number() {
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
    let mut bytes = [0; 10];
    peer.read_exact(&mut bytes).unwrap();
    // Without a forwarder the pauses grow.
    drop((listener, peer));
    std::fs::remove_file(&path).unwrap();
    turn_until(&mut driver, &mut machine, |_, driver| driver.counters(face).is_some());
    let mut pauses: Vec<Duration> = Vec::new();
    while pauses.len() < 5 {
        driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
        pauses.extend(changes(&mut driver).into_iter().filter_map(|change| match change {
            FaceChange::Down { retry, .. } => retry,
            _ => None,
        }));
    }
    assert!(pauses.windows(2).all(|pair| pair[1] > pair[0]), "{pauses:?}");
}
