//! `fetch --wait`: a producer that is not there yet, or that restarts.
use crate::place::{Ended, Place, in_own_network, noise, until};
use std::net::{TcpListener, UdpSocket};
use std::time::{Duration, Instant};

/// A UDP port that was free a moment ago.
fn udp_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Longer than a peer that rejects datagrams is tolerated without the option.
const ABSENCE: Duration = Duration::from_millis(2_600);

#[test]
fn a_producer_that_comes_later_is_waited_for() {
    let place = Place::new();
    let content = noise(50_000);
    place.write("data", &content);
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for face in [format!("udp://127.0.0.1:{}", udp_port()), format!("tcp://{tcp}")] {
        let words = format!("fetch /data -o copy -q --wait --face {face}");
        let fetch = place.command(&words).spawn().unwrap();
        std::thread::sleep(ABSENCE);
        let _server = place.serve(&format!("serve data --name /data --listen {face}"));
        Ended::of(&words, fetch.wait_with_output().unwrap()).succeeds();
        assert!(place.read("copy") == content, "{face}");
        std::fs::remove_file(place.path("copy")).unwrap();
    }
}

#[test]
fn a_producer_that_restarts_is_waited_for() {
    let place = Place::new();
    let content = noise(1_000_000);
    place.write("data", &content);
    let serve = format!("serve data --name /data --listen udp://127.0.0.1:{}", udp_port());
    let server = place.serve(&serve);
    let far = server.face().replace("udp4", "udp");
    let link = place.serve_with(
        &format!("link --between udp://127.0.0.1:0 {far} --back-queue 1000packets"),
        &["--back-rate", "4 Mbit/s"],
    );
    // To a file and to a pipe at a time.
    let fetches = ["-o copy", ""].map(|output| {
        let words = format!("fetch /data -q --wait=60s {output} --face {}", link.face());
        (output, place.command(&words).spawn().unwrap())
    });
    until("a part", || place.part_bytes("copy") > 50_000);
    let (_, served) = server.stop("TERM");
    assert!(served["segments"].as_u64().unwrap() < 200, "{served}");
    std::thread::sleep(ABSENCE);
    let _server = place.serve(&serve);
    for (output, fetch) in fetches {
        let ended = Ended::of(output, fetch.wait_with_output().unwrap()).succeeds();
        let arrived = if output.is_empty() { ended.stdout } else { place.read("copy") };
        assert!(arrived == content, "{output}");
    }
}

#[test]
fn a_stream_that_breaks_is_opened_again() {
    let place = Place::new();
    let content = noise(30_000_000);
    place.write("data", &content);
    let socket = place.path("socket");
    let serve = format!("serve data --name /data --listen unix://{}", socket.display());
    let server = place.serve(&serve);
    let words = format!(
        "fetch /data -q -o copy --wait=60s --congestion fixed(window=1) --face {}",
        server.face()
    );
    let fetch = place.command(&words).spawn().unwrap();
    until("a part", || place.part_bytes("copy") > 0);
    let (_, served) = server.stop("TERM");
    assert!(served["bytes"].as_u64().unwrap() < content.len() as u64, "{served}");
    std::thread::sleep(ABSENCE);
    let _server = place.serve(&serve);
    Ended::of(&words, fetch.wait_with_output().unwrap()).succeeds();
    assert!(place.read("copy") == content);
}

#[test]
fn waiting_ends_when_its_time_is_over() {
    let place = Place::new();
    let begun = Instant::now();
    place.run("fetch /a -o x --wait=1s --face unix:///no/where.sock").fails(6, &["/no/where.sock"]);
    assert!(begun.elapsed() > Duration::from_millis(900), "{:?}", begun.elapsed());
    let words = format!("fetch /a -o x --wait=1s --face udp://127.0.0.1:{}", udp_port());
    place.run(&words).fails(7, &["no answer for /a within 1 s"]);
    place.run("fetch /a -o x --wait --retries 3").fails_as_usage(&["--wait", "--retries"]);
}

#[test]
fn a_machine_without_forwarder_is_searched_meanwhile() {
    in_own_network("wait::a_machine_without_forwarder_is_searched_meanwhile", || {
        let place = Place::new();
        place.write("data", b"content");
        let _other = place.serve("serve data --name /other");
        let words = "fetch /data -q --wait=60s";
        let fetch = place.command(words).spawn().unwrap();
        std::thread::sleep(ABSENCE);
        let _server = place.serve("serve data --name /data");
        let ended = Ended::of(words, fetch.wait_with_output().unwrap()).succeeds();
        assert_eq!(ended.stdout, b"content");
    });
}
