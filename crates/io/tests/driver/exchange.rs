//! Frames that come back, whatever carries them.
use crate::harness::*;
use bytes::Bytes;
use recoup_forwarder::drop;
use recoup_forwarder::face::{AppId, FaceId};
use recoup_forwarder::node::Output;
use recoup_io::driver::{Driver, DriverOptions};
use recoup_io::face::DropReason;
use recoup_io::memory;
use recoup_transport::application::Report;
use recoup_transport::time::Duration;
use std::collections::BTreeSet;
use std::net::ToSocketAddrs;

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
    assert_eq!(counters.bytes_in, counters.bytes_out);
    assert_eq!(counters.dropped_total(), 0);
    assert_eq!(machine.ups.len(), 1);
    let (up, mtu, upstream, _) = machine.ups[0];
    assert_eq!((up, mtu, upstream), (face, 8_800, true));
    let peer = echo.stop();
    assert_eq!(peer.totals().frames_in, 261);
}

#[test]
fn frames_come_back_over_every_transport() {
    for address in ["127.0.0.1", "[::1]"] {
        let version = if address.starts_with('[') { 6 } else { 4 };
        exchange(&format!("udp{version}://{address}:0"));
        exchange(&format!("tcp{version}://{address}:0"));
    }
    let folder = tempfile::tempdir().unwrap();
    exchange(&format!("unix://{}/nfd.sock", folder.path().display()));
    exchange("ws://127.0.0.1:0/");
    exchange("memory://an echo");
}

#[test]
fn answers_leave_from_the_address_of_the_interest() {
    let echo = Echo::listen("udp4://0.0.0.0:0");
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let port = echo.handle.address.unwrap().port();
    let face = driver.connect(&uri(&format!("udp4://127.0.0.3:{port}"))).unwrap();
    machine.send(face, interest(60));
    turn_until(&mut driver, &mut machine, |machine, _| machine.frames.len() == 1);
    echo.stop();
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
fn datagrams_and_streams_have_a_receive_budget() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let listener = driver.listen(&uri("tcp4://127.0.0.1:0")).unwrap();
    let datagrams = driver.connect(&uri("udp4://127.0.0.1:9")).unwrap();
    let stream = driver.connect(&listener.uri).unwrap();
    assert!(driver.attributes(datagrams).unwrap().receive_budget.unwrap() >= 64 * 1024);
    let backlog = DriverOptions::default().backlog_bytes as u64;
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
    assert!(machine.fired[0] >= due, "{:?}", machine.fired[0]);
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
fn application_reports_are_passed_on() {
    let (mut driver, mut machine) = (driver(), Recorder::default());
    let content = Report::Content { segment: 3, content: Bytes::from_static(b"hello") };
    machine.outputs.push_back(Output::App { app: AppId(7), report: content });
    let mut reports = Vec::new();
    driver.turn(&mut machine, &mut |_, app, output| reports.push((app, output))).unwrap();
    assert!(matches!(reports[..], [(AppId(7), Report::Content { segment: 3, .. })]));
    let reason = drop::DropReason::Malformed;
    machine.outputs.push_back(Output::Dropped { face: None, kind: None, reason });
    driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
    assert_eq!(driver.node_drops().get(&reason), Some(&1));
}

#[test]
fn unsendable_frames_are_counted_by_reason() {
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
fn connection_tries_each_address_of_a_host() {
    let Ok(all) = ("localhost", 0).to_socket_addrs() else {
        return eprintln!("skipped: localhost has no address");
    };
    if all.map(|address| address.is_ipv6()).collect::<BTreeSet<_>>().len() < 2 {
        return eprintln!("skipped: localhost has addresses of one family only");
    }
    // Whichever the resolver names first, one of the two is not at that.
    for at in ["udp4://127.0.0.1:0", "udp6://[::1]:0"] {
        let echo = Echo::listen(at);
        let port = echo.handle.address.unwrap().port();
        let (mut driver, mut machine) = (driver(), Recorder::default());
        let face = driver.connect(&uri(&format!("udp://localhost:{port}"))).unwrap();
        let mut patience = Patience::new(&driver);
        while machine.frames.is_empty() {
            patience.look(&driver);
            machine.send(face, interest(20));
            driver.turn(&mut machine, &mut |_, _, _| {}).unwrap();
        }
        assert_eq!(machine.frames[0].1, interest(20));
        echo.stop();
    }
}
